"""Index of raw values, to find those that a generalised cell covers by binary search."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.cells import ISO_DATE, Everything, Exact, Generalised, Interval, Mask, OneOf, Period, number

Places = NDArray[np.int64]
T = TypeVar("T", str, float)


class Values:
    """Index of raw values by text, number, day and unmasked part.

    >>> values = Values(["2020-05-03", "30", None, "2020-06-01", "30.0"])
    >>> values.under(Exact("30.00")).tolist(), values.under(Period("2020-05", "2020-05-01", "2020-05-31")).tolist()
    ([1, 4], [0])
    """

    def __init__(self, raws: Sequence[str | None]) -> None:
        self._raws = raws
        self._masked: dict[tuple[int, int, int], dict[str, list[int]]] = {}
        self.everything: Places = np.arange(len(raws))
        self.missing: Places = np.array([at for at, raw in enumerate(raws) if raw is None], dtype=np.int64)

    def text(self, text: str) -> Places:
        """Return the positions of the values that are this text."""
        return self._texts.between(text, text)

    def under(self, cell: Generalised) -> Places:
        """Return the positions of the values that a cell covers, in any order and with repetitions."""
        if isinstance(cell, Everything):
            return self.everything
        if isinstance(cell, Exact):
            return self._equal(cell.text)
        if isinstance(cell, OneOf):
            return np.concatenate([self._equal(member) for member in cell.members])
        if isinstance(cell, Mask):
            return self._under_mask(cell)
        if isinstance(cell, Period):
            return np.concatenate([self._days.between(cell.first, cell.last), self.text(cell.text)])
        return self._inside(cell)

    def _equal(self, text: str) -> Places:
        value = number(text)
        if value is None:
            return self.text(text)
        return np.concatenate([self.text(text), self._numbers.between(value, value)])

    def _inside(self, cell: Interval) -> Places:
        low, high = cell.low, cell.high
        if isinstance(low, str) and isinstance(high, str):
            return (self._by_day if cell.of_days else self._texts).between(low, high, cell.low_closed, cell.high_closed)
        if isinstance(low, str) or isinstance(high, str):  # one end is infinite, which no notation of texts has
            covered = [at for at, raw in enumerate(self._raws) if raw is not None and cell.covers(raw)]
            return np.array(covered, dtype=np.int64)
        # an infinite end is closed, so that infinite values are inside
        return self._numbers.between(
            low, high, cell.low_closed or low == -math.inf, cell.high_closed or high == math.inf
        )

    def _under_mask(self, mask: Mask) -> Places:
        """Return the texts with the length of a mask and the characters before or after its stars."""
        pattern, size = mask.pattern, len(mask.pattern)
        first, last = (0, pattern.index("*")) if pattern[-1] == "*" else (pattern.rindex("*") + 1, size)
        if (size, first, last) not in self._masked:
            by_part: defaultdict[str, list[int]] = defaultdict(list)
            for at, raw in enumerate(self._raws):
                if raw is not None and len(raw) == size:
                    by_part[raw[first:last]].append(at)
            self._masked[size, first, last] = dict(by_part)
        return np.array(self._masked[size, first, last].get(pattern[first:last], []), dtype=np.int64)

    @cached_property
    def _texts(self) -> _Sorted[str]:
        return _Sorted((raw, at) for at, raw in enumerate(self._raws) if raw is not None)

    @cached_property
    def _numbers(self) -> _Sorted[float]:
        parsed = ((number(raw), at) for at, raw in enumerate(self._raws) if raw is not None)
        return _Sorted((value, at) for value, at in parsed if value is not None)

    @cached_property
    def _days(self) -> _Sorted[str]:
        """Index of dates and times by their day."""
        return _Sorted((raw[:10], at) for at, raw in enumerate(self._raws) if raw is not None and ISO_DATE.match(raw))

    @cached_property
    def _by_day(self) -> _Sorted[str]:
        """Index of all texts, times as their day."""
        texts = ((raw, at) for at, raw in enumerate(self._raws) if raw is not None)
        return _Sorted((raw[:10] if ISO_DATE.match(raw) else raw, at) for raw, at in texts)


class _Sorted(Generic[T]):
    """Sorted keys with their positions."""

    def __init__(self, keyed: Iterable[tuple[T, int]]) -> None:
        ordered = sorted(keyed)
        self._keys: list[T] = [key for key, _ in ordered]
        self._places = np.array([at for _, at in ordered], dtype=np.int64)

    def between(self, low: T, high: T, low_closed: bool = True, high_closed: bool = True) -> Places:
        """Return the positions of the keys between two ends."""
        first = bisect_left(self._keys, low) if low_closed else bisect_right(self._keys, low)
        last = bisect_right(self._keys, high) if high_closed else bisect_left(self._keys, high)
        return self._places[first:last]
