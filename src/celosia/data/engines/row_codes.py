"""Rows of a table as codes, which are used to count, write and digest a table and for results per record.

A table in memory is encoded column by column (:class:`MemoryCodes`). Other engines write the codes once, to a Parquet
file or to the files of executors (:class:`StoredCodes`): from then on no text is read or compared row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from celosia.data.engines.fingerprint import BLOCK, block_digest, whole
from celosia.data.engines.lazy_frames import PERSONS, RECORD, ROWS, frame_types, row_count, select_columns
from celosia.errors import DataError
from celosia.histogram import Domain, Encoded, Histogram, PersonPairs, count_persons, encode, pack
from celosia.histogram.combinations import KEYS
from celosia.histogram.fixed_point import HIGH, LARGEST, LOW, means, split, sums

if TYPE_CHECKING:
    from narwhals.typing import IntoLazyFrame
    from numpy.typing import NDArray

    from celosia.data.engines.engine import Engine, SpilledRows
    from celosia.data.engines.lazy_frames import Frame

    Ints = NDArray[np.int64]
    Domains = Mapping[str, Domain]
    Orders = Mapping[str, Sequence[str]]

KEY = "__key__"
PERSON = "__person__"
"""Column with the person of each row: the person id, or the person's first record."""
NO_PERSON = -1
"""Value of ``PERSON`` for records without a person id, where it is the first record."""
HIGHS, LOWS = "__high__", "__low__"
"""Columns with the parts of a weight, or of a sum of weights (:mod:`celosia.histogram.fixed_point`)."""
SORTED = 50_000_000
"""Largest number of rows whose persons are counted in memory, where it is not limited."""
STORED = "rows.parquet"
"""Name of the file of stored rows."""
_KEYS = "__keys__"
_LISTED = "__listed__"
_FEW = 1 << 16
"""Largest number of possible combinations (or the number of rows) that are counted in an array, without a group-by."""
_SOON = 1 << 16
"""Largest number of rows that numpy counts before compiled code would be loaded."""


def fits_in_key(domains: Domains) -> bool:
    """Return whether one 64-bit number can distinguish the combinations of these values."""
    return math.prod(len(domain) for domain in domains.values()) < KEYS


def unpack(key: Ints, domains: Domains) -> dict[str, Encoded]:
    """Unpack keys to columns; the code of the last column is in the lowest place."""
    columns = {}
    for name, domain in reversed(list(domains.items())):
        key, codes = np.divmod(key, max(1, len(domain)))
        columns[name] = Encoded(codes.astype(np.int32), domain)
    return {name: columns[name] for name in domains}


def pack_codes(columns: Mapping[str, NDArray[np.integer]], domains: Domains) -> Ints:
    """Return the packed key of each combination of codes."""
    key = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for name, domain in domains.items():
        key = key * len(domain) + columns[name]
    return key


# Tables in memory.


@dataclass(frozen=True, eq=False)
class Groups:
    """Combinations in the order of their keys: key, number of rows and first row of each."""

    key: Ints
    count: Ints
    first: Ints


