"""What a table is, what can be asked of it, and the changes that make another one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from celosia.classes import STAR, ClassCounts, Classes, Encoded, Rows, Sensitive, encode
from celosia.data.engines import engine_named
from celosia.data.engines.engine import HIDDEN, RECORD, ROWS, SUPPRESSED, Engine, as_text, unsigned
from celosia.data.schema import Kind, Role, Schema
from celosia.errors import DataError, SchemaError
from celosia.show.blocks import Block, Shown, change_blocks, table_blocks
from celosia.table.source import Same, open_source
from celosia.table.tracing import Trace

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy import Levels

    Change = Callable[["Table"], "Table"]

T = TypeVar("T")
HIT = "__hit__"
TRACE = "trace"


@dataclass(frozen=True, eq=False)
class Table(Shown):
    """Rows + schema. Made by :func:`celosia.read`; changed only by making another one."""

    rows: Rows
    origin: str = "polars"
    """The kind of frame that came in: polars, lazy, pandas, pyarrow, duckdb or spark."""
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
    lineage: object = field(default_factory=object, repr=False)
    """Tables that descend from one input share it: their record ids mean the same."""
    ordered: bool = False
    """Whether the order of the rows can be trusted: true for frames in memory, false for files and synthetic rows."""
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.rows.schema

    @property
    def first(self) -> Table:
        """The input table that this one was made from; itself when nothing was done to it."""
        return self if self.start is None else self.start

    @property
    def engine(self) -> Engine:
        """The engine that holds the rows."""
        return self.rows.engine

    @property
    def names(self) -> tuple[str, ...]:
        """Visible column names in order."""
        return self.cached(
            "names", lambda: tuple(name for name in self.engine.types(self.rows.frame) if name not in HIDDEN)
        )

    def __len__(self) -> int:
        memory = self.memory()
        return self.cached("rows", self._count) if memory is None else len(memory)

    def _count(self) -> int:
        if self.trace is None:
            return self.engine.rows(self.rows.frame)
        if not any(step.picks for step in self.trace.steps):
            return len(self.trace.base)
        combinations = self.trace.combinations(self.schema.quasi)
        return self.engine.rows(self.rows.frame) if combinations is None else int(combinations[ROWS].sum())

    def __repr__(self) -> str:
        steps = f", {len(self.history)} steps" if self.history else ""
        return f"Table({len(self.names)} columns, {self.engine.name}{steps})"

    def blocks(self) -> list[Block]:
        """The columns, the steps and what they did; never a value of a record."""
        from celosia.table.changes import ENGLISH, column_changes

        if not self.history or self.memory() is None:  # telling what changed reads the rows: not for show alone
            return table_blocks(self)
        return table_blocks(self, change_blocks(column_changes(self.first, self), ENGLISH))

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Compute something about this table once."""
        if key not in self._cache:
            self._cache[key] = make()
        found: T = self._cache[key]
        return found

    # What is in it.

    def polars(self) -> pl.DataFrame:
        """The visible columns in memory, in the order of the records."""
        return self.cached("polars", lambda: self._collect(self.names))

    def visible(self) -> Any:
        """The engine's frame of the visible columns, in the order of the records."""
        frame = self.engine.ordered(self.rows.frame) if self._has(RECORD) else self.rows.frame
        return self.engine.select(frame, self.names)

    @property
    def frame(self) -> Any:
        """The data as the kind of frame that came in."""
        if self.origin == self.engine.name != "polars":
            return self.visible()
        data = self.polars()
        if self.origin in {"duckdb", "spark"}:
            return engine_named(self.origin).accept(data)
        convert: dict[str, Callable[[], Any]] = {
            "lazy": data.lazy,
            "pandas": data.to_pandas,
            "pyarrow": data.to_arrow,
        }
        return convert.get(self.origin, lambda: data)()

    def column(self, name: str) -> pl.Series:
        """One column in memory, in the order of the records."""
        self._known(name)
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
        column = self.encoded(name)
        info = self.schema[name]
        if info.kind == Kind.ORDINAL and info.order:
            unknown = len(column.present.cast(str).filter(~column.present.cast(str).is_in(list(info.order))))
            if unknown:
                raise DataError(f"column {name!r}: {unknown} values are not in the declared order.")
        return column.masked, column.present

    def encoded(self, name: str) -> Encoded:
        """A column as codes in the order of its kind, a missing value last, in the order of the records."""
        coded = self.classes.coded
        if coded is not None:
            return coded.column(name)
        info = self.schema[name]
        return self.cached(("encoded", name), lambda: encode(self.column(name), info.kind, info.order))

    def counted(self, name: str) -> Sensitive:
        """A sensitive column as codes over its domain, with the distribution of the input table."""
        return Sensitive.of(self.encoded(name), self.classes.baseline(name))

    def persons(self) -> NDArray[np.int32] | None:
        """The person of each record as a code; None without a person column. Records without an id are one person."""
        person = self.schema.person
        return None if person is None else self.encoded(person).codes

    def levels(self, name: str, values: pl.Series | None = None) -> Levels:
        """The hierarchy of a column over the values that occur, which :meth:`codes` index, or over those given."""
        hierarchy = self.schema.hierarchy(name)
        if hierarchy is None:
            raise SchemaError(f"column {name!r} has no hierarchy: declare one under `hierarchies`.")
        if values is not None:
            return hierarchy.levels(values)
        return self.cached(("levels", name), lambda: hierarchy.levels(self.codes(name)[1]))

    def ids(self) -> NDArray[np.int64]:
        """The record ids in the order of the records."""
        if not self._has(RECORD):
            return np.arange(len(self), dtype=np.int64)
        return self.cached("ids", lambda: np.asarray(self._collect([RECORD])[RECORD], dtype=np.int64))

    def fingerprint(self) -> bytes:
        """A digest of the visible names and cells in the order of the records; the same on every engine."""
        in_order = self.start is None and self.engine.keeps_order  # as they were read: no ids, nothing to sort
        frame = self.engine.select(self.rows.frame, self.names) if in_order else self.rows.frame
        return self.cached("fingerprint", lambda: self.engine.fingerprint(frame, self.names))

    def tally(self, name: str) -> pl.DataFrame:
        """The different values of a column with their numbers of rows (``ROWS``)."""
        import polars as pl

        if self.memory() is not None:
            return self.column(name).to_frame().group_by(name).agg(pl.len().alias(ROWS))
        counted = self.classes.patterns([name], everyone=True)
        return counted.cells.with_columns(pl.Series(ROWS, counted.rows))

    # Classes and frequencies, each computed once.

    @property
    def classes(self) -> Classes:
        """The equivalence classes: what every measurement of this table rests on."""
        return self.cached("classes", lambda: Classes(self.rows, self.memory, self._before, self._combinations))

    def _before(self, column: str) -> tuple[Classes, Classes] | None:
        """The classes of the input, as a column was read and as the steps since would have it there."""
        if self.start is None or column not in self.start.schema:
            return None
        mapped = functools.reduce(lambda table, change: change(table), self.changes.get(column, ()), self.start)
        return self.start.classes, mapped.classes

    def sizes(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """For each class (or pattern): the frequency of its records, and how many records it has."""
        return self.classes.sizes

    def class_counts(self, sensitive: Sequence[str | None] = (), people: Any = None) -> ClassCounts:
        """The classes as arrays of counts; ``None`` among ``sensitive`` stands for all sensitive columns.

        With ``people``, a population table, each class also has the people of the population in it.
        """
        if people is None:
            return self.classes.counts(self._sensitive(sensitive))
        return self.keyed_counts(sensitive, people)[1]

    def keyed_counts(
        self, sensitive: Sequence[str | None] = (), people: Any = None
    ) -> tuple[pl.DataFrame, ClassCounts]:
        """The quasi-identifiers of each class, and the classes as arrays of counts in the same order."""
        keys, counts = self.classes.keyed(self._sensitive(sensitive))
        if people is not None:
            inside, outside, total = self.cached(("population", Same(people)), lambda: self._population(people))
            counts = replace(counts, population=inside, population_outside=outside, population_total=total)
        return keys.cells, counts

    def _population(self, people: Any) -> tuple[NDArray[np.int64], int, int]:
        from celosia.classes.population import population_counts

        population = open_source(people)
        own = population.schema.person or self.schema.person
        person = own if own in population.names else None
        described = population.with_schema(Schema.of(quasi=self.schema.need_quasi(), person=person))
        return population_counts(self.classes, described.classes)

    def on_records(self, values: NDArray[Any], *, suppressed: Any) -> NDArray[Any]:
        """What each class has (in the order of :meth:`keyed_counts`), given to its records in table order.

        >>> import polars as pl, celosia
        >>> table = celosia.read(pl.DataFrame({"age": [30, 31, 30]}), celosia.Schema.of(quasi=["age"]))
        >>> table.on_records(table.class_counts().size, suppressed=0).tolist()
        [2, 1, 2]
        """
        return self.classes.spread(values, suppressed)

    def frequencies(self, weight: bool = False) -> NDArray[np.float64]:
        """Frequency of each record in table order under the declared reading of missing values; 0 when suppressed."""
        return self.cached(("frequencies", weight), lambda: self.classes.frequencies(weigh=weight))

    def suppressed(self) -> int:
        """How many records are suppressed."""
        return self.classes.suppressed

    def suppressed_mask(self) -> NDArray[np.bool_]:
        """Which records are suppressed, in table order."""
        return self.classes.mask

    # Changes, each a new table.

    def identified(self) -> Table:
        """The same table with record ids, so that rows may move."""
        if self._has(RECORD):
            return self
        numbered = self._again(self.engine.identify(self.rows.frame))
        return numbered if self.trace is None else numbered._traced(self, lambda trace: trace)

    def with_columns(self, columns: Mapping[str, nw.Expr]) -> Table:
        """Columns replaced by Narwhals expressions of themselves; runs on every engine, row by row."""
        for name in columns:
            self._known(name)

        def change(engine: Engine, frame: Any) -> Any:
            return unsigned(engine.with_columns(frame, columns), columns)

        changed = self._with(change(self.engine, self.rows.frame))._traced(
            self, lambda trace: trace.then(columns, change)
        )
        return changed._mapped({name: (lambda table: table.with_columns(columns)) for name in columns})

    def replace(self, columns: Mapping[str, Any]) -> Table:
        """Columns replaced (or added) by arrays or series in the order of the records."""
        import narwhals as nw
        import polars as pl

        table = self.identified()
        new = unsigned(pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()}))
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
        return changed._rebound()._traced(self, lambda trace: trace.without(new.columns))._drawn(new.columns)

    def map(self, name: str, values: Sequence[Any] | pl.Series, labels: Sequence[Any] | pl.Series) -> Table:
        """A column replaced through a small table of values and labels; a value that it lacks becomes missing."""
        import polars as pl

        self._known(name)
        table = self.identified()  # a join may move rows
        small = pl.DataFrame({name: values, "label": labels}).cast({name: self.polars_types()[name]})
        if small["label"].dtype == pl.Null:  # no value, or missing ones only: labels are text all the same
            small = small.cast({"label": pl.String})
        if name in self.schema.quasi and self.suppressed() and STAR not in small[name]:  # those keep their stars
            small = pl.concat([small, pl.DataFrame({name: [STAR], "label": [STAR]})], how="vertical_relaxed")

        def change(engine: Engine, frame: Any) -> Any:
            return unsigned(engine.map(frame, name, small[name], small["label"]), [name])

        mapped = table._with(change(self.engine, table.rows.frame))._rebound()
        mapped._traced(self, lambda trace: trace.then([name], change))
        return mapped._mapped({name: lambda table: table.map(name, values, labels)})

    def reworked(self, frame: Any, names: Sequence[str]) -> Table:
        """The same records in a frame of their ids and cells, with new cells in these columns."""
        return self._with(frame)._rebound()._traced(self, lambda trace: trace.without(names))._drawn(names)

    def drop(self, names: Sequence[str]) -> Table:
        """Without these columns."""
        for name in names:
            self._known(name)
        kept = [name for name in self.engine.types(self.rows.frame) if name not in set(names)]
        frame = self.engine.select(self.rows.frame, kept)
        fewer = replace(self, rows=Rows(self.engine, frame, self.schema.keep(kept)), _cache={})
        return fewer if self.trace is None else fewer._traced(self, lambda trace: trace)

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

        def change(engine: Engine, frame: Any) -> Any:
            joined = nw.from_native(engine.attach(frame, small, keys))
            hit = joined.with_columns(nw.col(HIT).fill_null(value=False).alias(HIT))
            if drop:
                return hit.filter(~nw.col(HIT)).drop(HIT).to_native()
            return self._starred(engine, hit.to_native(), [name for name in blank if name in engine.types(frame)])

        marked = self.identified()
        columns = [*keys, *blank]
        done = marked._with(change(self.engine, marked.rows.frame))
        return done._traced(self, lambda trace: trace.then(columns, change, picks=True))

    def _starred(self, engine: Engine, frame: Any, blank: Sequence[str]) -> Any:
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
        new = self.engine.identify(self.engine.accept(unsigned(frame)))
        bound = self.schema.keep(frame.columns).bind(self.engine.kinds(new))
        made = replace(self._with(new), rows=Rows(self.engine, new, bound), lineage=object(), ordered=False)
        return made._drawn(frame.columns)

    def computed(self) -> Table:
        """The same table with what was asked of it done once, so that no measure has to do it again."""
        if self.large:
            return self
        done = self._again(self.engine.materialised(self.rows.frame))
        done._cache.update({key: value for key, value in self._cache.items() if key != "polars"})
        return done

    @property
    def large(self) -> bool:
        """Whether the table is known, without counting rows, to have more cells than are kept in memory."""
        if self.trace is None or self.trace.base.memory() is not None:
            return False
        return len(self) * len(self.engine.types(self.rows.frame)) > self.engine.room

    def arranged(self, frame: Any) -> Table:
        """The same records in a frame that has them in another order; what is known of them is kept."""
        done = replace(self, rows=replace(self.rows, frame=frame), _cache={})
        kept = ("classes", TRACE, "rows", "names", "types")
        done._cache.update({key: self._cache[key] for key in kept if key in self._cache and self.memory() is None})
        return done

    def streamed(self) -> pl.LazyFrame:
        """The visible columns as they come, as a lazy Polars frame that is run through without being in memory."""
        return self.engine.streamed(self.engine.select(self.rows.frame, self.names), rows=len(self))

    def with_schema(self, schema: Schema) -> Table:
        """The same rows, described in another way."""
        return replace(self, rows=Rows.described(self.engine, self.rows.frame, schema), _cache={})

    def joined(self, names: Sequence[str]) -> Table:
        """The same rows with further quasi-identifiers; the same records are suppressed."""
        schema = self.schema
        for name in names:
            schema = schema.change(name, roles=schema[name].roles | {Role.QUASI})
        described = self.with_schema(schema)
        return replace(described, rows=replace(described.rows, stars=self.rows.telling))

    def stepped(self, entry: Mapping[str, Any], secret: Mapping[str, Any], start: Table) -> Table:
        """The same table with one more step in its history."""
        return replace(self, history=(*self.history, entry), secrets=(*self.secrets, secret), start=start)

    def polars_types(self) -> dict[str, Any]:
        """Column types as Polars names them."""
        return self.cached("types", lambda: dict(self.engine.collect(_head(self)).schema))

    def _again(self, frame: Any) -> Table:
        """The same records in another frame."""
        return replace(self, rows=Rows(self.engine, frame, self.schema), _cache={})

    def _with(self, frame: Any) -> Table:
        """What a change made of this table."""
        return replace(self._again(frame), start=self.first)

    def _traced(self, former: Table, more: Callable[[Trace], Trace]) -> Table:
        """The same table, which remembers how it follows from the combinations of a former one."""
        trace = former.trace or (Trace(former) if former.start is None else None)
        if trace is not None:
            self._cache[TRACE] = more(trace)
        return self

    @property
    def trace(self) -> Trace | None:
        """How this table follows from the combinations of its input; None where that is not known."""
        trace: Trace | None = self._cache.get(TRACE)
        return trace

    def _combinations(self, names: Sequence[str]) -> pl.DataFrame | None:
        return None if self.trace is None or not self.trace.steps else self.trace.combinations(names)

    def _mapped(self, changes: Mapping[str, Change]) -> Table:
        """The same table that remembers what was done to the values of some columns."""
        further = {name: (*self.changes.get(name, ()), change) for name, change in changes.items()}
        return replace(self, changes={**self.changes, **further})

    def _drawn(self, names: Sequence[str]) -> Table:
        """The same table with columns that no values of the input lead to: they are compared with what they are now."""
        kept = [name for name in names if name not in self.schema.quasi]
        apart = {*self.names} - {*kept, self.schema.person}
        now = replace(self.drop([name for name in self.names if name in apart]), start=None, changes={}, history=())
        return replace(self, changes={**self.changes, **{name: (lambda _: now,) for name in kept}})

    def _rebound(self) -> Table:
        """Let the schema follow columns that were added or changed their type."""
        kinds = self.engine.kinds(self.rows.frame)
        return replace(self, rows=Rows(self.engine, self.rows.frame, self.schema.bind(kinds)))

    def _has(self, name: str) -> bool:
        return name in self.engine.types(self.rows.frame)

    def _known(self, name: str) -> None:
        self.schema[name]

    def memory(self) -> pl.DataFrame | None:
        """All columns in the order of the records, where the engine has them in memory; collected once."""
        return self.cached("memory", self._memory)

    def _memory(self) -> pl.DataFrame | None:
        if not self.engine.resident(self.rows.frame):
            return None
        return self.engine.collect(self.engine.ordered(self.rows.frame) if self._has(RECORD) else self.rows.frame)

    def _collect(self, names: Sequence[str]) -> pl.DataFrame:
        memory = self.memory()
        if memory is not None:
            return memory.select(names)
        wanted = [*names, RECORD] if self._has(RECORD) and RECORD not in names else list(names)
        frame = self.engine.select(self.rows.frame, wanted)
        return self.engine.collect(self.engine.ordered(frame) if RECORD in wanted else frame).select(names)

    def _sensitive(self, names: Sequence[str | None]) -> tuple[str, ...]:
        found = [column for name in names for column in self.schema.need_sensitive(name)]
        return tuple(dict.fromkeys(found))


def _head(table: Table) -> Any:
    import narwhals as nw

    return nw.from_native(table.engine.select(table.rows.frame, table.names)).head(0).to_native()
