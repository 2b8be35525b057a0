"""Conversion between the forms of the page and hierarchies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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

CONTROLS = {"intervals": "breaks", "prefixes": "masked", "dates": "units"}
"""Parameter of a builder that has its own controls on the page."""
UNITS = ("day", "month", "quarter", "year", "decade")


def read_form(sent: forms.Submitted) -> forms.Parameters:
    """Return the hierarchy of a submitted form; its buttons ``add`` and ``remove`` change the list of entries.

    >>> read_form({"use": "intervals", "breaks": ["30", "50"], "count": "2", "add": "1"})
    {'use': 'intervals', 'breaks': [30, 40, 50], 'count': 2}
    >>> read_form({"use": "prefixes", "masked": ["2", "3"], "remove": "0"})
    {'use': 'prefixes', 'masked': [3]}
    """
    use = str(sent.get("use", ""))
    fields = dict(sent)
    own = CONTROLS.get(use)
    if own is not None:
        given = fields.get(own, [])
        texts = [given] if isinstance(given, str) else list(given)
        entries: list[Any] = [entry for i, entry in enumerate(texts) if entry and str(i) != fields.get("remove")]
        if own != "units":
            entries = _with_added(sorted(_numbers(entries)), whole=use == "prefixes", more="add" in fields)
        fields[own] = ", ".join(map(str, entries))
        if use == "intervals" and entries:  # breaks exclude the other ways to define ranges
            fields |= {"width": "", "bins": "", "quantiles": "", "origin": ""}
    return {"use": use, **forms.read(find("hierarchy", use), fields)}


def initial_entries(values: Values, chosen: Hierarchy) -> list[str]:
    """Return the current entries of the controls: breaks, hidden characters or units of time."""
    own = CONTROLS.get(chosen.name)
    if own is None:
        return []
    if isinstance(chosen, Intervals):
        return [f"{value:g}" for value in breaks_of(values, chosen)]
    entries = [str(value) for value in getattr(chosen, own)]
    if entries or own == "units":
        return entries
    longest = max((len(text) for text in values.texts), default=1)
    return [str(hidden) for hidden in range(1, longest, max(1, getattr(chosen, "step", 1)))]


def remaining_fields(chosen: Hierarchy, columns: Sequence[str]) -> list[forms.Field]:
    """Return the form fields of a builder's parameters that have no control of their own."""
    skipped = {CONTROLS.get(chosen.name), "tree", "rows", "path"}
    spec = {key: value for key, value in chosen.spec().items() if key not in skipped}
    return [field for field in forms.fields(type(chosen), spec, columns) if field.name not in skipped]


def build_forest(values: Values, chosen: Hierarchy) -> Forest:
    """Return the tree of any hierarchy over the values of a column."""
    counts = dict(zip(values.texts, values.counts.tolist(), strict=True))
    if isinstance(chosen, Tree):
        return Forest.of(chosen.tree, counts)
    return Forest.of_levels(chosen.levels(values.texts, values.counts.tolist(), values.name), counts)


def has_tree(chosen: Hierarchy) -> bool:
    """Return whether the hierarchy is edited as a tree: a tree, or a table of levels."""
    return isinstance(chosen, Tree | LevelTable)


def apply_action(before: Forest, sent: forms.Submitted) -> Forest:
    """Return the tree after the action of a form: group, cover, rename, dissolve or move."""
    ticked = sent.get("place", [])
    places = [ticked] if isinstance(ticked, str) else list(ticked)
    name, under = str(sent.get("name", "")), str(sent.get("under", ""))
    match sent.get("do"):
        case "group":
            return before.group(places, name)
        case "cover":
            return before.cover()
        case "rename" | "dissolve" | "move" if not places:
            raise ParameterError("tree: tick at least one value or group first.")
        case "rename":
            return before.rename(_only(places), name)
        case "dissolve":
            return before.dissolve(_only(places))
        case "move":
            return before.move(places, under)
    raise ParameterError("tree: choose an action: group, move, rename, dissolve or cover.")


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


def _with_added(numbers: list[float], *, whole: bool, more: bool) -> list[int | float]:
    """Return the numbers, and one more if ``more``: in the middle of the widest gap, or after the last."""
    if more and whole:
        numbers = [*numbers, (numbers[-1] if numbers else 0) + 1]
    elif more and len(numbers) > 1:
        gaps = [b - a for a, b in itertools.pairwise(numbers)]
        at = gaps.index(max(gaps))
        numbers = [*numbers[: at + 1], (numbers[at] + numbers[at + 1]) / 2, *numbers[at + 1 :]]
    elif more:
        numbers = [*numbers, (numbers[-1] if numbers else 0.0) + 1]
    return [int(value) if float(value).is_integer() else value for value in numbers]
