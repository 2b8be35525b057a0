"""Top coding of several columns at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.methods.bases.cells import numbers, refuse_constant, replace_numbers, units
from celosia.parts import CountsRows, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class MultivariateTopCode(Method):
    r"""Pull records that lie outside an ellipse around the data back onto its rim.

    .. math:: \tilde x = c + \sqrt{\chi^2_{p;1-\alpha} / d^2(x)}\,(x - c) \quad\text{where}\quad
              d^2(x) = (x-c)^T S^{-1} (x-c) > \chi^2_{p;1-\alpha}

    Centre and scatter are robust (minimum covariance determinant), so that the outliers do not hide themselves;
    ``robust = false`` takes mean and covariance. Finds combinations that are extreme together though each value is
    not. The rim is that of the records that stay, so that it discloses only the direction of the others. Records
    with missing values stay as they are. Fails for constant columns, text and infinite values, and with
    fewer records than columns.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"a": [1.0, 2, 3, 4, 5, 90], "b": [2.0, 1, 4, 3, 6, 90]})
    >>> method = MultivariateTopCode(columns=["a", "b"], alpha=0.2, robust=False)
    >>> celosia.protect(celosia.read(data), method).history[-1]["changed"]
    1
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that are judged together; such quasi-identifiers when empty"
    )
    alpha: float = Field(default=0.025, gt=0, lt=1, description="share of a normal cloud that lies outside the ellipse")
    robust: bool = Field(default=True, description="robust centre and scatter instead of mean and covariance")
    persons: ClassVar[PersonUnit] = CountsRows("each row is pulled towards the middle of all rows")
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "the ellipse is fitted to all records"
    examples: ClassVar = ({"columns": ["x", "y"]},)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Shrink the outliers."""
        from scipy.special import chdtri

        from celosia.methods.bases.robust import centre_and_scatter, squared_distances

        unit = units(self.name, table, self.columns)
        x = numbers(self.name, table, self.columns)[unit.first]
        refuse_constant(self.name, x, self.columns)
        centre, scatter = centre_and_scatter(x, stream.rng() if self.robust else None)
        limit = float(chdtri(x.shape[1], self.alpha))
        with np.errstate(invalid="ignore", divide="ignore"):
            far = squared_distances(x, centre, scatter) > limit
            if far.any():
                # the rim must not disclose how far out a record was: it is fitted without those that are pulled back
                centre, scatter = centre_and_scatter(x[~far], stream.child("rim").rng() if self.robust else None)
            square = squared_distances(x, centre, scatter)
            new = np.where(far[:, None], centre + np.sqrt(limit / square)[:, None] * (x - centre), x)
        columns = {name: new[:, j] for j, name in enumerate(self.columns)}
        return Outcome(replace_numbers(table, unit, columns), {"changed": int(far.sum()), "limit": limit})
