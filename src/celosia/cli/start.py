"""``celosia init``: a policy with suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from celosia.cli.show import console, print_json, print_rows
from celosia.data.io.atomic import replaced
from celosia.data.io.sources import is_url
from celosia.data.schema import Role
from celosia.errors import DataError, OutputError
from celosia.proposals import ColumnSuggestion, lattice_nodes, policy_text, safe_harbor, sample_size, suggest
from celosia.table import Table, read

#: Columns of one role that a terminal shows; the policy has all.
SHOWN = 60
TITLES = {
    Role.IDENTIFIER: "Identifiers: left out of the release",
    Role.PERSON: "Person: rows with the same value belong to one person; left out of the release",
    Role.HOUSEHOLD: "Household: left out of the release",
    Role.QUASI: "Quasi-identifiers: made coarser until nobody is alone",
    Role.SENSITIVE: "Sensitive: released, nobody must be able to infer them",
    Role.INSENSITIVE: "Insensitive: released as they are",
    Role.WEIGHT: "Sampling weight",
    Role.STRATUM: "Stratum",
}


def write_policy(source: str, out: Path, *, query: str | None, preset: bool, overwrite: bool, json: bool) -> None:
    """Look at the data, write the policy and print each suggestion with its reason."""
    if out.exists() and not overwrite:
        raise OutputError(f"{out.name!r} is there already: choose another path with --out, or add --overwrite.")
    options: dict[str, Any] = {"query": query} if query else {}
    table = read(source, **options)
    suggestions = _suggested(table)
    dates = _dates(source, table, suggestions, options)
    if dates:
        options["dates"] = dates
        table = read(source, **options)
        suggestions = _suggested(table)
    if preset:
        suggestions = safe_harbor(suggestions)
    notes = [*_notes(table, dates)]
    where = source if is_url(source) else _seen_from(Path(source), out.parent)
    with replaced(out) as draft:
        draft.write_text(policy_text(suggestions, where, options=options, notes=notes), encoding="utf-8")
    if json:
        print_json({"policy": str(out), **_plain(suggestions), "notes": notes})
    else:
        _print(suggestions, notes, out)


def _suggested(table: Table) -> list[ColumnSuggestion]:
    return suggest(table.rows.frame if table.engine.name == "polars" else table.polars())


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


def _plain(suggestions: Sequence[ColumnSuggestion]) -> dict[str, Any]:
    """The suggestions as plain data."""
    columns = [
        {
            "column": s.name,
            "role": str(s.role),
            "left_out": s.left_out or s.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD),
            "kind": str(s.kind),
            "reason": s.reason,
            "if_wrong": s.if_wrong,
            "clean": [untidy.told for untidy in s.untidy],
        }
        for s in suggestions
    ]
    return {"columns": columns, "combinations": lattice_nodes(list(suggestions))}


def _print(suggestions: Sequence[ColumnSuggestion], notes: Sequence[str], out: Path) -> None:
    """Print the suggestions by role, what was noticed besides, and what to do next."""
    terminal = console()
    for role, title in TITLES.items():
        _print_group(title, [s for s in suggestions if s.role == role and not s.left_out])
    _print_group(
        "Undecided: left out of the release until you give them a role", [s for s in suggestions if s.left_out]
    )
    untidy = [(u.column, u.told, "done" if u.certain else "your choice") for s in suggestions for u in s.untidy]
    if untidy:
        print_rows("To clean: proposals stand in the policy", ("column", "what", ""), untidy[:SHOWN])
    for note in notes:
        terminal.print(note)
    nodes = f"{lattice_nodes(list(suggestions)):,}".replace(",", " ")
    terminal.print(f"The search will choose from {nodes} combinations of levels.")
    terminal.print(f"Written to {out}. Read every reason, change what is wrong, then: celosia run {out}")


def _print_group(title: str, group: Sequence[ColumnSuggestion]) -> None:
    """Print the columns of one role with their reasons, and what happens if one is wrong."""
    if not group:
        return
    print_rows(title, ("column", "kind", "why"), [(s.name, str(s.kind), s.reason) for s in group[:SHOWN]])
    terminal = console()
    if len(group) > SHOWN:
        terminal.print(f"… and {len(group) - SHOWN} more: see the policy.")
    for text in dict.fromkeys(s.if_wrong for s in group):
        terminal.print(text, style="dim")
    terminal.print()


def _seen_from(source: Path, directory: Path) -> str:
    """The path of the data as the policy will name it."""
    try:
        return str(source.resolve().relative_to(directory.resolve()))
    except ValueError:
        return str(source.resolve())
