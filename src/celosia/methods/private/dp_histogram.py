"""Publish a contingency table with differential privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import ParameterError
from celosia.kernels.budget.neighbours import Neighbours
from celosia.methods.bases.dp_cells import (
    COUNT,
    cells_table,
    check_columns,
    consistent,
    count_cells,
    fill_cells,
    public_values,
    text_cells,
)
from celosia.parts import Columns, Formal, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl

    from celosia.kernels.budget.noise import Noise
    from celosia.streams import Stream
    from celosia.table import Table


class DpHistogram(Formal, Method):
    r"""Publish how many records each combination of values has, with noise instead of the exact counts.

    .. math:: \tilde c = c + \mathrm{DLap}(\Delta / \varepsilon), \qquad \Delta = m \text{ (add-remove)},\ 2m
              \text{ (change-one)}

    for at most :math:`m` = ``rows`` records a person. The cells are disjoint, so the whole table costs epsilon
    once (parallel
    composition). Which cells exist, and the type of their labels, must not depend on the data: they come from
    ``values``, from the declared order of a column or from bounds, which declare the whole numbers between them;
    empty cells get noise too, and records with other values are in no cell. Without them ``delta`` is needed, labels
    are texts, and only cells that reach a threshold are shown: it hides a person with all their records in one cell.
    ``tidy`` gives the nearest non-negative whole numbers with the noisy total; that costs nothing. The noise comes from
    the operating system's generator: a seed does not repeat it.
    References: Dwork, McSherry, Nissim & Smith (2006).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"sex": ["F"] * 70 + ["M"] * 30}))
    >>> safe = celosia.protect(table, DpHistogram(columns="sex", epsilon=10, values={"sex": ["F", "M", "X"]}))
    >>> safe.names, len(safe), abs(safe.polars()["count"][0] - 70) < 9
    (('sex', 'count'), 3, True)
    """

    columns: Columns = Field(description="columns whose combinations are counted")
    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of the whole table")
    delta: float = Field(
        default=0.0, ge=0, lt=1, description="for cells that are not public: chance to show a lone person"
    )
    neighbours: Neighbours = Field(default="add-remove", description="who differs from whom by one person")
    values: dict[str, tuple[Any, ...]] = Field(default_factory=dict, description="column → all values it can take")
    rows_per_person: int = Field(default=1, ge=1, description="most records that one person contributes")
    tidy: bool = Field(default=True, description="make the counts non-negative whole numbers with the noisy total")
    persons: ClassVar[PersonUnit] = "counted"
    rows: ClassVar[Rows] = "new"
    not_replayable_because: ClassVar[str] = "noisy counts of new records are another release with a cost of its own"
    examples: ClassVar = (
        {
            "columns": ["q", "s"],
            "epsilon": 1.0,
            "values": {"q": ["a", "b", "c", "d"], "s": ["flu", "cold", "hiv", "tbc"]},
        },
    )

    def privacy_loss(self) -> float:
        """Return ``epsilon``."""
        return self.epsilon

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Count, add noise, tidy."""
        import polars as pl

        check_columns(self.name, table, self.columns)
        values = public_values(self.name, table, self.columns, self.values)
        noise = self.noise(None if values is None else math.prod(each.size for each in values))
        frame = count_cells(table, self.columns, self.rows_per_person)
        if values is None:
            frame = self._hidden(text_cells(frame, self.columns), noise)
        else:
            frame = self._open(fill_cells(frame, values), noise)
        evidence: dict[str, object] = {
            "epsilon": self.epsilon,
            "delta": self.delta if values is None else 0.0,
            "neighbours": self.neighbours,
            "rows per person": self.rows_per_person,
            "cells": "those that reach the threshold" if values is None else len(frame),
            "scale": noise.scale,
            "half width": noise.half_width(0.95),
        }
        return Outcome(cells_table(table, frame.with_columns(pl.col(COUNT).cast(pl.Int64))), evidence)

    def noise(self, cells: int | None) -> Noise:
        """Distribution of the noise of each cell."""
        from celosia.kernels.budget.neighbours import of_count
        from celosia.kernels.budget.noise import laplace_for

        return laplace_for(of_count(self.neighbours, self.rows_per_person, cells).l1, self.epsilon)

    def _open(self, cells: pl.DataFrame, noise: Noise) -> pl.DataFrame:
        import polars as pl

        noisy = np.array(noise.add(cells[COUNT].to_list()), dtype=np.float64)
        return cells.with_columns(pl.Series(COUNT, consistent(noisy) if self.tidy else noisy.astype(np.int64)))

    def _hidden(self, frame: pl.DataFrame, noise: Noise) -> pl.DataFrame:
        import polars as pl

        from celosia.kernels.budget.scales import row_threshold

        if self.delta == 0:
            raise ParameterError(
                "dp-histogram: the values of the columns are not declared, so showing a cell tells that "
                "somebody is in it. Give values (or an order, or bounds), or a delta above 0."
            )
        least = row_threshold(noise.scale, self.delta, self.rows_per_person)
        noisy = pl.Series(COUNT, noise.add(frame[COUNT].to_list()), dtype=pl.Int64)
        shown = frame.with_columns(noisy).filter(pl.col(COUNT) >= least)
        return shown.sort(list(self.columns), nulls_last=True)
