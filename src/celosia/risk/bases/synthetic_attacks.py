"""Computations for attacks on synthetic records: predicates, Gower neighbours and their overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

BLOCK = 4_000_000  # distances per block: 32 MB


@dataclass(frozen=True)
class Condition:
    """One condition of a predicate: a numeric column at least or at most a bound, or a category."""

    column: int
    numeric: bool
    bound: float
    above: bool = True

    def holds(self, numbers: Floats, codes: Codes) -> NDArray[np.bool_]:
        """Return which records meet the condition; a missing number never does."""
        if not self.numeric:
            return np.asarray(codes[:, self.column] == int(self.bound), dtype=np.bool_)
        values = numbers[:, self.column]
        with np.errstate(invalid="ignore"):
            return np.asarray(values >= self.bound if self.above else values <= self.bound, dtype=np.bool_)


def singled_out(predicate: Sequence[Condition], numbers: Floats, codes: Codes, person: Ints) -> NDArray[np.bool_]:
    """Return the records that a predicate selects when they are all one person's; none otherwise.

    >>> pay, none = np.array([[1.0], [7.0], [9.0]]), np.empty((3, 0), np.int32)
    >>> singled_out([Condition(0, True, 5.0)], pay, none, np.array([0, 1, 1])).tolist()
    [False, True, True]
    """
    mask = predicate[0].holds(numbers, codes)
    for condition in predicate[1:]:
        mask = mask & condition.holds(numbers, codes)
    who = person[mask]
    return mask if len(who) and (who == who[0]).all() else np.zeros(len(mask), dtype=np.bool_)


def singling_predicates(
    numbers: Floats, codes: Codes, size: int, wanted: int, rng: np.random.Generator, person: Ints | None = None
) -> list[tuple[Condition, ...]]:
    """Draw predicates over ``size`` columns that select exactly one of these records (those of one person).

    A random record gives the values: a number becomes a bound on the side away from the median, a category must be
    equal. Predicates that select more than one record (person) are discarded; at most 40 tries are made for each one
    wanted.

    References: Giomi, Boenisch, Wehmeyer & Tasnádi (2023), A unified framework for quantifying privacy risk in
    synthetic data.

    >>> x = np.arange(20.0)[:, None]
    >>> predicates = singling_predicates(x, np.empty((20, 0), np.int32), 1, 5, np.random.default_rng(1))
    >>> sorted((p[0].bound, p[0].above) for p in predicates)
    [(0.0, False), (19.0, True)]
    """
    n, p = numbers.shape
    total = p + codes.shape[1]
    size = min(size, total)
    middle = np.array([np.nanmedian(c) if np.isfinite(c).any() else np.nan for c in numbers.T])
    whose = np.arange(n) if person is None else person
    predicates: dict[tuple[Condition, ...], None] = {}
    for _ in range(40 * wanted):
        if len(predicates) == wanted or n == 0 or total == 0:
            break
        row = int(rng.integers(n))
        columns = np.sort(rng.choice(total, size, replace=False))
        predicate = tuple(_condition(numbers[row], codes[row], int(j), middle) for j in columns)
        if any(np.isnan(condition.bound) or (not condition.numeric and condition.bound < 0) for condition in predicate):
            continue
        if predicate not in predicates and singled_out(predicate, numbers, codes, whose).any():
            predicates[predicate] = None
    return list(predicates)


def random_predicates(
    numbers: Floats, codes: Codes, size: int, wanted: int, rng: np.random.Generator
) -> list[tuple[Condition, ...]]:
    """Draw random predicates from the range of each number and the categories, as a baseline.

    >>> x = np.arange(20.0)[:, None]
    >>> len(random_predicates(x, np.empty((20, 0), np.int32), 1, 5, np.random.default_rng(1)))
    5
    """
    p = numbers.shape[1]
    total = p + codes.shape[1]
    size = min(size, total)
    low = np.array([np.nanmin(c) if np.isfinite(c).any() else 0.0 for c in numbers.T])
    high = np.array([np.nanmax(c) if np.isfinite(c).any() else 0.0 for c in numbers.T])
    values = [np.unique(c[c >= 0]) for c in codes.T]
    predicates = []
    for _ in range(wanted):
        predicate = []
        for j in np.sort(rng.choice(total, size, replace=False)):
            if j < p:
                bound = float(rng.uniform(low[j], high[j]))
                predicate.append(Condition(int(j), True, bound, bool(rng.integers(2))))
            else:
                choices = values[j - p]
                bound = float(rng.choice(choices)) if len(choices) else 0.0
                predicate.append(Condition(int(j - p), False, bound))
        predicates.append(tuple(predicate))
    return predicates


def _condition(numbers: Floats, codes: Codes, column: int, middle: Floats) -> Condition:
    if column < len(numbers):
        value = float(numbers[column])
        return Condition(column, True, value, bool(value >= middle[column]))
    return Condition(column - len(numbers), False, float(codes[column - len(numbers)]))


def gower_nearest(
    source: tuple[Floats, Codes], target: tuple[Floats, Codes], widths: Floats, k: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """Return the k nearest target records of each source record by Gower's distance, and those distances.

    Numbers are compared by range, categories by equality; a missing value is at distance 1 from all but a missing
    one. Distances are computed in blocks.

    >>> none = np.empty((3, 0), np.int32)
    >>> x = np.array([[0.0], [5.0], [9.0]])
    >>> near, _ = gower_nearest((x, none), (x + 1, none), np.array([10.0]), 1, np.random.default_rng(1))
    >>> near.ravel().tolist()
    [0, 1, 2]
    """
    (x, a), (y, b) = source, target
    n, m = len(x), len(y)
    k = min(k, m)
    index = np.empty((n, k), dtype=np.int64)
    distance = np.empty((n, k))
    factor = np.divide(1.0, widths, out=np.zeros_like(widths), where=widths > 0)
    step = max(1, BLOCK // max(m, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        d = np.zeros((len(x[rows]), m))
        for j in range(x.shape[1]):
            gap = np.abs(x[rows, j][:, None] - y[None, :, j]) * factor[j]
            ours, theirs = np.isnan(x[rows, j])[:, None], np.isnan(y[:, j])[None]
            d += np.where(ours & theirs, 0.0, np.where(ours | theirs, 1.0, gap))
        for j in range(a.shape[1]):
            d += a[rows, j][:, None] != b[None, :, j]
        near = np.argpartition(d + 1e-9 * rng.random(d.shape), k - 1, axis=1)[:, :k]
        nearest = np.take_along_axis(d, near, axis=1)
        order = np.argsort(nearest, axis=1, kind="stable")
        index[rows] = np.take_along_axis(near, order, axis=1)
        distance[rows] = np.take_along_axis(nearest, order, axis=1)
    return index, distance


def ranges(*tables: Floats) -> Floats:
    """Return largest minus smallest value of each column over all tables; 0 for a column without values.

    >>> ranges(np.array([[1.0, np.nan], [4.0, np.nan]])).tolist()
    [3.0, 0.0]
    """
    both = np.concatenate(tables)
    filled = np.isfinite(both)
    low = np.where(filled, both, np.inf).min(axis=0, initial=np.inf)
    high = np.where(filled, both, -np.inf).max(axis=0, initial=-np.inf)
    return np.asarray(np.where(high >= low, high - low, 0.0), dtype=np.float64)


def overlap(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether two lists of neighbours share a record, row by row.

    >>> overlap(np.array([[1, 2], [3, 4]]), np.array([[2, 9], [5, 6]])).tolist()
    [True, False]
    """
    return np.asarray((first[:, :, None] == second[:, None, :]).any(axis=(1, 2)), dtype=np.bool_)


def chance_overlap(m: int, k: int) -> float:
    r"""Return the chance that two random sets of k among m records share one.

    .. math:: 1 - \binom{m-k}{k} / \binom{m}{k}

    >>> round(chance_overlap(10, 1), 3), round(chance_overlap(10, 2), 3)
    (0.1, 0.378)
    """
    k = min(k, m)
    left = 1.0
    for i in range(k):
        left *= max(m - k - i, 0) / (m - i)
    return 1 - left
