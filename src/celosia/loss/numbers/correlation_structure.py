"""Losses of the relations between columns: eigenvalues and dependence of the correlation matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Columns, Loss
from celosia.views.comparing.comparable import number_columns, samples

if TYPE_CHECKING:
    from celosia.table import Table


class EigenvalueLoss(Loss):
    r"""The change of the eigenvalues of the correlation matrix, relative to the original.

    .. math:: \sum_{\lambda_j > 0} \frac{|\lambda_j - \lambda'_j|}{\lambda_j} + \sum_{\lambda_j = 0} \lambda'_j

    A zero eigenvalue is an exact linear relation between columns. Its relative change is not defined (sdcMicro divides
    by the rounding error of the zero and gets about 1e13); the variance that appeared in that direction counts
    instead, in units of the mean eigenvalue, which is 1. Records need not be paired. Small eigenvalues weigh much.
    Fails for constant columns.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"x": [1.0, 2, 3, 4], "y": [2.0, 4, 6, 8]})
    >>> broken = data.with_columns(y=pl.Series([4.0, 2, 8, 6]))
    >>> {k: round(v, 3) for k, v in EigenvalueLoss().parts(celosia.read(data), celosia.read(broken)).items()}
    {'relative': 0.2, 'broken relations': 0.4, 'exact relations': 1}
    """

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """Return the sum over the eigenvalues."""
        parts = self.parts(original, protected)
        return float(parts["relative"] + parts["broken relations"])

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the relative change, the variance where the original had none, and the number of exact relations."""
        from celosia.kernels.statistics.moments import NULL, spectrum, spectrum_change

        x, y = samples(original, protected, number_columns(original, protected, self.columns))
        before = spectrum(x)
        change, broken = spectrum_change(before, spectrum(y))
        return {"relative": change, "broken relations": broken, "exact relations": int((before <= NULL).sum())}


class DependenceLoss(Loss):
    r"""The change of the pattern of dependence of each column on the others.

    .. math:: \frac{1}{\sqrt 2} \left\lVert \frac{d}{\lVert d \rVert} - \frac{d'}{\lVert d' \rVert} \right\rVert,
              \qquad d_j = (R^{-1})_{jj} = \frac{1}{1 - R_j^2}

    with R the correlation matrix and :math:`R_j^2` the share of column j that the others explain. Between 0 and 1. For
    collinear columns, where R has no inverse, the limit of a vanishing ridge is used: only the exact relations count.
    Records need not be paired. Fails for constant columns. sdcMicro calls it IL_correl, and fails there.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"x": [1.0, 2, 3, 4], "y": [2.0, 4, 6, 8], "z": [1.0, -1, 1, 0]})
    >>> DependenceLoss().value(celosia.read(data), celosia.read(data))
    0.0
    """

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")

    def value(self, original: Table, protected: Table) -> float:
        """Return the distance of the two directions."""
        from celosia.kernels.statistics.moments import correlation, dependence

        x, y = samples(original, protected, number_columns(original, protected, self.columns))
        gap = dependence(correlation(x)) - dependence(correlation(y))
        return float(np.sqrt(gap @ gap / 2))

    def parts(self, original: Table, protected: Table) -> dict[str, list[float]]:
        """Return the direction of each column before and after."""
        from celosia.kernels.statistics.moments import correlation, dependence

        names = number_columns(original, protected, self.columns)
        before, after = (dependence(correlation(z)).tolist() for z in samples(original, protected, names))
        return {name: [b, a] for name, b, a in zip(names, before, after, strict=True)}
