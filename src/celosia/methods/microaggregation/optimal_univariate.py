"""Optimal microaggregation of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from celosia.methods.bases.unit_groups import aggregate_groups, group_units
from celosia.parts import Column, Columns, Memory, Method, PersonUnit
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class OptimalUnivariate(Method):
    r"""Replace the values of one column by the mean of groups of at least ``k``, with the least possible loss.

    .. math:: \min \sum_g \sum_{i \in g} (x_i - \bar x_g)^2, \qquad k \le |g| \le 2k - 1

    Groups of the best partition are runs of the sorted values; a shortest path finds them in time
    :math:`O(n \log n + nk)`. The column alone is k-anonymous afterwards, several columns protected one by one are
    not. With a declared person column runs of fewer than k persons are joined, which is not always the least loss.
    Fails with fewer than k values, for text and for infinite values; k missing values or more stay, fewer are refused.
    Reference: Hansen & Mukherjee (2003).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [42, 28, 50, 23, 12, 68, 30, 46, 55, 61]}))
    >>> celosia.protect(table, OptimalUnivariate(column="age", k=3)).polars()["age"].round(2).to_list()
    [46.0, 23.25, 46.0, 23.25, 23.25, 61.33, 23.25, 46.0, 61.33, 61.33]
    """

    column: Column = Field(description="the numeric column")
    k: int = Field(default=3, ge=2, description="smallest group size")
    within: Columns = Field(default=(), description="group only records that agree on these columns")
    memory: ClassVar[Memory] = "blocks"
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = "a value is the mean of a group of records"
    examples: ClassVar = ({"column": "x", "k": 3},)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Group and take the means."""
        from celosia.kernels.neighbours.runs import groups_along

        partition = group_units(
            self.name, table, [self.column], self.k, self.within, lambda x, _: groups_along(x[:, 0], self.k)
        )
        return aggregate_groups(table, partition, "mean")
