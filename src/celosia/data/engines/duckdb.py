"""DuckDB engine: files larger than memory, and relations of the user's own connection."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import duckdb
import narwhals as nw
import polars as pl

from celosia.data.engines.engine import COLLECT_LIMIT, Engine
from celosia.data.engines.lazy_frames import RECORD, ROWS, is_consecutive, select_columns, to_polars
from celosia.data.engines.row_codes import HIGHS, KEY, LOWS, KeyCounts, pack_codes
from celosia.data.io.statement import KEEP_JOIN_ORDER, quote_name
from celosia.data.spill import spill_folder
from celosia.errors import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from celosia.data.engines.engine import Domains, Orders
    from celosia.data.io.facts import FileFacts
    from celosia.histogram import Domain, Histogram

_names = itertools.count()
BATCH = 100_000
"""Rows of a batch that is passed to Polars."""
OWN_SHARE = 0.5
"""Share of the memory limit that DuckDB gets: it counts its buffers only, and Python needs memory too."""
FEW = 10_000
"""Largest number of values of an enumeration, which are all written in the query."""
LISTED = 100
"""Largest number of values that are looked up in a list, once per entry of a Parquet file's dictionary."""
_SQL_TYPES = {
    pl.Int64: "BIGINT",
    pl.Float64: "DOUBLE",
    pl.String: "VARCHAR",
    pl.Int32: "INTEGER",
    pl.Int16: "SMALLINT",
    pl.Int8: "TINYINT",
    pl.UInt64: "UBIGINT",
    pl.UInt32: "UINTEGER",
    pl.UInt16: "USMALLINT",
    pl.UInt8: "UTINYINT",
    pl.Float32: "FLOAT",
    pl.Boolean: "BOOLEAN",
    pl.Date: "DATE",
}


_PLACE = "__place__"


