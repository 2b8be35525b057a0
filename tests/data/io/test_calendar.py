"""Dates that no calendar has: the first and the last day that there are, and the days beside them."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

from celosia.data.io.calendar import FIRST, LAST, check_dates
from celosia.data.io.facts import FileFacts, Scan
from celosia.errors import DataError


def scan(frame):
    return Scan(frame, FileFacts("parquet"), "x")


def days(numbers):
    """Days since 1970 as dates, whether or not a calendar has them."""
    return pl.Series("day", numbers, dtype=pl.Int32).cast(pl.Date).to_frame()


def test_the_ends_of_the_calendar():
    assert (FIRST, LAST) == (-719_162, 2_932_896)  # 1970 - 1 years with 477 leap days; 8 030 years with 1 947


@pytest.mark.parametrize(("numbers", "outside"), [([FIRST, LAST, None], 0), ([FIRST - 1, 0], 1), ([LAST + 1] * 3, 3)])
def test_days(numbers, outside):
    opened = scan(days(numbers).lazy())
    if not outside:
        assert check_dates(opened) is opened
        return
    with pytest.raises(DataError, match=rf"the query: column 'day' has {outside} dates outside the years 1 to 9999"):
        check_dates(opened)


@pytest.mark.parametrize(("unit", "per_day"), [("ms", 86_400 * 10**3), ("us", 86_400 * 10**6)])
def test_moments(unit, per_day):
    for number, fine in [
        (FIRST * per_day, True),
        (FIRST * per_day - 1, False),
        ((LAST + 1) * per_day - 1, True),
        ((LAST + 1) * per_day, False),
    ]:
        frame = pl.Series("day", [number, None]).cast(pl.Datetime(unit)).to_frame().lazy()
        if fine:
            check_dates(scan(frame))
        else:
            with pytest.raises(DataError, match="has 1 dates outside"):
                check_dates(scan(frame))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("DATE '9999-12-31'", None),
        ("DATE '0001-01-01'", None),
        ("DATE '10000-01-01'", "has 1 dates"),
        ("DATE '0001-01-01' - 1", "has 1 dates"),
        ("TIMESTAMP '9999-12-31 23:59:59'", None),
        ("TIMESTAMP '10000-01-01 00:00:00'", "has 1 dates"),
        ("INTERVAL 3 DAY", "holds durations"),
        ("NULL::DATE", None),
    ],
)
def test_relations(cell, message):
    opened = scan(duckdb.sql(f'SELECT 1 AS n, {cell} AS "the ""day"""'))
    if message is None:
        assert check_dates(opened) is opened
    else:
        with pytest.raises(DataError, match=message):
            check_dates(opened)


def test_durations_are_refused_and_frames_without_dates_are_not_read():
    span = pl.Series("span", [1], dtype=pl.Int64).cast(pl.Duration("us")).to_frame().lazy()
    with pytest.raises(DataError, match="column 'span' holds durations"):
        check_dates(scan(span))
    unread = pl.LazyFrame({"x": [1]}).map_batches(lambda _: pytest.fail("the rows were read"), schema={"x": pl.Int64})
    check_dates(scan(unread))
