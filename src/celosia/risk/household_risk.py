"""Household risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Evidence, Risk

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class HouseholdEvidence(Evidence):
    """Mean and highest household risk, and the expected number of records (persons) found."""

    highest: float
    expected: float
    individual: float
    records: int


class HouseholdRisk(Risk):
    r"""The chance that at least one member of a record's household is re-identified.

    .. math:: r^h_i = 1 - \prod_{j \in h(i)} (1 - r_j)

    with r the individual risk. An intruder who finds one member has found the household. The value is the mean over the
    records. With a person column members are persons, each once with the highest risk of her rows in the household, and
    the mean is over them. Members are taken as independent; a record (person) without a household id is a household by
    itself. It needs a household column in the schema.

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
    examples: ClassVar = ({"weights": True},)

    def value(self, table: Table) -> float:
        """Return the mean household risk of the records (persons) that are not suppressed."""
        return self._members(table).mean()

    def evidence(self, table: Table) -> HouseholdEvidence:
        """Mean and highest household risk, the expected number of records (persons) found, and their number."""
        members = self._members(table)
        return {
            "value": members.mean(),
            "highest": float(members.household.max(initial=0.0)),
            "expected": float(members.household.sum()),
            "individual": float(members.risk.sum()),
            "records": len(members.household),
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Household risk and individual risk of each record."""
        import polars as pl

        members = self._members(table)
        household = np.append(members.household, 0.0)[members.member]
        return pl.DataFrame({"household": household, "risk": self._individual(table)})

    def _individual(self, table: Table) -> NDArray[np.float64]:
        from celosia.views.record_risk import pattern_risks

        return table.classes.on_records(pattern_risks(table, exact=self.exact, alpha=self.alpha)[0], suppressed=0)

    def _members(self, table: Table) -> Members:
        from celosia.kernels.disclosure.uniqueness.individual_risk import household_risk
        from celosia.views.persons import person_codes

        name = table.schema.household
        if name is None:
            raise NotApplicable("household-risk: no household column is declared: name one under `household`.")
        person = person_codes(table)
        house, values = table.codes(name)
        home = np.where(house < 0, len(values) + person, house.astype(np.int64))
        kept = np.flatnonzero(table.classes.place >= 0)
        (homes, _), member = np.unique(np.stack([home[kept], person[kept]]), axis=1, return_inverse=True)
        risk = np.zeros(len(homes))
        np.maximum.at(risk, member, self._individual(table)[kept])
        of_record = np.full(len(table), -1, dtype=np.int64)
        of_record[kept] = member
        return Members(household_risk(risk, homes) if len(risk) else risk, risk, of_record)


class Members(NamedTuple):
    """The members of the households, each once, with the risk of the household and their own."""

    household: NDArray[np.float64]
    risk: NDArray[np.float64]
    member: NDArray[np.int64]
    """The member of each record, -1 when suppressed."""

    def mean(self) -> float:
        """Return the mean household risk; 0 without members."""
        return float(self.household.mean()) if len(self.household) else 0.0
