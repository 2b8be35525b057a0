"""Measurements: one finding per part, an assessment of one table, a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from celosia.errors import NotApplicable
from celosia.parts import (
    ChoosesParameters,
    Loss,
    Model,
    Threat,
    describe,
    evidence_against,
    grammar,
    public_spec,
    withheld_parameters,
)
from celosia.release.evidence.certificate import AssessmentForm, Claim, ComparisonForm, PairSizes, Requirement
from celosia.release.evidence.plain_data import plain
from celosia.show.blocks import Block, Shown, assessment_blocks, comparison_blocks
from celosia.show.charts import bars, overlay
from celosia.show.pictures import Picture
from celosia.table import Table

C = TypeVar("C", bound=Claim)


@dataclass(frozen=True)
class Finding:
    """A measurement: the part, its value, and for a model whether it holds; or why it could not be measured."""

    part: Any
    value: float | None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    holds: bool | None = None
    reason: str = ""

    @property
    def label(self) -> str:
        """The part in the text grammar, without parameters that are withheld."""
        return grammar.show(public_spec(self.part))

    def claim(self) -> Claim:
        """Return the finding as a certificate or a private record states it."""
        return self._complete(Claim(part=self.label, value=plain(self.value)))

    def requirement(self) -> Requirement:
        """Return the finding of a model as a certificate or a private record states it."""
        stated = Requirement(part=self.label, value=plain(self.value), holds=bool(self.holds), wish=describe(self.part))
        return self._complete(stated)

    def _complete(self, claim: C) -> C:
        withheld, further = withheld_parameters(self.part), {k: v for k, v in self.evidence.items() if k != "value"}
        if withheld:
            claim.withheld = withheld
        if self.reason:
            claim.reason = self.reason
        if further:
            claim.evidence = plain(further)
        return claim

    def spec(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return (self.claim() if self.holds is None else self.requirement()).spec()


@dataclass(frozen=True, repr=False)
class Assessment(Shown):
    """Requirements and risks measured on one table."""

    table: Table = field(repr=False)
    models: tuple[Finding, ...] = ()
    risks: tuple[Finding, ...] = ()
    guessed: bool = False
    """Whether the roles of the columns were only guessed; then no requirement counts as met."""

    def blocks(self) -> list[Block]:
        """Return the blocks that a terminal or a notebook shows."""
        return assessment_blocks(self)

    def plot(self) -> Picture:
        """Plot the share of records by class size, before and after the steps."""
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

    @property
    def unchecked(self) -> dict[str, tuple[str, ...]]:
        """Columns of the table that no requirement judges, by the reason."""
        schema = self.table.schema
        counted = {column for finding in self.models for column in finding.part.counted_columns()}
        groups = {
            "names a person": schema.naming,
            "no role": tuple(name for name in schema.names if not schema[name].declared),
            "sensitive, without a requirement": tuple(
                name for name in schema.sensitive if counted.isdisjoint({name, None})
            ),
            "insensitive": schema.insensitive,
        }
        return {reason: names for reason, names in groups.items() if names}

    def form(self) -> AssessmentForm:
        """Return the assessment as a private record states it."""
        return AssessmentForm(
            rows=len(self.table),
            suppressed=int(self.table.suppressed()) if self.table.schema.quasi else 0,
            quasi=list(self.table.schema.quasi),
            guessed=self.guessed,
            requirements=[finding.requirement() for finding in self.models],
            risks=[finding.claim() for finding in self.risks],
        )

    def spec(self) -> dict[str, Any]:
        """Return the assessment as plain data."""
        return self.form().spec()


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Losses and attacks measured between an original and a protected table."""

    original: Table = field(repr=False)
    protected: Table = field(repr=False)
    losses: tuple[Finding, ...] = ()
    risks: tuple[Finding, ...] = ()

    def blocks(self) -> list[Block]:
        """Return the blocks that a terminal or a notebook shows."""
        return comparison_blocks(self)

    def plot(self, *columns: str) -> Picture:
        """Plot the distribution of each column, or of those named, before and after."""
        from celosia.views.comparing.columns import column_pairs

        figures = []
        for pair in column_pairs(self.original, self.protected, columns):
            series = [("before", pair.before), ("after", pair.after)]
            figures.append(
                overlay(pair.name, pair.edges, series) if pair.edges else bars(pair.name, pair.labels, series)
            )
        return Picture(figures, "Columns before and after")

    def form(self) -> ComparisonForm:
        """Return the comparison as a private record states it."""
        return ComparisonForm(
            rows=PairSizes(original=len(self.original), protected=len(self.protected)),
            losses=[finding.claim() for finding in self.losses],
            risks=[finding.claim() for finding in self.risks],
        )

    def spec(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return self.form().spec()


def measure_threat(threat: Threat, original: Table, protected: Table) -> Finding:
    """Measure a risk of the protected table or an attack; the finding has the reason where it does not apply."""
    try:
        evidence = evidence_against(threat, original, protected)
    except NotApplicable as error:
        return Finding(threat, None, reason=str(error))
    return Finding(threat, evidence.get("value"), evidence)


def measure_model(model: Model, table: Table) -> Finding:
    """Measure one requirement."""
    value, holds = model.verdict(table)
    chosen = model.evidence(table) if isinstance(model, ChoosesParameters) else {}
    return Finding(model, value, chosen, holds)


def measure_loss(loss: Loss, original: Table, protected: Table) -> Finding:
    """Measure one loss; the finding has the reason where it does not apply."""
    try:
        return Finding(loss, loss.value(original, protected), loss.parts(original, protected))
    except NotApplicable as error:
        return Finding(loss, None, reason=str(error))
