"""Ends of groups that are computed from data, rounded so that no label discloses a rare value.

A range with the extreme values of a group as ends would publish two values that perhaps one person has. Here an end is
the roundest number, or the shortest prefix, that separates a group from its neighbour. A raw value is in a label only
if at least :data:`SHARED` records have it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.text import texts

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]

SHARED = 5
"""Smallest number of records with a value that is in a label."""
LETTERS = 3
"""Largest number of letters of an end of a group of words, after the common prefix of all values."""
AFTER = "…"
"""Sorts after all letters: ``S…`` is the end of all words that begin with S."""
_DIGITS = 12


def tidy(value: float) -> float:
    """Return the value without rounding errors of floating-point sums: 0.1 + 0.2 is 0.3."""
    return float(f"{value:.{_DIGITS}g}")


def round_cuts(before: Floats, after: Floats) -> Floats:
    """Return for each pair of neighbouring numbers the roundest one above the first and not above the second.

    >>> round_cuts(np.array([17.0, 1023.17, 3.0]), np.array([35.0, 1023.22, 4.0])).tolist()
    [20.0, 1023.2, 4.0]
    """
    cuts = np.full(len(before), np.nan)
    largest = np.maximum(np.abs(before), np.abs(after)).max(initial=0.0)
    power = math.ceil(math.log10(largest)) if largest > 0 else 0
    gaps = after - before
    finest = math.floor(math.log10(gaps[gaps > 0].min(initial=math.inf))) if (gaps > 0).any() else power
    for exponent in range(power, max(min(finest, power - _DIGITS), -300), -1):  # 10.0**308 is the largest power
        for digit in (10.0, 5.0, 2.0):
            left = np.flatnonzero(np.isnan(cuts))
            if not len(left):
                return cuts
            low, high = before[left], after[left]
            middle = _multiple(np.rint, (low + high) / 2, digit, exponent - 1)
            tried = np.where((middle > low) & (middle <= high), middle, _multiple(np.floor, high, digit, exponent - 1))
            fits = (tried > low) & (tried <= high)
            cuts[left[fits]] = tried[fits]
    return np.where(np.isnan(cuts), after, cuts)


def _multiple(rounding: np.ufunc, numbers: Floats, digit: float, exponent: int) -> Floats:
    """Return the multiple of ``digit`` times a power of ten that is nearest to each number."""
    # division by a power of ten is exact to the nearest decimal, multiplication by 0.1 is not
    many, few = (10.0**exponent, 1.0) if exponent >= 0 else (1.0, 10.0**-exponent)
    multiples: Floats = rounding(numbers * few / (digit * many)) * (digit * many) / few
    return multiples


def rounded_cuts(cuts: Floats, numbers: Floats, counts: NDArray[np.int64], *, right: bool = False) -> Floats:
    """Return each cut with the fewest digits that separate the same numbers, never a rare number itself.

    With ``right`` a number that equals a cut is below it.

    >>> rounded_cuts(np.array([104382.37]), np.array([104000.0, 104511.0]), np.array([1, 1])).tolist()
    [104400.0]
    """
    order = np.argsort(numbers, kind="stable")
    values, records = numbers[order], counts[order]
    places = np.searchsorted(values, cuts, side="right" if right else "left")
    rounded = [_shorten(cut, place, values, records, right=right) for cut, place in zip(cuts, places, strict=True)]
    return np.array(rounded, dtype=np.float64)


def _shorten(cut: float, place: int, values: Floats, records: NDArray[np.int64], *, right: bool) -> float:
    if not 0 < place < len(values):
        return float(cut)
    low, high = values[place - 1], values[place]
    for digits in range(1, _DIGITS):
        tried = float(f"{cut:.{digits}g}")
        if (low <= tried < high) if right else (low < tried <= high):
            rare = (low == tried and records[place - 1] < SHARED) or (high == tried and records[place] < SHARED)
            return _between(low, high) if rare and digits > LETTERS else tried
    return float(cut)


def _between(low: float, high: float) -> float:
    """Return the roundest number strictly between two others."""
    cut = float(round_cuts(np.array([low]), np.array([high]))[0])
    return cut if cut < high else float((low + high) / 2)


def outer_ends(low: float, high: float, *, logarithm: bool = False) -> tuple[float, float]:
    """Return round numbers around a range: the first not above its low end, the second above its high end.

    Their distance is at most a tenth of the range; for a ``logarithm`` of positive numbers, a factor of two.

    >>> outer_ends(17.0, 90.0), outer_ends(17.0, 1e6, logarithm=True)
    ((10.0, 95.0), (10.0, 2000000.0))
    """
    before, behind = low / 2, high * 2
    if not logarithm:
        margin = (high - low) / 10 or max(abs(high), 1.0) / 10
        if low.is_integer() and high.is_integer():
            margin = max(margin, 1.0)  # whole numbers have no end between 0 and 1
        before, behind = low - margin, high + margin
    first, last = (round_cuts(np.array([a]), np.array([b])) for a, b in ((before, low), (high, behind)))
    return float(first[0]), float(last[0])


def round_ends(values: pl.Series) -> list[Any] | None:
    """Round ends before each of sorted distinct numbers, dates or times and after the last; None for other types."""
    import polars as pl

    raw = pl.Series(texts(values), dtype=pl.String)
    if values.dtype.is_numeric():
        return list(number_ends(raw.cast(pl.Float64).to_numpy()))
    if values.dtype == pl.Date or values.dtype == pl.Datetime:
        return list(day_ends(raw.to_list())) if len(raw) else []
    if values.dtype == pl.Time:
        return list(time_ends(raw.to_list())) if len(raw) else []
    return None


def number_ends(numbers: Floats) -> list[float]:
    """Round ends around sorted distinct numbers: one before each of them, and one after the last.

    The range from the end before one number to the end after another contains exactly the numbers between them.

    >>> number_ends(np.array([17.0, 43.0, 90.0, np.inf]))
    [10.0, 40.0, 50.0, 95.0, inf]
    """
    finite = numbers[np.isfinite(numbers)]
    ends = [0.0]
    if len(finite):
        first, last = outer_ends(float(finite[0]), float(finite[-1]))
        ends = [first, *round_cuts(finite[:-1], finite[1:]).tolist(), last]
    return [-math.inf] * int(-np.inf in numbers) + ends + [math.inf] * int(np.inf in numbers)


def day_ends(days: Sequence[str]) -> list[str]:
    """Round ends around sorted distinct ISO dates or times: the beginning of a year, month, day or hour between two.

    >>> day_ends(["2019-11-28", "2020-02-17", "2020-02-29"])
    ['2019-01-01', '2020-01-01', '2020-02-20', '2021-01-01']
    """
    cuts = [_round_day(after, _common_prefix(before, after) + 1) for before, after in itertools.pairwise(days)]
    return [_round_day(days[0], 4), *cuts, f"{int(days[-1][:4]) + 1:04}-01-01"]


def time_ends(times: Sequence[str]) -> list[str]:
    """Round ends around sorted distinct times of day: the beginning of an hour, minute or second between two.

    >>> time_ends(["08:41:10", "11:21:23", "11:24:59", "23:26:43"])
    ['08:00:00', '10:00:00', '11:24:00', '20:00:00', '24:00:00']
    """
    cuts = [_round_time(after, _common_prefix(before, after) + 1) for before, after in itertools.pairwise(times)]
    return [_round_time(times[0], 2), *cuts, f"{int(times[-1][:2]) + 1:02}:00:00"]


def _round_time(text: str, size: int) -> str:
    """Return the first time of day that begins with the first characters of a text."""
    return text[:size] + re.sub(r"\d", "0", text[size:])


def _round_day(text: str, size: int) -> str:
    """Return the first day, or time of a day, that begins with the first characters of an ISO text."""
    padded = _round_time(text, size)
    month, day = (padded[i : i + 2].replace("00", "01") for i in (5, 8))
    return f"{padded[:4]}-{month}-{day}" + (padded[10:] if size > 10 else "")


def coarse_breaks(breaks: Floats) -> Floats:
    """Round increasing breaks by at most a tenth of the distance to their neighbours, the outer ones outwards.

    >>> coarse_breaks(np.array([1023.17, 1710.4, 9811.05])).tolist()
    [1000.0, 1700.0, 10000.0]
    """
    if len(breaks) < 2:
        return breaks
    first, last = outer_ends(float(breaks[0]), float(breaks[-1]))
    room = np.minimum(np.diff(breaks)[:-1], np.diff(breaks)[1:]) / 10
    return np.array([first, *round_cuts(breaks[1:-1] - room, breaks[1:-1] + room), last])


def word_cuts(words: Sequence[str], shared: NDArray[np.bool_]) -> list[str | None]:
    """Return the possible beginnings of groups of sorted words: a text between each word and its predecessor, or None.

    >>> word_cuts(["Anna", "Anselm", "Berta", "Bo", "Bob"], np.array([False] * 5))
    ['A', 'Ans', 'B', 'Be…', None]
    """
    limit = _common_prefix(words[0], words[-1]) + LETTERS if words else 0
    cuts = [words[0] if shared[0] else _prefix(words[0], 1) or ("0" if words[0] > "0" else None)] if words else []
    for place in range(1, len(words)):
        before, after = words[place - 1], words[place]
        size = _common_prefix(before, after) + 1
        cut = after if shared[place] else None
        if cut is None and size <= limit and size <= len(before):
            cut = _prefix(after, size) or (f"{before[:size]}{AFTER}" if len(before) > size else None)
            cut = cut if cut is not None and before < cut <= after else None
        cuts.append(cut)
    return cuts


def last_end(word: str, shared: bool) -> str | None:
    """Return a text that sorts after every word of the last group, or None."""
    end = word if shared else f"{word[:1]}{AFTER}" if len(word) > 1 else AFTER
    return end if word <= end else None


def word_ends(words: Sequence[str], shared: NDArray[np.bool_]) -> list[str | None]:
    """Return the possible beginnings of groups of sorted words, and the end of the last group."""
    return [*word_cuts(words, shared), last_end(words[-1], bool(shared[-1]))] if words else [None]


def _common_prefix(word: str, other: str) -> int:
    """Return the length of the common prefix of two words."""
    shorter = min(len(word), len(other))
    return next((place for place in range(shorter) if word[place] != other[place]), shorter)


def _prefix(word: str, size: int) -> str | None:
    """Return a proper prefix of a text without blanks at its ends, or None."""
    return word[:size] if size < len(word) and word[:size].strip() == word[:size] else None
