"""``celosia init``: a policy with suggestions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from celosia.cli.bases.options import READING, Header, Json, Query

if TYPE_CHECKING:
    from celosia.frontier import MethodChoice
    from celosia.proposals import ColumnSuggestion
    from celosia.proposals.purpose import UndecidedGroup

Undecided = Literal["leave-out", "sensitive", "insensitive", "quasi"]
FOR_EDITORS = """\
#:schema ./policy-1.json
# The line above lets an editor complete and check this file (Taplo, Even Better TOML). The file that it names is
# written by: celosia parts --schema --out policy-1.json

"""
#: Columns of one role that a terminal shows; the policy has all.
SHOWN = 60
TITLES = {
    "identifier": "Identifiers: left out of the release",
    "person": "Person: rows with the same value belong to one person; left out of the release",
    "household": "Household: left out of the release",
    "quasi": "Quasi-identifiers: generalised until no record is unique",
    "sensitive": "Sensitive: released, must not be inferable",
    "insensitive": "Insensitive: released as they are",
    "weight": "Sampling weight",
    "stratum": "Stratum",
}


def _reading(text: str) -> Any:  # noqa: ANN401  (what typer returns)
    return typer.Option(help=text, rich_help_panel=READING)


def init(
    source: Annotated[str, typer.Argument(help="The data: a file, or a database URL with --query.")],
    out: Annotated[Path, typer.Option(help="Where the policy goes.")] = Path("policy.toml"),
    query: Query = None,
    header: Header = None,
    encoding: Annotated[
        str | None, _reading("Encoding of a CSV file, such as cp1252, where it is not recognised.")
    ] = None,
    separator: Annotated[str | None, _reading("Separator of a CSV file; write tab for a tabulator.")] = None,
    missing: Annotated[str | None, _reading("Marks of missing values in a CSV file, separated by commas.")] = None,
    code_book: Annotated[
        Path | None, typer.Option("--codebook", help="Table of column names, labels, codes and labels of codes.")
    ] = None,
    keep: Annotated[str | None, typer.Option(help="Columns that analysts must keep, separated by commas.")] = None,
    purpose: Annotated[str | None, typer.Option(help="What the release is for.")] = None,
    undecided: Annotated[
        Undecided | None, typer.Option(help="What becomes of columns of unknown meaning; asked on a terminal.")
    ] = None,
    safe_harbor: Annotated[bool, typer.Option(help="Prepare the steps of the HIPAA Safe Harbor rule.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace a policy that is there already.")] = False,
    json: Json = False,
) -> None:
    """Write a policy with suggested roles, kinds and hierarchies, each with its reason.

    On a terminal it asks what the release is for, which columns analysts must keep, and what becomes of columns of
    unknown meaning, by groups.
    """
    from celosia.cli.bases.show import console, print_json
    from celosia.data.io.atomic import replace_file
    from celosia.errors import OutputError
    from celosia.frontier import suggested_policy
    from celosia.parts import map_path
    from celosia.proposals import decide, first_look, keep_columns, lattice_nodes, undecided_groups
    from celosia.proposals import safe_harbor as by_safe_harbor
    from celosia.proposals.code_book import read_code_book

    if out.exists() and not overwrite:
        raise OutputError(f"{out.name!r} exists already: choose another path with --out, or add --overwrite.")
    options = {
        "query": query or None,
        "header": header,
        "encoding": encoding,
        "separator": "\t" if separator in ("tab", "\\t") else separator,
        "missing": None if missing is None else missing.split(","),
    }
    given = {name: value for name, value in options.items() if value is not None}
    seen = first_look(source, given, read_code_book(code_book) if code_book else None)
    ask = sys.stdin.isatty() and sys.stdout.isatty() and not json
    wanted = Purpose(purpose or "", tuple(name.strip() for name in (keep or "").split(",") if name.strip()))
    if ask and purpose is None and keep is None:
        wanted = _ask_purpose()
    suggestions = keep_columns(seen.suggestions, wanted.keep)
    for group in undecided_groups(suggestions):
        decision = undecided or (_ask_group(group) if ask else "leave-out")
        suggestions = decide(suggestions, group.columns, decision)
    suggestions = by_safe_harbor(suggestions) if safe_harbor else suggestions
    where = map_path(source, lambda path: _relative_path(path, out.parent))
    facts = {"options": seen.options, "notes": seen.notes, "keep": wanted.keep, "purpose": wanted.text}
    text, choice = suggested_policy(suggestions, where, out.parent, **facts)
    with replace_file(out) as draft:
        draft.write_text(FOR_EDITORS + text, encoding="utf-8")
    if json:
        tried = {} if choice is None else choice.spec()
        columns = {"columns": [s.spec() for s in suggestions], "combinations": lattice_nodes(suggestions)}
        print_json({"policy": str(out), **columns, **tried, "notes": seen.notes})
    else:
        _print(suggestions, seen.notes)
        if choice is not None:
            _print_choice(choice)
        console().print(f"Written to {out}. Read every reason, change what is wrong, then: celosia run {out}")


@dataclass(frozen=True)
class Purpose:
    """Purpose of the release, and the columns that analysts must keep."""

    text: str = ""
    keep: tuple[str, ...] = ()


def _ask_purpose() -> Purpose:
    """Ask on a terminal what the release is for."""
    text = typer.prompt("What is the release for? (Enter to skip)", default="", show_default=False)
    keep = typer.prompt("Columns that analysts must keep, separated by commas", default="", show_default=False)
    return Purpose(text.strip(), tuple(name.strip() for name in keep.split(",") if name.strip()))


def _ask_group(group: UndecidedGroup) -> Undecided:
    """Ask on a terminal what becomes of a group of undecided columns."""
    from rich.prompt import Prompt

    listed = ", ".join(group.columns[:8]) + (", …" if len(group.columns) > 8 else "")
    question = (
        "May others know them (quasi) or not (sensitive), are they harmless (insensitive), or should they stay out?"
    )
    asked = f"{len(group.columns)} {group.title}: {listed}\n{question}"
    return cast("Undecided", Prompt.ask(asked, choices=list(get_args(Undecided)), default="leave-out"))


def _print(suggestions: Sequence[ColumnSuggestion], notes: Sequence[str]) -> None:
    """Print the suggestions by role, and what was noticed besides."""
    from celosia.cli.bases.show import console, print_rows

    for role, title in TITLES.items():
        _print_group(title, [s for s in suggestions if s.role == role and not s.left_out])
    undecided = [s for s in suggestions if s.left_out]
    _print_group("Undecided: left out of the release until you give them a role", undecided)
    untidy = [
        (u.column, u.sentence, "done" if u.certain else "your choice")
        for s in suggestions
        if not s.left_out
        for u in s.untidy
    ]
    if untidy:
        print_rows("To clean: proposals stand in the policy", ("column", "what", ""), untidy[:SHOWN])
    for note in notes:
        console().print(note)


def _print_choice(choice: MethodChoice) -> None:
    """Print the methods that were tried, the one that was chosen, and what it leaves no value of."""
    from celosia.cli.bases.show import console, print_rows

    rows = [
        (trial.name, outcome, "chosen" if trial is choice.chosen else "")
        for trial, outcome in zip(choice.trials, choice.outcomes, strict=True)
    ]
    if rows:
        print_rows(f"Method: {choice.measured}", ("method", "kept", ""), rows)
    for warning in choice.warnings:
        console().print(f"warning: {warning}", style="yellow")


def _print_group(title: str, group: Sequence[ColumnSuggestion]) -> None:
    """Print the columns of one role with their reasons, and what happens if one is wrong."""
    from celosia.cli.bases.show import console, print_rows

    if not group:
        return
    print_rows(title, ("column", "kind", "why"), [(s.name, str(s.kind), s.reason) for s in group[:SHOWN]])
    terminal = console()
    if len(group) > SHOWN:
        terminal.print(f"… and {len(group) - SHOWN} more: see the policy.")
    for text in dict.fromkeys(s.if_wrong for s in group):
        terminal.print(text, style="dim")
    terminal.print()


def _relative_path(source: Path, directory: Path) -> Path:
    """Return the path of the data as the policy will name it."""
    try:
        return source.resolve().relative_to(directory.resolve())
    except ValueError:
        return source.resolve()
