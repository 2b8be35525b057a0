"""Base classes of losses that are a mean over columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Columns, Loss
from celosia.views.comparing.categories import Categories, categories
from celosia.views.comparing.comparable import cells, number_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


class _ColumnLoss(Loss):
    """Loss that is the mean of one number per column."""

    @abstractmethod
    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the loss of each column."""

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean over the columns."""
        return float(np.mean(list(self.parts(original, protected).values())))


class _CategoryLoss(_ColumnLoss):
    """Loss over columns of any kind as categories; numbers with many values fall into bins."""

    columns: Columns = Field(default=(), description="columns of any kind; all shared ones when empty")
    bins: int = Field(default=10, ge=2, description="bins of a numeric column")

    def _categories(self, original: Table, protected: Table) -> Categories:
        return categories(original, protected, self.columns, self.bins)


class _PairedLoss(_ColumnLoss):
    """Loss with an error per numeric column, over paired records."""

    columns: Columns = Field(default=(), description="numeric columns; all shared ones when empty")
    bounded: ClassVar[bool] = False

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the error of each column."""
        names = number_columns(original, protected, self.columns)
        errors = self._errors(*cells(original, protected, names), names)
        return dict(zip(names, errors.tolist(), strict=True))

    def _errors(self, x: NDArray[np.float64], y: NDArray[np.float64], names: list[str]) -> NDArray[np.float64]:
        raise NotImplementedError
