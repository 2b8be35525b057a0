"""The classical information loss of numeric data."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.loss.numbers.deviation import Zeros, relative_deviation
from celosia.parts import Columns, Loss
from celosia.views.comparing.comparable import cells, number_columns

if TYPE_CHECKING:
    from celosia.table import Table


class ClassicalLoss(Loss):
    r"""The mean of five relative changes: values, means, covariances, variances and correlations (IL1 … IL5).

    .. math:: \mathrm{IL}_1 = \frac1{np} \sum_{ij} \frac{|x_{ij} - \tilde x_{ij}|}{|x_{ij}|}, \quad
              \mathrm{IL}_2 = \frac1p \sum_j \frac{|\bar x_j - \bar{\tilde x}_j|}{|\bar x_j|}, \quad
              \mathrm{IL}_3 = \frac{2}{p(p+1)} \sum_{i \le j} \frac{|v_{ij} - \tilde v_{ij}|}{|v_{ij}|},

    .. math:: \mathrm{IL}_4 = \frac1p \sum_j \frac{|v_{jj} - \tilde v_{jj}|}{|v_{jj}|}, \quad
              \mathrm{IL}_5 = \frac{2}{p(p-1)} \sum_{i < j} |r_{ij} - \tilde r_{ij}|

    A share that has no upper bound: values near 0 can make it arbitrarily large, the reason for the probabilistic
    loss. ``zeros`` decides about cells whose original is 0. A single column has no IL5. Needs paired
    records; fails for constant columns. References: Domingo-Ferrer & Torra (2001).

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 3.0], [1.0, 6.0]))
    >>> {k: round(v, 3) for k, v in ClassicalLoss().parts(a, b).items()}
    {'IL1': 0.5, 'IL2': 0.75, 'IL3': 5.25, 'IL4': 5.25}
    """

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")
    zeros: Zeros = Field(default="skip", description="treatment of cells whose original is 0: skip, equal or error")
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean of the five parts."""
        return float(np.mean(list(self.parts(original, protected).values())))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return IL1 to IL5."""
        from celosia.kernels.perturbation.noise import covariance
        from celosia.kernels.statistics.deviation import deviations
        from celosia.kernels.statistics.moments import correlation

        names = number_columns(original, protected, self.columns)
        x, y = cells(original, protected, names)
        if not deviations(x).all():
            raise NotApplicable("a column is constant in the original: its variance cannot change relatively.")
        v, w = covariance(x), covariance(y)
        upper = np.triu_indices(len(names))
        losses = {
            "IL1": relative_deviation(x, y, self.zeros)[0],
            "IL2": relative_deviation(x.mean(axis=0), y.mean(axis=0), self.zeros)[0],
            "IL3": relative_deviation(v[upper], w[upper], self.zeros)[0],
            "IL4": relative_deviation(np.diag(v), np.diag(w), self.zeros)[0],
        }
        if len(names) > 1:
            pairs = np.triu_indices(len(names), 1)
            losses["IL5"] = float(np.abs(correlation(x)[pairs] - correlation(y)[pairs]).mean())
        return losses
