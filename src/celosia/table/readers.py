"""Read tables: open the file or frame, choose an engine, check the columns and bind the schema."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from celosia.classes import EngineFrame, Rows
from celosia.data.clean import clean_frame
from celosia.data.engines import engine_for, engine_named, installed_engines
from celosia.data.engines.engine import Engine
from celosia.data.engines.lazy_frames import frame_types, without_negative_zero
from celosia.data.frames import ARROW_INDEX, FrameMetadata, library_of, unwrap_frame
from celosia.data.memory import bytes_of
from celosia.data.schema import Kind, Schema
from celosia.errors import DataError
from celosia.table.provenance import Origin
from celosia.table.table import Table

if TYPE_CHECKING:
    from celosia.data.io import Scan

SMALL = 200_000_000
"""Most cells of a file that Polars holds unless an engine is named; DuckDB holds larger ones."""
SCANNED = ("csv", "parquet")
CELL_BYTES = 6  # of a usual cell in a text file, its separator included


def read(
    source: object,
    schema: Schema | None = None,
    *,
    engine: str | None = None,
    memory: str | int | None = None,
    query: str | None = None,
    clean: Mapping[str, Any] | None = None,
    empty: Literal["value", "missing"] = "value",
    **options: object,
) -> Table:
    """Read a table: a path, a database URL with a query, or a data frame.

    Files are scanned lazily. A frame may be of Polars, pandas, PyArrow, DuckDB or Spark; ``table.frame`` is of the same
    kind, that of pandas with its index. ``engine`` is "polars", "duckdb", or "spark", which may name its master:
    "spark:local[2]"; unless given, it is that of a frame, and Polars or (above :data:`SMALL` cells) DuckDB for a file.
    ``memory`` is the memory that the engine may use, such as "2GB": a table that does not fit is streamed, and DuckDB
    spills to disk. ``clean`` says what is cleaned before anything is counted, as
    :func:`celosia.data.clean.clean_frame` takes it: ``{"strip": [...], "same": {...}, "missing": {...}}``. An ``empty``
    text is a value, or missing, as in a CSV file, which cannot distinguish them.

    >>> import polars as pl
    >>> table = read(pl.DataFrame({"age": [30, 31], "city": ["A", "A"]}), Schema.of(quasi=["age", "city"]))
    >>> len(table), table.schema.quasi
    (2, ('age', 'city'))
    """
    if isinstance(source, Table):
        return source.with_schema(schema) if schema is not None else source
    facts = None
    origin = library_of(source)
    around = FrameMetadata()
    limit = None if memory is None else bytes_of(memory)
    if origin == "file":
        chosen, frame, facts = _open_file(
            cast("str | Path", source), engine, limit, {**({"query": query} if query else {}), **options}
        )
        origin = "polars"
    else:
        given, around = unwrap_frame(source, origin)
        chosen = engine_named(engine or engine_for(given).name, limit)
        frame = chosen.accept(given)
    names = list(frame_types(frame))
    if facts is not None and (index := [name for name in names if name.startswith(ARROW_INDEX)]):
        frame = _drop(frame, index)
        names = [name for name in names if name not in index]
        note = f"{', '.join(index)}: row numbers that pandas wrote, not read"
        facts = replace(facts, notes=(*facts.notes, note), plain=False)
    if chosen.name != "polars" and any("." in name for name in names):
        # Narwhals takes a full stop in a column name of these for the end of a table name.
        if chosen.name == "spark":
            raise DataError("column names with a full stop cannot be used on Spark: rename them, or use DuckDB.")
        chosen = engine_named("polars")
        frame = chosen.accept(frame)
    _check_names(names)
    _check_types(frame_types(frame))
    if clean:
        frame = clean_frame(frame, **clean)
    if empty == "missing" and (facts is None or facts.type != "csv"):
        frame = _without_empty(frame)
    rows = Rows.bind(chosen, without_negative_zero(frame), schema or Schema())
    return Table(rows, Origin(origin, around, facts, ordered=facts is None))


def _drop(frame: EngineFrame, names: Sequence[str]) -> EngineFrame:
    """Return the frame without some columns."""
    import narwhals as nw

    return nw.from_native(frame).drop(*names).to_native()


def _without_empty(frame: EngineFrame) -> EngineFrame:
    """Replace empty texts by missing values."""
    import narwhals as nw

    own = nw.from_native(frame)
    texts = [name for name, dtype in own.collect_schema().items() if dtype == nw.String]
    return (
        own.with_columns(**{n: nw.when(nw.col(n) != "").then(nw.col(n)) for n in texts}).to_native() if texts else frame
    )


def read_released(path: Path | str, engine: str | None = None) -> Table:
    """Read a file of a release strictly (:mod:`celosia.data.io.released`)."""
    from celosia.data.io.filetypes import type_of
    from celosia.data.io.released import STRICT

    options: dict[str, Any] = dict(STRICT.get(type_of(path).name, {}))
    return read(path, engine=engine, **options)


def read_protected(source: object, schema: Schema | None = None) -> Table:
    """Read a table that may be protected already, under the schema of its original.

    Identifying columns may be gone, and numbers or dates may have become labels.
    """
    if schema is None or isinstance(source, Table):
        return read(source, schema)
    bare = read(source)
    gone = {name for name in schema.naming if name not in bare.names}
    own = schema.keep(name for name in schema.names if name not in gone)
    for name in own.names:
        if (
            name in bare.schema
            and bare.schema[name].kind == Kind.NOMINAL
            and own[name].kind in (Kind.NUMERIC, Kind.DATE)
        ):
            own = own.change(name, kind=None)
    return bare.with_schema(own)


def _open_file(
    source: str | Path, engine: str | None, memory: int | None, options: Mapping[str, Any]
) -> tuple[Engine[Any], Any, Any]:
    """Return the engine that scans a file, its frame, and the facts about the file."""
    from celosia.data.io import scan

    opened = scan(source, **options)
    chosen = engine_named(engine or _by_size(opened).name, memory)
    if opened.connection is not None:
        from celosia.data.engines.duckdb import DuckDB

        if isinstance(chosen, DuckDB):
            chosen.use(opened.connection)
            return chosen, opened.frame, opened.facts
    return chosen, chosen.accept(opened.frame, opened.facts), opened.facts


def _by_size(opened: Scan) -> Engine[Any]:
    """Choose Polars, or DuckDB with a warning for a file that may not fit into memory."""
    usual = engine_for(opened.frame)
    path = opened.facts.source
    if (
        usual.name != "polars"
        or path is None
        or opened.facts.type not in SCANNED
        or "duckdb" not in installed_engines()
    ):
        return usual
    cells = path.stat().st_size // CELL_BYTES
    if opened.facts.type == "parquet":  # compressed, but its metadata has the number of rows
        import polars as pl

        cells = opened.frame.select(pl.len()).collect().item() * len(opened.frame.collect_schema())
    if cells <= SMALL:
        return usual
    warnings.warn(
        f"{path.name} has about {cells:.2g} cells, more than {SMALL:.2g}: DuckDB holds the rows. Name the engine to "
        "have another (engine, --engine).",
        stacklevel=4,
    )
    return engine_named("duckdb")


def _check_types(types: Mapping[str, Any]) -> None:
    """Refuse columns of bytes, which cannot be counted or written as text."""
    import narwhals as nw

    binary = [name for name, dtype in types.items() if dtype == nw.Binary]
    if binary:
        raise DataError(f"column {binary[0]!r} holds bytes, not values. Decode it to text, or leave it out.")


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise DataError("the table has no columns.")
    reserved = [name for name in names if name.startswith("__")]
    if reserved:
        raise DataError(f"column names that start with two underscores are reserved; rename {reserved[0]!r}.")
    patterns = [name for name in names if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if patterns:
        raise DataError(f"{len(patterns)} column names are read as patterns ('*' or '^…$'); rename them.")
