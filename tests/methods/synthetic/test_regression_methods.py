"""Ipso and Fcrm on tables: what is kept, what is refused, constraints, strata, copies, engines."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError, RequirementError, SchemaError
from celosia.kernels.synthesis.ipso import identities
from celosia.methods import Fcrm, Ipso
from celosia.parts import build
from celosia.release.protect import watch
from celosia.streams import Stream
from celosia.table.derive import with_record_ids

S1 = {
    "dependent": ["AFNLWGT", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "INTVAL", "FICA", "WSALVAL", "ERNVAL"],
    "independent": ["AGI", "PTOTVAL", "POTHVAL", "PEARNVAL"],
}
S2 = {
    "dependent": ["FEDTAX", "TAXINC", "WSALVAL", "ERNVAL"],
    "independent": ["AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "STATETAX", "POTHVAL", "INTVAL", "PEARNVAL", "FICA"],
}


PAID = ["pay", "tax"]


@pytest.fixture
def people() -> celosia.Table:
    rng = np.random.default_rng(0)
    n = 300
    age = rng.integers(20, 70, n)
    kind = rng.integers(0, 2, n)
    pay = np.rint(np.where(kind, 1000 + 30 * age, 4000 - 20 * age) + rng.normal(0, 50, n)).astype(int)
    frame = pl.DataFrame(
        {"age": age, "pay": pay, "tax": pay * 0.2 + rng.normal(0, 5, n), "place": np.where(kind, "u", "v")}
    )
    return celosia.read(frame, celosia.Schema.of(quasi=["age"], sensitive=["pay", "tax"], bounds={"pay": (1200, 3600)}))


@pytest.mark.parametrize("setup", [S1, S2], ids=["S1", "S2"])
@pytest.mark.parametrize("form", ["burridge", "thesis"])
def test_c_keeps_the_statistics_of_the_census(shared, setup, form):
    table = celosia.read(shared("data/census.csv"))
    made = celosia.protect(table, Ipso(**setup, variant="C", form=form), seed=1)
    x, y, new = table.numeric(setup["independent"]), table.numeric(setup["dependent"]), made.numeric(setup["dependent"])
    assert max(identities(x, y, new).values()) < 1e-10
    assert np.abs(new.mean(axis=0) / y.mean(axis=0) - 1).max() < 1e-10
    assert np.abs(np.cov(new.T) / np.cov(y.T) - 1).max() < 1e-10
    assert (made.numeric(setup["independent"]) == x).all()
    assert max(made.history[-1]["largest error"].values()) < 1e-10
    assert np.abs(new - y).mean() > 0.05 * y.std()  # and yet it is other data


@pytest.mark.parametrize("setup", [S1, S2], ids=["S1", "S2"])
def test_one_regression_is_ipso_a_exactly(shared, setup):
    table = celosia.read(shared("data/census.csv"))
    a = celosia.protect(table, Ipso(**setup, variant="A"), seed=1).polars()
    for joint in (False, True):
        assert celosia.protect(table, Fcrm(**setup, c=1, joint=joint), seed=2).polars().equals(a)


def test_unit_noise_on_large_numbers_is_a_again_and_residual_noise_is_not(shared):
    table = celosia.read(shared("data/census.csv"))
    loss = celosia.loss.ProbabilisticLoss(columns=S1["dependent"])
    value = {
        name: 100 * loss.value(table, celosia.protect(table, Ipso(**S1, **more), seed=1))
        for name, more in {
            "A": {"variant": "A"},
            "unit": {"variant": "B", "noise": "unit"},
            "B": {"variant": "B"},
        }.items()
    }
    assert abs(value["A"] - value["unit"]) < 0.02
    assert value["B"] < value["A"] - 20
    assert abs(value["A"] - 61.946) < 0.001  # golden: kernel density, joint


def test_rounding_and_bounds_come_after_and_are_reported(people):
    exact = celosia.protect(people, Ipso(dependent=["pay", "tax"], independent=["age"]), seed=1)
    whole = celosia.protect(people, Ipso(dependent=["pay", "tax"], independent=["age"], whole=True), seed=1)
    assert exact.polars()["pay"].dtype == pl.Float64
    assert exact.history[-1]["outside the bounds"]["pay"] > 0
    assert whole.polars()["pay"].dtype == pl.Int64
    assert whole.polars()["pay"].is_between(1200, 3600).all()
    assert "outside the bounds" not in whole.history[-1]
    errors = whole.history[-1]["largest error"]
    there = identities(*(table.numeric(names) for table, names in ((people, ["age"]), (people, PAID), (whole, PAID))))
    assert errors == pytest.approx(there)
    assert errors["regression"] > 1e-6, "values beyond the bounds were moved to them"


def test_strata_keep_their_own_regression_and_copies_differ(people):
    method = Ipso(dependent=["pay"], independent=["age"], within=["place"], copies=3)
    made = celosia.protect(people, method, seed=1)
    for place in "uv":
        old, new = people.polars().filter(place=place), made.polars().filter(place=place)
        x, y = old["age"].to_numpy()[:, None].astype(float), old["pay"].to_numpy()[:, None].astype(float)
        assert max(identities(x, y, new["pay"].to_numpy()[:, None]).values()) < 1e-10
    others = made.private_history[-1]["tables"]
    assert list(others) == ["copy 2", "copy 3"]
    assert not others["copy 2"].polars()["pay"].equals(made.polars()["pay"])
    assert not others["copy 2"].polars()["pay"].equals(others["copy 3"].polars()["pay"])


def test_the_same_seed_gives_the_same_data_on_every_engine(people, engine):
    frame = people.polars()
    for method in (
        Ipso(dependent=["pay"], independent=["age"]),
        Fcrm(dependent=["pay"], independent=["age"], c=2),
        Fcrm(dependent=["pay"], independent=["age"], c=2, choice="blind"),
    ):
        one = celosia.protect(celosia.read(frame), method, seed=5).polars()
        two = celosia.protect(celosia.read(frame, engine=engine), method, seed=5).polars()
        assert one.equals(two)
        assert not one.equals(celosia.protect(celosia.read(frame), method, seed=6).polars()) or method.name == "fcrm"


def test_more_regressions_lose_less_and_disclose_more(shared):
    table = celosia.read(shared("data/census.csv"))
    loss = celosia.loss.ProbabilisticLoss(columns=S1["dependent"])
    risk = celosia.risk.ClassicalDisclosureRisk(columns=S1["dependent"])
    printed = {2: 44.677, 5: 21.797, 8: 13.495, 15: 7.164}
    found = {}
    for c in printed:
        made = [celosia.protect(table, Fcrm(**S1, c=c), seed=s) for s in range(4 if c < 15 else 2)]
        found[c] = (100 * np.mean([loss.value(table, m) for m in made]), 100 * risk.value(table, made[0]))
    for c, (lost, _) in found.items():
        assert abs(lost - printed[c]) < 4
    losses, risks = zip(*found.values(), strict=True)
    assert sorted(losses, reverse=True) == list(losses)
    assert sorted(risks) == list(risks)


def test_a_blind_choice_discloses_less(shared):
    table = celosia.read(shared("data/census.csv"))
    risk = celosia.risk.ClassicalDisclosureRisk(columns=S1["dependent"])
    seen, blind = (
        risk.value(table, celosia.protect(table, Fcrm(**S1, c=5, choice=choice), seed=1))
        for choice in ("nearest", "blind")
    )
    assert blind < 0.6 * seen


def test_radial_models_fit_what_bends():
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, 400)
    frame = pl.DataFrame({"x": x, "y": np.sin(2 * x) + rng.normal(0, 0.05, 400)})
    table = celosia.read(frame)
    error = celosia.loss.SquaredError(columns=["y"])
    straight, bent = (
        error.value(table, celosia.protect(table, Fcrm(dependent=["y"], independent=["x"], c=1, radial=r), seed=1))
        for r in (0, 12)
    )
    assert bent < 0.1 * straight


@pytest.mark.parametrize("whole", [False, True])
def test_constraints_hold_exactly(shared, whole):
    table = celosia.read(shared("data/census.csv"))
    constraints = ["PTOTVAL = POTHVAL + PEARNVAL", "POTHVAL >= 0", "PEARNVAL >= 0", "TAXINC <= AGI"]
    for independent in (["AGI", "FEDTAX"], ["AGI", "PTOTVAL"]):
        dependent = [c for c in ("PTOTVAL", "POTHVAL", "PEARNVAL", "TAXINC") if c not in independent]
        free = Fcrm(dependent=dependent, independent=independent, c=3, whole=whole)
        kept = free.model_copy(update={"constraints": tuple(constraints)})
        before, after = (celosia.protect(table, method, seed=1).polars() for method in (free, kept))
        assert not (before["PTOTVAL"] == before["POTHVAL"] + before["PEARNVAL"]).all()
        assert (after["PTOTVAL"] == after["POTHVAL"] + after["PEARNVAL"]).all()
        assert after["POTHVAL"].min() >= 0
        assert after["PEARNVAL"].min() >= 0
        assert (after["TAXINC"] <= after["AGI"]).all()
        assert (after["PEARNVAL"].dtype == pl.Int64) is whole


def test_bad_input_is_answered(people):
    def made(method, table=people):
        return celosia.protect(table, method, seed=1)

    for part in (Ipso, Fcrm):
        name = part.__name__.lower()
        with pytest.raises(
            ParameterError, match=rf"{name}: column 'age' is dependent and independent; name it on one side"
        ):
            made(part(dependent=["age"], independent=["age"]))
        with pytest.raises(ParameterError, match=rf"{name}: column 'pay' is named twice"):
            made(part(dependent=["pay", "pay"], independent=["age"]))
        with pytest.raises(DataError, match=rf"{name}: column 'place' holds text or dates"):
            made(part(dependent=["place"], independent=["age"]))
        gaps = celosia.read(pl.DataFrame({"x": [1.0, None, 3.0, 4.0], "y": [1.0, 2.0, 3.0, None]}))
        with pytest.raises(
            DataError, match=rf"{name}: 2 records have missing values in these columns; remove or impute"
        ):
            made(part(dependent=["y"], independent=["x"]), gaps)
        with pytest.raises(SchemaError, match="names the column 'wage', which the table lacks"):
            made(part(dependent=["wage"], independent=["age"]))
        with pytest.raises(ParameterError, match=rf"{name}: column 'place' parts the records and is dependent"):
            made(part(dependent=["place"], independent=["age"], within=["place"]))
        empty = celosia.read(pl.DataFrame({"x": [], "y": []}, schema={"x": pl.Float64, "y": pl.Float64}))
        with pytest.raises(DataError, match="no records"):
            made(part(dependent=["y"], independent=["x"]), empty)
    with pytest.raises(DataError, match="c must be smaller than the number of records, 300, got 300"):
        made(Fcrm(dependent=["pay"], independent=["age"], c=300))
    with pytest.raises(ParameterError, match="fcrm: m must be more than 1"):
        Fcrm(dependent=["pay"], independent=["age"], m=1.0)
    with pytest.raises(RequirementError, match="no constraint names a dependent column"):
        made(Fcrm(dependent=["pay"], independent=["age"], constraints=["age >= 0"]))


def test_constant_and_duplicate_columns_do_no_harm(people):
    frame = people.polars().with_columns(one=pl.lit(3.0), again=pl.col("age"), flat=pl.lit(7))
    table = celosia.read(frame)
    plain, wide = (
        Ipso(dependent=["pay"], independent=names).apply(with_record_ids(table), Stream(1)).table.polars()["pay"]
        for names in (["age"], ["age", "one", "again"])
    )
    assert np.allclose(plain, wide)
    for method in (Ipso(dependent=["flat"], independent=["age"]), Fcrm(dependent=["flat"], independent=["age"], c=3)):
        assert np.allclose(celosia.protect(table, method, seed=1).polars()["flat"], 7.0)


@pytest.mark.parametrize("text", [
    "ipso(dependent=[pay], independent=[age], variant=B, noise=unit)",
    "fcrm(dependent=[pay, tax], independent=[age], c=3, joint=true, constraints=['pay >= 0', 'tax <= pay'])",
])  # fmt: skip
def test_parts_are_written_and_read_back(text):
    part = build("method", text)
    assert build("method", str(part)) == part
    assert build("method", part.spec()) == part


@pytest.mark.parametrize(
    "more",
    [
        {"c": 3},
        {"c": 1},
        {"c": 2, "intercept": False},
        {"c": 3, "choice": "blind", "radial": 4},
        {"c": 3, "max_iterations": 4},
        {"c": 3, "constraints": ["pay >= 0", "pay <= 2 * age"]},
    ],
)
def test_what_is_watched_ends_as_the_whole_run(more):
    rng = np.random.default_rng(4)
    age = rng.uniform(18, 80, 90)
    frame = pl.DataFrame({"age": age, "pay": np.where(rng.random(90) < 0.5, age, 90 - age) + rng.normal(0, 3, 90)})
    table = celosia.read(frame)
    method = Fcrm(dependent=["pay"], independent=["age"], **more)
    seen = list(watch(table, method, seed=9))
    whole = celosia.protect(table, method, seed=9)
    assert [each.state.iteration for each in seen] == list(range(1, len(seen) + 1))
    assert all(b.state.objective <= a.state.objective * (1 + 1e-12) for a, b in pairwise(seen))
    last = seen[-1]
    pay = last.outcome.table.polars()["pay"]
    if method.c == 1:  # least squares at once, to the last digit but one
        assert np.allclose(pay, whole.polars()["pay"], rtol=1e-12)
    else:
        assert pay.equals(whole.polars()["pay"])
        assert last.outcome.evidence.items() <= whole.history[-1].items()
        assert len(seen) == whole.history[-1]["iterations"]
    if not more.keys() & {"choice", "constraints"}:  # each record lies on the line of its cluster
        lines = last.lines[last.cluster, :, 0]
        assert np.allclose(lines[:, 0] + lines[:, 1] * age, pay)


def test_only_one_set_of_regressions_can_be_watched():
    table = celosia.read(pl.DataFrame({"a": [1.0, 2, 3], "b": [1.0, 2, 4], "c": [3.0, 2, 1]}))
    for method in (
        Fcrm(dependent=["b", "c"], independent=["a"], c=2),
        Fcrm(dependent=["b"], independent=["a"], c=2, starts=2),
        Fcrm(dependent=["b"], independent=["a"], c=2, within=["c"]),
    ):
        with pytest.raises(ParameterError, match="only one set of regressions can be watched"):
            next(watch(table, method, seed=1))
    with pytest.raises(ParameterError, match="noise does not iterate"):
        next(watch(table, "noise(columns=[b])", seed=1))


@pytest.mark.parametrize("use", ["ipso", "fcrm"])
@pytest.mark.parametrize("case", ["small strata", "many predictors"])
def test_a_regression_without_residual_degrees_of_freedom_is_refused(use, case):
    """The fit of three records by two coefficients, or of twelve by eleven, gives the original values back."""
    rng = np.random.default_rng(5)
    strata = case == "small strata"
    rows, predictors = (60, 2) if strata else (12, 10)
    names = [f"x{i}" for i in range(predictors)]
    frame = pl.DataFrame({name: rng.normal(size=rows) for name in names})
    frame = frame.with_columns(pay=pl.Series(rng.lognormal(10, 1, rows)), ward=pl.Series(np.arange(rows) // 3))
    step = {"use": use, "dependent": ["pay"], "independent": names, **({"within": ["ward"]} if strata else {})}
    if use == "fcrm":
        step["c"] = 1
    with pytest.raises(DataError, match="residual degrees of freedom"):
        celosia.protect(celosia.read(frame), step, seed=1)
    enough = {**step, "independent": names[:1], "within": []}
    assert celosia.protect(celosia.read(frame), enough, seed=1).history


@pytest.mark.parametrize("joint", [False, True])
def test_objective_of_one_regression_is_its_squared_error(people, joint):
    done = celosia.protect(people, Fcrm(dependent=PAID, independent=["age"], c=1, joint=joint), seed=1)
    before, after = people.numeric(PAID), done.numeric(PAID)
    by_hand = (((before - after) / before.std(axis=0)) ** 2).sum()
    assert done.history[-1]["objective"] == pytest.approx(by_hand, rel=1e-9)
    assert by_hand > 300  # no regression on age explains much of two groups
