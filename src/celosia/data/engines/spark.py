"""Spark engine: tables that are larger than one machine. The driver gets histograms and other small results only."""

from __future__ import annotations

import contextlib
import itertools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from celosia.data.engines.engine import Engine, SpilledRows
from celosia.data.engines.fingerprint import BLOCK, block_digest, digests_in_order, whole
from celosia.data.engines.lazy_frames import (
    ORDER,
    RECORD,
    ROWS,
    filter_rows,
    group_counts,
    select_columns,
    sort_by_record,
    to_polars,
)
from celosia.data.engines.row_codes import NO_PERSON, PERSON, StoredCodes
from celosia.data.engines.spark_session import session
from celosia.data.spill import spill_folder
from celosia.errors import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from celosia.data.engines.engine import Domains
    from celosia.data.io.facts import FileFacts
    from celosia.histogram import Domain
    from celosia.streams import Stream

_ROW_BITS = 33
"""Bits of Spark's increasing ids for the row; those above are the number of the partition."""
PART = 1 << 21
"""Largest number of rows of a partition in the memory of an executor."""
MADE = "__made__"
_spills = itertools.count()


class Spark(Engine["DataFrame"]):
    """Runs on the session of each frame. Only a sort gives the rows an order."""

    name: ClassVar[str] = "spark"
    _column_limit: ClassVar[int] = 1_000_000
    _memory_name: ClassVar[str] = "the memory of the driver"
    _lists_all_persons: ClassVar[bool] = False
    _sorts_rows: ClassVar[bool] = False

    def __init__(self, master: str | None = None, memory: int | None = None) -> None:
        super().__init__(memory)
        self.master = master or None

    def _scan(self, path: Path) -> DataFrame:
        """Open a Parquet file."""
        with _without_cells():
            return _read_parquet(session(self.master), path)

    def _scan_like(self, facts: FileFacts, frame: pl.LazyFrame) -> DataFrame | None:
        """Open a Parquet file whose types Spark has too."""
        if facts.source is None or facts.type != "parquet":
            return None
        types = frame.collect_schema()
        return self._scan(facts.source) if all(_spark_type(dtype) == dtype for dtype in types.values()) else None

    def accept(self, frame: IntoFrame, facts: FileFacts | None = None) -> DataFrame:
        """Return a Spark frame as it is; open the file of a Polars frame, or write one; convert others by Arrow."""
        if is_spark(frame):
            return frame
        opened = self._scan_like(facts, frame) if facts is not None and isinstance(frame, pl.LazyFrame) else None
        if opened is not None:
            return opened
        running = session(self.master)
        if isinstance(frame, pl.LazyFrame):
            path = _new_path().with_suffix(".parquet")
            _storable(frame).sink_parquet(path)
            return self._scan(path)
        return _create_frame(running, _storable(to_polars(frame).lazy()).collect())

    def identify(self, frame: DataFrame) -> DataFrame:
        """Add the row number: the position in the partition plus the number of rows of the partitions before."""
        numbered = frame.withColumn(RECORD, F.monotonically_increasing_id())
        part = F.shiftright(RECORD, _ROW_BITS).cast("int")
        counted = self.collect(numbered.groupBy(part.alias("part")).agg(F.count("*").alias("rows"))).sort("part")
        parts = counted["part"].to_numpy()
        rows = np.zeros(int(parts.max(initial=0)) + 1, dtype=np.int64)  # empty partitions are not counted
        rows[parts] = counted["rows"].to_numpy()
        start = F.array(*(F.lit(before).cast("long") for before in (np.cumsum(rows) - rows).tolist()))[part]
        return numbered.withColumn(RECORD, start + F.col(RECORD).bitwiseAND(F.lit((1 << _ROW_BITS) - 1)))

    def attach(
        self, frame: DataFrame, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True
    ) -> DataFrame:
        """Null-safe join with a Polars frame, which is broadcast to the executors."""
        keys = {name: f"__key{i}__" for i, name in enumerate(on)}
        other = F.broadcast(_create_frame(frame.sparkSession, _storable(small.lazy().rename(keys)).collect()))
        same = [
            frame[_quote(name)].eqNullSafe(other[key].cast(frame.schema[name].dataType)) for name, key in keys.items()
        ]
        how = "left" if keep_unmatched else ("leftsemi" if len(small.columns) == len(on) else "inner")
        joined = frame.join(other, same, how)
        return joined if how == "leftsemi" else joined.drop(*keys.values())

    def collect(self, frame: DataFrame) -> pl.DataFrame:
        """Collect a small result on the driver."""
        with _without_cells():
            collected = pl.from_arrow(frame.toArrow())
        assert isinstance(collected, pl.DataFrame)
        return collected

    def to_polars_lazy(self, frame: DataFrame, rows: int | None = None) -> pl.LazyFrame:  # noqa: ARG002
        """Scan files that the executors write, in the order of the partitions."""
        folder = _new_path()
        with _without_cells():
            frame.write.parquet(folder.absolute().as_uri())
        parts = sorted(folder.glob("part-*.parquet"))
        if not parts:
            raise DataError(
                "what Spark wrote is not on this machine: let TMPDIR name a folder that the executors share with it."
            )
        return pl.scan_parquet(parts, glob=False)

    def shuffle(self, frame: DataFrame, stream: Stream, domains: Callable[[], Domains] | None = None) -> DataFrame:  # noqa: ARG002
        """Partition the rows by equal ranges of the sort key, which is uniform, and sort each partition.

        A sort would compute the rows twice, the first time to find the ranges.
        """
        keyed = self._add_shuffle_order(frame, stream)
        parts = int(keyed.sparkSession.conf.get("spark.sql.shuffle.partitions"))
        share = F.col(ORDER).cast("double") / F.lit(2.0**64) + F.lit(0.5)
        part = F.least(F.floor(share * F.lit(parts)), F.lit(parts - 1)).cast("int")
        return keyed.repartitionById(parts, part).sortWithinPartitions(ORDER, RECORD).drop(ORDER)

    def materialise(self, frame: DataFrame) -> DataFrame:
        """Return the frame: executors compute from the files."""
        return frame

    def map_batches(
        self,
        frame: DataFrame,
        inputs: Sequence[str],
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
    ) -> DataFrame:
        """Call the function on the executors, with Arrow arrays."""

        def apply(*columns: pa.Array) -> pa.Array:
            batch = pl.DataFrame({name: pl.Series(cells) for name, cells in zip(inputs, columns, strict=True)})
            table = _arrow(function(batch).select(*outputs).cast(pl.Schema(outputs)))
            return table.to_struct_array().combine_chunks() if len(table) else pa.array([], table.schema.struct_type)

        with _without_cells():
            call = F.arrow_udf(apply, _types(outputs))(*(F.col(_quote(name)) for name in inputs))
        wide = frame.withColumn(MADE, call)
        return wide.withColumns({name: wide[MADE][name] for name in outputs}).drop(MADE)

    def map_partitions(
        self,
        frame: DataFrame,
        by: Sequence[str],
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
        rows: int = 0,
    ) -> DataFrame:
        """Call the function on the executors, once per partition."""

        def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            part = [pl.DataFrame(batch) for batch in batches]
            if part:
                rows_of_part = function(pl.concat(part)).select(*outputs).cast(pl.Schema(outputs))
                yield from _arrow(rows_of_part).to_batches(max_chunksize=BLOCK)

        if by:
            parts = max(int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions")), -(-rows // PART))
            frame = frame.repartition(parts, *(F.col(_quote(name)) for name in by))
        with _without_cells():
            return frame.mapInArrow(apply, _types(outputs))

    def _spill(self, frame: DataFrame) -> SpilledRows[DataFrame]:
        """Compute the rows once, in files that the executors write and read."""
        folder = _new_path()
        with _without_cells():
            frame.write.parquet(folder.absolute().as_uri())
            return SpilledRows(_read_parquet(frame.sparkSession, folder), folder)

    def _stores_codes(self, person: str | None) -> bool:
        """Return whether persons are counted; rows without persons are counted only once."""
        return person is not None

    def _store(
        self,
        frame: DataFrame,
        domains: Mapping[str, Domain],
        person: str | None,
        weight: str | None,
        quasi: Sequence[str] | None,
    ) -> StoredCodes:
        """Write the codes, with record ids if the table has them; then a person's id is their first record."""
        listed = None if quasi is None else tuple(quasi)
        if person is None or RECORD not in frame.columns:
            return replace(super()._store(frame, domains, person, weight, quasi), person_keys=listed)
        coded = self._coded_rows(frame, domains, person, weight, [RECORD])
        types = self.polars_types(coded) | {PERSON: pl.Int64()}

        def with_first(part: pl.DataFrame) -> pl.DataFrame:
            first = pl.when(pl.col(PERSON).is_not_null()).then(pl.col(RECORD).min().over(PERSON)).otherwise(NO_PERSON)
            return part.with_columns(first.alias(PERSON))

        numbered = self.map_partitions(coded, [PERSON], types, with_first, self.rows(frame))
        spilled = self._spill(numbered)
        return StoredCodes(self, spilled, domains, person=True, weight=weight is not None, person_keys=listed)

    def fingerprint(
        self,
        frame: DataFrame,
        names: Sequence[str],
        *,
        in_order: bool = False,  # noqa: ARG002
        stored: StoredCodes | None = None,  # noqa: ARG002
        rows: int | None = None,  # noqa: ARG002
    ) -> bytes:
        """Digest the blocks on the executors and collect their digests; stored codes have no order.

        Blocks that are complete and in order in one partition are digested there. Others are gathered first: those
        that two partitions share, or all blocks of a table in another order.
        """
        numbered = frame if RECORD in frame.columns else self.identify(frame)
        last = self.collect(numbered.agg(F.max(RECORD).alias("last"), F.count("*").alias("rows"))).row(0)
        if last[1] == 0:
            return block_digest(self.collect(select_columns(frame, names)))
        if last[0] + 1 != last[1]:  # records were dropped: number the others without gaps
            numbered = self.identify(sort_by_record(numbered).drop(RECORD))
        cells = numbered.select(RECORD, *(F.col(_quote(name)) for name in names))
        digests = self._digests_in_order(cells, last[1])
        whole_blocks = digests.filter(pl.col("digest").is_not_null() & (digests["block"] >= 0).all())
        blocks = -(-last[1] // BLOCK)
        if len(whole_blocks) < blocks:
            cut = sorted(set(range(blocks)) - set(whole_blocks["block"]))
            some = cells if not len(whole_blocks) else cells.filter(F.floor(F.col(RECORD) / BLOCK).isin(cut))
            whole_blocks = pl.concat([whole_blocks, self._digests_gathered(some, names)])
        return whole(whole_blocks.sort("block")["digest"].to_list())

    def _digests_in_order(self, cells: DataFrame, rows: int) -> pl.DataFrame:
        """Blocks of each partition, with the digests of the complete ones."""

        def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            some = (pl.DataFrame(batch) for batch in batches)
            for block, digest in digests_in_order(some, RECORD, rows):
                yield pa.record_batch([pa.array([block]), pa.array([digest], pa.binary())], ["block", "digest"])

        with _without_cells():
            return self.collect(cells.mapInArrow(apply, "block long, digest binary"))

    def _digests_gathered(self, cells: DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Digests of blocks, after the rows of each are gathered."""

        def apply(rows: pa.Table) -> pa.Table:
            block = pl.DataFrame(rows).sort(RECORD)
            digest = block_digest(block.select(*names))
            return pa.table({"block": [block[RECORD][0] // BLOCK], "digest": [digest]})

        with _without_cells():
            blocks = cells.groupBy(F.floor(F.col(RECORD) / BLOCK))
            return self.collect(blocks.applyInArrow(apply, "block long, digest binary"))

    def keyed_batches(self, *_args: object, **_options: object) -> None:
        """Return None: rows have no order."""

    def can_preview(self) -> bool:
        """Return false: reading a row is a job."""
        return False

    def map_blocks(self, frame: DataFrame, block: str, work: Callable[[pl.DataFrame], pl.DataFrame]) -> DataFrame:
        """Apply the function on the executors; the types of its result are those for the smallest block."""
        sizes = self.collect(group_counts(frame, [block])).sort(ROWS, block)
        if not len(sizes):
            return frame.drop(block)
        types = work(self.collect(filter_rows(frame, nw.col(block) == sizes[block][0]))).schema

        def apply(rows: pa.Table) -> pa.Table:
            return _arrow(_storable(work(pl.DataFrame(rows)).cast(types).lazy()).collect())

        with _without_cells():
            return frame.groupBy(block).applyInArrow(apply, _types(types)).localCheckpoint()

    def quantiles(self, frame: DataFrame, column: str, shares: Sequence[float]) -> list[float]:
        """Exact quantiles of one column in one pass."""
        wanted = F.percentile(_quote(column), F.array(*(F.lit(float(q)) for q in shares)))
        return [float(value) for value in self.collect(frame.select(wanted.alias("found")))["found"][0]]


def is_spark(frame: object) -> bool:
    """Return whether a frame is PySpark's, classic or of Spark Connect."""
    return type(frame).__module__.startswith("pyspark.sql")


def _create_frame(running: SparkSession, small: pl.DataFrame) -> DataFrame:
    with _without_cells():  # a Spark Connect server infers no types without rows
        return running.createDataFrame(_arrow(small), schema=None if len(small) else _types(small.schema))


def _arrow(frame: pl.DataFrame) -> pa.Table:
    """Convert to the Arrow types that Spark reads, which have no views."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = [f.with_type(pa.string()) if pa.types.is_large_string(f.type) else f for f in table.schema]
    return table.cast(pa.schema(plain))


def _spark_type(dtype: pl.DataType) -> pl.DataType:
    """Type of a column in Spark, which has no unsigned numbers, categories or nanoseconds."""
    if dtype == pl.UInt64:
        return pl.Decimal(20, 0)
    if dtype.is_unsigned_integer():
        return pl.Int64()
    if isinstance(dtype, pl.Categorical | pl.Enum | pl.Null):
        return pl.String()
    if isinstance(dtype, pl.Datetime):
        return pl.Datetime("us", dtype.time_zone)
    return dtype


def _storable(frame: pl.LazyFrame) -> pl.LazyFrame:
    types = frame.collect_schema()
    return frame.with_columns(pl.col(n).cast(_spark_type(t)) for n, t in types.items() if _spark_type(t) != t)


def _types(types: Mapping[str, pl.DataType]) -> StructType:
    """Types of columns as a Spark schema."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(_arrow(_storable(pl.LazyFrame(schema=dict(types))).collect()).schema)


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _read_parquet(running: SparkSession, path: Path) -> DataFrame:
    """Read this file or folder only; by default Spark reads ``[1]`` or ``*`` in a name as a pattern."""
    return running.read.option("__globPaths__", "false").parquet(f"file://{path.absolute()}")


def _new_path() -> Path:
    return spill_folder() / f"spark-{next(_spills)}"


@contextlib.contextmanager
def _without_cells() -> Iterator[None]:
    """Raise errors without Spark's messages, which can contain cells, and ignore its warnings about pandas."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (PySparkException, Py4JError) as error:
        raise DataError(f"Spark could not do that: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if "maxResultSize" in str(error):
        return (
            "the result is larger than spark.driver.maxResultSize, and a table is not brought to the driver. Use "
            "coarser quasi-identifiers, a method that works in the engine, or a larger limit."
        )
    lacking = re.search(r"No module named '([\w.]+)'", str(error))
    if lacking:
        return f"the Python of its executors has no {lacking[1]}: install celosia there (PYSPARK_PYTHON)."
    named = error.getCondition() if isinstance(error, PySparkException) else None
    return f"{named or type(error).__name__}."


__all__ = ["Spark", "is_spark"]
