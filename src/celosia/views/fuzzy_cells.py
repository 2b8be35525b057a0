"""Quasi-identifiers as fuzzy coding takes them, and the degrees of persons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


def quasi_values(table: Table) -> dict[str, NDArray[Any]]:
    """Return the quasi-identifiers of the records that are not suppressed."""
    kept = table.classes.members
    return {name: values_of(table.column(name), kept) for name in table.schema.need_quasi()}


def values_of(series: pl.Series, kept: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a column of the kept records: floats for numbers and dates, objects for text.

    A column of numbers in which records were suppressed has become text; its kept values are read as numbers again.
    """
    import polars as pl

    series = series.filter(pl.Series(kept))
    if series.dtype.is_temporal():
        series = series.to_physical()
    if not series.dtype.is_numeric() and not kept.all():
        numbers = series.cast(pl.Float64, strict=False)
        if numbers.null_count() == series.null_count():
            series = numbers
    if series.dtype.is_numeric():
        values = series.cast(pl.Float64).to_numpy()
        if np.isinf(values).any():
            raise DataError(f"column {series.name!r} holds infinite values; replace or remove them first.")
        return np.asarray(values)
    return np.array(series.cast(pl.String).to_list(), dtype=object)


def merge_persons(
    mu: NDArray[np.float64], persons: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the degrees of persons, the highest of their rows, and the first row of each person."""
    if persons is None or len(persons) == 0:
        return mu, np.arange(len(mu))
    order = np.argsort(persons, kind="stable")
    first = np.flatnonzero(np.diff(persons[order], prepend=-1))
    return np.maximum.reduceat(mu[order], first, axis=0), order[first]
