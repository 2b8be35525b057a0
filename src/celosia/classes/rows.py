"""Rows of a table in an engine, with their schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from celosia.data.engines.engine import Engine
from celosia.data.engines.lazy_frames import ROWS, SUPPRESSED, column_kinds, filter_rows, frame_types, group_counts
from celosia.data.schema import Schema

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

STAR = "*"
"""Cell of a suppressed record in its quasi-identifiers."""
EngineFrame: TypeAlias = Any
"""Frame of an engine: a lazy Polars frame, a DuckDB relation or a Spark frame."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Frame of an engine, and the schema of its columns."""

    engine: Engine[Any]
    frame: EngineFrame
    schema: Schema
    stars: tuple[str, ...] | None = None
    """Suppression columns; the quasi-identifiers unless given."""
    single: bool = False
    """Whether these rows are already one reading of a table (:func:`celosia.table.readings.readings`)."""

    @classmethod
    def bind(cls, engine: Engine[Any], frame: EngineFrame, schema: Schema) -> Rows:
        """Bind a schema to the columns of a frame.

        Hierarchies built from the data are fixed here: a protected table keeps the levels of its input.
        """
        bound = schema.bind(column_kinds(frame))
        for name in bound.names:
            declared = bound.hierarchy(name)
            if declared is not None and declared.from_data():
                counted = engine.collect(group_counts(frame, [name]))
                levels = declared.freeze(counted[name], counted[ROWS].to_list())
                bound = bound.change(name, hierarchy=levels, hierarchy_from_data=True)
        return cls(engine, frame, bound)

    @cached_property
    def types(self) -> Mapping[str, nw.dtypes.DType]:
        """Narwhals types of all columns of the frame."""
        return frame_types(self.frame)

    def count_distinct(self, name: str) -> int:
        """Count the distinct values of a column; a missing value is one of them."""
        import narwhals as nw

        counted = nw.from_native(self.frame).select(n=nw.col(name).n_unique())
        return int(self.engine.collect(counted.to_native()).item())

    @cached_property
    def has_marks(self) -> bool:
        """Whether a column marks suppressed records; otherwise their stars identify them."""
        return SUPPRESSED in self.types

    def unmarked_frame(self) -> EngineFrame:
        """Return the frame without marked records."""
        import narwhals as nw

        return filter_rows(self.frame, ~nw.col(SUPPRESSED)) if self.has_marks else self.frame

    @cached_property
    def can_show_stars(self) -> bool:
        """Whether records can have stars in all suppression columns, because these are text or categories."""
        import narwhals as nw

        types, textual = self.types, (nw.String, nw.Categorical, nw.Enum)
        return bool(self.suppression_columns) and all(
            isinstance(types[name], textual) for name in self.suppression_columns
        )

    @cached_property
    def suppression_columns(self) -> tuple[str, ...]:
        """Columns whose stars identify a suppressed record."""
        return self.schema.quasi if self.stars is None else self.stars


def all_stars(names: Sequence[str]) -> nw.Expr:
    """Expression that is true for rows with stars in all these columns; a missing value is no star."""
    import narwhals as nw

    stars = ((nw.col(name).cast(nw.String) == STAR).fill_null(value=False) for name in names)
    return nw.all_horizontal(*stars, ignore_nulls=False)


def all_missing(names: Sequence[str]) -> nw.Expr:
    """Expression that is true for rows without a value in these columns."""
    import narwhals as nw

    return nw.all_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=False)


def star_rows(frame: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """Return which rows of a frame in memory have stars in all these columns."""
    import polars as pl

    return frame.select(pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(STAR) for name in names)).to_series()
