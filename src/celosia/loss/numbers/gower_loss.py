"""Gower distance between original and protected records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from celosia.data.schema import Kind
from celosia.loss.bases.column_loss import _ColumnLoss
from celosia.parts import Columns
from celosia.table.columns import column_types
from celosia.table.pairing import positions
from celosia.views.comparing.categories import categories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


class GowerLoss(_ColumnLoss):
    r"""The mean distance between original and protected cells, for columns of all kinds.

    .. math:: \frac{1}{np} \sum_{ij} d_j(x_{ij}, \tilde x_{ij}), \qquad
              d_j = \min\left(1, \frac{|x - \tilde x|}{\max_j - \min_j}\right), \quad
              \frac{|\mathrm{rank}\,x - \mathrm{rank}\,\tilde x|}{L_j - 1}, \quad [x \ne \tilde x]

    for numbers, ordered categories and other categories. One missing value is the largest distance, two have distance
    0. A number or an ordered category that became an interval or a star is at the largest distance. With ``numbers =
    "atan"`` a number counts as :math:`\frac2\pi \arctan|x - \tilde x|` (sdcMicro's IL_variables, which depends on the
    unit). Needs paired records. References: Gower (1971).

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"age": [20, 40], "city": ["A", "B"]}))
    >>> b = celosia.read(pl.DataFrame({"age": [25, 40], "city": ["A", "A"]}))
    >>> GowerLoss().value(a, b)
    0.3125
    """

    columns: Columns = Field(default=(), description="columns of any kind; all shared ones when empty")
    numbers: Literal["range", "atan"] = Field(default="range", description="scale of differences of numbers")

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the mean distance of each column."""
        coded = categories(original, protected, self.columns)
        rows = positions(original, protected)
        types = column_types(original), column_types(protected)
        out = {}
        for j, name in enumerate(coded.names):
            if all(kind[name].is_numeric() for kind in types):
                x, y = original.numeric([name])[rows, 0], protected.numeric([name])[:, 0]
                out[name] = float(self._numeric(x, y).mean())
            elif original.schema[name].kind == Kind.ORDINAL:
                out[name] = float(_rank_distance(original, protected, name, rows).mean())
            else:
                out[name] = float((coded.original[rows, j] != coded.protected[:, j]).mean())
        return out

    def _numeric(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        one_missing = np.isnan(x) != np.isnan(y)
        gap = np.nan_to_num(np.abs(x - y))
        if self.numbers == "atan":
            scaled = 2 / np.pi * np.arctan(gap)
        else:
            width = np.nanmax(x, initial=-np.inf) - np.nanmin(x, initial=np.inf)
            scaled = np.minimum(1.0, gap / width) if width > 0 else (gap > 0).astype(np.float64)
        return np.where(one_missing, 1.0, scaled)


def _rank_distance(original: Table, protected: Table, name: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distance in ranks of the original's categories; a value that it lacks is at the largest distance."""
    import polars as pl

    from celosia.hierarchy import text_series

    codes, values = original.codes(name)
    lookup = pl.DataFrame({"v": text_series(values), "rank": np.arange(len(values), dtype=np.int64)})
    after = (
        text_series(protected.column(name))
        .alias("v")
        .to_frame()
        .join(lookup, on="v", how="left", maintain_order="left")
    )
    rank = after["rank"].fill_null(-1).to_numpy()
    missing = protected.column(name).is_null().to_numpy()
    before = codes[rows].astype(np.int64)
    gap = np.abs(before - rank) / max(1, len(values) - 1)
    gap = np.where((before < 0) & missing, 0.0, np.where((before < 0) | (rank < 0), 1.0, gap))
    return np.asarray(gap, dtype=np.float64)
