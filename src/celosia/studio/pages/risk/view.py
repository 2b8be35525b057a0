"""View models of the risk page: class sizes, thresholds, contribution of columns, and attacks.

Every number is a risk of the library on the full data.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import NotApplicable
from celosia.parts import summary
from celosia.release.assess import assess_table
from celosia.release.report.facts import BINS, classes_of
from celosia.risk import AttackerKnows, JoinAttack, KAdvice, Suda, Uniqueness

if TYPE_CHECKING:
    from celosia.parts import Part
    from celosia.table import Table

MOST_SUBSETS = 260
"""Most sets of columns to measure: all subsets of eight columns, or up to three of eleven."""
LISTED = 12
SUDA_SIZE = 3
"""Largest sets for SUDA: larger ones add little to the score, and their number grows exponentially."""
LEARNED = 6
"""Most frequent values of an unknown column that are listed."""
RISKS = ("prosecutor", "marketer")


@dataclass(frozen=True)
class SizeBin:
    """Records in classes within a range of sizes."""

    low: int
    high: int | None
    records: int
    share: float


@dataclass(frozen=True)
class Threshold:
    """A class size required in practice, its source, and the records below it."""

    k: int
    highest: float
    met: bool
    violated: int
    share: float
    where: str
    source: str


@dataclass(frozen=True)
class RiskValue:
    """A risk with its value, or the reason why it was not measured."""

    name: str
    value: float | None
    summary: str
    reason: str = ""


@dataclass(frozen=True)
class Overview:
    """Equivalence classes, thresholds and risks of a table."""

    records: int
    counted: str
    """Unit of the counts: ``persons`` or ``records``."""
    columns: tuple[str, ...]
    classes: int
    unique: int
    smallest: int
    sizes: tuple[SizeBin, ...]
    thresholds: tuple[Threshold, ...]
    risks: tuple[RiskValue, ...]


@dataclass(frozen=True)
class Subset:
    """A set of quasi-identifiers and the share of records unique in it."""

    columns: tuple[str, ...]
    unique: float
    classes: int
    smallest: int


@dataclass(frozen=True)
class Contribution:
    """Contribution of a column: share of the SUDA scores, uniqueness alone, and added to all others."""

    name: str
    suda: float | None
    alone: float
    added: float | None
    """Share of records that are unique only with this column; None if not measured."""


@dataclass(frozen=True)
class ColumnRisks:
    """Uniqueness by sets of columns, and the contribution of every column."""

    subsets: tuple[Subset, ...]
    """Sets with the highest uniqueness; smaller sets first among equals."""
    measured: int
    largest: int
    """Size of the largest measured sets, apart from the set of all columns."""
    columns: tuple[Contribution, ...]
    suda_largest: int
    suda_reason: str = ""


@dataclass(frozen=True)
class Learned:
    """Values of an unknown column among the candidates."""

    name: str
    values: tuple[tuple[str, int], ...]
    others: int
    """Number of values that are not listed."""
    disclosed: bool
    """Whether only one value is possible."""


@dataclass(frozen=True)
class Candidates:
    """Records that match the knowledge of an intruder."""

    count: int
    counted: str
    chance: float
    of: int
    learned: tuple[Learned, ...]


@dataclass(frozen=True)
class LinkageResult:
    """Result of joining with an external file."""

    people: int
    on: tuple[str, ...]
    claimed: int
    ambiguous: int
    unmatched: int
    right: int | None
    """Correct claims; None without a key in both files."""
    value: float
    interval: tuple[float, float]
    baseline: float


def overview(table: Table) -> Overview:
    """Return class sizes, thresholds and basic risks.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30] * 5 + [31]}), celosia.Schema.of(quasi=["age"]))
    >>> measured = overview(table)
    >>> measured.unique, measured.smallest, [rule.violated for rule in measured.thresholds]
    (1, 1, [1, 1, 6, 6])
    """
    names = table.schema.need_quasi()
    facts = classes_of(table)
    advice = KAdvice().evidence(table)
    total = max(1, facts.records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assessed = assess_table(table, (), RISKS)
    return Overview(
        facts.records,
        _unit(table),
        names,
        facts.classes,
        facts.unique,
        advice["smallest"],
        tuple(
            SizeBin(low, high, records, records / total) for (low, high), records in zip(BINS, facts.sizes, strict=True)
        ),
        tuple(
            Threshold(
                rule["k"],
                rule["risk"],
                rule["met"],
                rule["violated"],
                rule["violated"] / total,
                rule["where"],
                rule["source"],
            )
            for rule in advice["thresholds"]
        ),
        (
            *(RiskValue(f.part.name, f.value, _summary(f.part), f.reason) for f in assessed.risks),
            RiskValue("uniqueness", Uniqueness().value(table), _summary(Uniqueness())),
        ),
    )


def column_risks(table: Table) -> ColumnRisks:
    """Return the uniqueness of sets of columns, and the contribution of each column.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["F", "F", "M", "M"], "zip": [1, 2, 1, 1]})
    >>> found = column_risks(celosia.read(data, celosia.Schema.of(quasi=["sex", "zip"])))
    >>> [(s.columns, s.unique) for s in found.subsets][:2], [c.name for c in found.columns]
    ([(('sex', 'zip'), 0.5), (('zip',), 0.25)], ['zip', 'sex'])
    """
    names = table.schema.need_quasi()
    largest = _largest(len(names))
    rows = Uniqueness(largest=largest).profile(table).to_dicts()
    subsets = [Subset(_split(row["columns"], names), row["unique"], row["classes"], row["smallest"]) for row in rows]
    everything = Uniqueness().value(table)
    without = {name: _unique_of(subsets, [n for n in names if n != name]) for name in names}
    suda, size, reason = _suda(table)
    columns = [
        Contribution(
            name,
            suda.get(name),
            _unique_of(subsets, [name]) or 0.0,
            None if (before := without[name]) is None else max(0.0, everything - before),
        )
        for name in names
    ]
    columns.sort(key=lambda c: (-(c.suda or 0.0), -(c.added or 0.0), -c.alone))
    ranked = sorted(subsets, key=lambda s: (-s.unique, len(s.columns), -s.classes))
    return ColumnRisks(tuple(ranked[:LISTED]), len(subsets), largest, tuple(columns), size, reason)


def candidates(
    table: Table, facts: Mapping[str, str], excluded: Mapping[str, Sequence[str]] | None = None
) -> Candidates:
    """Return the records that match an intruder's knowledge, and what it reveals. Contains original values."""
    ruled_out = {name: list(values) for name, values in (excluded or {}).items()}
    threat = AttackerKnows(known=dict(facts), excluded=ruled_out)
    evidence = threat.evidence(table)
    learned = []
    if evidence["candidates"]:
        for name, values in threat.remaining_values(table).items():
            shown = tuple(list(values.items())[:LEARNED])
            learned.append(Learned(name, shown, max(0, len(values) - LEARNED), len(values) == 1))
    order = {name: i for i, name in enumerate((*table.schema.sensitive, *table.schema.quasi))}
    learned.sort(key=lambda each: (order.get(each.name, len(order)), each.name))
    return Candidates(evidence["candidates"], _unit(table), evidence["value"], table.classes.total, tuple(learned))


