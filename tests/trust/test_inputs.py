"""Bad input at every entrance: one sentence, exit code 2, nothing written, no cell told, no hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
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
