"""``celosia consent``: inference rules, preferences of data owners, publication requests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.cli.commands import Json, end_with
from celosia.cli.show import say
from celosia.errors import ParameterError

consent_app = typer.Typer(
    help="Inferences that data owners block, and publications that honour it.", no_args_is_help=True
)

Sql = Annotated[str, typer.Option(help="The query; or @file to read it from a file.")]
Dialect = Annotated[str, typer.Option(help="SQL dialect: postgres, oracle, mysql, sqlite, tsql, duckdb.")]
Database = Annotated[str | None, typer.Option(help="URL of a database that tells the columns of the tables.")]
Inferences = Annotated[Path, typer.Option(help="Catalogue of inferences (.toml or .xml).")]
Store = Annotated[str, typer.Option(help="Where the choices are: a file or a PostgreSQL URL.")]


@consent_app.command()
def elements(sql: Sql, dialect: Dialect = "postgres", database: Database = None, json: Json = False) -> None:
    """Show the tables, fields and constants of a query; nothing is run."""
    from celosia.consent.commands import elements_of

    _show(elements_of(_text(sql), dialect, database), json)


@consent_app.command()
def derive(
    name: Annotated[str, typer.Argument(help="Name of the inference.")],
    sentence: Annotated[str, typer.Option(help="What people read.")],
    sql: Annotated[list[str], typer.Option(help="A query by which the inference can be made; several are merged.")],
    dialect: Dialect = "postgres",
    threshold: Annotated[float | None, typer.Option(help="Share of elements that activates the rule.")] = None,
) -> None:
    """Propose a rule from queries, as TOML to edit."""
    from celosia.consent.commands import derive as make
    from celosia.consent.rules.rules import write_toml

    say(write_toml(make(name, sentence, [_text(one) for one in sql], dialect, threshold)), end="")


@consent_app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="Catalogue to read (.toml or .xml).")],
    target: Annotated[Path, typer.Argument(help="Catalogue to write (.toml or .xml).")],
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there already.")] = False,
) -> None:
    """Convert a catalogue of inferences between TOML and XML."""
    from celosia.consent.commands import convert as run

    say(f"{len(run(source, target, overwrite=overwrite).inferences)} inferences written to {target}")


@consent_app.command()
def match(
    sql: Sql, catalogue: Inferences, dialect: Dialect = "postgres", database: Database = None, json: Json = False
) -> None:
    """Show which inferences a query makes possible, and why; nothing is run."""
    from celosia.consent.commands import match_query

    found = match_query(catalogue, _text(sql), dialect, database)
    _show({"rules": found}, json) if json else say("\n".join(one["sentence"] for one in found))


@consent_app.command()
def request(
    database: Annotated[str, typer.Argument(help="URL of the database.")],
    sql: Sql,
    catalogue: Inferences,
    owner: Annotated[str, typer.Option(help="Column of the owner, or table.field to add it.")],
    quasi: Annotated[str, typer.Option(help="Quasi-identifiers, separated by commas.")],
    k: Annotated[int, typer.Option(min=1, help="Smallest class for everybody.")],
    rule: Annotated[str, typer.Option(help="class, coarser, exchange, standard or control.")] = "coarser",
    tree: Annotated[str | None, typer.Option(help="Columns of one place from coarse to fine.")] = None,
    identifiers: Annotated[str | None, typer.Option(help="Columns that name a person; left out.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns.")] = None,
    store: Store = "consent.db",
    dialect: Annotated[str | None, typer.Option(help="SQL dialect, when it is not the database's.")] = None,
    key: Annotated[str | None, typer.Option(help="Kind of key in the owner column.")] = None,
    camouflage: Annotated[float, typer.Option(help="Share of others who are made coarser too.")] = 0.0,
    strengthen: Annotated[list[str] | None, typer.Option(help="suppress, exclude, or a model.")] = None,
    acknowledge: Annotated[
        list[str] | None, typer.Option(help="COLUMN=REASON: lets a column leave in which the guard sees something.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Directory for data, certificate, private record and reports.")] = Path(
        "publication"
    ),
    overwrite: Annotated[bool, typer.Option(help="Replace a publication that is there already.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed, for tests only.")] = None,
    measure: Annotated[bool, typer.Option(help="Attack the release, standard(k) and the control.")] = True,
    json: Json = False,
) -> None:
    """Publish the result of a query so that the blocks of its owners are honoured."""
    from celosia.cli.show import progress
    from celosia.consent.commands import request as run

    with progress() as tell:
        made, paths = run(
            database,
            _text(sql),
            catalogue=catalogue,
            store=store,
            owner=owner,
            quasi=_names(quasi),
            k=k,
            rule=rule,
            tree=_names(tree),
            identifiers=_names(identifiers),
            sensitive=_names(sensitive),
            dialect=dialect,
            key=key,
            camouflage=camouflage,
            strengthen=strengthen or [],
            acknowledge=_reasons(acknowledge or []),
            out=out,
            overwrite=overwrite,
            seed=seed,
            measure=measure,
            progress=tell,
        )
    if json:
        _show({**made.report, "paths": {name: str(path) for name, path in paths.items()}}, json)
    else:
        for block in made.report["blocks"]:
            say(f"{block['inference']}: {block['owners']} owners, {block['rows']} rows, X = {block['X']}")
        for seen in made.report["guard"]:
            reason = seen.get("acknowledged", "nobody has said why it leaves")
            say(
                f"Seen by the guard: column {seen['column']!r}: {seen['cells']} of {seen['of']} cells hold "
                f"{seen['what']} ({reason})."
            )
        say(f"{made.report['rows']} rows, {made.report['rows marked']} marked; written to {out}")
        say(f"{paths['record'].name} and {paths['internal'].name} are for you alone; check: celosia verify {out}")
    end_with(0 if made.holds else 3)


@consent_app.command()
def init(store: Store = "consent.db") -> None:
    """Make an empty store of choices; no other command does."""
    from celosia.consent.commands import init as make
    from celosia.data.io.database import shown

    make(store)
    say(f"made: store of choices {shown(store)}")


@consent_app.command()
def owners(
    source: Annotated[Path, typer.Argument(help="CSV with the column owner; every further column is a kind of key.")],
    store: Store = "consent.db",
) -> None:
    """Register owners and other keys of theirs from a file; known ones stay."""
    from celosia.consent.commands import register

    say(f"{register(source, store)} owners registered")


@consent_app.command()
def load(
    source: Annotated[Path, typer.Argument(help="CSV with the columns owner, inference, block.")],
    catalogue: Inferences,
    store: Store = "consent.db",
) -> None:
    """Store many choices from a file; a choice of an inference that the catalogue has not is refused."""
    from celosia.consent.commands import load_choices

    choices, new = load_choices(source, catalogue, store)
    say(f"{choices} choices stored, {new} owners are new")


@consent_app.command()
def link(
    owner: Annotated[str | None, typer.Argument(help="The owner; without one, a link for the administrator.")] = None,
    store: Store = "consent.db",
    base: Annotated[str, typer.Option(help="Address of the consent pages.")] = "http://127.0.0.1:8100",
    hours: Annotated[float, typer.Option(help="How long the link is valid.")] = 72.0,
) -> None:
    """Make a one-time sign-in link; it is shown once."""
    from celosia.consent.commands import link as run

    say(run(owner, store, base=base, hours=hours))


@consent_app.command()
def serve(
    catalogue: Inferences,
    store: Store = "consent.db",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8100,
    secure: Annotated[bool, typer.Option(help="Cookies for HTTPS only: set it behind a TLS proxy.")] = False,
) -> None:
    """Serve the consent pages for data owners."""
    from celosia.consent.commands import serve as run

    run(catalogue, store, host=host, port=port, secure=secure)


@consent_app.command()
def record(
    owner: Annotated[str, typer.Argument(help="The owner.")],
    store: Store = "consent.db",
    forget: Annotated[bool, typer.Option(help="Delete the record after showing it.")] = False,
) -> None:
    """Show everything that is stored about an owner, or delete it."""
    from celosia.consent.commands import record as run

    found, gone = run(owner, store, forget=forget)
    _show(found, json=True)
    if not gone:
        say("deleted, but another program is reading: its log holds the record until the next write.", error=True)


@consent_app.command()
def default(
    meaning: Annotated[str, typer.Argument(help="allow or block.")],
    store: Store = "consent.db",
) -> None:
    """State what an unanswered question means."""
    from celosia.consent.commands import set_default

    set_default(meaning, store)
    say(f"unanswered means {meaning}")


@consent_app.command()
def log(
    source: Annotated[Path, typer.Argument(help="Past queries, separated by semicolons or empty lines.")],
    dialect: Dialect = "postgres",
    json: Json = False,
) -> None:
    """Count the tables and fields that past queries used."""
    from celosia.consent.commands import log_statistics

    _show(log_statistics(source, dialect), json)


@consent_app.command()
def suggest(
    source: Annotated[str, typer.Argument(help="A file, or a database URL with --query.")],
    query: Annotated[str | None, typer.Option(help="SQL query, when the source is a database.")] = None,
    json: Json = False,
) -> None:
    """Show which columns tell which others: where inferences may hide."""
    from celosia.consent.commands import suggest as run

    found = run(source, query)
    if json:
        _show({"associations": found}, json)
        return
    for one in found:
        say(f"{' + '.join(one['known'])} → {one['target']}: {one['strength']:.0%}")


def _text(sql: str) -> str:
    if not sql.startswith("@"):
        return sql
    from celosia.errors import DataError

    try:
        return Path(sql[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"cannot read the query file {sql[1:]!r}.") from None


def _show(data: dict[str, Any], json: bool) -> None:
    from celosia.cli.show import print_json
    from celosia.release.evidence import plain

    if json:
        print_json(plain(data))
        return
    for key, value in data.items():
        items = [f"{k}: {v}" for k, v in value.items()] if isinstance(value, dict) else value
        say(f"{key}: {', '.join(map(str, items)) if isinstance(items, list) else items}")


def _reasons(entries: list[str]) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in entries]
    if not all(equals for _, equals, _ in pairs):
        raise ParameterError("--acknowledge takes COLUMN=REASON.")
    return {column.strip(): reason.strip() for column, _, reason in pairs}


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
