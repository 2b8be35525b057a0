"""Coding, rounding, shifting, masking and pseudonyms where columns are empty, odd or at their limits."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods import BottomCode, Mask, MultivariateTopCode, Pseudonymise, RedactText, Round, ShiftDates, TopCode

KEY = "sixteen bytes or more"
DAY = dt.date(2020, 6, 1)


def changed(values, method, engine="polars", dtype=None, seed=1, **schema):
    frame = pl.DataFrame({"v": pl.Series(values, dtype=dtype)})
    return celosia.protect(celosia.read(frame, celosia.Schema.of(**schema), engine=engine), method, seed=seed)


def cells(*given, **options):
    return changed(*given, **options).polars()["v"].to_list()


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64])
@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_column_without_values_has_no_quantile_and_keeps_its_blanks(engine, values, dtype):
    with pytest.raises(DataError, match="top-code: column 'v' has no values, so it has no quantile; give value"):
        cells(values, TopCode(columns=["v"], quantile=0.5), engine, dtype)
    assert cells(values, TopCode(columns=["v"], value=3), engine, dtype) == values


def test_what_is_no_number_is_not_beyond_a_limit(engine):
    for method, expected in ((TopCode, [1.0, 5.0]), (BottomCode, [5.0, 9.0])):
        first, middle, last = cells([1.0, math.nan, 9.0], method(columns=["v"], value=5), engine)
        assert [first, last] == expected
        assert math.isnan(middle)


@pytest.mark.parametrize("wrong", ["nan", "inf", math.nan, -math.inf, "soon"])
@pytest.mark.parametrize("place", ["value", "replacement"])
def test_a_limit_is_a_finite_number(place, wrong):
    method = BottomCode(columns=["v"], **{"value": 2, place: wrong})
    with pytest.raises(ParameterError, match=r"bottom-code: a numeric column needs a number as limit, got .+"):
        cells([1, 2], method)


def test_a_date_is_one_in_the_zone_of_its_column():
    # noon in Madrid in June is 10:00 in UTC: 10:30 UTC is beyond noon there
    moments = [dt.datetime(2020, 6, 1, 9, 30), dt.datetime(2020, 6, 1, 10, 30)]
    column = pl.Series(moments).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Madrid")
    for limit in ("2020-06-01T12:00", "2020-06-01T10:00+00:00"):
        made = changed(column, TopCode(columns=["v"], value=limit)).polars()["v"]
        assert made.dt.convert_time_zone("UTC").dt.hour().to_list() == [9, 10]
        assert made.dt.minute().to_list() == [30, 0]
    with pytest.raises(ParameterError, match=r"no time zone, so its limit has none, got '2020-06-01T10:00\+00:00'"):
        cells(moments, TopCode(columns=["v"], value="2020-06-01T10:00+00:00"))


@pytest.mark.parametrize(
    ("method", "expected", "count"),
    [
        (TopCode(columns=["v"], value=4, replacement=9), [1, 4, 9, 9], 1),  # 9 is 9 already
        (TopCode(columns=["v"], quantile=0.75), [1, 4, 6, 6], 1),  # 6 is the last value up to 6 + 0.25 * 3 = 6.75
        (BottomCode(columns=["v"], value=0), [1, 4, 6, 9], 0),
        (BottomCode(columns=["v"], value=100, replacement=0.5), [0.5] * 4, 4),
    ],
)
def test_what_is_counted_as_changed_was_changed(engine, method, expected, count):
    done = changed([1, 4, 6, 9], method, engine)
    assert done.polars()["v"].to_list() == expected
    assert done.history[-1]["changed"] == {"v": count}


def test_new_records_are_coded_at_the_quantiles_of_the_release():
    method = TopCode(columns=["v"], quantile=0.5)
    table = celosia.read(pl.DataFrame({"v": [1.0, 2.25, 700.0]}))
    recorded = celosia.protect(table, method).private_history[-1]
    fresh = celosia.read(pl.DataFrame({"v": [2.0, 3.0, None]}))
    coded, lost = method.replay(fresh, recorded, celosia.streams.Stream(1))
    assert coded.polars()["v"].to_list() == [2.0, 2.25, None]
    assert not lost.any()


@pytest.mark.parametrize("base", [3, 10, 49, 98, 1000])
def test_rounding_is_that_of_exact_arithmetic(base):
    """Fractions do not lose a hair: 49 rounded down to multiples of 49 is 49, and halves go up."""
    values = [base * k + base * tenth // 10 for k in range(-300, 301) for tenth in (0, 1, 5, 9)]
    exact = {
        "down": [base * math.floor(Fraction(v, base)) for v in values],
        "up": [base * math.ceil(Fraction(v, base)) for v in values],
        "nearest": [base * math.floor(Fraction(v, base) + Fraction(1, 2)) for v in values],
    }
    for way, expected in exact.items():
        assert cells(values, Round(columns=["v"], base=base, way=way)) == expected


LARGE = [2**53 + 1, -(2**53) - 1, 2**60 + 3, -(2**60) - 7, 2**62 + 5, 999_999_999_999_999_995, -4, 5, 0, None]


@pytest.mark.parametrize("base", [1, 2, 7, 10, 1_000_003])
@pytest.mark.parametrize("way", ["nearest", "down", "up"])
def test_whole_numbers_keep_their_digits(engine, way, base):
    add = {"nearest": base // 2, "down": 0, "up": base - 1}[way]
    expected = [None if x is None else (x + add) // base * base for x in LARGE]
    assert cells(LARGE, Round(columns=["v"], base=base, way=way), engine) == expected


def test_whole_numbers_drawn_keep_their_digits():
    made = cells(LARGE, Round(columns=["v"], base=7, way="random"))
    assert all(y is None if x is None else y in {x // 7 * 7, -(-x // 7) * 7} for x, y in zip(LARGE, made, strict=True))
    x = 2**60 + 5  # 2**60 leaves 1 on division by 7: six sevenths of the draws go up
    drawn = np.array(cells([x] * 5000, Round(columns=["v"], base=7, way="random")))
    assert set(drawn.tolist()) == {x - 6, x + 1}
    assert abs((drawn == x + 1).mean() - 6 / 7) < 5 * 0.005  # the deviation of the share is 0.005


@pytest.mark.parametrize(
    ("values", "base", "dtype"),
    [([2**63 - 10], 10, pl.Int64), ([1, 9 - 2**63], 10, pl.Int64), ([2**63], 1, pl.UInt64), ([2**62], 2**62, None)],
)
@pytest.mark.parametrize("way", ["nearest", "random"])
def test_whole_numbers_beyond_64_bits_are_refused_unseen(values, base, dtype, way):
    with pytest.raises(DataError, match="round: column 'v' holds whole numbers that are too large") as refused:
        cells(values, Round(columns=["v"], base=base, way=way), dtype=dtype)
    assert str(values[-1])[:6] not in str(refused.value)


def test_whole_numbers_at_the_end_of_64_bits_are_rounded():
    assert cells([2**63 - 11, 10 - 2**63], Round(columns=["v"], base=10)) == [2**63 - 8, 8 - 2**63]
    assert cells([2**62 - 1, None], Round(columns=["v"], base=2**62)) == [2**62, None]
    assert cells([None, None], Round(columns=["v"], base=5), dtype=pl.Int64) == [None, None]
    assert cells([5, 6], Round(columns=["v"], base=1e300, way="up")) == [1e300, 1e300]


@pytest.mark.parametrize("base", [0.1, 0.3, 0.05, 2.5])
@pytest.mark.parametrize("way", ["down", "up", "nearest", "random"])
def test_a_multiple_of_a_fraction_stays(engine, base, way):
    multiples = [round(base * k, 2) for k in range(-200, 201)]
    assert cells(multiples, Round(columns=["v"], base=base, way=way), engine) == multiples


def test_a_fraction_of_whole_numbers_makes_decimals():
    assert cells([1, 2, None], Round(columns=["v"], base=0.75)) == [0.75, 2.25, None]  # 1.33 and 2.67 steps
    assert changed([1.5], Round(columns=["v"], base=2)).polars()["v"].dtype == pl.Float64


@pytest.mark.parametrize("values", [["a"], [DAY], [True]])
def test_only_numbers_are_rounded(values):
    with pytest.raises(DataError, match="round: column 'v' holds text or dates, but numbers are needed"):
        cells(values, Round(columns=["v"], base=5))


@pytest.mark.parametrize("base", [0, -1, math.nan, math.inf])
def test_a_base_is_a_finite_number_above_zero(base):
    with pytest.raises(ParameterError, match=r"round: base must be (more than 0|a finite number).*, got"):
        Round(columns=["v"], base=base)


def test_no_shift_is_larger_than_it_may_be():
    with pytest.raises(ParameterError, match="shift-dates: weeks needs days of at least 7, got 6"):
        ShiftDates(columns=["v"], days=6, weeks=True)
    moved = {(day - DAY).days for day in cells([DAY] * 200, ShiftDates(columns=["v"], days=13, weeks=True))}
    assert moved == {-7, 0, 7}
    assert {(day - DAY).days for day in cells([DAY] * 200, ShiftDates(columns=["v"], days=1))} == {-1, 0, 1}


def test_a_key_needs_persons():
    with pytest.raises(ParameterError, match="no column names the persons; give by, declare a person column, or leave"):
        cells([DAY], ShiftDates(columns=["v"], key=KEY))


@pytest.mark.parametrize("values", [[dt.date(9999, 12, 31)] * 9, ["0001-01-01"] * 9, [dt.datetime(9999, 12, 31)] * 9])
def test_no_date_leaves_the_calendar(values):
    with pytest.raises(DataError, match=r"values of column 'v' would leave the years 1 to 9999. Lower days") as told:
        cells(values, ShiftDates(columns=["v"], days=9))
    assert "12-31" not in str(told.value)


def test_a_record_without_a_person_has_a_shift_of_its_own():
    frame = pl.DataFrame({"who": [None] * 40 + [1] * 40, "v": [DAY] * 80}, schema_overrides={"who": pl.Int64})
    table = celosia.read(frame, celosia.Schema.of(person="who"))
    moved = celosia.protect(table, ShiftDates(columns=["v"], days=50), seed=1).polars()["v"]
    assert moved[:40].n_unique() > 20
    assert moved[40:].n_unique() == 1


def test_by_goes_before_the_declared_person():
    frame = pl.DataFrame({"who": range(40), "home": [1, 2] * 20, "v": [DAY] * 40})
    table = celosia.read(frame, celosia.Schema.of(person="who"))
    done = celosia.protect(table, ShiftDates(columns=["v"], days=300, by="home"), seed=1)
    assert done.polars().group_by("home").agg(pl.col("v").n_unique())["v"].to_list() == [1, 1]
    assert done.history[-1]["consistent by"] == "home"


def test_time_zones_and_fractions_of_seconds_stay():
    column = pl.Series([dt.datetime(2020, 1, 5, 2, 30, 0, 123456)]).dt.replace_time_zone("Europe/Madrid")
    made = changed(column, ShiftDates(columns=["v"], days=20)).polars()["v"]
    assert made.dtype == column.dtype
    assert made.dt.time().to_list() == column.dt.time().to_list()


@pytest.mark.parametrize("value", [dt.date(2020, 1, 2), True, -1234, "e\u0301\n🙂z"])
def test_characters_of_any_value_are_masked_alike(engine, value):
    text = {True: "true"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    kept = cells([value, None], Mask(columns=["v"], keep=2, side="right", width=3, sign="#"), engine)
    assert kept == ["###" + text[-2:], None]
    assert cells([value, None], Mask(columns=["v"], keep=1), engine) == [text[0] + "*" * (len(text) - 1), None]


@pytest.mark.parametrize("sign", ["$", "\\", "", "ab"])
def test_a_sign_is_one_character(sign):
    with pytest.raises(ParameterError, match="mask: sign must"):
        Mask(columns=["v"], sign=sign)


def test_a_column_named_twice_is_replaced_once():
    assert cells(["a"], Pseudonymise(columns=["v", "v"], key=KEY)) == cells(["a"], Pseudonymise(columns=["v"], key=KEY))


@pytest.mark.parametrize(("length", "refused"), [(7, "at least 8"), (8, ""), (52, ""), (53, "at most 52")])
def test_lengths_of_pseudonyms(length, refused):
    if refused:
        with pytest.raises(ParameterError, match=f"pseudonymise: length must be {refused}, got {length}"):
            Pseudonymise(columns=["v"], length=length)
        return
    made = cells(["a", "b"], Pseudonymise(columns=["v"], key=KEY, length=length, prefix="p:"))
    assert {len(pseudonym) for pseudonym in made} == {length + 2}


def test_another_domain_gives_another_pseudonym_and_a_key_can_come_from_elsewhere(tmp_path, monkeypatch):
    plain, other = (cells(["a"], Pseudonymise(columns=["v"], key=KEY, domain=name)) for name in ("", "staff"))
    assert plain != other
    monkeypatch.setenv("THE_KEY", KEY)
    (tmp_path / "key").write_text(KEY)
    for key in ("env:THE_KEY", f"file:{tmp_path / 'key'}"):
        assert cells(["a"], Pseudonymise(columns=["v"], key=key)) == plain


def test_new_records_get_the_pseudonyms_of_a_key_and_none_without():
    assert Pseudonymise(columns=["v"], key=KEY).freeze({}).key == KEY
    with pytest.raises(DataError, match="its key came from the seed"):
        Pseudonymise(columns=["v"]).freeze({})


@pytest.mark.parametrize("values", [[], [None, None]])
def test_nothing_to_redact_or_replace(values):
    for method in (RedactText(columns=["v"]), Pseudonymise(columns=["v"], key=KEY), Mask(columns=["v"])):
        assert cells(values, method, dtype=pl.String) == values


def test_redacted_texts_are_counted_over_all_columns():
    frame = pl.DataFrame({"a": ["Seen on 3 May 2021", "fever"], "b": ["Again on 4 May 2021", None]})
    done = celosia.protect(celosia.read(frame), RedactText(columns=["a", "b"]))
    assert done.polars().rows() == [("Seen on [date]", "Again on [date]"), ("fever", None)]
    assert done.history[-1]["redacted texts"]["date"] == 2
    with pytest.raises(DataError, match="redact-text: column 'v' holds no text"):
        cells([1], RedactText(columns=["v"]))


@pytest.mark.parametrize("quantile", [0.9, 0.95, 0.985, 0.999])
@pytest.mark.parametrize("method", [TopCode, BottomCode])
def test_a_limit_tells_nothing_of_the_values_that_are_coded(engine, method, quantile):
    """Other values beyond the limit give the same release; a type-7 quantile is interpolated from the first of them."""
    sign = 1 if method is TopCode else -1
    x = np.sort(np.random.default_rng(3).lognormal(10, 0.8, 500).round(2)) * sign
    beyond = x * sign > np.quantile(x * sign, quantile)
    coded = method(columns=["v"], quantile=quantile if sign == 1 else 1 - quantile)
    one, other = (changed(v, coded, engine).polars()["v"] for v in (x, np.where(beyond, 7 * x, x)))
    assert beyond.any()
    assert one.equals(other)
    assert set(one) <= set(x[~beyond])


@pytest.mark.parametrize("robust", [False, True])
def test_the_rim_tells_only_the_direction_of_a_far_record(robust):
    """Two originals whose outlier lies three and five times as far out, in one direction, give the same release."""
    x = np.random.default_rng(4).normal(0, 1, (100, 2)) @ np.array([[3000, 1000], [0, 800]]) + [30_000, 9_000]
    method = MultivariateTopCode(columns=["a", "b"], alpha=0.0005, robust=robust)
    made = []
    for times in (30, 50):
        y = np.vstack([x, x.mean(axis=0) + times * np.array([900.0, 700.0])])
        table = celosia.read(pl.DataFrame(y, schema=["a", "b"]))
        made.append(celosia.protect(table, method, seed=1))
    one, other = (done.polars().to_numpy() for done in made)
    assert [done.history[-1]["changed"] for done in made] == [1, 1]
    tolerance = 500 if robust else 1e-6  # the robust fit of the rest draws its start
    assert np.abs(one - other).max() < tolerance


def test_far_records_are_pulled_onto_the_rim():
    """Mean 3 and variance 20: d² of 12 is 81/20 = 4.05; the rim is at d² = limit by the five records that stay."""
    x = np.array([0.0, 1.0, 2.0, 0.0, 12.0, 3.0])
    done = changed(x, MultivariateTopCode(columns=["v"], alpha=0.5, robust=False))
    limit = done.history[-1]["limit"]  # the median of chi-square with one degree of freedom, 0.455
    made = done.polars()["v"].to_numpy()
    far = (x - 3) ** 2 / np.var(x, ddof=1) > limit
    stay = x[~far]
    square = (made[far] - stay.mean()) ** 2 / np.var(stay, ddof=1)
    assert square.max() == pytest.approx(limit) == pytest.approx(0.4549, abs=1e-4)
    assert np.array_equal(made[~far], x[~far])
    assert (np.sign(made - stay.mean()) == np.sign(x - stay.mean())).all()
    assert done.history[-1]["changed"] == int(far.sum())
    kept = changed([*x, None], MultivariateTopCode(columns=["v"], alpha=0.5, robust=False)).polars()["v"]
    assert kept.to_list() == [*made, None]
