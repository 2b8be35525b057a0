"""What a form of the page says, as the hierarchy that a policy writes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from celosia.errors import ParameterError
from celosia.hierarchy import Hierarchy
from celosia.hierarchy.intervals import Intervals
from celosia.hierarchy.level_table import LevelTable
from celosia.hierarchy.tree import Tree
from celosia.parts import find
from celosia.studio import forms
from celosia.studio.pages.hierarchies.tree import Forest
from celosia.studio.pages.hierarchies.view import Values, breaks_of

BY_HAND = {"intervals": "breaks", "prefixes": "masked", "dates": "units"}
"""The parameter of a builder that has controls of its own on the page."""
UNITS = ("day", "month", "quarter", "year", "decade")


def draft(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The hierarchy that a form describes; buttons of the form may have added or removed an entry of its list.

    >>> draft({"use": "intervals", "breaks": ["30", "50"], "count": "2", "add": "1"})
    {'use': 'intervals', 'breaks': [30, 40, 50], 'count': 2}
    >>> draft({"use": "prefixes", "masked": ["2", "3"], "remove": "0"})
    {'use': 'prefixes', 'masked': [3]}
    """
    use = str(sent.get("use", ""))
    fields = dict(sent)
    own = BY_HAND.get(use)
    if own is not None:
        held = fields.get(own, [])
        listed = [held] if isinstance(held, str) else list(held)
        entries: list[Any] = [entry for i, entry in enumerate(listed) if entry and str(i) != fields.get("remove")]
        if own != "units":
            entries = _grown(sorted(_numbers(entries)), whole=use == "prefixes", more="add" in fields)
        fields[own] = ", ".join(map(str, entries))
        if use == "intervals" and entries:  # breaks that were set by hand stand alone
            fields |= {"width": "", "bins": "", "quantiles": "", "origin": ""}
    return {"use": use, **forms.read(find("hierarchy", use), fields)}


def listed(values: Values, chosen: Hierarchy) -> list[str]:
    """What the controls of their own begin with: breaks, hidden characters, units of time."""
    own = BY_HAND.get(chosen.name)
    if own is None:
        return []
    if isinstance(chosen, Intervals):
        return [f"{value:g}" for value in breaks_of(values, chosen)]
    given = [str(value) for value in getattr(chosen, own)]
    if given or own == "units":
        return given
    longest = max((len(text) for text in values.texts), default=1)
    return [str(hidden) for hidden in range(1, longest, max(1, getattr(chosen, "step", 1)))]


def fields_of(chosen: Hierarchy, columns: Sequence[str]) -> list[forms.Field]:
    """The other parameters of a builder, as the catalogue describes them."""
    skipped = {BY_HAND.get(chosen.name), "tree", "rows", "path"}
    spec = {key: value for key, value in chosen.spec().items() if key not in skipped}
    return [field for field in forms.form(type(chosen), spec, columns) if field.name not in skipped]


def forest(values: Values, chosen: Hierarchy) -> Forest:
    """The tree of a hierarchy, whatever builds it."""
    counts = dict(zip(values.texts, values.counts.tolist(), strict=True))
    if isinstance(chosen, Tree):
        return Forest.of(chosen.tree, counts)
    return Forest.of_levels(chosen.levels(values.texts, values.counts.tolist(), values.name), counts)


def shows_tree(chosen: Hierarchy) -> bool:
    """Whether the values are moved by hand: a tree, or a table of levels."""
    return isinstance(chosen, Tree | LevelTable)


def changed(before: Forest, sent: Mapping[str, Any]) -> Forest:
    """The tree after what the form asks for."""
    held = sent.get("place", [])
    places = [held] if isinstance(held, str) else list(held)
    name, under = str(sent.get("name", "")), str(sent.get("under", ""))
    match sent.get("do"):
        case "group":
            return before.grouped(places, name)
        case "cover":
            return before.covering()
        case "rename" | "dissolve" | "move" if not places:
            raise ParameterError("tree: tick what you mean first.")
        case "rename":
            return before.renamed(_only(places), name)
        case "dissolve":
            return before.dissolved(_only(places))
        case "move":
            return before.moved(places, under)
    raise ParameterError("tree: say what to do: group, move, rename, dissolve or cover.")


def _only(places: Sequence[str]) -> str:
    if len(places) != 1:
        raise ParameterError(f"tree: tick one group for that, not {len(places)}.")
    return places[0]


def _numbers(entries: Sequence[str]) -> list[float]:
    numbers = []
    for entry in entries:
        try:
            numbers.append(float(str(entry).replace(",", ".")))
        except ValueError:
            raise ParameterError("a break must be a number.") from None
    return list(dict.fromkeys(numbers))


def _grown(numbers: list[float], *, whole: bool, more: bool) -> list[int | float]:
    """The numbers, whole ones without a point, and with ``more`` one further: in the widest gap, or behind the last."""
    if more and whole:
        numbers = [*numbers, (numbers[-1] if numbers else 0) + 1]
    elif more and len(numbers) > 1:
        gaps = [b - a for a, b in itertools.pairwise(numbers)]
        at = gaps.index(max(gaps))
        numbers = [*numbers[: at + 1], (numbers[at] + numbers[at + 1]) / 2, *numbers[at + 1 :]]
    elif more:
        numbers = [*numbers, (numbers[-1] if numbers else 0.0) + 1]
    return [int(value) if float(value).is_integer() else value for value in numbers]
