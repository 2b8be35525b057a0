"""A method on blocks: the same blocks and draws on every engine, what is promised, what is refused."""

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods import InBlocks, Microaggregate, Mondrian, RankSwap
from celosia.models import KAnonymity

RNG = np.random.default_rng(0)
PEOPLE = pl.DataFrame(
    {
        "area": RNG.choice(["N", "S", None], 90, p=[0.6, 0.3, 0.1]),
        "age": RNG.integers(18, 90, 90),
        "pay": RNG.gamma(2.0, 900.0, 90).round(),
    }
)
QUASI = celosia.Schema.of(quasi=["age", "pay"])


def people(engine="polars"):
    return celosia.read(PEOPLE, QUASI, engine=engine)


@pytest.mark.on_spark(long=True)
@pytest.mark.parametrize(
    "given",
    [
        RankSwap(columns=["age", "pay"], window=0.3),
        Microaggregate(columns=["age", "pay"], k=3),
        Mondrian(require=["k-anonymity(k=4)"]),
    ],
    ids=lambda method: method.name,
)
def test_engines_make_the_same_blocks_and_draws(engine, given):
    method = InBlocks(method=given, by=["area"], size=25)
    first, here = (celosia.protect(people(e), method, seed=4) for e in ("polars", engine))
    assert here.polars().equals(first.polars())
    assert here.history[-1]["blocks"] == first.history[-1]["blocks"] > 3
    assert here.history[-1]["largest"] <= 25


def test_strata_are_what_within_gives():
    """Groups are found in each stratum by itself, as the method does it where it has the parameter."""
    given = Microaggregate(columns=["age", "pay"], k=3)
    blocked = celosia.protect(people(), InBlocks(method=given, by=["area"])).polars()
    for area in ("N", "S", None):
        alone = celosia.read(PEOPLE.filter(pl.col("area").eq_missing(area)), QUASI)
        expected = celosia.protect(alone, given).polars()
        assert blocked.filter(pl.col("area").eq_missing(area)).equals(expected)


def test_values_move_within_their_block_only():
    moved = celosia.protect(people(), InBlocks(method=RankSwap(columns=["pay"], window=1.0), size=30), seed=1).polars()
    assert sorted(moved["pay"]) == sorted(PEOPLE["pay"])
    middle = PEOPLE["pay"].median()
    assert ((moved["pay"] > middle) == (PEOPLE["pay"] > middle)).all()
    assert not moved["pay"].equals(PEOPLE["pay"])


def test_what_every_class_has_is_kept():
    done = celosia.protect(people(), InBlocks(method="mondrian(require=[k-anonymity(k=4)])", size=20))
    assert KAnonymity(k=4).holds(done)
    assert done.history[-1]["blocks"] >= 5


def test_a_block_that_cannot_be_cut_stays_whole():
    table = celosia.read(pl.DataFrame({"x": [1.0] * 9 + [2.0]}), celosia.Schema.of(quasi=["x"]))
    method = InBlocks(method="noise(columns=[x])", near=["x"], size=5)
    with pytest.raises(DataError, match="constant"):  # nine equal numbers are a block of their own
        celosia.protect(table, method)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"method": "rank-swap(columns=[age])"}, "give by"),
        ({"method": "anatomise(l=2)", "by": ["area"]}, "anatomise cannot be applied to blocks"),
        ({"method": "round(columns=[age], base=5)", "by": ["area"]}, "it needs no block"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters, told):
    with pytest.raises(ParameterError, match=told):
        InBlocks(**parameters)
