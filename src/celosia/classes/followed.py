"""Combinations of values before and after some steps that treat equal rows alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes.column import Encoded, encode
from celosia.classes.patterns import Patterns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Followed:
    """Combinations of the input, and what became of each: the ones that are left, in one order."""

    patterns: Patterns
    """The cells as they are now, and how many rows have them; the same cells may come several times."""
    before: Mapping[str, Encoded]
    """The cells as they were."""
    marked: NDArray[np.bool_] | None
    """Which of them carry the mark of suppressed records; None where no step set it."""

    def alike(self, name: str) -> NDArray[np.bool_]:
        """Where a column has the cell that it had, as text; a missing one is like another."""
        from celosia.hierarchy import text_series

        if name not in self.before:  # no step changed it
            return np.ones(len(self.patterns), dtype=np.bool_)
        old, new = self.before[name], self.patterns.column(name)
        texts = text_series(old.values).extend(text_series(new.values))
        places = encode(texts).codes
        return np.asarray(places[old.codes] == places[len(old.values) :][new.codes])

    @property
    def unmarked(self) -> NDArray[np.bool_]:
        """Which of them do not carry the mark."""
        return np.ones(len(self.patterns), dtype=np.bool_) if self.marked is None else ~self.marked
