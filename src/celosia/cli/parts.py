"""``celosia parts``: the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.commands import kinds_like, names_like
from celosia.cli.bases.options import Json


def parts(
    kind: Annotated[
        str | None,
        typer.Argument(help="method, model, risk, attack, loss, mechanism or hierarchy.", autocompletion=kinds_like),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(help="One part: its page with parameters.", autocompletion=names_like)
    ] = None,
    schema: Annotated[
        bool,
        typer.Option("--schema", help="The JSON Schema of the part; without one, that of a policy, for editors."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the schema of a policy to this file.")] = None,
    json: Json = False,
) -> None:
    """List all parts, or show one with its parameters."""
    from celosia.cli.bases.catalogue import print_parts, write_policy_schema

    if out is not None or (schema and not kind):
        write_policy_schema(out)
        return
    print_parts(kind, name, schema=schema, json=json)
