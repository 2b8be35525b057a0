"""Information-preserving synthetic columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.methods.bases.by_rows import FITTED
from celosia.methods.bases.regression import by_stratum, need_residuals, replace_dependent, split_columns
from celosia.parts import Columns, CountsRows, Explored, Method, Overwritten, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Ipso(Method):
    r"""Replace dependent columns by synthetic ones that have the same regression on the independent columns (IPSO).

    .. math:: Y'_A = X \hat B, \qquad Y'_B = X \hat B + \tilde R, \qquad
              Y'_C = X \hat B + \tilde R L_0^{-T} L^T, \quad L L^T = n \hat\Sigma,\ L_0 L_0^T = \tilde R^T \tilde R

    with the least-squares coefficients :math:`\hat B`, the residual covariance :math:`\hat\Sigma` and noise
    :math:`\tilde R` that is orthogonal to X. A is the fit alone: it keeps :math:`\hat B` and loses the residual
    variance. B keeps :math:`\hat B`. C keeps :math:`\hat B` and :math:`\hat\Sigma`, and so means, covariances among
    dependent columns and with independent ones, exactly, when there are at least as many records as columns of both
    kinds with the intercept. Independent columns stay as they are: an intruder who knows them finds the records, and
    learns Y'. A singular design (one column a sum of others) and constant columns do no harm.

    ``noise="unit"`` adds noise of standard deviation 1 in B, as the thesis does: with columns in the thousands that is
    A again. ``form="thesis"`` makes the noise orthogonal to the original Y too. The new columns are decimal numbers;
    ``whole`` rounds whole-number columns and folds values into the declared bounds, and the evidence says by how much
    the identities moved. Fails for missing values and for a column on both sides. References: Burridge (2003); Cano
    Franco (2009).

    >>> import numpy as np, polars as pl, celosia
    >>> data = pl.DataFrame({"age": [20, 30, 40, 50, 60], "pay": [1.0, 3.0, 2.0, 5.0, 4.0]})
    >>> table = celosia.read(data)
    >>> drawn = celosia.protect(table, Ipso(dependent=["pay"], independent=["age"], variant="C"), seed=1).polars()
    >>> bool(np.isclose(drawn["pay"].mean(), 3.0)), bool(np.isclose(drawn["pay"].var(), data["pay"].var()))
    (True, True)
    """

    dependent: Annotated[SuitedColumns, Overwritten()] = Field(
        default=(), description="numeric columns that are replaced; such quasi-identifiers when empty"
    )
    independent: SuitedColumns = Field(
        default=(), description="numeric columns that stay and predict the others; the other numbers when empty"
    )
    variant: Annotated[Literal["A", "B", "C"], Explored("A", "C")] = Field(
        default="C", description="fit, fit with noise, or fit with residuals"
    )
    noise: Literal["residual", "unit"] = Field(default="residual", description="scale of the noise of variant B")
    form: Literal["burridge", "thesis"] = Field(default="burridge", description="what the noise is orthogonal to")
    intercept: bool = Field(default=True, description="regress with an intercept")
    within: Columns = Field(default=(), description="synthesise apart for each combination of these columns")
    whole: bool = Field(default=False, description="round whole-number columns and keep declared bounds")
    copies: int = Field(default=1, ge=1, description="number of synthetic tables")
    persons: ClassVar[PersonUnit] = CountsRows(FITTED)
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "its values come from a regression over all records"
    examples: ClassVar = (
        {"dependent": ["y"], "independent": ["x"], "variant": "A"},
        {"dependent": ["y"], "independent": ["x"], "variant": "B"},
        {"dependent": ["y"], "independent": ["x"], "variant": "C"},
    )

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Regress and draw new residuals."""
        from celosia.kernels.synthesis.ipso import identities, ipso

        split = split_columns(self.name, table, self.dependent, self.independent, self.within)
        fewest = max(2, len(self.dependent)) + (len(self.dependent) if self.form == "thesis" else 0)
        need_residuals(self.name, split, 1, intercept=self.intercept, fewest=fewest)
        tables, evidence = [], {}
        for copy in range(self.copies):
            source = stream.child("copy", copy) if copy else stream
            noise = np.column_stack([source.child(name).normal(table.ids()) for name in self.dependent])

            def make(_: int, x: Floats, y: Floats, rows: Ints, noise: Floats = noise) -> Floats:
                return ipso(x, y, noise[rows], self.variant, scale=self.noise, form=self.form, intercept=self.intercept)

            synthetic, numbers, outside = replace_dependent(
                table, self.dependent, by_stratum(split, make), whole=self.whole
            )
            tables.append(synthetic)
            if not copy:
                worst = [identities(split.x[r], split.y[r], numbers[r], intercept=self.intercept) for r in split.strata]
                evidence = _evidence(worst, outside)
        others = {f"copy {i + 2}": synthetic for i, synthetic in enumerate(tables[1:])}
        return Outcome(tables[0], evidence, others=others)


def _evidence(worst: list[dict[str, float]], outside: dict[str, int]) -> dict[str, dict[str, float] | dict[str, int]]:
    largest = {name: max(errors[name] for errors in worst) for name in worst[0]}
    return {"largest error": largest, **({"outside the bounds": outside} if outside else {})}