class DuckDB(Engine[duckdb.DuckDBPyRelation]):
    """Runs on the connection of each relation; on a user's connection DuckDB finds small tables as Python variables."""

    name: ClassVar[str] = "duckdb"

    def __init__(self, memory: int | None = None) -> None:
        super().__init__(memory)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._foreign = False

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Connection of this engine; it spills to the spill folder."""
        if self._connection is None:
            config: dict[str, str | bool] = {"temp_directory": str(spill_folder()), **KEEP_JOIN_ORDER}
            if self.memory is not None:  # without a cache of files, which the operating system has outside the limit
                config |= {"memory_limit": f"{int(self.memory * OWN_SHARE)}B", "enable_external_file_cache": False}
            self._connection = duckdb.connect(config=config)
        return self._connection

    def _scan(self, path: Path) -> duckdb.DuckDBPyRelation:
        """Open a Parquet file."""
        return self.connection.read_parquet(exact_path(path))

    def _scan_like(self, facts: FileFacts, frame: pl.LazyFrame) -> duckdb.DuckDBPyRelation | None:
        """Open a Parquet file, or a CSV file in UTF-8 with decimal points, with the types that Polars found."""
        path = facts.source
        if path is None or path.suffix.lower() not in {".csv", ".tsv", ".parquet", ".pq"}:
            return None
        if facts.type == "parquet":
            return self._scan(path)
        types = {name: _SQL_TYPES.get(type(dtype)) for name, dtype in frame.collect_schema().items()}
        plain = facts.plain and facts.encoding in {None, "utf-8", "utf8"}
        if not plain or None in types.values():
            return None
        separator, file = facts.separator or ",", exact_path(path)
        return self.connection.read_csv(file, header=True, hive_partitioning=False, sep=separator, dtype=types)

    def accept(self, frame: IntoFrame, facts: FileFacts | None = None) -> duckdb.DuckDBPyRelation:
        """Return a relation as it is, open a file that DuckDB reads, and convert other frames through Arrow."""
        if isinstance(frame, duckdb.DuckDBPyRelation):
            self._foreign = True  # its connection is not accessible
            return frame
        opened = self._scan_like(facts, frame) if facts is not None and isinstance(frame, pl.LazyFrame) else None
        return self.connection.from_arrow(to_polars(frame)) if opened is None else opened

    def use(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Use a connection, to which the relations of all later calls belong."""
        self._connection = connection

    def identify(self, frame: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Add the row number as record id."""
        return frame.project(f"*, row_number() OVER () - 1 AS {RECORD}")

    def attach(
        self, frame: duckdb.DuckDBPyRelation, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True
    ) -> duckdb.DuckDBPyRelation:
        """Null-safe join with a Polars frame, which keeps the order of the rows."""
        source = "small"  # on a user's connection DuckDB looks the Python variable up
        if not self._foreign:
            source = f"celosia_{next(_names)}"
            self.connection.register(source, small.to_arrow())
        same = " AND ".join(f"big.{quote_name(name)} IS NOT DISTINCT FROM small.{quote_name(name)}" for name in on)
        added = "".join(f", small.{quote_name(name)}" for name in small.columns if name not in on)
        how = "LEFT" if keep_unmatched else "INNER"
        # The name becomes a view of the connection, so that each join needs a new one.
        view = f"celosia_{next(_names)}"
        big, order = view, ""
        if self._foreign:  # its settings are the user's
            big = f"(SELECT *, row_number() OVER () AS {_PLACE} FROM {view})"  # noqa: S608
            added, order = f" EXCLUDE ({_PLACE}){added}", f" ORDER BY big.{_PLACE}"
        query = f"SELECT big.*{added} FROM {big} AS big {how} JOIN {source} AS small ON {same}{order}"  # noqa: S608
        return frame.query(view, query)

    def collect(self, frame: duckdb.DuckDBPyRelation) -> pl.DataFrame:
        """Run the query."""
        return pl.DataFrame(frame)

    def to_polars_lazy(self, frame: duckdb.DuckDBPyRelation, rows: int | None = None) -> pl.LazyFrame:
        """Collect a table within memory; stream a larger one by batches."""
        from polars.io.plugins import register_io_source

        if not self.exceeds_memory((self.rows(frame) if rows is None else rows) * len(frame.columns)):
            return self.collect(frame).lazy()
        schema = self.collect(frame.limit(0)).schema
        texts = [pl.col(name).cast(pl.String) for name, dtype in schema.items() if dtype in (pl.Categorical, pl.Enum)]
        types = {name: pl.String() if dtype in (pl.Categorical, pl.Enum) else dtype for name, dtype in schema.items()}

        def batches(
            columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
        ) -> Iterator[pl.DataFrame]:
            wanted = frame if columns is None else select_columns(frame, columns)
            cast = texts if columns is None else [text for text in texts if text.meta.output_name() in columns]
            for batch in (wanted if limit is None else wanted.limit(limit)).to_arrow_reader(BATCH):
                cells = pl.DataFrame(batch).with_columns(cast)
                yield cells if predicate is None else cells.filter(predicate)

        return register_io_source(batches, schema=pl.Schema(types))

    def map_batches(
        self,
        frame: duckdb.DuckDBPyRelation,
        inputs: Sequence[str],
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
    ) -> duckdb.DuckDBPyRelation:
        """Register the function for Arrow arrays; on a user's connection, compute and join its results."""
        if self._foreign:
            rows = self.collect(select_columns(frame, list(dict.fromkeys([RECORD, *inputs]))))
            results = function(rows.select(inputs)).select(pl.all().name.prefix("__new__"))
            joined = self.attach(frame, rows.select(RECORD).hstack(results), [RECORD])
            return _project(joined, {name: quote_name(f"__new__{name}") for name in outputs}, len(results.columns))

        name = f"celosia_{next(_names)}"
        types = dict(zip(frame.columns, frame.types, strict=True))
        fields = {each: _SQL_TYPES.get(type(dtype)) or types[each] for each, dtype in outputs.items()}
        self.connection.create_function(
            name,
            lambda rows: function(pl.Series(rows).struct.unnest()).select(*outputs).to_struct("made").to_arrow(),
            [duckdb.struct_type({each: types[each] for each in inputs})],
            duckdb.struct_type(fields),
            type="arrow",
            null_handling="special",
        )
        call = f"{name}(struct_pack({', '.join(f'{quote_name(each)} := {quote_name(each)}' for each in inputs)}))"
        return _project(
            frame.project(f"*, {call} AS __made__"), {each: f"__made__.{quote_name(each)}" for each in outputs}, 1
        )

    def _tallies(self, frame: duckdb.DuckDBPyRelation, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Count all columns in one pass over the rows."""
        if len(names) < 2 or ROWS in frame.columns:
            return super()._tallies(frame, names)
        keys = ", ".join(map(quote_name, names))
        sets = ", ".join(f"({quote_name(name)})" for name in names)
        view = f"celosia_{next(_names)}"
        grouped = f"SELECT {keys}, grouping({keys}) AS __set__, count(*) AS {ROWS} FROM {view}"  # noqa: S608
        tallied = frame.query(view, f"{grouped} GROUP BY GROUPING SETS ({sets})")
        counted = self.collect(tallied)
        whole = (1 << len(names)) - 1
        return {
            name: counted.filter(pl.col("__set__") == whole ^ (1 << (len(names) - 1 - i))).select(name, ROWS)
            for i, name in enumerate(names)
        }

    def _replace_by_codes(self, frame: duckdb.DuckDBPyRelation, domains: Domains) -> duckdb.DuckDBPyRelation:
        """Replace text with few values and whole numbers without gaps by expressions, others by joins."""
        places = {name: _place(name, values) for name, values in domains.items()}
        codes = {name: place for name, place in places.items() if place is not None}
        coded = _project(frame, codes) if codes else frame
        return super()._replace_by_codes(coded, {name: values for name, values in domains.items() if name not in codes})

    def count(
        self,
        frame: duckdb.DuckDBPyRelation,
        names: Sequence[str],
        *,
        domains: Mapping[str, Domain],
        orders: Orders,
        person: str | None = None,
        weight: str | None = None,
    ) -> Histogram:
        """Count by values where a domain is not known: in one pass instead of two, if any result fits into memory."""
        new = person is None and self.memory is None and not set(names) <= set(domains)
        if new and self.rows(frame) * (len(names) + 2) <= COLLECT_LIMIT:
            return self._count_values(frame, names, orders, person, weight)
        return super().count(frame, names, domains=domains, orders=orders, person=person, weight=weight)

    def _counts_by_value(self, further: int) -> bool:
        return further <= 1 and self.memory is None

    def _count_by_key(
        self, frame: duckdb.DuckDBPyRelation, domains: Mapping[str, Domain], weight: str | None = None
    ) -> KeyCounts:
        """Group by the codes in few bytes, which is faster than by one key of eight bytes."""
        if not domains or ROWS in frame.columns:
            return super()._count_by_key(frame, domains, weight)
        coded = nw.from_native(self._coded_rows(frame, domains, None, weight))
        parts = [name for name in (HIGHS, LOWS) if name in coded.columns]
        summed = [nw.len().alias(ROWS), *(nw.col(name).sum() for name in parts)]
        counted = self.collect(coded.group_by(*domains).agg(*summed).to_native())
        keys = pack_codes({name: counted[name].to_numpy() for name in domains}, domains)
        sums = counted.select(pl.Series(KEY, keys), pl.col(ROWS, *parts).cast(pl.Int64))
        return KeyCounts.of_sums(sums)

    def _shrink_text(self, frame: duckdb.DuckDBPyRelation, domains: Domains) -> duckdb.DuckDBPyRelation:
        """Convert text with few values to enumerations."""
        types = dict(zip(frame.columns, frame.types, strict=True))
        small = {n: v for n, v in domains.items() if _enumerable(v) and str(types[n]) == "VARCHAR"}
        return _project(frame, {n: f"{quote_name(n)}::{_enumeration(v)}" for n, v in small.items()}) if small else frame

    def quantiles(self, frame: duckdb.DuckDBPyRelation, column: str, shares: Sequence[float]) -> list[float]:
        """Quantiles of one column in one pass."""
        wanted = ", ".join(f"quantile_cont({quote_name(column)}, {float(q)!r})" for q in shares)
        return [float(value) for value in frame.aggregate(wanted).fetchone() or ()]

    def _write(self, frame: duckdb.DuckDBPyRelation, path: Path) -> None:
        """Write a Parquet file as a stream."""
        frame.write_parquet(str(path))


def exact_path(path: Path) -> str:
    """Return the pattern that matches this path and no other; DuckDB takes every path for a pattern.

    >>> exact_path(Path("/data/in[1].csv"))
    '/data/in[[]1].csv'
    """
    if "\\" in str(path.absolute()):
        raise DataError(f"DuckDB cannot read {path.name!r}: its path contains a backslash. Rename it, or use Polars.")
    return glob.escape(str(path.absolute()))


def _project(frame: duckdb.DuckDBPyRelation, columns: Mapping[str, str], dropped: int = 0) -> duckdb.DuckDBPyRelation:
    """Replace or add columns by SQL expressions, and drop the last ``dropped`` columns."""
    kept = frame.columns[: len(frame.columns) - dropped]
    shown = [f"{columns[name]} AS {quote_name(name)}" if name in columns else quote_name(name) for name in kept]
    added = [f"{text} AS {quote_name(name)}" for name, text in columns.items() if name not in kept]
    return frame.project(", ".join([*shown, *added]))


def _place(name: str, values: pl.Series) -> str | None:
    """Return SQL for the position of a value in its domain, a missing one last; None where a join is needed."""
    if _enumerable(values) and len(values) <= LISTED:
        place = f"list_position([{_sql_list(values)}], {quote_name(name)}) - 1"
    elif _enumerable(values):
        place = f"enum_code({quote_name(name)}::{_enumeration(values)})::BIGINT"
    elif values.dtype.is_signed_integer() and is_consecutive(values.drop_nulls()):
        place = f"{quote_name(name)}::BIGINT - ({int(values[0])})"
    else:
        return None
    return f"coalesce({place}, {len(values) - 1})"


def _enumerable(values: pl.Series) -> bool:
    return values.dtype == pl.String and 0 < len(values) - values.null_count() <= FEW


def _enumeration(values: pl.Series) -> str:
    """Return the SQL type of a column of text with these values."""
    return f"ENUM({_sql_list(values)})"


def _sql_list(texts: pl.Series) -> str:
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts.drop_nulls())
