"""Text that comes from data or files moves no cursor, sets no title and hides nothing on the terminal."""

from __future__ import annotations

import ast
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from celosia.cli.main import run
from celosia.show.blocks import to_rich
from celosia.show.controls import visible

PACKAGE = Path(__file__).parents[2] / "src" / "celosia"
ODD = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eegami\r\x7f\u2066b"
ALLOWED = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]*")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    frame = pl.DataFrame({ODD: [1, 1, 2, 2, 3, 3], "s": ["x", "y"] * 3, "id": [f"p{i}" for i in range(6)]})
    frame.write_csv(tmp_path / "data.csv")
    quoted = json.dumps(ODD)
    (tmp_path / "policy.toml").write_text(
        f'[input]\npath = "data.csv"\n[schema]\nquasi = [{quoted}]\nsensitive = ["s"]\n'
        '[[require]]\nuse = "k-anonymity"\nk = 2\n'
        f'[[step]]\nname = {quoted}\nuse = "suppress-records"\nrequire = ["k-anonymity(k=2)"]\n'
        '[output]\npath = "safe.csv"\n[run]\nseed = 7\ntesting = true\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = [
    ["init", "data.csv", "--out", "new.toml"],
    ["assess", "data.csv"],
    ["assess", "policy.toml"],
    ["assess", "data.csv", "--quasi", "nothing"],
    ["assess", "policy.toml", "--json"],
    ["protect", "recode", "data.csv", "--column", "nothing", "--level", "1", "--out", "x.csv"],
    ["protect", "noise", "data.csv", "--columns", "s", "--out", "x.csv"],
    ["run", "policy.toml"],
    ["run", "policy.toml", "--json"],
    ["compare", "policy.toml", "data.csv"],
    ["explore", "policy.toml", "--seeds", "1", "--candidate", "suppress-records(require=[k-anonymity(k=2)])"],
    ["verify", "safe.certificate.json"],
    ["verify", "safe.certificate.json", "--json"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_lets_it_through(place, words, capfd):
    if words[0] == "verify":
        assert run(["run", "policy.toml"]) == 0
        capfd.readouterr()
    run(words)
    said = capfd.readouterr()
    assert ALLOWED.fullmatch(said.out), re.sub(ALLOWED, "", said.out)
    assert ALLOWED.fullmatch(said.err), re.sub(ALLOWED, "", said.err)
    assert "internal error" not in said.err
    if "--json" in words:
        assert "owned" in json.dumps(json.loads(said.out)), "the name is there, escaped"


def test_a_certificate_from_elsewhere_does_not_either(place, capfd):
    run(["run", "policy.toml"])
    stated = json.loads((place / "safe.certificate.json").read_text())
    stated["release"]["columns"] = [ODD, "\x1b[8mhidden"]
    stated["conditions"] = [{"claim": ODD, "value": ODD}]
    (place / "safe.certificate.json").write_text(json.dumps(stated))
    capfd.readouterr()
    assert run(["verify", "safe.certificate.json"]) == 3
    said = capfd.readouterr().out
    assert ALLOWED.fullmatch(said)
    stated["counted"] = ODD
    (place / "safe.certificate.json").write_text(json.dumps(stated))
    assert run(["verify", "safe.certificate.json"]) == 2
    assert ALLOWED.fullmatch(capfd.readouterr().err)


def test_a_message_is_one_line(place, capfd):
    (place / "two.csv").write_text('"a\ncelosia: all is well",b\n1,2\n')
    assert run(["assess", "two.csv", "--quasi", "c"]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_on_a_terminal_with_colours(place):
    """What is left of escape sequences is what the program itself sends: colours and the place of the cursor."""
    main, other = pty.openpty()
    script = Path(sys.executable).with_name("celosia")
    environment = {**os.environ, "TERM": "xterm-256color"}
    done = subprocess.Popen(
        [str(script), "run", "policy.toml"], stdin=other, stdout=other, stderr=other, env=environment
    )
    os.close(other)
    said = b""
    while True:
        try:
            block = os.read(main, 1 << 16)
        except OSError:
            break
        if not block:
            break
        said += block
    assert done.wait() == 0
    assert b"\x1b[" in said, "there are colours"
    assert b"owned" in said
    for bad in (b"\x1b]", b"\x07", b"\x1b[2J\xc2", "\x9b".encode(), "\u202e".encode(), b"\x7f"):
        assert bad not in said


def test_what_is_kept_and_what_becomes_a_symbol():
    assert visible("é ✓ 日本\tx\ny") == "é ✓ 日本\tx\ny"
    assert visible("a\x1bb\x7f\x9b\u202e\ud800\n", lines=False) == "a␛b␡\ufffd\ufffd\ufffd␊"


def test_tables_of_the_library_are_clean_in_any_console():
    from rich.console import Console

    from celosia.show.blocks import Block

    out = Console(record=True, file=io.StringIO())
    out.print(to_rich([Block(ODD), Block("t", ("a",), [(ODD + "\n",)])]))
    assert ALLOWED.fullmatch(out.export_text())


def test_commands_print_in_one_place_only():
    """A bare print in another module of the command line would go around it."""
    for path in (PACKAGE / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and path.name != "show.py":
                assert node.func.id not in {"print", "Console"}, f"{path.name}:{node.lineno}"
