"""DuckDB: files larger than memory, and relations of the user's own connection."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import narwhals as nw
import polars as pl

from celosia.data.engines.engine import COLLECT_LIMIT, RECORD, Engine
from celosia.data.io.statement import quoted

_views = itertools.count()
_SQL_TYPES = {
    pl.Int64: "BIGINT",
    pl.Float64: "DOUBLE",
    pl.String: "VARCHAR",
    pl.Boolean: "BOOLEAN",
    pl.Date: "DATE",
}


class DuckDB(Engine):
    """Runs on the connection of each relation; small tables reach it by DuckDB's look-up of Python variables."""

    name: ClassVar[str] = "duckdb"

    def scan(self, path: Path, **options: Any) -> duckdb.DuckDBPyRelation:
        """Scan CSV or Parquet on a connection of its own; ``types`` maps the columns of a CSV to SQL types."""
        connection = duckdb.connect()
        if path.suffix.lower() in {".parquet", ".pq"}:
            return connection.read_parquet(str(path))
        return connection.read_csv(str(path), header=True, **options)

    def scan_like(self, facts: Any, frame: pl.LazyFrame) -> duckdb.DuckDBPyRelation | None:
        """Scan a Parquet file, or a CSV file in UTF-8 with decimal points, with the types that Polars found."""
        path = getattr(facts, "source", None)
        if path is None or path.suffix.lower() not in {".csv", ".tsv", ".parquet", ".pq"}:
            return None
        if facts.type == "parquet":
            return self.scan(path)
        types = {name: _SQL_TYPES.get(type(dtype)) for name, dtype in frame.collect_schema().items()}
        plain = facts.plain and facts.encoding in {None, "utf-8", "utf8"}
        if not plain or None in types.values():
            return None
        return self.scan(path, sep=facts.separator or ",", dtype=types)

    def accept(self, frame: Any) -> duckdb.DuckDBPyRelation:
        """Take over a relation as it is, other frames through Arrow."""
        if isinstance(frame, duckdb.DuckDBPyRelation):
            return frame
        if isinstance(frame, pl.LazyFrame):
            frame = frame.collect()
        polars = frame if isinstance(frame, pl.DataFrame) else nw.from_native(frame, eager_only=True).to_polars()
        connection = duckdb.connect()
        return connection.from_arrow(polars)

    def identify(self, frame: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Add the row number as record id."""
        return frame.project(f"*, row_number() OVER () - 1 AS {RECORD}")

    def attach(
        self, frame: duckdb.DuckDBPyRelation, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True
    ) -> duckdb.DuckDBPyRelation:
        """Null-safe join with a Polars frame."""
        same = " AND ".join(f"big.{quoted(name)} IS NOT DISTINCT FROM small.{quoted(name)}" for name in on)
        added = "".join(f", small.{quoted(name)}" for name in small.columns if name not in on)
        how = "LEFT" if keep_unmatched else "INNER"
        # The name becomes a view of the connection, so that each join needs one of its own.
        view = f"celosia_{next(_views)}"
        return frame.query(view, f"SELECT big.*{added} FROM {view} AS big {how} JOIN small ON {same}")  # noqa: S608

    def collect(self, frame: duckdb.DuckDBPyRelation) -> pl.DataFrame:
        """Run the query."""
        return pl.DataFrame(frame)

    def streamed(self, frame: duckdb.DuckDBPyRelation) -> pl.LazyFrame:
        """In memory below the stated bound, batch by batch above it."""
        small = self.rows(frame) * len(frame.columns) <= COLLECT_LIMIT
        return self.collect(frame).lazy() if small else frame.pl(lazy=True)

    def quantiles(self, frame: duckdb.DuckDBPyRelation, column: str, shares: Sequence[float]) -> list[float]:
        """Quantiles of one column in one pass."""
        wanted = ", ".join(f"quantile_cont({quoted(column)}, {float(q)!r})" for q in shares)
        return [float(value) for value in frame.aggregate(wanted).fetchone() or ()]

    def write(self, frame: duckdb.DuckDBPyRelation, path: Path, **options: Any) -> None:
        """Write by streaming; the caller gives a temporary path."""
        if path.suffix.lower() in {".parquet", ".pq"}:
            frame.write_parquet(str(path))
        else:
            frame.write_csv(str(path), **options)
