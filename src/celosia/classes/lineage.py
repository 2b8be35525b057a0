"""Lineage: the value-by-value steps since a table was counted, replayed on the entries of its histogram.

A step that gives equal cells to equal cells, or suppresses whole classes, does the same to all rows that agree. So the
histogram of the result follows from that of the input, and no row is read again. A column that was changed record by
record has no lineage: it is counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celosia.data.engines import engine_named
from celosia.data.engines.engine import Engine
from celosia.data.engines.lazy_frames import RECORD, SUPPRESSED
from celosia.histogram import CountAgain, Domain, Encoded, Histogram, encode, group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.table_counts import TableCounts


class Change(NamedTuple):
    """One step: a function that gives equal cells in ``columns`` to rows with equal cells there."""

    columns: frozenset[str]
    """The columns that it reads and changes."""
    apply: Callable[[Engine[Any], Any], Any]
    """Gives the frame of an engine with the cells changed."""
    drops_rows: bool
    """Whether it leaves out rows, which matters to every column."""


@dataclass(frozen=True, eq=False)
class Derived:
    """Entries of the counted table, and their cells after the changes."""

    before: Histogram
    changed: Mapping[str, Encoded]
    """Columns of the entries that are left, after the changes; ``SUPPRESSED`` where a step marked some."""
    kept: NDArray[np.int64]
    """The entries that are left."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows of each entry that is left."""
        return self.before.rows[self.kept]

    def column(self, name: str) -> Encoded:
        """Return a column after the changes, for each entry that is left."""
        return self.changed[name] if name in self.changed else self.before.column(name).take(self.kept)

    def after(self, names: Sequence[str], orders: Mapping[str, Sequence[str]]) -> Histogram:
        """Count these columns (and the marks of suppressed rows) after the changes, their values in order."""
        mask = np.zeros(len(self.before), dtype=np.bool_)
        mask[self.kept] = True
        left = self.before if mask.all() else self.before.filter(mask)
        wanted = [*names, *([SUPPRESSED] if self.marks else [])]
        own = {n: self.column(n).reorder(orders.get(n, ())) for n in wanted if n in self.changed or n in orders}
        return (left.recode(own) if own else left).project(wanted)

    @property
    def marks(self) -> bool:
        """Whether a step marked suppressed rows."""
        return SUPPRESSED in self.changed

    @property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which entries that are left carry the mark of suppressed rows."""
        if not self.marks:
            return np.zeros(len(self.kept), dtype=np.bool_)
        column = self.changed[SUPPRESSED]
        return np.asarray(column.values.to_numpy()[column.codes], dtype=np.bool_)

    def unchanged_cells(self, name: str) -> NDArray[np.bool_]:
        """Return which entries that are left kept their cell in a column, as text; missing equals missing."""
        from celosia.hierarchy import text_series

        if name not in self.changed:
            return np.ones(len(self.kept), dtype=np.bool_)
        old, new = self.before.column(name), self.changed[name]
        texts = encode(text_series(old.values).extend(text_series(new.values))).codes
        return np.asarray(texts[old.codes[self.kept]] == texts[len(old.values) :][new.codes])


@dataclass(frozen=True, eq=False)
class Lineage:
    """Changes of a table since it was counted."""

    base: TableCounts
    changes: tuple[Change, ...] = ()
    rewritten: frozenset[str] = frozenset()
    """Columns with cells that were changed record by record."""
    _derived: dict[tuple[frozenset[str], bool], Derived] = field(default_factory=dict, repr=False)

    def then(
        self, columns: Iterable[str], change: Callable[[Engine[Any], Any], Any], *, drops_rows: bool = False
    ) -> Lineage:
        """Add a change that reads these columns and changes no others."""
        return replace(self, changes=(*self.changes, Change(frozenset(columns), change, drops_rows)), _derived={})

    def rewrite(self, columns: Iterable[str]) -> Lineage:
        """Add columns that were changed record by record."""
        return replace(self, rewritten=self.rewritten | frozenset(columns), _derived={})

    def changes_column(self, name: str) -> bool:
        """Whether a column may have other cells than in the counted table."""
        return name in self.rewritten or any(name in change.columns for change in self.changes)

    def keeps_column(self, name: str) -> bool:
        """Whether a column has the cells of the counted table, in all its rows."""
        return name in self.base.names and not self.changes_column(name) and not self.drops_rows

    @property
    def drops_rows(self) -> bool:
        """Whether a change left out rows."""
        return any(change.drops_rows for change in self.changes)

    def derive(self, names: Sequence[str], *, rows_only: bool = False) -> Derived | None:
        """Replay the changes on the combinations of these columns and of those they depend on; None if impossible.

        Persons are counted unless ``rows_only``; then there may be more columns.
        """
        wanted, schema = self.required_columns(names), self.base.schema
        if not self.changes or not wanted or wanted & self.rewritten or not wanted <= set(schema.names):
            return None
        weighed = schema.weight is not None and any(schema.weight in change.columns for change in self.changes)
        if schema.person in wanted or schema.weight in wanted or weighed:
            return None
        if rows_only:
            wanted = self._add_joint_columns(wanted)
            for (columns, _), derived in self._derived.items():
                if wanted <= columns:
                    return derived
        try:
            before = self.base.histogram([n for n in self.base.names if n in wanted], rows_only=rows_only)
        except CountAgain:
            return None
        keys = before.person_keys  # persons who are not listed may differ in other columns
        if keys is not None and any(c.columns & wanted and not c.columns <= keys for c in self.changes):
            return None
        key = frozenset(wanted), rows_only
        if key not in self._derived:
            self._derived[key] = self._replay(before, wanted)
        return self._derived[key]

    def required_columns(self, names: Iterable[str]) -> set[str]:
        """Return these columns and those that their cells depend on."""
        wanted = set(names)
        for change in reversed(self.changes):
            if change.drops_rows or change.columns & wanted:
                wanted |= change.columns
        return wanted

    def _add_joint_columns(self, wanted: set[str]) -> set[str]:
        """Extend these columns to the jointly counted ones that contain them: one derivation serves all counts."""
        joint = set(self.base.joint)
        follows = wanted <= joint and self.required_columns(joint) == joint and not joint & self.rewritten
        return joint if follows else wanted

    def _replay(self, before: Histogram, wanted: set[str]) -> Derived:
        state = Derived(before, {}, np.arange(len(before)))
        for change in self.changes:
            if change.columns <= wanted:
                state = _replay_change(state, change)
        return state


def _replay_change(state: Derived, change: Change) -> Derived:
    """Apply a change to each combination of its columns once."""
    import polars as pl

    read = {name: state.column(name) for name in state.before.names if name in change.columns}
    marks = [state.changed[SUPPRESSED].codes] if state.marks else []
    first, place = group([*(column.codes for column in read.values()), *marks])
    cells = pl.DataFrame([column.take(first).cells().alias(name) for name, column in read.items()])
    if state.marks:
        cells = cells.with_columns(pl.Series(SUPPRESSED, state.suppressed[first]))
    polars = engine_named("polars")
    numbered = cells.with_columns(pl.Series(RECORD, np.arange(len(cells))))
    changed = polars.collect(change.apply(polars, numbered.lazy())).sort(RECORD)
    own, kept = dict(state.changed), state.kept
    if len(changed) < len(cells):  # some are left out
        new_place = np.full(len(cells), -1, dtype=np.int64)
        new_place[changed[RECORD].to_numpy()] = np.arange(len(changed))
        place = new_place[place]
        inside = place >= 0
        own, kept, place = {name: column.take(inside) for name, column in own.items()}, kept[inside], place[inside]
    own |= {name: encode(changed[name]).take(place) for name in read}
    if SUPPRESSED in changed.columns:
        own[SUPPRESSED] = Encoded(changed[SUPPRESSED].to_numpy()[place].astype(np.int32), marks_domain())
    return Derived(state.before, own, kept)


def marks_domain() -> Domain:
    """Return the domain of the marks of suppressed rows: unmarked, marked."""
    import polars as pl

    return Domain(pl.Series(SUPPRESSED, [False, True]))
