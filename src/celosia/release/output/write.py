"""Writing a protected table: what may leave, in an order that tells nothing, whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.io import FileFacts
from celosia.data.io import write as write_frame
from celosia.data.io.atomic import refuse_originals, refuse_taken, together
from celosia.data.io.filetypes import type_of
from celosia.data.io.options import option_names
from celosia.release.evidence.certificate import journal_of
from celosia.release.output.columns import Leaving, arranged, further_tables, releasable
from celosia.streams import Stream
from celosia.table import Table, read, read_protected

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.parts import Method


@dataclass(frozen=True, eq=False)
class Written:
    """The files of a protected table, and what was decided about its columns."""

    table: Table
    """The records as they were written."""
    leaving: Leaving
    files: dict[str, str]
    """The path of each file: ``out``, and the further tables by name."""


def write(
    table: Any,
    out: str | Path,
    *,
    schema: Schema | None = None,
    original: Any = None,
    methods: Sequence[Method] | None = None,
    keep: Collection[str] = (),
    order: str = "shuffled",
    seed: int | None = None,
    originals: Iterable[str | Path] = (),
    overwrite: bool = False,
    keeping: str = "keep",
    acknowledge: Mapping[str, str] | None = None,
) -> Written:
    """Write a protected table: the columns that may leave, the records shuffled, further tables beside it.

    A frame is described by ``schema``; without one none of its columns is declared, so that none may leave.
    ``original`` and ``methods`` are the input and the steps that the table remembers, unless given. ``keep`` names
    columns that leave although they are not declared or name somebody. ``order="kept"`` keeps the order of the
    records. ``acknowledge`` gives the reason, by column, why something that the guard sees may leave. Nobody has
    measured anything: :func:`celosia.run` does, and writes the evidence beside the data.

    >>> import polars as pl, celosia, tempfile
    >>> people = pl.DataFrame({"name": ["Ana", "Blai"], "age": [31, 47]})
    >>> table = celosia.read(people, celosia.Schema.of(identifiers=["name"], quasi=["age"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write(celosia.protect(table, "round(columns=age, base=10)"), f"{folder}/safe.csv")
    >>> written.table.names, dict(written.leaving.left_out)
    (('age',), {'name': 'identifier'})
    """
    table = read_protected(table, schema).identified()
    path, first = Path(out), table.first if original is None else read(original, schema)
    steps = [secret["method"] for secret in table.secrets if "method" in secret] if methods is None else methods
    leaving = releasable(first, table, steps, keep, keeping=keeping, acknowledge=acknowledge)
    released = arranged(leaving, order, Stream.of(seed, first.fingerprint))
    tables = {"out": released.engine.select(released.rows.frame, released.names)}
    tables |= {name: other.visible() for name, other in further_tables(released).items()}
    paths = {name: path if name == "out" else beside(path, f".{name}") for name in tables}
    facts = (
        None if first.facts is None else replace(first.facts, title=None, sheet=None)
    )  # free text about the original
    if len(tables) == 1:
        write_frame(tables["out"], path, facts, originals=originals, overwrite=overwrite, **writer_options(path))
    else:
        _write_together(tables, paths, facts, originals, overwrite=overwrite)
    return Written(released, leaving, {name: str(place) for name, place in paths.items()})


def beside(path: Path, name: str, ending: str | None = None) -> Path:
    """The path of a file beside the data, named after them and, unless told otherwise, of the same type.

    >>> str(beside(Path("out/safe.csv.gz"), ".groups")), beside(Path("safe.csv"), ".certificate", ".json").name
    ('out/safe.groups.csv.gz', 'safe.certificate.json')
    """
    own = path.name[-len(".csv.gz") :] if path.name.lower().endswith(".csv.gz") else path.suffix
    return path.with_name(path.name.removesuffix(own) + name + (own if ending is None else ending))


def writer_options(path: Path, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the options for writing a released file: texts that a spreadsheet would execute are quoted by default.

    >>> writer_options(Path("safe.csv")), writer_options(Path("safe.csv"), {"formulas": "keep"})
    ({'formulas': 'quote'}, {'formulas': 'keep'})
    """
    default = {"formulas": "quote"} if "formulas" in option_names(type_of(path).write, 3) else {}
    return {**default, **(options or {})}


def _write_together(
    tables: Mapping[str, Any],
    paths: Mapping[str, Path],
    facts: FileFacts | None,
    originals: Iterable[str | Path],
    *,
    overwrite: bool,
) -> None:
    """Write a table and those beside it: all of the files appear, or none."""
    given = list(originals)
    for path in paths.values():
        refuse_originals(path, given)
    if not overwrite:
        refuse_taken(paths.values())
    journal = journal_of(beside(paths["out"], ".certificate", ".json"))
    with together(paths, journal, fresh=not overwrite) as drafts:
        for name, frame in tables.items():
            kind, own = type_of(paths[name]).name, facts if name == "out" else None
            write_frame(frame, drafts[name], own, type=kind, overwrite=True, **writer_options(paths[name]))
