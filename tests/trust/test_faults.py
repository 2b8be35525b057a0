"""Killed at any call, on a full disk, with a clock that jumps: all of the old or all of the new, and nothing is left."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trust.faults import Plan, happened
from tests.trust.scenes import SCENES
from tests.trust.tried import Tried, tried

SAMPLE = {
    "run over a release": 3,
    "apply": 3,
    "explore": 1,
    "choices of owners": 4,
    "budget of the gateway": 4,
    "project of the studio": 8,
}
"""At how many moments each is killed in the short tests."""
FULL = ["run over a release", "apply", "project of the studio"]
SMALL = ["run over a release", "apply", "explore", "budget of the gateway", "choices of owners"]
Judged = list[tuple[Plan, int, int, str]]
"""What was tried: the plan, the moment, the exit code, and the harm."""


@pytest.fixture
def judged(tmp_path: Path) -> Callable[[list[tuple[str, str, int | None]]], Judged]:
    """Try scenes with faults, and look at what is left of each."""

    def judge(wanted: list[tuple[str, str, int | None]]) -> Judged:
        plans = []
        for scene, fault, most in wanted:
            root = tmp_path / f"{len(plans)}"
            (root / "template").mkdir(parents=True)
            SCENES[scene].template(root / "template")
            plans.append(Plan(scene, fault, str(root), most))
        return [
            (plan, n, code, SCENES[plan.scene].harm(Path(plan.root, str(n))))
            for plan, ended in zip(plans, happened(plans), strict=True)
            for n, code in ended
        ]

    return judge


def told(plan: Plan, n: int) -> str:
    return Path(plan.root, f"{n}.said").read_text()


def check_killed(judged: Judged) -> None:
    assert [(plan.scene, n, code) for plan, n, code, _ in judged if code != -signal.SIGKILL] == []
    assert [(plan.scene, n, harm) for plan, n, _, harm in judged if harm] == []


def check_refused(judged: Judged) -> None:
    """What cannot be written is told in one sentence, whatever the moment."""
    for plan, n, code, harm in judged:
        where, said = (plan.scene, plan.fault, n), told(plan, n)
        assert not harm, (where, harm)
        if plan.scene in ("run over a release", "apply", "explore", "first run"):
            assert code in (0, 2), (where, said)
            assert "Traceback" not in said, where
            assert code == 0 or said.count("celosia: ") == 1, (where, said)


def test_killed_at_some_calls(judged):
    check_killed(judged([(name, "kill", most) for name, most in SAMPLE.items()]))


def test_refused_some_calls(judged):
    check_refused(judged([("run over a release", "full", 3), ("apply", "small", 3), ("choices of owners", "small", 3)]))


@pytest.mark.long
def test_killed_at_every_call(judged):
    found = judged([(name, "kill", None) for name in SCENES])
    rows = []
    for name in SCENES:
        harms = [harm for plan, _, _, harm in found if plan.scene == name]
        rows.append(
            Tried(
                f"killed at a call of the system: {name}",
                len(harms),
                sum(map(bool, harms)),
                "a mixture, a loss, a leftover",
            )
        )
    tried("killed", rows)
    check_killed(found)


@pytest.mark.long
def test_refused_every_call(judged):
    found = judged([*((name, "full", None) for name in FULL), *((name, "small", 12) for name in SMALL)])
    harms = [
        bool(harm)
        or (code == 1 and plan.scene not in ("budget of the gateway", "choices of owners", "project of the studio"))
        for plan, _, code, harm in found
    ]
    tried(
        "full-disk",
        [Tried("a full disk at a call of the system", len(harms), sum(harms), "a mixture, a loss, an internal error")],
    )
    check_refused(found)
