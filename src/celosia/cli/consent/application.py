"""Shared by the consent commands: the application, its options, the output of results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from celosia import files
from celosia.cli.bases.show import print_text

consent_app = typer.Typer(
    help="Inferences that data owners block, and publications that honour it.", no_args_is_help=True
)

Sql = Annotated[str, typer.Option(help="The query; or @file to read it from a file.")]
Dialect = Annotated[str, typer.Option(help="SQL dialect: postgres, oracle, mysql, sqlite, tsql, duckdb.")]
Database = Annotated[str | None, typer.Option(help="URL of a database that has the columns of the tables.")]
Inferences = Annotated[Path, typer.Option(help="Catalogue of inferences (.toml or .xml).")]
Store = Annotated[str, typer.Option(help="The store of choices: a file or a PostgreSQL URL.")]


def query_text(sql: str) -> str:
    """Return the query, or the content of the file after ``@``."""
    if not sql.startswith("@"):
        return sql
    from celosia.errors import DataError

    try:
        return files.text(sql[1:])
    except (OSError, UnicodeDecodeError):
        raise DataError(f"cannot read the query file {sql[1:]!r}.") from None


def print_outcome(text: str, data: Mapping[str, object], json: bool) -> None:
    """Print a sentence about what was done, or its facts as JSON."""
    if json:
        show(data, json)
    else:
        print_text(text)


def show(data: Mapping[str, object], json: bool) -> None:
    """Print plain data, as JSON or one line per entry."""
    from celosia.cli.bases.show import print_json
    from celosia.release.evidence.plain_data import plain

    if json:
        print_json(plain(data))
        return
    for key, value in data.items():
        items = [f"{k}: {_as_text(v)}" for k, v in value.items()] if isinstance(value, dict) else value
        print_text(f"{key}: {', '.join(map(str, items)) if isinstance(items, list) else items}")


def _as_text(value: object) -> str:
    return " + ".join(map(str, value)) or "nothing" if isinstance(value, list) else str(value)
