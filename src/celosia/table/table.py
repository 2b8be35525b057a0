"""Table: rows in an engine with their schema and provenance."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from celosia.classes import ClassCounts, EngineFrame, EquivalenceClasses, Rows, TableCounts
from celosia.data.engines import engine_named
from celosia.data.engines.engine import Engine
from celosia.data.engines.lazy_frames import HIDDEN, RECORD, select_columns, sort_by_record, without_negative_zero
from celosia.data.frames import rewrap_frame
from celosia.data.schema import Kind, Schema
from celosia.errors import DataError
from celosia.show.blocks import Block, Shown, change_blocks, table_blocks
from celosia.table.columns import column_types, encoded_column
from celosia.table.derive import changed_table, rewrite_columns, with_provenance, with_record_ids
from celosia.table.display import description, headline, is_interactive, preview, preview_html
from celosia.table.frames import exceeds_memory, visible_frame
from celosia.table.provenance import Origin, Provenance
from celosia.table.source import Same, open_source
from celosia.table.suppression import readings
from celosia.table.verbs import Verbs

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)  # the repr shows counts and roles instead of fields
class Table(Verbs, Shown):
    """Rows + schema. Made by :func:`celosia.read`; a change returns a new table.

    Functions on its columns, rows and suppressed records are in the modules of :mod:`celosia.table`.
    """

    rows: Rows
    origin: Origin = field(default_factory=Origin)
    provenance: Provenance = field(default_factory=Provenance)
    _cache: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """Roles, kinds and hierarchies of the columns."""
        return self.rows.schema

    @property
    def engine(self) -> Engine[Any]:
        """Engine that holds the rows."""
        return self.rows.engine

    @property
    def names(self) -> tuple[str, ...]:
        """Visible column names in order."""
        return self.compute_once("names", lambda: tuple(name for name in self.rows.types if name not in HIDDEN))

    @property
    def first(self) -> Table:
        """Input table from which this one was made; the table itself if it is an input."""
        return self if self.provenance.input is None else self.provenance.input

    @property
    def history(self) -> tuple[Mapping[str, Any], ...]:
        """Steps that were applied, one mapping per step, with evidence that may be published."""
        return self.provenance.history

    @property
    def private_history(self) -> tuple[Mapping[str, Any], ...]:
        """Evidence of the steps that must not be published (transformations, keys), parallel to the history."""
        return self.provenance.private_history

    def __len__(self) -> int:
        return self.counts.length

    def __repr__(self) -> str:
        lines = description(self)
        return f"{lines}\n{preview(self)}" if is_interactive() and self.engine.can_preview() else lines

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (preview_html(self) if self.engine.can_preview() else "")

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Compute a value of this table once."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    # Values.

    def polars(self) -> pl.DataFrame:
        """Return the visible columns in memory, in the order of the records."""
        return self.compute_once("polars", lambda: self._collect(self.names))

    @property
    def frame(self) -> EngineFrame:
        """Data as the kind of frame that was read."""
        library, original = self.origin.library, self.provenance.input
        stays = library == self.engine.name != "polars"
        if stays and (library == "spark" or original is None or exceeds_memory(self)):
            return visible_frame(self)
        if library == "spark":
            return engine_named(library).accept(self.polars())
        places = self.ids() if self.first.provenance.family is self.provenance.family else None
        return rewrap_frame(self.polars(), library, self.origin.metadata, column_types(self.first), places)

    def column(self, name: str) -> pl.Series:
        """Return one column in memory, in the order of the records."""
        self.schema[name]
        return self.compute_once(("column", name), lambda: self._collect([name])[name])

    def numeric(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return numeric columns as an array (rows × columns) of floats; a missing value is NaN."""
        import polars as pl

        out = np.empty((len(self), len(names)), dtype=np.float64)
        for j, name in enumerate(names):
            series = self.column(name)
            if not series.dtype.is_numeric() and series.dtype != pl.Boolean:
                raise DataError(f"column {name!r} holds text or dates, but numbers are needed.")
            values = series.cast(pl.Float64).to_numpy()
            infinite = int(np.isinf(values).sum())
            if infinite:
                raise DataError(f"column {name!r} holds {infinite} infinite values; replace or remove them first.")
            out[:, j] = values
        return out

    def codes(self, name: str) -> tuple[NDArray[np.int32], pl.Series]:
        """Return a column as integer codes in the order of its kind (-1 is missing), and the values that they index."""
        column = encoded_column(self, name)
        info = self.schema[name]
        if info.kind == Kind.ORDINAL and info.order:
            unknown = len(column.present.cast(str).filter(~column.present.cast(str).is_in(list(info.order))))
            if unknown:
                raise DataError(f"column {name!r}: {unknown} values are not in the declared order.")
        return column.masked, column.present

    def ids(self) -> NDArray[np.int64]:
        """Return the record ids in the order of the records."""
        if not self._has_ids():
            return np.arange(len(self), dtype=np.int64)
        return self.compute_once("ids", lambda: np.asarray(self._collect([RECORD])[RECORD], dtype=np.int64))

    # Classes and frequencies, each computed once.

    @property
    def counts(self) -> TableCounts:
        """Histograms of this table, each counted once."""
        return self.compute_once("counts", lambda: TableCounts(self.rows, self.provenance.lineage))

    @property
    def classes(self) -> EquivalenceClasses:
        """Equivalence classes, on which every measure of this table is based."""
        return self.compute_once("classes", lambda: EquivalenceClasses(self.counts, self._input_counts))

    def readings(self) -> list[Table]:
        """Return the readings of which models and risks take the worst value (:mod:`celosia.classes.classes`).

        In the last one every record that discloses a value is in a class.
        """
        if self.rows.single or not (self.schema.person or self.counts.has_marks):
            return [self]
        return self.compute_once("readings", lambda: readings(self))

    def _input_counts(self, column: str) -> tuple[TableCounts, TableCounts] | None:
        """Return the counts of the input with a column as read, and with the changes of its values since."""
        original = self.provenance.input
        if original is None or column not in original.schema:
            return None
        changes = self.provenance.value_changes.get(column, ())
        return original.counts, functools.reduce(lambda table, change: change(table), changes, original).counts

    def class_counts(
        self, sensitive: Sequence[str | None] = (), people: object = None, *, in_order: bool = False
    ) -> ClassCounts:
        """Return the classes as arrays of counts; ``None`` among ``sensitive`` stands for all sensitive columns.

        With ``people``, a population table, each class also has its people of the population. ``in_order``: in the
        order of ``classes.histogram``.
        """
        names = self._sensitive(sensitive)
        if people is None and not in_order:
            return self.classes.counts(names)
        counts = self.classes.counts_in_order(names)
        if people is None:
            return counts
        inside, outside, total = self.compute_once(("population", Same(people)), lambda: self._population(people))
        return replace(counts, population=inside, population_outside=outside, population_total=total)

    def _population(self, people: object) -> tuple[NDArray[np.int64], int, int]:
        from celosia.classes.population import population_counts

        population = open_source(people)
        own = population.schema.person or self.schema.person
        person = own if own in population.names else None
        described = population.with_schema(Schema.of(quasi=self.schema.need_quasi(), person=person))
        return population_counts(self.classes, described.counts)

    def frequencies(self, weight: bool = False) -> NDArray[np.float64]:
        """Return the frequency of each record in table order; 0 when suppressed."""
        classes = self.classes
        return self.compute_once(
            ("frequencies", weight), lambda: classes.on_records(classes.frequencies(weighted=weight), suppressed=0.0)
        )

    def suppressed(self) -> int:
        """Count the suppressed records."""
        return self.counts.suppressed

    def blocks(self) -> list[Block]:
        """Columns, steps and their effects for display; never a value of a record."""
        from celosia.table.changes import ENGLISH, column_changes

        if not self.history or self.counts.frame is None:  # the changes read the rows: too slow for display alone
            return table_blocks(self, headline(self))
        return table_blocks(self, headline(self), change_blocks(column_changes(self.first, self), ENGLISH))

    def _sensitive(self, names: Sequence[str | None]) -> tuple[str, ...]:
        columns = [column for name in names for column in self.schema.need_sensitive(name)]
        return tuple(dict.fromkeys(columns))

    def _collect(self, names: Sequence[str]) -> pl.DataFrame:
        if self.counts.frame is not None:
            return self.counts.frame.select(names)
        has_ids = self._has_ids()
        wanted = list(dict.fromkeys([*names, RECORD])) if has_ids else list(names)
        frame = select_columns(self.rows.frame, wanted)
        return self.engine.collect(sort_by_record(frame) if has_ids else frame).select(names)

    def _has_ids(self) -> bool:
        return RECORD in self.rows.types

    # Changes, each a new table.

    def with_schema(self, schema: Schema) -> Table:
        """Describe the same rows by another schema."""
        described = replace(self, rows=Rows.bind(self.engine, self.rows.frame, schema), _cache={})
        return with_provenance(described, lineage=None)

    def replace(self, columns: Mapping[str, Any]) -> Table:
        """Replace or add columns by arrays or series in the order of the records."""
        import narwhals as nw
        import polars as pl

        table = with_record_ids(self)
        new = without_negative_zero(pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()}))
        if len(new) != len(table):
            raise DataError(f"{len(new)} values were given for {len(table)} records.")
        small = new.rename({name: f"__new__{name}" for name in new.columns}).with_columns(
            pl.Series(RECORD, table.ids()).set_sorted()  # lets the join merge instead of hash: a tenth of the time
        )
        joined = self.engine.attach(table.rows.frame, small, [RECORD])
        wide = nw.from_native(joined).with_columns(**{name: nw.col(f"__new__{name}") for name in new.columns})
        frame = wide.drop(*(f"__new__{name}" for name in new.columns)).to_native()
        changed = rewrite_columns(self, frame, new.columns)
        changed._cache.update({("column", name): series for name, series in new.to_dict().items()})
        return changed

    def drop(self, names: Sequence[str]) -> Table:
        """Remove columns."""
        for name in names:
            self.schema[name]
        if not names:
            return self
        kept = [name for name in self.rows.types if name not in set(names)]
        frame = select_columns(self.rows.frame, kept)
        return replace(self, rows=Rows(self.engine, frame, self.schema.keep(kept)), _cache={})

    def take(self, ids: NDArray[np.int64]) -> Table:
        """Select the records with these ids."""
        import polars as pl

        table = with_record_ids(self)
        small = pl.DataFrame({RECORD: np.asarray(ids, dtype=np.int64)})
        return changed_table(table, self.engine.attach(table.rows.frame, small, [RECORD], keep_unmatched=False))


# Outcome of a method: tables, public evidence, and private evidence.


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a method: one or more tables, evidence that may be published, and evidence that must stay private."""

    table: Table
    evidence: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Table] = field(default_factory=dict)
    """Further tables by name that belong to the result (the second table of an anatomy, further copies)."""
    aside: Mapping[str, Table] = field(default_factory=dict)
    """Further tables by name that are passed on and never published (the population of a subset)."""
