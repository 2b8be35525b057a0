"""Sum of squared errors against the total sum of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from celosia.catalogue import Columns, Loss
from celosia.views.comparable import cells, deviations, number_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celosia.table import Table


class SumOfSquares(Loss):
    r"""The squared error of the standardised values as a share of their total variation (SSE/SST).

    .. math:: \frac{\sum_{ij} (x_{ij} - \tilde x_{ij})^2 / s_j^2}{\sum_{ij} (x_{ij} - \bar x_j)^2 / s_j^2}

    with the standard deviations of the original. The loss that microaggregation minimises; between 0 and 1 there,
    above 1 when noise is larger than the data. Needs paired records and columns that vary.
    References: Domingo-Ferrer & Mateo-Sanz (2002).

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 2, 3, 4], [1.5, 1.5, 3.5, 3.5]))
    >>> round(SumOfSquares().value(a, b), 12)
    0.2
    """

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """SSE / SST."""
        return float(self._shares(original, protected)[1].mean())

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """The share of each column."""
        names, shares = self._shares(original, protected)
        return dict(zip(names, shares.tolist(), strict=True))

    def _shares(self, original: Table, protected: Table) -> tuple[list[str], NDArray[np.float64]]:
        names = number_columns(original, protected, self.columns)
        x, y = cells(original, protected, names)
        # Each standardised column has the total n, so that the ratio of the sums is the mean of these.
        return names, ((x - y) ** 2).mean(axis=0) / deviations(x, names) ** 2
