"""A clock that jumps by years, forwards and back: budgets stay spent, the last choice counts, the latest job is the latest."""

from __future__ import annotations

import datetime as dt
import inspect
import random
import re

import pytest
from tests.trust import scenes

from celosia.consent.owners import store as owners
from celosia.errors import BudgetError
from celosia.gateway.ledger import Ledger, books
from celosia.gateway.ledger import ledger as ledgers
from celosia.kernels.budget.cost import Cost
from celosia.release.evidence import seal
from celosia.studio.jobs import Jobs
from celosia.studio.project import Project


@pytest.fixture
def jumping(monkeypatch):
    rng = random.Random(5)

    class Jumping(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + dt.timedelta(days=rng.uniform(-4000, 4000))

    for module in (books, ledgers, owners, seal):
        monkeypatch.setattr(module, "datetime", Jumping)


def test_a_budget_stays_spent(jumping, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db")
    ledger.open("d", Cost.pure(1.0))
    for number in range(10):
        ledger.charge("d", "ana", f"q{number}", "", Cost.pure(0.1))
    with pytest.raises(BudgetError):
        ledger.charge("d", "ana", "one more", "", Cost.pure(0.1))
    times = [entry.at for entry in ledger.history("d")]
    assert times != sorted(times), "the clock did jump"
    assert ledger.verify("d").holds
    assert ledger.balance("d").remaining == Cost.pure(0)
    ledger.close()


def test_the_last_choice_counts(jumping, tmp_path):
    store = owners.Preferences.create(tmp_path / "consent.db")
    blocks = [random.Random(i).random() < 0.5 for i in range(30)]
    for block in blocks:
        store.choose("ana", {"x": block}, ["x"])
        assert store.choices("ana", ["x"])[0].block == block
        assert store.blocking_owners(["x"])["x"] == (["ana"] if block else [])
    times = [change["at"] for change in store.history("ana")]
    assert times != sorted(times), "the clock did jump"


def test_the_latest_job_is_the_one_that_was_started_last(tmp_path):
    jobs = Jobs(Project(tmp_path))
    (tmp_path / ".studio" / "jobs" / f"{2**63:020}-of-tomorrow").mkdir()
    started = jobs.start("celosia.studio.jobs:nap", seconds=0)
    assert jobs.all()[0].id == started.id
    jobs.cancel(started.id)


def test_a_release_is_one_whatever_the_clock_says(jumping, tmp_path):
    """One after the other, the second of which may be dated years before the first; new records follow it."""
    scenes.released(tmp_path)
    before = scenes.files(tmp_path / "out")
    assert scenes.command(["run", "policy.toml", "--overwrite"], tmp_path)[0] == 0
    assert scenes.files(tmp_path / "out")["safe.certificate.json"] != before["safe.certificate.json"]
    assert scenes.mixed_release(tmp_path) == ""


def test_an_exploration_asks_no_clock_that_can_jump():
    from celosia.frontier import exploration as exploring

    asked = set(re.findall(r"\btime\.\w+|datetime\.\w+", inspect.getsource(exploring)))
    assert asked == {"time.monotonic"}