@dataclass(frozen=True, eq=False)
class MemoryCodes:
    """Rows of a frame in memory; each column is encoded when it is first needed.

    >>> data = pl.DataFrame({"sex": ["F", "M", "F"], "age": [30, 31, 30]})
    >>> codes = MemoryCodes(data)
    >>> codes.count(["sex", "age"]).rows.tolist(), codes.place(("sex", "age")).tolist()
    ([2, 1], [0, 1, 0])
    """

    frame: pl.DataFrame
    orders: Orders = field(default_factory=dict)
    """Declared orders of ordinal columns."""
    chosen: Ints | None = None
    """Positions of the rows that are counted; None for all."""
    _columns: dict[str, Encoded] = field(default_factory=dict, repr=False)
    _keys: dict[tuple[str, ...], Ints] = field(default_factory=dict, repr=False)
    _groups: dict[tuple[str, ...], Groups] = field(default_factory=dict, repr=False)

    def choose(self, rows: Ints | None) -> MemoryCodes:
        """Return the same columns with only these rows counted."""
        return self if rows is None else MemoryCodes(self.frame, self.orders, rows, self._columns)

    def column(self, name: str) -> Encoded:
        """Return a column over all rows."""
        if name not in self._columns:
            self._columns[name] = encode(self.frame[name], self.orders.get(name, ()))
        return self._columns[name]

    def count(self, names: Sequence[str], *, person: str | None = None, weight: str | None = None) -> Histogram:
        """Count the chosen rows."""
        if not names:
            return self._count_all(person, weight)
        groups = self.groups(names)
        first = groups.first if self.chosen is None else self.chosen[groups.first]
        columns = {name: self.column(name).take(first) for name in names}
        parts = None if weight is None else split(self._weights(weight))
        if person is None:
            total = None if parts is None else sums(parts, self.place(names), len(groups.key))
            return Histogram(columns, groups.count, weight=total)
        who = self._codes(person).astype(np.int64)
        return Histogram(columns, groups.count, *count_persons(self.place(names), who, len(groups.key), parts))

    def _count_all(self, person: str | None, weight: str | None) -> Histogram:
        column = next(iter(self.frame.columns)) if person is None else person
        return self.count([column], person=person, weight=weight).project([])

    def key(self, names: Sequence[str]) -> Ints:
        """Return one number per chosen row for its values in these columns."""
        wanted = tuple(names)
        if wanted not in self._keys:
            start = wanted[:-1] if wanted[:-1] in self._keys else ()
            begin = [self._keys[start]] if start else []
            self._keys[wanted] = pack([*begin, *(self._codes(name) for name in wanted[len(start) :])])
        return self._keys[wanted]

    def groups(self, names: Sequence[str]) -> Groups:
        """Return the combinations that occur in the chosen rows."""
        wanted = tuple(names)
        if wanted not in self._groups:
            key = self.key(wanted)
            self._groups[wanted] = _tally(key) if _is_small(key) else _group_by(key)
        return self._groups[wanted]

    def place(self, names: Sequence[str]) -> Ints:
        """Return the entry of each chosen row in the histogram of these columns."""
        groups, key = self.groups(names).key, self.key(names)
        if not _is_small(key):
            return np.searchsorted(groups, key)
        number = np.zeros(int(key.max(initial=-1)) + 1, dtype=np.int64)
        number[groups] = np.arange(len(groups))
        return number[key]

    def _codes(self, name: str) -> NDArray[np.int32]:
        codes = self.column(name).codes
        return codes if self.chosen is None else codes[self.chosen]

    def _weights(self, name: str) -> NDArray[np.float64]:
        values = self.frame[name].cast(float).fill_null(0.0).to_numpy()
        return values if self.chosen is None else values[self.chosen]


def _is_small(key: Ints) -> bool:
    return int(key.max(initial=0)) < max(_FEW, len(key))


def _tally(key: Ints) -> Groups:
    """Group small numbers by counting."""
    size = int(key.max(initial=-1)) + 1
    if len(key) <= _SOON:
        count, first = np.bincount(key, minlength=size), np.zeros(size, dtype=np.int64)
        first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    else:
        from celosia.kernels.grouping.group_counts import tally

        count, first = tally(key, size)
    present = np.flatnonzero(count)
    return Groups(present, count[present], first[present])


def _group_by(key: Ints) -> Groups:
    rows = pl.DataFrame({"key": key}).with_row_index("row")
    groups = rows.group_by("key").agg(pl.len().alias("count"), pl.col("row").first()).sort("key")
    return Groups(*(groups[name].cast(pl.Int64).to_numpy() for name in ("key", "count", "row")))


