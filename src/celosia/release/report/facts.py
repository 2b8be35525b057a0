"""Numbers of a report, computed once for both editions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from celosia.parts import ChangedShares, NarrowsValues
from celosia.table import Table
from celosia.table.columns import can_read_columns, count_distinct, count_values, has_many_values

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.schema import Schema
    from celosia.release.evidence.release import Release
    from celosia.table.changes import ColumnChange

BINS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, 99), (100, None))
THRESHOLDS = (5, 11, 20)
SMALLEST = 5
"""The external edition shows no smaller count of records, and rounds the others up to multiples of it."""
MOST_VALUES = 12
_ROWS = "__rows__"


@dataclass(frozen=True)
class Classes:
    """Class sizes of one table: records by class size, and above each risk threshold."""

    records: int
    classes: int
    sizes: tuple[int, ...]
    above: dict[int, int]
    unique: int
    highest: float
    average: float

    def between(self, low: int, high: int | None) -> int:
        """Return the number of records in classes of ``low`` to ``high`` records, which must be ends of ``BINS``."""
        inside = [a >= low and (high is None or (b is not None and b <= high)) for a, b in BINS]
        return sum(n for n, wanted in zip(self.sizes, inside, strict=True) if wanted)


@dataclass(frozen=True)
class ColumnFacts:
    """One released column: role, kind, number of distinct values before and after, and distribution."""

    name: str
    role: str
    kind: str
    before: int | None
    after: int
    altered: float | None
    values: tuple[tuple[str, float | None], ...] = ()
    """Released values with their share; None if the count is too small to show."""
    originals: tuple[tuple[str, float | None], ...] = ()
    """Original values with their share, in the internal edition only."""
    others: int = 0


@dataclass(frozen=True)
class InternalFacts:
    """Tables for the data owner only: smallest classes, homogeneous classes, records at risk."""

    smallest: pl.DataFrame | None = None
    homogeneous: pl.DataFrame | None = None
    risky: pl.DataFrame | None = None
    learnt: pl.DataFrame | None = None
    """Intervals that an intruder learns for the numbers of a person."""
    columns: list[str] = field(default_factory=list)


def classes_of(table: Table) -> Classes:
    """Class sizes of a table."""
    frequency, records = table.classes.sizes
    total = max(1, int(records.sum()))
    inside = [(frequency >= low) & (frequency <= (high or np.inf)) for low, high in BINS]
    return Classes(
        records=int(records.sum()),
        classes=len(frequency),
        sizes=tuple(int(records[each].sum()) for each in inside),
        above={k: int(records[frequency < k].sum()) for k in THRESHOLDS},
        unique=int(records[frequency == 1].sum()),
        highest=float(1 / frequency.min()) if len(frequency) else 0.0,
        average=float((records / np.maximum(frequency, 1)).sum() / total),
    )


def share(count: int, total: int, *, internal: bool) -> float | None:
    """Return a share of the records as an edition may show it.

    The external edition withholds small counts, and rounds the others up to multiples of ``SMALLEST``, so that a
    withheld count does not follow from the total.

    >>> share(3, 200, internal=False), share(7, 200, internal=False), share(7, 200, internal=True)
    (None, 0.05, 0.035)
    """
    if internal or count == 0:
        return count / max(1, total)
    return None if count < SMALLEST else min(total, -(-count // SMALLEST) * SMALLEST) / total


def columns_of(release: Release, *, internal: bool) -> list[ColumnFacts]:
    """Facts of the released columns; the distribution of quasi-identifiers and sensitive columns only."""
    altered = _changed_shares(release)
    schema = release.table.schema
    facts = []
    for name in release.table.names:
        role = role_of(schema, name)
        is_shown = role in {"quasi", "sensitive"}
        protected = release.comparison.protected
        afar = not is_shown and has_many_values(protected, name)  # then only their number is shown
        after = None if afar else value_counts(protected, name)
        different = count_distinct(protected, name) if after is None else len(after)
        declared = name in release.original.schema
        before = value_counts(release.original, name) if declared and is_shown else None
        facts.append(
            ColumnFacts(
                name=name,
                role=role,
                kind=str(schema[name].kind or ""),
                before=None if before is None else len(before),
                after=different,
                altered=altered.get(name),
                values=_shares(after, internal=internal) if is_shown and after is not None and different <= 200 else (),
                originals=_shares(before, internal=True) if internal and before is not None else (),
                others=max(0, different - MOST_VALUES),
            )
        )
    return facts


def unreleased_columns(release: Release) -> list[str]:
    """Names of the columns that are not released, for the owner only: a header may be a person's name."""
    return [name for name in release.original.names if name not in release.table.names]


