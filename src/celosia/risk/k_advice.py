"""Advice on k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from celosia.parts import Evidence, Memory, Risk
from celosia.risk.uniqueness import unique_share

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table


class Threshold(NamedTuple):
    """Smallest class size that a regulator or a guideline asks for."""

    k: int
    where: str
    source: str


THRESHOLDS = (
    Threshold(3, "a trusted recipient under contract", "El Emam & Malin (2015)"),
    Threshold(5, "a known recipient with safeguards; the most common choice for health data", "El Emam & Malin (2015)"),
    Threshold(
        11,
        "public release of health data: no cell of 10 or less, a risk of 0.09",
        "CMS cell size suppression policy; EMA policy 0070; Health Canada PRCI guidance",
    ),
    Threshold(20, "public release of very sensitive data, a risk of 0.05", "El Emam & Malin (2015)"),
)
"""Class sizes in use, with their sources: custom, not proof. The right one depends on the recipient."""


class KAdviceEvidence(Evidence):
    """Share of unique records, smallest class, and the violations of each threshold."""

    acceptable: bool
    smallest: int
    thresholds: list[dict[str, Any]]


class KAdvice(Risk):
    r"""Records that violate the class sizes that regulators and guidelines ask for.

    The value is Lodha and Thomas' α, the share of records that are alone in their class; k is said to be acceptable
    while

    .. math:: \alpha = \frac1n |\{i : f_i = 1\}| < 0.5

    which is a very weak rule: read it with the thresholds. For each of them the evidence has the records that
    violate it, its source, and the highest prosecutor risk 1/k that it allows. A journalist's threshold reads the
    same with class sizes of the population.

    References: Lodha & Thomas (2007), Probabilistic anonymity; El Emam & Malin (2015), Concepts and methods for
    de-identifying clinical trial data, appendix B of Sharing clinical trial data (Institute of Medicine).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30] * 5 + [31]}), celosia.Schema.of(quasi=["age"]))
    >>> KAdvice().evidence(table)["thresholds"][1]["violated"]
    1
    """

    memory: ClassVar[Memory] = "none"

    def value(self, table: Table) -> float:
        """Return Lodha and Thomas' α."""
        return unique_share(table)

    def evidence(self, table: Table) -> KAdviceEvidence:
        """Return α, the smallest class, and for each threshold the number of records that violate it."""
        frequency, records = table.classes.sizes
        alpha = self.value(table)
        smallest = int(frequency.min()) if len(frequency) else 0
        return {
            "value": alpha,
            "acceptable": alpha < 0.5,
            "smallest": smallest,
            "thresholds": [
                {
                    "k": rule.k,
                    "risk": 1 / rule.k,
                    "met": smallest >= rule.k,
                    "violated": int(records[frequency < rule.k].sum()),
                    "where": rule.where,
                    "source": rule.source,
                }
                for rule in THRESHOLDS
            ],
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Return the class size of each record, and the largest threshold it meets."""
        import polars as pl

        frequency = table.frequencies()
        ks = np.array([0, *(rule.k for rule in THRESHOLDS)])
        met = ks[np.searchsorted(ks[1:], frequency, side="right")]
        return pl.DataFrame({"frequency": frequency, "meets": met})
