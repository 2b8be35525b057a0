"""Random orthogonal matrix masking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import bounds, numbers, refuse_constant, refuse_missing, replace_numbers, strata, units
from celosia.parts import Columns, CountsRows, Explored, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class OrthogonalMask(Method):
    r"""Rotate the records among each other so that means and covariances stay exactly as they are.

    .. math:: \tilde X = T X, \quad T^T T = I, \quad T \mathbf 1 = \mathbf 1, \qquad
              E\,|\tilde x - x|^2 = p \operatorname{Var}(x)

    ``T`` is never built: records are put into random blocks and each block is rotated around its mean, which takes
    time and memory in proportion to the number of records. Regressions and principal components are those of the
    original. Whole numbers are rounded and values reflected at declared bounds, both of which disturb the moments a
    little. Fails for missing values and for fewer than ``block`` records. References: Ting, Fienberg & Trottini
    (2008), random orthogonal matrix masking (ROMM).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"a": [float(i) for i in range(20)], "b": [float(i * i) for i in range(20)]})
    >>> protected = celosia.protect(celosia.read(data), OrthogonalMask(columns=["a", "b"], p=0.3), seed=1).polars()
    >>> round(protected["a"].mean(), 9), round(protected["b"].var() / data["b"].var(), 9)
    (9.5, 1.0)
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that are rotated together; such quasi-identifiers when empty"
    )
    p: Annotated[float, Explored(0.05, 0.1, 0.2, 0.5)] = Field(
        default=0.1, gt=0, le=2, description="mean squared change as a share of the variance"
    )
    block: int = Field(default=9, ge=4, le=64, description="records that are mixed with each other")
    within: Columns = Field(default=(), description="mix only records that agree on these columns")
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "records are rotated together"
    examples: ClassVar = ({"columns": ["x", "y"]},)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Rotate the records block by block."""
        from celosia.kernels.perturbation.noise import reflect
        from celosia.methods.noise.rotation import rotate

        unit = units(self.name, table, self.columns)
        x = numbers(self.name, table, self.columns)[unit.first]
        refuse_missing(self.name, x, "records are mixed with each other, so fill them in or leave them out first.")
        refuse_constant(self.name, x, self.columns)
        new = np.empty_like(x)
        parts = strata(table, self.within, unit)
        for s, rows in enumerate(parts):
            new[rows] = rotate(x[rows], self.p, stream.child(s).rng(), self.block)
        for j, name in enumerate(self.columns):
            new[:, j] = reflect(new[:, j], *bounds(table, name))
        columns = {name: new[:, j] for j, name in enumerate(self.columns)}
        return Outcome(replace_numbers(table, unit, columns), {"strata": len(parts)})
