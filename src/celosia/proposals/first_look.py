"""A first look at data that nobody has described: how to read it, what its columns may be, what was noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.errors import DataError
from celosia.proposals.columns import ColumnSuggestion, suggest
from celosia.proposals.content import sample_size
from celosia.table import Table, read


@dataclass(frozen=True)
class FirstLook:
    """What a suggested policy is made of."""

    suggestions: list[ColumnSuggestion]
    options: dict[str, Any]
    """Options of the reader, those that were found too."""
    notes: list[str]
    """What the reader did to the cells, and how much of the table was looked at."""


def first_look(source: str, options: Mapping[str, Any] | None = None) -> FirstLook:
    """Read a file or the result of a query, and suggest what its columns are; dates are read as dates."""
    given = dict(options or {})
    table = read(source, **given)
    suggestions = suggest(table)
    dates = _dates(source, table, suggestions, given)
    if dates:
        given["dates"] = dates
        table = read(source, **given)
        suggestions = suggest(table)
    return FirstLook(suggestions, given, _notes(table, dates))


def _dates(
    source: str, table: Table, suggestions: Sequence[ColumnSuggestion], options: dict[str, Any]
) -> dict[str, str]:
    """The notations of text columns that hold nothing but dates, for a reader that takes them."""
    if table.facts is None or table.facts.type != "csv":
        return {}
    types = table.polars_types()
    found = {s.name: s.date_format for s in suggestions if s.date_format and str(types[s.name]) == "String"}
    found = {name: notation for name, notation in found.items() if notation not in ("%Y-%m", "%Y-%m-%d")}

    def readable(dates: dict[str, str]) -> bool:
        try:
            read(source, **options, dates=dates)
        except DataError:  # some cell is no date
            return False
        return True

    if not found or readable(found):
        return found
    return {name: notation for name, notation in found.items() if readable({name: notation})}


def _notes(table: Table, dates: dict[str, str]) -> list[str]:
    """What the reader did to the cells, and how much of the table was looked at."""
    notes = [f"{name}: read as dates, written {notation}" for name, notation in dates.items()]
    rows, columns = len(table), len(table.names)
    if table.facts is not None:
        notes += [
            f"{name}: read as numbers, written with {thousands!r} for thousands and {mark!r} for decimals"
            for name, (thousands, mark) in table.facts.grouping.items()
        ]
        notes += [
            f"{name}: read as missing among numbers or dates: {', '.join(mark for mark in marks if mark)}"
            for name, marks in table.facts.marks.items()
        ]
    looked = sample_size(rows, columns)
    if looked < rows:
        notes.append(
            f"suggestions rest on every {-(-rows // looked)}th of {rows} records; distinct values are estimated"
        )
    return notes
