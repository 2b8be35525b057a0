"""Shared by the commands: common options, options declared as a dataclass, the exit code, lists of names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from celosia.cli.bases.commands import engines_like

ROLES = "What the columns are"
READING = "How it is read"
WRITING = "What is written"
"""Headings in the help of a command."""
_state = {"code": 0}

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Details = Annotated[bool, typer.Option("--details", help="Print all that was measured, with what it means.")]


def _of(panel: str, text: str, autocompletion: Callable[[str], list[str]] | None = None) -> object:
    return typer.Option(help=text, rich_help_panel=panel, autocompletion=autocompletion)


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


def parameters_of(options: type[Any]) -> list[inspect.Parameter]:
    """Return one keyword parameter per field of a dataclass of options, as typer reads them."""
    types = get_type_hints(options, include_extras=True)
    empty = inspect.Parameter.empty
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(options)
    ]


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``options`` of a command by one option for each field of its dataclass."""
    declared = inspect.signature(command, eval_str=True).parameters
    cls = declared["options"].annotation
    expanded = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, own in declared.items()
        for parameter in (parameters_of(cls) if name == "options" else [own])
    ]

    @functools.wraps(command)
    def call(**values: object) -> None:
        options = cls(**{field.name: values.pop(field.name) for field in fields(cls)})
        command(options=options, **values)

    call.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in expanded}
    return call


def exit_code() -> int:
    """Return the exit code that the last command set."""
    return _state["code"]


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
