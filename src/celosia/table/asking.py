"""What a table holds, and what can be asked of it; whatever costs something is computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from celosia.classes import ClassCounts, EquivalenceClasses, Lineage, Rows, Sensitive, TableCounts
from celosia.data.engines import engine_named
from celosia.data.engines.engine import HIDDEN, RECORD, Engine
from celosia.data.engines.fingerprint import BLOCK
from celosia.data.engines.row_codes import ROWS
from celosia.data.frames import FrameMetadata, rewrap_frame
from celosia.data.schema import Kind, Schema
from celosia.errors import DataError, SchemaError
from celosia.histogram import Encoded, Histogram, encode
from celosia.show.blocks import Shown
from celosia.table.showing import attended, description, preview, preview_html
from celosia.table.source import Same, open_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy import Levels
    from celosia.table.table import Table

    Change = Callable[[Table], Table]

T = TypeVar("T")
STREAM = "stream"


@dataclass(frozen=True, eq=False)
class Asked(Shown):
    """Rows + schema, and the questions that they answer; a :class:`~celosia.table.Table` adds what changes it."""

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

    def visible(self) -> Any:
        """The engine's frame of the visible columns, in the order of the records."""
        frame = self.engine.sort_by_record(self.rows.frame) if self._has(RECORD) else self.rows.frame
        return self.engine.select(frame, self.names)

    @property
    def frame(self) -> Any:
        """The data as the kind of frame that came in."""
        stays = self.origin == self.engine.name != "polars"
        if stays and (self.origin == "spark" or self.start is None or self._beyond_room()):
            return self.visible()
        if self.origin == "spark":
            return engine_named(self.origin).accept(self.polars())
        first = self if self.start is None else self.start
        places = self.ids() if first.family is self.family else None
        return rewrap_frame(self.polars(), self.origin, self.around, first.polars_types(), places)

    def streamed(self) -> pl.LazyFrame:
        """The visible columns as they come, as a lazy Polars frame that is run through without being in memory."""
        if STREAM in self._cache:
            frame: pl.LazyFrame = self._cache[STREAM]()
            return frame
        return self.engine.to_polars_lazy(self.engine.select(self.rows.frame, self.names), rows=len(self))

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """These columns batch by batch, in whatever order and cut, without being in memory whole."""
        frame = self.engine.to_polars_lazy(self.engine.select(self.rows.frame, names), rows=len(self))
        yield from frame.collect_batches(chunk_size=BLOCK)

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
        column = self.encoded(name)
        info = self.schema[name]
        if info.kind == Kind.ORDINAL and info.order:
            unknown = len(column.present.cast(str).filter(~column.present.cast(str).is_in(list(info.order))))
            if unknown:
                raise DataError(f"column {name!r}: {unknown} values are not in the declared order.")
        return column.masked, column.present

    def encoded(self, name: str) -> Encoded:
        """A column as codes in the order of its kind, a missing value last, in the order of the records."""
        self._check_column(name)
        codes = self.counts.codes
        if codes is not None:
            return codes.column(name)
        return self.cached(("encoded", name), lambda: encode(self.column(name), self.schema[name].value_order))

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
        return self.cached("fingerprint", self._fingerprint)

    def _fingerprint(self) -> bytes:
        in_order = self.start is None and self.engine.keeps_order  # as they were read: no ids, nothing to sort
        stored = self.counts.stored if in_order else None
        if stored is None:
            frame = self.engine.select(self.rows.frame, self.names) if in_order else self.rows.frame
            return self.engine.fingerprint(frame, self.names)
        others = [name for name in self.names if name not in stored.domains]
        frame = (
            self.engine.to_polars_lazy(self.engine.select(self.rows.frame, others), rows=len(self)) if others else None
        )
        return stored.fingerprint(self.names, frame)

    def tally(self, name: str) -> pl.DataFrame:
        """The different values of a column with their numbers of rows (``ROWS``)."""
        import polars as pl

        if self.memory() is not None:
            return self.column(name).to_frame().group_by(name).agg(pl.len().alias(ROWS))
        counted = self.count([name], rows_only=True)
        return counted.cells.with_columns(pl.Series(ROWS, counted.rows))

    def having(self, names: Sequence[str]) -> Any:
        """A frame of the engine with these columns as they are, in which as little as possible has to be computed."""
        kept = self.lineage is not None and all(self.lineage.keeps_column(name) for name in names)
        return self.lineage.base.rows.frame if kept and self.lineage is not None else self.rows.frame

    def afar(self, name: str) -> bool:
        """Whether the different values of a column are too many for the engine to bring into memory.

        Never where they were listed, or follow from those of the input, which are here anyway.
        """
        lineage, engine = self.lineage, self.engine
        if engine.local or self.memory() is not None or len(self) <= engine.collect_limit:
            return False
        if lineage is not None:
            changed = lineage.changes_column(name)
            if name not in lineage.rewritten if changed else name in lineage.base.domains:
                return False
        return name not in self.counts.domains and self.different(name) > engine.collect_limit

    def different(self, name: str) -> int:
        """How many different values a column has, a missing one being one of them; they stay where the rows are."""
        return self.cached(
            ("different", name), lambda: self.engine.rows(self.engine.histogram(self.rows.frame, [name]))
        )

    def polars_types(self) -> dict[str, Any]:
        """Column types as Polars names them."""
        return self.cached("types", lambda: self.engine.polars_types(self.engine.select(self.rows.frame, self.names)))

    # Classes and frequencies, each computed once.

    @property
    def counts(self) -> TableCounts:
        """The histograms of this table, each counted once."""
        return self.cached("counts", lambda: TableCounts(self.rows, self.lineage))

    def count(self, names: Sequence[str], *, suppressed: bool = True, rows_only: bool = False) -> Histogram:
        """Count the combinations of some columns; without ``suppressed`` those of rows that belong to a class.

        ``rows_only``: persons and weights are not needed.
        """
        return self.counts.histogram(names, suppressed=suppressed, rows_only=rows_only)

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
        counts = self.classes.counts_in_order(self._sensitive(sensitive))
        if people is not None:
            inside, outside, total = self.cached(("population", Same(people)), lambda: self._population(people))
            counts = replace(counts, population=inside, population_outside=outside, population_total=total)
        return self.classes.histogram.cells, counts

    def _population(self, people: Any) -> tuple[NDArray[np.int64], int, int]:
        from celosia.classes.population import population_counts

        population = open_source(people)
        own = population.schema.person or self.schema.person
        person = own if own in population.names else None
        described = population.with_schema(Schema.of(quasi=self.schema.need_quasi(), person=person))
        return population_counts(self.classes, described.counts)

    def on_records(self, values: NDArray[Any], *, suppressed: Any) -> NDArray[Any]:
        """What each class has (in the order of :meth:`keyed_counts`), given to its records in table order.

        >>> import polars as pl, celosia
        >>> table = celosia.read(pl.DataFrame({"age": [30, 31, 30]}), celosia.Schema.of(quasi=["age"]))
        >>> table.on_records(table.class_counts().size, suppressed=0).tolist()
        [2, 1, 2]
        """
        return self.classes.on_records(values, suppressed=suppressed)

    def frequencies(self, weight: bool = False) -> NDArray[np.float64]:
        """Frequency of each record in table order under the declared reading of missing values; 0 when suppressed."""
        classes = self.classes
        return self.cached(
            ("frequencies", weight), lambda: classes.on_records(classes.frequencies(weighted=weight), suppressed=0.0)
        )

    def suppressed(self) -> int:
        """How many records are suppressed."""
        return self.counts.suppressed

    def suppressed_mask(self) -> NDArray[np.bool_]:
        """Which records are suppressed, in table order."""
        return self.counts.mask

    def _sensitive(self, names: Sequence[str | None]) -> tuple[str, ...]:
        columns = [column for name in names for column in self.schema.need_sensitive(name)]
        return tuple(dict.fromkeys(columns))

    # Where the rows are, and what is remembered of how they came about.

    def memory(self) -> pl.DataFrame | None:
        """All columns in the order of the records, where the engine has them in memory; collected once."""
        return self.counts.frame

    def _collect(self, names: Sequence[str]) -> pl.DataFrame:
        memory = self.memory()
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


__all__ = ["STREAM", "Asked"]
