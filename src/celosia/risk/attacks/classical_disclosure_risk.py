"""Disclosure risk of the literature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar, cast

import numpy as np
from pydantic import Field

from celosia.parts import Attack, AttackEvidence, Columns, build

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

_Number = TypeVar("_Number", float, "NDArray[np.float64]")


class ClassicalDisclosureEvidence(AttackEvidence):
    """Combined risk and its three parts."""

    parts: dict[str, AttackEvidence]


class ClassicalDisclosureRisk(Attack):
    r"""Linkage by distance, linkage by agreement and interval disclosure in one number (DR).

    .. math:: \mathrm{DR} = 0.25\,\mathrm{DBRL} + 0.25\,\mathrm{PRL} + 0.5\,\mathrm{ID}

    The linkages are the mean over intruders who know the first ``known`` columns. The three parts, each with
    interval and baseline, are in the evidence. Numeric columns only; leave out columns that are released unchanged,
    or linkage will use nothing else. Half of it with half of the information loss is the score of the literature. None
    of the three knows what was done to the file: :class:`~celosia.risk.DisclosureRisk` adds attacks that do.

    References: Domingo-Ferrer & Torra (2001); Yancey, Winkler & Creecy (2002).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"x": [10.0, 20.0, 30.0, 40.0], "y": [3.0, 1.0, 4.0, 2.0]})
    >>> ClassicalDisclosureRisk().value(celosia.read(data), celosia.read(data))
    1.0
    """

    columns: Columns | None = Field(default=None, description="numeric columns; all shared ones when not given")
    known: tuple[int, ...] = Field(
        default=(3, 5, 8), description="numbers of leading columns that the intruder may know"
    )
    tolerance: float = Field(default=0.1, ge=0, description="standard deviations within which numbers agree (PRL)")
    window: Literal["rank", "relative", "sd"] = Field(default="rank", description="what an interval is (ID)")
    direction: Literal["original", "protected"] = Field(default="original", description="whose records are linked")
    examples: ClassVar = ({"columns": ["x", "y"]},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the combined risk as a share."""
        parts = {name: risk.value(original, protected) for name, risk in self._parts(original, protected).items()}
        return float(_combine(parts))

    def evidence(self, original: Table, protected: Table) -> ClassicalDisclosureEvidence:
        """Return the combined risk with its interval and baseline, and its three parts."""
        attacks = self._parts(original, protected).items()
        parts = {name: cast("AttackEvidence", attack.evidence(original, protected)) for name, attack in attacks}
        low, high = (_combine({name: part["interval"][i] for name, part in parts.items()}) for i in (0, 1))
        return {
            "value": _combine({name: part["value"] for name, part in parts.items()}),
            "interval": [low, high],
            "baseline": _combine({name: part["baseline"] for name, part in parts.items()}),
            "parts": parts,
        }

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the combined risk of each protected record, and its parts, with all columns known."""
        import polars as pl

        from celosia.table.pairing import positions

        rows = positions(original, protected)
        risks = {}
        for name, risk in self._parts(original, protected).items():
            credit = risk.records(original, protected)["risk"].to_numpy()
            risks[name] = credit[rows] if name != "id" and self.direction == "original" else credit
        return pl.DataFrame({"risk": np.asarray(_combine(risks)), **risks})

    def _parts(self, original: Table, protected: Table) -> dict[str, Attack]:
        from celosia.views.comparing.encoding import known_columns

        columns = known_columns(original, protected, self.columns, numbers=True)
        linkage = {"columns": columns, "known": self.known, "direction": self.direction}
        return {
            "dbrl": build("attack", {"use": "distance-linkage", **linkage}),
            "prl": build("attack", {"use": "probabilistic-linkage", "tolerance": self.tolerance, **linkage}),
            "id": build("attack", {"use": "interval-disclosure", "columns": columns, "window": self.window}),
        }


def _combine(parts: Mapping[str, _Number]) -> _Number:
    return 0.25 * parts["dbrl"] + 0.25 * parts["prl"] + 0.5 * parts["id"]
