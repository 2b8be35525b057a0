"""Write a protected table: allowed columns only, records shuffled, all files or none."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.engines.lazy_frames import select_columns
from celosia.data.io import FileFacts
from celosia.data.io import write as write_frame
from celosia.data.io.atomic import refuse_existing, refuse_originals, replace_files
from celosia.data.io.filetypes import type_of
from celosia.data.io.options import option_names
from celosia.parts import Formal
from celosia.release.evidence.certificate import journal_of
from celosia.release.output.columns import OutputTable, further_tables, order_records, select_output
from celosia.streams import Stream
from celosia.table import Table, read, read_protected
from celosia.table.derive import with_record_ids
from celosia.table.frames import table_fingerprint, visible_frame

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.parts import Method


@dataclass(frozen=True, eq=False)
class Written:
    """Files of a protected table, and the decisions about its columns."""

    table: Table
    """Records as written."""
    leaving: OutputTable
    files: dict[str, str]
    """Path of each file: ``out``, and the further tables by name."""


def write(
    table: object,
    out: str | Path,
    *,
    schema: Schema | None = None,
    original: object = None,
    methods: Sequence[Method] | None = None,
    keep: Collection[str] = (),
    order: str = "shuffled",
    seed: int | None = None,
    originals: Iterable[str | Path] = (),
    overwrite: bool = False,
    keeping: str = "keep",
    acknowledge: Mapping[str, str] | None = None,
) -> Written:
    """Write the allowed columns of a protected table, records shuffled, and its further tables next to it.

    A frame is described by ``schema``; without one no column is declared, and none is released. ``original`` and
    ``methods`` default to the input and the steps that the table stores. ``keep`` names columns to release although
    they are undeclared or identify people. ``order="kept"`` keeps the order of the records. ``acknowledge`` maps
    columns to the reason why they may be released despite what the guard finds in them. Nothing is measured:
    :func:`celosia.run` measures and writes the evidence too.

    >>> import polars as pl, celosia, tempfile
    >>> people = pl.DataFrame({"name": ["Ana", "Blai"], "age": [31, 47]})
    >>> table = celosia.read(people, celosia.Schema.of(identifiers=["name"], quasi=["age"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write(celosia.protect(table, "round(columns=age, base=10)"), f"{folder}/safe.csv")
    >>> written.table.names, dict(written.leaving.left_out)
    (('age',), {'name': 'identifier'})
    """
    protected = with_record_ids(read_protected(table, schema))
    path, first = Path(out), protected.first if original is None else read(original, schema)
    steps = (
        [secret["method"] for secret in protected.private_history if "method" in secret] if methods is None else methods
    )
    output = select_output(first, protected, steps, keep, keeping=keeping, acknowledge=acknowledge)
    released = order_records(output, order, Stream.of(seed, functools.partial(table_fingerprint, first)))
    tables = {"out": select_columns(released.rows.frame, released.names)}
    tables |= {name: visible_frame(other) for name, other in further_tables(released).items()}
    paths = {name: path if name == "out" else sibling_path(path, f".{name}") for name in tables}
    facts = output_facts(first.origin.facts, steps)
    if len(tables) == 1:
        write_frame(tables["out"], path, facts, originals=originals, overwrite=overwrite, **writer_options(path))
    else:
        _write_together(tables, paths, facts, originals, overwrite=overwrite)
    return Written(released, output, {name: str(place) for name, place in paths.items()})


def output_facts(facts: FileFacts | None, methods: Iterable[Method], title: str | None = None) -> FileFacts | None:
    """Return how a release is written: like the original, without its title and sheet, free text about the original.

    With a formal guarantee a text file has the separator and the decimal mark of a new file: one record may decide
    which ones the reader of the original detects.
    """
    if facts is None:
        return None
    if any(isinstance(method, Formal) for method in methods):
        facts = replace(facts, separator=None, decimal=None)
    return replace(facts, title=title, sheet=None)


def sibling_path(path: Path, name: str, ending: str | None = None) -> Path:
    """Path in the same directory, named after the data, with the same ending unless another one is given.

    >>> sibling_path(Path("safe.csv.gz"), ".groups").name, sibling_path(Path("safe.csv"), ".certificate", ".json").name
    ('safe.groups.csv.gz', 'safe.certificate.json')
    """
    suffix = path.name[-len(".csv.gz") :] if path.name.lower().endswith(".csv.gz") else path.suffix
    return path.with_name(path.name.removesuffix(suffix) + name + (suffix if ending is None else ending))


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
    """Write several tables: all of the files appear, or none."""
    sources = list(originals)
    for path in paths.values():
        refuse_originals(path, sources)
    if not overwrite:
        refuse_existing(paths.values())
    journal = journal_of(sibling_path(paths["out"], ".certificate", ".json"))
    with replace_files(paths, journal, fresh=not overwrite) as drafts:
        for name, frame in tables.items():
            kind, own_facts = type_of(paths[name]).name, facts if name == "out" else None
            write_frame(frame, drafts[name], own_facts, type=kind, overwrite=True, **writer_options(paths[name]))
