"""Purpose of a file: columns that analysts must keep, and undecided columns that a user decides in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from celosia.data.schema import NAMING, Kind, Role
from celosia.errors import ParameterError, UnknownName
from celosia.proposals.suggestion import ColumnSuggestion

Undecided = Literal["leave-out", "sensitive", "insensitive", "quasi"]
DECIDED = "decided by the user, with {number} undecided columns"


@dataclass(frozen=True)
class UndecidedGroup:
    """Undecided columns that can be decided together."""

    title: str
    columns: tuple[str, ...]


def keep_columns(suggestions: Sequence[ColumnSuggestion], keep: Sequence[str]) -> list[ColumnSuggestion]:
    """Return the suggestions with the columns that analysts must keep in the release.

    An undecided column keeps its likeliest role, that of a quasi-identifier if its meaning is unknown.

    >>> import polars as pl
    >>> from celosia.proposals import suggest
    >>> found = suggest(pl.DataFrame({"age": range(30, 80), "x": [a % 7 for a in range(30, 80)]}))
    >>> [s.left_out for s in keep_columns(found, ["x"])]
    [False, False]
    """
    by_name = {s.name: s for s in suggestions}
    for name in keep:
        if name not in by_name:
            raise UnknownName.of("column", name, list(by_name))
        s = by_name[name]
        if s.role in NAMING:
            raise ParameterError(
                f"keep: {name!r} is taken as {s.role} ({s.reason}), which a release leaves out. Keep another column, or"
                " give it another role in the policy if that is wrong."
            )
    return [
        replace(s, left_out=False, reason=f"{s.reason}; analysts must keep it") if s.name in keep and s.left_out else s
        for s in suggestions
    ]


def undecided_groups(suggestions: Sequence[ColumnSuggestion]) -> list[UndecidedGroup]:
    """Return the undecided columns in groups of one kind, the largest first.

    Functions of other columns and free text are not among them: they are left out for a reason that no role removes.
    """
    titles: dict[str, list[str]] = {}
    for s in suggestions:
        if s.left_out and not s.derived_from and s.kind != Kind.TEXT:
            titles.setdefault(_title(s), []).append(s.name)
    groups = [UndecidedGroup(title, tuple(names)) for title, names in titles.items()]
    return sorted(groups, key=lambda group: -len(group.columns))


def _title(s: ColumnSuggestion) -> str:
    """Return what the columns of a group have in common."""
    if s.kind == Kind.DATE:
        return "dates"
    if s.role in (Role.SENSITIVE, Role.INSENSITIVE):
        return "columns with hardly any frequent value"
    if s.meaning is not None:
        return f"further quasi-identifiers ({s.meaning})"
    return "numbers of unknown meaning" if s.kind == Kind.NUMERIC else "categories of unknown meaning"


def decide(
    suggestions: Sequence[ColumnSuggestion], columns: Sequence[str], decision: Undecided
) -> list[ColumnSuggestion]:
    """Return the suggestions with some undecided columns decided."""
    if decision == "leave-out":
        return list(suggestions)
    role, reason = Role(decision), DECIDED.format(number=len(columns))
    return [
        replace(s, role=role, left_out=False, reason=reason, if_wrong="") if s.name in columns and s.left_out else s
        for s in suggestions
    ]
