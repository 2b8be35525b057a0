"""Which records of another file belong to the same person: what an attack is scored by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

BLOCK = 4_000_000  # pairs that are looked at in one go


@dataclass(frozen=True)
class Own:
    """The target records of the person of each source record: ``target[start[i] : stop[i]]``."""

    target: Ints
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, source: Ints, target: Ints) -> Own:
        """From the number of the person of each record of the two files.

        >>> Own.of(np.array([7, 8, 7]), np.array([7, 9, 7])).numbers().tolist()
        [2, 0, 2]
        """
        order = np.argsort(target, kind="stable")
        sides = (np.searchsorted(target[order], source, side="left"), np.searchsorted(target[order], source, "right"))
        return cls(order.astype(np.int64), *(side.astype(np.int64) for side in sides))

    @classmethod
    def single(cls, truth: Ints) -> Own:
        """From the one target record of each source record, -1 for none.

        >>> Own.single(np.array([2, -1])).numbers().tolist()
        [1, 0]
        """
        start = np.arange(len(truth), dtype=np.int64)
        return cls(truth.astype(np.int64), start, start + (truth >= 0))

    def numbers(self) -> Ints:
        """How many target records the person of each source record has."""
        return self.stop - self.start

    def count(self, fits: Callable[[Ints, Ints], NDArray[np.bool_]]) -> Ints:
        """How many of her target records fit each source record; ``fits`` takes source and target, pair by pair.

        >>> Own.of(np.array([7, 8]), np.array([7, 7, 8])).count(lambda i, j: j > 0).tolist()
        [1, 1]
        """
        numbers = self.numbers()
        fitting = np.zeros(len(numbers), dtype=np.int64)
        ends = np.cumsum(numbers)
        first = 0
        while first < len(numbers):
            done = ends[first - 1] if first else 0
            last = max(int(np.searchsorted(ends, done + BLOCK, side="right")), first + 1)
            some = np.arange(first, last)
            source = np.repeat(some, numbers[some])
            place = np.arange(len(source)) - np.repeat(ends[some] - numbers[some] - done, numbers[some])
            target = self.target[self.start[source] + place]
            fitting[first:last] = np.bincount(source[fits(source, target)] - first, minlength=len(some))
            first = last
        return fitting
