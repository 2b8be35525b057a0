"""Options of the synthetic methods that nothing else sets: strata, sizes, copies, iterations, persons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods import Fcrm, GaussianCopula, Ipso, SequentialTrees
from celosia.streams import Stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=40)
DATA = pl.DataFrame({"x": X, "y": 2 * X + RNG.normal(0, 0.3, 40), "g": ["a"] * 30 + ["b"] * 8 + ["c"] * 2})


def made(method, frame=DATA, seed=1, **schema):
    return celosia.protect(celosia.read(frame, celosia.Schema.of(**schema)), method, seed=seed)


@pytest.mark.parametrize("size", [1, 2, 10, 39, 40, 41, 400])
def test_strata_of_a_copula_add_up_to_the_size(size):
    done = made(GaussianCopula(within=["g"], size=size))
    counts = dict(done.polars()["g"].value_counts().iter_rows())
    assert sum(counts.values()) == len(done) == size
    assert done.history[-1]["records made"] == size
    for name, share in (("a", 0.75), ("b", 0.2), ("c", 0.05)):
        assert abs(counts.get(name, 0) - share * size) < 1


def test_a_stratum_of_one_would_be_repeated():
    with pytest.raises(DataError, match=r"at least two records are needed in each stratum, one has 1\. Join strata"):
        made(GaussianCopula(within=["g"]), DATA.head(39))


@pytest.mark.parametrize("method", [SequentialTrees(within=["x", "y", "g"]), GaussianCopula(within=["g", "x", "y"])])
def test_to_make_nothing_is_refused(method):
    with pytest.raises(ParameterError, match=f"{method.name}: within names every column that would be made"):
        made(method)


@pytest.mark.parametrize(
    "method",
    [GaussianCopula(copies=3), SequentialTrees(copies=3), Ipso(dependent=["y"], independent=["x"], copies=3)],
    ids=lambda method: method.name,
)
def test_copies_differ_and_the_first_is_the_one_without_copies(method):
    table = celosia.read(DATA)
    outcome = method.apply(table, Stream(1))
    assert sorted(outcome.others) == ["copy 2", "copy 3"]
    first, second, third = (
        t.polars()["y"] for t in (outcome.table, *(outcome.others[n] for n in sorted(outcome.others)))
    )
    assert not first.equals(second)
    assert not second.equals(third)
    alone = type(method)(**{**method.model_dump(), "copies": 1}).apply(table, Stream(1))
    assert alone.table.polars()["y"].equals(first)
    assert alone.others == {}


def test_records_that_are_not_asked_for_stay_and_the_others_are_made_whole():
    frame = DATA.with_columns(i=pl.int_range(40))
    new = made(SequentialTrees(where="i < 10", leaf=3), frame)
    assert new.polars()[10:].equals(frame[10:])
    assert not new.polars()[:10]["x"].equals(frame[:10]["x"])
    assert new.history[-1]["records made"] == 10
    assert made(SequentialTrees(where="i > 100"), frame).polars().equals(frame)
    with pytest.raises(ParameterError, match="size is for new rows; leave it out with columns, where or within"):
        made(SequentialTrees(where="i < 10", size=3), frame)


def test_no_leaf_is_one_persons():
    """One person has 30 of 60 rows with a value of her own: a leaf of five persons mixes it with others'."""
    frame = pl.DataFrame(
        {"p": [0] * 30 + list(range(1, 31)), "v": ["hers"] * 30 + ["other"] * 30, "w": [1] * 30 + [2] * 30}
    )
    by_rows = made(SequentialTrees(leaf=5), frame.drop("p")).polars()
    assert (by_rows.filter(pl.col("v") == "hers")["w"] == 1).all()
    by_persons = made(SequentialTrees(leaf=5), frame, person="p").polars()
    assert (by_persons.filter(pl.col("v") == "hers")["w"] == 2).any()


def test_each_side_may_have_several_columns():
    frame = DATA.with_columns(z=pl.col("y") * 3, w=pl.col("x") ** 2)
    method = Ipso(dependent=["y", "z"], independent=["x", "w"], variant="C")
    new = made(method, frame).polars()
    for a in ("y", "z"):
        for b in ("x", "y", "z", "w"):
            assert np.cov(new[a], new[b])[0, 1] == pytest.approx(np.cov(frame[a], frame[b])[0, 1])
    assert max(made(method, frame).history[-1]["largest error"].values()) < 1e-6


def test_without_an_intercept_the_fit_goes_through_zero():
    # sum(xy) / sum(xx) = (2 + 6 + 15) / (1 + 4 + 9) = 23 / 14
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 3.0, 5.0]})
    expected = [23 / 14, 46 / 14, 69 / 14]
    for method in (Ipso(dependent=["y"], independent=["x"], variant="A", intercept=False),
                   Fcrm(dependent=["y"], independent=["x"], c=1, intercept=False)):  # fmt: skip
        assert made(method, frame).polars()["y"].to_list() == pytest.approx(expected)


def test_iterations_end_where_told():
    cut = made(Fcrm(dependent=["y"], independent=["x"], c=3, max_iterations=1, tolerance=1e-12)).history[-1]
    whole = made(Fcrm(dependent=["y"], independent=["x"], c=3, max_iterations=500)).history[-1]
    assert (cut["iterations"], cut["converged"]) == (1, False)
    assert whole["converged"]
    assert whole["last change"] <= 1e-5
    assert whole["objective"] <= cut["objective"]


def test_more_starts_are_never_worse():
    objectives = [
        made(Fcrm(dependent=["y"], independent=["x"], c=4, starts=n)).history[-1]["objective"] for n in (1, 6)
    ]
    assert objectives[1] <= objectives[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"c": 40}, "fcrm: c must be smaller than the number of records, 40, got 40"),
        ({"c": 2, "within": ["g"]}, "fcrm: c must be smaller than the number of records, 2, got 2"),
        ({"c": 1, "radial": 40}, "radial must be at least 1 and below the number of records, 40, got 40"),
    ],
)
def test_more_models_than_records_are_refused(options, told):
    with pytest.raises(DataError, match=told):
        made(Fcrm(dependent=["y"], independent=["x"], **options))
    with pytest.raises(ParameterError, match=r"fcrm: m must be more than 1\.0, got 1"):
        Fcrm(dependent=["y"], independent=["x"], m=1)
