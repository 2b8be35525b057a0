"""Release a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.methods.bases.conditions import check_one_way, draw_records
from celosia.parts import Column, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome
from celosia.table.edit import replace_by_expressions

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table


class Sample(Method):
    """Keep a random part of the records, so that an intruder does not know whether a person is in the file.

    ``share`` keeps each unit with that probability, exactly that share of each stratum with ``within``; ``size`` keeps
    exactly that many. Where a person column is declared persons are the units, with all their rows, and ``size`` and
    ``share`` are of persons; ``by`` names other units, such as households. Declared weights are divided by the chance
    of a unit to be kept, so that totals stay estimable.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": range(100)}))
    >>> len(celosia.protect(table, Sample(size=10), seed=1))
    10
    """

    share: float | None = Field(default=None, gt=0, le=1, description="share of the units that is kept")
    size: int | None = Field(default=None, ge=1, description="number of units that is kept")
    by: Column | None = Field(
        default=None, description="column of the units that are drawn whole; the persons when not given"
    )
    within: Column | None = Field(default=None, description="column of the strata in which the share is exact")
    reweigh: bool = Field(default=True, description="divide the weight column by the share that was kept")
    persons: ClassVar[PersonUnit] = "counted"
    rows: ClassVar[Rows] = "subset"
    not_replayable_because: ClassVar[str] = (
        "the draw is over the file as a whole: draw from the new records before, with a policy of their own"
    )
    examples: ClassVar = ({"share": 0.5}, {"size": 9}, {"share": 0.5, "by": "h"})

    @model_validator(mode="after")
    def _one_way(self) -> Sample:
        check_one_way(self.name, share=self.share, size=self.size)
        if self.within is not None and self.share is None:
            raise ParameterError("sample: within needs share, got size.")
        return self

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the weight column, if it is divided."""
        return (schema.weight,) if schema.weight is not None and self.reweigh else ()

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Draw the records."""
        import narwhals as nw

        mask, chance = draw_records(
            table, stream, self.name, share=self.share, size=self.size, by=self.by, within=self.within
        )
        kept = table.take(table.ids()[mask])
        weight = table.schema.weight
        evidence: dict[str, object] = {"kept": int(mask.sum()), "of": len(table)}
        if weight is not None and self.reweigh and mask.any():
            # Polars multiplies by the inverse where other engines divide, which differs in the last bit: multiply
            kept = replace_by_expressions(kept, {weight: nw.col(weight).cast(nw.Float64) * (1 / chance)})
            evidence["weights divided by"] = chance
        return Outcome(kept, evidence)