# Tables elsewhere.


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """Code columns of the rows of a table, in files that their engine reads fast.

    The files also have the person of each row (``PERSON``), the parts of its weight and, on executors, its record id.
    Local engines keep the order of the records.
    """

    engine: Engine[Any]
    spilled_rows: SpilledRows[Any]
    domains: Domains
    person: bool
    weight: bool
    person_keys: tuple[str, ...] | None = None
    """Columns by which persons are listed, see :class:`celosia.histogram.Histogram`; None for all."""

    @property
    def frame(self) -> IntoLazyFrame:
        """Frame of the stored rows."""
        frame: IntoLazyFrame = self.spilled_rows.frame
        return frame

    def covers(self, names: Sequence[str]) -> bool:
        """Return whether these columns are stored."""
        return set(names) <= set(self.domains)

    def count(self, names: Sequence[str], *, person: bool = False, weight: bool = False) -> Histogram:
        """Count the rows."""
        domains = {name: self.domains[name] for name in names}
        some = not person or self.person_keys is None or set(names) <= set(self.person_keys)
        listed = None if some else frozenset(self.person_keys or ())
        kept = [PERSON] * person + [HIGHS, LOWS] * (weight and self.weight)
        if fits_in_key(domains) and person and listed is None and self._few_enough_to_sort:
            return self._sort_rows(names, kept).histogram(domains)
        if fits_in_key(domains):
            keyed = self._with_key(names, kept, listed)
            return count_keys(self.engine, keyed, person=person, person_keys=listed).histogram(domains)
        entries = self.engine.collect(nw.from_native(self.frame).select(*names).unique().to_native()).sort(names)
        numbered = entries.with_row_index(KEY).with_columns(pl.col(KEY).cast(pl.Int64))
        joined_keys = nw.from_native(self.engine.attach(self.frame, numbered, list(names)))
        counts = count_keys(self.engine, joined_keys.select(KEY, *kept).to_native(), person=person)
        columns = {name: Encoded(entries[name].cast(pl.Int32).to_numpy(), self.domains[name]) for name in names}
        return counts.of(columns)

    @property
    def _few_enough_to_sort(self) -> bool:
        """Whether keys and persons can be sorted in memory, with sixteen bytes per row."""
        return self.engine._sorts_rows and self._in_order().select(pl.len()).collect().item() <= SORTED

    def _sort_rows(self, names: Sequence[str], kept: Sequence[str]) -> KeyCounts:
        rows = nw.from_native(self._in_order()).select(self._key(names).alias(KEY), *kept).to_native()
        counts = KeyCounts.of_rows(rows.collect(engine="streaming"))
        refuse_many(self.engine, 0 if counts.pairs is None else counts.pairs.persons)
        return counts

    def keys(self, names: Sequence[str]) -> pl.LazyFrame:
        """Return the packed key of each row over these columns, in the order of the records, as column ``KEY``."""
        return nw.from_native(self._in_order()).select(self._key(names).alias(KEY)).to_native()

    def shares_domains(self, histogram: Histogram) -> bool:
        """Return whether the columns of a histogram are stored, with the same codes, and fit in a packed key."""
        columns = histogram.columns
        same = all(name in self.domains and column.domain is self.domains[name] for name, column in columns.items())
        return same and bool(columns) and fits_in_key({name: self.domains[name] for name in columns})

    def records_of(self, histogram: Histogram, entries: Ints) -> tuple[Ints, Ints]:
        """Return the positions of the rows of some entries of a histogram with the stored codes, and their entries."""
        domains = {name: self.domains[name] for name in histogram.names}
        key = pack_codes({name: column.codes[entries] for name, column in histogram.columns.items()}, domains)
        chosen = self.keys(histogram.names).with_row_index(ROWS).filter(pl.col(KEY).is_in(key))
        rows = chosen.collect(engine="streaming").sort(ROWS)
        order = np.argsort(key)
        return _ints(rows[ROWS]), entries[order[np.searchsorted(key[order], _ints(rows[KEY]))]]

    def _in_order(self) -> pl.LazyFrame:
        """Scan the rows in the order of the records, for engines that keep it and write one file."""
        return pl.scan_parquet(self.spilled_rows.folder / STORED, glob=False)

    def first_records(self) -> IntoLazyFrame | None:
        """Return each record with the first record of its person, or None if executors have not computed it."""
        stored = self.person and RECORD in frame_types(self.frame)
        return select_columns(self.frame, [RECORD, PERSON]) if stored else None

    def fingerprint(self, names: Sequence[str], others: pl.LazyFrame | None) -> bytes:
        """Digest of some columns from their codes; ``others`` has those that are not stored."""
        own = [name for name in names if name in self.domains]
        digests = []
        for block, further in self._blocks(own, others):
            columns = {name: (block[name].to_numpy(), self.domains[name].values) for name in own}
            digests.append(block_digest({n: columns[n] if n in columns else further[n] for n in names}))
        return whole(digests)

    def _blocks(
        self, own: Sequence[str], others: pl.LazyFrame | None
    ) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        stored = self._in_order().select(own).collect_batches(chunk_size=BLOCK, maintain_order=True)
        if others is None:
            for block in stored:
                yield block, {}
        else:
            blocks = others.collect_batches(chunk_size=BLOCK, maintain_order=True)
            for block, further in zip(stored, blocks, strict=True):
                yield block, further.to_dict()

    def _with_key(self, names: Sequence[str], kept: Sequence[str], person_keys: frozenset[str] | None) -> IntoLazyFrame:
        """Packed key of each row over some columns, and a second one over those in ``person_keys``."""
        columns = {KEY: names} | ({} if person_keys is None else {_KEYS: [n for n in names if n in person_keys]})
        return (
            nw.from_native(self.frame).select(*(self._key(of).alias(k) for k, of in columns.items()), *kept).to_native()
        )

    def _key(self, names: Sequence[str]) -> nw.Expr:
        key = nw.lit(0, nw.Int64)
        for name in names:
            key = key * len(self.domains[name]) + nw.col(name).cast(nw.Int64)
        return key


