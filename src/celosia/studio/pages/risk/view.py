"""What the page of the risk shows: class sizes, records at risk, the columns that make it, what an intruder finds.

Every number is one of the library's risks on the full data.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.errors import NotApplicable
from celosia.parts import summary
from celosia.release.measuring import assess
from celosia.release.report.facts import BINS, classes_of
from celosia.risk import AttackerKnows, JoinAttack, KAdvice, Suda, Uniqueness

if TYPE_CHECKING:
    from celosia.parts import Part
    from celosia.table import Table

MOST_SUBSETS = 260
"""Sets of columns that are looked at: all of eight columns, all up to three of eleven."""
LISTED = 12
SUDA_SIZE = 3
"""Sets of more columns than this add little to a SUDA score, and their number explodes."""
LEARNED = 6
"""Values of an unknown column that are listed, the most frequent first."""
RISKS = ("prosecutor", "marketer")


@dataclass(frozen=True)
class SizeBin:
    """The records whose class has a size between two numbers."""

    low: int
    high: int | None
    records: int
    share: float


@dataclass(frozen=True)
class Threshold:
    """A class size in use, where it comes from, and how many records miss it."""

    k: int
    highest: float
    met: bool
    violated: int
    share: float
    where: str
    source: str


@dataclass(frozen=True)
class Measured:
    """A risk with its value, or the reason why there is none."""

    name: str
    value: float | None
    summary: str
    reason: str = ""


@dataclass(frozen=True)
class Overview:
    """The classes of a table."""

    records: int
    counted: str
    """What is counted: ``persons`` or ``records``."""
    columns: tuple[str, ...]
    classes: int
    unique: int
    smallest: int
    sizes: tuple[SizeBin, ...]
    thresholds: tuple[Threshold, ...]
    risks: tuple[Measured, ...]


@dataclass(frozen=True)
class Subset:
    """Some quasi-identifiers, and how many records they single out."""

    columns: tuple[str, ...]
    unique: float
    classes: int
    smallest: int


@dataclass(frozen=True)
class Contribution:
    """How much a column adds: its share of the SUDA scores, alone, and by being added to all others."""

    name: str
    suda: float | None
    alone: float
    added: float | None
    """How many more records are unique with the column than with all others; None where that was not looked at."""


@dataclass(frozen=True)
class Makers:
    """Which columns make the risk."""

    subsets: tuple[Subset, ...]
    """The sets that single out most records, smallest first among equals."""
    looked: int
    largest: int
    """Sets of more columns were not looked at, but for the set of all."""
    columns: tuple[Contribution, ...]
    suda_largest: int
    suda_reason: str = ""


@dataclass(frozen=True)
class Learned:
    """What is left of an unknown column among the candidates."""

    name: str
    values: tuple[tuple[str, int], ...]
    others: int
    """Values that are not listed."""
    disclosed: bool
    """Whether one value is left."""


@dataclass(frozen=True)
class Candidates:
    """Whom an intruder could mean."""

    count: int
    counted: str
    chance: float
    of: int
    learned: tuple[Learned, ...]


@dataclass(frozen=True)
class Linked:
    """What joining with another file finds."""

    people: int
    on: tuple[str, ...]
    claimed: int
    ambiguous: int
    unmatched: int
    right: int | None
    """Claims that are right, where a column of both files tells."""
    value: float
    interval: tuple[float, float]
    baseline: float


def overview(table: Table) -> Overview:
    """Class sizes, thresholds and the plain risks.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30] * 5 + [31]}), celosia.Schema.of(quasi=["age"]))
    >>> seen = overview(table)
    >>> seen.unique, seen.smallest, [rule.violated for rule in seen.thresholds]
    (1, 1, [1, 1, 6, 6])
    """
    names = table.schema.need_quasi()
    facts = classes_of(table)
    advice = KAdvice().evidence(table)
    total = max(1, facts.records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assessed = assess(table, (), RISKS)
    return Overview(
        facts.records,
        _counted(table),
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
            *(Measured(f.part.name, f.value, _summary(f.part), f.reason) for f in assessed.risks),
            Measured("uniqueness", Uniqueness().value(table), _summary(Uniqueness())),
        ),
    )


def makers(table: Table) -> Makers:
    """Which sets of columns single records out, and how much each column adds.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["F", "F", "M", "M"], "zip": [1, 2, 1, 1]})
    >>> found = makers(celosia.read(data, celosia.Schema.of(quasi=["sex", "zip"])))
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
    return Makers(tuple(ranked[:LISTED]), len(subsets), largest, tuple(columns), size, reason)


def candidates(
    table: Table, facts: Mapping[str, str], excluded: Mapping[str, Sequence[str]] | None = None
) -> Candidates:
    """Who fits what an intruder knows, and what the candidates have in common. Shows values: for who holds the data."""
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
    return Candidates(evidence["candidates"], _counted(table), evidence["value"], table.classes.total, tuple(learned))


def linked(table: Table, file: Path, key: str | None = None) -> Linked:
    """Whom somebody with another file finds in the table by the quasi-identifiers of both."""
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
    return Linked(
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


def keys_of(table: Table, columns: Sequence[str]) -> list[str]:
    """The columns that could tell which person of another file is which record: identifiers, the person column."""
    named = [*table.schema.identifiers, *([table.schema.person] if table.schema.person else [])]
    return [name for name in named if name in columns]


def _summary(part: Part) -> str:
    return summary(part).replace("``", "")


def _counted(table: Table) -> str:
    return "persons" if table.schema.person else "records"


def _largest(columns: int) -> int:
    """The largest size of sets of which not too many have to be looked at."""
    looked, size = 0, 0
    while size < columns and looked + comb(columns, size + 1) <= MOST_SUBSETS:
        size += 1
        looked += comb(columns, size)
    return max(1, size)


def _split(joined: str, names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a set that the profile names as one text; names may hold commas themselves."""
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
    """The share of each column in the SUDA scores, the largest sets that were looked for, or why there are none."""
    size = min(SUDA_SIZE, len(table.schema.quasi))
    try:
        evidence: dict[str, Any] = Suda(max_size=size).evidence(table)
    except NotApplicable as error:
        return {}, size, str(error)
    return dict(evidence["contribution"]), int(evidence["largest"]), ""


__all__ = ["Candidates", "Linked", "Makers", "Overview", "candidates", "keys_of", "linked", "makers", "overview"]
