"""kill -9 at random moments, fifty times: nothing acknowledged is lost, nothing is refunded, the chain holds."""

from __future__ import annotations

import os
import random
import select
import signal
import time
import traceback
from pathlib import Path

import pytest

from celosia.errors import BudgetError
from celosia.gateway.ledger import Granted, Ledger
from celosia.kernels.budget.cost import Cost

BUDGET = Cost.pure(1000.0)


def ask_for_ever(where: str, run: int, out: int) -> None:
    """A gateway's life: charge, then answer; each acknowledged step is told to the parent."""
    ledger = Ledger(where)
    number = 0
    while True:
        question = f"{run}-{number}"
        granted = ledger.charge("d", "ana", question, "", Cost.pure(0.001))
        os.write(out, f"charge {question}\n".encode())
        assert isinstance(granted, Granted)
        ledger.answer(granted, {"value": number})
        os.write(out, f"answer {question}\n".encode())
        number += 1


@pytest.mark.sampled
def test_killed_fifty_times(ledger_url: str, tmp_path: Path):
    setup = Ledger.create(ledger_url)
    setup.open("d", BUDGET)
    setup.close()  # no connection may be shared across the fork
    rng = random.Random(11)
    told: set[str] = set()
    anchor, spent = "", 0
    for run in range(50):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                ask_for_ever(ledger_url, run, writing)
            except BaseException:  # the child must not fall back into pytest
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(writing)
        heard, wanted = b"", rng.randrange(7)  # steps that are acknowledged before it is killed
        while heard.count(b"\n") < max(wanted, 1):
            ready, _, _ = select.select([reading], [], [], 120)
            assert ready
            heard += os.read(reading, 4096)
        time.sleep(rng.uniform(0, 0.004))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        with os.fdopen(reading, "rb") as pipe:
            heard += pipe.read()
        told.update(line.decode() for line in heard.split(b"\n")[:-1])
        if run % 10 == 9 or run == 0:
            ledger = Ledger(ledger_url)
            report = ledger.verify("d", anchor)
            assert report.holds, report.problem
            assert report.loss_units == ledger.balance("d").lifetime.spent.loss_units >= spent
            booked = {f"{entry.kind} {entry.question}" for entry in ledger.history("d")}
            assert told <= booked
            anchor, spent = report.head, report.loss_units
            ledger.close()
    assert len([step for step in told if step.startswith("answer")]) > 50


def spend_until_refused(where: str, run: int, out: int) -> None:
    ledger = Ledger(where)
    granted = 0
    while True:
        try:
            ledger.charge("d", f"process {run}", f"{run}-{granted}", "", Cost.pure(0.01))
        except BudgetError:
            break
        granted += 1
    ledger.close()
    os.write(out, f"{granted}\n".encode())


def test_processes_that_race_cannot_overspend(ledger_url: str):
    """Four gateways on one ledger: together they are granted exactly the budget."""
    setup = Ledger.create(ledger_url)
    setup.open("d", Cost.pure(1.0))
    setup.close()
    reading, writing = os.pipe()
    children = []
    for run in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                spend_until_refused(ledger_url, run, writing)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(child)
    os.close(writing)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    with os.fdopen(reading) as pipe:
        granted = [int(line) for line in pipe]
    assert sum(granted) == 100
    ledger = Ledger(ledger_url)
    report = ledger.verify("d")
    assert report.holds, report.problem
    assert report.charges == 100
    assert ledger.balance("d").remaining == Cost.pure(0)
    ledger.close()
