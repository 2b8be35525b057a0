"""Previews of the steps on a sample, fast enough for sliders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.parts import grammar
from celosia.release.assess import assess_table
from celosia.release.evidence.findings import Finding
from celosia.release.plan import Plan
from celosia.release.policy.policy import Policy
from celosia.release.report.texts import words as report_words
from celosia.studio.samples import Samples
from celosia.studio.sketch import Pair, pair
from celosia.table.changes import ColumnChange, column_changes
from celosia.views.comparing.columns import column_pairs

if TYPE_CHECKING:
    from celosia.table import Table

SEED = 1


@dataclass(frozen=True)
class ColumnPreview:
    """A column changed by the steps."""

    name: str
    before: str
    after: str
    altered: float | None
    picture: Pair | None


@dataclass(frozen=True)
class Preview:
    """Effect of the steps on a sample."""

    size: int
    rows: int
    requirements: tuple[Finding, ...]
    suppressed: int
    left: int
    columns: tuple[ColumnPreview, ...]


def preview(policy: Policy, samples: Samples, language: str, changed: str = "") -> Preview:
    """Apply the enabled steps to the sample; the result of those before the ``changed`` one is cached."""
    sample = samples.sample(policy)
    steps = policy.select().steps
    fixed = next((i for i, each in enumerate(steps) if each.name == changed), 0)
    plan = Plan.resolve(sample.table, steps, seed=SEED)
    before = sample.table
    if fixed:
        spec = grammar.show([each.method.spec() for each in steps[:fixed]])
        key = hashlib.sha256(spec.encode()).hexdigest()
        before = samples.get(policy, f"steps {key}", lambda: plan.run(last=fixed))
    protected = plan.run(first=fixed, table=before)
    sentences = report_words(language)
    changes = [
        change for change in column_changes(sample.table, protected) if change.altered or change.after.form == "gone"
    ]
    return Preview(
        size=sample.size,
        rows=sample.rows,
        requirements=assess_table(protected, policy.require, ()).models,
        suppressed=protected.suppressed(),
        left=len(protected),
        columns=tuple(_column(change, sample.table, protected, sentences) for change in changes),
    )


def _column(change: ColumnChange, before: Table, after: Table, sentences: Mapping[str, Any]) -> ColumnPreview:
    picture = None
    if change.name in after.names and change.name not in before.schema.naming:
        picture = pair(column_pairs(before, after, [change.name])[0])
    before_text, after_text = (
        detail.sentence(sentences["detail"], sentences["units"]) for detail in (change.before, change.after)
    )
    return ColumnPreview(change.name, before_text, after_text, change.altered, picture)
