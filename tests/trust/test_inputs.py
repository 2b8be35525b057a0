"""Bad input at every entrance: one sentence, exit code 2, nothing written, no cell told, no hang."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.trust.inputs import zygote
from tests.trust.inputs.case import Case
from tests.trust.inputs.judging import failure, keep, told
from tests.trust.tried import ROOT

SAMPLE = 70
PARTS = 6


def answers(place: Path, *options: str) -> list[dict[str, Any]]:
    """What came of the cases."""
    results = place / "results.jsonl"
    command = [sys.executable, "-m", "tests.trust.inputs.zygote", str(results), *options]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=ROOT, env=variables)
    return [json.loads(line) for line in results.read_text("ascii").splitlines()]


def test_a_sample_of_bad_input(tmp_path: Path) -> None:
    tested = answers(tmp_path, "--sample", str(SAMPLE))
    assert len({answer["entrance"] for answer in tested}) >= 60, "one of each entrance at least"
    assert told(tested) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_all_bad_input(tmp_path: Path, part: int) -> None:
    tested = answers(tmp_path, "--part", str(part), "--parts", str(PARTS))
    keep(tested)
    print(f"{len(tested)} cases, {len(told(tested))} failures")
    assert len(tested) > 500
    assert told(tested) == []


@pytest.mark.parametrize(
    ("computed", "seconds", "hung"),
    [(itertools.count(1), 60.0, False), (itertools.count(1), 0.5, True), (itertools.repeat(7), 60.0, True)],
    ids=["computes", "computes too much", "waits"],
)
def test_what_computes_is_told_from_what_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, computed: Iterator[int], seconds: float, hung: bool
) -> None:
    """A case that computes is given its time, whatever the clock says; one that waits for nothing is ended."""

    def child(case: Case, folder: Path, out: Path, err: Path) -> None:
        os.setpgid(0, 0)
        for file in (out, err, folder / "new.csv"):
            file.touch()
        time.sleep(3 if not hung else 600)
        os._exit(0)

    monkeypatch.setattr(zygote, "_child", child)
    monkeypatch.setattr(zygote, "_computed", lambda _: next(computed))
    monkeypatch.setattr(zygote, "SECONDS", seconds)
    monkeypatch.setattr(zygote, "STILL", 1.5)
    (tmp_path / "template").mkdir()
    answer = zygote.attempt(Case("x", "y", ()), tmp_path / "template", tmp_path / "case")
    assert (answer["hung"], answer["new"], answer["changed"]) == (hung, ["new.csv"], [])


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, ""),
        ({"code": 1, "err": "celosia: internal error (KeyError)."}, "internal error (1)"),
        ({"code": -9}, "internal error (-9)"),
        ({"hung": True}, "hang"),
        ({"err": "celosia: the cell Qanary001 is wrong."}, "leak"),
        ({"err": "celosia: postgresql://ana:pa55word@host."}, "leak"),
        ({"err": "x" * 3000}, "too long"),
        ({"err": ""}, "silent"),
        ({"new": ["new.csv"]}, "something written"),
        ({"code": 0}, "not refused"),
        ({"megabytes": 9000}, "memory"),
    ],
)
def test_the_judge_sees(change: dict[str, Any], wrong: str) -> None:
    good = {"code": 2, "err": "celosia: bad.", "out": "", "hung": False, "megabytes": 90, "new": [], "changed": []}
    assert failure({**good, "may_pass": False, **change}) == wrong
