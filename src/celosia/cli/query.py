"""``celosia query``: one query to a database, answered with noise from a finite budget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json, expand_options
from celosia.cli.gateway import Dataset, LedgerPlace, to_number


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """Options of a query."""

    sql: Annotated[str, typer.Argument(help="The query, in SQL.")]
    dataset: Dataset = Path("dataset.toml")
    epsilon: Annotated[
        float | None,
        typer.Option(parser=to_number, metavar="NUMBER", help="Privacy loss to spend (pure differential privacy)."),
    ] = None
    rho: Annotated[
        float | None,
        typer.Option(parser=to_number, metavar="NUMBER", help="Privacy loss to spend (zero-concentrated)."),
    ] = None
    delta: Annotated[
        float,
        typer.Option(parser=to_number, metavar="NUMBER", help="Privacy loss to spend: the delta of (epsilon, delta)."),
    ] = 0.0
    announce: Annotated[int, typer.Option(min=1, help="Split the cost over so many announced queries.")] = 1
    analyst: Annotated[str, typer.Option(help="Name of the analyst.")] = "owner"
    fresh: Annotated[bool, typer.Option(help="Draw a new answer, charged again, instead of the stored one.")] = False
    explain: Annotated[bool, typer.Option(help="Show sensitivity, noise and expected error; spend nothing.")] = False
    ledger: LedgerPlace = None


@expand_options
def query(
    options: QueryOptions,
    json: Json = False,
) -> None:
    """Answer one query to a database under differential privacy."""
    from celosia.cli.bases.show import console, print_json
    from celosia.gateway.answer import Answer
    from celosia.gateway.commands import answer_text
    from celosia.gateway.commands import query as ask

    answer = ask(**vars(options))
    if json:
        print_json(answer.data())
    else:
        console().print(answer_text(answer) if isinstance(answer, Answer) else answer.text())
