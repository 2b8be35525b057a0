"""Microaggregation with groups that follow the density of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.methods.bases.unit_groups import aggregate_groups, group_units, scale
from celosia.parts import Columns, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class VariableMicroaggregate(Method):
    r"""Replace values by the mean of groups of ``k`` to ``2k - 1`` records whose size follows the data (V-MDAV).

    A group of the k records around a seed takes in the nearest free record ``e`` as long as

    .. math:: \min_{x \in G} d(e, x) < \gamma \min_{y \notin G} d(e, y)

    Clustered data want a larger ``gamma`` (about 1.1), scattered data a small one (0.2); 0 gives groups of k. Fewer
    than k records that are left over join the nearest group. Gives k-anonymity over the columns. Fails with fewer than
    k records, for text and for infinite values. Reference: Solanas & Martínez-Ballesté (2006).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 50.0, 51.0, 52.0]}))
    >>> celosia.protect(table, VariableMicroaggregate(columns=["a"], k=3)).polars()["a"].to_list()
    [1.5, 1.5, 1.5, 1.5, 51.0, 51.0, 51.0]
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that are grouped together; such quasi-identifiers when empty"
    )
    k: int = Field(default=3, ge=2, description="smallest group size")
    gamma: float = Field(default=0.2, ge=0, description="how readily a group takes in one more record")
    standardise: bool = Field(default=True, description="divide columns by their standard deviation for the distance")
    aggregate: Literal["mean", "median", "medoid"] = Field(default="mean", description="what stands for a group")
    within: Columns = Field(default=(), description="group only records that agree on these columns")
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    memory: ClassVar[Memory] = "blocks"
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = "a value is the mean of a group of records"
    examples: ClassVar = ({"columns": ["x", "y"], "k": 3},)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Group and aggregate."""
        from celosia.kernels.neighbours.mdav import v_mdav

        def groups(x: NDArray[np.float64], _: int) -> NDArray[np.int64]:
            points = np.ascontiguousarray(scale(x, standardise=self.standardise))
            return np.asarray(v_mdav(points, self.k, self.gamma))

        partition = group_units(self.name, table, self.columns, self.k, self.within, groups)
        return aggregate_groups(table, partition, self.aggregate)
