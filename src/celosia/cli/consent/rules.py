"""``celosia consent``: inferences, and the rules that find them in queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json
from celosia.cli.bases.show import print_text
from celosia.cli.consent.application import (
    Database,
    Dialect,
    Inferences,
    Sql,
    consent_app,
    print_outcome,
    query_text,
    show,
)


@consent_app.command()
def elements(sql: Sql, dialect: Dialect = "postgres", database: Database = None, json: Json = False) -> None:
    """Show the tables, fields and constants of a query; nothing is run."""
    from celosia.consent.commands import elements_of

    show(elements_of(query_text(sql), dialect, database), json)


@consent_app.command()
def derive(
    name: Annotated[str, typer.Argument(help="Name of the inference.")],
    sentence: Annotated[str, typer.Option(help="What people read.")],
    sql: Annotated[list[str], typer.Option(help="A query by which the inference can be made; several are merged.")],
    dialect: Dialect = "postgres",
    threshold: Annotated[float | None, typer.Option(help="Share of elements that activates the rule.")] = None,
    json: Json = False,
) -> None:
    """Propose a rule from queries, as TOML to edit."""
    from celosia.consent.commands import derive as make
    from celosia.consent.rules.rules import write_toml

    proposal = make(name, sentence, [query_text(text) for text in sql], dialect, threshold)
    if json:
        show(proposal.model_dump(), json)
    else:
        print_text(write_toml(proposal), end="")


@consent_app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="Catalogue to read (.toml or .xml).")],
    target: Annotated[Path, typer.Argument(help="Catalogue to write (.toml or .xml).")],
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there already.")] = False,
    json: Json = False,
) -> None:
    """Convert a catalogue of inferences between TOML and XML."""
    from celosia.consent.commands import convert as run

    written = len(run(source, target, overwrite=overwrite).inferences)
    print_outcome(f"{written} inferences written to {target}", {"inferences": written, "file": str(target)}, json)


@consent_app.command()
def match(
    sql: Sql, catalogue: Inferences, dialect: Dialect = "postgres", database: Database = None, json: Json = False
) -> None:
    """Show which inferences a query makes possible, and why; nothing is run."""
    from celosia.consent.commands import match_query

    matched = match_query(catalogue, query_text(sql), dialect, database)
    show({"rules": [m.data() for m in matched]}, json) if json else print_text("\n".join(m.sentence() for m in matched))


@consent_app.command()
def log(
    source: Annotated[Path, typer.Argument(help="Past queries, separated by semicolons or empty lines.")],
    dialect: Dialect = "postgres",
    page: Annotated[Path | None, typer.Option(help="Also write the counts as a page with charts (.html).")] = None,
    json: Json = False,
) -> None:
    """Count the tables and fields that past queries used, as tables with bars."""
    from celosia.cli.bases.show import print_rows
    from celosia.consent.commands import log_statistics
    from celosia.consent.sql.log_page import blocks, write

    facts = log_statistics(source, dialect)
    if page is not None:
        write(facts, page)
    if json:
        show(facts.data(), json)
        return
    print_text(f"{facts.queries} queries, {facts.unread} of them could not be read")
    for block in blocks(facts):
        print_rows(block.title, block.headings, block.rows)


@consent_app.command()
def suggest(
    source: Annotated[str, typer.Argument(help="A file, or a database URL with --query.")],
    query: Annotated[str | None, typer.Option(help="SQL query, when the source is a database.")] = None,
    json: Json = False,
) -> None:
    """Show which columns determine which others: where inferences may hide."""
    from celosia.consent.commands import suggest as run

    associations = run(source, query)
    if json:
        show({"associations": [pair.data() for pair in associations]}, json)
        return
    for pair in associations:
        print_text(f"{' + '.join(pair.known)} → {pair.target}: {pair.strength:.0%}")
