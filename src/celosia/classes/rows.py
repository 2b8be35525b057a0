"""The rows of a table as an engine holds them, with the schema that tells what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.data.engines.engine import SUPPRESSED, Engine
from celosia.data.engines.row_codes import ROWS
from celosia.data.schema import Schema

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

STAR = "*"
"""What stands in the quasi-identifiers of a suppressed record."""


@dataclass(frozen=True, eq=False)
class Rows:
    """An engine's frame and what its columns are."""

    engine: Engine
    frame: Any
    schema: Schema
    stars: tuple[str, ...] | None = None
    """The columns whose stars tell a suppressed record; the quasi-identifiers unless given."""
    single: bool = False
    """Whether these rows are one reading of a table, so that no others are taken of them."""

    @classmethod
    def described(cls, engine: Engine, frame: Any, schema: Schema) -> Rows:
        """Rows with the schema bound to their columns.

        Hierarchies that are made from the data are fixed here: a protected table keeps the levels of its input.
        """
        bound = schema.bind(engine.kinds(frame))
        for name in bound.names:
            declared = bound.hierarchy(name)
            if declared is not None and declared.from_data():
                counted = engine.collect(engine.histogram(frame, [name]))
                levels = declared.freeze(counted[name], counted[ROWS].to_list())
                bound = bound.change(name, hierarchy=levels, hierarchy_from_data=True)
        return cls(engine, frame, bound)

    @property
    def flagged(self) -> bool:
        """Whether suppressed records carry a mark; otherwise they are told by their stars."""
        return SUPPRESSED in self.engine.types(self.frame)

    def kept(self) -> Any:
        """The frame without marked records."""
        import narwhals as nw

        return self.engine.filter(self.frame, ~nw.col(SUPPRESSED)) if self.flagged else self.frame

    @property
    def starrable(self) -> bool:
        """Whether records can show stars in all these columns: then all of them are text, or categories."""
        import narwhals as nw

        types, textual = self.engine.types(self.frame), (nw.String, nw.Categorical, nw.Enum)
        return bool(self.telling) and all(isinstance(types[name], textual) for name in self.telling)

    @property
    def telling(self) -> tuple[str, ...]:
        """The columns whose stars tell a suppressed record."""
        return self.schema.quasi if self.stars is None else self.stars


def all_stars(names: Sequence[str]) -> nw.Expr:
    """Whether a row has stars in all these columns; a missing value is no star."""
    import narwhals as nw

    stars = ((nw.col(name).cast(nw.String) == STAR).fill_null(value=False) for name in names)
    return nw.all_horizontal(*stars, ignore_nulls=False)


def all_missing(names: Sequence[str]) -> nw.Expr:
    """Whether a row has no value in any of these columns."""
    import narwhals as nw

    return nw.all_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=False)


def starred(frame: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """The same for a frame in memory."""
    import polars as pl

    return frame.select(pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(STAR) for name in names)).to_series()
