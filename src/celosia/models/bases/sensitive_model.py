"""Base class of models of sensitive columns: the worst value over the columns, each on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import SchemaError
from celosia.parts import Column, Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts, ValueCounts


class _SensitiveModel(Model):
    """A model that scores the counts of one sensitive column per class."""

    known_alone: ClassVar[bool] = False
    """Whether the known values of a class must also meet the requirement without its missing ones."""

    column: Column | None = Field(default=None, description="the sensitive column; all declared ones when not given")

    def counted_columns(self) -> tuple[str | None, ...]:
        """Return the column, or all sensitive ones."""
        return (self.column,)

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """Return the value of each class, the worst over the columns."""
        return self._worse([self.worst_scores(counts) for counts in self.value_counts(classes)])

    def worst_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the value of each class for one sensitive column, the worse with and without missing values.

        A missing value is no further value: {HIV, missing} has one value.
        """
        if counts.missing_code < 0 or not self.known_alone:
            return self.column_scores(counts)
        return self._worse([self.column_scores(counts), self.column_scores(counts.without_missing())])

    def _worse(self, scores: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        worst = np.minimum if self.direction == "at least" else np.maximum
        return np.asarray(worst.reduce(scores), dtype=np.float64)

    def value_counts(self, classes: ClassCounts) -> list[ValueCounts]:
        """Return the counts of the columns of this model."""
        if self.column is not None:
            return [classes.of(self.column)]
        if not classes.values:
            raise SchemaError(f"{self.name}: no sensitive column is declared; name one under `sensitive` or `column`.")
        return list(classes.values.values())

    def column_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the value of each class for one sensitive column."""
        raise NotImplementedError
