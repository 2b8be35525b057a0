"""Differencing: records that one release has and the other lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.risk.bases.releases import _EarlierReleases, more_people

if TYPE_CHECKING:
    from celosia.risk.bases.success import Success
    from celosia.table import Table


class Differencing(_EarlierReleases):
    r"""The share of people who stand out in fewer than ``k`` records that one release has more than an earlier one.

    Data are released again with some people added or taken out, under the same recoding. The intruder compares the
    cells that both releases show: of each combination :math:`u` of the ``columns`` that both carry unchanged, the
    newer one has more or fewer records. Who knows when a person joined looks for her among the surplus only:

    .. math:: a_c = \sum_u \max(0, n_{c,u} - m_{c,u}), \qquad 0 < a_c < k

    where :math:`n_{c,u}` and :math:`m_{c,u}` count the records of cell c in the new and the earlier one. A record is
    one of the surplus with chance :math:`\max(0, n - m)/n`. ``removed`` counts those who stand out by having left.
    Cells of suppressed records are not compared. With several earlier releases the one with the highest chance counts.
    With a person column persons are counted. The certificates by themselves disclose the numbers of ``rows``.

    References: Fung, Wang, Fu & Pei (2008); Byun, Sohn, Bertino & Li (2006).

    >>> import polars as pl, celosia
    >>> now = pl.DataFrame({"age": ["30-40"] * 4, "ill": ["flu", "no", "no", "rash"]})
    >>> release = celosia.read(now, celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
    >>> Differencing(earlier=[now.head(3)]).records(release, release)["risk"].to_list()
    [0.0, 0.0, 0.0, 1.0]
    """

    k: int = Field(default=2, ge=2, description="fewest records of a surplus that hide each other")
    examples: ClassVar = (
        {"earlier": True, "known": ["c", "p"], "columns": ["t"], "k": 3},
        {"earlier": True, "known": ["p"], "columns": ["x"], "k": 4},
    )

    def sentence(self, facts: Mapping[str, Any]) -> str:
        """Describe how many people stand out."""
        return f"{more_people(facts)} stand out among fewer than {self.k} records that the earlier release lacks"

    def run(self, original: Table, protected: Table) -> Success:
        """Return the chance that each record is one of a small surplus."""
        from celosia.risk.bases.success import Success
        from celosia.table.pairing import counterparts
        from celosia.views.comparing.releases import surplus
        from celosia.views.persons import person_codes

        own = counterparts(original, protected)
        risk, group = np.zeros(len(original)), np.zeros(len(original), dtype=np.int64)
        removed, rows = 0, []
        for earlier in self.open_releases(original):
            shared = [name for name in self.known_columns(original) if name in earlier.names]
            if not shared:
                raise NotApplicable("differencing: an earlier release has no column that the intruder knows.")
            carried = self.carried_columns(original, protected, [earlier])
            chance, added, gone = surplus(original, protected, earlier, shared, carried)
            exposed = np.where((added > 0) & (added < self.k), chance, 0.0)
            better = np.append(exposed, 0.0)[own] > risk
            risk = np.where(better, np.append(exposed, 0.0)[own], risk)
            group = np.where(better, np.append(added, 0)[own], group)
            removed += int(gone[gone < self.k].sum())
            rows.append([len(earlier), len(protected)])
        return Success(
            risk,
            1 / max(len(np.unique(person_codes(original))), 1),
            np.zeros(len(original)),
            {"surplus": group},
            {"removed": removed, "rows": rows},
        )
