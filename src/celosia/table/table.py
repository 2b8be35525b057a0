"""The changes of a table, each of which makes another one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from celosia.classes import STAR, ClassCounts, EquivalenceClasses, Lineage, Rows, TableCounts
from celosia.classes.rows import all_missing, all_stars
from celosia.data.engines import engine_named
from celosia.data.engines.engine import HIDDEN, RECORD, SUPPRESSED, Engine, as_text, without_negative_zero
from celosia.data.frames import FrameMetadata, rewrap_frame
from celosia.data.schema import Kind, Role, Schema
from celosia.errors import DataError
from celosia.show.blocks import Block, Shown, change_blocks, table_blocks
from celosia.table.columns import column_types, encoded_column
from celosia.table.frames import STREAM, visible_frame
from celosia.table.materialise import Materialised
from celosia.table.showing import attended, description, headline, preview, preview_html
from celosia.table.source import Same, open_source
from celosia.table.verbs import Verbs

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from celosia.parts import Model
    from celosia.streams import Stream

    Change = Callable[["Table"], "Table"]

T = TypeVar("T")
HIT = "__hit__"


@dataclass(frozen=True, eq=False, repr=False)  # the repr shows counts and roles instead of fields
class Table(Verbs, Shown):
    """Rows + schema. Made by :func:`celosia.read`; changed only by making another one."""

    rows: Rows
    origin: str = "polars"
    """The kind of frame that came in: polars, lazy, pandas, pyarrow, duckdb or spark."""
    around: FrameMetadata = field(default_factory=FrameMetadata, repr=False)
    """What the frame that came in had around its cells: the index and the types of pandas."""
    facts: Any = None
    """What the reader of a file learnt about it: labels, separator, missing codes."""
    history: tuple[Mapping[str, Any], ...] = ()
    """What was done, one mapping per step, with evidence that may be published."""
    secrets: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """What the steps found that must not be published: transformations, keys; parallel to the history."""
    start: Table | None = field(default=None, repr=False)
    """The input table, whose distributions the models compare with; None for an input table."""
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict, repr=False)
    """For each column what was done to its values since the input, so that it can be done to those of the input too."""
    family: object = field(default_factory=object, repr=False)
    """Tables that descend from one input share it: their record ids mean the same."""
    lineage: Lineage | None = field(default=None, repr=False)
    """How the rows follow from those of a counted table; None where that is not known."""
    ordered: bool = False
    """Whether the order of the rows can be trusted: true for frames in memory, false for files and synthetic rows."""
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.rows.schema

    @property
    def engine(self) -> Engine[Any]:
        """The engine that holds the rows."""
        return self.rows.engine

    @property
    def names(self) -> tuple[str, ...]:
        """Visible column names in order."""
        return self.cached(
            "names", lambda: tuple(name for name in self.engine.types(self.rows.frame) if name not in HIDDEN)
        )

    def __len__(self) -> int:
        return self.counts.length

    def __repr__(self) -> str:
        lines = description(self)
        return f"{lines}\n{preview(self)}" if attended() and self.engine.local else lines

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (preview_html(self) if self.engine.local else "")

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Compute something about this table once."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    # What is in it.

    def polars(self) -> pl.DataFrame:
        """The visible columns in memory, in the order of the records."""
        return self.cached("polars", lambda: self._collect(self.names))

    @property
    def frame(self) -> Any:
        """The data as the kind of frame that came in."""
        stays = self.origin == self.engine.name != "polars"
        if stays and (self.origin == "spark" or self.start is None or self._beyond_room()):
            return visible_frame(self)
        if self.origin == "spark":
            return engine_named(self.origin).accept(self.polars())
        first = self if self.start is None else self.start
        places = self.ids() if first.family is self.family else None
        return rewrap_frame(self.polars(), self.origin, self.around, column_types(first), places)

    def column(self, name: str) -> pl.Series:
        """One column in memory, in the order of the records."""
        self._check_column(name)
        return self.cached(("column", name), lambda: self._collect([name])[name])

    def numeric(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Numeric columns as an array (rows × columns) of floats; a missing value is NaN."""
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
        """Integer codes of a column in the order of its kind (-1 is missing), and the values they stand for."""
        column = encoded_column(self, name)
        info = self.schema[name]
        if info.kind == Kind.ORDINAL and info.order:
            unknown = len(column.present.cast(str).filter(~column.present.cast(str).is_in(list(info.order))))
            if unknown:
                raise DataError(f"column {name!r}: {unknown} values are not in the declared order.")
        return column.masked, column.present

    def ids(self) -> NDArray[np.int64]:
        """The record ids in the order of the records."""
        if not self._has(RECORD):
            return np.arange(len(self), dtype=np.int64)
        return self.cached("ids", lambda: np.asarray(self._collect([RECORD])[RECORD], dtype=np.int64))

    # Classes and frequencies, each computed once.

    @property
    def counts(self) -> TableCounts:
        """The histograms of this table, each counted once."""
        return self.cached("counts", lambda: TableCounts(self.rows, self.lineage))

    @property
    def classes(self) -> EquivalenceClasses:
        """The equivalence classes: what every measurement of this table rests on."""
        return self.cached("classes", lambda: EquivalenceClasses(self.counts, self._compared))

    def _compared(self, column: str) -> tuple[TableCounts, TableCounts] | None:
        """The counts of the input, as a column was read and as the steps since would have it there."""
        if self.start is None or column not in self.start.schema:
            return None
        mapped = functools.reduce(lambda table, change: change(table), self.changes.get(column, ()), self.start)
        return self.start.counts, mapped.counts

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
        inside, outside, total = self.cached(("population", Same(people)), lambda: self._population(people))
        return replace(counts, population=inside, population_outside=outside, population_total=total)

    def _population(self, people: object) -> tuple[NDArray[np.int64], int, int]:
        from celosia.classes.population import population_counts

        population = open_source(people)
        own = population.schema.person or self.schema.person
        person = own if own in population.names else None
        described = population.with_schema(Schema.of(quasi=self.schema.need_quasi(), person=person))
        return population_counts(self.classes, described.counts)

    def frequencies(self, weight: bool = False) -> NDArray[np.float64]:
        """Frequency of each record in table order under the declared reading of missing values; 0 when suppressed."""
        classes = self.classes
        return self.cached(
            ("frequencies", weight), lambda: classes.on_records(classes.frequencies(weighted=weight), suppressed=0.0)
        )

    def suppressed(self) -> int:
        """How many records are suppressed."""
        return self.counts.suppressed

    def _sensitive(self, names: Sequence[str | None]) -> tuple[str, ...]:
        columns = [column for name in names for column in self.schema.need_sensitive(name)]
        return tuple(dict.fromkeys(columns))

    # Where the rows are, and what is remembered of how they came about.

    def _collect(self, names: Sequence[str]) -> pl.DataFrame:
        memory = self.counts.frame
        if memory is not None:
            return memory.select(names)
        wanted = [*names, RECORD] if self._has(RECORD) and RECORD not in names else list(names)
        frame = self.engine.select(self.rows.frame, wanted)
        return self.engine.collect(self.engine.sort_by_record(frame) if RECORD in wanted else frame).select(names)

    @property
    def large(self) -> bool:
        """Whether the table is known, without counting rows, to have more cells than are kept in memory."""
        if self.lineage is None or self.lineage.base.frame is not None:
            return False
        return self._beyond_room()

    def _beyond_room(self) -> bool:
        return len(self) * len(self.engine.types(self.rows.frame)) > self.engine.resident_limit

    def _has(self, name: str) -> bool:
        return name in self.engine.types(self.rows.frame)

    def _check_column(self, name: str) -> None:
        self.schema[name]

    @property
    def first(self) -> Table:
        """The input table that this one was made from; itself when nothing was done to it."""
        return self if self.start is None else self.start

    def blocks(self) -> list[Block]:
        """The columns, the steps and what they did; never a value of a record."""
        from celosia.table.changes import ENGLISH, column_changes

        if not self.history or self.counts.frame is None:  # telling what changed reads the rows: not for show alone
            return table_blocks(self, headline(self))
        return table_blocks(self, headline(self), change_blocks(column_changes(self.first, self), ENGLISH))

    # Changes, each a new table.

    def identified(self) -> Table:
        """The same table with record ids, so that rows may move."""
        if self._has(RECORD):
            return self
        numbered = self._again(self.engine.identify(self.rows.frame))
        return replace(numbered, lineage=self.lineage)

    def with_columns(self, columns: Mapping[str, nw.Expr]) -> Table:
        """Columns replaced by Narwhals expressions of themselves; runs on every engine, row by row."""
        for name in columns:
            self._check_column(name)

        def change(engine: Engine[Any], frame: Any) -> Any:
            return without_negative_zero(engine.with_columns(frame, columns), columns)

        changed = self._with(change(self.engine, self.rows.frame))._followed(
            self, lambda lineage: lineage.then(columns, change)
        )
        return changed._mapped({name: (lambda table: table.with_columns(columns)) for name in columns})

    def replace(self, columns: Mapping[str, Any]) -> Table:
        """Columns replaced (or added) by arrays or series in the order of the records."""
        import narwhals as nw
        import polars as pl

        table = self.identified()
        new = without_negative_zero(pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()}))
        if len(new) != len(table):
            raise DataError(f"{len(new)} values were given for {len(table)} records.")
        small = new.rename({name: f"__new__{name}" for name in new.columns}).with_columns(
            pl.Series(RECORD, table.ids()).set_sorted()  # lets the join merge instead of hash: a tenth of the time
        )
        joined = self.engine.attach(table.rows.frame, small, [RECORD])
        wide = nw.from_native(joined).with_columns(**{name: nw.col(f"__new__{name}") for name in new.columns})
        changed = table._with(wide.drop(*(f"__new__{name}" for name in new.columns)).to_native())
        for name, series in new.to_dict().items():
            changed._cache["column", name] = series
        return changed._rebound()._followed(self, lambda lineage: lineage.rewrite(new.columns))._drawn(new.columns)

    def map(self, name: str, values: Sequence[Any] | pl.Series, labels: Sequence[Any] | pl.Series) -> Table:
        """A column replaced through a small table of values and labels; a value that it lacks becomes missing."""
        import polars as pl

        self._check_column(name)
        table = self.identified()  # a join may move rows
        small = pl.DataFrame({name: values, "label": labels}).cast({name: column_types(self)[name]})
        if small["label"].dtype == pl.Null:  # no value, or missing ones only: labels are text all the same
            small = small.cast({"label": pl.String})
        if name in self.schema.quasi and self.suppressed() and STAR not in small[name]:  # those keep their stars
            small = pl.concat([small, pl.DataFrame({name: [STAR], "label": [STAR]})], how="vertical_relaxed")

        def change(engine: Engine[Any], frame: Any) -> Any:
            return without_negative_zero(engine.map(frame, name, small[name], small["label"]), [name])

        mapped = table._with(change(self.engine, table.rows.frame))._rebound()
        mapped = mapped._followed(self, lambda lineage: lineage.then([name], change))
        return mapped._mapped({name: lambda table: table.map(name, values, labels)})

    def batched(
        self,
        name: str,
        function: Callable[[pl.DataFrame], pl.Series],
        *,
        further: Sequence[str] = (),
        dtype: pl.DataType | None = None,
    ) -> Table:
        """A column replaced by a function of batches of rows, in whatever cut: of itself, the record id and others.

        The function goes to other processes on Spark; random numbers come from the record id (``RECORD``).
        """
        import polars as pl

        self._check_column(name)
        table = self.identified()
        inputs = list(dict.fromkeys([RECORD, name, *further]))
        becomes = column_types(self)[name] if dtype is None else dtype

        def called(batch: pl.DataFrame) -> pl.DataFrame:
            return pl.DataFrame({name: function(batch)}, schema={name: becomes})

        frame = self.engine.map_batches(table.rows.frame, inputs, {name: becomes}, called)
        return table.reworked(without_negative_zero(frame, [name]), [name])

    def reworked(self, frame: Any, names: Sequence[str]) -> Table:
        """The same records in a frame of their ids and cells, with new cells in these columns."""
        return self._with(frame)._rebound()._followed(self, lambda lineage: lineage.rewrite(names))._drawn(names)

    def drop(self, names: Sequence[str]) -> Table:
        """Without these columns."""
        for name in names:
            self._check_column(name)
        if not names:
            return self
        kept = [name for name in self.engine.types(self.rows.frame) if name not in set(names)]
        frame = self.engine.select(self.rows.frame, kept)
        return replace(self, rows=Rows(self.engine, frame, self.schema.keep(kept)), _cache={})

    def take(self, ids: NDArray[np.int64]) -> Table:
        """Only the records with these ids."""
        import polars as pl

        table = self.identified()
        small = pl.DataFrame({RECORD: np.asarray(ids, dtype=np.int64)})
        return table._with(self.engine.attach(table.rows.frame, small, [RECORD], keep_unmatched=False))

    def suppress(self, mask: NDArray[np.bool_], *, drop: bool = False, blank: Sequence[str] = ()) -> Table:
        """Records of the mask suppressed: stars in the quasi-identifiers, ``blank`` columns emptied; or dropped."""
        import polars as pl

        if drop:
            return self.take(self.ids()[~mask])
        marked = self.identified()
        small = pl.DataFrame({RECORD: marked.ids(), HIT: mask})
        return marked._with(self._starred(self.engine, self.engine.attach(marked.rows.frame, small, [RECORD]), blank))

    def suppress_classes(self, classes: pl.DataFrame, *, drop: bool = False, blank: Sequence[str] = ()) -> Table:
        """The records of some classes suppressed; ``classes`` holds the quasi-identifiers of each as they are now."""
        import narwhals as nw
        import polars as pl

        keys = list(self.schema.need_quasi())
        small = classes.select(*keys, pl.lit(value=True).alias(HIT))

        def change(engine: Engine[Any], frame: Any) -> Any:
            joined = nw.from_native(engine.attach(frame, small, keys))
            hit = joined.with_columns(nw.col(HIT).fill_null(value=False).alias(HIT))
            if drop:
                return hit.filter(~nw.col(HIT)).drop(HIT).to_native()
            return self._starred(engine, hit.to_native(), [name for name in blank if name in engine.types(frame)])

        marked = self.identified()
        columns = [*keys, *blank]
        done = marked._with(change(self.engine, marked.rows.frame))
        return done._followed(self, lambda lineage: lineage.then(columns, change, drops_rows=drop))

    def readings(self) -> list[Table]:
        """The table in every way that models and risks take the worse number of (:mod:`celosia.classes.classes`).

        The last one has every record that discloses something in a class.
        """
        if self.rows.single:
            return [self]
        return self.cached("readings", self._readings)

    def _readings(self) -> list[Table]:
        names = self._sensitive_cells()
        apart = [self._single(self), *([self._one_class(names)] if names and 0 < self.suppressed() < len(self) else [])]
        if self.counts.unidentified < 2:
            return apart
        return [*(table._each_unknown() for table in apart), *apart]

    @staticmethod
    def _single(table: Table) -> Table:
        """The same table, of which nobody takes further readings."""
        return replace(table, rows=replace(table.rows, single=True))

    def _one_class(self, names: Sequence[str]) -> Table:
        """The table with the suppressed records that show a sensitive value as a class of their own."""
        mark = self.counts.mark

        def change(engine: Engine[Any], frame: Any) -> Any:
            return engine.with_columns(frame, {SUPPRESSED: mark & all_missing(names)})

        view = self._again(change(self.engine, self.rows.frame))
        view = replace(view, rows=replace(view.rows, stars=(), single=True))
        return view._followed(self, lambda lineage: lineage.then([*self.schema.quasi, *names], change))

    def _each_unknown(self) -> Table:
        """The table with each row that has no person's id as a person of its own, in the input table too."""
        import narwhals as nw

        person, table = str(self.schema.person), self.identified()
        identified = nw.concat_str([nw.lit("person "), nw.col(person).cast(nw.String)])
        alone = nw.concat_str([nw.lit("row "), nw.col(RECORD).cast(nw.String)])
        named = nw.when(nw.col(person).is_null()).then(alone).otherwise(identified)
        frame = self.engine.with_columns(table.rows.frame, {person: named})
        start = None if self.start is None else self.start._each_unknown()
        return replace(self, rows=replace(self.rows, frame=frame, single=True), start=start, lineage=None, _cache={})

    def blank_suppressed(self, models: Sequence[Model]) -> Table:
        """Empty the sensitive cells of suppressed records where a requirement does not hold with them as a class."""
        names = self._sensitive_cells()
        some = names and 0 < self.suppressed() < len(self)
        if not some or all(model.holds(self) for model in models):
            return self
        mark = self.counts.mark

        def change(engine: Engine[Any], frame: Any) -> Any:
            import narwhals as nw

            return engine.with_columns(frame, {name: nw.when(~mark).then(nw.col(name)) for name in names})

        done = self._with(change(self.engine, self.rows.frame))
        return done._followed(self, lambda lineage: lineage.then([*self.schema.quasi, *names], change))

    def _sensitive_cells(self) -> list[str]:
        """Sensitive columns that a suppressed record still shows."""
        return [name for name in self.schema.sensitive if name not in self.schema.quasi]

    def unmarked(self) -> Table:
        """Without the marks of suppressed records where every record shows nothing but stars: as in the file."""
        if not (0 < self.suppressed() < len(self) and self.counts.all_suppressed):
            return self
        names = [name for name in self.engine.types(self.rows.frame) if name != SUPPRESSED]
        return self._with(self.engine.select(self.rows.frame, names))

    def unmark_shown(self) -> Table:
        """Take the mark from suppressed records in which a later step put values: they are judged as the file shows."""
        names = self.rows.suppression_columns
        if not (self.rows.has_marks and names):
            return self

        def change(engine: Engine[Any], frame: Any) -> Any:
            import narwhals as nw

            return engine.with_columns(frame, {SUPPRESSED: nw.col(SUPPRESSED) & all_stars(names)})

        done = self._with(change(self.engine, self.rows.frame))
        return done._followed(self, lambda lineage: lineage.then(names, change))

    def _starred(self, engine: Engine[Any], frame: Any, blank: Sequence[str]) -> Any:
        """A frame with stars in the quasi-identifiers of the rows that ``HIT`` marks, and their mark."""
        import narwhals as nw

        types = engine.types(frame)
        hit = nw.col(HIT)
        changes = {
            name: nw.when(hit).then(nw.lit(STAR)).otherwise(as_text(name, types[name]))
            for name in self.schema.need_quasi()
        }
        changes |= {name: nw.when(~hit).then(nw.col(name)) for name in blank}
        changes[SUPPRESSED] = (nw.col(SUPPRESSED) | hit) if SUPPRESSED in types else hit
        return nw.from_native(frame).with_columns(**changes).drop(HIT).to_native()

    def fresh(self, frame: pl.DataFrame) -> Table:
        """A table of new rows under the same schema: no record of it belongs to a record of this one."""
        new = self.engine.identify(self.engine.accept(without_negative_zero(frame)))
        bound = self.schema.keep(frame.columns).bind(self.engine.kinds(new))
        drawn = replace(self._with(new), rows=Rows(self.engine, new, bound), family=object(), ordered=False)
        return drawn._drawn(frame.columns)

    def computed(self) -> Table:
        """The same table with what was asked of it done once, so that no measure has to do it again."""
        if self.large:
            return self
        done = replace(self._again(self.engine.materialise(self.rows.frame)), lineage=self.lineage)
        counted = "counts" in self._cache and self.counts.is_collected
        left = {"polars"} if counted else {"polars", "counts", "classes"}
        done._cache.update({key: value for key, value in self._cache.items() if key not in left})
        return done

    def shuffled(self, stream: Stream, domains: Mapping[str, pl.Series] | None = None) -> Table:
        """The same records in an order that depends on the stream and their ids alone.

        ``domains`` tells the values of some columns, so that codes can be moved instead of texts.
        """
        frame = self.engine.shuffle(self.rows.frame, stream, domains)
        if not self.large:
            return self.arranged(self.engine.materialise(frame))
        done = self.arranged(frame)  # to count the rows would be to shuffle them
        if Materialised.of(self) is not None:
            # made again when the rows are asked for: until then, and after, it would take memory
            done._cache[STREAM] = lambda: Materialised.shuffled_rows(self, stream)
        return done

    def arranged(self, frame: Any) -> Table:
        """The same records in a frame that has them in another order; what is known of them is kept."""
        done = replace(self, rows=replace(self.rows, frame=frame), _cache={})
        kept = ("classes", "counts", "names", "types")
        done._cache.update({key: self._cache[key] for key in kept if key in self._cache and self.counts.frame is None})
        return done

    def with_schema(self, schema: Schema) -> Table:
        """The same rows, described in another way."""
        return replace(self, rows=Rows.bind(self.engine, self.rows.frame, schema), lineage=None, _cache={})

    def joined(self, names: Sequence[str]) -> Table:
        """The same rows with further quasi-identifiers; the same records are suppressed."""
        schema = self.schema
        for name in names:
            schema = schema.change(name, roles=schema[name].roles | {Role.QUASI})
        described = self.with_schema(schema)
        return replace(described, rows=replace(described.rows, stars=self.rows.suppression_columns))

    def stepped(self, entry: Mapping[str, Any], secret: Mapping[str, Any], start: Table) -> Table:
        """The same table with one more step in its history."""
        return replace(self, history=(*self.history, entry), secrets=(*self.secrets, secret), start=start)

    # What a change keeps and remembers.

    def _again(self, frame: Any) -> Table:
        """The same records in another frame."""
        return replace(self, rows=Rows(self.engine, frame, self.schema), lineage=None, _cache={})

    def _with(self, frame: Any) -> Table:
        """What a change made of this table."""
        return replace(self._again(frame), start=self.first)

    def _followed(self, former: Table, more: Callable[[Lineage], Lineage]) -> Table:
        """The same table with its lineage: that of a former table and one more step."""
        lineage = former.lineage or (Lineage(former.counts) if former.start is None else None)
        return self if lineage is None else replace(self, lineage=more(lineage))

    def _mapped(self, changes: Mapping[str, Change]) -> Table:
        """The same table that remembers what was done to the values of some columns."""
        further = {name: (*self.changes.get(name, ()), change) for name, change in changes.items()}
        return replace(self, changes={**self.changes, **further})

    def _drawn(self, names: Sequence[str]) -> Table:
        """The same table with columns that no values of the input lead to: they are compared with what they are now."""
        kept = [name for name in names if name not in self.schema.quasi]
        apart = {*self.names} - {*kept, self.schema.person}
        now = replace(
            self.drop([name for name in self.names if name in apart]), start=None, changes={}, history=(), lineage=None
        )
        return replace(self, changes={**self.changes, **{name: (lambda _: now,) for name in kept}})

    def _rebound(self) -> Table:
        """Let the schema follow columns that were added or changed their type."""
        kinds = self.engine.kinds(self.rows.frame)
        return replace(self, rows=Rows(self.engine, self.rows.frame, self.schema.bind(kinds)))