def changes_of(release: Release, *, formal: bool) -> tuple[ColumnChange, ...]:
    """Change of each column; under a formal guarantee only as far as it follows from the steps."""
    if not formal:
        return release.changes
    from celosia.table.changes import ColumnChange, Detail, changed_by_steps

    done = release.table
    after = {n: changed_by_steps(done, n) if n in done.names else Detail("gone") for n in release.original.names}
    return tuple(ColumnChange(name, Detail("values"), detail, None, None) for name, detail in after.items())


def role_of(schema: Schema, name: str) -> str:
    """Role of a released column; a column with no other role is "insensitive"."""
    roles = schema[name].roles
    return next((role for role in ("quasi", "sensitive", "weight", "stratum") if role in roles), "insensitive")


def value_counts(table: Table, name: str) -> pl.DataFrame:
    """Count each value of a column, the most frequent first."""
    import polars as pl

    counted = count_values(table, name).select(pl.col(name).cast(pl.String), pl.col(_ROWS).cast(pl.Int64))
    return counted.sort([_ROWS, name], descending=[True, False])


def internal_of(release: Release, limit: int = 25) -> InternalFacts:
    """Return the smallest classes, those that disclose a sensitive value, and the records at highest risk."""
    import polars as pl

    table = release.comparison.protected
    if str(table.schema.reading()) != "category":
        return InternalFacts(learnt=_learnt_intervals(release))
    keys, counts = table.classes.histogram.cells, table.class_counts(in_order=True)
    smallest = keys.with_columns(pl.Series("size", counts.size)).sort("size").head(limit)
    homogeneous = []
    for column in table.schema.sensitive:
        values = table.classes.counts((column,), unit="rows")  # the set of values does not depend on the unit
        single = pl.Series(values.of(column).distinct == 1)
        homogeneous.append(
            table.classes.histogram.cells.filter(single).with_columns(pl.lit(column).alias("discloses")).head(limit)
        )
    if not can_read_columns(release.original):
        return InternalFacts(
            smallest=smallest,
            homogeneous=pl.concat(homogeneous) if homogeneous else None,
            learnt=_learnt_intervals(release),
            columns=list(table.schema.quasi),
        )
    records, frequency = release.original.classes.rarest_records(limit)
    risky = pl.DataFrame({"record": records, "could be": frequency})
    return InternalFacts(
        smallest=smallest,
        homogeneous=pl.concat(homogeneous) if homogeneous else None,
        risky=risky.sort("could be", "record").head(limit),
        learnt=_learnt_intervals(release),
        columns=list(table.schema.quasi),
    )


def _learnt_intervals(release: Release) -> pl.DataFrame:
    """Intervals of a person's numbers that an intruder learns from the release, by measured risk."""
    import polars as pl

    table = release.comparison.protected
    rows = [
        (str(finding.part), name, low, high)
        for finding in release.assessment.risks
        if isinstance(finding.part, NarrowsValues)
        for name, (low, high) in finding.part.intervals(table).items()
    ]
    return pl.DataFrame(rows, schema=["risk", "column", "at least", "at most"], orient="row")


def _changed_shares(release: Release) -> dict[str, float]:
    for finding in release.comparison.losses:
        if isinstance(finding.part, ChangedShares) and finding.value is not None:
            return {name: float(share) for name, share in finding.evidence.items()}
    return {}


def _shares(counts: pl.DataFrame, *, internal: bool) -> tuple[tuple[str, float | None], ...]:
    total = int(counts[_ROWS].sum())
    rows = counts.head(MOST_VALUES).iter_rows()
    return tuple(("—" if value is None else str(value), share(n, total, internal=internal)) for value, n in rows)
