"""Altered records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from celosia.parts import Columns, Loss
from celosia.table.pairing import positions, shared_columns

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class AlteredRecords(Loss):
    r"""The share of records with at least one changed value; a record that is gone counts as changed.

    .. math:: \frac{1}{n} \sum_i [\exists j : x_{ij} \ne \tilde x_{ij}]

    Values are compared as text, so that 39 and "39" are equal. Needs paired records.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> AlteredRecords().value(table, table)
    0.0
    """

    columns: Columns = Field(default=(), description="columns to compare; all shared ones when empty")

    def value(self, original: Table, protected: Table) -> float:
        """The share of changed records."""
        changed = np.zeros(len(protected), dtype=np.bool_)
        for name in self.columns or shared_columns(original, protected):
            changed |= _changed(original, protected, name)
        gone = len(original) - len(protected)
        return float((changed.sum() + gone) / max(1, len(original)))

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """The share of changed values per column."""
        names = self.columns or shared_columns(original, protected)
        return {name: float(_changed(original, protected, name).sum() / max(1, len(protected))) for name in names}


def _changed(original: Table, protected: Table, name: str) -> NDArray[np.bool_]:
    return protected.cached(("changed", original.rows, name), lambda: _compared(original, protected, name))


def _compared(original: Table, protected: Table, name: str) -> NDArray[np.bool_]:
    from celosia.hierarchy import text_series

    before: pl.Series = original.column(name)[positions(original, protected)]
    after = protected.column(name)
    if before.dtype != after.dtype:
        before, after = text_series(before), text_series(after)
    return before.ne_missing(after).to_numpy()
