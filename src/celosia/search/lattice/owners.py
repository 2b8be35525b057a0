"""Persons of the combinations that a search reads: most have one combination and are only counted.

A person with one combination is in one class at every node, so that such persons add up. A person with several may
have two in the same class and counts once there: for these persons every pair of a person and a combination is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.histogram import Histogram

    Codes = NDArray[np.int32]
    Counts = NDArray[np.int64]

PERSON = "\0person"
"""The name under which persons are counted, if they have several records; no column can have it."""
KNOWN = "\0known "
"""Prefix of the name under which the persons with a known value of a column are counted."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Counted entries of each row: codes below ``alone`` count persons, each higher code stands for one person."""

    alone: int
    meaning: Codes
    """The value that each code stands for."""
    row: Codes
    code: Codes
    count: Counts

    def rows(self, length: int) -> tuple[Counts, Codes, Counts]:
        """Return the entries as compressed sparse rows: start, code and count."""
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
    known: Mapping[str, Histogram] = field(default_factory=dict)
    """For each counted column with missing values the histogram of the quasi-identifiers where a value is known."""

    @property
    def total(self) -> int:
        """The number of persons."""
        return self.quasi.total

    def entries(self, widths: Mapping[str, int]) -> dict[str, Entries]:
        """Return the entries of each column, of persons (``PERSON``), and of those with a known value (``KNOWN``)."""
        alone = {PERSON: self.quasi, **{KNOWN + name: counted for name, counted in self.known.items()}}
        counted = {name: (each, np.zeros(len(each), dtype=np.int32)) for name, each in alone.items()} | dict(self.joint)
        names = [*widths, *(KNOWN + name for name in widths if name in self.known)]
        return {name: self._entries(widths.get(name, 1), *counted[name]) for name in names}

    def _entries(self, width: int, histogram: Histogram, code: Codes) -> Entries:
        row, pairs, alone = self.quasi.find(histogram), histogram.pairs, histogram.persons.copy()
        assert pairs is not None
        # a person with several values in one row only needs no identity: the values are counted
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


__all__ = ["KNOWN", "PERSON", "Entries", "Owners"]
