"""Altered records."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import ChangedShares, Columns, Loss, Memory
from celosia.table.pairing import paired_counts, positions, same_numbers, shared_columns

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class AlteredRecords(ChangedShares, Loss):
    r"""The share of records with at least one changed value; a deleted record counts as changed.

    .. math:: \frac{1}{n} \sum_i [\exists j : x_{ij} \ne \tilde x_{ij}]

    Values are compared as text, so that 39 and "39" are equal; a decimal number counts as changed when it differs
    once it is rounded to the decimals of the original column. Needs paired records.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> AlteredRecords().value(table, table)
    0.0
    """

    columns: Columns = Field(default=(), description="columns to compare; all shared ones when empty")
    memory: ClassVar[Memory] = "none"

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of changed records."""
        names = self.columns or shared_columns(original, protected)
        deleted = len(original) - len(protected)
        pairs = paired_counts(original, protected, names)
        if pairs is not None:
            altered = np.logical_or.reduce([~pairs.unchanged_cells(name) for name in names])
            return float((pairs.rows[altered].sum() + deleted) / max(1, len(original)))
        changed = np.zeros(len(protected), dtype=np.bool_)
        for name in names:
            changed |= _is_changed(original, protected, name)
        return float((changed.sum() + deleted) / max(1, len(original)))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the share of changed values per column."""
        names = self.columns or shared_columns(original, protected)
        pairs = paired_counts(original, protected, names)
        if pairs is not None:
            rows = pairs.rows
            return {name: float(rows[~pairs.unchanged_cells(name)].sum() / max(1, len(protected))) for name in names}
        return {name: float(_is_changed(original, protected, name).sum() / max(1, len(protected))) for name in names}


def _is_changed(original: Table, protected: Table, name: str) -> NDArray[np.bool_]:
    return protected.compute_once(("changed", original.rows, name), lambda: _compare(original, protected, name))


def _compare(original: Table, protected: Table, name: str) -> NDArray[np.bool_]:
    import polars as pl

    before: pl.Series = original.column(name)[positions(original, protected)]
    after = protected.column(name)
    if before.dtype.is_numeric() and after.dtype.is_numeric() and (before.dtype.is_float() or after.dtype.is_float()):
        near = same_numbers(original, name, before.cast(pl.Float64), after.cast(pl.Float64))
        different: NDArray[np.bool_] = ~near.fill_null(value=False).to_numpy()
        return _unequal(before, after) & different
    return _unequal(before, after)


def _unequal(before: pl.Series, after: pl.Series) -> NDArray[np.bool_]:
    from celosia.hierarchy import text_series

    if before.dtype != after.dtype:
        before, after = text_series(before), text_series(after)
    return before.ne_missing(after).to_numpy()
