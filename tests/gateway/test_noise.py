"""What the gateway charges is what its mechanisms state, and its errors are theirs."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import polars as pl
import pytest

from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.noise import needed_cost, plan_noise
from celosia.parts import Mechanism

QUESTIONS = [
    "SELECT COUNT(*) FROM person",
    "SELECT sex, COUNT(*), SUM(age) FROM person GROUP BY sex",
    "SELECT AVG(age), MEDIAN(age) FROM person",
    "SELECT town, COUNT(*) FROM person GROUP BY town",
]
BUDGETS = [
    ({"epsilon": 50.0}, {"epsilon": 0.3}, None),
    ({"epsilon": 50.0, "delta": 1e-3}, {"epsilon": 0.3, "delta": 1e-5}, None),
    ({"epsilon": 50.0, "delta": 1e-3}, {"epsilon": 0.3, "delta": 1e-5}, "gaussian"),
    ({"rho": 50.0, "delta": 1e-3}, {"rho": 0.3, "delta": 1e-5}, None),
]


def opened(tmp_path, budget):
    rows = pl.DataFrame({"sex": ["F", "M"] * 50, "age": [20 + i % 40 for i in range(100)], "town": ["x"] * 100})
    rows.write_csv(tmp_path / "person.csv")
    columns = {
        "sex": {"type": "text", "categories": ["F", "M"]},
        "age": {"type": "integer", "bounds": [0, 100]},
        "town": {"type": "text"},
    }
    tables = {"person": {"source": str(tmp_path / "person.csv"), "columns": columns}}
    facts = DatasetFacts.of({"name": "people", **budget, "tables": tables})
    return Gateway(facts, Ledger.create(tmp_path / "ledger.db"), grid=0)


@pytest.mark.parametrize(("budget", "paid", "shape"), BUDGETS, ids=["pure", "approximate", "gaussian", "zcdp"])
def test_what_is_charged_is_what_the_mechanisms_state(tmp_path, budget, paid, shape):
    with closing(opened(tmp_path, budget)) as gateway:
        for sql in QUESTIONS:
            plan = gateway.plan(sql)
            if not plan.public_keys and "delta" not in paid:
                continue
            cost = needed_cost(
                plan, gateway.facts.cost(paid.get("epsilon"), paid.get("rho"), paid.get("delta", 0.0)), shape
            )
            made = plan_noise(plan, cost, gateway._cell_count(plan), shape)
            assert all(isinstance(share.mechanism, Mechanism) for share in made.numbers)
            assert made.cost.fits(cost)
            # whole units are shared out, rounded down: a unit is 1e-12 of a loss, 1e-18 of a delta
            assert cost.loss_units - made.cost.loss_units <= 2 * len(plan.numbers)
            assert cost.delta_units - made.cost.delta_units <= 2 * len(plan.numbers) + 2
            before = gateway.balance().remaining
            assert gateway.ask(sql, **paid, noise=shape).cost == cost
            assert before.minus(gateway.balance().remaining) == cost


@pytest.mark.parametrize(("budget", "paid", "shape"), BUDGETS[1:], ids=["approximate", "gaussian", "zcdp"])
def test_the_error_of_an_answer_is_that_of_its_mechanism(tmp_path, budget, paid, shape):
    sql = "SELECT COUNT(*) FROM person"
    with closing(
        opened(tmp_path, {name: 1000 * value if name != "delta" else 0.5 for name, value in budget.items()})
    ) as gateway:
        plan = gateway.plan(sql)
        cost = needed_cost(
            plan, gateway.facts.cost(paid.get("epsilon"), paid.get("rho"), paid.get("delta", 0.0)), shape
        )
        (share,) = plan_noise(plan, cost, 1, shape).numbers
        error = gateway.ask(sql, **paid, noise=shape).rows[0]["count"]["error"]
        assert error == pytest.approx(np.sqrt(share.mechanism.variance()))
        drawn = np.array(share.add([100] * 10_000))
        assert drawn.std() == pytest.approx(error, rel=0.12)  # five standard errors of the widest-tailed noise
