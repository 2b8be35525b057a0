"""The row verbs every engine has. Expressions are Narwhals'; what Narwhals lacks is native in each engine.

A frame here is the engine's own lazy frame (a Polars ``LazyFrame``, a DuckDB relation). The reserved columns
``RECORD`` (the hidden record id) and ``SUPPRESSED`` travel in it once they exist.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

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
    from celosia.streams import Stream

    Orders = Mapping[str, Sequence[str]]
    """For ordinal columns the declared order of their values."""
    Domains = Mapping[str, pl.Series]
    """For each column the values that occur in it, a missing one last."""

RECORD = "__record__"
SUPPRESSED = "__suppressed__"
HIDDEN = (RECORD, SUPPRESSED)
ORDER = "__order__"
COLLECT_LIMIT = 200_000_000
"""Largest number of cells that is brought from an engine into memory in one go."""
RESIDENT = 20_000_000
"""Up to so many cells a table is kept in memory; above it stays where it is and is run through."""
CELL_BYTES = 64
"""What a cell of a table in memory takes while it is worked on: with a memory limit so many fewer are kept."""


class Engine(ABC):
    """About fifteen verbs over lazy frames; all of them leave their input as it was.

    ``memory`` is how many bytes the engine may use; it spills to disk, or works in parts, to keep within. A frame that
    has a column ``ROWS`` stands for so many rows in each of its own: a table by its combinations.
    """

    name: ClassVar[str]
    collect_limit: ClassVar[int] = COLLECT_LIMIT
    """Rows of a column that a part may bring into memory."""
    memory_name: ClassVar[str] = "memory"
    local: ClassVar[bool] = True
    """Whether the rows are on this machine, so that a method may bring whole columns into memory."""

    keeps_order: ClassVar[bool] = False
    """Whether rows come in the order of the file that they are read from."""

    groups_values: ClassVar[bool] = False
    """Whether it groups rows by texts nearly as fast as by numbers."""

    def __init__(self, memory: int | None = None) -> None:
        self.memory = memory

    @abstractmethod
    def scan(self, path: Path, **options: Any) -> Any:
        """A lazy frame over a CSV or Parquet file."""

    def scan_like(self, facts: Any, frame: Any) -> Any | None:  # noqa: ARG002
        """Read a file that another engine has opened as ``frame`` in the same way; None when only that one can."""
        return None

    @abstractmethod
    def accept(self, frame: Any) -> Any:
        """A lazy frame over a data frame of another library."""

    @abstractmethod
    def identify(self, frame: Any) -> Any:
        """Add the hidden record id: the row number, from 0."""

    @abstractmethod
    def attach(self, frame: Any, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True) -> Any:
        """Null-safe join with a small table: missing equals missing. Rows keep their order where the engine has one."""

    @abstractmethod
    def collect(self, frame: Any) -> pl.DataFrame:
        """The frame in memory, as Polars."""

    @abstractmethod
    def to_polars_lazy(self, frame: Any, rows: int | None = None) -> pl.LazyFrame:
        """The frame as a lazy Polars one, which can be run through without being in memory whole.

        ``rows`` is the number of its rows, where it is known: to count them may take as long as to compute them.
        """

    @abstractmethod
    def map_batches(
        self,
        frame: Any,
        inputs: Sequence[str],
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
    ) -> Any:
        """New or replaced columns by a function of the inputs that is given batches of rows, in whatever cut.

        The function works row by row, so that the cut does not matter; random numbers come from the record id.
        """

    @abstractmethod
    def quantiles(self, frame: Any, column: str, shares: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, linear interpolation, missing values left out."""

    @abstractmethod
    def write(self, frame: Any, path: Path, **options: Any) -> None:
        """Write CSV or Parquet by the ending of the path."""

    def types(self, frame: Any) -> dict[str, nw.dtypes.DType]:
        """Column names and Narwhals types."""
        return dict(nw.from_native(frame).collect_schema())

    def polars_types(self, frame: Any) -> dict[str, pl.DataType]:
        """Column names and the types that they have as Polars; no row is looked at."""
        return dict(self.collect(nw.from_native(frame).head(0).to_native()).schema)

    def kinds(self, frame: Any) -> dict[str, Kind]:
        """The kind that the type of each visible column suggests."""
        return {name: _kind(dtype) for name, dtype in self.types(frame).items() if name not in HIDDEN}

    def select(self, frame: Any, names: Sequence[str]) -> Any:
        """Only these columns."""
        return nw.from_native(frame).select(*names).to_native()

    def filter(self, frame: Any, predicate: nw.Expr) -> Any:
        """Only the rows for which the predicate is true."""
        return nw.from_native(frame).filter(predicate).to_native()

    def with_columns(self, frame: Any, columns: Mapping[str, nw.Expr]) -> Any:
        """New or replaced columns by expression."""
        return nw.from_native(frame).with_columns(**columns).to_native()

    def is_resident(self, frame: Any) -> bool:  # noqa: ARG002
        """Whether the data are in memory already, so that columns may be encoded there."""
        return False

    def rows(self, frame: Any) -> int:
        """Number of rows."""
        return int(self.collect(nw.from_native(frame).select(nw.len().alias(ROWS)).to_native()).item())

    def persons(self, frame: Any, person: str) -> int:
        """Number of distinct persons."""
        counted = nw.from_native(frame).select(nw.col(person).n_unique().alias(PERSONS))
        return int(self.collect(counted.to_native()).item())

    def histogram(self, frame: Any, keys: Sequence[str], *, person: str | None = None) -> Any:
        """One row per combination of keys: how many rows, and persons. Missing is a value like any other."""
        sums = [self.row_count(frame).alias(ROWS)]
        if person is not None:
            sums.append(nw.col(person).n_unique().alias(PERSONS))
        if not keys:
            return nw.from_native(frame).select(*sums).to_native()
        return nw.from_native(frame).group_by(*keys).agg(*sums).to_native()

    def row_count(self, frame: Any) -> nw.Expr:
        """The number of rows that a frame, or each group of it, stands for."""
        return nw.col(ROWS).sum() if ROWS in self.types(frame) else nw.len()

    def tallies(self, frame: Any, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        """The different values of each column with their numbers of rows."""
        return {name: self.collect(self.histogram(frame, [name])) for name in names}

    def person_keys(self, keys: Sequence[str]) -> Sequence[str] | None:
        """Return the columns by which persons are listed in histograms: None for all, or ``keys`` alone.

        On a cluster all pairs of a person and an entry would be too many for the driver.
        """
        return None if self.local else keys

    def stores_codes(self, person: str | None) -> bool:  # noqa: ARG002
        """Whether codes are worth storing."""
        return True

    def list_domains(
        self,
        frame: Any,
        names: Sequence[str],
        further: Sequence[str],
        domains: Mapping[str, Domain],
        orders: Orders,
        *,
        needed: bool,  # noqa: ARG002
    ) -> dict[str, Domain]:
        """Return the domains that are not known; an engine that counts without them leaves them out unless needed."""
        return self.domains(frame, [name for name in dict.fromkeys([*names, *further]) if name not in domains], orders)

    def domains(self, frame: Any, names: Sequence[str], orders: Orders) -> dict[str, Domain]:
        """Return the distinct values of some columns, each in its order."""
        tallies = self.tallies(frame, names)
        return {name: encode(tallies[name][name], orders.get(name, ())).domain for name in names}

    def count(
        self,
        frame: Any,
        names: Sequence[str],
        *,
        domains: Mapping[str, Domain],
        orders: Orders,
        person: str | None = None,
        weight: str | None = None,
    ) -> Histogram:
        """Count the combinations of some columns; ``domains`` has those that are known already."""
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
        self, frame: Any, domains: Mapping[str, Domain], *, person: str | None = None, weight: str | None = None
    ) -> StoredCodes:
        """Write the codes of some columns once, with the person and the weight of each row."""
        coded = self._coded_rows(frame, domains, person, weight)
        return StoredCodes(self, self.spill(coded), domains, person is not None, weight is not None)

    def _coded_rows(
        self,
        frame: Any,
        domains: Mapping[str, Domain],
        person: str | None,
        weight: str | None,
        kept: Sequence[str] = (),
    ) -> Any:
        """Code columns in few bytes, with the person and the parts of the weight, and columns that are kept as is."""
        parts = {} if weight is None else weight_parts(weight)
        frame = frame if person is None else self.add_person(frame, person)
        frame = self.with_columns(frame, parts) if parts else frame
        own = dict.fromkeys([*domains, *([] if person is None else [PERSON]), *parts, *kept])
        coded = self.replace_by_codes(
            self.select(frame, list(own)), {name: domain.values for name, domain in domains.items()}
        )
        small = {name: nw.col(name).cast(_code_type(len(domain))) for name, domain in domains.items()}
        return self.with_columns(coded, small) if small else coded

    def add_person(self, frame: Any, person: str) -> Any:
        """Add what identifies a person in stored codes: the id as it is, or something shorter."""
        return self.with_columns(frame, {PERSON: nw.col(person)})

    def _count_values(
        self, frame: Any, names: Sequence[str], orders: Orders, person: str | None, weight: str | None
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

    def replace_by_codes(self, frame: Any, domains: Domains) -> Any:
        """Columns replaced by the places of their values among those given, which hold all that occur."""
        for name, values in domains.items():
            places = pl.Series(range(len(values)), dtype=pl.Int64)
            frame = self.map(frame, name, values, places)
        return frame

    def count_by_key(self, frame: Any, domains: Mapping[str, Domain], weight: str | None = None) -> KeyCounts:
        """Count by one whole number ``KEY`` per combination; the combinations must fit in a key."""
        parts = {} if weight is None else weight_parts(weight)
        frame = self.with_columns(frame, parts) if parts else frame
        kept = [*parts, *([ROWS] if ROWS in self.types(frame) else [])]
        values = {name: domain.values for name, domain in domains.items()}
        return count_keys(self, self.pack_values(frame, values, kept), person=False)

    def pack_values(self, frame: Any, domains: Domains, kept: Sequence[str]) -> Any:
        """One whole number ``KEY`` for the values of each row in some columns, and other columns as they are."""
        coded = self.replace_by_codes(self.select(frame, list(dict.fromkeys([*domains, *kept]))), domains)
        return self.pack_codes(coded, domains, kept)

    def pack_codes(self, coded: Any, domains: Domains, kept: Sequence[str]) -> Any:
        """The same for columns that are replaced by the places of their values already."""
        key = nw.lit(0, nw.Int64)
        for name, values in domains.items():
            key = key * len(values) + nw.col(name).cast(nw.Int64)
        return nw.from_native(coded).select(key.alias(KEY), *kept).to_native()

    def map_partitions(
        self,
        frame: Any,
        by: Sequence[str],  # noqa: ARG002
        outputs: Mapping[str, pl.DataType],
        function: Callable[[pl.DataFrame], pl.DataFrame],
        rows: int = 0,  # noqa: ARG002
    ) -> Any:
        """What a function makes of each part of the rows; those with equal cells in ``by`` are in one part.

        Without ``by`` the parts are those that the frame has. ``rows`` is about how many there are, so that no part
        is large. On this machine there is one part.
        """
        return self.accept(function(self.collect(frame)).select(*outputs).cast(pl.Schema(outputs)))

    def spill(self, frame: Any) -> SpilledRows:
        """Compute rows once and keep them on disk as long as the result is referenced."""
        folder = Path(tempfile.mkdtemp(prefix="spilled-", dir=spill_folder()))
        self.write(frame, folder / STORED)
        return SpilledRows(self.scan(folder / STORED), folder)

    def map(self, frame: Any, column: str, values: pl.Series, labels: pl.Series) -> Any:
        """Replace values by labels through a join with the small table (values, labels); others become missing."""
        small = pl.DataFrame({column: values, "__label__": labels})
        joined = nw.from_native(self.attach(frame, small, [column]))
        names = [name for name in joined.collect_schema().names() if name != "__label__"]
        return joined.with_columns(nw.col("__label__").alias(column)).select(*names).to_native()

    def sample(self, frame: Any, share: float, stream: Stream) -> Any:
        """Keep each record with the same probability, decided by its id alone."""
        stream = stream.with_digest()

        def draw(batch: pl.DataFrame) -> pl.DataFrame:
            return pl.DataFrame({"__kept__": stream.uniform(batch[RECORD].to_numpy()) < share})

        marked = self.map_batches(frame, [RECORD], {"__kept__": pl.Boolean()}, draw)
        return nw.from_native(self.filter(marked, nw.col("__kept__"))).drop("__kept__").to_native()

    def shuffle(self, frame: Any, stream: Stream, domains: Domains | None = None) -> Any:
        """Bring the records into an order that depends on the stream and their ids alone.

        They are sorted by a keyed function of the id that the engine is given batch by batch: nothing is collected.
        ``domains`` tells the values of some columns, so that codes can be moved instead of texts.
        """
        sort = nw.from_native(self.add_shuffle_order(self.shrink_text(frame, domains or {}), stream)).sort(
            ORDER, RECORD
        )
        return sort.drop(ORDER).to_native()

    def add_shuffle_order(self, frame: Any, stream: Stream) -> Any:
        """The frame with the place of each record in its shuffled order as column ``ORDER``."""
        stream = stream.with_digest()

        def order(batch: pl.DataFrame) -> pl.DataFrame:
            words = stream.words(batch[RECORD].to_numpy())[:, 0] ^ np.uint64(1 << 63)  # signed, in the same order
            return pl.DataFrame({ORDER: words.view(np.int64)})

        return self.map_batches(frame, [RECORD], {ORDER: pl.Int64()}, order)

    def shrink_text(self, frame: Any, domains: Domains) -> Any:  # noqa: ARG002
        """The same frame, columns of text with few values in as little room as the engine can."""
        return frame

    def fingerprint(self, frame: Any, names: Sequence[str]) -> bytes:
        """A digest of some columns, rows in the order of their ids; the same on every engine."""
        ordered = self.sort_by_record(frame) if RECORD in self.types(frame) else frame
        return fingerprint(self.to_polars_lazy(self.select(ordered, names)))

    def map_blocks(self, frame: Any, block: str, work: Callable[[pl.DataFrame], pl.DataFrame]) -> Any:
        """What a function makes of each block, the rows with the same number in ``block``: one is in memory at a time.

        The rows that it makes have their record ids; they come in any order.
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

    def ids(self, frame: Any) -> Any:
        """The record ids in the order of the rows, as a numpy array."""
        return self.collect(self.select(frame, [RECORD]))[RECORD].to_numpy()

    def sort_by_record(self, frame: Any) -> Any:
        """The rows in the order of their record ids."""
        return nw.from_native(frame).sort(RECORD).to_native()

    def materialise(self, frame: Any) -> Any:
        """The frame with its rows computed once and kept in memory, when they are below the stated bound."""
        cells = self.rows(frame) * len(self.types(frame))
        return self.accept(self.collect(frame)) if cells <= self.resident_limit else frame

    @property
    def resident_limit(self) -> int:
        """How many cells of a table are kept in memory."""
        return RESIDENT if self.memory is None else min(RESIDENT, self.memory // CELL_BYTES)

    def collect_bounded(self, frame: Any) -> pl.DataFrame:
        """Collect, or refuse when the result is larger than the stated bound."""
        self.check_bound(self.rows(frame) * len(self.types(frame)))
        return self.collect(frame)

    def check_bound(self, cells: int) -> None:
        """Refuse a result that is larger than the stated bound."""
        if cells > COLLECT_LIMIT:
            raise DataError(
                f"{cells} cells would have to be brought into memory, the bound is {COLLECT_LIMIT}: "
                "use fewer or coarser quasi-identifiers, or a method that works row by row."
            )


@dataclass(eq=False)
class SpilledRows:
    """Rows on disk; their files are deleted with this object."""

    frame: Any
    folder: Path

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def _code_type(size: int) -> type[nw.Int8 | nw.Int16 | nw.Int32]:
    """The smallest type for so many codes that every engine has."""
    return nw.Int8 if size <= 1 << 7 else nw.Int16 if size <= 1 << 15 else nw.Int32


def without_negative_zero(frame: Any, names: Iterable[str] | None = None) -> Any:
    """A frame with 0.0 for -0.0, in these columns or in all: equal numbers must have one text, or a file parts them."""
    native = nw.from_native(frame)
    types = native.collect_schema()
    floats = [name for name in (types if names is None else names) if types[name].is_float()]
    plain = {n: nw.when(nw.col(n) == 0).then(nw.lit(0.0, types[n])).otherwise(nw.col(n)) for n in floats}
    return native.with_columns(**plain).to_native() if plain else frame


def as_text(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """A column as text, a whole number without its decimal point."""
    if dtype == nw.String:
        return nw.col(name)
    text = nw.col(name).cast(nw.String)
    return text.str.replace_all(r"\.0$", "") if dtype.is_float() else text


def is_consecutive(numbers: pl.Series) -> bool:
    """Whether whole numbers follow one another without a gap."""
    return len(numbers) > 0 and numbers.is_sorted() and int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1


def _kind(dtype: nw.dtypes.DType) -> Kind:
    if dtype.is_numeric():
        return Kind.NUMERIC
    if dtype.is_temporal():
        return Kind.DATE
    if isinstance(dtype, nw.Enum):
        return Kind.ORDINAL
    return Kind.NOMINAL
