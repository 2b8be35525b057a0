"""Every loss with a closed form a second time, from its definition: record by record, over plain rows.

``CLASS_LOSSES`` look at the quasi-identifiers of a generalised table, ``COLUMN_LOSSES`` (in ``column_losses``) at columns
of numbers and categories. Losses count records (rows), also where persons own several. Records are paired by their place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from celosia.checker.rows import STAR, Plain


def _paths(before: Plain, column: str) -> list[tuple[Any, ...]]:
    """One path per value of the domain; without a hierarchy, the values that occur and a star."""
    if column in before.trees:
        return list(before.trees[column])
    return [(str(v), STAR) for v in sorted({row[column] for row in before.rows} - {None}, key=str)]


def _leaves(before: Plain, column: str, cell: Any) -> int:
    """How many values of the domain a cell stands for; a missing value for itself."""
    if cell is None:
        return 1
    paths = _paths(before, column)
    return len(paths) if cell == STAR else sum(str(cell) in path for path in paths)


def _level(before: Plain, column: str, cell: Any) -> int:
    """The lowest level that has the cell."""
    if cell is None:
        return 0
    return min(path.index(str(cell)) for path in _paths(before, column) if str(cell) in path)


def _height(before: Plain, column: str) -> int:
    return len(_paths(before, column)[0]) - 1


def _lost(before: Plain, after: Plain) -> int:
    """Records that are suppressed, or gone."""
    return len(after.suppressed) + max(0, len(before.rows) - len(after.rows))


def _cells(before: Plain, after: Plain, column: str) -> list[Any]:
    """The cells of the kept records; one that was emptied is a star, one that was empty before is not."""
    found = [after.rows[i][column] for i in after.unsuppressed]
    emptied = found.count(None) - sum(row[column] is None for row in before.rows)
    if None in found and emptied > 0:
        found = [cell for cell in found if cell is not None] + [STAR] * emptied
        found += [None] * (len(after.unsuppressed) - len(found))
    return found


def _mean(before: Plain, after: Plain, column: str, each: Callable[[Any], float], suppressed: float) -> float:
    cells = _cells(before, after, column)
    return (sum(each(cell) for cell in cells) + suppressed * _lost(before, after)) / len(before.rows)


def _classes(after: Plain) -> dict[Any, list[int]]:
    """The classes of the records that are not suppressed; none where all are."""
    return after.classes() if after.unsuppressed else {}


def domain_loss(before: Plain, after: Plain, aggregate: str = "geometric") -> float:
    """The mean share of the domain that a cell covers, from 0 (one value) to 1 (all)."""
    found = []
    for column in before.quasi:
        size = len(_paths(before, column))
        x = _mean(before, after, column, lambda cell, c=column, d=size: _leaves(before, c, cell) / d, 1.0)
        found.append(max(0.0, (x - 1 / size) / (1 - 1 / size) if size > 1 else x - 1))
    m = len(found)
    left = math.prod(1.3 - v for v in found) ** (1 / m)
    ways = {"arithmetic": sum(found) / m, "max": max(found), "rank": max(found), "sum": sum(found)}
    ways["balanced"] = 1.3 - left
    return ways[aggregate] if aggregate in ways else math.prod(1 + v for v in found) ** (1 / m) - 1


def certainty_penalty(before: Plain, after: Plain) -> float:
    """The extent of a cell in the range of its column (numbers), or its share of the values (categories)."""
    total = 0.0
    for column in before.quasi:
        values = [path[0] for path in _paths(before, column)]
        numbers = {v: float(v) for v in values} if column in before.numeric else {}

        def each(cell: Any, c: str = column, number: dict[Any, float] = numbers) -> float:
            leaves = [path[0] for path in _paths(before, c) if cell == STAR or str(cell) in path]
            if cell is None or len(leaves) <= 1:
                return 0.0
            if not number:
                return len(leaves) / len(_paths(before, c))
            inside = [number[v] for v in leaves]
            return (max(inside) - min(inside)) / (max(number.values()) - min(number.values()))

        total += _mean(before, after, column, each, 1.0)
    return total / len(before.quasi)


def precision(before: Plain, after: Plain) -> float:
    """The mean relative level of the cells."""
    each = [
        _mean(before, after, c, lambda cell, c=c: _level(before, c, cell) / _height(before, c), 1.0)
        for c in before.quasi
    ]
    return sum(each) / len(each)


def height(before: Plain, after: Plain, suppressed: bool = True) -> float:
    """The sum over the columns of the mean level."""
    n = len(before.rows) if suppressed else len(before.rows) - _lost(before, after)
    total = sum(_level(before, c, cell) for c in before.quasi for cell in _cells(before, after, c))
    top = sum(_height(before, c) for c in before.quasi) * _lost(before, after) * suppressed
    return (total + top) / n if n else 0.0


def ambiguity(before: Plain, after: Plain) -> float:
    """The number of combinations of domain values that the cells of a record could be, summed."""
    everything = math.prod(len(_paths(before, c)) for c in before.quasi)
    each = [math.prod(_leaves(before, c, after.rows[i][c]) for c in before.quasi) for i in after.unsuppressed]
    return sum(each) + everything * _lost(before, after)


def discernibility(before: Plain, after: Plain) -> float:
    """The squares of the class sizes; a suppressed record counts as the whole file."""
    return sum(len(rows) ** 2 for rows in _classes(after).values()) + len(before.rows) * _lost(before, after)


def average_class_size(before: Plain, after: Plain, k: int = 1) -> float:
    """Records by classes; the suppressed ones are one class."""
    return len(before.rows) / max(1, len(_classes(after)) + (_lost(before, after) > 0)) / k


def kullback_leibler(before: Plain, after: Plain) -> float:
    """Bits between the combinations of the original and the classes spread over their cells, record by record."""
    n, lost = len(before.rows), _lost(before, after)
    frequency = Counter(before.key(i) for i in range(n))
    everything = math.prod(len(_paths(before, c)) for c in before.quasi)
    classes = _classes(after)
    total = 0.0
    for i in range(n):
        if i in after.suppressed:
            q = lost / n / everything
        else:
            area = math.prod(_leaves(before, c, after.rows[i][c]) for c in before.quasi)
            q = len(classes[after.key(i)]) / n / area
        total += math.log2(frequency[before.key(i)] / n / q)
    return max(0.0, total / n)  # missing values lie outside the domain: a star that hides them can look cheap


def non_uniform_entropy(before: Plain, after: Plain, normalised: bool = True) -> float:
    """Bits that tell the value from the cell; the records of the original are counted in both."""
    n = len(before.unsuppressed)  # a record that was suppressed before has no value
    shares, bits = [], 0.0
    for column in before.quasi:
        values = [before.rows[i][column] for i in before.unsuppressed]
        count = Counter(values)
        known = sum(math.log2(count[v]) for v in values)
        inside = 0.0
        for cell in _cells(before, after, column):
            under = [path[0] for path in _paths(before, column) if str(cell) in path]
            here = n if cell == STAR else sum(v == cell if cell is None else str(v) in under for v in values)
            inside += math.log2(max(1, here))
        own = inside + _lost(before, after) * math.log2(n) - known
        largest = n * math.log2(n) - known
        bits += max(0.0, own)
        shares.append(min(1.0, max(0.0, own / largest)) if largest > 1e-12 else 0.0)
    return sum(shares) / len(shares) if normalised else bits


def majority_loss(before: Plain, after: Plain, target: str) -> float:
    """Records that do not have the most frequent target of their class, and suppressed ones."""
    minority = 0
    for rows in _classes(after).values():
        minority += len(rows) - max(Counter(after.rows[i][target] for i in rows).values())
    return (minority + _lost(before, after)) / len(before.rows)


def suppression(before: Plain, after: Plain, of: str = "records") -> float:
    """The share of records that are gone, or of cells that tell nothing."""
    n, lost = len(before.rows), _lost(before, after)
    if of == "records":
        return lost / n
    stars = sum(cell == STAR for c in before.quasi for cell in _cells(before, after, c))
    return (stars + lost * len(before.quasi)) / n / len(before.quasi)


CLASS_LOSSES: dict[str, Callable[..., float]] = {
    "ambiguity": ambiguity,
    "average-class-size": average_class_size,
    "certainty-penalty": certainty_penalty,
    "discernibility": discernibility,
    "domain-loss": domain_loss,
    "height": height,
    "kullback-leibler": kullback_leibler,
    "majority-loss": majority_loss,
    "non-uniform-entropy": non_uniform_entropy,
    "precision": precision,
    "suppression": suppression,
}
"""Loss → its second way."""


def by_classes(name: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Register the second way of a loss that is in its own test file."""

    def register(function: Callable[..., float]) -> Callable[..., float]:
        CLASS_LOSSES[name] = function
        return function

    return register
