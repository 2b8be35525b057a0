"""Equivalence classes and frequencies of a table: what models, risks and losses rest on.

All of it starts from one histogram of combinations (:mod:`celosia.classes.patterns`): grouped by the engine, or from
codes where the rows are in memory. Decided here, once, for everybody who asks:

- A suppressed record belongs to no class. It carries a mark, or shows stars in all its quasi-identifiers, whoever wrote
  them: a reader of the file cannot tell one from the other. Where that is every record, nothing tells them apart and
  they are one class; without a mark they are then generalised, not suppressed.
- Models and risks measure the table in several readings (:meth:`celosia.table.Table.readings`) and state the worst:
  suppressed records that show a sensitive value are also counted as one class, and rows without a person's id also as
  one person each. A suppressed record whose sensitive cells are all missing discloses nothing but that it exists.
- Where the schema declares a person column, sizes count persons; records without a person's id are one person.
- With the readings ``wildcard`` and ``conservative`` of missing values records do not fall into classes: entries are
  then the distinct patterns, their size is the frequency that their records have, ``members`` how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes.baseline import Baseline, baseline
from celosia.classes.column import encode, number, ranked
from celosia.classes.counting import HIDDEN
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.classes.holding import Holding
from celosia.classes.missing import Held, compatible
from celosia.classes.patterns import Patterns
from celosia.classes.rows import all_stars
from celosia.data.engines.engine import PERSONS, RECORD, ROWS
from celosia.data.schema import Missing
from celosia.errors import SchemaError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_FACT = "__fact__"


@dataclass(eq=False)
class Classes(Holding):
    """The classes of one table, each thing computed once."""

    _keyed: dict[tuple[str, ...], tuple[Patterns, ClassCounts]] = field(default_factory=dict, repr=False)
    _baselines: dict[str, Baseline] = field(default_factory=dict, repr=False)

    def baseline(self, column: str) -> Baseline:
        """The domain of a sensitive column, and its distribution in the input table."""
        if column not in self._baselines:
            read, whole = (each.patterns([column], everyone=True) for each in self._compared(column))
            values, before = self.domain(column), whole.column(column).values
            if values.dtype != before.dtype or not before.is_in(values.implode(), nulls_equal=True).all():
                read = whole = self.patterns([column])  # a quasi-identifier whose values a step replaced by others
            raw = read.column(column).values
            self._baselines[column] = baseline(self.rows.schema, column, values, whole, raw)
        return self._baselines[column]

    def domain(self, column: str) -> pl.Series:
        """The values of a column in order, a missing one last: those that classes hold, and those compared with."""
        import polars as pl

        info = self.rows.schema[column]
        cells = [self.patterns([column]).column(column).cells()]
        if column not in self.rows.schema.quasi:
            cells.append(self._compared(column)[1].patterns([column], everyone=True).column(column).cells())
        return encode(pl.concat(cells), info.kind, info.order).values

    def _compared(self, column: str) -> tuple[Classes, Classes]:
        return self.before(column) or (self, self)

    # Classes.

    @cached_property
    def sizes(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """For each class (or pattern): the frequency of its records, and how many records (persons) it has."""
        schema = self.rows.schema
        keys = list(schema.need_quasi())
        if schema.reading() != Missing.CATEGORY:
            return self.pattern_frequencies(), self.patterns(keys).counted
        asked = any((tuple(keys), everyone) in self._patterns for everyone in (False, True))
        counted_before = asked or self.traced(keys) is not None
        alone = schema.person is not None or not (self._marks or self._patterns or self.listed)
        in_engine = self.coded is None and alone and not counted_before
        own = self._sizes_only(keys) if in_engine else self.patterns(keys).counted
        return own.astype(np.float64), own

    @cached_property
    def row_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each class (or pattern): its rows, and how many rows each of them could be; persons are not counted."""
        names = list(self.rows.schema.need_quasi())
        patterns = self.patterns(names)
        if self.rows.schema.reading() == Missing.CATEGORY:
            return patterns.rows, patterns.rows
        conservative = self.rows.schema.reading() == Missing.CONSERVATIVE
        codes = patterns.matrix(names, open_missing=self.open_missing)
        alike = compatible(codes, patterns.rows.astype(np.float64), None, conservative=conservative)
        return patterns.rows, alike.astype(np.int64)

    def sizes_over(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Records (persons, each once) of each class on some of the quasi-identifiers, from the combinations of all.

        For a table that is not in memory, whose missing values are values: nothing but combinations is collected, and
        the pairs of persons who have several.
        """
        patterns = self.patterns(self.rows.schema.need_quasi())
        place = number([patterns.column(name).codes for name in names])
        alone, others = patterns.counted, np.zeros(0, dtype=np.int64)
        if self.rows.schema.person is not None:
            pairs, person = self._several
            alone = alone - np.bincount(pairs, minlength=len(patterns))
            width = int(person.max(initial=0)) + 1
            others = np.unique(place[pairs] * width + person) // width
        sizes = np.bincount(place, weights=alone).astype(np.int64)
        return sizes + np.bincount(others, minlength=len(sizes))

    @cached_property
    def _several(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.shared()

    def _sizes_only(self, keys: list[str]) -> NDArray[np.int64]:
        """Sizes without the combinations, which stay in the engine."""
        import narwhals as nw

        rows = self.rows
        counted = PERSONS if rows.schema.person else ROWS
        grouped = nw.from_native(rows.engine.histogram(rows.kept(), keys, person=rows.schema.person))
        stars = all_stars(rows.telling) if rows.starrable else nw.lit(value=False)
        sizes = rows.engine.collect(grouped.select(nw.col(counted), stars.alias(HIDDEN)).to_native())
        kept = sizes.filter(~sizes[HIDDEN])
        if not len(kept):  # every record is suppressed
            return self.patterns(keys).counted
        return np.sort(kept[counted].to_numpy().astype(np.int64))

    def keyed(self, sensitive: Sequence[str]) -> tuple[Patterns, ClassCounts]:
        """The combinations of the quasi-identifiers, and the classes as arrays of counts in the same order."""
        wanted = tuple(sensitive)
        for columns, (patterns, counts) in self._keyed.items():  # counts that were made for these columns or more
            if set(wanted) <= set(columns):
                return patterns, replace(counts, values={name: counts.values[name] for name in wanted})
        self._keyed[wanted] = self._counted(wanted)
        return self._keyed[wanted]

    def counts(self, sensitive: Sequence[str] = ()) -> ClassCounts:
        """The classes as arrays of counts."""
        if sensitive or self._keyed:
            return self.keyed(sensitive)[1]
        frequency, members = self.sizes
        closed = self.rows.schema.reading() == Missing.CATEGORY
        return ClassCounts(frequency.astype(np.int64), total=self.total, members=None if closed else members)

    def _counted(self, sensitive: Sequence[str]) -> tuple[Patterns, ClassCounts]:
        keys = list(self.rows.schema.need_quasi())
        closed = self.rows.schema.reading() == Missing.CATEGORY
        if closed and sensitive and self.traced([*keys, *sensitive]) is None:
            self.count_together(keys, sensitive)  # combinations of fewer columns follow without a look at the rows
        base = self.patterns(keys)
        if not closed:
            if sensitive:
                raise SchemaError("sensitive values are counted within classes, which need missing = 'category'.")
            frequency, members = self.sizes
            return base, ClassCounts(frequency.astype(np.int64), total=self.total, members=members)
        values = {column: self._value_counts(base, keys, column) for column in sensitive}
        return base, ClassCounts(base.counted, values=values, total=self.total)

    def _value_counts(self, base: Patterns, keys: list[str], column: str) -> ValueCounts:
        """Counts of one sensitive column per class in compressed rows."""
        entries = self.patterns(list(dict.fromkeys([*keys, column])))
        domain = self.baseline(column)
        owner = base.find(entries)
        value = domain.codes(entries.column(column))
        sort = ranked([owner, value])
        start = np.zeros(len(base) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owner, minlength=len(base)), out=start[1:])
        counted = (start, value[sort], entries.counted[sort])
        return ValueCounts(*counted, domain.share, domain.ancestors, domain.numbers, domain.missing_code)

    def pattern_frequencies(self, *, weigh: bool = False) -> NDArray[np.float64]:
        """The frequency of each pattern of the quasi-identifiers in the table, or with ``weigh`` in the population."""
        schema = self.rows.schema
        if weigh and schema.weight is None:
            raise SchemaError("no weight column is declared: name one under `weight`.")
        names = list(schema.need_quasi())
        patterns = self.patterns(names)
        own = patterns.weight if weigh and patterns.weight is not None else patterns.counted.astype(np.float64)
        if schema.reading() == Missing.CATEGORY:
            return own
        codes = patterns.matrix(names, open_missing=self.open_missing)
        held = None if schema.person is None else self.held(weigh=weigh)
        return compatible(codes, own, held, conservative=schema.reading() == Missing.CONSERVATIVE)

    def held(self, *, weigh: bool = False) -> Held:
        """Who has which pattern of the quasi-identifiers."""
        schema = self.rows.schema
        names = list(schema.need_quasi())
        assert schema.person is not None
        pairs = self.patterns(list(dict.fromkeys([*names, schema.person])))
        rows = pairs.rows.astype(np.float64)
        return Held(
            self.patterns(names).find(pairs),
            pairs.column(schema.person).codes.astype(np.int64),
            rows,
            pairs.weight * rows if weigh and pairs.weight is not None else None,
        )

    @property
    def open_missing(self) -> list[str]:
        """The quasi-identifiers whose missing values may be anything."""
        schema = self.rows.schema
        return [name for name in schema.quasi if schema[name].missing != Missing.CATEGORY]

    # Back to the records.

    def frequencies(self, *, weigh: bool = False) -> NDArray[np.float64]:
        """The frequency of each record in table order: how many records (persons) it could be; 0 when suppressed.

        With ``weigh`` the sum of the sampling weights of those records: the estimated frequency in the population.
        """
        return self.spread(self.pattern_frequencies(weigh=weigh), 0.0)

    def spread(self, values: NDArray[Any], suppressed: Any) -> NDArray[Any]:
        """What each combination of the quasi-identifiers has, given to its records in table order."""
        return np.append(values, np.asarray(suppressed, dtype=values.dtype))[self.place]

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The combination of quasi-identifiers of each record in table order; -1 when it is suppressed."""
        import polars as pl

        patterns = self.patterns(list(self.rows.schema.need_quasi()))
        if self.coded is not None:
            out = np.full(len(self.coded.frame), -1, dtype=np.int64)
            out[slice(None) if self.coded.kept is None else self.coded.kept] = self.coded.place(patterns.names)
            return out
        engine, names = self.rows.engine, list(patterns.names)
        small = patterns.cells.with_columns(pl.Series(_FACT, np.arange(len(patterns), dtype=np.int64)))
        joined = engine.attach(self._identified(), small, names)
        back = engine.collect(engine.ordered(engine.select(joined, [RECORD, _FACT])))
        return np.where(self.members, back[_FACT].fill_null(-1).to_numpy(), -1)
