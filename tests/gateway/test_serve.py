"""The gateway as its own process: the command line serves it, over a real socket, on the time grid asked for."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import httpx
import pytest

DECLARATION = """
name = "small"
epsilon = 1.0
[tables.person]
source = "{source}"
[tables.person.columns]
age = {{ type = "integer", bounds = [0, 100] }}
"""


@pytest.fixture
def declaration(tmp_path):
    (tmp_path / "person.csv").write_text("age\n" + "\n".join(str(20 + i % 50) for i in range(500)))
    path = tmp_path / "dataset.toml"
    path.write_text(DECLARATION.format(source=(tmp_path / "person.csv").as_posix()))
    return path


def celosia(*arguments):
    return [sys.executable, "-m", "celosia", "gateway", *map(str, arguments)]


def test_answers_leave_on_the_grid_and_a_key_can_be_taken_away(declaration):
    subprocess.run(celosia("init", "--dataset", declaration), check=True)
    key = subprocess.run(celosia("key", "ana", "--dataset", declaration), capture_output=True, text=True, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = celosia("serve", "--dataset", declaration, "--port", port, "--grid", "1.5")
    process = subprocess.Popen(serve, stderr=subprocess.PIPE, text=True)
    try:
        base, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {key.stdout.strip()}"}
        for _ in range(300):
            assert process.poll() is None, process.stderr.read()
            try:
                schema = httpx.get(f"{base}/api/schema", headers=headers)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        assert "person" in schema.json()
        start = time.monotonic()
        asked = {"sql": "SELECT COUNT(*) FROM person", "epsilon": 0.5}
        answer = httpx.post(f"{base}/api/query", json=asked, headers=headers, timeout=60)
        assert answer.status_code == 200
        assert abs(answer.json()["rows"][0]["count"]["value"] - 500) < 100
        assert time.monotonic() - start >= 1.5, "not before the first point of the grid"
        assert httpx.post(f"{base}/api/query", json=asked).status_code == 401
        subprocess.run(celosia("key", "ana", "--remove", "--dataset", declaration), check=True)
        assert httpx.get(f"{base}/api/schema", headers=headers).status_code == 401, "taken away while it serves"
    finally:
        process.terminate()
        process.wait(20)
