"""Explain the risk of one record: attacks that reach it, columns they need, and the cheapest change that protects it.

For the data owner only. Nothing here is logged or written into a release; cell values are shown only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import NotApplicable, ParameterError
from celosia.parts import Threat, attacks_reading, build
from celosia.show.blocks import Block, Shown
from celosia.table.columns import encoded_column
from celosia.table.pairing import counterparts, shared_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


@dataclass(frozen=True)
class Reach:
    """Chance of one attack to identify a record."""

    attack: str
    chance: float
    through: tuple[tuple[str, ...], ...] = ()
    """Smallest sets of columns that are enough; empty if the attack does not use single columns."""
    learns: tuple[str, ...] = ()
    """Sensitive columns whose value the intruder then learns."""


@dataclass(frozen=True, eq=False)
class Explanation(Shown):
    """Attacks that reach one record, and the cheapest change that protects it."""

    record: int
    limit: float
    reached: tuple[Reach, ...]
    missed: tuple[Reach, ...]
    """Attacks whose chance is below the limit."""
    blank: tuple[str, ...] | None
    """Cheapest cells to blank so that no attack by columns reaches the record; None if three are not enough."""
    cost: float
    """Information in these cells, in bits."""
    together: Mapping[str, int] = field(default_factory=dict)
    """Number of other records of the same person or household, if the release has that column."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Cells of the original record, only on request."""

    def blocks(self) -> list[Block]:
        """Blocks to display: headline, attacks, advice, values."""
        headline = (
            f"Record {self.record + 1}: {len(self.reached)} of {len(self.reached) + len(self.missed)} attacks reach it."
        )
        rows = [
            (
                reach.attack,
                f"{reach.chance:.1%}",
                " or ".join(" + ".join(names) for names in reach.through) or "—",
                ", ".join(reach.learns) or "—",
            )
            for reach in (*self.reached, *self.missed)
        ]
        blocks = [Block(headline), Block("Attacks", ("attack", "chance", "through", "learns"), rows)]
        if self.reached:
            blocks.append(Block(self.advice()))
        if self.together:
            others = ", ".join(f"{count} of the same {name}" for name, count in self.together.items())
            blocks.append(Block(f"Whoever finds it also has other records: {others}."))
        if self.values:
            blocks.append(Block("Values", ("column", "value"), [(k, str(v)) for k, v in self.values.items()]))
        return blocks

    def advice(self) -> str:
        """Sentence with the cheapest change."""
        if self.blank is None:
            return "Blanking three cells is not enough: suppress the record."
        if not self.blank:
            return "No column leads to it: change the method, or suppress the record."
        return f"Cheapest change: blank {' and '.join(self.blank)} of this record ({self.cost:.1f} bits)."

    def spec(self) -> dict[str, Any]:
        """Explanation as plain data; with cell values only on request."""
        reaches = [
            {"attack": r.attack, "chance": r.chance, "through": [list(s) for s in r.through], "learns": list(r.learns)}
            for r in (*self.reached, *self.missed)
        ]
        out = {"record": self.record, "limit": self.limit, "attacks": reaches, "reached": len(self.reached)}
        out |= {"blank": None if self.blank is None else list(self.blank), "bits": self.cost, "advice": self.advice()}
        return {**out, "together": dict(self.together), **({"values": dict(self.values)} if self.values else {})}


