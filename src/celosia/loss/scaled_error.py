"""Absolute error in units of the spread of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.catalogue import Columns, Loss
from celosia.views.comparable import cells, deviations, number_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


class ScaledError(Loss):
    r"""The mean absolute change of a value in units of the difference of two random values of its column (IL1s).

    .. math:: \mathrm{IL1s} = \frac{1}{np} \sum_{ij} \frac{|x_{ij} - \tilde x_{ij}|}{\sqrt 2\, S_j}

    with :math:`S_j` the standard deviation (n − 1) of the original. A mean, so that files of different size compare;
    sdcMicro reports the sum. Needs paired records and columns that vary. References: Yancey, Winkler & Creecy (2002).

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([0.0, 2.0], [1.0, 1.0]))
    >>> round(ScaledError().value(a, b), 12)
    0.5
    """

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """The mean over columns and records."""
        return float(self._means(original, protected)[1].mean())

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """The mean of each column."""
        names, means = self._means(original, protected)
        return dict(zip(names, means.tolist(), strict=True))

    def _means(self, original: Table, protected: Table) -> tuple[list[str], NDArray[np.float64]]:
        names = number_columns(original, protected, self.columns)
        x, y = cells(original, protected, names)
        sd = deviations(x, names) * np.sqrt(len(x) / max(1, len(x) - 1))
        return names, np.abs(x - y).mean(axis=0) / (np.sqrt(2) * sd)
