"""Operations on the rows of a table that every engine has, in Narwhals where Narwhals has them.

A frame is the engine's own lazy frame (a Polars ``LazyFrame``, a DuckDB relation, a Spark ``DataFrame``). Once they
exist, it has the reserved columns ``RECORD`` (the hidden record id) and ``SUPPRESSED``.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from celosia.data.engines.fingerprint import fingerprint
from celosia.data.engines.lazy_frames import (
    ORDER,
    RECORD,
    ROWS,
    Frame,
    filter_rows,
    frame_types,
    group_counts,
    row_count,
    select_columns,
    sort_by_record,
    with_columns,
)
from celosia.data.engines.row_codes import (
    KEY,
    PERSON,
    STORED,
    KeyCounts,
    StoredCodes,
    count_keys,
    fits_in_key,
    weight_parts,
)
from celosia.data.spill import spill_folder
from celosia.errors import DataError
from celosia.histogram import Domain, Histogram, PersonPairs, encode

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from celosia.data.io.facts import FileFacts
    from celosia.streams import Stream

    Orders = Mapping[str, Sequence[str]]
    """For ordinal columns the declared order of their values."""
    Domains = Mapping[str, pl.Series]
    """For each column the values that occur in it, a missing one last."""

READ = 1 << 20
"""Rows of a batch that is read."""
FEW_VALUES = 64
"""Columns with at most this many value combinations are counted along with the quasi-identifiers, in the same pass."""
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
    _column_limit: ClassVar[int] = COLLECT_LIMIT
    """Largest number of rows of a column that is collected for a part."""
    _memory_name: ClassVar[str] = "memory"

    def __init__(self, memory: int | None = None) -> None:
        self.memory = memory
        self.resident_cells = RESIDENT
        """Cells of the largest table that is kept in memory, where the memory limit allows more."""

    @abstractmethod
    def _scan(self, path: Path) -> Frame:
        """Open a Parquet file as a lazy frame."""

    @abstractmethod
    def accept(self, frame: IntoFrame, facts: FileFacts | None = None) -> Frame:
        """Convert a data frame of another library to a lazy frame.

        ``facts`` are those of the file that a lazy Polars frame scans: an engine that reads the file with the same
        types opens it by itself.
        """

    @abstractmethod
    def identify(self, frame: Frame) -> Frame:
        """Add the hidden record id: the row number, from 0."""

    @abstractmethod
    def attach(self, frame: Frame, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True) -> Frame:
        """Null-safe join with a small table: missing equals missing. Rows keep their order where the engine has one."""

    @abstractmethod
    def collect(self, frame: Frame) -> pl.DataFrame:
        """Compute the frame, as Polars."""

    def collect_bounded(self, frame: Frame) -> pl.DataFrame:
        """Compute the frame, as Polars; raise if it is larger than ``COLLECT_LIMIT``."""
        self._check_bound(self.rows(frame) * len(frame_types(frame)))
        return self.collect(frame)

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

    def _write(self, frame: Frame, path: Path) -> None:
        """Write a Parquet file as a stream."""
        self.to_polars_lazy(frame).sink_parquet(path)

    def polars_types(self, frame: Frame) -> dict[str, pl.DataType]:
        """Column names and Polars types; no row is read."""
        return dict(self.collect(nw.from_native(frame).head(0).to_native()).schema)

    def rows(self, frame: Frame) -> int:
        """Count the rows."""
        return int(self.collect(nw.from_native(frame).select(nw.len().alias(ROWS)).to_native()).item())

    def resident(self, frame: Frame) -> pl.DataFrame | None:  # noqa: ARG002
        """Return rows that are in memory already, in the order of the records; None where they must be computed."""
        return None

    # Counting.

    def plan_counts(
        self,
        frame: Frame,
        names: Sequence[str],
        further: Sequence[str],
        domains: Mapping[str, Domain],
        orders: Orders,
        *,
        person: str | None,
        keep_rows: bool,
    ) -> CountPlan:
        """Choose which further columns are counted in one pass with ``names``, and which codes are stored.

        ``keep_rows``: the rows will be read again, by results of every row.
        """
        stored = (keep_rows or person is not None) and self._stores_codes(person)
        if stored or not self._counts_by_value(len(further)):
            domains = self._add_domains(frame, [*names, *further], domains, orders)
        joint = list(names)
        for name in sorted(further, key=lambda name: len(domains.get(name, ()))):
            width = math.prod(len(domains.get(each, ())) for each in (*joint[len(names) :], name))
            if width <= FEW_VALUES and (person is None or self._lists_all_persons):
                joint.append(name)
        every = [*names, *further] if person is not None else joint
        return CountPlan(tuple(joint), tuple(every) if stored else (), domains)

    def _stores_codes(self, person: str | None) -> bool:  # noqa: ARG002
        """Return whether stored codes save time."""
        return True

    def _counts_by_value(self, further: int) -> bool:  # noqa: ARG002
        """Return whether ``count`` needs no domains to count some columns, jointly with so many further ones."""
        return False

    @property
    def _lists_all_persons(self) -> bool:
        """Whether histograms list the persons by all columns; on a cluster only by the quasi-identifiers."""
        return True

    @property
    def _sorts_rows(self) -> bool:
        """Whether keys and persons may be sorted in memory."""
        return self.memory is None

    def _add_domains(
        self, frame: Frame, names: Sequence[str], domains: Mapping[str, Domain], orders: Orders
    ) -> dict[str, Domain]:
        """Add the unknown domains of some columns: their distinct values, each in its order."""
        new = [name for name in dict.fromkeys(names) if name not in domains]
        tallies = self._tallies(frame, new) if new else {}
        return {**domains, **{name: encode(tallies[name][name], orders.get(name, ())).domain for name in new}}

    def _tallies(self, frame: Frame, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Distinct values of each column with their numbers of rows."""
        return {name: self.collect(group_counts(frame, [name])) for name in names}

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
        if person is not None:
            stored = self.encode(frame, names, domains=domains, orders=orders, person=person, weight=weight)
            return stored.count(names, person=True, weight=True)
        every = self._add_domains(frame, names, domains, orders)
        domains = {name: every[name] for name in names}
        if not fits_in_key(domains):
            return self._count_values(frame, names, orders, person, weight)
        return self._count_by_key(frame, domains, weight).histogram(domains)

    def encode(
        self,
        frame: Frame,
        names: Sequence[str],
        *,
        domains: Mapping[str, Domain],
        orders: Orders,
        person: str | None = None,
        weight: str | None = None,
        quasi: Sequence[str] | None = None,
    ) -> StoredCodes:
        """Write the codes of some columns once, with the person and the weight of each row.

        ``quasi`` are the columns by which persons are listed where all pairs of a person and an entry are too many.
        """
        every = self._add_domains(frame, names, domains, orders)
        return self._store(frame, {name: every[name] for name in names}, person, weight, quasi)

    def _store(
        self,
        frame: Frame,
        domains: Mapping[str, Domain],
        person: str | None,
        weight: str | None,
        quasi: Sequence[str] | None,  # noqa: ARG002
    ) -> StoredCodes:
        spilled = self._spill(self._coded_rows(frame, domains, person, weight))
        return StoredCodes(self, spilled, domains, person is not None, weight is not None)

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
        frame = frame if person is None else self._add_person(frame, person)
        frame = with_columns(frame, parts) if parts else frame
        own = dict.fromkeys([*domains, *([] if person is None else [PERSON]), *parts, *kept])
        coded = self._replace_by_codes(
            select_columns(frame, list(own)), {name: domain.values for name, domain in domains.items()}
        )
        small = {name: nw.col(name).cast(_code_type(len(domain))) for name, domain in domains.items()}
        return with_columns(coded, small) if small else coded

    def _add_person(self, frame: Frame, person: str) -> Frame:
        """Add the column ``PERSON`` of stored codes: the person id as it is, or a shorter one."""
        return with_columns(frame, {PERSON: nw.col(person)})

    def _count_values(
        self, frame: Frame, names: Sequence[str], orders: Orders, person: str | None, weight: str | None
    ) -> Histogram:
        """Count by the values themselves; a person is counted where the person column is among them."""
        parts = {} if weight is None else weight_parts(weight)
        if not names:
            keyed = nw.from_native(frame).with_columns(**{KEY: nw.lit(0, nw.Int64)}, **parts)
            keyed = keyed.select(KEY, *([] if person is None else [nw.col(person).alias(PERSON)]), *parts)
            return count_keys(self, keyed.to_native(), person=person is not None).of({})
        summed = [row_count(frame).alias(ROWS), *(nw.col(name).sum() for name in parts)]
        frame = with_columns(frame, parts) if parts else frame
        grouped = nw.from_native(frame).group_by(*names).agg(*summed)
        counted = self.collect(grouped.to_native()).with_columns(pl.col(n).cast(pl.Int64) for n in (ROWS, *parts))
        self._check_bound(counted.height * counted.width)
        columns = {name: encode(counted[name], orders.get(name, ())) for name in names}
        rows = counted[ROWS].to_numpy()
        total = np.column_stack([counted[name].to_numpy() for name in parts]) if parts else None
        if person is None:
            return Histogram.of_entries(columns, rows, weight=total)
        pairs = PersonPairs.of(np.arange(len(rows)), columns[person].codes.astype(np.int64), rows, total)
        nobody, nothing = np.zeros(len(rows), dtype=np.int64), None if total is None else np.zeros_like(total)
        every = Histogram(columns, rows, nobody, nothing, pairs)
        return every.filter(np.ones(len(rows), dtype=np.bool_)).sort()

    def _replace_by_codes(self, frame: Frame, domains: Domains) -> Frame:
        """Replace the values of columns by their positions in the domains, which hold all that occur."""
        for name, values in domains.items():
            places = pl.Series(range(len(values)), dtype=pl.Int64)
            frame = self.map(frame, name, values, places)
        return frame

    def _count_by_key(self, frame: Frame, domains: Mapping[str, Domain], weight: str | None = None) -> KeyCounts:
        """Count by the packed key ``KEY`` of each combination; the combinations must fit in a key."""
        parts = {} if weight is None else weight_parts(weight)
        frame = with_columns(frame, parts) if parts else frame
        kept = [*parts, *([ROWS] if ROWS in frame_types(frame) else [])]
        values = {name: domain.values for name, domain in domains.items()}
        return count_keys(self, self._pack_values(frame, values, kept), person=False)

    def _pack_values(self, frame: Frame, domains: Domains, kept: Sequence[str]) -> Frame:
        """Reduce the columns of ``domains`` to a packed key ``KEY``, with the columns ``kept`` as they are."""
        coded = self._replace_by_codes(select_columns(frame, list(dict.fromkeys([*domains, *kept]))), domains)
        return self._pack_codes(coded, domains, kept)

    def _pack_codes(self, coded: Frame, domains: Domains, kept: Sequence[str]) -> Frame:
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

    def _spill(self, frame: Frame) -> SpilledRows[Frame]:
        """Compute the rows once, and keep them on disk as long as the result is referenced."""
        folder = Path(tempfile.mkdtemp(prefix="spilled-", dir=spill_folder()))
        self._write(frame, folder / STORED)
        return SpilledRows(self._scan(folder / STORED), folder)

    def map(self, frame: Frame, column: str, values: pl.Series, labels: pl.Series) -> Frame:
        """Replace values by labels by a join with the small table (values, labels); others become missing."""
        small = pl.DataFrame({column: values, "__label__": labels})
        joined = nw.from_native(self.attach(frame, small, [column]))
        names = [name for name in joined.collect_schema().names() if name != "__label__"]
        return joined.with_columns(nw.col("__label__").alias(column)).select(*names).to_native()

    def shuffle(self, frame: Frame, stream: Stream, domains: Callable[[], Domains] | None = None) -> Frame:
        """Sort the records into an order that depends on the stream and their ids alone.

        The sort key is a keyed function of the id, computed batch by batch: nothing is collected. ``domains`` returns
        the values of columns that can be moved as codes instead of texts.
        """
        small = self._shrink_text(frame, {} if domains is None else domains())
        return nw.from_native(self._add_shuffle_order(small, stream)).sort(ORDER, RECORD).drop(ORDER).to_native()

    def _add_shuffle_order(self, frame: Frame, stream: Stream) -> Frame:
        """Add the sort key of the shuffled order as column ``ORDER``."""
        stream = stream.with_digest()

        def order(batch: pl.DataFrame) -> pl.DataFrame:
            words = stream.words(batch[RECORD].to_numpy())[:, 0] ^ np.uint64(1 << 63)  # signed, in the same order
            return pl.DataFrame({ORDER: words.view(np.int64)})

        return self.map_batches(frame, [RECORD], {ORDER: pl.Int64()}, order)

    def _shrink_text(self, frame: Frame, domains: Domains) -> Frame:  # noqa: ARG002
        """Convert columns of text with few values to the smallest type of the engine."""
        return frame

    def fingerprint(
        self,
        frame: Frame,
        names: Sequence[str],
        *,
        in_order: bool = False,
        stored: StoredCodes | None = None,
        rows: int | None = None,
    ) -> bytes:
        """Digest of some columns, rows in the order of their ids; the same on every engine.

        Rows that are ``in_order`` need no sort, and may have ``stored`` codes; ``rows`` is their number, if known.
        """
        if in_order and stored is not None:
            others = [name for name in names if name not in stored.domains]
            cells = self.to_polars_lazy(select_columns(frame, others), rows) if others else None
            return stored.fingerprint(names, cells)
        ordered = sort_by_record(frame) if not in_order and RECORD in frame_types(frame) else frame
        return fingerprint(self.to_polars_lazy(select_columns(ordered, names)))

    def keyed_batches(
        self,
        frame: Frame,
        domains: Mapping[str, Domain],
        others: Sequence[str],
        *,
        rows: int,
        stored: StoredCodes | None = None,
    ) -> Callable[[], Iterator[pl.DataFrame]] | None:
        """Return a reader of the rows of a file, in its order: the packed key ``KEY`` of each, and other columns.

        None where rows have no order.
        """

        def read() -> Iterator[pl.DataFrame]:
            if stored is None or not stored.covers(list(domains)):
                values = {name: domain.values for name, domain in domains.items()}
                packed = self.to_polars_lazy(self._pack_values(frame, values, others), rows)
                yield from packed.collect_batches(chunk_size=READ, maintain_order=True)
                return
            keys = stored.keys(list(domains)).collect_batches(chunk_size=READ, maintain_order=True)
            if not others:
                yield from keys
                return
            cells = self.to_polars_lazy(select_columns(frame, others), rows)
            batches = cells.collect_batches(chunk_size=READ, maintain_order=True)
            yield from (other.with_columns(key[KEY]) for key, other in zip(keys, batches, strict=True))

        return read

    def map_blocks(self, frame: Frame, block: str, work: Callable[[pl.DataFrame], pl.DataFrame]) -> Frame:
        """Apply a function to each block, the rows with the same number in ``block``; one is in memory at a time.

        The rows of the result have their record ids, and any order.
        """
        numbers = self.collect(group_counts(frame, [block]))[block].sort()
        place = Path(tempfile.mkdtemp(prefix="blocks-", dir=spill_folder()))
        paths = [place / f"{number}.parquet" for number in numbers]
        types: pl.Schema | None = None
        for number, path in zip(numbers, paths, strict=True):
            rows = work(self.collect(filter_rows(frame, nw.col(block) == number)))
            types = rows.schema if types is None else types
            rows.cast(types).write_parquet(path)
        return self.accept(pl.scan_parquet(paths, glob=False))

    def materialise(self, frame: Frame) -> Frame:
        """Compute the rows once and keep them in memory, unless they exceed it."""
        cells = self.rows(frame) * len(frame_types(frame))
        return frame if self.exceeds_memory(cells) else self.accept(self.collect(frame))

    def exceeds_memory(self, cells: int) -> bool:
        """Return whether a table has more cells than are kept in memory."""
        allowed = RESIDENT if self.memory is None else min(RESIDENT, self.memory // CELL_BYTES)
        return cells > min(allowed, self.resident_cells)

    def can_preview(self) -> bool:
        """Return whether rows can be read for display at once, without a job on a cluster."""
        return True

    @classmethod
    def refusal(cls, rows: int) -> str | None:
        """Return why a column of so many rows is not collected for a part; None where it is."""
        if rows <= cls._column_limit:
            return None
        return f"{cls.name} brings at most {cls._column_limit} to {cls._memory_name}"

    def _check_bound(self, cells: int) -> None:
        """Raise if a result is larger than ``COLLECT_LIMIT``."""
        if cells > COLLECT_LIMIT:
            raise DataError(
                f"{cells} cells would have to be brought into memory, the bound is {COLLECT_LIMIT}: "
                "use fewer or coarser quasi-identifiers, or a method that works row by row."
            )


class CountPlan(NamedTuple):
    """How the engine counts some columns of a table."""

    joint: tuple[str, ...]
    """Columns that are counted in one pass, so that later counts are projections."""
    stored: tuple[str, ...]
    """Columns whose codes are stored; none where that saves no time."""
    domains: Mapping[str, Domain]
    """Domains that are known now."""


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
