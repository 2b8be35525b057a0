"""Microaggregation of several columns, each on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from celosia.methods.bases.unit_groups import columns, group_units, loss
from celosia.parts import Columns, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class IndividualRanking(Method):
    r"""Replace the values of each column by the mean of a run of ``k`` neighbours in its own order.

    Columns are grouped one by one, so very little is lost and **k-anonymity over several columns does not follow**:
    the combination of group means is nearly as unique as the record. With ``optimal`` the runs of each column are
    those with the least loss; else each run has ``k`` values and the last takes the rest (the classical form).
    Fails with fewer than k values, for text and for infinite values; missing values stay. Reference: Defays &
    Nanopoulos (1993).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"a": [1.0, 2.0, 9.0, 5.0], "b": [4.0, 3.0, 1.0, 2.0]}))
    >>> celosia.protect(table, IndividualRanking(columns=["a", "b"], k=2)).polars().rows()
    [(1.5, 3.5), (1.5, 3.5), (7.0, 1.5), (7.0, 1.5)]
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns, grouped one by one; such quasi-identifiers when empty"
    )
    k: Annotated[int, Explored(3, 5, 10, 20)] = Field(default=3, ge=2, description="smallest group size")
    optimal: bool = Field(default=True, description="runs with the least loss instead of runs of exactly k")
    within: Columns = Field(default=(), description="group only records that agree on these columns")
    memory: ClassVar[Memory] = "blocks"
    persons: ClassVar[PersonUnit] = "counted"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "a value is the mean of its neighbours in the file"
    examples: ClassVar = ({"columns": ["x", "y"], "k": 3},)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Group and take the means, column by column."""
        from celosia.kernels.neighbours.runs import groups_along

        def groups(x: NDArray[np.float64], _: int) -> NDArray[np.int64]:
            return groups_along(x[:, 0], self.k, optimal=self.optimal)

        new: dict[str, pl.Series] = {}
        losses: dict[str, float] = {}
        for name in self.columns:
            partition = group_units(self.name, table, [name], self.k, self.within, groups, blank_stay=True)
            if len(partition.values):
                new |= columns(table, partition, "mean")
                losses[name] = loss(partition)
        return Outcome(table.replace(new) if new else table, {"losses": losses})
