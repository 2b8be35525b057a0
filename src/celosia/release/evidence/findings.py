"""What was measured: one finding per part, an assessment of one table, a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.errors import NotApplicable
from celosia.parts import Threat, describe, evidence_against, grammar, public_spec, withheld_parameters
from celosia.show.blocks import Block, Shown, assessment_blocks, comparison_blocks
from celosia.show.charts import bars, overlay
from celosia.show.pictures import Picture
from celosia.table import Table


@dataclass(frozen=True)
class Finding:
    """One measured thing: the part, its value, and for a model whether it holds; or why it could not be measured."""

    part: Any
    value: float | None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    holds: bool | None = None
    reason: str = ""

    def spec(self) -> dict[str, Any]:
        """The finding as plain data."""
        out: dict[str, Any] = {"part": grammar.show(public_spec(self.part)), "value": self.value}
        withheld = withheld_parameters(self.part)
        if withheld:
            out["withheld"] = withheld
        if self.holds is not None:
            out |= {"holds": self.holds, "wish": describe(self.part)}
        if self.reason:
            out["reason"] = self.reason
        extra = {k: v for k, v in self.evidence.items() if k != "value"}
        return {**out, **({"evidence": extra} if extra else {})}


@dataclass(frozen=True, repr=False)
class Assessment(Shown):
    """What was measured on one table."""

    table: Table = field(repr=False)
    models: tuple[Finding, ...] = ()
    risks: tuple[Finding, ...] = ()
    guessed: bool = False
    """Whether the roles of the columns were only guessed; then no requirement is said to be met."""

    def blocks(self) -> list[Block]:
        """What there is to show."""
        return assessment_blocks(self)

    def plot(self) -> Picture:
        """The records by the size of their class, as they came in and, after steps, as they are."""
        from celosia.release.report.facts import BINS, classes_of

        labels = [str(low) if low == high else (f"{low}–{high}" if high else f"{low}+") for low, high in BINS]
        tables = {"before": self.table.first, "after": self.table} if self.table.history else {"records": self.table}
        classes = {name: classes_of(table) for name, table in tables.items()}
        series = [(name, [n / max(1, each.records) for n in each.sizes]) for name, each in classes.items()]
        title = "Records by the number of records that look the same"
        return Picture([bars(title, labels, series)], title)

    @property
    def holds(self) -> bool:
        """Whether every requirement holds."""
        return not self.guessed and all(finding.holds for finding in self.models)

    def spec(self) -> dict[str, Any]:
        """The assessment as plain data."""
        return {
            "rows": len(self.table),
            "suppressed": self.table.suppressed() if self.table.schema.quasi else 0,
            "quasi": list(self.table.schema.quasi),
            "guessed": self.guessed,
            "requirements": [finding.spec() for finding in self.models],
            "risks": [finding.spec() for finding in self.risks],
        }


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """What was lost, and what an intruder can still do, between an original and a protected table."""

    original: Table = field(repr=False)
    protected: Table = field(repr=False)
    losses: tuple[Finding, ...] = ()
    risks: tuple[Finding, ...] = ()

    def blocks(self) -> list[Block]:
        """What there is to show."""
        return comparison_blocks(self)

    def plot(self, *columns: str) -> Picture:
        """Each column before and after, or those named."""
        from celosia.views.comparing.columns import overlaid

        figures = []
        for pair in overlaid(self.original, self.protected, columns):
            series = [("before", pair.before), ("after", pair.after)]
            figures.append(
                overlay(pair.name, pair.edges, series) if pair.edges else bars(pair.name, pair.labels, series)
            )
        return Picture(figures, "Columns before and after")

    def spec(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "rows": {"original": len(self.original), "protected": len(self.protected)},
            "losses": [finding.spec() for finding in self.losses],
            "risks": [finding.spec() for finding in self.risks],
        }


def measure_threat(threat: Threat, original: Table, protected: Table) -> Finding:
    """Measure a risk of the protected table or an attack; the finding has the reason where it does not apply."""
    try:
        evidence = evidence_against(threat, original, protected)
    except NotApplicable as error:
        return Finding(threat, None, reason=str(error))
    return Finding(threat, evidence.get("value"), evidence)
