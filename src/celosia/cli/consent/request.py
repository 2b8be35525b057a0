"""``celosia consent request``: a publication that honours the blocks of its owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.cli.bases.options import Json, Sign, end_with, expand_options, names
from celosia.cli.bases.show import print_text
from celosia.cli.consent.application import Inferences, Sql, Store, consent_app, query_text, show

LISTS = ("quasi", "tree", "identifiers", "sensitive")
"""Options with names separated by commas."""


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """Options of a publication request."""

    catalogue: Inferences
    owner: Annotated[str, typer.Option(help="Column of the owner, or table.field to add it.")]
    quasi: Annotated[str, typer.Option(help="Quasi-identifiers, separated by commas.")]
    k: Annotated[int, typer.Option(min=1, help="Smallest class for everybody.")]
    rule: Annotated[
        str | None,
        typer.Option(
            help="inference, class, coarser, exchange, standard or control; coarser with a tree, else inference."
        ),
    ] = None
    tree: Annotated[str | None, typer.Option(help="Columns of one place from coarse to fine.")] = None
    identifiers: Annotated[str | None, typer.Option(help="Columns that identify a person; left out.")] = None
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns.")] = None
    store: Store = "consent.db"
    dialect: Annotated[str | None, typer.Option(help="SQL dialect, when it is not the database's.")] = None
    key: Annotated[str | None, typer.Option(help="Kind of key in the owner column.")] = None
    camouflage: Annotated[float, typer.Option(help="Share of others who are made coarser too.")] = 0.0
    lift: Annotated[float, typer.Option(help="Rule inference: largest share inferred better than by guessing.")] = 0.1
    advantage: Annotated[
        float, typer.Option(help="Rule inference: largest share by which a reader distinguishes who blocks.")
    ] = 0.1
    external: Annotated[float, typer.Option(help="Share of the people whose truth the intruder knows.")] = 0.1
    strengthen: Annotated[list[str] | None, typer.Option(help="suppress, exclude, or a model.")] = None
    acknowledge: Annotated[
        list[str] | None, typer.Option(help="COLUMN=REASON: releases a column that the guard reports.")
    ] = None
    out: Annotated[Path, typer.Option(help="Directory for data, certificate, private record and reports.")] = Path(
        "publication"
    )
    overwrite: Annotated[bool, typer.Option(help="Replace a publication that is there already.")] = False
    sign: Sign = None
    seed: Annotated[int | None, typer.Option(help="Seed, for tests only.")] = None
    measure: Annotated[bool, typer.Option(help="Attack the release, standard(k) and the control.")] = True


@consent_app.command()
@expand_options
def request(
    database: Annotated[str, typer.Argument(help="URL of the database.")],
    sql: Sql,
    options: RequestOptions,
    json: Json = False,
) -> None:
    """Publish the result of a query so that the blocks of its owners are honoured."""
    from celosia.cli.bases.show import progress
    from celosia.consent.commands import request as run

    settings = vars(options) | {name: names(getattr(options, name)) for name in LISTS}
    settings |= {"strengthen": options.strengthen or [], "acknowledge": _reasons(options.acknowledge or [])}
    with progress() as report_progress:
        publication, paths = run(database, query_text(sql), progress=report_progress, **settings)
    if json:
        show({**publication.report, "paths": {name: str(path) for name, path in paths.items()}}, json)
    else:
        for block in publication.report["blocks"]:
            print_text(f"{block['inference']}: {block['owners']} owners, {block['rows']} rows, X = {block['X']}")
            if "promise" in block:
                print_text(_remedy(block["promise"], block["kept"]))
        for seen in publication.report["guard"]:
            reason = f"Acknowledged: {seen['acknowledged']}" if "acknowledged" in seen else "Not acknowledged"
            print_text(
                f"Guard: {seen['cells']} of {seen['of']} cells in {seen['column']!r} hold {seen['what']}. {reason}."
            )
        absent = publication.report["owners who block and are not in the result"]
        if absent:
            print_text(f"{absent} owners who block what the query lets others deduce are not in its result.")
        out, rows, marked = options.out, publication.report["rows"], publication.report["rows marked"]
        print_text(f"{rows} rows, {marked} marked; written to {out}")
        print_text(f"{paths['record'].name} and {paths['internal'].name} are private; to check: celosia verify {out}")
    end_with(0 if publication.holds else 3)


def _remedy(promise: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """Return the remedy of an inference with the two numbers of its promise."""
    return (
        f"  {promise['remedy']} {', '.join(promise['columns'])}, also for {promise['camouflage']:.0%} of the others: "
        f"inferred {kept['lift']:.1%} better than by guessing (at most {promise['lift']:.0%}), who blocks "
        f"{kept['advantage']:.1%} (at most {promise['advantage']:.0%})"
    )


def _reasons(entries: list[str]) -> dict[str, str]:
    from celosia.errors import ParameterError

    pairs = [entry.partition("=") for entry in entries]
    if not all(equals for _, equals, _ in pairs):
        raise ParameterError("--acknowledge takes COLUMN=REASON.")
    return {column.strip(): reason.strip() for column, _, reason in pairs}
