"""Average re-identification risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from celosia.parts import BoundedByRows, Condition, Model, SearchHints, Verdict

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts


class AverageRisk(SearchHints, BoundedByRows, Model):
    r"""The chance to pick the right record, averaged over the records, is small.

    .. math:: \frac1n \sum_i \frac1{f_i} = \frac{\text{number of classes}}{n} \le \text{risk}

    With ``highest`` also the share of records whose risk exceeds it must be at most ``share`` (0: no record may
    exceed it). The value is the average. A low average hides single records at high risk; ``highest`` bounds those.
    References: El Emam (2013).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> AverageRisk(risk=0.5).value(table), AverageRisk(risk=0.5).holds(table)
    (0.5, True)
    >>> AverageRisk(risk=0.5, highest=0.4).holds(table), AverageRisk(risk=0.5, highest=0.4, share=0.25).holds(table)
    (False, True)
    """

    risk: float = Field(gt=0, le=1, description="largest allowed average")
    highest: float | None = Field(default=None, gt=0, le=1, description="risk that counts as high")
    share: float = Field(default=0.0, ge=0, le=1, description="largest allowed share of records at high risk")

    symbol: ClassVar[str] = "average risk"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    scope: ClassVar[Literal["class", "file"]] = "file"
    monotone_generalisation: ClassVar[bool] = True
    rows_bound: ClassVar[Literal["at least", "at most"] | None] = "at least"  # no more persons than rows share a class
    examples: ClassVar = ({}, {"highest": 0.4}, {"highest": 0.5, "share": 0.25})

    def bound(self) -> float:
        """Return the largest allowed average."""
        return self.risk

    def score(self, classes: ClassCounts) -> float:
        """Return the average risk over the records that are not suppressed; 0 without records."""
        held = classes.records
        return float((held / classes.size).sum() / held.sum()) if len(classes) else 0.0

    def measure(self, classes: ClassCounts) -> Verdict:
        """Whether average and share of high risks are small enough."""
        verdict = super().measure(classes)
        if self.highest is None or not len(classes):
            return verdict
        # 1/5 as a float is not above the bound 0.2
        high = classes.records[1.0 / classes.size > self.highest * (1 + 1e-12)].sum()
        return Verdict(verdict.value, verdict.holds and bool(high <= self.share * classes.records.sum()))

    def conditions(self) -> tuple[Condition, ...]:
        """Return the average, and the share of records at high risk where one counts as high."""
        if self.highest is None:
            return super().conditions()
        high = Condition("share of records above {beyond}", "at most", self.share, self.highest)
        return (*super().conditions(), high)
