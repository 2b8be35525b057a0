"""Sum of squared errors against the total sum of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.loss.bases.column_loss import _PairedLoss
from celosia.views.comparing.comparable import deviations

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SumOfSquares(_PairedLoss):
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

    def _errors(self, x: NDArray[np.float64], y: NDArray[np.float64], names: list[str]) -> NDArray[np.float64]:
        # Each standardised column has the total n, so that the ratio of the sums is the mean of these.
        errors: NDArray[np.float64] = ((x - y) ** 2).mean(axis=0) / deviations(x, names) ** 2
        return errors
