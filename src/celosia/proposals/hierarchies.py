"""Which hierarchy suits a column: by what it means and by what its cells are."""

from __future__ import annotations

import math
import re
from typing import Any

from celosia.data.schema import Kind
from celosia.proposals.content import Content
from celosia.proposals.meanings import Meaning


def hierarchy_for(content: Content, kind: Kind, meaning: Meaning | None) -> tuple[dict[str, Any], str]:
    """Return a hierarchy as ``{use = …}`` and the reason for it.

    >>> from celosia.proposals.vocabulary import meaning_of
    >>> column = Content("age", 9, 0, 9, 1.0, 1.0, Kind.NUMERIC, ("34",), low=18, high=80)
    >>> hierarchy_for(column, Kind.NUMERIC, meaning_of("age"))[0]
    {'use': 'intervals', 'width': 5, 'count': 3, 'fallback': '*'}
    """
    what = meaning.what if meaning else ""
    if kind == Kind.DATE:
        return _dates(content)
    if kind == Kind.NUMERIC:
        return _intervals(content, what)
    if kind == Kind.ORDINAL and content.scale:
        order = _as_written(content)
        return {"use": "order", "order": order}, "neighbours on the scale are merged"
    if what == "postcode" or _codes(content):
        return {"use": "prefixes"}, "codes of one length: the last characters are hidden one by one"
    if content.distinct <= 3:
        return {"use": "balanced", "count": 1} if content.distinct == 3 else {"use": "balanced"}, "few values"
    return (
        {"use": "balanced"},
        "merged by frequency, for want of an order; a tree by meaning is better if you have one",
    )


def nice_width(spread: float, cells: int = 20) -> float:
    """Return a width of 1, 2 or 5 times a power of ten that cuts a spread into about that many ranges.

    >>> nice_width(73), nice_width(0.4), nice_width(98000)
    (5, 0.02, 5000)
    """
    if spread <= 0:
        return 1
    raw = spread / cells
    base = 10.0 ** math.floor(math.log10(raw))
    width = min((m * base for m in (1, 2, 5, 10)), key=lambda w: abs(math.log(w / raw)))
    return round(width) if width >= 1 else float(f"{width:.6g}")


def _intervals(content: Content, what: str) -> tuple[dict[str, Any], str]:
    """Return ranges of numbers."""
    if what == "age":
        return {"use": "intervals", "width": 5, "count": 3, "fallback": "*"}, "ages in 5, 10 and 20 years"
    if what == "birth year":
        return {"use": "intervals", "width": 5, "count": 3, "fallback": "*"}, "birth years in 5, 10 and 20 years"
    if content.skewed:
        return {"use": "intervals", "quantiles": 16, "count": 4, "fallback": "*"}, "skewed: ranges of equal frequency"
    width = nice_width((content.high or 0.0) - (content.low or 0.0))
    if content.whole:
        width = max(width, 2)  # ranges of one whole number would be the numbers themselves
    return {
        "use": "intervals",
        "width": width,
        "count": 4,
        "fallback": "*",
    }, "ranges of equal width, doubled four times"


def _dates(content: Content) -> tuple[dict[str, Any], str]:
    """Return calendar units, with the notation when it is not ISO."""
    reason = "month, quarter, year, decade"
    if content.date_format in (None, "%Y-%m-%d"):
        return {"use": "dates"}, reason
    if content.date_format == "%Y-%m":
        return {"use": "prefixes", "masked": [3]}, "months are hidden first"
    ambiguous = content.date_format == "%d/%m/%Y" and all(
        int(m.group(1)) <= 12 for v in content.values if (m := re.match(r"(\d{1,2})/", v))
    )
    doubt = "; day and month could be the other way round: check the notation" if ambiguous else ""
    return {"use": "dates", "formats": [content.date_format]}, reason + doubt


def _codes(content: Content) -> bool:
    """Say whether the values are codes of one length with digits in them."""
    lengths = {len(value) for value in content.values}
    digits = sum(any(c.isdigit() for c in value) for value in content.values)
    return len(lengths) == 1 and lengths.pop() >= 3 and digits == len(content.values) and content.distinct > 3


def _as_written(content: Content) -> list[str]:
    """Return the scale with the capitals that the column uses."""
    written = {value.strip().lower(): value for value in content.values}
    return [written[word] for word in content.scale]
