"""Cells of a contingency table with a formal guarantee: declared, or counted with a bound per person."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.data.schema import Column, Kind, Role, Schema
from celosia.errors import ParameterError, SchemaError
from celosia.methods.bases.domain import Domain, canonical_texts, domain, with_declared_kind
from celosia.table.derive import new_records

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

MOST_CELLS = 2_000_000
COUNT = "count"


def public_values(
    who: str, table: Table, columns: Sequence[str], given: Mapping[str, Sequence[Any]]
) -> list[Domain] | None:
    """List the declared values of each column; None when the values of one are known from the data only.

    Bounds declare the whole numbers between them.
    """
    declared: list[Domain] = []
    for name in columns:
        info = table.schema[name]
        if name not in given and not info.order and info.bounds is None:
            return None
        declared.append(domain(who, table, name, given, bins=MOST_CELLS + 1, whole=columns))
    cells = math.prod(each.size for each in declared)
    if not 0 < cells <= MOST_CELLS:
        raise ParameterError(f"{who}: the declared values give {cells} cells; at most {MOST_CELLS} are counted.")
    return declared


def count_cells(table: Table, columns: Sequence[str], rows: int) -> pl.DataFrame:
    """Count the records of each occurring cell, at most ``rows`` per person; suppressed records are left out."""
    import polars as pl

    person = table.schema.person
    keys = list(columns)
    if person is None:
        engine = table.engine
        from celosia.data.engines.lazy_frames import group_counts

        histogram = engine.collect_bounded(group_counts(table.rows.unmarked_frame(), keys))
        return histogram.select(*keys, pl.col("__rows__").cast(pl.Int64).alias(COUNT))
    frame = table.polars().select(list(dict.fromkeys([*keys, person]))).filter(~pl.Series(table.counts.suppressed_mask))
    # the choice of the rows of a person must not depend on the seed of the run, or it could be repeated
    chance = np.random.Generator(np.random.PCG64(secrets.randbits(128))).random(len(frame))
    kept = frame.with_columns(
        pl.Series("__chance__", chance), canonical_texts(frame[person]).alias("__person__")
    ).filter(pl.col("__chance__").rank("ordinal").over("__person__") <= rows)
    return kept.group_by(keys).len(COUNT).with_columns(pl.col(COUNT).cast(pl.Int64))


def fill_cells(frame: pl.DataFrame, declared: Sequence[Domain]) -> pl.DataFrame:
    """Add cells without records, with the count 0, and remove cells outside the declared values."""
    import polars as pl

    cells = reduce(lambda left, right: left.join(right, how="cross"), [each.series.to_frame() for each in declared])
    place = np.zeros(len(frame), dtype=np.int64)
    inside = np.ones(len(frame), dtype=np.bool_)
    for each in declared:
        codes = each.codes(frame[each.name])
        inside &= codes >= 0
        place = place * each.size + codes
    counts = np.bincount(place[inside], weights=frame[COUNT].to_numpy()[inside], minlength=len(cells))
    return cells.with_columns(pl.Series(COUNT, counts.astype(np.int64)))


def text_cells(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Group the counts of the occurring cells by their canonical texts."""
    import polars as pl

    texts = frame.with_columns(canonical_texts(frame[name]).alias(name) for name in columns)
    return texts.group_by(list(columns)).agg(pl.col(COUNT).sum())


def cells_table(table: Table, frame: pl.DataFrame) -> Table:
    """Make a table of the cells, with a declared column of counts."""
    cells = new_records(table, frame)
    types = frame.schema
    columns = [
        with_declared_kind(column, types[column.name]) for column in cells.schema.columns if column.name != COUNT
    ]
    extra = Column(COUNT, frozenset({Role.INSENSITIVE}), Kind.NUMERIC)
    return cells.with_schema(Schema((*columns, extra), cells.schema.rest))


def check_columns(who: str, table: Table, columns: Sequence[str]) -> None:
    """Raise when no column is named, one is repeated, or one is named like the counts."""
    if not columns or len(set(columns)) != len(columns):
        raise ParameterError(f"{who}: name at least one column, each once.")
    if COUNT in columns:
        raise SchemaError(f"{who}: a column is named {COUNT!r}, which the counts need; rename it.")
    for name in columns:
        table.schema[name]


def consistent(noisy: NDArray[np.float64], total: float | None = None) -> NDArray[np.int64]:
    """Non-negative whole numbers near the noisy ones that add up to a total, the noisy total unless given."""
    from celosia.methods.bases.nonnegative import nearest_nonnegative, whole_with_total

    whole = max(0, round(float(noisy.sum()) if total is None else total))
    return whole_with_total(nearest_nonnegative(noisy, whole), whole)