@dataclass(frozen=True, eq=False)
class KeyCounts:
    """Counts of rows, persons and weights per key, in increasing order: the arrays of a histogram."""

    key: Ints
    rows: Ints
    single: Ints | None = None
    weight: Ints | None = None
    pairs: PersonPairs | None = None
    person_keys: frozenset[str] | None = None

    @classmethod
    def of_sums(cls, sums: pl.DataFrame) -> KeyCounts:
        """Build the counts from rows that are summed up per key, without persons."""
        sums = sums.sort(KEY)
        return cls(_ints(sums[KEY]), _ints(sums[ROWS]), weight=_parts(sums))

    @classmethod
    def of_rows(cls, rows: pl.DataFrame) -> KeyCounts:
        """Count rows in memory by key and person."""
        key, parts = _ints(rows[KEY]), _parts(rows)
        if _is_small(key):
            count = np.bincount(key)
            present = np.flatnonzero(count)
            place, count = (np.cumsum(count > 0) - 1)[key], count[present]
        else:
            groups = _group_by(key)
            present, count = groups.key, groups.count
            place = np.searchsorted(present, key)
        return cls(present, count, *count_persons(place, _numbers(rows[PERSON]), len(present), parts))

    def histogram(self, domains: Domains) -> Histogram:
        """Return the histogram whose keys are packed codes."""
        return self.of(unpack(self.key, domains))

    def of(self, columns: Mapping[str, Encoded]) -> Histogram:
        """Return the histogram whose entries are these combinations."""
        return Histogram(columns, self.rows, self.single, self.weight, self.pairs, self.person_keys)


def _numbers(persons: pl.Series) -> Ints:
    """Replace person ids by numbers below 2^32; missing ids are one person."""
    if persons.dtype == pl.String:
        persons = persons.cast(pl.Categorical).to_physical()
    if persons.dtype.is_integer() and len(persons) > persons.null_count():
        low, high = int(persons.min()), int(persons.max())  # type: ignore[arg-type]
        if high - low < 1 << 32:
            return _ints((persons.cast(pl.Int64) - low).fill_null(high - low + 1))
    return encode(persons).codes.astype(np.int64)


def count_keys(
    engine: Engine[Frame], keyed: Frame, *, person: bool, person_keys: frozenset[str] | None = None
) -> KeyCounts:
    """Count rows by their key (``KEY``), and persons (``PERSON``) if asked for."""
    parts = [name for name in (HIGHS, LOWS) if name in frame_types(keyed)]
    summed = [row_count(keyed).alias(ROWS), *(nw.col(name).sum() for name in parts)]
    frame = nw.from_native(keyed)
    if not person:
        return KeyCounts.of_sums(_collect(engine, frame.group_by(KEY).agg(*summed)))
    by = KEY if person_keys is None else _KEYS
    spread = frame.group_by(PERSON).agg(low=nw.col(by).min(), high=nw.col(by).max(), *summed)  # noqa: B026
    stored = engine._spill(spread.to_native())  # read twice, one row per person
    spread = nw.from_native(stored.frame)
    several = engine.collect(
        spread.filter(nw.col("low") < nw.col("high")).select(PERSON).head(engine._column_limit + 1).to_native()
    )
    refuse_many(engine, len(several))
    pairs = pl.DataFrame(schema=dict.fromkeys([KEY, _LISTED, ROWS, *parts], pl.Int64))
    if len(several):
        numbered = several.with_row_index(_LISTED).with_columns(pl.col(_LISTED).cast(pl.Int64))
        theirs = nw.from_native(engine.attach(keyed, numbered, [PERSON], keep_unmatched=False))
        pairs = _collect(engine, theirs.group_by(KEY, _LISTED).agg(*summed)).sort(KEY, _LISTED)
        engine._check_bound(pairs.height * pairs.width)
    if person_keys is None:
        each = spread.filter(nw.col("low") == nw.col("high")).with_columns(nw.col("low").alias(KEY))
    else:
        each = frame.group_by(KEY, PERSON).agg(*summed)
    alone = _collect(engine, _add_means(each, parts))
    if person_keys is not None:  # listed persons are counted there too
        alone = _subtract(alone, pairs, parts)
    listed = pairs.group_by(KEY).agg(pl.col(ROWS).sum())
    together = pl.concat(
        [alone, listed.with_columns(pl.lit(0, pl.Int64).alias(n) for n in (PERSONS, *parts))], how="diagonal"
    )
    sums = together.group_by(KEY).sum().sort(KEY)
    entry = np.searchsorted(_ints(sums[KEY]), _ints(pairs[KEY]))
    listed_pairs = PersonPairs.of(entry, _ints(pairs[_LISTED]), _ints(pairs[ROWS]), _parts(pairs))
    single, weight = _ints(sums[PERSONS]), _parts(sums)
    return KeyCounts(_ints(sums[KEY]), _ints(sums[ROWS]), single, weight, listed_pairs, person_keys)


