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


TOWN = RNG.integers(0, 60, N)
SCHOOL = RNG.integers(0, 4, N)
CODES = {key: i for i, key in enumerate(RNG.permutation(2 * 3 * 4 * 6).tolist())}
FOUR = np.array(
    [
        CODES[((s == "F") * 3 + "abc".index(r)) * 24 + e * 6 + a // 10 - 2]
        for a, s, r, e in zip(AGE, SEX, REGION, SCHOOL, strict=True)
    ]
)
DISCLOSING = {
    "town beside a province": ({"area": [f"p{town // 6}" for town in TOWN], "sex": SEX, "x": [f"t{town}" for town in TOWN]}, "drop(columns=area)"),
    "town that is often unknown": ({"area": [f"p{town // 6}" for town in TOWN], "sex": SEX, "x": [f"t{town}" if i % 3 else "n/a" for i, town in enumerate(TOWN)]}, "drop(columns=area)"),
    "town with errors": ({"area": [f"p{town // 6}" for town in TOWN], "sex": SEX, "x": [f"t{town if i % 12 else RNG.integers(60)}" for i, town in enumerate(TOWN)]}, "drop(columns=area)"),
    "birth date beside an age": ({"age": [2026 - day.year for day in BORN], "sex": SEX, "x": BORN}, COARSE),
    "copy with a quarter of errors": ({"age": AGE, "sex": SEX, "x": np.where(RNG.random(N) < 0.25, RNG.integers(20, 80, N), AGE)}, COARSE),
    "copy with two fifths of errors": ({"age": AGE, "sex": SEX, "x": np.where(RNG.random(N) < 0.4, RNG.integers(20, 80, N), AGE)}, COARSE),
    "code of four": ({"age": AGE // 10 * 10, "sex": SEX, "region": REGION, "school": SCHOOL, "x": [f"c{code}" for code in FOUR]}, "recode(column=age, breaks=[40, 60])"),
    "unknown title": ({"age": AGE, "sex": SEX, "x": np.where(SEX == "F", "Ms", "Mr")}, "drop(columns=sex)"),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("case", DISCLOSING)
def test_a_column_that_is_finer_than_a_quasi_identifier_stops_the_release(case, engine):
    columns, step = DISCLOSING[case]
    with pytest.raises(GuardError, match=r"column 'x': .* (disclose|follow from)"):
        guard_findings(columns, [name for name in columns if name != "x"], step, engine=engine)


def test_two_columns_that_disclose_a_quasi_identifier_together_stop_the_release():
    shift = RNG.integers(0, 6, N)
    columns = {"area": [f"p{town // 10}" for town in TOWN], "sex": SEX, "x": shift, "y": (TOWN // 10 + shift) % 6}
    with pytest.raises(
        GuardError, match=r"column '[xy]': .* together with '[xy]', disclose the quasi-identifier 'area'"
    ):
        guard_findings(columns, ["area", "sex"], "drop(columns=area)")


def test_a_score_of_four_of_seven_quasi_identifiers_stops_the_release():
    four = {"age": AGE, "sex": SEX, "region": REGION, "school": SCHOOL}
    others = {f"q{i}": RNG.integers(0, 2, N) for i in range(3)}
    score = (AGE >= 50) * 1 + (SEX == "F") * 2 + (REGION == "a") * 1 + SCHOOL
    step = "drop(columns=[age, sex, region, school])"
    with pytest.raises(GuardError, match=r"column 'x': .* follow from"):
        guard_findings({**four, **others, "x": score}, [*four, *others], step)


HEIGHT, MASS = RNG.normal(170, 10, N).round(1), RNG.normal(72, 13, N).clip(40).round(1)


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "weight"])
def test_a_formula_of_quasi_identifiers_stops_the_release(role):
    columns = {"height": HEIGHT, "mass": MASS, "sex": SEX, "x": (MASS / (HEIGHT / 100) ** 2).round(2)}
    steps = ["recode(column=height, breaks=[160, 170, 180])", "recode(column=mass, breaks=[60, 80])"]
    roles = {} if role == "insensitive" else {role: "x" if role == "weight" else ["x"]}
    with pytest.raises(GuardError, match="follow from 'height' and 'mass' together"):
        guard_findings(columns, ["height", "mass", "sex"], steps, **roles)


@pytest.mark.parametrize(("base", "stops"), [(100.0, False), (1.0, True)])
def test_two_units_of_a_sensitive_column_may_be_as_coarse_as_each_other(base, stops):
    grams = RNG.normal(3300, 500, N).round(0)
    columns = {"age": AGE, "grams": grams, "x": (grams / 28.35).round(1)}
    steps = ["round(columns=grams, base=100)", f"round(columns=x, base={base / 28.35 * 1.4})", COARSE]
    roles = {"sensitive": ["grams", "x"]}
    if stops:
        with pytest.raises(GuardError, match=r"column 'x': .* from the column 'grams'"):
            guard_findings(columns, ["age"], steps, **roles)
    else:
        assert not [each for each in guard_findings(columns, ["age"], steps, **roles) if each.certain]


def test_numbers_that_only_depend_on_others_are_released():
    columns = {"height": HEIGHT, "mass": MASS, "sex": SEX, "x": (HEIGHT * 2 + RNG.normal(0, 6, N)).round(0)}
    steps = ["recode(column=height, breaks=[160, 170, 180])", "recode(column=mass, breaks=[60, 80])"]
    assert not [s for s in guard_findings(columns, ["height", "mass", "sex"], steps) if s.certain]


@pytest.mark.parametrize("case", ["weights of two", "score of four"])
def test_numbers_with_small_noise_stop_the_release(case):
    four = {"age": AGE // 10 * 10, "sex": SEX, "region": REGION, "school": SCHOOL}
    values = weights() if case == "weights of two" else FOUR * 1.5
    columns = ({"age": AGE, "sex": SEX} if case == "weights of two" else four) | {"x": values + RNG.normal(0, 0.05, N)}
    with pytest.raises(GuardError, match=r"column 'x': .* (disclose|follow from)"):
        guard_findings(columns, [name for name in columns if name != "x"], COARSE, weight="x")


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


WHO = np.repeat(np.arange(N // 4), 4)
VISIT = np.tile(np.arange(4), N // 4)


@pytest.mark.parametrize(
    "cells",
    [
        [2000 - int(age) if visit == 2 else None for age, visit in zip(AGE[WHO], VISIT, strict=True)],
        [2000 - int(age) if visit else 0 for age, visit in zip(AGE[WHO], VISIT, strict=True)],
        [f"y{2000 - age}" if visit else "baseline" for age, visit in zip(AGE[WHO], VISIT, strict=True)],
    ],
    ids=["one visit only", "other number first", "other text first"],
)
def test_a_copy_in_later_records_of_a_person_stops_the_release(cells):
    columns = {"who": WHO, "age": AGE[WHO], "sex": SEX[WHO], "x": cells}
    with pytest.raises(GuardError, match=r"column 'x': .* hold values that (disclose|follow from)"):
        guard_findings(columns, ["age", "sex"], COARSE, person="who")


FIRST = RNG.integers(0, 1000, N)
VISITED = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.integers(0, 900, N)]
DIFFERENCES = {
    "two numbers": ({"age": AGE, "sex": SEX, "a": FIRST, "b": FIRST + AGE}, COARSE),
    "three numbers": ({"age": AGE, "sex": SEX, "a": FIRST, "b": FIRST[::-1], "c": FIRST + FIRST[::-1] - AGE}, COARSE),
    "few records": ({"age": AGE[:200], "sex": SEX[:200], "a": FIRST[:200], "b": (FIRST + AGE)[:200]}, COARSE),
    "narrow ranges": (
        {"age": AGE, "sex": SEX, "a": FIRST, "b": FIRST + AGE},
        "recode(column=age, breaks=[25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75])",
    ),
    "date and years": (
        {
            "born": BORN,
            "sex": SEX,
            "a": VISITED,
            "b": [(day - born).days // 365 for day, born in zip(VISITED, BORN, strict=True)],
        },
        "generalise(require=k-anonymity(k=50))",
    ),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_columns_whose_difference_is_a_quasi_identifier_stop_the_release(case):
    columns, step = DIFFERENCES[case]
    quasi = [name for name in columns if name not in ("a", "b", "c")]
    with pytest.raises(GuardError, match=r"values that, together with .*, disclose the quasi-identifier"):
        guard_findings(columns, quasi, step)


def test_columns_beside_those_of_a_difference_are_not_named():
    columns, step = DIFFERENCES["three numbers"]
    columns = columns | {"d": RNG.integers(0, 900, N), "Z": RNG.normal(0, 1, N).round(1)}
    with pytest.raises(GuardError, match="column 'a': 2000 of 2000 cells hold values that, together with 'b' and 'c',"):
        guard_findings(columns, ["age", "sex"], step)


def test_many_columns_of_few_records_give_no_formula():
    columns = {f"x{i}": RNG.integers(0, 500, 60) for i in range(58)}
    assert not [each for each in guard_findings({"age": AGE[:60], **columns}, ["age"], COARSE) if each.certain]


def test_columns_whose_difference_is_near_to_a_quasi_identifier_are_released():
    columns = {"age": AGE, "sex": SEX, "a": FIRST, "b": FIRST + AGE + RNG.integers(-9, 10, N)}
    assert not [each for each in guard_findings(columns, ["age", "sex"], COARSE) if each.certain]
