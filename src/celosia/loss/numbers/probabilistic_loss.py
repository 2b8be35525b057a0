"""Probabilistic information loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Columns, DecidedByOneRecord, Loss
from celosia.views.comparing.comparable import number_columns, samples

if TYPE_CHECKING:
    from celosia.table import Table


class ProbabilisticLoss(DecidedByOneRecord, Loss):
    r"""The improbability of the statistics of the protected table in a sample of the original (PIL).

    .. math:: \mathrm{PIL} = \tfrac15 \left( \mathrm{pil}(Q) + \mathrm{pil}(\bar x) + \mathrm{pil}(s^2) +
              \mathrm{pil}(s_{xy}) + \mathrm{pil}(r) \right), \qquad
              \mathrm{pil}(\theta) = \operatorname{erf} \frac{|\theta' - \theta|}{\sqrt{2 \operatorname{Var} \Theta}}

    over quantiles of 5 to 95 %, means, variances, covariances and Pearson correlations, each averaged over columns or
    pairs. Always between 0 and 1, whatever the numbers are. Records need not be paired, so synthetic data can be
    judged. ``scope = "joint"`` looks at all columns together (one column has no pairs: three parts);
    ``"per-column"`` judges each column alone, where the covariance is the variance and the correlation cannot
    change, so that its maximum is 0.8. ``density``: the density at the quantiles, by a Gaussian kernel or normal.
    Only records without missing numbers count. With many records every change becomes significant and the loss
    nears 1. References: Mateo-Sanz, Domingo-Ferrer & Sebé (2005).

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 2, 3, 4], [1.5, 1.5, 3.5, 3.5]))
    >>> ProbabilisticLoss().value(a, a), 0 < ProbabilisticLoss().value(a, b) < 1
    (0.0, True)
    """

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")
    scope: Literal["joint", "per-column"] = Field(default="joint", description="all columns together, or each alone")
    density: Literal["kernel", "normal"] = Field(default="kernel", description="density of the original at a quantile")

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean of the parts."""
        return float(np.mean(list(self.parts(original, protected).values())))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the loss of quantiles, mean, variance, covariance and correlation."""
        from celosia.loss.numbers.surprise import terms

        names = number_columns(original, protected, self.columns)
        x, y = samples(original, protected, names)
        if self.scope == "joint":
            return {name: part for name, part in vars(terms(x, y, self.density)).items() if part is not None}
        alone = [terms(x[:, [j]], y[:, [j]], self.density) for j in range(len(names))]
        means = {name: float(np.mean([getattr(t, name) for t in alone])) for name in ("quantiles", "mean", "variance")}
        # Of a column with itself the covariance is the variance, and the correlation stays 1.
        return {**means, "covariance": means["variance"], "correlation": 0.0}
