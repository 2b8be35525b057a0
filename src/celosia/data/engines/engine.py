"""Operations on the rows of a table that every engine has, in Narwhals where Narwhals has them.

A frame is the engine's own lazy frame (a Polars ``LazyFrame``, a DuckDB relation, a Spark ``DataFrame``). Once they
exist, it has the reserved columns ``RECORD`` (the hidden record id) and ``SUPPRESSED``.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

from celosia.data.engines.fingerprint import fingerprint
from celosia.data.engines.row_codes import (
    KEY,
    PERSON,
    PERSONS,
    ROWS,
    STORED,
    KeyCounts,
    StoredCodes,
    count_keys,
    fits_in_key,
    weight_parts,
)
from celosia.data.schema import Kind
from celosia.data.spill import spill_folder
from celosia.errors import DataError
from celosia.histogram import Domain, Histogram, PersonPairs, encode

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame, IntoFrameT, IntoLazyFrame
    from numpy.typing import NDArray

    from celosia.data.io.facts import FileFacts
    from celosia.streams import Stream

    Orders = Mapping[str, Sequence[str]]
    """For ordinal columns the declared order of their values."""
    Domains = Mapping[str, pl.Series]
    """For each column the values that occur in it, a missing one last."""

Frame = TypeVar("Frame", bound="IntoLazyFrame")
"""Lazy frame of an engine."""
RECORD = "__record__"
SUPPRESSED = "__suppressed__"
HIDDEN = (RECORD, SUPPRESSED)
ORDER = "__order__"
COLLECT_LIMIT = 200_000_000
"""Largest number of cells that are collected at once."""
RESIDENT = 20_000_000
"""Largest number of cells of a table that is kept in memory; a larger one is streamed."""
CELL_BYTES = 64
"""Bytes of memory that a cell takes during a computation, by which a memory limit lowers ``RESIDENT``."""


class Engine(ABC, Generic[Frame]):
    """Operations on lazy frames; none of them changes its input.

    ``memory`` is the number of bytes that the engine may use; it spills to disk, or works in parts, to stay below. A
    frame with a column ``ROWS`` is a table by its combinations: each of its rows counts for that many rows.
    """

    name: ClassVar[str]
    collect_limit: ClassVar[int] = COLLECT_LIMIT
    """Largest number of rows of a column that a part may collect."""
    memory_name: ClassVar[str] = "memory"
    local: ClassVar[bool] = True
    """Whether the rows are on this machine, so that a method may collect whole columns."""

    keeps_order: ClassVar[bool] = False
    """Whether rows have the order of the file that they are read from."""

    groups_values: ClassVar[bool] = False
    """Whether it groups rows by texts nearly as fast as by numbers."""

    def __init__(self, memory: int | None = None) -> None:
        self.memory = memory

    @abstractmethod
    def scan(self, path: Path) -> Frame:
        """Open a Parquet file as a lazy frame."""

    def scan_like(self, facts: FileFacts, frame: pl.LazyFrame) -> Frame | None:  # noqa: ARG002
        """Open a file with the types that Polars found (``frame``); None where only Polars reads it in that way."""
        return None

    @abstractmethod
    def accept(self, frame: IntoFrame) -> Frame:
        """Convert a data frame of another library to a lazy frame."""

    @abstractmethod
    def identify(self, frame: Frame) -> Frame:
        """Add the hidden record id: the row number, from 0."""

    @abstractmethod
    def attach(self, frame: Frame, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True) -> Frame:
        """Null-safe join with a small table: missing equals missing. Rows keep their order where the engine has one."""

    @abstractmethod
    def collect(self, frame: Frame) -> pl.DataFrame:
        """Compute the frame, as Polars."""

    @abstractmethod
    def to_polars_lazy(self, frame: Frame, rows: int | None = None) -> pl.LazyFrame:
        """Convert the frame to a lazy Polars one, which can be streamed.

        ``rows`` is the number of its rows, where it is known: to count them may take as long as to compute them.
        """

    @abstractmethod
    def map_batches(
        self,
        frame: Frame,
        inputs: Sequence[str],
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
    ) -> Frame:
        """Add or replace columns by a function of batches of the inputs.

        The function works row by row, so that the size of the batches does not matter; random numbers come from the
        record id.
        """

    @abstractmethod
    def quantiles(self, frame: Frame, column: str, shares: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, linear interpolation, missing values left out."""

    def write(self, frame: Frame, path: Path) -> None:
        """Write a Parquet file as a stream."""
        self.to_polars_lazy(frame).sink_parquet(path)

    def types(self, frame: Frame) -> dict[str, nw.dtypes.DType]:
        """Column names and Narwhals types."""
        return dict(nw.from_native(frame).collect_schema())

    def polars_types(self, frame: Frame) -> dict[str, pl.DataType]:
        """Column names and Polars types; no row is read."""
        return dict(self.collect(nw.from_native(frame).head(0).to_native()).schema)

    def kinds(self, frame: Frame) -> dict[str, Kind]:
        """Kind of each visible column by its type."""
        return {name: _kind(dtype) for name, dtype in self.types(frame).items() if name not in HIDDEN}

    def select(self, frame: Frame, names: Sequence[str]) -> Frame:
        """Select columns."""
        return nw.from_native(frame).select(*names).to_native()

    def filter(self, frame: Frame, predicate: nw.Expr) -> Frame:
        """Keep the rows for which the predicate is true."""
        return nw.from_native(frame).filter(predicate).to_native()

    def with_columns(self, frame: Frame, columns: Mapping[str, nw.Expr]) -> Frame:
        """Add or replace columns by expressions."""
        return nw.from_native(frame).with_columns(**columns).to_native()

    def is_resident(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return whether the data are in memory already, so that columns may be encoded there."""
        return False

    def rows(self, frame: Frame) -> int:
        """Count the rows."""
        return int(self.collect(nw.from_native(frame).select(nw.len().alias(ROWS)).to_native()).item())

    def persons(self, frame: Frame, person: str) -> int:
        """Count the distinct persons."""
        counted = nw.from_native(frame).select(nw.col(person).n_unique().alias(PERSONS))
        return int(self.collect(counted.to_native()).item())

    def histogram(self, frame: Frame, keys: Sequence[str], *, person: str | None = None) -> Frame:
        """Count the rows, and persons, of each combination of keys. Missing is a value like any other."""
        sums = [self.row_count(frame).alias(ROWS)]
        if person is not None:
            sums.append(nw.col(person).n_unique().alias(PERSONS))
        if not keys:
            return nw.from_native(frame).select(*sums).to_native()
        return nw.from_native(frame).group_by(*keys).agg(*sums).to_native()

    def row_count(self, frame: Frame) -> nw.Expr:
        """Expression for the number of rows of a frame, or of each group of it."""
        return nw.col(ROWS).sum() if ROWS in self.types(frame) else nw.len()

    def tallies(self, frame: Frame, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Distinct values of each column with their numbers of rows."""
        return {name: self.collect(self.histogram(frame, [name])) for name in names}

    def person_keys(self, keys: Sequence[str]) -> Sequence[str] | None:
        """Columns by which persons are listed in histograms: None for all, or ``keys`` alone.

        On a cluster all pairs of a person and an entry would be too many for the driver.
        """
        return None if self.local else keys

    def stores_codes(self, person: str | None) -> bool:  # noqa: ARG002
        """Return whether stored codes save time."""
        return True

    def list_domains(
        self,
        frame: Frame,
        names: Sequence[str],
        further: Sequence[str],
        domains: Mapping[str, Domain],
        orders: Orders,
        *,
        needed: bool,  # noqa: ARG002
    ) -> dict[str, Domain]:
        """Return the unknown domains; an engine that counts without them leaves them out unless needed."""
        return self.domains(frame, [name for name in dict.fromkeys([*names, *further]) if name not in domains], orders)

    def domains(self, frame: Frame, names: Sequence[str], orders: Orders) -> dict[str, Domain]:
        """Distinct values of some columns, each in its order."""
        tallies = self.tallies(frame, names)
        return {name: encode(tallies[name][name], orders.get(name, ())).domain for name in names}

    def count(
        self,
        frame: Frame,
        names: Sequence[str],
        *,
        domains: Mapping[str, Domain],
        orders: Orders,
        person: str | None = None,
        weight: str | None = None,
    ) -> Histogram:
        """Count the combinations of some columns; ``domains`` has the domains that are known already."""
        if not names or person in names or (person is None and weight in names):
            return self._count_values(frame, names, orders, person, weight)
        new = [name for name in names if name not in domains]
        every = {**domains, **self.domains(frame, new, orders)}
        domains = {name: every[name] for name in names}
        if person is not None:
            return self.encode(frame, domains, person=person, weight=weight).count(names, person=True, weight=True)
        if not fits_in_key(domains):
            return self._count_values(frame, names, orders, person, weight)
        return self.count_by_key(frame, domains, weight).histogram(domains)

    def encode(
        self, frame: Frame, domains: Mapping[str, Domain], *, person: str | None = None, weight: str | None = None
    ) -> StoredCodes:
        """Write the codes of some columns once, with the person and the weight of each row."""
        coded = self._coded_rows(frame, domains, person, weight)
        return StoredCodes(self, self.spill(coded), domains, person is not None, weight is not None)

    def _coded_rows(
        self,
        frame: Frame,
        domains: Mapping[str, Domain],
        person: str | None,
        weight: str | None,
        kept: Sequence[str] = (),
    ) -> Frame:
        """Code columns in few bytes; add the person, the parts of the weight and the columns ``kept`` as they are."""
        parts = {} if weight is None else weight_parts(weight)
        frame = frame if person is None else self.add_person(frame, person)
        frame = self.with_columns(frame, parts) if parts else frame
        own = dict.fromkeys([*domains, *([] if person is None else [PERSON]), *parts, *kept])
        coded = self.replace_by_codes(
            self.select(frame, list(own)), {name: domain.values for name, domain in domains.items()}
        )
        small = {name: nw.col(name).cast(_code_type(len(domain))) for name, domain in domains.items()}
        return self.with_columns(coded, small) if small else coded

    def add_person(self, frame: Frame, person: str) -> Frame:
        """Add the column ``PERSON`` of stored codes: the person id as it is, or a shorter one."""
        return self.with_columns(frame, {PERSON: nw.col(person)})

    def _count_values(
        self, frame: Frame, names: Sequence[str], orders: Orders, person: str | None, weight: str | None
    ) -> Histogram:
        """Count by the values themselves; a person is counted where the person column is among them."""
        parts = {} if weight is None else weight_parts(weight)
        if not names:
            keyed = nw.from_native(frame).with_columns(**{KEY: nw.lit(0, nw.Int64)}, **parts)
            keyed = keyed.select(KEY, *([] if person is None else [nw.col(person).alias(PERSON)]), *parts)
            return count_keys(self, keyed.to_native(), person=person is not None).of({})
        summed = [self.row_count(frame).alias(ROWS), *(nw.col(name).sum() for name in parts)]
        frame = self.with_columns(frame, parts) if parts else frame
        grouped = nw.from_native(frame).group_by(*names).agg(*summed)
        counted = self.collect(grouped.to_native()).with_columns(pl.col(n).cast(pl.Int64) for n in (ROWS, *parts))
        self.check_bound(counted.height * counted.width)
        columns = {name: encode(counted[name], orders.get(name, ())) for name in names}
        rows = counted[ROWS].to_numpy()
        total = np.column_stack([counted[name].to_numpy() for name in parts]) if parts else None
        if person is None:
            return Histogram.of_entries(columns, rows, weight=total)
        pairs = PersonPairs.of(np.arange(len(rows)), columns[person].codes.astype(np.int64), rows, total)
        nobody, nothing = np.zeros(len(rows), dtype=np.int64), None if total is None else np.zeros_like(total)
        every = Histogram(columns, rows, nobody, nothing, pairs)
        return every.filter(np.ones(len(rows), dtype=np.bool_)).sort()

    def replace_by_codes(self, frame: Frame, domains: Domains) -> Frame:
        """Replace the values of columns by their positions in the domains, which hold all that occur."""
        for name, values in domains.items():
            places = pl.Series(range(len(values)), dtype=pl.Int64)
            frame = self.map(frame, name, values, places)
        return frame

    def count_by_key(self, frame: Frame, domains: Mapping[str, Domain], weight: str | None = None) -> KeyCounts:
        """Count by the packed key ``KEY`` of each combination; the combinations must fit in a key."""
        parts = {} if weight is None else weight_parts(weight)
        frame = self.with_columns(frame, parts) if parts else frame
        kept = [*parts, *([ROWS] if ROWS in self.types(frame) else [])]
        values = {name: domain.values for name, domain in domains.items()}
        return count_keys(self, self.pack_values(frame, values, kept), person=False)

    def pack_values(self, frame: Frame, domains: Domains, kept: Sequence[str]) -> Frame:
        """Reduce the columns of ``domains`` to a packed key ``KEY``, with the columns ``kept`` as they are."""
        coded = self.replace_by_codes(self.select(frame, list(dict.fromkeys([*domains, *kept]))), domains)
        return self.pack_codes(coded, domains, kept)

    def pack_codes(self, coded: Frame, domains: Domains, kept: Sequence[str]) -> Frame:
        """Reduce columns of codes to a packed key ``KEY``, with the columns ``kept`` as they are."""
        key = nw.lit(0, nw.Int64)
        for name, values in domains.items():
            key = key * len(values) + nw.col(name).cast(nw.Int64)
        return nw.from_native(coded).select(key.alias(KEY), *kept).to_native()

    def map_partitions(
        self,
        frame: Frame,
        by: Sequence[str],  # noqa: ARG002
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
        rows: int = 0,  # noqa: ARG002
    ) -> Frame:
        """Apply a function to each partition of the rows; rows with equal cells in ``by`` are in one partition.

        Without ``by`` the partitions are those of the frame. ``rows`` is the approximate number of rows, so that no
        partition is large. A local engine has one partition.
        """
        return self.accept(function(self.collect(frame)).select(*outputs).cast(pl.Schema(outputs)))

    def spill(self, frame: Frame) -> SpilledRows[Frame]:
        """Compute the rows once, and keep them on disk as long as the result is referenced."""
        folder = Path(tempfile.mkdtemp(prefix="spilled-", dir=spill_folder()))
        self.write(frame, folder / STORED)
        return SpilledRows(self.scan(folder / STORED), folder)

    def map(self, frame: Frame, column: str, values: pl.Series, labels: pl.Series) -> Frame:
        """Replace values by labels by a join with the small table (values, labels); others become missing."""
        small = pl.DataFrame({column: values, "__label__": labels})
        joined = nw.from_native(self.attach(frame, small, [column]))
        names = [name for name in joined.collect_schema().names() if name != "__label__"]
        return joined.with_columns(nw.col("__label__").alias(column)).select(*names).to_native()

    def sample(self, frame: Frame, share: float, stream: Stream) -> Frame:
        """Keep each record with the same probability, decided by its id alone."""
        stream = stream.with_digest()

        def draw(batch: pl.DataFrame) -> pl.DataFrame:
            return pl.DataFrame({"__kept__": stream.uniform(batch[RECORD].to_numpy()) < share})

        marked = self.map_batches(frame, [RECORD], {"__kept__": pl.Boolean()}, draw)
        return nw.from_native(self.filter(marked, nw.col("__kept__"))).drop("__kept__").to_native()

    def shuffle(self, frame: Frame, stream: Stream, domains: Domains | None = None) -> Frame:
        """Sort the records into an order that depends on the stream and their ids alone.

        The sort key is a keyed function of the id, computed batch by batch: nothing is collected. Columns whose values
        are known (``domains``) can be moved as codes instead of texts.
        """
        sort = nw.from_native(self.add_shuffle_order(self.shrink_text(frame, domains or {}), stream)).sort(
            ORDER, RECORD
        )
        return sort.drop(ORDER).to_native()

    def add_shuffle_order(self, frame: Frame, stream: Stream) -> Frame:
        """Add the sort key of the shuffled order as column ``ORDER``."""
        stream = stream.with_digest()

        def order(batch: pl.DataFrame) -> pl.DataFrame:
            words = stream.words(batch[RECORD].to_numpy())[:, 0] ^ np.uint64(1 << 63)  # signed, in the same order
            return pl.DataFrame({ORDER: words.view(np.int64)})

        return self.map_batches(frame, [RECORD], {ORDER: pl.Int64()}, order)

    def shrink_text(self, frame: Frame, domains: Domains) -> Frame:  # noqa: ARG002
        """Convert columns of text with few values to the smallest type of the engine."""
        return frame

    def fingerprint(self, frame: Frame, names: Sequence[str]) -> bytes:
        """Digest of some columns, rows in the order of their ids; the same on every engine."""
        ordered = self.sort_by_record(frame) if RECORD in self.types(frame) else frame
        return fingerprint(self.to_polars_lazy(self.select(ordered, names)))

    def map_blocks(self, frame: Frame, block: str, work: Callable[[pl.DataFrame], pl.DataFrame]) -> Frame:
        """Apply a function to each block, the rows with the same number in ``block``; one is in memory at a time.

        The rows of the result have their record ids, and any order.
        """
        numbers = self.collect(self.histogram(frame, [block]))[block].sort()
        place = Path(tempfile.mkdtemp(prefix="blocks-", dir=spill_folder()))
        paths = [place / f"{number}.parquet" for number in numbers]
        types: pl.Schema | None = None
        for number, path in zip(numbers, paths, strict=True):
            rows = work(self.collect(self.filter(frame, nw.col(block) == number)))
            types = rows.schema if types is None else types
            rows.cast(types).write_parquet(path)
        return self.accept(pl.scan_parquet(paths, glob=False))

    def ids(self, frame: Frame) -> NDArray[np.int64]:
        """Record ids in the order of the rows."""
        return self.collect(self.select(frame, [RECORD]))[RECORD].to_numpy()

    def sort_by_record(self, frame: Frame) -> Frame:
        """Sort the rows by their record ids."""
        return nw.from_native(frame).sort(RECORD).to_native()

    def materialise(self, frame: Frame) -> Frame:
        """Compute the rows once and keep them in memory, if they are within ``resident_limit``."""
        cells = self.rows(frame) * len(self.types(frame))
        return self.accept(self.collect(frame)) if cells <= self.resident_limit else frame

    @property
    def resident_limit(self) -> int:
        """Largest number of cells of a table that is kept in memory."""
        return RESIDENT if self.memory is None else min(RESIDENT, self.memory // CELL_BYTES)

    def collect_bounded(self, frame: Frame) -> pl.DataFrame:
        """Collect; raise if the result is larger than ``COLLECT_LIMIT``."""
        self.check_bound(self.rows(frame) * len(self.types(frame)))
        return self.collect(frame)

    def check_bound(self, cells: int) -> None:
        """Raise if a result is larger than ``COLLECT_LIMIT``."""
        if cells > COLLECT_LIMIT:
            raise DataError(
                f"{cells} cells would have to be brought into memory, the bound is {COLLECT_LIMIT}: "
                "use fewer or coarser quasi-identifiers, or a method that works row by row."
            )


@dataclass(eq=False)
class SpilledRows(Generic[Frame]):
    """Rows on disk; their files are deleted with this object."""

    frame: Frame
    folder: Path

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def _code_type(size: int) -> type[nw.Int8 | nw.Int16 | nw.Int32]:
    """Smallest type for a number of codes that every engine has."""
    return nw.Int8 if size <= 1 << 7 else nw.Int16 if size <= 1 << 15 else nw.Int32


def without_negative_zero(frame: IntoFrameT, names: Iterable[str] | None = None) -> IntoFrameT:
    """Replace -0.0 by 0.0 in these columns, or in all: numbers that are equal must have the same text in a file."""
    rows: Any = frame  # Narwhals has no type variable for eager and lazy frames
    native = nw.from_native(rows)
    types = native.collect_schema()
    floats = [name for name in (types if names is None else names) if types[name].is_float()]
    plain = {n: nw.when(nw.col(n) == 0).then(nw.lit(0.0, types[n])).otherwise(nw.col(n)) for n in floats}
    changed: IntoFrameT = native.with_columns(**plain).to_native() if plain else frame
    return changed


def to_polars(frame: IntoFrame) -> pl.DataFrame:
    """Collect a data frame of any library."""
    native = nw.from_native(frame)
    return (native.collect("polars") if isinstance(native, nw.LazyFrame) else native).to_polars()


def as_text(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Expression for a column as text, a whole number without its decimal point."""
    if dtype == nw.String:
        return nw.col(name)
    text = nw.col(name).cast(nw.String)
    return text.str.replace_all(r"\.0$", "") if dtype.is_float() else text


def is_consecutive(numbers: pl.Series) -> bool:
    """Return whether whole numbers follow one another without a gap."""
    return len(numbers) > 0 and numbers.is_sorted() and int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1


def _kind(dtype: nw.dtypes.DType) -> Kind:
    if dtype.is_numeric():
        return Kind.NUMERIC
    if dtype.is_temporal():
        return Kind.DATE
    if isinstance(dtype, nw.Enum):
        return Kind.ORDINAL
    return Kind.NOMINAL
