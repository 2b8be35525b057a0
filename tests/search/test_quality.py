"""Quality of the searches on adult: never worse than what an earlier version found.

Better results are recorded with ``python -m tests.search.test_quality`` from the directory of the project.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SHARED
from tests.reference.sources import ADULT, adult_tables

import celosia
from celosia import methods
from celosia.loss.cells.domain_loss import DomainLoss

RECORDED = Path(__file__).with_name("quality.json")
K, L, T = "k-anonymity(k=5)", "l-diversity(l=3)", "t-closeness(t=0.2)"
LOSS = "domain-loss(aggregate=arithmetic)"
JOBS: dict[str, tuple[bool, Callable[[], Any]]] = {
    "generalise, k": (False, lambda: methods.Generalise(require=[K], objective=LOSS)),
    "generalise, k, 5 % suppressed": (False, lambda: methods.Generalise(require=[K], objective=LOSS, suppress=0.05)),
    "generalise, k and t, 5 %": (True, lambda: methods.Generalise(require=[K, T], objective=LOSS, suppress=0.05)),
    "generalise, 60 nodes": (
        False,
        lambda: methods.Generalise(require=[K], objective=LOSS, suppress=0.05, budget_nodes=60),
    ),
    "local-generalise, k": (False, lambda: methods.LocalGeneralise(require=[K])),
    "local-generalise, k and l": (True, lambda: methods.LocalGeneralise(require=[K, L])),
    "local-generalise, k and t": (True, lambda: methods.LocalGeneralise(require=[K, T])),
    "local-generalise, k and t, none suppressed": (
        True,
        lambda: methods.LocalGeneralise(require=[K, T], suppress=0.0),
    ),
    "mondrian, k": (False, lambda: methods.Mondrian(require=[K])),
    "mondrian, k and l": (True, lambda: methods.Mondrian(require=[K, L])),
}
"""Whether the occupation is sensitive, and the method, by name."""


def _tables() -> tuple[celosia.Table, celosia.Table]:
    first, second = adult_tables(SHARED, ADULT, tuple(name for name in ADULT if name != "occupation"))
    return first, second


def _result(job: str, tables: tuple[celosia.Table, celosia.Table]) -> dict[str, float]:
    sensitive, method = JOBS[job]
    table = tables[sensitive]
    safe = celosia.protect(table, method(), seed=1)
    return {"loss": DomainLoss(aggregate="arithmetic").value(table, safe), "suppressed": safe.suppressed()}


@pytest.fixture(scope="module")
def tables():
    return _tables()


@pytest.mark.parametrize("job", JOBS)
def test_a_search_finds_nothing_worse_than_before(job, tables):
    recorded, found = json.loads(RECORDED.read_text())[job], _result(job, tables)
    assert found["loss"] <= recorded["loss"] + 1e-9
    assert found["suppressed"] <= recorded["suppressed"] or found["loss"] < recorded["loss"] - 1e-9


def main() -> None:
    tables = _tables()
    recorded = {job: _result(job, tables) for job in JOBS}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
