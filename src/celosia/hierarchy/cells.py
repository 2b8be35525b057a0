"""Types of a generalised cell: everything, one value, a range, a mask, a set of values, a period."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from celosia.hierarchy.text import member, plain

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
Bound: TypeAlias = float | str
"""An end of an interval: a number, or a text compared by its characters (ISO dates sort that way)."""


@dataclass(frozen=True)
class Everything:
    """Any value: ``*``, as in a suppressed cell, and longer runs of stars.

    >>> Everything().covers("13053"), str(Everything())
    (True, '*')
    """

    def covers(self, raw: object) -> bool:  # noqa: ARG002
        """Return True, also for a missing value."""
        return True

    def overlaps(self, other: Generalised) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    @property
    def width(self) -> float:
        """Length of the range: infinite."""
        return math.inf

    @property
    def size(self) -> float:
        """Number of values: infinite."""
        return math.inf

    def __str__(self) -> str:
        return "*"


@dataclass(frozen=True)
class Exact:
    """One raw value.

    >>> Exact("30").covers(30.0), Exact("Writer").covers("Dancer")
    (True, False)
    """

    text: str

    def covers(self, raw: object) -> bool:
        """Return whether the raw value is this one; numbers are compared as numbers."""
        other = plain(raw)
        if other is None:
            return False
        if other == self.text:
            return True
        mine, theirs = number(self.text), number(other)
        return mine is not None and mine == theirs

    def overlaps(self, other: Generalised) -> bool:
        """Return whether the other cell covers this value."""
        return self.covers(other.text) if isinstance(other, Exact) else other.covers(self.text)

    @property
    def width(self) -> float:
        """Length of the range: 0."""
        return 0.0

    @property
    def size(self) -> float:
        """Number of values: 1."""
        return 1.0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Interval:
    """Range of numbers or of texts; each end is open, closed or infinite.

    >>> cell = Interval(30.0, 35.0, high_closed=False)
    >>> str(cell), cell.covers(30), cell.covers(35), cell.width
    ('[30-35)', True, False, 5.0)
    >>> str(Interval(40.0, math.inf, high_closed=False))
    '≥40'
    """

    low: Bound
    high: Bound
    low_closed: bool = True
    high_closed: bool = True

    def covers(self, raw: object) -> bool:
        """Return whether the raw value is between the ends; times belong to their day if the ends are days."""
        text = plain(raw)
        if text is None:
            return False
        if self.of_days and ISO_DATE.match(text):
            text = text[:10]
        value: Bound | None = text if self.textual else number(text)
        if value is None:
            return False
        return self._above(value) and self._below(value)

    @property
    def textual(self) -> bool:
        """Whether the ends are texts rather than numbers."""
        return isinstance(self.low, str) or isinstance(self.high, str)

    @property
    def of_days(self) -> bool:
        """Whether the ends are dates."""
        return all(isinstance(end, str) and _DAY.fullmatch(end) for end in (self.low, self.high))

    def _above(self, value: Bound) -> bool:
        if self.low == -math.inf:
            return True
        return _less(self.low, value) or (self.low_closed and self.low == value)

    def _below(self, value: Bound) -> bool:
        if self.high == math.inf:
            return True
        return _less(value, self.high) or (self.high_closed and self.high == value)

    def overlaps(self, other: Generalised) -> bool:
        """Return whether both cells have a value in common."""
        if isinstance(other, Interval):
            if self.textual != other.textual:
                return False
            return _meets(self, other) and _meets(other, self)
        if isinstance(other, Mask):
            return other.overlaps(self)
        if isinstance(other, OneOf):
            return any(self.covers(member) for member in other.members)
        return other.overlaps(self)

    @property
    def width(self) -> float:
        """Length of the range; infinite if an end is infinite or the ends are texts."""
        if isinstance(self.low, str) or isinstance(self.high, str):
            return math.inf
        return self.high - self.low

    @property
    def size(self) -> float:
        """Number of whole numbers in it (of days, between ISO dates); infinite if an end is infinite.

        >>> Interval(35.0, 40.0, high_closed=False).size, Interval("2021-06-01", "2021-06-30").size
        (5.0, 30.0)
        """
        if isinstance(self.low, str) or isinstance(self.high, str):
            ends = [str(end) for end in (self.low, self.high)]
            if not all(ISO_DATE.match(end) for end in ends):
                return math.inf
            try:
                low, high = (float(date.fromisoformat(end[:10]).toordinal()) for end in ends)
            except ValueError:  # such as 30 February
                return math.inf
        else:
            low, high = self.low, self.high
        if not math.isfinite(high - low):
            return math.inf
        first = math.floor(low) + 1 if not self.low_closed else math.ceil(low)
        last = math.ceil(high) - 1 if not self.high_closed else math.floor(high)
        return float(max(last - first + 1, 0))

    def __str__(self) -> str:
        if self.low == -math.inf and self.high == math.inf:
            return "*"
        if self.low == -math.inf:
            return f"{'≤' if self.high_closed else '<'}{_bound(self.high)}"
        if self.high == math.inf:
            return f"{'≥' if self.low_closed else '>'}{_bound(self.low)}"
        ends = f"{'[' if self.low_closed else '('}%s{']' if self.high_closed else ')'}"
        if self.textual:
            return ends % f"{self.low} .. {self.high}"
        # a minus sign before a bound would be parsed as the dash between the bounds
        dash = ", " if (isinstance(self.low, float) and self.low < 0) or self.low_closed == self.high_closed else "-"
        return ends % f"{_bound(self.low)}{dash}{_bound(self.high)}"


@dataclass(frozen=True)
class Mask:
    """Text with hidden characters: ``130**`` is every text of five characters that begins with 130.

    >>> Mask("1485*").covers("14853"), Mask("1485*").covers("13053"), Mask("97***").covers("970")
    (True, False, False)
    """

    pattern: str

    def covers(self, raw: object) -> bool:
        """Return whether the raw value has the same length and the same characters where none is hidden."""
        text = plain(raw)
        if text is None or len(text) != len(self.pattern):
            return False
        return all(p in ("*", c) for p, c in zip(self.pattern, text, strict=True))

    def overlaps(self, other: Generalised) -> bool:
        """Return whether both cells have a text in common."""
        if isinstance(other, Mask):
            return len(self.pattern) == len(other.pattern) and all(
                "*" in (a, b) or a == b for a, b in zip(self.pattern, other.pattern, strict=True)
            )
        if isinstance(other, Interval):
            if other.textual or not re.fullmatch(r"\d+\**", self.pattern):
                return True  # possible, in general
            low, high = float(self.pattern.replace("*", "0")), float(self.pattern.replace("*", "9"))
            return other.overlaps(Interval(low, high))
        if isinstance(other, Period):
            return self.covers(other.text) or self._hides_a_day_of(other)
        return other.overlaps(self) if isinstance(other, OneOf | Everything) else self.covers(other.text)

    def _hides_a_day_of(self, period: Period) -> bool:
        """Return whether a date with hidden characters can be a day of a period."""
        if len(self.pattern) < len(period.first):
            return False
        day = self.pattern[: len(period.first)]
        return Interval(period.first, period.last).overlaps(Interval(day.replace("*", "0"), day.replace("*", "9")))

    @property
    def width(self) -> float:
        """Number of texts minus one."""
        return self.size - 1

    @property
    def size(self) -> float:
        """Number of texts if the hidden characters are digits."""
        return float(10 ** self.pattern.count("*"))

    def __str__(self) -> str:
        return self.pattern


@dataclass(frozen=True)
class OneOf:
    """Set of values, in the order of the text; a value with a comma is in quotes.

    >>> OneOf(("Divorced", "Widowed")).covers("Widowed"), str(OneOf(("b", "a"))), str(OneOf(("Clerks, junior", "c")))
    (True, '{b, a}', '{"Clerks, junior", c}')
    """

    members: tuple[str, ...]

    def covers(self, raw: object) -> bool:
        """Return whether the raw value is a member."""
        return any(Exact(member).covers(raw) for member in self.members)

    def overlaps(self, other: Generalised) -> bool:
        """Return whether the other cell covers a member."""
        if isinstance(other, OneOf):
            return any(self.covers(member) for member in other.members)
        return any(other.covers(member) for member in self.members)

    @property
    def width(self) -> float:
        """Number of members minus one."""
        return self.size - 1

    @property
    def size(self) -> float:
        """Number of members."""
        return float(len(self.members))

    def __str__(self) -> str:
        return "{" + ", ".join(map(member, self.members)) + "}"


@dataclass(frozen=True)
class Period:
    """Period of the calendar: ``2018-05``, ``2018-Q2``, ``2018`` (as a date), ``2010s``.

    >>> spring = Period("2018-Q2", "2018-04-01", "2018-06-30")
    >>> spring.covers("2018-05-03"), spring.covers(date(2021, 1, 1))
    (True, False)
    """

    text: str
    first: str
    last: str

    def covers(self, raw: object) -> bool:
        """Return whether the raw value is a date in the period, or the text of the period."""
        text = plain(raw)
        if text is None:
            return False
        return text == self.text or (ISO_DATE.match(text) is not None and self.first <= text[:10] <= self.last)

    def overlaps(self, other: Generalised) -> bool:
        """Return whether both cells have a day in common."""
        if isinstance(other, Period):
            return self.first <= other.last and other.first <= self.last
        if isinstance(other, Exact):
            return self.covers(other.text)
        if isinstance(other, Interval):
            return other.overlaps(Interval(self.first, self.last)) if other.textual else False
        return other.overlaps(self)

    @property
    def width(self) -> float:
        """Number of days from the first to the last."""
        return self.size - 1

    @property
    def size(self) -> float:
        """Number of days."""
        return float((date.fromisoformat(self.last) - date.fromisoformat(self.first)).days + 1)

    def __str__(self) -> str:
        return self.text


Generalised: TypeAlias = Everything | Exact | Interval | Mask | OneOf | Period


def number(text: str) -> float | None:
    """Parse a text as a number; None for other texts and NaN.

    >>> number("30"), number("x"), number("nan"), number("12_3")
    (30.0, None, None, None)
    """
    if "_" in text:  # grouped digits in Python, but a code in data
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _less(a: Bound, b: Bound) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return str(a) < str(b)
    return a < b


def _meets(a: Interval, b: Interval) -> bool:
    """Return whether ``a`` begins before ``b`` ends."""
    if a.low == -math.inf or b.high == math.inf:
        return True
    return _less(a.low, b.high) or (a.low == b.high and a.low_closed and b.high_closed)


def _bound(value: Bound) -> str:
    return str(plain(value))
