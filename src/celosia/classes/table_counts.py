"""Counts of one table: the only cache of histograms, and the only place that chooses how to compute one."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes.rows import STAR, EngineFrame, Rows, all_stars, star_rows
from celosia.data.engines.lazy_frames import (
    RECORD,
    SUPPRESSED,
    filter_rows,
    frame_types,
    select_columns,
    sort_by_record,
    with_columns,
)
from celosia.data.engines.row_codes import MemoryCodes, StoredCodes
from celosia.histogram import CountAgain, Histogram

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes.lineage import Lineage
    from celosia.data.schema import Schema
    from celosia.histogram import Domain

_MARK, _ENTRY = "__mark__", "__entry__"


@dataclass(eq=False)
class TableCounts:
    """Histograms of the rows of a table, each counted once.

    A histogram comes from a wider one that is known, from the lineage of the table, from the codes of its rows, or from
    its engine: in this order, here and nowhere else.
    """

    rows: Rows
    lineage: Lineage | None = None
    domains: dict[str, Domain] = field(default_factory=dict, repr=False)
    """Known domains of columns of a table that is not in memory."""
    stored: StoredCodes | None = field(default=None, repr=False)
    """Codes of the rows, where they were stored."""
    joint: tuple[str, ...] = ()
    """Columns that were counted jointly (:meth:`prepare`)."""
    _known: dict[tuple[tuple[str, ...], bool], Histogram] = field(default_factory=dict, repr=False)
    _unsuppressed: dict[tuple[tuple[str, ...], bool], Histogram] = field(default_factory=dict, repr=False)

    @cached_property
    def schema(self) -> Schema:
        """The schema of the table."""
        return self.rows.schema

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns of the frame."""
        return tuple(frame_types(self.rows.frame))

    @cached_property
    def frame(self) -> pl.DataFrame | None:
        """All columns in the order of the records, where the engine has them in memory."""
        return self.rows.engine.resident(self.rows.frame)

    @property
    def is_collected(self) -> bool:
        """Whether it has been decided if the rows are in memory."""
        return "frame" in self.__dict__

    @cached_property
    def codes(self) -> MemoryCodes | None:
        """Codes of the rows of a table in memory."""
        return None if self.frame is None else MemoryCodes(self.frame, self.schema.orders)

    # Rows that are suppressed.

    @cached_property
    def suppressed(self) -> int:
        """Number of suppressed rows."""
        if self.frame is not None:
            return int(self.suppressed_rows.sum())
        if not self.has_marks:
            return 0
        return int(self._marked.rows[self._suppressed_entries(self._marked)].sum())

    @cached_property
    def all_suppressed(self) -> bool:
        """Whether every row has ``*`` in all suppression columns."""
        if not self.rows.can_show_stars:
            return False
        if self.frame is not None:
            return bool(star_rows(self.frame, self.rows.suppression_columns).all()) and len(self.frame) > 0
        return len(self._marked) > 0 and bool(self._starred_entries(self._marked).all())

    @cached_property
    def suppressed_rows(self) -> NDArray[np.bool_]:
        """Mask of the suppressed rows of a table in memory: they have the mark, or ``*`` in all suppression columns."""
        assert self.frame is not None
        hidden = self.frame[SUPPRESSED].to_numpy() if self.rows.has_marks else np.zeros(len(self.frame), dtype=np.bool_)
        if self.rows.can_show_stars:
            stars = star_rows(self.frame, self.rows.suppression_columns).to_numpy()
            hidden = hidden if stars.all() else hidden | stars
        return np.asarray(hidden, dtype=np.bool_)

    @property
    def some_suppressed(self) -> bool:
        """Whether some rows are suppressed, but not all: only then they can be distinguished."""
        return 0 < self.suppressed < self.length

    @cached_property
    def length(self) -> int:
        """Number of rows."""
        if self.frame is not None:
            return len(self.frame)
        if self._known:
            return int(next(iter(self._known.values())).rows.sum())
        if self.lineage is not None and not self.lineage.drops_rows:
            return self.lineage.base.length
        derived = None if self.lineage is None else self.lineage.derive(self.schema.quasi, rows_only=True)
        return self.rows.engine.rows(self.rows.frame) if derived is None else int(derived.rows.sum())

    @property
    def has_length(self) -> bool:
        """Whether the number of rows is known."""
        return "length" in self.__dict__

    @cached_property
    def has_marks(self) -> bool:
        """Whether rows may be suppressed: they have a mark, or could have ``*`` in all suppression columns."""
        return self.rows.has_marks or self.rows.can_show_stars

    def has_counts(self, names: Sequence[str], *, rows_only: bool = True) -> bool:
        """Whether the counts of these columns are cached, or follow without reading rows."""
        if self.frame is not None or self._wider(names, rows_only=rows_only):
            return True
        return self.lineage is not None and self.lineage.derive(names, rows_only=rows_only) is not None

    def _wider(self, names: Sequence[str], *, rows_only: bool) -> list[Histogram]:
        """Return cached histograms from which that of some columns follows."""
        return [
            histogram
            for (columns, without), histogram in self._known.items()
            if set(names) <= set(columns) and (rows_only or (not without and histogram.can_project(names)))
        ]

    @cached_property
    def total(self) -> int:
        """Persons of the table, of suppressed rows too; without a person column its rows."""
        person, quasi = self.schema.person, self.schema.quasi
        if person is None:
            return self.length
        if self.codes is not None:
            return len(np.unique(self.codes.column(person).codes))
        if self.stored is not None or self.has_counts(quasi):
            return self.histogram(quasi).total
        return self.rows.count_distinct(person)

    @cached_property
    def unidentified(self) -> int:
        """Number of rows without a person's id; 0 without a person column."""
        import narwhals as nw

        person = self.schema.person
        if person is None:
            return 0
        missing = nw.from_native(self.rows.frame).select(n=nw.col(person).is_null().cast(nw.Int64).sum())
        return int(self.rows.engine.collect(missing.to_native())["n"][0] or 0)

    @cached_property
    def _marked(self) -> Histogram:
        """Histogram of the columns that show which rows are suppressed."""
        return self._with_marks((), rows_only=self.schema.person is None)

    def _with_marks(self, names: Sequence[str], *, rows_only: bool = True) -> Histogram:
        """Count some columns together with those that show which rows are suppressed."""
        needed = [
            *names,
            *self.schema.quasi,
            *self.rows.suppression_columns,
            *([SUPPRESSED] if self.rows.has_marks else []),
        ]
        return self._count(tuple(dict.fromkeys(needed)), rows_only=rows_only)

    def _starred_entries(self, histogram: Histogram) -> NDArray[np.bool_]:
        """Return the mask of the entries with ``*`` in every suppression column."""
        stars = np.full(len(histogram), self.rows.can_show_stars, dtype=np.bool_)
        for name in self.rows.suppression_columns if self.rows.can_show_stars else ():
            column = histogram.column(name)
            stars &= np.asarray((column.values.cast(str).eq_missing(STAR)).to_numpy()[column.codes])
        return stars

    def _suppressed_entries(self, histogram: Histogram) -> NDArray[np.bool_]:
        """Return the mask of the entries of suppressed rows; ``*`` in all entries of a table does not mark any."""
        hidden = np.zeros(len(histogram), dtype=np.bool_)
        if self.rows.has_marks:
            marks = histogram.column(SUPPRESSED)
            hidden = np.asarray(marks.values.to_numpy()[marks.codes], dtype=np.bool_)
        stars = self._starred_entries(histogram)
        return hidden if stars.all() else hidden | stars

    # Histograms.

    def histogram(self, names: Sequence[str], *, suppressed: bool = True, rows_only: bool = False) -> Histogram:
        """Count the combinations of some columns; without ``suppressed`` those of the other rows alone.

        Where all rows are suppressed none is left out. ``rows_only``: persons and weights are not needed.
        """
        wanted = tuple(dict.fromkeys(names))
        if suppressed or not self.some_suppressed:
            return self._count(wanted, rows_only=rows_only)
        for person_too in {False, rows_only}:
            if (wanted, person_too) in self._unsuppressed:
                return self._unsuppressed[wanted, person_too]
        self._unsuppressed[wanted, rows_only] = self._count_unsuppressed(wanted, rows_only=rows_only)
        return self._unsuppressed[wanted, rows_only]

    def count_known(self, names: Sequence[str], column: str, *, stars: bool = True) -> Histogram:
        """Count combinations over the unsuppressed rows with a value in a further column; ``stars``: or a ``*``."""
        import narwhals as nw
        import polars as pl

        entries = self.histogram([*names, column], suppressed=False)
        own = entries.column(column)
        shown = own.values.is_not_null() if stars else own.values.cast(pl.String).ne(STAR).fill_null(value=False)
        try:
            return entries.filter(shown.to_numpy()[own.codes]).project(names)
        except CountAgain:
            cell = nw.col(column)
            present = ~cell.is_null() if stars else (cell.cast(nw.String) != STAR).fill_null(value=False)
            frame = filter_rows(self.rows.frame, present)
            frame = filter_rows(frame, ~self.mark) if self.some_suppressed else frame
            return self._by_engine(names, frame, rows_only=False)

    def _count_unsuppressed(self, names: tuple[str, ...], *, rows_only: bool) -> Histogram:
        if self.codes is not None:
            return self._in_memory(self.unsuppressed_codes, names, rows_only=rows_only)
        try:
            whole = self._with_marks(names, rows_only=rows_only)
            return whole.filter(~self._suppressed_entries(whole)).project(names)
        except CountAgain:
            frame = filter_rows(self.rows.frame, ~self.mark)
            return self._by_engine(names, frame, rows_only=rows_only)

    @cached_property
    def unsuppressed_codes(self) -> MemoryCodes:
        """Codes of the rows that are not suppressed; of all rows if every row is suppressed."""
        assert self.codes is not None
        return self.codes.choose(np.flatnonzero(~self.suppressed_rows) if self.some_suppressed else None)

    def _count(self, names: tuple[str, ...], *, rows_only: bool) -> Histogram:
        rows_only = rows_only or (self.schema.person is None and self.schema.weight is None)
        if (names, rows_only) not in self._known:
            projected = self._project_known(names, rows_only=rows_only)
            histogram = self._compute(names, rows_only=rows_only) if projected is None else projected
            self._known[names, rows_only] = histogram
        return self._known[names, rows_only]

    def _project_known(self, names: tuple[str, ...], *, rows_only: bool) -> Histogram | None:
        """Project the shortest cached histogram that contains these columns."""
        if self.codes is not None:
            return self._known.get((names, rows_only), self._known.get((names, False)))
        weighed = not rows_only and self.weighs(names)
        wider = self._wider(names, rows_only=rows_only)
        wider = [histogram for histogram in wider if not weighed or histogram.weight is not None]
        best = min(wider, key=len, default=None)
        if best is None:
            return None
        if rows_only and best.single is not None:
            best = best.without_persons()
        return best.project(names)

    def _compute(self, names: tuple[str, ...], *, rows_only: bool) -> Histogram:
        if self.codes is not None:
            return self._in_memory(self.codes, names, rows_only=rows_only)
        plain, schema = [name for name in names if name != SUPPRESSED], self.schema
        read = [*names, *(() if rows_only else filter(None, (schema.person, schema.weight)))]
        if self.lineage is not None and all(map(self.lineage.keeps_column, read)):
            return self.lineage.base.histogram(names, rows_only=rows_only)
        derived = None if self.lineage is None else self.lineage.derive(plain, rows_only=rows_only)
        if derived is not None and (SUPPRESSED not in names or derived.marks):
            with contextlib.suppress(CountAgain):
                return derived.after(plain, self.schema.orders).project(names)
        return self._by_engine(names, self.rows.frame, rows_only=rows_only)

    def weighs(self, names: Iterable[str]) -> bool:
        """Whether weights are summed for these columns: only with all quasi-identifiers."""
        return self.schema.weight is not None and set(self.schema.quasi) <= set(names)

    def _in_memory(self, codes: MemoryCodes, names: Sequence[str], *, rows_only: bool) -> Histogram:
        weight = self.schema.weight if not rows_only and self.weighs(names) else None
        return codes.count(names, person=None if rows_only else self.schema.person, weight=weight)

    def _by_engine(self, names: Sequence[str], frame: EngineFrame, *, rows_only: bool) -> Histogram:
        engine, schema = self.rows.engine, self.schema
        person = None if rows_only else schema.person
        weight = schema.weight if not rows_only and self.weighs(names) else None
        whole = frame is self.rows.frame
        if person is not None and person not in names:
            stored = self.store(names) if whole else self._encode(frame, names)
            return stored.count(names, person=True, weight=weight is not None)
        if whole and self.stored is not None and self.stored.covers(names) and (weight is None or self.stored.weight):
            return self.stored.count(names, weight=weight is not None)
        domains, orders = self.domains, schema.orders
        counted = engine.count(frame, names, domains=domains, orders=orders, person=person, weight=weight)
        if whole:
            domains.update({n: domains.get(n, column.domain) for n, column in counted.columns.items()})
        return counted

    # Stored codes.

    def prepare(self, names: Sequence[str], further: Sequence[str], *, keep_rows: bool = False) -> None:
        """Count some columns jointly with further ones that have few values, so that later counts are projections.

        With ``keep_rows`` the codes of the rows of an input table are stored, for results that read every row.
        """
        if self.codes is not None or (self.joint and not keep_rows):
            return
        engine, schema = self.rows.engine, self.schema
        others = [name for name in dict.fromkeys(further) if name not in names]
        planned = engine.plan_counts(
            self.rows.frame, names, others, self.domains, schema.orders, person=schema.person, keep_rows=keep_rows
        )
        self.domains.update(planned.domains)
        if planned.stored:
            self.store(planned.stored)
        self.joint = planned.joint
        self._count(self.joint, rows_only=False)

    def store(self, names: Sequence[str]) -> StoredCodes:
        """Return the codes of all rows for at least the given columns, encoded again if one is missing."""
        if self.stored is None or not self.stored.covers(names):
            own = [*(() if self.stored is None else self.stored.domains), *self.schema.quasi, *names]
            self.stored = self._encode(
                self.rows.frame, [name for name in dict.fromkeys(own) if name != self.schema.person]
            )
        return self.stored

    def _encode(self, frame: EngineFrame, names: Sequence[str]) -> StoredCodes:
        engine, schema = self.rows.engine, self.schema
        stored = engine.encode(
            frame,
            names,
            domains=self.domains,
            orders=schema.orders,
            person=schema.person,
            weight=schema.weight,
            quasi=schema.quasi,
        )
        if frame is self.rows.frame:
            self.domains.update(stored.domains)
        return stored

    # Results per record.

    @property
    def mark(self) -> nw.Expr:
        """Expression that is true for suppressed rows; only for tables with some."""
        import narwhals as nw

        marks = [nw.col(SUPPRESSED)] if self.rows.has_marks else []
        if self.rows.can_show_stars and not (self.all_suppressed and self.rows.has_marks):
            marks.append(all_stars(self.rows.suppression_columns))
        return functools.reduce(operator.or_, marks)

    @cached_property
    def suppressed_mask(self) -> NDArray[np.bool_]:
        """Mask of the suppressed records, in table order."""
        if self.frame is not None:
            return self.suppressed_rows
        if self.suppressed == 0:
            return np.zeros(self.length, dtype=np.bool_)
        engine = self.rows.engine
        with_marks = with_columns(self._frame_with_ids(), {_MARK: self.mark})
        marked = engine.collect(sort_by_record(select_columns(with_marks, [RECORD, _MARK])))
        return np.asarray(marked[_MARK].to_numpy(), dtype=np.bool_)

    @property
    def members(self) -> NDArray[np.bool_]:
        """Mask of the records in a class, in table order: those that are not suppressed, or all where all are."""
        return ~self.suppressed_mask if self.some_suppressed else np.ones_like(self.suppressed_mask)

    def place(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the entry of each record in the histogram of the rows that are not suppressed; -1 for others."""
        import polars as pl

        if self.codes is not None:
            out = np.full(self.length, -1, dtype=np.int64)
            chosen = self.unsuppressed_codes.chosen
            out[slice(None) if chosen is None else chosen] = self.unsuppressed_codes.place(tuple(names))
            return out
        histogram, engine = self.histogram(names, suppressed=False), self.rows.engine
        small = histogram.cells.with_columns(pl.Series(_ENTRY, np.arange(len(histogram), dtype=np.int64)))
        joined = engine.attach(self._frame_with_ids(), small, list(names))
        back = engine.collect(sort_by_record(select_columns(joined, [RECORD, _ENTRY])))
        return np.where(self.members, back[_ENTRY].fill_null(-1).to_numpy(), -1)

    def records_of(
        self, names: Sequence[str], entries: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the records of some entries of the histogram of :meth:`place`, and the entry of each."""
        stored = self.stored if self.rows.engine.can_preview() and not self.some_suppressed else None
        if stored is not None:
            histogram = self.histogram(names, suppressed=False)
            if stored.shares_domains(histogram):
                return stored.records_of(histogram, entries)
        place = self.place(names)
        records = np.flatnonzero(np.isin(place, entries))
        return records, place[records]

    def _frame_with_ids(self) -> EngineFrame:
        engine, frame = self.rows.engine, self.rows.frame
        return frame if RECORD in self.rows.types else engine.identify(frame)
