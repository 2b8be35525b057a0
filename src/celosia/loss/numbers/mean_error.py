"""Mean squared, absolute and relative error of the data, the covariances or the correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.loss.numbers import deviation
from celosia.loss.numbers.deviation import Zeros
from celosia.parts import Columns, Loss
from celosia.views.comparing.comparable import cells, number_columns, samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


class _MeanError(Loss):
    """Base class of the three errors: the arrays that are compared."""

    bounded: ClassVar[bool] = False

    on: Literal["data", "covariance", "correlation"] = Field(
        default="data", description="numbers to compare: the values, or a matrix of all pairs of columns"
    )
    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean error."""
        _, a, b = self._pair(original, protected)
        return self._error(a, b)

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the error of each column."""
        names, a, b = self._pair(original, protected)
        return {name: self._error(a[:, j], b[:, j]) for j, name in enumerate(names)}

    def _error(self, a: Floats, b: Floats) -> float:
        raise NotImplementedError

    def _pair(self, original: Table, protected: Table) -> tuple[list[str], Floats, Floats]:
        names = number_columns(original, protected, self.columns)
        if self.on == "data":
            return names, *cells(original, protected, names)
        from celosia.kernels.perturbation.noise import covariance
        from celosia.kernels.statistics.moments import correlation

        x, y = samples(original, protected, names)
        matrix = covariance if self.on == "covariance" else correlation
        return names, matrix(x), matrix(y)


class SquaredError(_MeanError):
    r"""The mean squared difference of the values, the covariances or the correlations.

    .. math:: \mathrm{MSE}(A, B) = \frac{1}{nm} \sum_{ij} (a_{ij} - b_{ij})^2

    with A and B the data (needs paired records), or their covariance (1/n) or correlation matrix with the diagonal.
    Large errors weigh more; columns are not scaled. A value that is missing in one table is replaced by the mean of
    its column; deleted records are not counted. Fails for columns that are no longer numbers and, on
    correlations, for constant ones.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 2.0], [1.0, 4.0]))
    >>> SquaredError().value(a, b)
    2.0
    """

    examples: ClassVar = ({}, {"on": "covariance"}, {"on": "correlation"})

    def _error(self, a: Floats, b: Floats) -> float:
        return deviation.squared_deviation(a, b)


class AbsoluteError(_MeanError):
    r"""The mean absolute difference of the values, the covariances or the correlations.

    .. math:: \mathrm{MAE}(A, B) = \frac{1}{nm} \sum_{ij} |a_{ij} - b_{ij}|

    with A and B the data (needs paired records), or their covariance (1/n) or correlation matrix with the diagonal.
    Columns are not scaled: one with large numbers decides. Missing values and failures as in squared-error.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([1.0, 2.0], [1.0, 4.0]))
    >>> AbsoluteError().value(a, b)
    1.0
    """

    examples: ClassVar = ({}, {"on": "covariance"}, {"on": "correlation"})

    def _error(self, a: Floats, b: Floats) -> float:
        return deviation.absolute_deviation(a, b)


class RelativeError(_MeanError):
    r"""The mean difference of the values, covariances or correlations, relative to the original.

    .. math:: \mathrm{MRE}(A, B) = \frac{1}{|C|} \sum_{ij \in C} \frac{|a_{ij} - b_{ij}|}{|a_{ij}|}

    Undefined where the original is 0; ``zeros`` decides: ``skip`` leaves such cells out of the mean, ``equal`` counts
    those that stayed 0 as 0 and leaves out the others, ``error`` raises. The number of omitted cells is among the
    parts. Small originals weigh without bound. Otherwise as squared-error.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x})) for x in ([0.0, 2.0], [1.0, 4.0]))
    >>> RelativeError().value(a, b), RelativeError().parts(a, b)
    (1.0, {'left out': 1, 'x': 1.0})
    """

    zeros: Zeros = Field(default="skip", description="treatment of cells whose original is 0: skip, equal or error")
    examples: ClassVar = ({}, {"on": "covariance"}, {"on": "correlation"})

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the error of each column that is not all zeros, and the number of omitted cells."""
        names, a, b = self._pair(original, protected)
        errors: dict[str, float] = {"left out": deviation.relative_deviation(a, b, self.zeros)[1]}
        for j, name in enumerate(names):
            if np.any(a[:, j]):
                errors[name] = self._error(a[:, j], b[:, j])
        return errors

    def _error(self, a: Floats, b: Floats) -> float:
        return deviation.relative_deviation(a, b, self.zeros)[0]
