"""Automatic hierarchies: the least important values go first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, field_validator

from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy

if TYPE_CHECKING:
    import polars as pl


class Priority(Hierarchy):
    """On each level a further share of the least important values becomes ``*``; the others stay as they are.

    Important are the frequent values, or those first in ``order`` (values that it does not name come last). With
    ``count`` levels below the top, level ``j`` hides the last ``j / (count + 1)`` of the values; ``keep`` says instead
    how many values stay on each level.

    >>> levels = Priority(count=2).levels(["a", "b", "c"], counts=[9, 1, 5])
    >>> levels.labels(1), levels.labels(2), levels.labels(3)
    (['a', '*', 'c'], ['a', '*', '*'], ['*', '*', '*'])
    >>> Priority(keep=[1]).levels(["a", "b", "c"], counts=[9, 1, 5]).labels(1)
    ['a', '*', '*']
    """

    order: tuple[str, ...] = Field(default=(), description="the most important values, first to last")
    count: int = Field(default=4, ge=1, description="number of levels below the top")
    keep: tuple[int, ...] | None = Field(
        default=None, description="how many values stay on each level below the top, ever fewer; none: the value or *"
    )

    @field_validator("keep")
    @classmethod
    def _fewer(cls, keep: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if keep is not None and (list(keep) != sorted(set(keep), reverse=True) or any(number < 1 for number in keep)):
            raise ValueError("priority: keep must be decreasing numbers of at least 1.")
        return keep

    def from_data(self) -> bool:
        """Return True, because the groups depend on the frequencies."""
        return True

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:
        texts = values.to_list()
        place = {value: at for at, value in enumerate(self.order)}
        named = np.array([place.get(value, len(place)) for value in texts], dtype=np.int64)
        rank = np.empty(len(texts), dtype=np.int64)
        rank[np.lexsort((np.array(texts, dtype=str), -counts.to_numpy(), named))] = np.arange(len(texts))
        raw = np.array(texts, dtype=object)
        levels = range(1, self.count + 1)
        # integer division, because 77 * (3 / 11) is more than 21
        kept = (
            [len(texts) * (self.count + 1 - j) // (self.count + 1) for j in levels] if self.keep is None else self.keep
        )
        columns = [list(np.where(rank < number, raw, "*")) for number in kept]
        return Levels.of(texts, [*columns, ["*"] * len(texts)])
