"""Losses of the distribution of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.kernels.statistics import distribution_distance as distance
from celosia.loss.bases.column_loss import _CategoryLoss, _ColumnLoss
from celosia.parts import Columns
from celosia.views.comparing.comparable import columns_of_numbers, deviations, number_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


class _NumberLoss(_ColumnLoss):
    """Loss with a distance per numeric column. Records need not be paired."""

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the distance of each column."""
        names = number_columns(original, protected, self.columns)
        pairs = columns_of_numbers(original, protected, names)
        return {name: self._distance(x, y, name) for name, (x, y) in zip(names, pairs, strict=True)}

    def _distance(self, x: NDArray[np.float64], y: NDArray[np.float64], name: str) -> float:
        raise NotImplementedError


class KolmogorovSmirnov(_NumberLoss):
    r"""The largest gap between the distribution functions of a column before and after, mean over columns.

    .. math:: \frac1p \sum_j \sup_v |F_j(v) - \tilde F_j(v)|

    Between 0 and 1; does not depend on the unit. Blind to relations between columns.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 2.0], [2.0, 3.0]))
    >>> KolmogorovSmirnov().value(a, b)
    0.5
    """

    def _distance(self, x: NDArray[np.float64], y: NDArray[np.float64], name: str) -> float:  # noqa: ARG002
        return distance.kolmogorov_smirnov(x, y)


class Wasserstein(_NumberLoss):
    r"""The distance that the values of a column must move to have the new distribution, in standard deviations.

    .. math:: \frac1p \sum_j \frac{1}{s_j} \int |F_j(v) - \tilde F_j(v)|\,dv

    The earth mover's distance of each column, with the standard deviation of the original; no upper bound. Blind
    to relations between columns. Fails for a constant column.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 3.0], [2.0, 3.0]))
    >>> Wasserstein().value(a, b)
    0.5
    """

    bounded: ClassVar[bool] = False

    def _distance(self, x: NDArray[np.float64], y: NDArray[np.float64], name: str) -> float:
        return distance.wasserstein(x, y) / float(deviations(x[:, None], [name])[0])


class QuantileLoss(_NumberLoss):
    r"""The mean change of the quantiles from 5 to 95 %, in standard deviations of the column.

    .. math:: \frac{1}{19 p} \sum_{j,q} \frac{|Q_j(q) - \tilde Q_j(q)|}{s_j}

    The tails below 5 % and above 95 % do not count; no upper bound. Fails for a constant column.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 3.0], [2.0, 4.0]))
    >>> round(QuantileLoss().value(a, b), 12)
    1.0
    """

    bounded: ClassVar[bool] = False

    def _distance(self, x: NDArray[np.float64], y: NDArray[np.float64], name: str) -> float:
        from celosia.loss.numbers.surprise import QUANTILES

        gap = np.abs(np.quantile(x, QUANTILES) - np.quantile(y, QUANTILES)).mean()
        return float(gap / deviations(x[:, None], [name])[0])


class Hellinger(_CategoryLoss):
    r"""The Hellinger distance between the distribution of a column before and after, mean over columns.

    .. math:: \frac1p \sum_j \sqrt{\tfrac12 \sum_v \left(\sqrt{p_{jv}} - \sqrt{\tilde p_{jv}}\right)^2}

    For columns of any kind; numbers with more than ``bins`` values fall into bins with equal counts in the original.
    A missing value is a category, and so is a generalised one: between a table and its generalisation the distance
    is 1. Records need not be paired.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"c": c})) for c in (["u", "u"], ["v", "v"]))
    >>> Hellinger().value(a, b)
    1.0
    """

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the distance of each column."""
        encoded = self._categories(original, protected)
        return {
            name: distance.hellinger(
                *distance.counts(encoded.original[:, j], encoded.protected[:, j], encoded.sizes[j])
            )
            for j, name in enumerate(encoded.names)
        }
