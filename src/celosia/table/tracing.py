"""What was done to the rows of a table that is not in memory, done to the combinations of their values.

A step that replaces values by values, or suppresses whole classes, does the same to all rows that agree. So the
combinations of the result follow from those of the input, which are counted once, and no row is looked at again. They
are followed as codes: a step is given each different value, or combination of values, of its columns once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes import Followed, encode, group
from celosia.classes.holders import Holders
from celosia.data.engines import engine_named
from celosia.data.engines.engine import RECORD, SUPPRESSED, Engine

if TYPE_CHECKING:
    from celosia.table.table import Table

    Change = Callable[[Engine, Any], Any]
    """Gives the frame of an engine with the cells of some columns changed."""


@dataclass(frozen=True, eq=False)
class Step:
    """One change, and the columns that it looks at and changes."""

    columns: frozenset[str]
    change: Change
    drops: bool
    """Whether it leaves out rows, which matters to every column."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What was done since a table that was counted, step by step, with the columns that each step needs."""

    base: Table
    steps: tuple[Step, ...] = ()
    unknown: frozenset[str] = frozenset()
    """Columns with cells that no values of the base lead to."""
    _followed: list[Followed] = field(default_factory=list, repr=False)

    def then(self, columns: Iterable[str], change: Change, *, drops: bool = False) -> Trace:
        """One more change, which looks at these columns and changes no others."""
        return replace(self, steps=(*self.steps, Step(frozenset(columns), change, drops)), _followed=[])

    def without(self, columns: Iterable[str]) -> Trace:
        """Columns that got other cells, record by record."""
        return replace(self, unknown=self.unknown | frozenset(columns), _followed=[])

    def touches(self, name: str) -> bool:
        """Whether a column may have other cells than in the base."""
        return name in self.unknown or any(name in step.columns for step in self.steps)

    def keeps(self, name: str) -> bool:
        """Whether a column has the cells of the base, in all its rows."""
        return name in self.base.names and not self.touches(name) and not any(step.drops for step in self.steps)

    def followed(self, names: Sequence[str], *, exactly: bool = False) -> Followed | None:
        """The combinations of these columns, and of those that decide about them; None where the base tells none.

        Rows are counted, whoever owns them. Unless asked for ``exactly`` these columns there may be more of them.
        """
        wanted = self._needed(names) if exactly else self._along(names)
        schema = self.base.schema
        if not wanted or wanted & self.unknown or not all(name in schema for name in wanted) or schema.person in wanted:
            return None
        if schema.weight in wanted or any(schema.weight in step.columns for step in self.steps):
            return None
        for followed in self._followed:
            own = set(followed.patterns.names)
            if wanted == own or (wanted < own and not exactly):
                return followed
        self._followed.append(self._follow(wanted))
        return self._followed[-1]

    def _follow(self, wanted: set[str]) -> Followed:
        names = [name for name in self.base.names if name in wanted]
        counted = self.base.classes.by_rows.patterns(names, everyone=True)
        columns = {name: counted.column(name) for name in names}
        state = Followed(counted, columns, None)
        for step in self.steps:
            if step.columns <= wanted:
                state = _stepped(state, step)
        return state

    def holders(self, names: Sequence[str]) -> Holders | None:
        """The persons of the combinations of the quasi-identifiers and these columns.

        Of these columns steps may have changed quasi-identifiers only: a person who has two values in another one would
        count twice in one that they are mapped to. None where the base does not tell.
        """
        quasi = set(self.base.schema.quasi)
        wanted = quasi | set(names)
        if self._needed([*wanted]) != wanted or any(self.touches(name) for name in wanted - quasi):
            return None
        held = self.base.classes.holders(names)
        followed = None if held is None else self.followed([*wanted], exactly=True)
        return None if held is None or followed is None else held.followed(followed)

    def _along(self, names: Sequence[str]) -> set[str]:
        """The columns that are followed for these: all that the kept numbers tell, since the rows are put together so.

        Combinations that were followed once serve everybody.
        """
        wanted, kept = self._needed(names), self.base.classes.kept
        if kept is None:
            return wanted
        numbered = set(kept.domains)
        others = {*self.unknown, self.base.schema.weight}
        follows = wanted <= numbered and self._needed([*numbered]) == numbered and not numbered & others
        return numbered if follows else wanted

    def _needed(self, names: Sequence[str]) -> set[str]:
        """These columns, and those that decide about their cells."""
        wanted = set(names)
        for step in reversed(self.steps):
            if step.drops or step.columns & wanted:
                wanted |= step.columns
        return wanted


def _stepped(state: Followed, step: Step) -> Followed:
    """One step, done to each combination of its columns once."""
    import polars as pl

    patterns = state.patterns
    looked = {name: patterns.column(name) for name in patterns.names if name in step.columns}
    marks = [] if state.marked is None else [state.marked.astype(np.int32)]
    first, place = group([*(column.codes for column in looked.values()), *marks])
    cells = pl.DataFrame([column.take(first).cells().alias(name) for name, column in looked.items()])
    if state.marked is not None:
        cells = cells.with_columns(pl.Series(SUPPRESSED, state.marked[first]))
    polars = engine_named("polars")
    numbered = cells.with_columns(pl.Series(RECORD, np.arange(len(cells))))
    changed = polars.collect(step.change(polars, numbered.lazy())).sort(RECORD)
    before, rows = state.before, patterns
    if len(changed) < len(cells):  # some are left out
        new_place = np.full(len(cells), -1, dtype=np.int64)
        new_place[changed[RECORD].to_numpy()] = np.arange(len(changed))
        place = new_place[place]
        kept = place >= 0
        rows, place = patterns.take(kept), place[kept]
        before = {name: column.take(kept) for name, column in before.items()}
    new = {name: encode(changed[name]) for name in looked}
    marked = changed[SUPPRESSED].to_numpy()[place] if SUPPRESSED in changed.columns else None
    return Followed(rows.with_columns({name: column.take(place) for name, column in new.items()}), before, marked)


__all__ = ["Trace"]
