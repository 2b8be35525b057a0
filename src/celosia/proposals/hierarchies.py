"""Which hierarchy suits a column: by what it means and by what its cells are. Three or four levels, no more."""

from __future__ import annotations

import math
import re
from typing import Any

from celosia.data.schema import Kind
from celosia.proposals.content import Content
from celosia.proposals.meanings import Meaning
from celosia.proposals.recognition.notation import ambiguous_days

#: What may stand in a column besides its numbers or dates becomes a star on every level.
FALLBACK = {"fallback": "*"}
#: Which field of a hierarchy lists its levels, finest first.
LEVELS = {"dates": "units", "prefixes": "masked", "priority": "keep"}


def hierarchy_for(content: Content, kind: Kind, meaning: Meaning | None) -> tuple[dict[str, Any], str]:
    """Return a hierarchy as ``{use = …}`` and the reason for it.

    >>> from celosia.proposals.vocabulary import meaning_of
    >>> column = Content("age", 9, 0, 9, 1.0, 1.0, Kind.NUMERIC, ("34",), low=18, high=80)
    >>> hierarchy_for(column, Kind.NUMERIC, meaning_of("age"))[0]
    {'use': 'intervals', 'width': 5, 'count': 3, 'fallback': '*'}
    """
    what = meaning.what if meaning else ""
    if kind == Kind.DATE:
        return _dates(content, what)
    if kind == Kind.NUMERIC:
        return _intervals(content, what)
    if kind == Kind.ORDINAL and content.scale:
        order = _as_written(content)
        rest = {} if set(content.values) <= set(order) else FALLBACK
        levels = {"use": "order", "order": order, "count": min(2, len(order) - 1), **rest}
        return levels, "neighbours on the scale are merged"
    if what == "postcode" or _codes(content):
        return {
            "use": "prefixes",
            "masked": _hidden_characters(content),
        }, "the end of the code is hidden, then all but its beginning"
    if content.distinct <= 3:
        return {"use": "priority", "keep": []}, "few values: each stays, or all are hidden"
    keep = [content.distinct // 2] if content.distinct <= 12 else [10, 3] if content.distinct <= 30 else [25, 8]
    kept = " or ".join(map(str, keep))
    return {
        "use": "priority",
        "keep": keep,
    }, f"the {kept} commonest values stay; a tree by meaning is better if you have one"


def nodes_of(hierarchy: dict[str, Any]) -> int:
    """Return how many levels a column has with a hierarchy: the value itself, those between, and the star.

    >>> nodes_of({"use": "intervals", "width": 5, "count": 3}), nodes_of({"use": "priority", "keep": []})
    (5, 2)
    """
    listed = LEVELS.get(hierarchy["use"])
    return 2 + (len(hierarchy[listed]) if listed else int(hierarchy["count"]))


def can_be_thinner(hierarchy: dict[str, Any]) -> bool:
    """Return whether a level can be taken from a hierarchy that has one left.

    >>> can_be_thinner({"use": "intervals", "width": 5, "count": 1}), can_be_thinner({"use": "priority", "keep": [3]})
    (False, True)
    """
    listed = LEVELS.get(hierarchy["use"])
    if listed:
        return len(hierarchy[listed]) > (0 if listed == "keep" else 1)
    return bool(hierarchy["count"] > 1)


def thinner(hierarchy: dict[str, Any]) -> dict[str, Any]:
    """Return the hierarchy without its finest level.

    >>> thinner({"use": "intervals", "width": 5, "count": 3})
    {'use': 'intervals', 'width': 10, 'count': 2}
    """
    listed = LEVELS.get(hierarchy["use"])
    if listed:
        return hierarchy | {listed: hierarchy[listed][1:]}
    fewer = hierarchy | {"count": hierarchy["count"] - 1}
    if "width" in hierarchy:
        return fewer | {"width": 2 * hierarchy["width"]}
    return fewer | ({"quantiles": hierarchy["quantiles"] // 2} if "quantiles" in hierarchy else {})


def nice_width(spread: float, cells: int = 20) -> float:
    """Return a width of 1, 2 or 5 times a power of ten that cuts a spread into about that many ranges.

    >>> nice_width(73), nice_width(0.4), nice_width(98000)
    (5, 0.02, 5000)
    """
    if spread <= 0 or not math.isfinite(spread):
        return 1
    raw = spread / cells
    base = 10.0 ** math.floor(math.log10(raw))
    width = min((m * base for m in (1, 2, 5, 10)), key=lambda w: abs(math.log(w / raw)))
    return round(width) if width >= 1 else float(f"{width:.6g}")


def _intervals(content: Content, what: str) -> tuple[dict[str, Any], str]:
    """Return ranges of numbers."""
    if what in ("age", "birth year"):
        return {"use": "intervals", "width": 5, "count": 3, **FALLBACK}, f"{what}s in 5, 10 and 20 years"
    if content.skewed:
        return {
            "use": "intervals",
            "quantiles": 8,
            "count": 2,
            **FALLBACK,
        }, "skewed: eight, then four ranges of equal frequency"
    width = nice_width((content.high or 0.0) - (content.low or 0.0), cells=12)
    if content.whole:
        width = max(width, 2)  # ranges of one whole number would be the numbers themselves
    return {
        "use": "intervals",
        "width": width,
        "count": 2,
        **FALLBACK,
    }, "ranges of equal width, then of twice the width"


def _dates(content: Content, what: str) -> tuple[dict[str, Any], str]:
    """Return calendar units, with the notation when it is not ISO."""
    units = ["year", "decade"] if what == "birth date" else ["month", "year"]
    if content.date_format == "%Y-%m":
        return {"use": "prefixes", "masked": [3]}, "months are hidden first"
    hierarchy: dict[str, Any] = {"use": "dates", "units": units}
    reason = f"{units[0]}, then {units[1]}"
    if content.date_format not in (None, "%Y-%m-%d"):
        hierarchy["formats"] = [content.date_format]
        doubtful = str(content.date_format)[:5] in ("%d/%m", "%m/%d", "%d-%m", "%m-%d", "%d.%m")
        if doubtful and ambiguous_days(content.values):
            reason += "; day and month could be the other way round: check the notation"
    return hierarchy | (FALLBACK if content.text else {}), reason


def _codes(content: Content) -> bool:
    """Return whether the values are codes of one length with digits in them."""
    digits = all(any(c.isdigit() for c in value) for value in content.values)
    return content.code_length >= 4 and digits and content.distinct > 12


def _hidden_characters(content: Content) -> list[int]:
    """Return how many characters each level hides: to the mark inside the code where there is one."""
    value = content.values[0]
    inner = re.search(r"[ -]", value)
    length = max(len(value), 2)
    if inner:
        tail = length - inner.start()
        return [tail, tail + max(1, (length - tail) // 2)]
    return sorted({max(1, round(length * 0.4)), max(1, round(length * 0.6))})


def _as_written(content: Content) -> list[str]:
    """Return the scale with the capitals that the column uses."""
    written = {value.strip().lower(): value for value in reversed(content.values)}
    return [written[word] for word in content.scale]
