"""Equivalence classes and frequencies of a table: the basis of models, risks and losses.

They are computed from one histogram of :class:`~celosia.classes.table_counts.TableCounts`. The two modules decide for
every measure:

- A suppressed record belongs to no class. It has a mark, or ``*`` in all its quasi-identifiers, which a reader of the
  file cannot distinguish. Where every record is suppressed they are one class; without a mark they are then
  generalised, not suppressed.
- Models and risks measure the table in several readings (:meth:`celosia.table.Table.readings`) and state the worst:
  suppressed records that show a sensitive value are also counted as one class, and rows without a person's id also as
  one person each. A suppressed record whose sensitive cells are all missing discloses nothing but that it exists.
- Where the schema declares a person column, sizes count persons; records without a person's id are one person.
- With the readings ``wildcard`` and ``conservative`` of missing values records do not fall into classes: entries are
  then the distinct patterns, their size is the frequency that their records have, ``members`` how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.classes.baseline import Baseline, baseline
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.classes.rows import all_stars
from celosia.classes.table_counts import TableCounts
from celosia.data.engines.lazy_frames import PERSONS, ROWS, group_counts
from celosia.data.schema import Missing
from celosia.errors import SchemaError
from celosia.histogram import Histogram, encode
from celosia.histogram.combinations import sort_order
from celosia.histogram.fixed_point import to_floats

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.histogram import Histogram

    InputCounts = Callable[[str], "tuple[TableCounts, TableCounts] | None"]

_STARS = "__stars__"


@dataclass(eq=False)
class EquivalenceClasses:
    """Classes of one table, computed once."""

    table: TableCounts
    input_counts: InputCounts = lambda _column: None
    """Counts of the input for a column: as read, and with the steps on its values applied; None without an input."""
    _counts: dict[tuple[str, ...], ClassCounts] = field(default_factory=dict, repr=False)
    _baselines: dict[str, Baseline] = field(default_factory=dict, repr=False)

    @cached_property
    def schema(self) -> Schema:
        """The schema of the table."""
        return self.table.rows.schema

    @cached_property
    def histogram(self) -> Histogram:
        """Combinations of quasi-identifiers of the records that belong to a class."""
        return self.table.histogram(self.schema.need_quasi(), suppressed=False)

    @property
    def total(self) -> int:
        """Records of the table, suppressed ones included; persons where a person column is declared."""
        return self.table.total

    @property
    def members(self) -> NDArray[np.bool_]:
        """Which records belong to a class, in table order."""
        return self.table.members

    @property
    def all_suppressed(self) -> bool:
        """Whether every record shows nothing but ``*``."""
        return self.table.all_suppressed

    # Baselines.

    def baseline(self, column: str) -> Baseline:
        """Return the domain of a sensitive column, and its distribution in the input table."""
        if column not in self._baselines:
            counts = self._baseline_counts(column)
            read, whole = (each.histogram([column]) for each in counts)
            total = counts[1].total
            values, before = self.domain(column), whole.column(column).values
            if values.dtype != before.dtype or not before.is_in(values.implode(), nulls_equal=True).all():
                # a quasi-identifier whose values a step replaced by others
                read = whole = self.table.histogram([column], suppressed=False)
                total = whole.total
            raw = read.column(column).values
            self._baselines[column] = baseline(self.schema, column, values, whole, raw, total)
        return self._baselines[column]

    def domain(self, column: str) -> pl.Series:
        """Return the values of a column in order, a missing one last: those in classes and those of the baseline."""
        import polars as pl

        cells = [self.table.histogram([column], suppressed=False).column(column).cells()]
        if column not in self.schema.quasi:
            cells.append(self._baseline_counts(column)[1].histogram([column]).column(column).cells())
        return encode(pl.concat(cells), self.schema[column].value_order).values

    def _baseline_counts(self, column: str) -> tuple[TableCounts, TableCounts]:
        return self.input_counts(column) or (self.table, self.table)

    # Classes.

    @cached_property
    def sizes(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Frequency of the records of each class (or pattern), and its number of records (persons)."""
        keys = self.schema.need_quasi()
        if not self.closed:
            return self.frequencies(), self.histogram.persons
        alone = self.schema.person is not None or not (self.table.has_marks or self.table.domains)
        in_engine = alone and self.table.stored is None and not self.table.has_counts(keys)
        own = self._sizes_in_engine(keys) if in_engine else self.histogram.persons
        return own.astype(np.float64), own

    @cached_property
    def row_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of each class (or pattern), and the frequency of these in rows; persons are not counted."""
        rows = self.table.histogram(self.schema.need_quasi(), suppressed=False, rows_only=True)
        return rows.rows, self._frequencies(rows.without_persons()).astype(np.int64)

    def over(self, names: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return frequencies and records (persons) of the classes on some of the quasi-identifiers."""
        some = self.histogram.project(names)
        return self._frequencies(some), some.persons

    def _sizes_in_engine(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """Count class sizes in the engine, without collecting the combinations."""
        import narwhals as nw

        rows = self.table.rows
        counted = PERSONS if self.schema.person else ROWS
        grouped = nw.from_native(group_counts(rows.unmarked_frame(), keys, person=self.schema.person))
        stars = all_stars(rows.suppression_columns) if rows.can_show_stars else nw.lit(value=False)
        sizes = rows.engine.collect(grouped.select(nw.col(counted), stars.alias(_STARS)).to_native())
        kept = sizes.filter(~sizes[_STARS])
        if not len(kept):  # every record is suppressed
            return self.histogram.persons
        return np.sort(kept[counted].to_numpy().astype(np.int64))

    def counts(self, sensitive: Sequence[str] = (), *, unit: Literal["persons", "rows"] = "persons") -> ClassCounts:
        """Return the classes as arrays of counts; with sensitive columns in the order of :attr:`histogram`."""
        if unit == "rows" and self.schema.person is not None:
            return self._count(tuple(sensitive), rows_only=True)
        if not sensitive and not self._counts:
            frequency, members = self.sizes
            own = None if self.closed else members
            every = self.schema.person is None and not self.table.has_marks  # every row is in a class
            total = int(members.sum()) if every else self.table.total
            return ClassCounts(frequency.astype(np.int64), total=total, members=own)
        return self.counts_in_order(sensitive)

    def counts_in_order(self, sensitive: Sequence[str] = ()) -> ClassCounts:
        """Return the classes as arrays of counts in the order of :attr:`histogram`."""
        wanted = tuple(sensitive)
        for columns, counts in self._counts.items():  # counts of these columns, or of more
            if set(wanted) <= set(columns):
                return replace(counts, values={name: counts.values[name] for name in wanted})
        self._counts[wanted] = self._count(wanted)
        return self._counts[wanted]

    def _count(self, sensitive: tuple[str, ...], *, rows_only: bool = False) -> ClassCounts:
        keys = self.schema.need_quasi()
        if not self.closed:
            if sensitive:
                raise SchemaError("sensitive values are counted within classes, which need missing = 'category'.")
            frequency, members = self.sizes
            return ClassCounts(frequency.astype(np.int64), total=self.total, members=members)
        if sensitive and not self.table.has_counts([*keys, *sensitive]):
            self.table.prepare(keys, sensitive)
        base = self.table.histogram(keys, suppressed=False, rows_only=rows_only)
        size, total = (base.rows, self.table.length) if rows_only else (base.persons, self.total)
        values = {column: self._value_counts(base, column, rows_only=rows_only) for column in sensitive}
        return ClassCounts(size, values=values, total=total)

    def _value_counts(self, base: Histogram, column: str, *, rows_only: bool) -> ValueCounts:
        """Count one sensitive column per class, in compressed rows."""
        entries = self.table.histogram([*base.names, column], suppressed=False, rows_only=rows_only)
        domain = self.baseline(column)
        owner = base.find(entries)
        value = domain.codes(entries.column(column))
        sort = sort_order([owner, value])
        start = np.zeros(len(base) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owner, minlength=len(base)), out=start[1:])
        counted = (start, value[sort], (entries.rows if rows_only else entries.persons)[sort])
        counts = ValueCounts(*counted, domain.share, domain.ancestors, domain.numbers, domain.missing_code)
        if rows_only or self.schema.person is None:
            return counts
        non_missing = self._known_persons(base, column) if domain.missing_code >= 0 else None
        return replace(counts, persons=base.persons, known=non_missing, prevalence=domain.prevalence)

    def _known_persons(self, base: Histogram, column: str) -> NDArray[np.int64]:
        """Count the persons of each class who have a known value in a sensitive column."""
        counted = self.table.count_known(base.names, column)
        non_missing = np.zeros(len(base), dtype=np.int64)
        non_missing[base.find(counted)] = counted.persons
        return non_missing

    # Frequencies.

    @cached_property
    def closed(self) -> bool:
        """Whether records fall into classes: missing values are values."""
        return self.schema.reading() == Missing.CATEGORY

    @property
    def open_missing(self) -> list[str]:
        """Quasi-identifiers whose missing values are compatible with other values."""
        return [name for name in self.schema.quasi if self.schema[name].missing != Missing.CATEGORY]

    def frequencies(self, *, weighted: bool = False, alpha: float | None = None) -> NDArray[np.float64]:
        """Return the frequency of each entry of :attr:`histogram` in the table, or with weights in the population.

        Missing values are read as the schema says; ``alpha`` sets sdcMicro's reading between conservative (0) and
        wildcard (1) for all of them.
        """
        if weighted and self.schema.weight is None:
            raise SchemaError("no weight column is declared: name one under `weight`.")
        return self._frequencies(self.histogram, weighted=weighted, alpha=alpha)

    def _frequencies(
        self, histogram: Histogram, *, weighted: bool = False, alpha: float | None = None
    ) -> NDArray[np.float64]:
        own = [name for name in (self.open_missing if alpha is None else self.schema.quasi) if name in histogram.names]
        conservative = self.schema.reading() == Missing.CONSERVATIVE
        return compatible_frequencies(
            histogram, histogram.names, own, conservative=conservative, alpha=alpha, weighed=weighted
        )

    @property
    def codes(self) -> NDArray[np.int32]:
        """Entries of :attr:`histogram` × quasi-identifiers as codes; -1 for a missing value that may be anything."""
        return self.histogram.matrix(self.histogram.names, open_missing=self.open_missing)

    def persons_in(self, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the records (persons, each once) of groups of entries; -1 for an entry in no group."""
        return self.histogram.merge(group, int(group.max(initial=-1)) + 1).persons

    def owners(self) -> NDArray[np.int64] | None:
        """Return a number for the person of each entry that one person has; None without a person column."""
        histogram = self.histogram
        if histogram.single is None:
            return None
        pairs = histogram.pairs
        listed = 0 if pairs is None else pairs.persons
        owner = listed + np.arange(len(histogram), dtype=np.int64)
        if pairs is not None:
            alone = histogram.single[pairs.entry] == 0
            owner[pairs.entry[alone]] = pairs.person[alone]
        return owner

    # Back to the records.

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Entry of :attr:`histogram` of each record in table order; -1 when it is suppressed."""
        return self.table.place(self.schema.need_quasi())

    def rarest_records(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return at least ``limit`` records of the smallest frequencies, all of any frequency; and the frequencies."""
        frequency = self.frequencies()
        order = np.argsort(frequency, kind="stable")
        order = order[frequency[order] > 0]
        reached = np.searchsorted(np.cumsum(self.histogram.rows[order]), limit)
        last = float(frequency[order[min(int(reached), len(order) - 1)]]) if len(order) else 0.0
        records, entry = self.table.records_of(self.schema.need_quasi(), order[frequency[order] <= last])
        return records, frequency[entry]

    def on_records(self, values: NDArray[Any], *, suppressed: object) -> NDArray[Any]:
        """Spread one value per entry of :attr:`histogram` over the records, in table order."""
        return np.append(values, np.asarray(suppressed, dtype=values.dtype))[self.place]


# Frequencies of patterns when a missing value may stand for others.


def compatible_frequencies(
    histogram: Histogram,
    names: Sequence[str],
    open_missing: Sequence[str],
    *,
    conservative: bool,
    alpha: float | None = None,
    weighed: bool = False,
) -> NDArray[np.float64]:
    """Return the frequency of each entry when missing values in ``open_missing`` may stand for others.

    Persons are counted once, or with ``weighed`` with the mean weight of their rows. ``alpha`` sets sdcMicro's reading
    between conservative (0) and wildcard (1) instead.
    """
    own = histogram.weights if weighed else histogram.persons.astype(np.float64)
    assert own is not None
    codes = histogram.matrix(names, open_missing=open_missing)
    if not (codes < 0).any():
        return own
    from celosia.kernels.grouping.missing_frequencies import Reading, frequencies, person_frequencies

    reading: Reading = "alpha" if alpha is not None else "conservative" if conservative else "wildcard"
    share = 1.0 if alpha is None else alpha
    single, pairs = histogram.single, histogram.pairs
    if single is None or pairs is None:
        return frequencies(codes, own, reading, share)
    # persons with one entry add up like records; others count once among the entries that may be theirs
    alone = to_floats(histogram.weight) if weighed and histogram.weight is not None else single.astype(np.float64)
    result = frequencies(codes, alone, reading, share)
    if len(pairs.entry):
        each = None if not weighed or pairs.weight is None else (to_floats(pairs.weight), pairs.rows.astype(np.float64))
        result += person_frequencies(codes, pairs.entry, pairs.person, reading, share, each)
    return result
