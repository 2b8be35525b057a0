"""``celosia parts``: the catalogue."""

from __future__ import annotations

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
    schema: Annotated[bool, typer.Option(help="Print the JSON schema of the part.")] = False,
    json: Json = False,
) -> None:
    """List the parts there are, or show one with its parameters."""
    from celosia.cli.bases.catalogue import print_parts

    print_parts(kind, name, schema=schema, json=json)
