"""Released columns that show original quasi-identifiers more finely than they are released, whatever their role."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import GuardError
from celosia.release.output.columns import select_output
from celosia.release.output.sighting import Sighting

N = 2000
RNG = np.random.default_rng(2)
AGE, SEX, REGION = RNG.integers(20, 80, N), RNG.choice(["F", "M"], N), RNG.choice(["a", "b", "c"], N)
BORN = [dt.date(1940, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.integers(0, 22_000, N)]
ZIP = [f"{code:05d}" for code in RNG.integers(0, 60_000, N)]
AMOUNT = RNG.lognormal(10, 0.8, N).round(2)
ILL = RNG.choice(["flu", "cold", "none"], N)


def guard_findings(
    columns: dict[str, Any], quasi: list[str], steps: str | list[str], *, engine: str = "polars", **roles: Any
) -> tuple[Sighting, ...]:
    """Findings of the guard after some steps on the quasi-identifiers."""
    taken = {*quasi, *(roles.get("sensitive") or ()), roles.get("weight"), roles.get("person")}
    hierarchies = {"born": {"use": "dates", "units": ["decade"]}} if isinstance(columns.get("born"), list) else {}
    rest = [name for name in columns if name not in taken]
    schema = celosia.Schema.of(quasi=quasi, insensitive=rest, hierarchies=hierarchies, **roles)
    table = celosia.read(pl.DataFrame(columns), schema, engine=engine)
    steps = [steps] if isinstance(steps, str) else steps
    protected = celosia.protect(table, *steps, seed=1)
    return select_output(table, protected, [secret["method"] for secret in protected.private_history]).sightings


def weights() -> np.ndarray:
    """Return weights of post-stratification: one for each sex and age."""
    cells = {key: i for i, key in enumerate(sorted(set(zip(SEX.tolist(), AGE.tolist(), strict=True))))}
    factors = RNG.uniform(10, 90, len(cells)).round(4)
    return np.array([factors[cells[key]] for key in zip(SEX.tolist(), AGE.tolist(), strict=True)])


COARSE = "recode(column=age, breaks=[40, 60])"
DERIVED = {
    "weight of post-stratification": ({"age": AGE, "sex": SEX, "x": weights()}, COARSE, {"weight": "x"}),
    "copy declared sensitive": ({"age": AGE, "sex": SEX, "x": 2026 - AGE}, COARSE, {"sensitive": ["x"]}),
    "age beside a date of birth": (
        {"born": BORN, "sex": SEX, "x": [2026 - day.year for day in BORN]},
        "generalise(require=k-anonymity(k=50))",
        {},
    ),
    "month of a date of birth": (
        {"born": BORN, "sex": SEX, "x": [f"m{day.month}" for day in BORN]},
        "generalise(require=k-anonymity(k=50))",
        {},
    ),
    "town of a code": (
        {"zip": ZIP, "sex": SEX, "x": [f"t{code[:2]}" for code in ZIP]},
        "mask(columns=zip, keep=1)",
        {},
    ),
    "copy of a dropped column": (
        {"area": [f"z{age}" for age in AGE], "sex": SEX, "x": [f"t{age}" for age in AGE]},
        "drop(columns=area)",
        {},
    ),
    "three together": (
        {
            "age": AGE,
            "sex": SEX,
            "region": REGION,
            "x": [f"{a // 5}{s}{r}" for a, s, r in zip(AGE, SEX, REGION, strict=True)],
        },
        COARSE,
        {},
    ),
    "copy with errors": (
        {"age": AGE, "sex": SEX, "x": np.where(RNG.random(N) < 0.07, RNG.integers(20, 80, N), AGE)},
        COARSE,
        {},
    ),
}


@pytest.mark.parametrize("case", DERIVED)
def test_a_column_that_follows_from_quasi_identifiers_stops_the_release(case):
    columns, step, roles = DERIVED[case]
    quasi = [name for name in columns if name != "x"]
    with pytest.raises(GuardError, match="column 'x': 2000 of 2000 cells hold values that follow from"):
        guard_findings(columns, quasi, step, **roles)


def test_a_weight_is_compared_where_the_rows_are():
    columns, step, roles = DERIVED["weight of post-stratification"]
    with pytest.raises(GuardError, match="follow from 'age' and 'sex' together"):
        guard_findings(columns, ["age", "sex"], step, engine="duckdb", **roles)


CORRELATED = {
    "diagnosis": np.where(AGE + RNG.normal(0, 15, N) > 60, "heart", ILL),
    "retired": np.where(AGE + RNG.normal(0, 4, N) > 65, "yes", "no"),
    "hours": (200 - AGE + RNG.normal(0, 15, N)).round(0),
    "weight of regions": np.select([REGION == "a", REGION == "b"], [3.5, 7.25], 11.0),
    "nearly constant": np.where(RNG.random(N) < 0.02, "yes", "no"),
}


@pytest.mark.parametrize(
    ("case", "role"),
    [
        (case, role)
        for case, cells in CORRELATED.items()
        for role in ("insensitive", "sensitive", "weight")
        if role != "weight" or cells.dtype.kind != "U"  # a weight is a number
    ],
)
def test_a_column_that_is_only_correlated_is_released(case, role):
    cells = CORRELATED[case]
    columns = {"age": AGE, "sex": SEX, "region": REGION, "x": cells}
    roles = {} if role == "insensitive" else {role: "x" if role == "weight" else ["x"]}
    assert not [
        each for each in guard_findings(columns, ["age", "sex", "region"], COARSE, **roles) if "follow" in each.what
    ]


def test_a_column_near_to_a_quasi_identifier_is_reported_and_released():
    near = [f"a{age + i % 3}" for i, age in enumerate(AGE)]
    seen = guard_findings({"age": AGE, "sex": SEX, "x": near}, ["age", "sex"], COARSE)
    assert [(each.what, each.certain) for each in seen if "follow" in each.what] == [
        ("values that partly follow from the quasi-identifier 'age', more finely than it is released", False)
    ]


def test_visits_of_one_person_predict_nothing():
    """Visits of a person agree in everything, which does not follow from the quasi-identifier."""
    who = np.repeat(np.arange(N // 4), 4)
    columns = {"who": who, "born": RNG.permutation(N // 4)[who], "x": RNG.integers(0, 20, N // 4)[who] * 1000}
    assert guard_findings(columns, ["born"], "recode(column=born, breaks=[200, 400])", person="who") == ()
