"""What a table is, what can be asked of it, and the changes that make another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from celosia import classes
from celosia.classes import STAR, Rows
from celosia.engines import engine_named
from celosia.engines.engine import HIDDEN, RECORD, SUPPRESSED, Engine, as_text, unsigned
from celosia.errors import DataError, SchemaError
from celosia.representation import Block, Shown, table_blocks
from celosia.schema import Missing, Schema
from celosia.search.classes import ClassCounts

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from celosia.coded import Coded
    from celosia.hierarchy import Levels

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table(Shown):
    """Rows + schema. Made by :func:`celosia.read`; changed only by making another one."""

    rows: Rows
    origin: str = "polars"
    """The kind of frame that came in: polars, lazy, pandas, pyarrow or duckdb."""
    facts: Any = None
    """What the reader of a file learnt about it: labels, separator, missing codes."""
    history: tuple[Mapping[str, Any], ...] = ()
    """What was done, one mapping per step, with evidence that may be published."""
    secrets: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """What the steps found that must not be published: transformations, keys; parallel to the history."""
    start: Rows | None = field(default=None, repr=False)
    """The rows of the input table, whose distributions the models compare with; None for an input table."""
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
        return self.cached("rows", lambda: self.engine.rows(self.rows.frame))

    def __repr__(self) -> str:
        steps = f", {len(self.history)} steps" if self.history else ""
        return f"Table({len(self.names)} columns, {self.engine.name}{steps})"

    def blocks(self) -> list[Block]:
        """The columns and the steps; never a value."""
        return table_blocks(self)

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Compute something about this table once."""
        if key not in self._cache:
            self._cache[key] = make()
        found: T = self._cache[key]
        return found

    # What is in it.

    def polars(self) -> pl.DataFrame:
        """The visible columns in memory, in the order of the records."""
        return self.cached("polars", lambda: self.engine.collect(self.visible()).drop(HIDDEN, strict=False))

    def visible(self) -> Any:
        """The engine's frame of the visible columns, in the order of the records."""
        frame = self.engine.ordered(self.rows.frame) if self._has(RECORD) else self.rows.frame
        return self.engine.select(frame, self.names)

    @property
    def frame(self) -> Any:
        """The data as the kind of frame that came in."""
        if self.origin == "duckdb" and self.engine.name == "duckdb":
            return self.visible()
        data = self.polars()
        if self.origin == "duckdb":
            return engine_named("duckdb").accept(data)
        convert: dict[str, Callable[[], Any]] = {
            "lazy": data.lazy,
            "pandas": data.to_pandas,
            "pyarrow": data.to_arrow,
        }
        return convert.get(self.origin, lambda: data)()

    def column(self, name: str) -> pl.Series:
        """One column in memory, in the order of the records."""
        self._known(name)
        if "polars" in self._cache:
            return self.polars()[name]
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
        info = self.schema[name]
        return self.cached(("codes", name), lambda: classes.codes(self.column(name), info.kind, info.order))

    def levels(self, name: str) -> Levels:
        """The hierarchy of a column over the values that occur; :meth:`codes` index its values."""
        hierarchy = self.schema.hierarchy(name)
        if hierarchy is None:
            raise SchemaError(f"column {name!r} has no hierarchy: declare one under `hierarchies`.")
        return self.cached(("levels", name), lambda: hierarchy.levels(self.codes(name)[1]))

    def ids(self) -> NDArray[np.int64]:
        """The record ids in the order of the records."""
        if not self._has(RECORD):
            return np.arange(len(self), dtype=np.int64)
        return self.cached("ids", lambda: np.sort(self.engine.ids(self.rows.frame)))

    def fingerprint(self) -> bytes:
        """A digest of the visible names and cells in the order of the records; the same on every engine."""
        from celosia.engines.fingerprint import fingerprint

        return self.cached("fingerprint", lambda: fingerprint(self.engine.streamed(self.visible())))

    # Classes and frequencies, each computed once.

    def coded(self) -> Coded | None:
        """Quasi-identifiers and sensitive columns as codes, made once; None when the data are not in memory."""
        return self.cached("coded", lambda: classes.coded(self.rows))

    def sizes(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """For each class (or pattern): the frequency of its records, and how many records it has."""
        known = self._keyed(())
        if known is not None and self.schema.reading() == Missing.CATEGORY:
            return known[1].size.astype(np.float64), known[1].size
        return self.cached("sizes", lambda: classes.sizes(self.rows, self.coded()))

    def class_counts(self, sensitive: Sequence[str | None] = ()) -> ClassCounts:
        """The classes as arrays of counts; ``None`` among ``sensitive`` stands for all sensitive columns."""
        columns = self._sensitive(sensitive)
        if columns:
            return self.keyed_counts(columns)[1]
        return self.cached(
            "counts", lambda: ClassCounts(self.sizes()[0].astype(np.int64), total=classes.total(self.rows))
        )

    def keyed_counts(self, sensitive: Sequence[str | None] = ()) -> tuple[pl.DataFrame, ClassCounts]:
        """The quasi-identifiers of each class, and the classes as arrays of counts."""
        columns = self._sensitive(sensitive)
        known = self._keyed(columns)
        if known is not None:
            return known
        return self.cached(
            ("keyed", columns), lambda: classes.keyed_counts(self.rows, columns, self.start, self.coded())
        )

    def _keyed(self, columns: tuple[str, ...]) -> tuple[pl.DataFrame, ClassCounts] | None:
        """Counts that were made for these columns or more."""
        for key, found in self._cache.items():
            if isinstance(key, tuple) and key[0] == "keyed" and set(columns) <= set(key[1]):
                keys, counts = found
                return keys, replace(counts, values={name: counts.values[name] for name in columns})
        return None

    def frequencies(self, weight: bool = False) -> NDArray[np.float64]:
        """Frequency of each record in table order under the declared reading of missing values; 0 when suppressed."""
        return self.cached(("frequencies", weight), lambda: classes.frequencies(self.rows, weight))

    def suppressed(self) -> int:
        """How many records are suppressed."""
        return self.cached("suppressed", lambda: classes.suppressed(self.rows))

    def suppressed_mask(self) -> NDArray[np.bool_]:
        """Which records are suppressed, in table order."""
        if self._has(SUPPRESSED):
            return np.asarray(self._collect([RECORD, SUPPRESSED])[SUPPRESSED].to_numpy(), dtype=np.bool_)
        if not self.suppressed():
            return np.zeros(len(self), dtype=np.bool_)
        stars = [(self.column(name) == STAR).fill_null(value=False).to_numpy() for name in self.schema.quasi]
        return np.asarray(np.logical_and.reduce(stars), dtype=np.bool_)

    # Changes, each a new table.

    def identified(self) -> Table:
        """The same table with record ids, so that rows may move."""
        if self._has(RECORD):
            return self
        return self._with(self.engine.identify(self.rows.frame))

    def with_columns(self, columns: Mapping[str, nw.Expr]) -> Table:
        """Columns replaced by Narwhals expressions; runs on every engine, row by row."""
        for name in columns:
            self._known(name)
        return self._with(unsigned(self.engine.with_columns(self.rows.frame, columns), columns))

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
        return changed._rebound()

    def map(self, name: str, values: Sequence[Any] | pl.Series, labels: Sequence[Any] | pl.Series) -> Table:
        """A column replaced through a small table of values and labels; a value that it lacks becomes missing."""
        import polars as pl

        self._known(name)
        table = self.identified()  # a join may move rows
        small = pl.Series(name, values).cast(self.polars_types()[name])
        frame = self.engine.map(table.rows.frame, name, small, pl.Series("label", labels))
        return table._with(unsigned(frame, [name]))._rebound()

    def drop(self, names: Sequence[str]) -> Table:
        """Without these columns."""
        for name in names:
            self._known(name)
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
        import narwhals as nw
        import polars as pl

        if drop:
            return self.take(self.ids()[~mask])
        marked = self.identified()
        small = pl.DataFrame({RECORD: marked.ids(), "__hit__": mask})
        frame = nw.from_native(self.engine.attach(marked.rows.frame, small, [RECORD]))
        types = frame.collect_schema()
        hit = nw.col("__hit__")
        changes = {
            name: nw.when(hit).then(nw.lit(STAR)).otherwise(as_text(name, types[name]))
            for name in self.schema.need_quasi()
        }
        changes |= {name: nw.when(~hit).then(nw.col(name)) for name in blank}
        changes[SUPPRESSED] = (nw.col(SUPPRESSED) | hit) if SUPPRESSED in types else hit
        return marked._with(frame.with_columns(**changes).drop("__hit__").to_native())

    def fresh(self, frame: pl.DataFrame) -> Table:
        """A table of new rows under the same schema: no record of it belongs to a record of this one."""
        new = self.engine.identify(self.engine.accept(unsigned(frame)))
        bound = self.schema.keep(frame.columns).bind(self.engine.kinds(new))
        return replace(self, rows=Rows(self.engine, new, bound), lineage=object(), ordered=False, _cache={})

    def computed(self) -> Table:
        """The same table with what was asked of it done once, so that no measure has to do it again."""
        done = self._with(self.engine.materialised(self.rows.frame))
        done._cache.update({key: value for key, value in self._cache.items() if key != "polars"})
        return done

    def with_schema(self, schema: Schema) -> Table:
        """The same rows, described in another way."""
        return replace(self, rows=Rows.described(self.engine, self.rows.frame, schema), _cache={})

    def stepped(self, entry: Mapping[str, Any], secret: Mapping[str, Any], start: Rows) -> Table:
        """The same table with one more step in its history."""
        return replace(self, history=(*self.history, entry), secrets=(*self.secrets, secret), start=start)

    def polars_types(self) -> dict[str, Any]:
        """Column types as Polars names them."""
        return self.cached("types", lambda: dict(self.engine.collect(_head(self)).schema))

    def _with(self, frame: Any) -> Table:
        return replace(self, rows=Rows(self.engine, frame, self.schema), _cache={})

    def _rebound(self) -> Table:
        """Let the schema follow columns that were added or changed their type."""
        kinds = self.engine.kinds(self.rows.frame)
        return replace(self, rows=Rows(self.engine, self.rows.frame, self.schema.bind(kinds)))

    def _has(self, name: str) -> bool:
        return name in self.engine.types(self.rows.frame)

    def _known(self, name: str) -> None:
        self.schema[name]

    def _collect(self, names: Sequence[str]) -> pl.DataFrame:
        wanted = [*names, RECORD] if self._has(RECORD) and RECORD not in names else list(names)
        frame = self.engine.select(self.rows.frame, wanted)
        return self.engine.collect(self.engine.ordered(frame) if RECORD in wanted else frame)

    def _sensitive(self, names: Sequence[str | None]) -> tuple[str, ...]:
        found = [column for name in names for column in self.schema.need_sensitive(name)]
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method made: one or more tables, evidence that may be published, and what must stay private."""

    table: Table
    evidence: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Table] = field(default_factory=dict)
    """Further tables by name that belong to the result (the second table of an anatomy, further copies)."""
    aside: Mapping[str, Table] = field(default_factory=dict)
    """Further tables by name that are handed on and never published (the population of a subset)."""


def _head(table: Table) -> Any:
    import narwhals as nw

    return nw.from_native(table.engine.select(table.rows.frame, table.names)).head(0).to_native()
