"""Persons who own rows that stand for combinations: most have one and are only counted, the others are told apart.

Whoever has one combination is in one class at every node, so that their number adds up. Whoever has several may meet
themselves in a class and counts once there: of these every pair of a person and a combination is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    """The persons of rows that stand for combinations."""

    persons: Counts
    """How many each row has."""
    values: Mapping[str, tuple[Codes, Codes, Counts]]
    """For each counted column rows, codes, and how many persons have them."""
    row: Codes
    person: Codes
    """The rows of those who have several, and whose they are; a pair may come several times."""
    held: Mapping[str, Codes]
    """For each counted column the codes that these have there."""

    @cached_property
    def total(self) -> int:
        """How many persons there are."""
        row, _ = np.divmod(np.unique(self._pairs), max(1, len(self._named)))
        return int(self.persons.sum()) - len(row) + len(self._named)

    def entries(self, widths: Mapping[str, int]) -> dict[str, Entries]:
        """What is counted of each column, and of the persons themselves (``PERSON``)."""
        everywhere = np.arange(len(self.persons), dtype=np.int32)
        nothing = np.zeros_like(everywhere)
        counted = {PERSON: (everywhere, nothing, self.persons), **self.values}
        held = {PERSON: np.zeros_like(self.row), **self.held}
        return {name: self._entries(width, *counted[name], held[name]) for name, width in widths.items()}

    def _entries(self, width: int, row: Codes, value: Codes, count: Counts, held: Codes) -> Entries:
        # each person, row and value of those who have several, once
        each = np.unique(self._pairs * width + held)
        their_row, rest = np.divmod(each, width * max(1, len(self._named)))
        person, their_value = np.divmod(rest, width)
        # so many of the persons of a row and value are told apart, the others are counted
        places = row.astype(np.int64) * width + value
        order = np.argsort(places)
        alone = count.copy()
        np.subtract.at(alone, order[np.searchsorted(places, their_row * width + their_value, sorter=order)], 1)
        some = alone > 0
        pairs, code = np.unique(person * width + their_value, return_inverse=True)
        return Entries(
            width,
            np.concatenate([np.arange(width), pairs % width]).astype(np.int32),
            np.concatenate([row[some], their_row]).astype(np.int32),
            np.concatenate([value[some], width + code]).astype(np.int32),
            np.concatenate([alone[some], np.ones(len(code), dtype=np.int64)]),
        )

    @cached_property
    def _named(self) -> Codes:
        return np.unique(self.person)

    @cached_property
    def _pairs(self) -> Counts:
        """One number for the row and the person of each entry."""
        return self.row.astype(np.int64) * max(1, len(self._named)) + np.searchsorted(self._named, self.person)


__all__ = ["PERSON", "Entries", "Owners"]