def link(table: Table, file: Path, key: str | None = None) -> LinkageResult:
    """Attack the table with an external file, joined on the shared quasi-identifiers."""
    from celosia.table import read

    external = read(file)
    on = [name for name in table.schema.need_quasi() if name in external.names and name != key]
    if not on:
        raise NotApplicable(
            "the file shares no quasi-identifier with the table: name its columns as the table does, "
            f"such as {', '.join(table.schema.quasi[:3])}."
        )
    attack = JoinAttack(external=str(file), on=on, key=key or None)
    evidence = attack.evidence(table, table)
    return LinkageResult(
        evidence["people"],
        tuple(on),
        evidence["claimed"],
        evidence["ambiguous"],
        evidence["unmatched"],
        evidence.get("right"),
        evidence["value"],
        (evidence["interval"][0], evidence["interval"][1]),
        evidence["baseline"],
    )


def key_columns(table: Table, columns: Sequence[str]) -> list[str]:
    """Return the identifiers and the person column among ``columns``: keys that reveal true matches."""
    named = [*table.schema.identifiers, *([table.schema.person] if table.schema.person else [])]
    return [name for name in named if name in columns]


def _summary(part: Part) -> str:
    return summary(part).replace("``", "")


def _unit(table: Table) -> str:
    return "persons" if table.schema.person else "records"


def _largest(columns: int) -> int:
    """Return the largest set size with at most ``MOST_SUBSETS`` sets of up to that size."""
    measured, size = 0, 0
    while size < columns and measured + comb(columns, size + 1) <= MOST_SUBSETS:
        size += 1
        measured += comb(columns, size)
    return max(1, size)


def _split(joined: str, names: Sequence[str]) -> tuple[str, ...]:
    """Split the joined name of a set of columns; names may contain commas."""
    columns: list[str] = []
    rest = joined
    for name in names:
        if rest == name:
            return (*columns, name)
        if rest.startswith(f"{name}, "):
            columns.append(name)
            rest = rest[len(name) + 2 :]
    return (*columns, rest)


def _unique_of(subsets: Sequence[Subset], names: Sequence[str]) -> float | None:
    wanted = tuple(names)
    return next((subset.unique for subset in subsets if subset.columns == wanted), None)


def _suda(table: Table) -> tuple[dict[str, float], int, str]:
    """Return the share of each column in the SUDA scores, the largest set size, and why SUDA does not apply."""
    size = min(SUDA_SIZE, len(table.schema.quasi))
    try:
        evidence = Suda(max_size=size).evidence(table)
    except NotApplicable as error:
        return {}, size, str(error)
    return dict(evidence["contribution"]), int(evidence["largest"]), ""


__all__ = [
    "Candidates",
    "ColumnRisks",
    "LinkageResult",
    "Overview",
    "candidates",
    "column_risks",
    "key_columns",
    "link",
    "overview",
]
