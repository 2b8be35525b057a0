"""Microaggregation along the first principal component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from celosia.methods.bases.unit_groups import aggregate_groups, group_units, scale
from celosia.parts import Columns, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class ProjectionMicroaggregate(Method):
    r"""Group records that are neighbours along the first principal component and take the means.

    .. math:: z_i = (x_i - \bar x)^T v_1, \qquad v_1 \text{ the first eigenvector of the correlation matrix}

    Sorting makes it the fastest multivariate microaggregation; it loses much when one component explains little of the
    data (``explained`` in the evidence). Gives k-anonymity over the columns. With ``optimal`` the runs are
    those with the least loss along the component, which is often more loss over the columns. Fails with fewer than
    k records, for text and for infinite values. Reference: Domingo-Ferrer & Mateo-Sanz (2002).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"a": [1.0, 2.0, 9.0, 8.0], "b": [1.0, 3.0, 9.0, 7.0]}))
    >>> celosia.protect(table, ProjectionMicroaggregate(columns=["a", "b"], k=2)).polars()["a"].to_list()
    [1.5, 1.5, 8.5, 8.5]
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that are grouped together; such quasi-identifiers when empty"
    )
    k: Annotated[int, Explored(3, 5, 10)] = Field(default=3, ge=2, description="smallest group size")
    optimal: bool = Field(default=False, description="runs with the least loss along the component, not of k each")
    within: Columns = Field(default=(), description="group only records that agree on these columns")
    memory: ClassVar[Memory] = "blocks"
    persons: ClassVar[PersonUnit] = "counted"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "a value is the mean of a group of records"
    examples: ClassVar = ({"columns": ["x", "y"], "k": 3},)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Project, group and take the means."""
        from celosia.kernels.neighbours.runs import groups_along
        from celosia.kernels.statistics.components import first_component

        shares: list[tuple[int, float]] = []

        def groups(x: NDArray[np.float64], _: int) -> NDArray[np.int64]:
            points = scale(x, standardise=True)
            axis, share = first_component(points)
            shares.append((len(x), share))
            return groups_along(points @ axis, self.k, optimal=self.optimal)

        partition = group_units(self.name, table, self.columns, self.k, self.within, groups)
        outcome = aggregate_groups(table, partition, "mean")
        total = sum(n for n, _ in shares)
        explained = sum(n * share for n, share in shares) / total if total else 0.0
        return Outcome(outcome.table, {**outcome.evidence, "explained": explained})
