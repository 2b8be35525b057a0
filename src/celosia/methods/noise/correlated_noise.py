"""Additive noise with the covariance of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import DataError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import bounds, numbers, refuse_constant, replace_numbers, units
from celosia.parts import CountsRows, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class CorrelatedNoise(Method):
    r"""Add normal noise with a share ``p`` of the covariance matrix, so that correlations stay.

    .. math:: \tilde X = X + E, \qquad E_i \sim N(0,\ p\,\Sigma), \qquad \operatorname{cov}(\tilde X) = (1+p)\,\Sigma

    With ``keep_variance`` (Kim's transform) the result is shrunk towards the mean, so that the covariance is
    :math:`\Sigma` again:

    .. math:: \tilde x = \bar x + (x - \bar x + e)/\sqrt{1+p}

    All columns of a record move together: an intruder who knows one value learns about the noise of the others.
    Collinear columns are fine. Whole numbers stay whole, values are reflected at declared bounds (both disturb
    the covariance a little), missing values stay missing (the covariance comes from complete records). Fails for
    constant columns, text and infinite values. References: Kim (1986); Brand (2002).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [42.0, 28, 51, 23], "income": [20.0, 21, 19, 40]})
    >>> protected = celosia.protect(celosia.read(data), CorrelatedNoise(columns=["age", "income"], p=0.2), seed=1)
    >>> len(protected.polars())
    4
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that get noise together; such quasi-identifiers when empty"
    )
    p: Annotated[float, Explored(0.01, 0.05, 0.1, 0.2, 0.5)] = Field(
        default=0.1, gt=0, description="covariance of the noise as a share of the covariance of the data"
    )
    keep_variance: bool = Field(default=False, description="shrink the result so that variances stay (Kim)")
    keep_zeros: bool = Field(default=False, description="leave zeros as they are (semicontinuous columns)")
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    memory: ClassVar[Memory] = "blocks"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "its noise has the covariance of all records"
    examples: ClassVar = ({"columns": ["x", "y"], "p": 0.1},)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Add the noise."""
        from celosia.kernels.perturbation.noise import covariance, reflect, root

        unit = units(self.name, table, self.columns)
        x = numbers(self.name, table, self.columns)[unit.first]
        refuse_constant(self.name, x, self.columns)
        if np.isnan(x).any(axis=1).sum() > len(x) - 2:
            raise DataError(f"{self.name}: fewer than 2 records have all values, so there is no covariance to follow.")
        ids = unit.pick(table.ids())
        z = np.column_stack([stream.child(j).normal(ids) for j in range(len(self.columns))])
        sigma = covariance(x)
        new = x + np.sqrt(self.p) * (z @ root(sigma).T)
        if self.keep_variance:
            mean = np.nanmean(x, axis=0)
            new = mean + (new - mean) / np.sqrt(1 + self.p)
        for j, name in enumerate(self.columns):
            new[:, j] = reflect(new[:, j], *bounds(table, name))
        if self.keep_zeros:
            new = np.where(x == 0, x, new)
        columns = {name: new[:, j] for j, name in enumerate(self.columns)}
        return Outcome(replace_numbers(table, unit, columns), {"noise_covariance": (self.p * sigma).tolist()})
