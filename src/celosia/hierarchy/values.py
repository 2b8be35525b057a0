"""Generalised values: ``[30-35)``, ``<30``, ``≥40``, ``30-40``, ``130**``, ``{Divorced, Widowed}``, ``*``.

A cell of a protected table is a set of raw values. `parse` converts the text of a cell to that set, to match raw values
(`covers`), to compare two cells (`overlaps`) and to find the smallest cell around several (`cover`).
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from celosia.hierarchy.cells import (
    ISO_DATE,
    Everything,
    Exact,
    Generalised,
    Interval,
    Mask,
    OneOf,
    Period,
    number,
)

__all__ = ["Everything", "Exact", "Generalised", "Interval", "Mask", "OneOf", "Period", "cover", "number", "parse"]

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_ENDLESS = r"[-+]?(?:∞|inf)"
_BRACKETS = re.compile(r"([\[(])\s*(.+?)\s*([\])])")
_COMMA = re.compile(rf"({_NUMBER}|{_ENDLESS})\s*[,;]\s*({_NUMBER}|{_ENDLESS})")
_DASH = re.compile(rf"({_NUMBER})\s*[-–]\s*({_NUMBER})")
_COMPARE = re.compile(rf"(<=|>=|≤|≥|<|>)\s*({_NUMBER})")
_MEMBER = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*,')
_PERIOD = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(0[1-9]|1[0-2]))|(s))?")


@lru_cache(maxsize=65536)
def parse(text: str, kind: Literal["date"] | None = None) -> Generalised:
    """Parse the text of a cell to a set of raw values.

    A text in no notation is a raw value: ``<=50K`` is a category, not a range. With ``kind="date"`` four digits are a
    year.

    >>> [type(parse(t)).__name__ for t in ("*", "<30", "130**", "{a, b}", "5th-6th", "<=50K", "2018-05")]
    ['Everything', 'Interval', 'Mask', 'OneOf', 'Exact', 'Exact', 'Period']
    >>> parse("(50,∞)") == parse(">50")
    True
    """
    stripped = text.strip()
    if stripped and not stripped.strip("*"):
        return Everything()
    period = _period(stripped, plain_year=kind == "date")
    if period is not None:
        return period
    interval = _interval(stripped)
    if interval is not None:
        return interval
    if len(stripped) > 2 and stripped[0] == "{" and stripped[-1] == "}":
        return OneOf(_members(stripped[1:-1]))
    if "*" in stripped and re.fullmatch(r"[^*]+\*+|\*+[^*]+", stripped):
        return Mask(stripped)
    return Exact(text)


def cover(cells: Iterable[Generalised | str]) -> Generalised:
    """Find the smallest cell that contains all of the given ones.

    It is a range for numbers and ranges, a mask for masks of equal length, a textual range of days for periods, and the
    set of all members otherwise.

    >>> str(cover(["22", "[30-35)"])), str(cover(["13053", "1306*"])), str(cover(["Divorced", "Widowed"]))
    ('[22-35)', '130**', '{Divorced, Widowed}')
    >>> str(cover(["5", "5"])), str(cover(["5", "*"]))
    ('5', '*')
    """
    parts = [parse(cell) if isinstance(cell, str) else cell for cell in cells]
    distinct = list(dict.fromkeys(parts))
    if not distinct:
        raise ValueError("cover: nothing to cover.")
    if len(distinct) == 1:
        return distinct[0]
    if any(isinstance(part, Everything) for part in distinct):
        return Everything()
    if any(isinstance(part, Mask) for part in distinct):
        return _mask(distinct)
    if any(isinstance(part, Period) for part in distinct):
        return _days(distinct)
    ranges = [_as_range(part) for part in distinct]
    numeric = [r for r in ranges if r is not None]
    if len(numeric) == len(distinct):
        return _hull(numeric)
    members: list[str] = []
    for part in distinct:
        if isinstance(part, OneOf):
            members.extend(part.members)
        elif isinstance(part, Exact):
            members.append(part.text)
        else:
            return Everything()
    return OneOf(tuple(dict.fromkeys(members)))


def _members(text: str) -> tuple[str, ...]:
    """Return the members of a set; a quoted text is one member."""
    members = _MEMBER.finditer(f"{text},")
    return tuple(each[2] if each[1] is None else each[1].replace('""', '"') for each in members)


def _end(text: str) -> float:
    return float(text.replace("∞", "inf"))


def _interval(text: str) -> Interval | None:
    compare = _COMPARE.fullmatch(text)
    if compare:
        sign, value = compare[1], float(compare[2])
        closed = sign in ("<=", ">=", "≤", "≥")
        if sign[0] in "<≤":
            return Interval(-math.inf, value, False, closed)
        return Interval(value, math.inf, closed, False)
    brackets = _BRACKETS.fullmatch(text)
    inside = brackets[2] if brackets else text
    low_closed, high_closed = (brackets[1] == "[", brackets[3] == "]") if brackets else (True, True)
    if brackets and " .. " in inside:
        low, high = inside.split(" .. ", 1)
        return Interval(low, high, low_closed, high_closed) if low <= high else None
    match = (_COMMA.fullmatch(inside) if brackets else None) or _DASH.fullmatch(inside)
    if match is None:
        return None
    start, stop = _end(match[1]), _end(match[2])
    if start > stop:
        return None
    return Interval(start, stop, low_closed and start != -math.inf, high_closed and stop != math.inf)


def _period(text: str, plain_year: bool) -> Period | None:
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    year, quarter, month, decade = int(match[1]), match[2], match[3], match[4]
    if year == 0:  # not a year of the calendar
        return None
    if decade:
        return Period(text, f"{year:04}-01-01", f"{year + 9:04}-12-31") if year % 10 == 0 else None
    if quarter:
        start = 3 * int(quarter) - 2
        return Period(text, f"{year:04}-{start:02}-01", _month_end(year, start + 2))
    if month:
        return Period(text, f"{year:04}-{month}-01", _month_end(year, int(month)))
    return Period(text, f"{year:04}-01-01", f"{year:04}-12-31") if plain_year else None


def _month_end(year: int, month: int) -> str:
    return f"{year:04}-{month:02}-{calendar.monthrange(year, month)[1]:02}"


def _mask(parts: list[Generalised]) -> Generalised:
    patterns = [p.pattern if isinstance(p, Mask) else str(p) for p in parts if isinstance(p, Mask | Exact)]
    if len(patterns) < len(parts) or len({len(p) for p in patterns}) > 1:
        return Everything()
    kept = 0
    while kept < len(patterns[0]) and len({p[kept] for p in patterns}) == 1 and patterns[0][kept] != "*":
        kept += 1
    return Mask(patterns[0][:kept] + "*" * (len(patterns[0]) - kept)) if kept else Everything()


def _days(parts: list[Generalised]) -> Generalised:
    ends: list[tuple[str, str]] = []
    for part in parts:
        if isinstance(part, Period):
            ends.append((part.first, part.last))
        elif isinstance(part, Exact) and ISO_DATE.match(part.text):
            ends.append((part.text[:10], part.text[:10]))
        else:
            return Everything()
    return Interval(min(first for first, _ in ends), max(last for _, last in ends))


def _as_range(part: Generalised) -> Interval | None:
    if isinstance(part, Interval):
        return part
    if isinstance(part, Exact):
        value = number(part.text)
        return None if value is None else Interval(value, value)
    return None


def _hull(ranges: list[Interval]) -> Generalised:
    if len({r.textual for r in ranges}) > 1:
        return Everything()
    low = min(ranges, key=lambda r: (r.low, not r.low_closed))
    high = max(ranges, key=lambda r: (r.high, r.high_closed))
    return Interval(low.low, high.high, low.low_closed, high.high_closed)
