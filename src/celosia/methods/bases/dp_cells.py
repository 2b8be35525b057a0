"""Cells of a contingency table that may be published: known without the data, counted with a bound per person."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.data.schema import Column, Kind, Role, Schema
from celosia.errors import DataError, ParameterError, SchemaError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

MOST_CELLS = 2_000_000
COUNT = "count"


def public_values(
    who: str, table: Table, columns: Sequence[str], given: Mapping[str, Sequence[Any]]
) -> list[list[Any]] | None:
    """All values of each column as far as they are declared; nothing when one of them is only known from the data."""
    declared: list[list[Any]] = []
    for name in columns:
        info = table.schema[name]
        if name in given:
            declared.append(list(dict.fromkeys(given[name])))
        elif info.order:
            declared.append(list(info.order))
        elif info.bounds is not None and table.polars_types()[name].is_integer():
            declared.append(list(range(math.ceil(info.bounds[0]), math.floor(info.bounds[1]) + 1)))
        else:
            return None
    cells = math.prod(len(values) for values in declared)
    if not 0 < cells <= MOST_CELLS:
        raise ParameterError(f"{who}: the declared values give {cells} cells; at most {MOST_CELLS} are counted.")
    return declared


def counted(table: Table, columns: Sequence[str], rows: int) -> pl.DataFrame:
    """How many records each occurring cell has, at most ``rows`` of one person; suppressed records are left out."""
    import polars as pl

    person = table.schema.person
    keys = list(columns)
    if person is None:
        engine = table.engine
        histogram = engine.bounded(engine.histogram(table.rows.kept(), keys))
        return histogram.select(*keys, pl.col("__rows__").cast(pl.Int64).alias(COUNT))
    frame = table.polars().select(list(dict.fromkeys([*keys, person]))).filter(~pl.Series(table.suppressed_mask()))
    # which rows of a person are kept must not follow the seed of the run, or it could be replayed
    chance = np.random.Generator(np.random.PCG64(secrets.randbits(128))).random(len(frame))
    kept = frame.with_columns(pl.Series("__chance__", chance)).filter(
        pl.col("__chance__").rank("ordinal").over(person) <= rows
    )
    return kept.group_by(keys).len(COUNT).with_columns(pl.col(COUNT).cast(pl.Int64))


def filled(frame: pl.DataFrame, columns: Sequence[str], values: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """One row per declared cell, 0 where the data have none; cells outside the declared values are left out."""
    import polars as pl

    declared = [
        _typed(name, column, frame.schema[name]).to_frame() for name, column in zip(columns, values, strict=True)
    ]
    cells = reduce(lambda left, right: left.join(right, how="cross"), declared)
    joined = cells.join(frame, on=list(columns), how="left", maintain_order="left", nulls_equal=True)
    return joined.with_columns(pl.col(COUNT).fill_null(0))


def _typed(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    """Declared values in the type of their column; a number may stand for its text, but 1.5 for no whole number."""
    import polars as pl

    given = [value if value is None else str(value) for value in values] if dtype == pl.String else values
    try:
        typed = pl.Series(name, given, dtype=dtype)
    except (TypeError, pl.exceptions.PolarsError):
        raise DataError(f"the declared values of {name!r} do not fit the type of the column.") from None
    if typed.n_unique() < len(typed):  # a person would be counted in two cells
        raise DataError(f"two of the declared values of {name!r} are the same in the type of the column.")
    return typed


def published(table: Table, frame: pl.DataFrame) -> Table:
    """The cells as a table of new rows with a declared column of counts."""
    cells = table.fresh(frame)
    columns = [column for column in cells.schema.columns if column.name != COUNT]
    extra = Column(COUNT, frozenset({Role.INSENSITIVE}), Kind.NUMERIC)
    return cells.with_schema(Schema((*columns, extra), cells.schema.rest))


def check_columns(who: str, table: Table, columns: Sequence[str]) -> None:
    """Refuse no column, a repeated one, or one that is named like the counts."""
    if not columns or len(set(columns)) != len(columns):
        raise ParameterError(f"{who}: name at least one column, each once.")
    if COUNT in columns:
        raise SchemaError(f"{who}: a column is named {COUNT!r}, which the counts need; rename it.")
    for name in columns:
        table.schema[name]


def consistent(noisy: NDArray[np.float64], total: float | None = None) -> NDArray[np.int64]:
    """Non-negative whole numbers near the noisy ones that add up to a total, the noisy total unless given."""
    from celosia.mathematics.synthesis.nonnegative import nearest_nonnegative, whole_with_total

    whole = max(0, round(float(noisy.sum()) if total is None else total))
    return whole_with_total(nearest_nonnegative(noisy, whole), whole)
