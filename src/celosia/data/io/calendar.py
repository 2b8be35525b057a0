"""Checks of a source for durations and impossible dates, on which engines would panic later."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from celosia.data.io.facts import Scan
from celosia.data.io.statement import quote_name
from celosia.errors import DataError

if TYPE_CHECKING:
    import duckdb
    import polars as pl

EPOCH = dt.date(1970, 1, 1)
FIRST, LAST = (dt.date(1, 1, 1) - EPOCH).days, (dt.date(9999, 12, 31) - EPOCH).days
PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def check_dates(scan: Scan) -> Scan:
    """Raise if a column of the source has durations, or dates outside the years 1 to 9999."""
    import polars as pl

    relational = not isinstance(scan.frame, pl.LazyFrame)
    spans, counts = _relation(scan.frame) if relational else _frame(scan.frame)
    origin = scan.facts.source.name if scan.facts.source is not None else "the query"
    if spans:
        raise DataError(f"{origin}: column {spans[0]!r} holds durations. Turn them into numbers first.")
    for name, count in counts.items():
        if count:
            raise DataError(
                f"{origin}: column {name!r} has {count} dates outside the years 1 to 9999. Correct them, or make them "
                "missing."
            )
    return scan


def _frame(frame: pl.LazyFrame) -> tuple[list[str], dict[str, int]]:
    """Return the columns of durations, and the number of dates outside per column; only columns of dates are read."""
    import polars as pl

    schema = frame.collect_schema()
    wanted = []
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Date | pl.Datetime):
            unit = PER_DAY[dtype.time_unit] if isinstance(dtype, pl.Datetime) else 1
            inside = pl.col(name).to_physical().is_between(FIRST * unit, (LAST + 1) * unit - 1)
            wanted.append(inside.not_().sum().alias(name))
    spans = [name for name, dtype in schema.items() if isinstance(dtype, pl.Duration)]
    return spans, frame.select(wanted).collect(engine="streaming").row(0, named=True) if wanted else {}


def _relation(relation: duckdb.DuckDBPyRelation) -> tuple[list[str], dict[str, int]]:
    """Return the columns of durations of a DuckDB relation, and the number of dates outside per column."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    dates = [name for name, dtype in types.items() if dtype.startswith(("DATE", "TIMESTAMP"))]
    names = [quote_name(name) for name in dates]
    outside = [f"count(*) FILTER (WHERE {name} < '0001-01-01' OR {name} >= '10000-01-01')" for name in names]
    counts = relation.aggregate(", ".join(outside)).fetchone() if outside else ()
    return [name for name, dtype in types.items() if dtype == "INTERVAL"], dict(zip(dates, counts, strict=True))
