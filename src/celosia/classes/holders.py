"""Who has which combinations: enough to count persons in any coarser grouping without a look at the rows.

A person whose rows all have the same quasi-identifiers falls into one class whatever is done to values, so such persons
add up. Those who have several combinations are listed, with what they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.followed import Followed
    from celosia.classes.patterns import Patterns


@dataclass(frozen=True, eq=False)
class Holders:
    """The persons of each combination of the quasi-identifiers, and perhaps further columns."""

    patterns: Patterns
    marked: NDArray[np.bool_] | None
    """Which of them carry the mark of suppressed records; None where nothing set it."""
    alone: NDArray[np.int64]
    """Persons of each who have no other combination of the quasi-identifiers."""
    entry: NDArray[np.int64]
    """The combinations of all others,"""
    person: NDArray[np.int64]
    """and whose they are."""

    @classmethod
    def of(cls, patterns: Patterns, several: Patterns, person: str) -> Holders:
        """From all combinations with their persons, and from those of persons who have several."""
        entry = patterns.find(several)
        alone = patterns.counted - np.bincount(entry, minlength=len(patterns))
        return cls(patterns, None, alone, entry, several.column(person).codes.astype(np.int64))

    def followed(self, followed: Followed) -> Holders:
        """The same after steps that treat equal rows alike, of whose columns only quasi-identifiers were changed."""
        place = self.patterns.find(followed.patterns.with_columns(followed.before))
        new = np.full(len(self.patterns), -1, dtype=np.int64)
        new[place] = np.arange(len(place))
        entry = new[self.entry]
        left = entry >= 0
        return Holders(followed.patterns, followed.marked, self.alone[place], entry[left], self.person[left])

    def counted(self, coarser: Patterns, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The persons in each combination of a coarser grouping of the kept entries."""
        place = np.full(len(kept), -1, dtype=np.int64)
        place[kept] = coarser.find(self.patterns.take(kept))
        sizes = np.bincount(place[kept], weights=self.alone[kept], minlength=len(coarser)).astype(np.int64)
        theirs, _ = self.pairs(place)
        return sizes + np.bincount(theirs, minlength=len(coarser))

    def pairs(self, place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of those who have several combinations, and whose they are, each pair once; -1 is no place."""
        there = place[self.entry] >= 0
        width = int(self.person.max(initial=0)) + 1
        both = np.unique(place[self.entry][there] * width + self.person[there])
        return both // width, both % width

    @property
    def everybody(self) -> int:
        """How many persons there are."""
        return int(self.alone.sum()) + len(np.unique(self.person))


__all__ = ["Holders"]
