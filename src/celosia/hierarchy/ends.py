"""Names for the ends of groups that are found in data: by rule, so that no label gives a rare value away.

A range whose ends are the extreme values of a group publishes two values that perhaps one person holds. Here an end
is the roundest number, or the shortest beginning of a word, that parts a group from its neighbour. A raw value is
named only when at least :data:`SHARED` records hold it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHARED = 5
"""So many records must hold a value that a label names."""
LETTERS = 3
"""So many letters, beyond those that all values share, may name where a group of words begins."""
AFTER = "…"
"""Sorts after the letters: ``S…`` is the end of all that begins with S."""
_DIGITS = 12


def tidy(value: float) -> float:
    """The value without the dust of floating-point sums: 0.1 + 0.2 is 0.3."""
    return float(f"{value:.{_DIGITS}g}")


def round_cuts(before: Floats, after: Floats) -> Floats:
    """For each pair of neighbouring numbers the roundest one above the first and not above the second.

    >>> round_cuts(np.array([17.0, 1023.17, 3.0]), np.array([35.0, 1023.22, 4.0])).tolist()
    [20.0, 1023.2, 4.0]
    """
    cuts = np.full(len(before), np.nan)
    largest = np.maximum(np.abs(before), np.abs(after)).max(initial=0.0)
    power = math.ceil(math.log10(largest)) if largest > 0 else 0
    for exponent in range(power, power - _DIGITS, -1):
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


def _multiple(rounding: Any, numbers: Floats, digit: float, exponent: int) -> Floats:
    """The multiple of ``digit`` times a power of ten near each number."""
    # dividing by a whole power of ten gives the nearest number to the decimal, multiplying by 0.1 does not
    many, few = (10.0**exponent, 1.0) if exponent >= 0 else (1.0, 10.0**-exponent)
    multiples: Floats = rounding(numbers * few / (digit * many)) * (digit * many) / few
    return multiples


def rounded_cuts(cuts: Floats, numbers: Floats, counts: NDArray[np.int64], *, right: bool = False) -> Floats:
    """Each cut with the fewest digits that still part the same numbers; a rare number itself is no cut.

    With ``right`` a number that equals a cut lies below it.

    >>> rounded_cuts(np.array([104382.37]), np.array([104000.0, 104511.0]), np.array([1, 1])).tolist()
    [104400.0]
    """
    order = np.argsort(numbers, kind="stable")
    values, held = numbers[order], counts[order]
    places = np.searchsorted(values, cuts, side="right" if right else "left")
    rounded = [_rounded(cut, place, values, held, right=right) for cut, place in zip(cuts, places, strict=True)]
    return np.array(rounded, dtype=np.float64)


def _rounded(cut: float, place: int, values: Floats, held: NDArray[np.int64], *, right: bool) -> float:
    if not 0 < place < len(values):
        return float(cut)
    low, high = values[place - 1], values[place]
    for digits in range(1, _DIGITS):
        tried = float(f"{cut:.{digits}g}")
        if (low <= tried < high) if right else (low < tried <= high):
            rare = (low == tried and held[place - 1] < SHARED) or (high == tried and held[place] < SHARED)
            return _between(low, high) if rare and digits > LETTERS else tried
    return float(cut)


def _between(low: float, high: float) -> float:
    """The roundest number between two others, neither of them."""
    cut = float(round_cuts(np.array([low]), np.array([high]))[0])
    return cut if cut < high else float((low + high) / 2)


def outer_ends(numbers: Floats) -> tuple[float, float]:
    """Round numbers around all of the given ones: the first not above the smallest, the second above the largest.

    >>> outer_ends(np.array([17.0, 43.0, 90.0]))
    (10.0, 95.0)
    """
    low, high = float(numbers.min()), float(numbers.max())
    margin = (high - low) / 10 or max(abs(high), 1.0) / 10
    first = round_cuts(np.array([low - margin]), np.array([low]))[0]
    last = round_cuts(np.array([high]), np.array([high + margin]))[0]
    return float(first), float(last)


def word_cuts(words: Sequence[str], shared: NDArray[np.bool_]) -> list[str | None]:
    """Where a group may begin among sorted words: the text that parts each from the one before, None where none may.

    >>> word_cuts(["Anna", "Anselm", "Berta", "Bo", "Bob"], np.array([False] * 5))
    ['A', 'Ans', 'B', 'Be…', None]
    """
    limit = _alike(words[0], words[-1]) + LETTERS if words else 0
    cuts = [words[0] if shared[0] else _hint(words[0], 1) or ("0" if words[0] > "0" else None)] if words else []
    for place in range(1, len(words)):
        before, after = words[place - 1], words[place]
        size = _alike(before, after) + 1
        cut = after if shared[place] else None
        if cut is None and size <= limit and size <= len(before):
            cut = _hint(after, size) or (f"{before[:size]}{AFTER}" if len(before) > size else None)
            cut = cut if cut is not None and before < cut <= after else None
        cuts.append(cut)
    return cuts


def last_end(word: str, shared: bool) -> str | None:
    """A text that no word of the last group comes after."""
    end = word if shared else f"{word[:1]}{AFTER}" if len(word) > 1 else AFTER
    return end if word <= end else None


def _alike(word: str, other: str) -> int:
    """How many letters two words share at their beginning."""
    shorter = min(len(word), len(other))
    return next((place for place in range(shorter) if word[place] != other[place]), shorter)


def _hint(word: str, size: int) -> str | None:
    """The beginning of a word, unless that is the word."""
    return word[:size] if size < len(word) and word[:size].strip() == word[:size] else None
