"""Before and after on a sample, while somebody moves a slider."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.parts import grammar
from celosia.release.evidence.findings import Finding
from celosia.release.measuring import assess
from celosia.release.plan import Plan
from celosia.release.policy.policy import Policy
from celosia.release.report.telling import words as report_words
from celosia.studio.preview import Samples
from celosia.studio.sketch import Pair, pair
from celosia.table.changes import ColumnChange, column_changes
from celosia.views.comparing.columns import overlaid

if TYPE_CHECKING:
    from celosia.table import Table

SEED = 1


@dataclass(frozen=True)
class ColumnPreview:
    """A column that the steps changed."""

    name: str
    before: str
    after: str
    altered: float | None
    picture: Pair | None


@dataclass(frozen=True)
class Preview:
    """What the steps do to a sample."""

    size: int
    rows: int
    requirements: tuple[Finding, ...]
    suppressed: int
    left: int
    columns: tuple[ColumnPreview, ...]


def preview(policy: Policy, samples: Samples, language: str, changed: str = "") -> Preview:
    """Apply the steps that are switched on to the sample; those before the ``changed`` one are not done again."""
    seen = samples.sample(policy)
    steps = policy.select().steps
    fixed = next((i for i, each in enumerate(steps) if each.name == changed), 0)
    plan = Plan.resolve(seen.table, steps, seed=SEED)
    before = seen.table
    if fixed:
        spec = grammar.show([each.method.spec() for each in steps[:fixed]])
        key = hashlib.sha256(spec.encode()).hexdigest()
        before = samples.once(policy, f"steps {key}", lambda: plan.run(last=fixed))
    done = plan.run(first=fixed, table=before)
    sentences = report_words(language)
    touched = [change for change in column_changes(seen.table, done) if change.altered or change.after.form == "gone"]
    return Preview(
        size=seen.size,
        rows=seen.rows,
        requirements=assess(done, policy.require, ()).models,
        suppressed=done.suppressed(),
        left=len(done),
        columns=tuple(_column(change, seen.table, done, sentences) for change in touched),
    )


def _column(change: ColumnChange, before: Table, after: Table, sentences: Mapping[str, Any]) -> ColumnPreview:
    picture = None
    if change.name in after.names and change.name not in before.schema.naming:
        picture = pair(overlaid(before, after, [change.name])[0])
    told_before, told_after = (
        detail.sentence(sentences["detail"], sentences["units"]) for detail in (change.before, change.after)
    )
    return ColumnPreview(change.name, told_before, told_after, change.altered, picture)
