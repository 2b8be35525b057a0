"""Publish several contingency tables that agree with each other, with differential privacy."""

from __future__ import annotations

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
)
from celosia.parts import Formal, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table


class DpMarginals(Formal, Method):
    r"""Publish several tables of counts, each with an equal part of epsilon, made to agree on what they share.

    .. math:: \varepsilon = \sum_{i=1}^{r} \varepsilon / r, \qquad \tilde c_i = c_i + \mathrm{DLap}(r\,\Delta /
              \varepsilon)

    The tables overlap, so their costs add up (sequential composition). Totals and shared columns are estimated
    from all tables together, weighted by their precision; then each table becomes non-negative and whole with the
    common total. After that last step shared columns agree up to rounding. All values must be declared, as for
    ``dp-histogram``. The first table is the result, the others are in ``outcome.others``.
    References: Barak et al. (2007); Hay et al. (2010).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"sex": ["F", "M"] * 50, "old": [0, 1] * 50}))
    >>> method = DpMarginals(marginals=[["sex"], ["sex", "old"]], epsilon=20, values={"sex": ["F", "M"], "old": [0, 1]})
    >>> safe = celosia.protect(table, method)
    >>> len(safe), abs(safe.polars()["count"].sum() - 100) < 10
    (2, True)
    """

    marginals: tuple[tuple[str, ...], ...] = Field(min_length=1, description="the columns of each table")
    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of all tables together")
    neighbours: Neighbours = Field(default="add-remove", description="who differs from whom by one person")
    values: dict[str, tuple[Any, ...]] = Field(default_factory=dict, description="column → all values it can take")
    rows_per_person: int = Field(default=1, ge=1, description="most records that one person contributes")
    persons: ClassVar[PersonUnit] = "counted"
    rows: ClassVar[Rows] = "new"
    not_replayable_because: ClassVar[str] = "noisy counts of new records are another release with a cost of its own"
    examples: ClassVar = (
        {
            "marginals": [["q"], ["s"]],
            "epsilon": 1.0,
            "values": {"q": ["a", "b", "c", "d"], "s": ["flu", "cold", "hiv", "tbc"]},
        },
    )

    def privacy_loss(self) -> float:
        """Return ``epsilon``."""
        return self.epsilon

    def overwrites(self, schema: Schema) -> tuple[str, ...]:  # noqa: ARG002
        """List the columns of the tables."""
        return tuple(dict.fromkeys(name for columns in self.marginals for name in columns))

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Count each table, add noise, make them agree."""
        import polars as pl

        from celosia.kernels.budget.neighbours import of_count
        from celosia.kernels.budget.noise import laplace_for

        arrays, frames, variances, scales = [], [], [], []
        for columns in self.marginals:
            check_columns(self.name, table, columns)
            values = public_values(self.name, table, columns, self.values)
            if values is None:
                raise ParameterError(
                    f"dp-marginals: the values of {', '.join(columns)} are not all declared: give `values`, "
                    "an order, or bounds."
                )
            shape = tuple(each.size for each in values)
            sensitivity = of_count(self.neighbours, self.rows_per_person, int(np.prod(shape))).l1
            noise = laplace_for(sensitivity, self.epsilon / len(self.marginals))
            cells = fill_cells(count_cells(table, columns, self.rows_per_person), values)
            arrays.append(np.array(noise.add(cells[COUNT].to_list()), dtype=np.float64).reshape(shape))
            frames.append(cells)
            variances.append(noise.variance)
            scales.append(noise.scale)
        agreed = agree(arrays, self.marginals, variances)
        total = float(agreed[0].sum())
        tables = [
            cells_table(table, frame.with_columns(pl.Series(COUNT, consistent(array.ravel(), total))))
            for frame, array in zip(frames, agreed, strict=True)
        ]
        others = {"×".join(m): further for m, further in zip(self.marginals[1:], tables[1:], strict=True)}
        evidence = {
            "epsilon": self.epsilon,
            "neighbours": self.neighbours,
            "rows per person": self.rows_per_person,
            "scales": scales,
            "cells": [len(frame) for frame in frames],
        }
        return Outcome(tables[0], evidence, others=others)


def agree(
    arrays: list[NDArray[np.float64]], marginals: tuple[tuple[str, ...], ...], variances: list[float]
) -> list[NDArray[np.float64]]:
    """Make tables agree on their total and on every column that several of them share.

    Each shared part is averaged with weights of one over its variance, and the difference is spread evenly over its
    cells. The total comes first, then the columns: an even spread does not change what already agrees.

    >>> a, b = agree([np.array([1.0, 3.0]), np.array([2.0, 4.0])], (("x",), ("x",)), [1.0, 1.0])
    >>> a.tolist(), b.tolist()
    ([1.5, 3.5], [1.5, 3.5])
    """
    current = [array.copy() for array in arrays]
    shared: list[str | None] = [None, *dict.fromkeys(name for columns in marginals for name in columns)]
    for name in shared:
        tables = [i for i, columns in enumerate(marginals) if name is None or name in columns]
        if len(tables) < 2:
            continue
        parts, weights = [], []
        for i in tables:
            axes = tuple(j for j, column in enumerate(marginals[i]) if column != name)
            parts.append(current[i].sum(axis=axes))
            weights.append(parts[-1].size / (variances[i] * current[i].size))
        target = np.average(np.stack(parts), axis=0, weights=weights)
        for i, part in zip(tables, parts, strict=True):
            change = (target - part) * (part.size / current[i].size)
            shape = [n if column == name else 1 for n, column in zip(current[i].shape, marginals[i], strict=True)]
            current[i] = current[i] + (change if name is None else change.reshape(shape))
    return current
