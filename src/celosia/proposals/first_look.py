"""A first look at data without a schema: how to read it, what its columns may be, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.errors import DataError
from celosia.proposals.code_book import CodeBook
from celosia.proposals.columns import Suggestions, as_dates, open_source, suggest
from celosia.proposals.content import sample_size
from celosia.proposals.suggestion import ColumnSuggestion
from celosia.table import Table, read
from celosia.table.columns import column_types


@dataclass(frozen=True)
class FirstLook:
    """Content of a suggested policy."""

    suggestions: list[ColumnSuggestion]
    options: dict[str, Any]
    """Options of the reader, those that were found too."""
    notes: list[str]
    """What the reader did to the cells, and how much of the table was looked at."""


def first_look(source: str, options: Mapping[str, Any] | None = None, code_book: CodeBook | None = None) -> FirstLook:
    """Read a file or the result of a query, and suggest what its columns are; dates are read as dates.

    Damaged text is read as Windows text, with an option for it and a note. ``code_book`` describes columns and codes.
    """
    table, used = open_source(source, options or {})
    given = dict(used)
    suggestions = suggest(table, code_book)
    table, dates = _with_dates(source, table, suggestions, given)
    if dates:
        given["dates"] = dates
        suggestions = Suggestions(as_dates(s) if s.name in dates else s for s in suggestions)
    return FirstLook(suggestions, given, _notes(table, dates))


def _with_dates(
    source: str, table: Table, suggestions: Sequence[ColumnSuggestion], options: dict[str, Any]
) -> tuple[Table, dict[str, str]]:
    """Read the text columns that hold nothing but dates as dates, where the reader takes their notation."""
    if table.origin.facts is None or table.origin.facts.type != "csv":
        return table, {}
    types = column_types(table)
    notations = {s.name: s.date_format for s in suggestions if s.date_format and str(types[s.name]) == "String"}
    dates = {name: notation for name, notation in notations.items() if notation not in ("%Y-%m", "%Y-%m-%d")}
    read_so = _read_with(source, options, dates)
    if read_so is None:  # some cell is no date: the columns of such cells stay text
        dates = {name: notation for name, notation in dates.items() if _read_with(source, options, {name: notation})}
        read_so = _read_with(source, options, dates)
    return (read_so, dates) if dates and read_so is not None else (table, {})


def _read_with(source: str, options: dict[str, Any], dates: dict[str, str]) -> Table | None:
    try:
        return read(source, **options, dates=dates)
    except DataError:
        return None


def _notes(table: Table, dates: dict[str, str]) -> list[str]:
    """Return notes on how the reader changed cells, and how much of the table was sampled."""
    notes = [f"{name}: read as dates, written {notation}" for name, notation in dates.items()]
    rows, columns = len(table), len(table.names)
    if table.origin.facts is not None:
        notes += table.origin.facts.notes
        notes += [
            f"{name}: read as numbers, written with {thousands!r} for thousands and {mark!r} for decimals"
            for name, (thousands, mark) in table.origin.facts.grouping.items()
        ]
        notes += [
            f"{name}: read as missing among numbers or dates: {', '.join(mark for mark in marks if mark)}"
            for name, marks in table.origin.facts.marks.items()
        ]
    looked = sample_size(rows, columns)
    if looked < rows:
        notes.append(
            f"suggestions rest on every {-(-rows // looked)}th of {rows} records; distinct values are estimated"
        )
    return notes