def explain_risk(
    original: Table,
    protected: Table,
    record: int,
    *,
    attacks: Sequence[Threat | str | Mapping[str, Any]] = (),
    limit: float = 0.2,
    values: bool = False,
) -> Explanation:
    """Explain the risk of one record of the original, by its position from 0.

    An attack reaches a record if its chance is at least ``limit``. The attacks are: the class of the record by the
    quasi-identifiers, the nearest protected record by the numbers, the attacks that know the methods of the protected
    table, and further ``attacks``. ``values`` adds the cells of the original record.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 30, 61], "zip": ["a", "a", "b", "b"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age", "zip"]))
    >>> found = explain_risk(table, table, 3, limit=0.6)
    >>> found.reached[0].through, found.blank
    ((('age',),), ('age',))
    """
    if not 0 <= record < len(original):
        raise ParameterError(f"explain-risk: record must be between 0 and {len(original) - 1}, got {record}.")
    row = int(counterparts(original, protected)[record])
    if row < 0 or (protected.schema.quasi and protected.counts.suppressed_mask[row]):
        return Explanation(record, limit, (), (), (), 0.0, values=_values(original, record) if values else {})
    routes = [
        route for route in (_by_class(original, protected, row), _by_numbers(original, protected, record, row)) if route
    ]
    reaches = []
    for name, chance, columns, learns in routes:
        whole = chance(frozenset(columns))
        sets = tuple(smallest_sets(chance, columns, limit)) if whole >= limit else ()
        reaches.append(Reach(name, whole, sets, learns if whole >= limit else ()))
    reaches += _measure_attacks(original, protected, record, [*_method_attacks(protected), *attacks])
    cost = _bits(protected, row, sorted({name for _, _, columns, _ in routes for name in columns}))
    blank = cheapest_blanking([(chance, columns) for _, chance, columns, _ in routes], cost, limit)
    return Explanation(
        record,
        limit,
        tuple(r for r in reaches if r.chance >= limit),
        tuple(r for r in reaches if r.chance < limit),
        blank,
        sum(cost[name] for name in blank or ()),
        _count_related(original, protected, record),
        _values(original, record) if values else {},
    )


Chance = Callable[[frozenset[str]], float]
"""Chance to identify a record by a set of columns."""
Route = tuple[str, Chance, list[str], tuple[str, ...]]


def _by_class(original: Table, protected: Table, row: int) -> Route | None:
    """One over the persons who share the cells of the record, and the sensitive columns in which they are equal."""
    from celosia.views.persons import released_persons

    names = list(protected.schema.quasi)
    if not names:
        return None
    person = released_persons(original, protected)
    shown = protected.classes.members
    same = {name: (codes := encoded_column(protected, name).codes) == codes[row] for name in names}

    def equal_records(columns: frozenset[str]) -> NDArray[np.bool_]:
        mask = shown.copy()
        for name in columns:
            mask &= same[name]
        return mask

    members = equal_records(frozenset(names))
    is_shared = len(np.unique(person[members])) > 1
    sensitive = [name for name in protected.schema.sensitive if is_shared and _has_one_value(protected, name, members)]

    def chance(columns: frozenset[str]) -> float:
        return 1 / max(len(np.unique(person[equal_records(columns)])), 1)

    return "prosecutor", chance, names, tuple(sensitive)


def _has_one_value(table: Table, name: str, mask: NDArray[np.bool_]) -> bool:
    codes = encoded_column(table, name).codes[mask]
    return bool(len(codes)) and bool((codes == codes[0]).all())


def _by_numbers(original: Table, protected: Table, record: int, row: int) -> Route | None:
    """Chance that the nearest protected record, in standard deviations, is the right one; ties share it."""
    from celosia.kernels.statistics.deviation import deviations, middles
    from celosia.views.persons import released_persons

    names = shared_numbers(original, protected)
    if not names:
        return None
    before, after = original.numeric(names), protected.numeric(names)
    middle = np.nan_to_num(middles(before))
    spread = deviations(np.where(np.isnan(before), middle, before))
    gap = np.where(np.isnan(after), middle, after) - np.where(np.isnan(before[record]), middle, before[record])
    squares = np.divide(gap, spread, out=np.zeros_like(gap), where=spread > 0) ** 2
    place = {name: j for j, name in enumerate(names)}
    person = released_persons(original, protected)

    def chance(columns: frozenset[str]) -> float:
        if not columns:
            return 1 / len(after)
        distance = np.sqrt(squares[:, [place[name] for name in sorted(columns)]].sum(axis=1))
        tied = distance <= distance.min() + 1e-9
        return float((person[tied] == person[row]).mean())

    return "distance-linkage", chance, names, ()


