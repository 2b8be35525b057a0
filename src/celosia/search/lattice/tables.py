"""Class tables: the records as integer codes, grouped at any node of the lattice of hierarchy levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.classes import Sensitive
from celosia.classes.counts import ClassCounts, Codes, Counts, ValueCounts, Verdict
from celosia.errors import DataError
from celosia.search.lattice.objective import LevelMaps
from celosia.search.lattice.owners import KNOWN, PERSON, Owners

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Records:
    """The input of a search: quasi-identifiers as codes of a :class:`LevelMaps`, and what else is counted."""

    domain: LevelMaps
    codes: Codes
    """n × m, level 0."""
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)
    person: Codes | None = None
    """The person that each record belongs to; sizes and values then count persons."""
    target: Counts | None = None
    """The smallest class size that each record requires."""
    population: Codes | None = None
    """N × m: the quasi-identifiers of a population table, coded alike."""
    population_total: int | None = None
    total: int | None = None
    """Records (persons) of the whole table with those that an earlier step suppressed; these records unless given."""
    judged: tuple[str, ...] | None = None
    """The sensitive columns of a requirement that names none; all unless given."""
    count: Counts | None = None
    """The number of records of each row; one unless given."""
    owners: Owners | None = None
    """The persons of the rows, where a person may have several records."""

    def __len__(self) -> int:
        return len(self.codes) if self.count is None else int(self.count.sum())

    @cached_property
    def repeated(self) -> bool:
        """Whether some person has several records (otherwise counting records is counting persons)."""
        if self.owners is not None:
            return self.owners.total < len(self)
        return self.person is not None and len(np.unique(self.person)) < len(self.person)


@dataclass(frozen=True, eq=False)
class Layout:
    """Bit fields of the columns in a packed key, and the maps from any level to any higher one."""

    word: Codes
    shift: NDArray[np.uint64]
    mask: NDArray[np.uint64]
    words: int
    steps: Codes
    offset: NDArray[np.int64]
    """``offset[j, a, b]``: where the map of column *j* from level *a* to *b* begins in ``steps`` (-1: none)."""

    @classmethod
    def of(cls, domain: LevelMaps) -> Layout:
        """Assign each column the bits that its widest level needs; a field never spans two words."""
        word, shift, mask = [], [], []
        at = 0
        for j in range(len(domain)):
            bits = max(1, int(domain.values(j) - 1).bit_length())
            if at % 64 + bits > 64:
                at += 64 - at % 64
            word.append(at // 64)
            shift.append(at % 64)
            mask.append((1 << bits) - 1)
            at += bits
        deepest = max((len(maps) for maps in domain.maps), default=1)
        offset = np.full((len(domain), deepest, deepest), -1, dtype=np.int64)
        steps: list[Codes] = []
        length = 0
        for j, maps in enumerate(domain.maps):
            for a in range(len(maps)):
                for b in range(a + 1, len(maps)):
                    step = _step(maps[a], maps[b], domain.names[j], a, b)
                    offset[j, a, b] = length
                    steps.append(step)
                    length += len(step)
        return cls(
            np.array(word, dtype=np.int32),
            np.array(shift, dtype=np.uint64),
            np.array(mask, dtype=np.uint64),
            at // 64 + 1,  # one bit at least stays free: no key has all bits set
            np.concatenate(steps) if steps else np.zeros(1, dtype=np.int32),
            offset,
        )


def _step(lower: Codes, upper: Codes, name: str, a: int, b: int) -> Codes:
    """Return the map between two levels; each generalised value must lie in exactly one higher value."""
    step = np.zeros(int(lower.max()) + 1 if len(lower) else 1, dtype=np.int32)
    step[lower] = upper
    if not np.array_equal(step[lower], upper):
        raise DataError(
            f"the hierarchy of {name!r} is not a tree: a value of level {a} lies in several values of level {b}."
        )
    return step


@dataclass(frozen=True, eq=False)
class ClassTable:
    """The classes at one node: packed keys, sums and (where asked for) value counts."""

    levels: Levels
    keys: NDArray[np.uint64]
    sums: Counts
    """classes × 1 to 3: records, those of the population, squared counts of the original combinations (if asked)."""
    peak: Counts
    values: dict[str, tuple[Counts, Codes, Counts]]

    def __len__(self) -> int:
        return len(self.keys)


class _Scratch:
    """Reusable memory for grouping up to ``rows`` rows."""

    def __init__(self, rows: int, words: int, width: int, peak: bool) -> None:
        from celosia.kernels.search import lattice

        self._kernels = lattice
        slots = max(16, 1 << int(2 * rows - 1).bit_length())
        self._slots = np.empty(slots, dtype=np.int32)
        self._slot_keys = np.empty(slots if words == 1 else 0, dtype=np.uint64)
        self._work = np.empty(rows if words == 1 else 0, dtype=np.uint64)
        self._keys = np.empty((rows, words), dtype=np.uint64)
        self._sums = np.empty((rows, width), dtype=np.int64)
        self._peak = np.empty(rows if peak else 0, dtype=np.int64)
        self._group = np.empty(rows, dtype=np.int32)

    def roll_up(
        self, lay: Layout, keys: NDArray[np.uint64], sums: Counts, peak: Counts, offset: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], Counts, Counts, Codes]:
        """Generalise and group; the groups of rows are valid until the next call."""
        if lay.words == 1 and sums.shape[1] == 1 and not len(peak):
            room = (self._slot_keys, self._slots, self._work)
            out = (self._keys, self._sums, self._group)
            groups = self._kernels.roll_up_word(keys, sums, lay.shift, lay.mask, offset, lay.steps, *room, *out)
        else:
            where = (lay.word, lay.shift, lay.mask, offset, lay.steps)
            every = (self._slots, self._keys, self._sums, self._peak, self._group)
            groups = self._kernels.roll_up(keys, sums, peak, *where, *every)
        peaks = self._peak[:groups].copy() if len(peak) else peak
        return self._keys[:groups].copy(), self._sums[:groups].copy(), peaks, self._group[: len(keys)]


class ClassTables:
    """Compute the class table of any node, from the smallest finer table that is cached."""

    def __init__(
        self,
        records: Records,
        columns: tuple[str, ...] = (),
        keep_rows: int = 4_000_000,
        squares: bool = False,
    ) -> None:
        from celosia.kernels.search.lattice import pack

        self.records = records
        self._squares = squares
        self.layout = Layout.of(records.domain)
        self._columns = columns
        self._keep_rows = keep_rows
        self._kept_rows = 0
        lay = self.layout
        n = len(records.codes)
        codes = records.codes
        population = records.population
        if population is not None:
            codes = np.concatenate([codes, population])
        sums = np.zeros((len(codes), 1 + (population is not None) + squares), dtype=np.int64)
        sums[:n, 0] = 1 if records.count is None else records.count
        if population is not None:
            sums[n:, 1] = 1
        peak = np.zeros(0, dtype=np.int64)
        if records.target is not None:
            peak = np.zeros(len(codes), dtype=np.int64)
            peak[:n] = records.target
        keys = pack(np.ascontiguousarray(codes, dtype=np.int32), lay.word, lay.shift, lay.words)
        nothing = np.full(len(records.domain), -1, dtype=np.int64)
        self._scratch = _Scratch(len(codes), lay.words, sums.shape[1], len(peak) > 0)
        keys, sums, peak, group = self._scratch.roll_up(lay, keys, sums, peak, nothing)
        self._scratch = _Scratch(len(keys), lay.words, sums.shape[1], len(peak) > 0)
        if squares:
            sums[:, -1] = sums[:, 0] ** 2
        bottom = (0,) * len(records.domain)
        self.group = group[:n].copy()
        """The class at the finest node of each record."""
        self.base = ClassTable(bottom, keys, sums, peak, self._count_values(group, len(keys)))
        self._tables: dict[Levels, ClassTable] = {bottom: self.base}
        self._small: list[ClassTable] = [self.base]
        self._lower = np.zeros((64, len(bottom)), dtype=np.int8)
        self._rows = np.full(64, len(keys), dtype=np.int64)
        information = np.array([entropy(counts) for counts in records.domain.counts])
        self._strong = information >= np.median(information)
        self._offset: list[list[list[int]]] = lay.offset.tolist()

    def _count_values(self, group: Codes, groups: int) -> dict[str, tuple[Counts, Codes, Counts]]:
        from celosia.kernels.search.lattice import merge_values

        records = self.records
        self._pair_value: dict[str, Codes] = {}
        self.widths: dict[str, int] = {}
        """The number of different codes of each counted column."""
        self._counted_alone: dict[str, int] = {}
        """Codes below this number stand for as many persons as they count, others for one."""
        if records.repeated and records.owners is not None:
            return self._count_owners(records.owners, group, groups)
        counted: dict[str, tuple[Codes, int]] = {}
        for name in self._columns:
            column = records.sensitive[name]
            counted[name] = (column.codes, column.width)
            if records.repeated and records.person is not None:
                # a person counts once for each value: count pairs that occur, reduce to values when asked
                pair = column.codes.astype(np.int64) + np.int64(column.width) * records.person
                occurring, pair_code = np.unique(pair, return_inverse=True)
                self._pair_value[name] = (occurring % column.width).astype(np.int32)
                counted[name] = (pair_code.astype(np.int32), len(occurring))
        if records.repeated and records.person is not None:
            persons, person = np.unique(records.person, return_inverse=True)
            counted[PERSON] = (person.astype(np.int32), len(persons))
        n = len(records.codes)
        rows = len(group)
        start = np.minimum(np.arange(rows + 1, dtype=np.int64), n)  # rows of the population hold no values
        each = np.ones(n, dtype=np.int64) if records.count is None else records.count
        values = {}
        for name, (codes, width) in counted.items():
            self.widths[name] = width
            codes = np.ascontiguousarray(codes, dtype=np.int32)
            values[name] = merge_values(start, codes, each, group, groups, max(1, width))
            if PERSON in counted and name != PERSON and records.sensitive[name].missing_code >= 0:
                non_missing = records.sensitive[name].codes != records.sensitive[name].missing_code
                some = np.append(0, np.cumsum(np.append(non_missing, np.zeros(rows - n, dtype=np.bool_))))
                owners, self.widths[KNOWN + name] = counted[PERSON]
                entries = (
                    some.astype(np.int64),
                    np.ascontiguousarray(owners[non_missing], dtype=np.int32),
                    each[non_missing],
                )
                values[KNOWN + name] = merge_values(*entries, group, groups, counted[PERSON][1])
        return values

    def _count_owners(self, owners: Owners, group: Codes, groups: int) -> dict[str, tuple[Counts, Codes, Counts]]:
        from celosia.kernels.search.lattice import merge_values

        widths = {name: self.records.sensitive[name].width for name in self._columns}
        values = {}
        for name, entries in owners.entries({PERSON: 1, **widths}).items():
            self._counted_alone[name], self.widths[name] = entries.alone, len(entries.meaning)
            self._pair_value[name] = entries.meaning
            start, codes, count = entries.rows(len(group))
            values[name] = merge_values(start, codes, count, group, groups, len(entries.meaning))
        return values

    def _persons(self, name: str, value: Codes, count: Counts) -> Counts:
        """Return the number of persons of each entry."""
        return np.where(value < self._counted_alone.get(name, 0), count, 1)

    def at(self, levels: Levels) -> ClassTable:
        """Return the classes at a node."""
        kept = self._tables.get(levels)
        if kept is not None:
            return kept
        below = self._finer(levels)
        if 4 * len(below) > len(self.base):
            half = tuple(level if strong else 0 for level, strong in zip(levels, self._strong, strict=True))
            if any(half) and half != levels and half not in self._tables:
                # a table that many nodes share: the columns of high entropy at these levels, the others at level 0
                table, _ = self._roll_up(self._finer(half), half)
                self._remember(table)
                below = table if len(table) < len(below) else below
        table, _ = self._roll_up(below, levels)
        if 3 * len(table) <= 2 * len(below):
            self._remember(table)
        return table

    def coarsen(self, table: ClassTable, levels: Levels) -> tuple[ClassTable, Codes]:
        """Group rows of a finer table at a node; also return the class of each row (valid until the next call)."""
        return self._roll_up(table, levels)

    def from_base(self, levels: Levels) -> tuple[ClassTable, Codes]:
        """Return the classes at a node, and the class there of each class at the finest node."""
        return self._roll_up(self.base, levels)

    def _roll_up(self, below: ClassTable, levels: Levels) -> tuple[ClassTable, Codes]:
        from celosia.kernels.search.lattice import merge_values

        lay = self.layout
        offset = np.array([steps[a][b] for steps, a, b in zip(self._offset, below.levels, levels, strict=True)])
        keys, sums, peak, group = self._scratch.roll_up(lay, below.keys, below.sums, below.peak, offset)
        values = {
            name: merge_values(*counts, group, len(keys), max(1, self.widths[name]))
            for name, counts in below.values.items()
        }
        return ClassTable(levels, keys, sums, peak, values), group

    def _finer(self, levels: Levels) -> ClassTable:
        """Return the smallest cached table that is finer than a node."""
        from celosia.kernels.search.lattice_nodes import smallest_finer

        node = np.array(levels, dtype=np.int8)
        return self._small[smallest_finer(self._lower, self._rows, len(self._small), node)]

    def _remember(self, table: ClassTable) -> None:
        """Cache a table, up to the limit of rows."""
        if self._kept_rows + len(table) > self._keep_rows:
            return
        self._kept_rows += len(table)
        self._tables[table.levels] = table
        count = len(self._small)
        if count == len(self._rows):
            self._lower = np.concatenate([self._lower, np.zeros_like(self._lower)])
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._lower[count] = table.levels
        self._rows[count] = len(table)
        self._small.append(table)

    def size(self, table: ClassTable) -> Counts:
        """Return the size of each class: persons where they have several records, else records."""
        return self._person_counts(table, PERSON) if PERSON in table.values else table.sums[:, 0]

    def _person_counts(self, table: ClassTable, name: str) -> Counts:
        """Return the persons of each class who are counted under a name."""
        start, value, count = table.values[name]
        if name not in self._counted_alone:
            return np.diff(start)
        return np.diff(np.append(0, np.cumsum(self._persons(name, value, count)))[start])

    def _person_total(self) -> int:
        return self.widths[PERSON] if self.records.owners is None else self.records.owners.total

    def counts(
        self,
        table: ClassTable,
        chosen: Verdict | None = None,
        *,
        codes: bool = False,
        least: int = 1,
        columns: tuple[str, ...] | None = None,
        by_record: bool = False,
    ) -> ClassCounts:
        """Return the counts of the classes of a table (or of the chosen ones) for requirements and losses.

        Requirements count persons where they have several records; a loss counts records (``by_record``).
        """
        from celosia.kernels.search.lattice import merge_values, unpack_columns

        records = self.records
        total = len(records)
        if not by_record:
            total = records.total or (self._person_total() if records.repeated else total)
        values = {}
        for name in self._columns if columns is None else columns:
            column = records.sensitive[name]
            start, value, count = table.values[name]
            if name in self._pair_value:
                itself = np.arange(len(table), dtype=np.int32)
                pairs = self._pair_value[name][value]
                each = count if by_record else self._persons(name, value, count)
                start, value, count = merge_values(start, pairs, each, itself, len(table), column.width)
            of_input = (column.share(), column.ancestors, column.numbers, column.missing_code)
            persons = non_missing = None
            if records.repeated and not by_record:
                persons = self.size(table)
                non_missing = self._person_counts(table, KNOWN + name) if KNOWN + name in table.values else None
            values[name] = ValueCounts(start, value, count, *of_input, persons, non_missing, column.prevalence)
        lay = self.layout
        all_classes = ClassCounts(
            size=table.sums[:, 0] if by_record else self.size(table),
            values=values,
            total=total,
            target=table.peak if len(table.peak) else None,
            population=None if records.population is None else table.sums[:, 1],
            population_total=records.population_total,
            codes=unpack_columns(table.keys, lay.word, lay.shift, lay.mask).T if codes else None,
            levels=table.levels,
            squares=table.sums[:, -1] if self._squares else None,
            least=least,
        )
        return all_classes if chosen is None else all_classes.take(chosen)


def entropy(counts: Counts) -> float:
    """Return the entropy of counts in bits."""
    share = counts[counts > 0] / max(1, counts.sum())
    return float(-(share * np.log2(share)).sum())
