"""Single things that came in and broke something, each once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from celosia.cli.main import run
from celosia.data.io.atomic import replace_file
from celosia.errors import CelosiaError, InputError, OutputError, truncate
from celosia.hierarchy.intervals import Intervals
from celosia.parts import grammar


@pytest.mark.parametrize("target", ["queue", "device"])
def test_nothing_takes_the_place_of_a_queue_or_a_device(tmp_path: Path, target: str) -> None:
    os.mkfifo(tmp_path / "queue")
    (tmp_path / "device").symlink_to("/dev/null")
    with pytest.raises(OutputError, match="not a regular file"), replace_file(tmp_path / target) as draft:
        draft.write_text("x")
    assert not (tmp_path / target).is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["device", "queue"]


@pytest.mark.parametrize("what", ["fifo", "/dev/zero", "/dev/random"])
@pytest.mark.parametrize("words", [["assess", "x.csv"], ["run", "x.csv"], ["verify", "x.csv"]])
def test_what_never_ends_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("x.csv") if what == "fifo" else Path("x.csv").symlink_to(what)
    assert run(words) == 2
    assert "it is not a regular file (device, FIFO or socket)" in capsys.readouterr().err


def test_a_message_has_a_bound() -> None:
    assert len(str(CelosiaError("x" * 100_000))) <= 1_500
    assert truncate("short") == "short"


@pytest.mark.parametrize("text", ["[" * 5000, "a(b=" * 3000, "a(k=1, k=2)"])
def test_deep_or_doubled_parameters_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        grammar.parse(text)


def test_a_billion_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="bins"):
        Intervals(bins=10**9)
