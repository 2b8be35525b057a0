"""Suppress single cells by a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.methods.bases.conditions import Condition, records_where
from celosia.parts import Columns, Method, PersonUnit, RecordByRecord, refuse_replay
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class SuppressCells(RecordByRecord, Method):
    """Blank the cells of some columns that meet a rule.

    ``where`` is a condition as in SQL; ``fewer_than`` selects values that occur in fewer records (persons, when a
    person column is declared). With both, a cell is blanked when it meets both. Cells become missing, or ``*`` with
    ``star``, which turns numbers into text.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"job": ["nurse", "nurse", "bishop"], "age": [30, 90, 40]}))
    >>> celosia.protect(table, SuppressCells(columns=["job"], fewer_than=2)).polars()["job"].to_list()
    ['nurse', 'nurse', None]
    >>> celosia.protect(table, SuppressCells(columns=["age"], where="age > 80", by="star")).polars()["age"].to_list()
    ['30', '*', '40']
    """

    columns: Columns = Field(min_length=1, description="columns whose cells are blanked")
    where: Condition = Field(default=None, description="condition as in SQL, such as age > 80 AND sex = 'F'")
    fewer_than: int | None = Field(default=None, ge=2, description="blank values that fewer records have")
    by: Literal["missing", "star"] = Field(default="missing", description="what stands in a blanked cell")
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = "rare values (fewer_than) are counted over all records"
    examples: ClassVar = ({"columns": ["q"], "fewer_than": 9}, {"columns": ["x"], "where": "m > 20"})

    @model_validator(mode="after")
    def _some_rule(self) -> SuppressCells:
        if self.where is None and self.fewer_than is None:
            raise ParameterError("suppress-cells: give where, fewer_than or both; got none.")
        return self

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself, unless values are counted."""
        if self.fewer_than is not None:
            raise refuse_replay(self)
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Blank the cells."""
        here = np.ones(len(table), dtype=np.bool_)
        if self.where is not None:
            here = records_where(table, self.where, self.name)
        masks = {name: here & self._rare(table, name) & _not_suppressed(table, name) for name in self.columns}
        changed = table.replace({name: self._blank(table, name, mask) for name, mask in masks.items()})
        filled = {name: mask & table.column(name).is_not_null().to_numpy() for name, mask in masks.items()}
        return Outcome(changed, {"suppressed": {name: int(mask.sum()) for name, mask in filled.items()}})

    def _rare(self, table: Table, name: str) -> NDArray[np.bool_]:
        """Mask of the records with a value that too few have."""
        import polars as pl

        if self.fewer_than is None:
            return np.ones(len(table), dtype=np.bool_)
        column = table.column(name)
        person = table.schema.person
        unit = pl.Series("unit", table.ids()) if person is None else table.column(person).rename("unit")
        counted = pl.DataFrame({"value": column, "unit": unit}).select(pl.col("unit").n_unique().over("value"))
        rare: NDArray[np.bool_] = (counted["unit"] < self.fewer_than).to_numpy()
        return rare

    def _blank(self, table: Table, name: str, mask: NDArray[np.bool_]) -> pl.Series:
        import polars as pl

        from celosia.hierarchy import texts

        column = table.column(name)
        if self.by == "star":
            column = pl.Series(name, texts(column), dtype=pl.String)
        sign = pl.lit("*") if self.by == "star" else pl.lit(None)
        frame = pl.DataFrame({name: column, "__hit__": mask})
        return frame.select(pl.when(pl.col("__hit__")).then(sign).otherwise(pl.col(name)).alias(name))[name]


def _not_suppressed(table: Table, name: str) -> NDArray[np.bool_]:
    """Mask of the cells that no earlier step has suppressed: a suppressed record must be recognisable in the file."""
    import polars as pl

    column = table.column(name)
    if column.dtype != pl.String:
        return np.ones(len(table), dtype=np.bool_)
    mask: NDArray[np.bool_] = column.ne_missing("*").to_numpy()
    return mask
