"""Fuzzy partitions of an axis: neighbouring trapezoids overlap so that the memberships of every value sum to one.

A chain is stored as two points per border between neighbours: where the left set begins to fall, and where it reaches
zero. Moving a point changes both sets, so no edit can break the partition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, DataError, ParameterError, UnknownName
from celosia.kernels.fuzzy.labels import Language, linguistic_labels
from celosia.kernels.fuzzy.partitions import break_points
from celosia.kernels.fuzzy.sets import FuzzySet, Trapezoid

Floats = NDArray[np.float64]
MOST_SETS = 12
LONGEST_NAME = 60


@dataclass(frozen=True)
class Chain:
    """Names of the sets from low to high, and two points per border."""

    names: tuple[str, ...]
    points: tuple[float, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.names) <= MOST_SETS:
            raise ParameterError(f"a column has 2 to {MOST_SETS} fuzzy sets here, got {len(self.names)}.")
        if len(set(self.names)) < len(self.names) or not all(0 < len(n.strip()) <= LONGEST_NAME for n in self.names):
            raise ParameterError(f"each fuzzy set needs a name of its own of at most {LONGEST_NAME} letters.")
        if len(self.points) != 2 * (len(self.names) - 1) or not all(map(math.isfinite, self.points)):
            raise ParameterError("each border between two fuzzy sets needs two finite points.")
        for i, (left, right) in enumerate(pairwise(self.points)):
            if right < left or (i % 2 == 0 and right == left):
                raise ParameterError(
                    f"point {i + 2} must lie to the right of point {i + 1}: "
                    "the left set falls while the right one rises."
                )

    @classmethod
    def of(cls, sets: Mapping[str, str]) -> Chain | None:
        """Return the chain equal to given sets, or None if they do not form one (such as sets of words).

        >>> Chain.of({"Young": "(-inf;30;36)", "Adult": "(30;36;54;60)", "Old": "(54;60;inf)"}).points
        (30.0, 36.0, 54.0, 60.0)
        """
        shapes = [(name, FuzzySet.parse(literal)) for name, literal in sets.items()]
        if any(not isinstance(shape, Trapezoid) for _, shape in shapes):
            return None
        order = sorted(shapes, key=lambda pair: (pair[1].b, pair[1].c))  # type: ignore[attr-defined]
        try:
            chain = cls(
                tuple(name for name, _ in order),
                tuple(p for _, shape in order[:-1] for p in (shape.c, shape.d)),  # type: ignore[attr-defined]
            )
        except CelosiaError:
            return None
        return chain if chain.shapes() == tuple(shape for _, shape in order) else None

    def shapes(self) -> tuple[Trapezoid, ...]:
        """Return the sets from low to high; the outer ones are unbounded."""
        ends = (-math.inf, -math.inf, *self.points, math.inf, math.inf)
        return tuple(Trapezoid(*ends[2 * i : 2 * i + 4]) for i in range(len(self.names)))

    def sets(self) -> dict[str, str]:
        """Return the sets as in a policy, by name.

        >>> Chain(("low", "high"), (3.0, 4.5)).sets()
        {'low': '(-inf;3;4.5)', 'high': '(3;4.5;inf)'}
        """
        return {name: str(shape) for name, shape in zip(self.names, self.shapes(), strict=True)}

    def move_point(self, position: int, value: float, step: float = 0.0) -> Chain:
        """Return the chain with one point moved, limited by its neighbours; ``step`` is the minimum width of a border.

        >>> chain = Chain(("a", "b", "c"), (1.0, 2.0, 3.0, 4.0))
        >>> chain.move_point(1, 9.0, 0.5).points, chain.move_point(1, 0.0, 0.5).points
        ((1.0, 3.0, 3.0, 4.0), (1.0, 1.5, 3.0, 4.0))
        """
        if not 0 <= position < len(self.points):
            raise ParameterError(f"there is no point {position + 1}; the sets have {len(self.points)}.")
        if not math.isfinite(value):
            raise ParameterError("a point of a fuzzy set needs a finite number.")
        low = self.points[position - 1] + (step if position % 2 else 0.0) if position else -math.inf
        last = len(self.points) - 1
        high = self.points[position + 1] - (0.0 if position % 2 else step) if position < last else math.inf
        placed = min(max(value, low), high)
        return replace(self, points=(*self.points[:position], placed, *self.points[position + 1 :]))

    def rename(self, old: str, new: str) -> Chain:
        """Return the chain with another name for a set."""
        self._index(old)
        return replace(self, names=tuple(new.strip() if name == old else name for name in self.names))

    def remove(self, name: str) -> Chain:
        """Return the chain without a set; its neighbours meet at its outer ends."""
        i = self._index(name)
        if len(self.names) == 2:
            raise ParameterError("a column needs at least two fuzzy sets: a single one would contain every record.")
        if i == 0:
            points = self.points[2:]
        elif i == len(self.names) - 1:
            points = self.points[:-2]
        else:  # the left neighbour falls from where it did to where the right one has risen
            points = (*self.points[: 2 * i - 1], *self.points[2 * i + 1 :])
        return Chain(tuple(n for n in self.names if n != name), points)

    def split(self, name: str, new: str, low: float, high: float) -> Chain:
        """Return the chain with a set split in its middle; ``low`` and ``high`` are the ends of the axis."""
        i = self._index(name)
        left = self.points[2 * i - 1] if i else min(low, self.points[0] - 1)
        right = self.points[2 * i] if i < len(self.names) - 1 else max(high, self.points[-1] + 1)
        if right <= left:  # a triangle has no flat part: take the slopes as well
            left, right = self.points[2 * i - 2], self.points[2 * i + 1]
            middle, half = (left + right) / 2, (right - left) / 8
            points = (*self.points[: 2 * i - 1], middle - half, middle - half, middle + half, middle + half,
                      *self.points[2 * i + 1 :])  # fmt: skip
        else:
            third = (right - left) / 3
            points = (*self.points[: 2 * i], left + third, right - third, *self.points[2 * i :])
        return Chain((*self.names[: i + 1], new.strip(), *self.names[i + 1 :]), tuple(map(plain, points)))

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName.of("fuzzy set", name, self.names)
        return self.names.index(name)


def suggest(values: Floats, count: int = 3, language: Language = "en") -> Chain:
    """Return sets with about equal numbers of records and borders a third of their width.

    >>> suggest(np.arange(0.0, 91.0)).sets()
    {'low': '(-inf;25;35)', 'medium': '(25;35;55;65)', 'high': '(55;65;inf)'}
    """
    numbers = values[np.isfinite(values)]
    if len(np.unique(numbers[:100_000])) < 2 * count:
        raise DataError("the column has too few different numbers for fuzzy sets. Choose another one, or fewer sets.")
    ends = break_points(numbers, count)
    points: list[float] = []
    for before, at, after in zip(ends[:-2], ends[1:-1], ends[2:], strict=True):
        half = min(at - before, after - at) / 6
        points += [plain(at - half), plain(at + half)]
    names = linguistic_labels(count, language)
    if any(right <= left for left, right in pairwise(points)):  # ties: equally wide sets instead
        width = np.linspace(numbers.min(), numbers.max(), 2 * count)
        points = [float(v) for v in width[1:-1]]
    return Chain(names, tuple(points))


def plain(value: float) -> float:
    """Round a number to three significant digits.

    >>> plain(33.3333), plain(0.0123456)
    (33.3, 0.0123)
    """
    return float(f"{value:.3g}")


def outline(shape: Trapezoid, low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Return the corners of a set between ``low`` and ``high``, from left to right.

    >>> outline(Trapezoid(2, 3, 5, 8), 0, 10)
    ((0, 0.0), (2, 0.0), (3, 1.0), (5, 1.0), (8, 0.0), (10, 0.0))
    """
    inner = sorted({p for p in (shape.a, shape.b, shape.c, shape.d) if low < p < high})
    at: Sequence[float] = (low, *inner, high)
    return tuple((x, float(y)) for x, y in zip(at, shape(at), strict=True))
