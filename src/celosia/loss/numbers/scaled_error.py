"""Absolute error in units of the spread of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celosia.loss.bases.column_loss import _PairedLoss
from celosia.views.comparing.comparable import deviations

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ScaledError(_PairedLoss):
    r"""The mean absolute change of a value in units of the difference of two random values of its column (IL1s).

    .. math:: \mathrm{IL1s} = \frac{1}{np} \sum_{ij} \frac{|x_{ij} - \tilde x_{ij}|}{\sqrt 2\, S_j}

    with :math:`S_j` the standard deviation (n − 1) of the original. A mean, so that files of different size compare;
    sdcMicro reports the sum. Needs paired records and columns that vary. References: Yancey, Winkler & Creecy (2002).

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([0.0, 2.0], [1.0, 1.0]))
    >>> round(ScaledError().value(a, b), 12)
    0.5
    """

    def _errors(self, x: NDArray[np.float64], y: NDArray[np.float64], names: list[str]) -> NDArray[np.float64]:
        sd = deviations(x, names) * np.sqrt(len(x) / max(1, len(x) - 1))
        errors: NDArray[np.float64] = np.abs(x - y).mean(axis=0) / (np.sqrt(2) * sd)
        return errors
