"""``celosia protect``: one method on one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from celosia.catalogue import Method
from celosia.cli.measure import open_source
from celosia.cli.show import print_json, print_step, progress
from celosia.errors import OutputError, ParameterError
from celosia.io import write


def protect_file(
    method: Method,
    *,
    source: str,
    out: Path,
    hierarchy: Sequence[str] | None = None,
    query: str | None = None,
    engine: str | None = None,
    seed: int | None = None,
    overwrite: bool = False,
    json: bool = False,
    **roles: Any,
) -> None:
    """Read, apply the method, write the result without identifiers; further tables go beside it."""
    from celosia.verbs import protect

    if out.exists() and Path(source).exists() and out.samefile(source):
        raise OutputError(f"the output {out.name!r} is the input; an original is never overwritten.")
    if out.exists() and not overwrite:
        raise OutputError(f"{out.name!r} is there already: choose another path or add --overwrite.")
    lists = {name: _names(roles.get(name)) for name in ("quasi", "sensitive", "identifiers")}
    singles = {name: roles.get(name) for name in ("person", "weight")}
    table, _ = open_source(
        source, {**lists, **singles, "hierarchies": _hierarchies(hierarchy)}, query=query, engine=engine
    )
    with progress() as tell:
        protected = protect(table, method, seed=seed, progress=tell)
    named = {column for column in protected.schema.identifiers if column in protected.names}
    released = protected.drop(sorted(named - _touched(method)))
    write(released.visible(), out, table.facts, overwrite=overwrite)
    written = {"out": str(out)}
    for name, other in protected.secrets[-1].get("tables", {}).items():
        beside = out.with_name(f"{out.stem}.{name}{out.suffix}")
        write(other.visible(), beside, overwrite=overwrite)
        written[name] = str(beside)
    entry = {**protected.history[-1], "files": written}
    print_json(entry) if json else print_step(entry, len(table), len(released))


def apply_file(record: Path, source: str, out: Path, *, released: Path | None, overwrite: bool, json: bool) -> bool:
    """Apply the transformation of a private record to new records; tells whether the requirements hold for them."""
    from celosia.cli.show import console
    from celosia.policy import Policy
    from celosia.reuse import apply_record, read_record
    from celosia.run import releasable
    from celosia.streams import Stream, fresh_seed

    made = apply_record(record, source, released=released)
    policy = Policy.parse(read_record(record)["policy"], record.parent)
    table, _ = releasable(made.table, policy)
    frame = table.rows.frame
    if policy.output.order == "shuffled":
        frame = table.engine.shuffle(frame, Stream(fresh_seed()).child("output"))
    visible = table.engine.select(frame, table.names)
    write(visible, out, made.table.facts, originals=[source], overwrite=overwrite)
    found = {**made.spec(), "out": str(out)}
    if json:
        print_json(found)
        return made.holds
    shown = console()
    shown.print(f"{found['rows']} new records written to {out}; {found['unplaced']} had no place and are suppressed.")
    for requirement in found["requirements"]:
        shown.print(f"{requirement['part']}: {requirement['violating']} new records violate it")
    return made.holds


def _touched(method: Method) -> set[str]:
    from celosia.catalogue import named_columns

    return {column for _, column in named_columns(method)}


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
