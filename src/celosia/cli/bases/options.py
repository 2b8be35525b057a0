"""Shared by the commands: options of the same meaning, the exit code, lists of names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.cli.bases.commands import engines_like

ROLES = "What the columns are"
READING = "How it is read"
WRITING = "What is written"
"""Headings in the help of a command."""
_state: dict[str, Any] = {"code": 0}

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Details = Annotated[bool, typer.Option("--details", help="Print all that was measured, with what it means.")]


def _of(panel: str, text: str, **settings: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=panel, **settings)


Engine = Annotated[
    str | None,
    _of(
        READING,
        "Engine that holds the rows: polars, duckdb or spark[:master]; by size if not given.",
        autocompletion=engines_like,
    ),
]
Memory = Annotated[
    str | None, _of(READING, "How much memory may be used, such as 2GB; what does not fit is spilled to disk.")
]
Header = Annotated[
    bool | None,
    _of(READING, "State whether the first line of a CSV file names the columns, where it looks like a record."),
]
Query = Annotated[str | None, _of(READING, "SQL query, when the source is a database URL.")]
Quasi = Annotated[str | None, _of(ROLES, "Quasi-identifiers, separated by commas.")]
Sensitive = Annotated[str | None, _of(ROLES, "Sensitive columns, separated by commas.")]
Identifiers = Annotated[str | None, _of(ROLES, "Columns that name a person, separated by commas.")]
Person = Annotated[str | None, _of(ROLES, "Column of person ids, when a person owns several rows.")]
Weight = Annotated[str | None, _of(ROLES, "Column of sampling weights.")]
Sign = Annotated[Path | None, typer.Option(help="A private key (see 'celosia key') that signs the certificate.")]


def exit_code() -> int:
    """Return the exit code that the last command set."""
    return int(_state["code"])


def end_with(code: int) -> None:
    """Ask for an exit code."""
    _state["code"] = code


def _version(value: bool) -> None:
    if value:
        from celosia import __version__
        from celosia.cli.bases.show import print_text

        print_text(f"celosia {__version__}")
        raise typer.Exit


def common(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Publish personal data safely: measure, protect, show what was lost, write the evidence down."""
    from celosia.cli.bases.show import show_warnings

    show_warnings()


def names(text: str | None) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
