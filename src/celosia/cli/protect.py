"""``celosia protect``: one method on one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli.measure import open_source
from celosia.cli.show import print_json, print_left_out, print_step, progress
from celosia.data.schema import NAMING, Role, Schema
from celosia.errors import OutputError, ParameterError
from celosia.parts import Method

if TYPE_CHECKING:
    from celosia.table import Table


def protect_file(
    method: Method,
    *,
    source: str,
    out: Path,
    hierarchy: Sequence[str] | None = None,
    query: str | None = None,
    engine: str | None = None,
    seed: int | None = None,
    keep_columns: str | None = None,
    keep_order: bool = False,
    overwrite: bool = False,
    json: bool = False,
    **roles: Any,
) -> None:
    """Read, apply the method, and write what may leave; further tables go beside it."""
    from celosia.release.measuring import protect
    from celosia.release.policy import Output
    from celosia.release.writing import write

    if out.exists() and Path(source).exists() and out.samefile(source):
        raise OutputError(f"the output {out.name!r} is the input; an original is never overwritten.")
    if out.exists() and not overwrite:
        raise OutputError(f"{out.name!r} is there already: choose another path or add --overwrite.")
    lists = {name: _names(roles.get(name)) for name in ("quasi", "sensitive", "identifiers")}
    singles = {name: roles.get(name) for name in ("person", "weight")}
    table, policy = open_source(
        source, {**lists, **singles, "hierarchies": _hierarchies(hierarchy)}, query=query, engine=engine
    )
    table = _declared(table, method)
    if policy is None:
        table = _suspected(table, method)
    with progress() as tell:
        protected = protect(table, method, seed=seed, progress=tell)
    keep = [*(policy.output.columns if policy else ()), *_names(keep_columns)]
    order = "kept" if keep_order else (policy.output if policy else Output()).order
    written = write(
        protected,
        out,
        keep=keep,
        order=order,
        seed=seed,
        overwrite=overwrite,
        keeping="--keep-columns",
        acknowledge=policy.guard.acknowledge if policy else None,
    )
    leaving = written.leaving
    told = {"files": written.files, "left_out": list(leaving.left_out), "kept": list(leaving.kept)}
    told["guard"] = [sighting.spec() for sighting in leaving.sightings]
    entry = {**protected.history[-1], **told}
    if json:
        print_json(entry)
        return
    print_step(entry, len(table), len(written.table))
    print_left_out(leaving)


def apply_file(record: Path, source: str, out: Path, *, released: Path | None, overwrite: bool, json: bool) -> bool:
    """Apply the transformation of a private record to new records; tells whether the requirements hold for them."""
    from celosia.cli.show import console
    from celosia.release.applying import apply
    from celosia.release.certificate import load_record
    from celosia.release.policy import Policy
    from celosia.release.writing import write

    made = apply(record, source, released=released)
    policy = Policy.parse(load_record(record)["policy"], record.parent)
    output = policy.output
    written = write(
        made.table,
        out,
        original=made.original,
        methods=made.methods,
        keep=output.columns,
        order=output.order,
        originals=[source],
        overwrite=overwrite,
        keeping="output.columns",
        acknowledge=policy.guard.acknowledge,
    )
    leaving = written.leaving
    found = {**made.spec(), "out": str(out), "left_out": list(leaving.left_out)}
    found["guard"] = [sighting.spec() for sighting in leaving.sightings]
    if json:
        print_json(found)
        return made.holds
    shown = console()
    shown.print(f"{found['rows']} new records written to {out}; {found['unplaced']} had no place and are suppressed.")
    for requirement in found["requirements"]:
        shown.print(f"{requirement['part']}: {requirement['violating']} new records violate it")
    print_left_out(leaving)
    return made.holds


def _declared(table: Table, method: Method) -> Table:
    """The table with the columns declared that the command itself names for overwriting."""
    schema = table.schema
    for name in method.overwrites(Schema()):
        if name in schema:
            schema = schema.change(name, declared=True)
    return replace(table, rows=replace(table.rows, schema=schema))


def _suspected(table: Table, method: Method) -> Table:
    """The table with the declared columns as identifiers that look like some and that the method does not overwrite."""
    from celosia.proposals import suggest

    schema = table.schema
    settled = {*method.overwrites(schema), *schema.naming}
    doubted = [name for name in table.names if schema[name].declared and name not in settled]
    if not doubted or not len(table):
        return table
    for suggestion in suggest(table.engine.streamed(table.engine.select(table.rows.frame, doubted))):
        if suggestion.role in NAMING:
            schema = schema.change(suggestion.name, roles=schema[suggestion.name].roles | {Role.IDENTIFIER})
    return replace(table, rows=replace(table.rows, schema=schema))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _hierarchies(entries: Sequence[str] | None) -> dict[str, str]:
    pairs = {}
    for entry in entries or ():
        column, equals, value = entry.partition("=")
        if not equals:
            raise ParameterError(f"--hierarchy takes COLUMN=FILE or COLUMN=builder(…), got {entry!r}.")
        pairs[column.strip()] = value.strip()
    return pairs
