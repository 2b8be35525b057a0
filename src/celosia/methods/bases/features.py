"""Encode columns of any kind as numbers for a model of the data, and decode its numbers to a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from celosia.data.schema import Kind
from celosia.errors import DataError, ParameterError
from celosia.methods.bases.trees import Feature
from celosia.table.derive import new_records, with_record_ids

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.table import Table

    Floats = NDArray[np.float64]

Smoothing = Literal["auto", "all", "none"]
MOST_CATEGORIES = 2000
FEW = 20  # a small file may have as many categories as records


def publishable(schema: Schema) -> tuple[str, ...]:
    """Names of the columns that can be synthesised: all but identifiers and the ids of persons and households."""
    return tuple(name for name in schema.names if name not in schema.naming)


def need_publishable(who: str, table: Table) -> list[str]:
    """Names of the columns that can be synthesised; raise when there is none."""
    names = list(publishable(table.schema))
    if not names:
        raise DataError(f"{who}: the table has no column but identifiers.")
    return names


def need_made(who: str, names: Sequence[str]) -> None:
    """Raise when no column is left to synthesise: the strata of ``within`` are copied."""
    if not names:
        raise ParameterError(f"{who}: within names every column that would be made, so nothing is; name fewer.")


def visit_order(who: str, names: Sequence[str], order: Sequence[str]) -> list[int]:
    """Positions of the columns in the order of their synthesis: those in ``order`` first, then the others."""
    for i, name in enumerate(order):
        if name not in names:
            raise ParameterError(f"{who}: order names the column {name!r}, which is not made.")
        if name in order[:i]:
            raise ParameterError(f"{who}: order names the column {name!r} twice.")
    return [names.index(name) for name in [*order, *(name for name in names if name not in order)]]


def feature(who: str, table: Table, name: str, smoothing: Smoothing) -> Feature:
    """Encode a column as numbers or as codes; a missing category has a code of its own.

    With ``smoothing="auto"`` numbers are smoothed when most of them are distinct.
    """
    import polars as pl

    series = table.column(name)
    kind = table.schema[name].kind
    if series.dtype.is_numeric() and kind in (Kind.NUMERIC, None):
        values = table.numeric([name])[:, 0]
        different = series.n_unique() > 0.5 * max(len(series) - series.null_count(), 1)
        smooth = smoothing == "all" or (smoothing == "auto" and different)
        return Feature(values, nominal=False, whole=series.dtype.is_integer(), smooth=smooth)
    if series.dtype.is_temporal():
        number = series.to_physical().cast(pl.Float64, strict=False).to_numpy()
        smooth = smoothing == "all" or (smoothing == "auto" and series.n_unique() > 0.5 * max(len(series), 1))
        return Feature(np.asarray(number, dtype=np.float64), nominal=False, whole=True, smooth=smooth)
    codes, labels = table.codes(name)
    if len(labels) > MOST_CATEGORIES:
        raise DataError(
            f"{who}: column {name!r} has {len(labels)} categories, at most {MOST_CATEGORIES} can be modelled. "
            "Declare it as an identifier, generalise it or drop it."
        )
    if len(labels) > FEW and len(labels) > 0.5 * len(codes):
        raise DataError(
            f"{who}: column {name!r} has {len(labels)} categories in {len(codes)} records: its values would be "
            "repeated as they are. Declare it as an identifier, generalise it or drop it."
        )
    return Feature(np.where(codes < 0, len(labels), codes).astype(np.float64), nominal=True)


def decode(table: Table, name: str, values: Floats, model: Feature) -> pl.Series:
    """Convert new numbers or codes to a column of the old type."""
    import polars as pl

    series = table.column(name)
    if model.nominal:
        labels = table.codes(name)[1].cast(series.dtype)
        every = pl.concat([labels, pl.Series(labels.name, [None], dtype=series.dtype)])
        return every.gather(values.astype(np.int64)).alias(name)
    column = pl.Series(name, values, nan_to_null=True)
    if series.dtype.is_temporal() or series.dtype.is_integer():
        column = column.round().cast(pl.Int64)
        return column.cast(series.dtype)
    return column.cast(series.dtype)


def new_rows(table: Table, columns: Mapping[str, object]) -> Table:
    """Make a table of synthetic records with record ids of their own, by which a release is shuffled."""
    import polars as pl

    return with_record_ids(new_records(table, pl.DataFrame(dict(columns))))
