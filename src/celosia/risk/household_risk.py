"""Household risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from celosia.catalogue import Risk
from celosia.errors import NotApplicable

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class HouseholdRisk(Risk):
    r"""The chance that at least one member of a record's household is re-identified.

    .. math:: r^h_i = 1 - \prod_{j \in h(i)} (1 - r_j)

    with r the individual risk. Who finds one member has found the household. The value is the mean over the
    records. Members are taken as independent; a record without a household id stands alone. It needs a household
    column in the schema.

    References: Franconi & Polettini (2004); Templ, Kowarik & Meindl (2015).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 31, 40], "house": [1, 2, 1, 2]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], household="house"))
    >>> HouseholdRisk().records(table)["household"].to_list()
    [1.0, 1.0, 1.0, 1.0]
    """

    exact: bool = Field(default=False, description="evaluate the exact form of the individual risk")
    alpha: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="how far a missing value counts as a match (sdcMicro); else the schema says",
    )

    def value(self, table: Table) -> float:
        """The mean household risk of the records that are not suppressed."""
        household, _, kept = self._risks(table)
        return float(household[kept].mean()) if kept.any() else 0.0

    def evidence(self, table: Table) -> dict[str, Any]:
        """Mean and highest household risk, the expected number of records found, and the households."""
        household, risk, kept = self._risks(table)
        return {
            "value": float(household[kept].mean()) if kept.any() else 0.0,
            "highest": float(household[kept].max(initial=0.0)),
            "expected": float(household[kept].sum()),
            "individual": float(risk[kept].sum()),
            "records": int(kept.sum()),
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Household risk and individual risk of each record."""
        import polars as pl

        household, risk, _ = self._risks(table)
        return pl.DataFrame({"household": household, "risk": risk})

    def _risks(self, table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        from celosia.statistics.individual_risk import household_risk
        from celosia.views.keys import Keys
        from celosia.views.record_risk import pattern_risks

        name = table.schema.household
        if name is None:
            raise NotApplicable("household-risk: no household column is declared: name one under `household`.")
        keys = Keys.of(table)
        risk = keys.spread(pattern_risks(table, exact=self.exact, alpha=self.alpha)[0])
        house, values = table.codes(name)
        alone = house < 0
        number = house.astype(np.int64)
        number[alone] = len(values) + np.arange(int(alone.sum()))
        kept = keys.pattern >= 0
        found = household_risk(risk, number) if len(risk) else risk
        return np.where(kept, found, 0.0), risk, kept
