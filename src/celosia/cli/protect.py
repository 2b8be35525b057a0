"""``celosia protect``: one method on one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.bases.options import (
    ROLES,
    WRITING,
    Engine,
    Identifiers,
    Json,
    Memory,
    Person,
    Quasi,
    Query,
    Sensitive,
    Weight,
    names,
)

if TYPE_CHECKING:
    from celosia.parts import Method
    from celosia.release.output.write import Written
    from celosia.table import Table

protect_app = typer.Typer(help="Apply one method to a file: celosia protect METHOD data.csv --out safe.csv")


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Options of every method command."""

    source: Annotated[str, typer.Argument(help="The file, or a policy (.toml) that describes it.")]
    out: Annotated[Path, typer.Option(help="Where the protected file goes.", rich_help_panel=WRITING)]
    quasi: Quasi = None
    sensitive: Sensitive = None
    identifiers: Identifiers = None
    person: Person = None
    weight: Weight = None
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="COLUMN=FILE or COLUMN=builder(…).", rich_help_panel=ROLES)
    ] = None
    query: Query = None
    engine: Engine = None
    memory: Memory = None
    seed: Annotated[int | None, typer.Option(help="Seed, for tests only: a release needs none.")] = None
    keep_columns: Annotated[
        str | None,
        typer.Option(help="Columns that leave although they name somebody or have no role.", rich_help_panel=WRITING),
    ] = None
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order", help="Write the records in the order of the file, not shuffled.", rich_help_panel=WRITING
        ),
    ] = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there already.", rich_help_panel=WRITING)
    ] = False
    json: Json = False


def protect_file(method: Method, options: FileOptions) -> None:
    """Read a file, apply the method, and write the columns that may be released; further tables get own files."""
    from celosia.cli.bases.show import print_json, print_left_out, print_step, progress
    from celosia.cli.bases.sources import open_source
    from celosia.errors import OutputError
    from celosia.release.output.write import write
    from celosia.release.policy.policy import Output
    from celosia.release.protect import protect_table

    source, out = options.source, options.out
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise OutputError(f"the output {out.name!r} is the input; an original is never overwritten.")
    if out.exists() and not options.overwrite:
        raise OutputError(f"{out.name!r} is there already: choose another path or add --overwrite.")
    declared = {
        **{name: names(getattr(options, name)) for name in ("quasi", "sensitive", "identifiers")},
        "person": options.person,
        "weight": options.weight,
        "hierarchies": _hierarchies(options.hierarchy),
    }
    table, policy = open_source(source, declared, query=options.query, engine=options.engine, memory=options.memory)
    table = _declare_named(table, method)
    if policy is None:
        table = _mark_suspected(table, method)
    with progress() as report_progress:
        protected = protect_table(table, [method], seed=options.seed, progress=report_progress)
    keep = [*(policy.output.columns if policy else ()), *names(options.keep_columns)]
    order = "kept" if options.keep_order else (policy.output if policy else Output()).order
    writing = partial(
        write,
        protected,
        out,
        keep=keep,
        order=order,
        seed=options.seed,
        overwrite=options.overwrite,
        keeping="--keep-columns",
    )
    if policy is None:
        written = _write_unchanged(writing, _unchanged_columns(table, method))
    else:
        written = writing(acknowledge=policy.guard.acknowledge)
    leaving = written.leaving
    entry = {
        **protected.history[-1],
        "files": written.files,
        "left_out": list(leaving.left_out),
        "kept": [kept.spec() for kept in leaving.kept],
        "guard": [sighting.entry().spec() for sighting in leaving.sightings],
    }
    if options.json:
        print_json(entry)
        return
    print_step(entry, len(table), len(written.table))
    print_left_out(leaving)


def _write_unchanged(writing: Callable[..., Written], unchanged: Mapping[str, str]) -> Written:
    """Write the protected table; rare values stop it unless the command names their column as one that stays.

    ``unchanged`` maps such columns to the reason. Identifiers and names stop it in any column.
    """
    from celosia.errors import GuardError
    from celosia.release.output.guard import COARSER

    try:
        return writing()
    except GuardError as refusal:
        stopping = [sighting for sighting in refusal.sightings if sighting.stops]
        if any(sighting.column not in unchanged or sighting.advice != COARSER for sighting in stopping):
            raise
        return writing(acknowledge={sighting.column: unchanged[sighting.column] for sighting in stopping})


def _unchanged_columns(table: Table, method: Method) -> dict[str, str]:
    """Map the columns that the command names, and that the method does not change, to the option that names them."""
    from celosia.parts import marked_fields
    from celosia.parts.columns import SuitedMark

    overwritten = method.overwrites(table.schema)
    return {
        name: f"--{field} names it as a column that stays unchanged"
        for field in marked_fields(method, SuitedMark)
        for name in getattr(method, field) or ()
        if name not in overwritten
    }


def _declare_named(table: Table, method: Method) -> Table:
    """Return the table with the columns declared that the command names: those to overwrite, and their predictors."""
    from celosia.data.schema import Schema
    from celosia.parts import marked_fields
    from celosia.parts.columns import SuitedMark

    schema = table.schema
    fields = dict.fromkeys(("columns", *marked_fields(method, SuitedMark)))
    filled = (name for field in fields for name in getattr(method, field, None) or ())
    for name in dict.fromkeys([*method.overwrites(Schema()), *filled]):
        if name in schema:
            schema = schema.change(name, declared=True)
    return replace(table, rows=replace(table.rows, schema=schema))


def _mark_suspected(table: Table, method: Method) -> Table:
    """Return the table with columns that look like identifiers declared so, unless the method overwrites them."""
    from celosia.data.schema import NAMING, Role
    from celosia.proposals import suggest

    schema = table.schema
    settled = {*method.overwrites(schema), *schema.naming}
    doubted = [name for name in table.names if schema[name].declared and name not in settled]
    if not doubted or not len(table):
        return table
    from celosia.data.engines.lazy_frames import select_columns

    for suggestion in suggest(table.engine.to_polars_lazy(select_columns(table.rows.frame, doubted))):
        if suggestion.role in NAMING:
            schema = schema.change(suggestion.name, roles=schema[suggestion.name].roles | {Role.IDENTIFIER})
    return replace(table, rows=replace(table.rows, schema=schema))


def _hierarchies(entries: Sequence[str] | None) -> dict[str, str]:
    from celosia.errors import ParameterError

    pairs = {}
    for entry in entries or ():
        column, equals, value = entry.partition("=")
        if not equals:
            raise ParameterError(f"--hierarchy takes COLUMN=FILE or COLUMN=builder(…), got {entry!r}.")
        pairs[column.strip()] = value.strip()
    return pairs
