"""Persons who own rows that stand for combinations: most have one and are only counted, the others are told apart.

Whoever has one combination is in one class at every node, so that their number adds up. Whoever has several may meet
themselves in a class and counts once there: of these every pair of a person and a combination is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.histogram import Histogram

    Codes = NDArray[np.int32]
    Counts = NDArray[np.int64]

PERSON = "\0person"
"""The name under which persons are counted, if they repeat; no column can have it."""


@dataclass(frozen=True, eq=False)
class Entries:
    """What each row holds of a column: codes below ``alone`` count persons, each of the others is one person's."""

    alone: int
    meaning: Codes
    """The value that each code stands for."""
    row: Codes
    code: Codes
    count: Counts

    def rows(self, length: int) -> tuple[Counts, Codes, Counts]:
        """The entries in compressed rows."""
        order = np.argsort(self.row, kind="stable")
        start = np.searchsorted(self.row[order], np.arange(length + 1)).astype(np.int64)
        return start, self.code[order], self.count[order]


@dataclass(frozen=True, eq=False)
class Owners:
    """The persons of rows that stand for combinations of the quasi-identifiers."""

    quasi: Histogram
    """One entry per row."""
    joint: Mapping[str, tuple[Histogram, Codes]]
    """For each counted column the histogram of the quasi-identifiers and it, and the code of each entry there."""

    @property
    def total(self) -> int:
        """How many persons there are."""
        return self.quasi.total

    def entries(self, widths: Mapping[str, int]) -> dict[str, Entries]:
        """What is counted of each column, and of the persons themselves (``PERSON``)."""
        itself = self.quasi, np.zeros(len(self.quasi), dtype=np.int32)
        counted = {PERSON: itself, **self.joint}
        return {name: self._entries(width, *counted[name]) for name, width in widths.items()}

    def _entries(self, width: int, histogram: Histogram, code: Codes) -> Entries:
        row, pairs, alone = self.quasi.find(histogram), histogram.pairs, histogram.persons.copy()
        assert pairs is not None
        # whoever has several values in one row alone needs no identity: the values are counted
        low, high = np.full(pairs.persons, len(self.quasi)), np.full(pairs.persons, -1)
        np.minimum.at(low, pairs.person, row[pairs.entry])
        np.maximum.at(high, pairs.person, row[pairs.entry])
        listed = (low < high)[pairs.person]
        entry, person = pairs.entry[listed], pairs.person[listed]
        np.subtract.at(alone, entry, 1)
        some = alone > 0
        same, place = np.unique(person * width + code[entry], return_inverse=True)
        return Entries(
            width,
            np.concatenate([np.arange(width), same % width]).astype(np.int32),
            np.concatenate([row[some], row[entry]]).astype(np.int32),
            np.concatenate([code[some], width + place]).astype(np.int32),
            np.concatenate([alone[some], np.ones(len(entry), dtype=np.int64)]),
        )


__all__ = ["PERSON", "Entries", "Owners"]
