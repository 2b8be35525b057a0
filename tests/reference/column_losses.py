"""Losses of columns of numbers and categories a second time, from their definitions.

A frame is a dictionary of lists without missing values. Numbers take part where a loss is about numbers; everything
takes part where it is about categories (with few different numbers, so that each number is a category).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Frame = dict[str, list[Any]]
Matrix = list[list[float]]


def _numbers(frame: Frame) -> list[list[float]]:
    return [column for column in frame.values() if not isinstance(column[0], str)]


def _mean(x: Sequence[float]) -> float:
    return math.fsum(x) / len(x)


def _covariance(x: Sequence[float], y: Sequence[float]) -> float:
    a, b = _mean(x), _mean(y)
    return math.fsum((u - a) * (v - b) for u, v in zip(x, y, strict=True)) / len(x)


def _sd(x: Sequence[float], ddof: int = 1) -> float:
    return math.sqrt(_covariance(x, x) * len(x) / (len(x) - ddof))


def _correlation(x: Sequence[float], y: Sequence[float]) -> float:
    return _covariance(x, y) / math.sqrt(_covariance(x, x) * _covariance(y, y))


def _cells(before: Frame, after: Frame, on: str) -> list[tuple[float, float]]:
    """The pairs of numbers that an error is the mean of: values, or entries of a matrix over all pairs of columns."""
    a, b = _numbers(before), _numbers(after)
    if on == "data":
        return [pair for x, y in zip(a, b, strict=True) for pair in zip(x, y, strict=True)]
    entry = _covariance if on == "covariance" else _correlation
    places = list(itertools.product(range(len(a)), repeat=2))
    return [(entry(a[i], a[j]), entry(b[i], b[j])) for i, j in places]


def squared_error(before: Frame, after: Frame, on: str = "data") -> float:
    """The mean squared difference."""
    return _mean([(a - b) ** 2 for a, b in _cells(before, after, on)])


def absolute_error(before: Frame, after: Frame, on: str = "data") -> float:
    """The mean absolute difference."""
    return _mean([abs(a - b) for a, b in _cells(before, after, on)])


def relative_error(before: Frame, after: Frame, on: str = "data") -> float:
    """The mean difference relative to the original; cells that were 0 are left out."""
    return _mean([abs(a - b) / abs(a) for a, b in _cells(before, after, on) if a != 0])


def altered_records(before: Frame, after: Frame) -> float:
    """The share of records with a changed value."""
    rows = zip(zip(*before.values(), strict=True), zip(*after.values(), strict=True), strict=True)
    return _mean([float(a != b) for a, b in rows])


def scaled_error(before: Frame, after: Frame) -> float:
    """The mean change in units of the difference of two random values."""
    pairs = zip(_numbers(before), _numbers(after), strict=True)
    return _mean([abs(a - b) / math.sqrt(2) / _sd(x) for x, y in pairs for a, b in zip(x, y, strict=True)])


def sum_of_squares(before: Frame, after: Frame) -> float:
    """Squared errors by squared deviations, of columns with standard deviation 1."""
    error, total = [], []
    for x, y in zip(_numbers(before), _numbers(after), strict=True):
        error += [(a - b) ** 2 / _sd(x) ** 2 for a, b in zip(x, y, strict=True)]
        total += [(a - _mean(x)) ** 2 / _sd(x) ** 2 for a in x]
    return math.fsum(error) / math.fsum(total)


def classical_loss(before: Frame, after: Frame) -> float:
    """IL1 to IL5."""
    a, b = _numbers(before), _numbers(after)
    p = len(a)
    upper = list(itertools.combinations_with_replacement(range(p), 2))
    relative = [abs(_covariance(a[i], a[j]) - _covariance(b[i], b[j])) / abs(_covariance(a[i], a[j])) for i, j in upper]
    parts = [
        relative_error(before, after),
        _mean([abs(_mean(x) - _mean(y)) / abs(_mean(x)) for x, y in zip(a, b, strict=True)]),
        _mean(relative),
        _mean([r for (i, j), r in zip(upper, relative, strict=True) if i == j]),
        _mean([abs(_correlation(a[i], a[j]) - _correlation(b[i], b[j])) for i, j in upper if i != j]),
    ]
    return _mean(parts)


def kolmogorov_smirnov(before: Frame, after: Frame) -> float:
    """The largest gap of the distribution functions."""
    found = []
    for x, y in zip(_numbers(before), _numbers(after), strict=True):
        x, y = sorted(x), sorted(y)
        found.append(
            max(abs(bisect.bisect_right(x, v) / len(x) - bisect.bisect_right(y, v) / len(y)) for v in [*x, *y])
        )
    return _mean(found)


def wasserstein(before: Frame, after: Frame) -> float:
    """The area between the distribution functions, in standard deviations."""
    found = []
    for x, y in zip(_numbers(before), _numbers(after), strict=True):
        a, b, points = sorted(x), sorted(y), sorted({*x, *y})
        gaps = [
            (high - low) * abs(bisect.bisect_right(a, low) / len(a) - bisect.bisect_right(b, low) / len(b))
            for low, high in itertools.pairwise(points)
        ]
        found.append(math.fsum(gaps) / _sd(x, ddof=0))
    return _mean(found)


def quantile_loss(before: Frame, after: Frame) -> float:
    """The mean change of nineteen quantiles, linear between the values, in standard deviations."""
    found = []
    for x, y in zip(_numbers(before), _numbers(after), strict=True):
        found += [abs(_quantile(x, q / 20) - _quantile(y, q / 20)) / _sd(x, ddof=0) for q in range(1, 20)]
    return _mean(found)


def _quantile(x: Sequence[float], q: float) -> float:
    x = sorted(x)
    at = q * (len(x) - 1)
    low = min(int(at), len(x) - 2)
    return x[low] + (at - low) * (x[low + 1] - x[low])


def eigenvalue_loss(before: Frame, after: Frame) -> float:
    """Relative changes of the eigenvalues of the correlations of two columns, which are 1 ± r."""
    (a, b), (c, d) = _numbers(before), _numbers(after)
    first = sorted((1 - _correlation(a, b), 1 + _correlation(a, b)))
    second = sorted((1 - _correlation(c, d), 1 + _correlation(c, d)))
    return math.fsum(abs(u - v) / u for u, v in zip(first, second, strict=True))


def dependence_loss(before: Frame, after: Frame) -> float:
    """Two columns depend on each other equally: the pattern of two cannot change."""
    assert len(_numbers(before)) == 2
    return 0.0


def gower_loss(before: Frame, after: Frame) -> float:
    """The mean distance of cells: differences by the range, or whether categories differ."""
    found = []
    for x, y in zip(before.values(), after.values(), strict=True):
        if isinstance(x[0], str):
            found += [float(a != b) for a, b in zip(x, y, strict=True)]
        else:
            width = max(x) - min(x)
            found += [min(1.0, abs(a - b) / width) for a, b in zip(x, y, strict=True)]
    return _mean(found)


def _shares(values: Sequence[Any]) -> dict[Any, float]:
    return {value: count / len(values) for value, count in Counter(values).items()}


def _entropy(values: Sequence[Any]) -> float:
    return -math.fsum(p * math.log(p) for p in _shares(values).values())


def hellinger(before: Frame, after: Frame) -> float:
    """The distance of the square roots of the shares."""
    found = []
    for x, y in zip(before.values(), after.values(), strict=True):
        p, q = _shares(x), _shares(y)
        squares = [(math.sqrt(p.get(v, 0.0)) - math.sqrt(q.get(v, 0.0))) ** 2 for v in {*p, *q}]
        found.append(math.sqrt(math.fsum(squares) / 2))
    return _mean(found)


def contingency(before: Frame, after: Frame, order: int = 3) -> float:
    """The mean, over one-way to three-way tables, of the share of records in a wrong cell."""
    means = []
    for size in range(1, min(order, len(before)) + 1):
        found = []
        for names in itertools.combinations(before, size):
            p = _shares(list(zip(*(before[n] for n in names), strict=True)))
            q = _shares(list(zip(*(after[n] for n in names), strict=True)))
            found.append(sum(abs(p.get(v, 0.0) - q.get(v, 0.0)) for v in {*p, *q}) / 2)
        means.append(_mean(found))
    return _mean(means)


def entropy_loss(before: Frame, after: Frame) -> float:
    """The share of the entropy of a column that is left when the protected value is known."""
    found = []
    for x, y in zip(before.values(), after.values(), strict=True):
        left = _entropy(list(zip(x, y, strict=True))) - _entropy(y)
        found.append(left / _entropy(x) if _entropy(x) > 0 else 0.0)
    return _mean(found)


def mutual_information(before: Frame, after: Frame) -> float:
    """The mean change of the information that two columns share."""
    found = []
    for a, b in itertools.combinations(before, 2):
        found.append(abs(_information(before[a], before[b]) - _information(after[a], after[b])))
    return _mean(found)


def _information(x: Sequence[Any], y: Sequence[Any]) -> float:
    each = _entropy(x) * _entropy(y)
    both = _entropy(list(zip(x, y, strict=True)))
    return (_entropy(x) + _entropy(y) - both) / math.sqrt(each) if each > 0 else 0.0


COLUMN_LOSSES: dict[str, Callable[..., float]] = {
    "absolute-error": absolute_error,
    "altered-records": altered_records,
    "classical-loss": classical_loss,
    "contingency": contingency,
    "dependence-loss": dependence_loss,
    "eigenvalue-loss": eigenvalue_loss,
    "entropy-loss": entropy_loss,
    "gower-loss": gower_loss,
    "hellinger": hellinger,
    "kolmogorov-smirnov": kolmogorov_smirnov,
    "mutual-information": mutual_information,
    "quantile-loss": quantile_loss,
    "relative-error": relative_error,
    "scaled-error": scaled_error,
    "squared-error": squared_error,
    "sum-of-squares": sum_of_squares,
    "wasserstein": wasserstein,
}
"""Loss → its second way."""


def by_columns(name: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Register the second way of a loss that is in its own test file."""

    def register(function: Callable[..., float]) -> Callable[..., float]:
        COLUMN_LOSSES[name] = function
        return function

    return register
