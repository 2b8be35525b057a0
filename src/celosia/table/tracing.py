"""What was done to the rows of a table that is not in memory, done to the combinations of their values.

A step that replaces values by values, or suppresses whole classes, does the same to all rows that agree. So the
combinations of the result follow from those of the input, which are counted once, and no row is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from celosia.data.engines import engine_named
from celosia.data.engines.engine import ROWS, Engine

if TYPE_CHECKING:
    import polars as pl

    from celosia.table.table import Table

    Change = Callable[[Engine, Any], Any]
    """Gives the frame of an engine with the cells of some columns changed."""

BEFORE = "__before__"
"""Stands before the name of a column for the cells that it had in the input."""


@dataclass(frozen=True, eq=False)
class Step:
    """One change, and the columns that it looks at and changes."""

    columns: frozenset[str]
    change: Change
    picks: bool
    """Whether it suppresses or leaves out rows, which matters to every column."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What was done since a table that was counted, step by step, with the columns that each step needs."""

    base: Table
    steps: tuple[Step, ...] = ()
    unknown: frozenset[str] = frozenset()
    """Columns with cells that no values of the base lead to."""

    def then(self, columns: Iterable[str], change: Change, *, picks: bool = False) -> Trace:
        """One more change, which looks at these columns and changes no others."""
        return replace(self, steps=(*self.steps, Step(frozenset(columns), change, picks)))

    def without(self, columns: Iterable[str]) -> Trace:
        """Columns that got other cells, record by record."""
        return replace(self, unknown=self.unknown | frozenset(columns))

    def touches(self, name: str) -> bool:
        """Whether a column may have other cells than in the base."""
        return name in self.unknown or any(name in step.columns for step in self.steps)

    def combinations(self, names: Sequence[str], *, before: bool = False) -> pl.DataFrame | None:
        """The combinations of some columns and how many rows have each; None where the base does not tell them.

        With ``before`` the cells that they had in the base stand beside them.
        """
        import polars as pl

        wanted = self._needed(names)
        schema = self.base.schema
        if wanted & self.unknown or not all(name in schema for name in wanted) or schema.person is not None:
            return None
        if schema.weight in wanted or any(schema.weight in step.columns for step in self.steps):
            return None
        counted = self.base.classes.patterns([name for name in self.base.names if name in wanted], everyone=True)
        frame = counted.cells.with_columns(pl.Series(ROWS, counted.rows))
        if counted.weight is not None and schema.weight is not None:
            frame = frame.with_columns(pl.Series(schema.weight, counted.weight))
        if before:
            frame = frame.with_columns(pl.col(sorted(wanted)).name.prefix(BEFORE))
        polars = engine_named("polars")
        lazy: Any = frame.lazy()
        for step in self.steps:
            if step.columns <= wanted:
                lazy = step.change(polars, lazy)
        return polars.collect(lazy)

    def _needed(self, names: Sequence[str]) -> set[str]:
        """These columns, and those that decide about their cells."""
        wanted = set(names)
        for step in reversed(self.steps):
            if step.picks or step.columns & wanted:
                wanted |= step.columns
        return wanted


__all__ = ["BEFORE", "Trace"]