def _add_means(each: nw.LazyFrame[Frame], parts: Sequence[str]) -> nw.LazyFrame[Frame]:
    """Sum persons by key: their number, their rows, and the parts of the mean weight of each person."""
    if parts:  # the arithmetic of `celosia.histogram.fixed_point.means`
        mean = nw.col(HIGHS).cast(nw.Float64) / HIGH + nw.col(LOWS).cast(nw.Float64) / (HIGH * LOW)
        each = each.with_columns((mean / nw.col(ROWS).cast(nw.Float64) * HIGH).alias(HIGHS))
        each = each.with_columns(((nw.col(HIGHS) - nw.col(HIGHS).floor()) * LOW).floor().cast(nw.Int64).alias(LOWS))
        each = each.with_columns(nw.col(HIGHS).floor().cast(nw.Int64))
    return each.group_by(KEY).agg(nw.len().alias(PERSONS), nw.col(ROWS).sum(), *(nw.col(name).sum() for name in parts))


def _subtract(alone: pl.DataFrame, pairs: pl.DataFrame, parts: Sequence[str]) -> pl.DataFrame:
    own = pairs.select(KEY, ROWS, *parts)
    if parts:
        mean = means(np.column_stack([_ints(pairs[name]) for name in parts]), _ints(pairs[ROWS]))
        own = own.with_columns(pl.Series(name, mean[:, j]) for j, name in enumerate(parts))
    negative = own.with_columns(pl.lit(1, pl.Int64).alias(PERSONS)).with_columns(-pl.exclude(KEY))
    return pl.concat([alone, negative], how="diagonal").group_by(KEY).sum()


def weight_parts(weight: str) -> dict[str, nw.Expr]:
    """Expressions for the parts of a weight (:func:`celosia.histogram.fixed_point.split`)."""
    value = nw.col(weight).cast(nw.Float64)
    usable = value.is_finite() & (value.abs() < LARGEST)
    scaled = nw.when(usable).then(value).otherwise(nw.lit(0.0)) * HIGH
    return {HIGHS: scaled.floor().cast(nw.Int64), LOWS: ((scaled - scaled.floor()) * LOW).floor().cast(nw.Int64)}


def _collect(engine: Engine[Frame], frame: nw.LazyFrame[Frame]) -> pl.DataFrame:
    """Collect sums as 64-bit integers."""
    collected = engine.collect(frame.to_native())
    whole_numbers = [name for name in (KEY, _LISTED, ROWS, PERSONS, HIGHS, LOWS) if name in collected.columns]
    return collected.with_columns(pl.col(name).cast(pl.Int64) for name in whole_numbers)


def _ints(series: pl.Series) -> Ints:
    return series.to_numpy().astype(np.int64)


def _parts(frame: pl.DataFrame) -> Ints | None:
    return np.column_stack([_ints(frame[name]) for name in (HIGHS, LOWS)]) if HIGHS in frame.columns else None


def refuse_many(engine: Engine[Any], persons: int) -> None:
    """Raise if more persons have several combinations than an engine lists."""
    if persons > engine._column_limit:
        raise DataError(
            f"more than {engine._column_limit} persons have several combinations of the quasi-identifiers, and "
            f"{engine.name} lists no more. Use coarser quasi-identifiers (recode), columns that stay the same "
            "for a person, or another engine."
        )
