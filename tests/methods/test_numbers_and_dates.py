"""Top and bottom coding, rounding, date shifting, on both engines."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods import BottomCode, Round, ShiftDates, TopCode
from celosia.parts import private_fields


def coded(values, method, engine="polars", dtype=None, seed=1):
    table = celosia.read(pl.DataFrame({"v": pl.Series(values, dtype=dtype)}), engine=engine)
    return celosia.protect(table, method, seed=seed).polars()["v"].to_list()


BIG = 2**53


@pytest.mark.parametrize("start", [BIG, -BIG - 4, 2**62])
def test_coding_of_whole_numbers_is_exact(start, engine):
    """From 2**53 on, floating-point numbers hold every second whole number only."""
    x = [start + i for i in range(5)]
    low, high = start + 1, start + 3
    assert coded(x, TopCode(columns=["v"], value=high), engine) == [min(v, high) for v in x]
    assert coded(x, BottomCode(columns=["v"], value=low), engine) == [max(v, low) for v in x]
    assert coded(x, TopCode(columns=["v"], value=str(high), replacement=low), engine) == [*x[:4], low]
    assert coded(x, TopCode(columns=["v"], quantile=0.99), engine) == [*x[:4], high]


def test_coding_of_unsigned_numbers_is_exact():
    x = [2**64 - 5 + i for i in range(5)]
    assert coded(x, TopCode(columns=["v"], value=x[2]), dtype=pl.UInt64) == [*x[:2], *x[2:3] * 3]
    assert coded(x, BottomCode(columns=["v"], quantile=0.6), dtype=pl.UInt64) == [*x[3:4] * 3, *x[3:]]


def test_coding_at_a_quantile_is_replayed_exactly():
    table = celosia.read(pl.DataFrame({"v": [BIG + i for i in (1, 1, 1, 3, 3)]}))
    method = TopCode(columns=["v"], quantile=0.5)
    done = method.apply(table, None)
    assert done.table.polars()["v"].to_list() == [BIG + 1] * 5
    replayed, _ = method.replay(table, done.private, None)
    assert replayed.polars()["v"].to_list() == [BIG + 1] * 5


@pytest.mark.parametrize("name", ["value", "replacement"])
def test_limit_outside_64_bits_is_refused_for_whole_numbers(name, engine):
    options = {"value": 2, name: 1e300}
    with pytest.raises(ParameterError, match="between -9223372036854775808 and 9223372036854775807, got 1e\\+300"):
        coded([1, 3], TopCode(columns=["v"], **options), engine)
    with pytest.raises(ParameterError, match="needs a number as limit, got 1000"):
        coded([1.0, 3.0], TopCode(columns=["v"], **{**options, name: 10**400}), engine)
    assert coded([1.0, 3.0], TopCode(columns=["v"], **options), engine) == [1, 3 if name == "value" else 1e300]


def test_coding_by_hand(engine):
    x = [1, 5, 9, None]
    assert coded(x, TopCode(columns=["v"], value=5), engine) == [1, 5, 5, None]
    assert coded(x, TopCode(columns=["v"], value=5, replacement=7), engine) == [1, 5, 7, None]
    assert coded(x, BottomCode(columns=["v"], value=5), engine) == [5, 5, 9, None]
    assert coded(x, BottomCode(columns=["v"], value=4.5), engine) == [4.5, 5, 9, None]
    # 0.5 quantile of 1, 5, 9 is 5
    assert coded(x, TopCode(columns=["v"], quantile=0.5), engine) == [1, 5, 5, None]


def test_dates(engine):
    days = [dt.date(1920, 5, 1), dt.date(1936, 1, 1), dt.date(1990, 2, 3), None]
    made = coded(days, BottomCode(columns=["v"], value="1936-01-01"), engine)
    assert made == [dt.date(1936, 1, 1), dt.date(1936, 1, 1), dt.date(1990, 2, 3), None]
    moments = [dt.datetime(2020, 1, 1, 12), dt.datetime(2021, 1, 1)]
    assert coded(moments, TopCode(columns=["v"], value="2020-06-01"), engine)[1] == dt.datetime(2020, 6, 1)


def test_coding_is_that_of_sdcmicro(shared, engine):
    frame = pl.read_csv(shared("data/testdata.csv"))
    golden = json.loads(shared("golden/sdcmicro/topbot.json").read_text())
    table = celosia.read(frame, engine=engine)
    top = celosia.protect(table, TopCode(columns=["income"], value=8e7))
    assert top.history[-1]["changed"] == {"income": golden["income_top_8e7"]["n_changed"]}
    assert top.polars()["income"].sum() == pytest.approx(golden["income_top_8e7"]["sum"], rel=1e-14)
    bottom = celosia.protect(table, BottomCode(columns=["age"], value=15, replacement=10))
    assert bottom.history[-1]["changed"] == {"age": golden["age_bottom_15_to_10"]["n_changed"]}
    assert bottom.polars()["age"].sum() == golden["age_bottom_15_to_10"]["sum"]


def test_coding_refusals():
    with pytest.raises(ParameterError, match="top-code: give value or quantile"):
        TopCode(columns=["v"])
    with pytest.raises(DataError, match="holds text"):
        coded(["a"], TopCode(columns=["v"], value=1))
    with pytest.raises(ParameterError, match="needs a number"):
        coded([1], TopCode(columns=["v"], value="x"))
    with pytest.raises(ParameterError, match="written as 1936-01-01"):
        coded([dt.date(2020, 1, 1)], TopCode(columns=["v"], value="soon"))
    with pytest.raises(ParameterError, match="need value, not quantile"):
        coded([dt.date(2020, 1, 1)], TopCode(columns=["v"], quantile=0.9))


def test_quantile_limits_are_private():
    table = celosia.read(pl.DataFrame({"v": [1.0, 2.25, 700.0]}))
    done = celosia.protect(table, TopCode(columns=["v"], quantile=0.5))
    assert "2.25" not in str(done.history[-1])
    assert done.private_history[-1]["limits"] == {"v": "2.25"}


@pytest.mark.parametrize(
    ("way", "base", "expected"),
    [
        ("nearest", 10, [10, 20, -10, None]),
        ("down", 10, [10, 10, -20, None]),
        ("up", 10, [20, 20, -10, None]),
    ],
)
def test_rounding_by_hand(engine, way, base, expected):
    made = coded([12, 15, -14, None], Round(columns=["v"], base=base, way=way), engine)
    assert made == expected
    assert all(value is None or isinstance(value, int) for value in made)


def test_tenths_have_no_dust(engine):
    assert coded([0.31, 0.26, 1.05], Round(columns=["v"], base=0.1), engine) == [0.3, 0.3, 1.1]
    assert coded([0.31, 0.26], Round(columns=["v"], base=0.25), engine) == [0.25, 0.25]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10), st.sampled_from([0.01, 0.05, 0.1, 0.3, 1, 2.5, 7, 100]))
def test_engines_round_the_same(values, base):
    for way in ("nearest", "down", "up"):
        method = Round(columns=["v"], base=base, way=way)
        assert coded(values, method, "polars") == coded(values, method, "duckdb")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=10), st.integers(1, 50))
def test_rounding_is_near(values, base):
    for way in ("nearest", "down", "up", "random"):
        made = coded(values, Round(columns=["v"], base=base, way=way))
        for x, y in zip(values, made, strict=True):
            assert y % base == 0
            assert abs(x - y) <= (base / 2 if way == "nearest" else base - 1)


def test_random_rounding_is_unbiased(engine):
    # x = 3, base 10: 10 with probability 0.3. 20 000 draws: sd of the share is 0.0032; 0.7x and 1.3x are 28 sd away.
    made = np.array(coded([3] * 20_000, Round(columns=["v"], base=10, way="random"), engine))
    share = float((made == 10).mean())
    assert abs(share - 0.3) < 5 * 0.0032
    assert abs(share - 0.21) > 5 * 0.0032
    assert abs(share - 0.39) > 5 * 0.0032
    assert coded([30] * 100, Round(columns=["v"], base=0.3, way="random"), engine) == pytest.approx([30] * 100)


def test_random_rounding_is_the_same_on_both_engines():
    x = list(range(100))
    method = Round(columns=["v"], base=7, way="random")
    assert coded(x, method, "polars") == coded(x, method, "duckdb")


def visits(n=400, persons=80, seed=5):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, persons, n)
    first = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 700, n)]
    return pl.DataFrame(
        {
            "who": who,
            "come": first,
            "gone": [d + dt.timedelta(days=int(x)) for d, x in zip(first, rng.integers(0, 30, n), strict=True)],
            "at": [dt.datetime(2020, 1, 1, 7, 30)] * n,
        }
    )


def shifted(frame, engine="polars", person="who", seed=1, **options):
    table = celosia.read(frame, celosia.Schema.of(person=person), engine=engine)
    return celosia.protect(table, ShiftDates(columns=["come", "gone", "at"], **options), seed=seed).polars()


def test_shifts_are_one_per_person_and_bounded(engine):
    before = visits()
    after = shifted(before, engine, days=50)
    moved = before.select("who").with_columns(
        *((after[name] - before[name]).dt.total_days().alias(name) for name in ("come", "gone", "at"))
    )
    assert (moved["come"] == moved["gone"]).all()
    assert (moved["come"] == moved["at"]).all()
    assert moved.group_by("who").agg(pl.col("come").n_unique())["come"].max() == 1
    assert moved["come"].abs().max() <= 50
    assert moved["come"].n_unique() > 20
    assert after["at"].dt.hour().unique().to_list() == [7]
    assert after["come"].dtype == pl.Date


def test_shifts_with_a_key_do_not_depend_on_engine_order_or_the_other_rows():
    before, key = visits(), "the key of this file"
    polars, duckdb = shifted(before, "polars", key=key), shifted(before, "duckdb", key=key)
    assert polars.equals(duckdb)
    turned = shifted(before.reverse(), key=key).reverse()
    assert turned.equals(polars)
    part = shifted(before.filter(pl.col("who") < 10), key=key)
    assert part.equals(polars.filter(pl.col("who") < 10))
    assert not shifted(before, key="the key of another file").equals(polars)


def test_shifts_of_a_seed_do_not_depend_on_the_engine_but_on_the_data():
    before = visits()
    polars, duckdb = shifted(before, "polars"), shifted(before, "duckdb")
    assert polars.equals(duckdb)
    assert not shifted(before, seed=2).equals(polars)
    part = shifted(before.filter(pl.col("who") < 10))
    assert not part.equals(polars.filter(pl.col("who") < 10))


def test_shifts_are_uniform():
    # 4 000 persons, D = 10: 21 shifts, 190.5 expected each. Chi-square with 20 degrees of freedom, p = 0.0001 at 53.
    frame = pl.DataFrame({"who": range(4000), "d": [dt.date(2020, 6, 1)] * 4000})
    for person in ("who", None):
        table = celosia.read(frame, celosia.Schema.of(person=person))
        after = celosia.protect(table, ShiftDates(columns=["d"], days=10), seed=3).polars()["d"]
        counts = (after - dt.date(2020, 6, 1)).dt.total_days().value_counts()["count"].to_numpy()
        assert len(counts) == 21
        expected = 4000 / 21
        assert ((counts - expected) ** 2 / expected).sum() < 53


def test_whole_weeks_keep_the_day_of_the_week():
    before = visits()
    after = shifted(before, weeks=True, days=60)
    assert (before["come"].dt.weekday() == after["come"].dt.weekday()).all()
    assert (after["come"] - before["come"]).dt.total_days().abs().max() <= 60


def test_a_key_links_files():
    before = visits()
    key = "sixteen bytes or more"
    assert shifted(before, seed=1, key=key).equals(shifted(before, seed=2, key=key))
    assert "key" in private_fields(ShiftDates)


def test_text_dates_and_missing_ones(engine):
    frame = pl.DataFrame({"who": [1, 1, None], "d": ["05/01/2020", None, "07/01/2020"]})
    table = celosia.read(frame, celosia.Schema.of(person="who"), engine=engine)
    made = celosia.protect(table, ShiftDates(columns=["d"], days=5, notation="%d/%m/%Y"), seed=1).polars()["d"]
    assert made[1] is None
    assert made.str.to_date("%d/%m/%Y").is_between(dt.date(2019, 12, 31), dt.date(2020, 1, 12)).drop_nulls().all()
    with pytest.raises(DataError, match="2 values of column 'd' are no dates") as caught:
        celosia.protect(table, ShiftDates(columns=["d"]))
    assert "05/01" not in str(caught.value)
    with pytest.raises(DataError, match="holds no dates"):
        celosia.protect(celosia.read(pl.DataFrame({"d": [1]})), ShiftDates(columns=["d"]))
