"""A plan applies steps in one way, whichever verb built it."""

from __future__ import annotations

import polars as pl
import pytest
from tests.reference.people import EXAMPLES, ROLES, people

import celosia
from celosia.errors import RequirementError, SchemaError
from celosia.parts import Formal, build, parts
from celosia.release import run as run_module
from celosia.release.plan import Plan
from celosia.release.policy.policy import Output, Policy, Step

SEED = 1 << 70
SEEDED = [name for name, method in parts("method").items() if not issubclass(method, Formal)]
"""Methods whose randomness follows from the seed; noise with a formal guarantee comes from the operating system."""


class _Protected(Exception):
    """Ends a run after its steps, with the protected table."""


@pytest.fixture
def protected_by_run(monkeypatch):
    """Return a function that runs a policy up to its steps and returns the protected table."""

    def stop(_original, protected, *_):
        raise _Protected(protected)

    def protected(policy, engine):
        monkeypatch.setattr(run_module, "finish", stop)
        with pytest.raises(_Protected) as ended:
            run_module.run(policy, engine=engine)
        return ended.value.args[0]

    return protected


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", SEEDED)
def test_protect_and_run_give_the_same_cells(name, engine, tmp_path, protected_by_run):
    path = tmp_path / "people.parquet"
    people(rows=80).write_parquet(path)
    schema = celosia.Schema.of(**ROLES)
    for given in EXAMPLES[name]:
        method = build("method", {"use": name, **given})
        policy = Policy(
            input={"path": path},
            schema=schema,
            step=(Step("a name that the user gave", method),),
            output=Output(path=tmp_path / "safe.csv"),
            run={"seed": SEED},
        )
        by_run = protected_by_run(policy, engine)
        by_protect = celosia.protect(celosia.read(path, schema, engine=engine), method, seed=SEED)
        assert by_run.polars().equals(by_protect.polars())


def frame() -> pl.DataFrame:
    return pl.DataFrame({"age": [30, 31, 47] * 20, "income": [float(i % 7) for i in range(60)]})


NOISE = build("method", "noise(columns=income, p=0.5)")
ROUND = build("method", "round(columns=age, base=10)")


def test_a_plan_goes_on_from_the_result_of_its_first_steps():
    plan = Plan.resolve(celosia.read(frame()), [ROUND, NOISE], seed=3)
    half = plan.run(last=1)
    assert plan.run(first=1, table=half).polars().equals(plan.run().polars())
    assert half.polars()["income"].equals(frame()["income"])


def test_stream_scheme_1_is_named_after_the_steps():
    """Releases of earlier versions are repeated: their streams have the name of the step and no earlier steps."""
    table = celosia.read(frame())

    def income(steps, scheme):
        return Plan.resolve(table, steps, seed=3, scheme=scheme).run().polars()["income"]

    alone, renamed = [Step("noise", NOISE)], [Step("mask", NOISE)]
    later = [Step("round", ROUND), *alone]
    assert income(alone, 1).equals(income(later, 1))
    assert not income(alone, 1).equals(income(renamed, 1))
    assert income(alone, 2).equals(income(renamed, 2))
    assert not income(alone, 2).equals(income(later, 2))


def test_columns_of_the_first_step_are_checked_before_anything_runs():
    with pytest.raises(SchemaError, match="names the column 'pay', which the table lacks"):
        Plan.resolve(celosia.read(frame()), [build("method", "noise(columns=pay, p=0.5)")], seed=3)


@pytest.mark.parametrize("method", ["generalise", "mondrian"])
def test_a_step_that_misses_its_requirement_without_person_ids_is_refused(method):
    """Nine rows without an id: as one person the class has 2 of 4 with HIV, as nine persons 10 of 12."""
    rows = {
        "person": [None] * 9 + ["a", "b", "c"],
        "age": [30] * 12,
        "illness": ["HIV"] * 9 + ["HIV", "flu", "cold"],
    }
    schema = celosia.Schema.of(quasi=["age"], sensitive=["illness"], person="person")
    step = build("method", {"use": method, "require": [{"use": "alpha-k", "alpha": 0.5, "k": 2, "column": "illness"}]})
    with pytest.raises(RequirementError, match=f"{method}: alpha-k.* 9 rows without a value in 'person'"):
        celosia.protect(pl.DataFrame(rows), step, schema=schema, seed=SEED)
    filled = {**rows, "person": ["z"] * 9 + ["a", "b", "c"]}
    celosia.protect(pl.DataFrame(filled), step, schema=schema, seed=SEED, keep=["person"])