def _method_attacks(protected: Table) -> list[str]:
    """Attacks that use knowledge of the methods of the steps."""
    return list(dict.fromkeys(name for entry in protected.history for name in attacks_reading(entry["step"])))


def _measure_attacks(
    original: Table, protected: Table, record: int, attacks: Sequence[Threat | str | Mapping[str, Any]]
) -> list[Reach]:
    """Chances of attacks to identify the record, without those that do not apply or have no chance per record."""
    reaches = []
    for attack in attacks:
        threat: Any = build("risk or attack", attack)
        try:
            records = threat.records(original, protected) if threat.kind == "attack" else threat.records(protected)
        except NotApplicable:
            continue
        if "risk" in records.columns and len(records) == len(original) and records["risk"][record] is not None:
            reaches.append(Reach(threat.name, float(records["risk"][record])))
    return reaches


def _bits(protected: Table, row: int, names: Sequence[str]) -> dict[str, float]:
    """Information in each cell of the record, in bits: the rarer the value, the more."""
    codes = {name: encoded_column(protected, name).codes for name in names}
    return {name: float(-np.log2((code == code[row]).mean())) for name, code in codes.items()}


def _count_related(original: Table, protected: Table, record: int) -> dict[str, int]:
    """Count the other records of the same person or household, if the release has that column."""
    others_by = {}
    for what, name in (("person", original.schema.person), ("household", original.schema.household)):
        if name is not None and name in protected.names:
            codes = encoded_column(original, name).codes
            others = int((codes == codes[record]).sum()) - 1
            if others:
                others_by[what] = others
    return others_by


def _values(original: Table, record: int) -> dict[str, Any]:
    return original.polars().row(record, named=True)


# Smallest sets of columns that identify a record, and cheapest set of columns to blank.


LARGEST = 3
"""Columns in a set: there are too many larger sets to try."""


def smallest_sets(chance: Chance, columns: Sequence[str], limit: float) -> list[tuple[str, ...]]:
    """Smallest sets of columns by which the chance is at least ``limit``; all columns if no set of three is enough.

    >>> smallest_sets(lambda s: 1.0 if {"age", "zip"} <= s or "job" in s else 0.1, ["age", "zip", "job"], 0.5)
    [('job',), ('age', 'zip')]
    """
    smallest: list[tuple[str, ...]] = []
    for size in range(1, min(LARGEST, len(columns)) + 1):
        for chosen in combinations(columns, size):
            inside = any(set(smaller) <= set(chosen) for smaller in smallest)
            if not inside and chance(frozenset(chosen)) >= limit:
                smallest.append(chosen)
    if not smallest and chance(frozenset(columns)) >= limit:
        return [tuple(columns)]
    return smallest


def cheapest_blanking(
    chances: Sequence[tuple[Chance, Sequence[str]]], cost: Mapping[str, float], limit: float
) -> tuple[str, ...] | None:
    """Cheapest columns to blank so that every chance falls below ``limit``; None if three are not enough.

    Each chance comes with the columns that it uses. Of equally cheap sets the first in the order of columns is chosen.

    >>> chance = lambda s: 1.0 if {"age", "zip"} <= s else 0.1
    >>> cheapest_blanking([(chance, ["age", "zip"])], {"age": 3.0, "zip": 2.0}, 0.5)
    ('zip',)
    """
    columns = sorted(cost, key=lambda name: cost[name])
    sets = [chosen for size in range(min(LARGEST, len(columns)) + 1) for chosen in combinations(columns, size)]
    for chosen in sorted(sets, key=lambda each: sum(cost[name] for name in each)):
        if all(chance(frozenset(used) - set(chosen)) < limit for chance, used in chances):
            return chosen
    return None
