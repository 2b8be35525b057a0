"""Noise in proportion to the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import ParameterError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import as_column, bounds, numbers, refuse_constant, units
from celosia.parts import CountsRows, Explored, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl

    from celosia.streams import Stream
    from celosia.table import Table


class MultiplicativeNoise(Method):
    r"""Multiply each value by a random factor with mean 1, so that large values move more than small ones.

    .. math:: \tilde x_{ij} = x_{ij}\, e_{ij}, \qquad E\,e_{ij} = 1, \qquad
              \operatorname{Var}(e_{ij}) = p\,\frac{\operatorname{Var}(V_j)}{\overline{V_j^2}}

    so that the noise :math:`\tilde x - x` has the variance :math:`p \operatorname{Var}(V_j)`, as with additive noise.
    The factor is log-normal (always positive), or normal and cut at two standard deviations (``truncated-normal``:
    bounded, for small p). Zeros and missing values stay, signs stay, means stay on average. Whole numbers stay whole
    and values are reflected at declared bounds. Fails for constant columns, and when a truncated factor could
    be negative. Reference: Kim & Winkler (2003).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"income": [0.0, 10.0, 2000.0]}))
    >>> celosia.protect(table, MultiplicativeNoise(columns=["income"], p=0.1), seed=1).polars()["income"][0]
    0.0
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that get noise; such quasi-identifiers when empty"
    )
    p: Annotated[float, Explored(0.01, 0.05, 0.1, 0.2)] = Field(
        default=0.1, gt=0, description="variance of the noise as a share of the variance of the column"
    )
    shape: Literal["log-normal", "truncated-normal"] = Field(
        default="log-normal", description="distribution of the factor"
    )
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "its noise has a share of the variance of all records"
    examples: ClassVar = ({"columns": ["x"]},)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Multiply the values by random factors."""
        from celosia.kernels.perturbation.noise import log_normal_factors, reflect, truncated_factors

        x = numbers(self.name, table, self.columns)
        refuse_constant(self.name, x, self.columns)
        columns: dict[str, pl.Series] = {}
        deviations: dict[str, float] = {}
        for j, name in enumerate(self.columns):
            unit = units(self.name, table, [name])
            v = x[unit.first, j]
            variance = self.p * float(np.nanvar(v)) / float(np.nanmean(v * v))
            ids = unit.pick(table.ids())
            if self.shape == "log-normal":
                factor = log_normal_factors(variance, stream.child(name).normal(ids))
            else:
                try:
                    factor = truncated_factors(variance, stream.child(name).uniform(ids))
                except ParameterError as error:
                    raise ParameterError(f"{self.name}: column {name!r}: {error}") from None
            deviations[name] = float(np.sqrt(variance))
            new = reflect(v * factor, *bounds(table, name))
            columns[name] = as_column(table.column(name), unit.expand(new))
        return Outcome(table.replace(columns), {"factor_deviation": deviations})
