"""Where servers listen: said in one line, or refused in one sentence."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celosia.cli.main import run
from celosia.errors import InputError
from celosia.web.guard import quiet
from celosia.web.sockets import address_of, open_socket, serve

CATALOGUE = '[[inference]]\nid = "a"\ndescription = "b"\n[[inference.rule]]\ntables = {p = ["x"]}\nthreshold = 0.5\n'


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("127.0.0.1", 999_999, "from 0 to 65535"),
        ("127.0.0.1", -1, "from 0 to 65535"),
        ("nobody.invalid", 0, "there is no address 'nobody.invalid'"),
        ("x" * 5000, 0, "there is no address"),
        ("a\0b", 0, "there is no address"),
        ("192.0.2.1", 0, "cannot listen on '192.0.2.1'"),
    ],
)
def test_what_cannot_be_listened_on_is_told(host: str, port: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_socket(host, port)


def test_a_port_that_is_taken_is_told() -> None:
    with open_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is taken"):
            open_socket("127.0.0.1", port)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_an_address_of_the_longer_kind_is_written_as_browsers_do() -> None:
    with open_socket("::1", 0) as opened:
        assert address_of(opened).startswith("http://[::1]:")


def test_the_server_says_where_it_is_and_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inferences.toml").write_text(CATALOGUE)
    assert run(["consent", "init"]) == 0
    words = ["consent", "serve", "--catalogue", "inferences.toml", "--port", "0"]
    with subprocess.Popen([sys.executable, "-m", "celosia.cli", *words], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        assert said.startswith("the consent pages are at http://127.0.0.1:")
        with urllib.request.urlopen(said.split()[-1]) as page:  # the address is had before it is told
            assert page.status == 200
        server.terminate()


def _failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """What is handed to the server for an application that fails with a value in hand."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("Ana Secreta, 34")

    served: list[Any] = []
    uvicorn = pytest.importorskip("uvicorn")
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, **_: served.append(server.config.app))
    serve(app, "127.0.0.1", 0, lambda _: None)
    return lambda kind: asyncio.run(served[0]({"type": kind}, None, None))


def test_no_log_of_a_server_tells_what_was_in_hand_when_it_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ask = _failing(monkeypatch)
    ask("http")
    assert "a request failed with an internal error (ValueError)." in caplog.text
    assert "Secreta" not in caplog.text
    assert all(record.exc_info is None for record in caplog.records)
    with pytest.raises(ValueError, match="Secreta"):
        ask("lifespan")
    monkeypatch.setenv("CELOSIA_TRACEBACK", "1")
    with pytest.raises(ValueError, match="Secreta"):
        ask("http")


def test_what_does_not_fail_is_handed_on() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(scope["type"])

    sent: list[str] = []

    async def send(message: str) -> None:
        sent.append(message)

    asyncio.run(quiet(app)({"type": "http"}, None, send))
    assert sent == ["http"]
