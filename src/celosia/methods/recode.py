"""Recode one column: a hierarchy level, given breaks, or a table of values."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from celosia.catalogue import Column, Method
from celosia.errors import DataError, ParameterError
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class Recode(Method):
    """Replace the values of a column by coarser ones.

    Exactly one of: ``level`` (a level of the column's hierarchy), ``breaks`` (increasing numbers: the values of a
    numeric column become half-open intervals ``[a, b)``, open-ended at both sides), ``mapping`` (old value → new
    value; others stay).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [28, 35, 61]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, Recode(column="age", breaks=[30, 60])).polars()["age"].to_list()
    ['<30', '[30-60)', '≥60']
    """

    column: Column = Field(description="the column to recode")
    level: int | None = Field(default=None, ge=0, description="level of the column's hierarchy")
    breaks: tuple[float, ...] | None = Field(default=None, description="increasing break points")
    mapping: dict[str, str] | None = Field(default=None, description="old value → new value")
    in_memory: ClassVar[bool] = False

    @model_validator(mode="after")
    def _one_way(self) -> Recode:
        given = [name for name in ("level", "breaks", "mapping") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ParameterError(f"recode: give one of level, breaks, mapping; got {', '.join(given) or 'none'}.")
        if self.breaks is not None and list(self.breaks) != sorted(set(self.breaks)):
            raise ParameterError(f"recode: breaks must increase, got {list(self.breaks)}.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Recode the column."""
        if self.breaks is not None:
            return Outcome(table.with_columns({self.column: self._intervals(table)}))
        _, values = table.codes(self.column)
        if self.level is not None:
            levels = table.levels(self.column)
            if self.level > levels.height:
                raise ParameterError(
                    f"recode: column {self.column!r} has levels 0 to {levels.height}, got level {self.level}."
                )
            return Outcome(table.map(self.column, values, levels.labels(self.level)), {"level": self.level})
        mapping = self.mapping or {}
        return Outcome(table.map(self.column, values, [mapping.get(str(v), str(v)) for v in values]))

    def _intervals(self, table: Table) -> Any:
        import narwhals as nw

        if not table.polars_types()[self.column].is_numeric():
            raise DataError(f"recode: column {self.column!r} is not numeric, so breaks cannot be applied.")
        breaks = self.breaks or ()
        value = nw.col(self.column)
        label: Any = nw.when(value >= breaks[-1]).then(nw.lit(f"≥{breaks[-1]:g}"))
        for low, high in reversed(list(pairwise(breaks))):
            label = nw.when((value >= low) & (value < high)).then(nw.lit(f"[{low:g}-{high:g})")).otherwise(label)
        return nw.when(value < breaks[0]).then(nw.lit(f"<{breaks[0]:g}")).otherwise(label)
