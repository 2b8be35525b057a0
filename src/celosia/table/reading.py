"""How a table is read: the file or frame is opened, an engine chosen, and the columns are checked and described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.classes import Rows
from celosia.data.cleaning import cleaned
from celosia.data.engines import engine_for, engine_named
from celosia.data.engines.engine import Engine, unsigned
from celosia.data.schema import Schema
from celosia.errors import DataError
from celosia.table.table import Table


def read(
    source: Any,
    schema: Schema | None = None,
    *,
    engine: str | None = None,
    query: str | None = None,
    clean: Mapping[str, Any] | None = None,
    **options: Any,
) -> Table:
    """Read a table: a path, a database URL with a query, or a data frame.

    Files are scanned lazily. A frame may be of Polars, pandas, PyArrow, DuckDB or Spark; ``table.frame`` gives the same
    kind back. ``engine`` is "polars" (default), "duckdb", or "spark", which may name its master: "spark:local[2]".
    ``clean`` says what is cleaned before anything is counted, as :func:`celosia.data.cleaning.cleaned` takes it:
    ``{"strip": [...], "same": {...}, "missing": {...}}``.

    >>> import polars as pl
    >>> table = read(pl.DataFrame({"age": [30, 31], "city": ["A", "A"]}), Schema.of(quasi=["age", "city"]))
    >>> len(table), table.schema.quasi
    (2, ('age', 'city'))
    """
    if isinstance(source, Table):
        return source.with_schema(schema) if schema is not None else source
    facts = None
    origin = _origin(source)
    if origin == "file":
        chosen, frame, facts = _opened(source, engine, {**({"query": query} if query else {}), **options})
        origin = "polars"
    else:
        chosen = engine_named(engine) if engine else engine_for(source)
        frame = chosen.accept(source)
    names = list(chosen.types(frame))
    if chosen.name != "polars" and any("." in name for name in names):
        # Narwhals takes a full stop in a column name of these for the end of a table name.
        if chosen.name == "spark":
            raise DataError("column names with a full stop cannot be used on Spark: rename them, or use DuckDB.")
        chosen = engine_named("polars")
        frame = chosen.accept(frame)
    _check_names(names)
    if clean:
        frame = cleaned(frame, **clean)
    rows = Rows.described(chosen, unsigned(frame), schema or Schema())
    return Table(rows, origin=origin, facts=facts, ordered=facts is None)


def _origin(source: Any) -> str:
    if isinstance(source, str | Path | Mapping):
        return "file"
    library = type(source).__module__.split(".")[0]
    known = {name: name for name in ("polars", "pandas", "pyarrow", "duckdb")}
    known |= {"_duckdb": "duckdb", "pyspark": "spark"}
    if library not in known:
        raise DataError(
            f"cannot read a {type(source).__name__}: give a path, a database URL, "
            "or a Polars, pandas, PyArrow, DuckDB or Spark frame."
        )
    return "lazy" if type(source).__name__ == "LazyFrame" else known[library]


def _opened(source: Any, engine: str | None, options: Mapping[str, Any]) -> tuple[Engine, Any, Any]:
    """The engine that scans a file, its frame, and what the reader learnt about the file."""
    from celosia.data.io import scan

    opened = scan(source, **options)
    chosen = engine_named(engine) if engine else engine_for(opened.frame)
    native = None
    if engine_for(opened.frame).name != chosen.name:
        native = chosen.scan_like(opened.facts, opened.frame)
    return chosen, native if native is not None else chosen.accept(opened.frame), opened.facts


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise DataError("the table has no columns.")
    reserved = [name for name in names if name.startswith("__")]
    if reserved:
        raise DataError(f"column names that start with two underscores are reserved; rename {reserved[0]!r}.")
    patterns = [name for name in names if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if patterns:
        raise DataError(f"{len(patterns)} column names are read as patterns ('*' or '^…$'); rename them.")
