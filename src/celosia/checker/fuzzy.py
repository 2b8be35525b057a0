"""Second implementation of the fuzzy models: cells combine labels, degrees are computed record by record."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from celosia.checker.closeness import distance
from celosia.checker.rows import Plain

Sets = Mapping[str, Mapping[str, str]]
Cell = tuple[Any, ...]
HAIR = 1e-9


def q_anonymity(
    table: Plain,
    q: int,
    sets: Sets,
    possibility: float = 0.5,
    aggregate: str = "mean",
    norm: str = "product",
    least_degree: float = 0.0,
    least_count: float = 0.0,
) -> tuple[float, bool]:
    """Largest Q for which the possibility that every cell has Q persons reaches the bound; 0 where none does."""
    cells = _judged_cells(table, sets, norm, least_degree, least_count)
    if not table.in_classes:
        return math.inf, True
    each = []
    for degrees in cells.values():
        best: dict[Any, float] = {}
        for i, degree in degrees.items():
            best[table.who(i)] = max(degree, best.get(table.who(i), 0.0))
        each.append(sorted(best.values(), reverse=True))
    value = 0
    for wanted in range(1, len(table.rows) + 1):
        curves = [_possible(degrees, wanted) for degrees in each]
        if each and _aggregate(curves, [sum(d) for d in each], aggregate) >= possibility - HAIR:
            value = wanted
    return value, value >= q


def _possible(degrees: list[float], wanted: int) -> float:
    """Possibility of at least ``wanted``: max over s of min(s-th largest degree, 1 - the next)."""
    padded = [1.0, *degrees, 0.0]
    return max((min(padded[s], 1 - padded[s + 1]) for s in range(wanted, len(degrees) + 1)), default=0.0)


def _aggregate(curves: list[float], sizes: list[float], aggregate: str) -> float:
    if aggregate == "min":
        return min(curves)
    if aggregate == "product":
        return math.prod(curves)
    if aggregate == "weighted":
        return sum(c * s for c, s in zip(curves, sizes, strict=True)) / sum(sizes)
    return sum(curves) / len(curves)


def fuzzy_l_diversity(
    table: Plain,
    l: float,
    sets: Sets,
    column: str | None = None,
    norm: str = "product",
    variant: str = "distinct",
    c: float = 3.0,
    *,
    least_degree: float = 0.0,
    least_count: float = 0.0,
) -> tuple[float, bool]:
    """Smallest diversity of a sensitive column in the cells to which a record belongs by one half or more."""
    diversities: list[float] = []
    for name in table.sensitive if column is None else (column,):
        for degrees in _judged_cells(table, sets, norm, least_degree, least_count).values():
            rows = [i for i, degree in degrees.items() if degree >= 0.5 - HAIR]
            if not rows:
                continue
            non_missing = [i for i in rows if table.rows[i][name] is not None]
            holders = table.counts(non_missing, name).values()
            if max(holders, default=0) == table.persons(non_missing) or len(holders) == 1:
                diversities.append(1)
            elif variant == "distinct":
                diversities.append(len(holders))
            else:
                filled = {i: degree for i, degree in degrees.items() if table.rows[i][name] is not None}
                diversities.append(min(_diversity(table, part, name, variant, c) for part in (degrees, filled)))
    value = min(diversities, default=math.inf)
    return value, value >= l - HAIR


def _diversity(table: Plain, degrees: Mapping[int, float], column: str, variant: str, c: float) -> float:
    """Entropy or recursive diversity of one cell by the sums of degrees; a person counts once per value."""
    persons: dict[Any, float] = {}
    pairs: dict[Any, dict[Any, float]] = {}
    for i, degree in degrees.items():
        who, value = table.who(i), table.rows[i][column]
        persons[who] = max(degree, persons.get(who, 0.0))
        own = pairs.setdefault(value, {})
        own[who] = max(degree, own.get(who, 0.0))
    size = sum(persons.values())
    sizes = sorted((sum(own.values()) for own in pairs.values()), reverse=True)
    total = sum(sizes)
    if variant == "entropy":
        entropy = -sum(n / total * math.log(n / total) for n in sizes if n > 0)
        return min(math.exp(entropy), size / sizes[0] if total > size + HAIR else math.inf)
    fits = [place + 1 for place in range(len(sizes)) if sizes[0] < c * (size - sum(sizes[:place])) - HAIR]
    return max(1, *fits) if fits else 1


def fuzzy_t_closeness(
    table: Plain,
    t: float,
    sets: Sets,
    column: str | None = None,
    distance: str | Mapping[str, str] = "auto",
    aggregate: str = "max",
    least_degree: float = 0.0,
    least_count: float = 0.0,
) -> tuple[float, bool]:
    """Distance of the mixture of cells that describes a record; a person counts once per cell and value."""
    pick = max if aggregate == "max" else min
    distances = []
    cells = _judged_cells(table, sets, "product", least_degree, least_count)
    for name in table.sensitive if column is None else (column,):
        how = distance_of(table, name, distance)
        distances += [pick(_record_distances(table, cells, name, how), default=0.0)]
    value = max(distances, default=0.0)
    return value, value <= t + HAIR


def distance_of(table: Plain, column: str, stated: str | Mapping[str, str]) -> str:
    """Return the distance of a column: as stated for all or by column, else ordered for numbers, equal for others."""
    own = stated.get(column) if isinstance(stated, Mapping) else stated
    if own and own != "auto":
        return own
    non_missing = [value for value in table.baseline(column) if value is not None]
    return (
        "ordered"
        if non_missing and all(isinstance(value, int | float | Fraction) for value in non_missing)
        else "equal"
    )


def _record_distances(table: Plain, cells: Mapping[Cell, Mapping[int, float]], column: str, how: str) -> list[float]:
    inside = {cell: _cell_shares(table, degrees, column) for cell, degrees in cells.items()}
    q, prevalence = table.baseline(column), table.prevalence(column)
    result = []
    for i in table.in_classes:
        pairs: dict[Any, Fraction] = {}
        persons: dict[Any, Fraction] = {}
        own = {cell: Fraction(degrees[i]) for cell, degrees in cells.items() if i in degrees}
        if not own:
            continue  # the record is in negligible cells only
        whole = sum(own.values())
        for cell, degree in own.items():
            for value, (of_pairs, of_persons) in inside[cell].items():
                pairs[value] = pairs.get(value, Fraction(0)) + degree / whole * of_pairs
                persons[value] = persons.get(value, Fraction(0)) + degree / whole * of_persons
        non_missing = {*persons, *prevalence} - {None}
        nothing = Fraction(0)
        apart = [abs(persons.get(value, nothing) - prevalence.get(value, nothing)) for value in non_missing]
        several = sum(persons.values()) > 1 + HAIR or sum(prevalence.values()) > 1
        result.append(
            max(float(distance(table, column, pairs, q, how)), float(max(apart, default=nothing)) if several else 0.0)
        )
    return result


def _cell_shares(table: Plain, degrees: Mapping[int, float], column: str) -> dict[Any, tuple[Fraction, Fraction]]:
    """Share of each value among the pairs of a person and a value in a cell, and among its persons."""
    best: dict[Any, dict[Any, Fraction]] = {}
    for i, degree in degrees.items():
        people = best.setdefault(table.rows[i][column], {})
        people[table.who(i)] = max(Fraction(degree), people.get(table.who(i), Fraction(0)))
    sums = {value: sum(people.values(), Fraction(0)) for value, people in best.items()}
    whole = sum(sums.values(), Fraction(0))
    highest: dict[Any, Fraction] = {}
    for i, degree in degrees.items():
        highest[table.who(i)] = max(Fraction(degree), highest.get(table.who(i), Fraction(0)))
    size = sum(highest.values(), Fraction(0))
    return {value: (amount / whole, amount / size) for value, amount in sums.items()}


def _judged_cells(
    table: Plain, sets: Sets, norm: str, least_degree: float, least_count: float
) -> dict[Cell, dict[int, float]]:
    """Cells without the negligible ones."""
    return {
        cell: degrees
        for cell, degrees in _cells(table, sets, norm).items()
        if max(degrees.values()) >= least_degree - HAIR and sum(degrees.values()) >= least_count - HAIR
    }


def _cells(table: Plain, sets: Sets, norm: str) -> dict[Cell, dict[int, float]]:
    """Degree of membership of records in classes, for every cell that has some."""
    degrees_of: dict[Cell, dict[int, float]] = {}
    for i in table.in_classes:
        each = [_degrees(table.rows[i][name], sets.get(name)) for name in table.quasi]
        for combination in itertools.product(*(d.items() for d in each)):
            numbers = [degree for _, degree in combination]
            degree = math.prod(numbers) if norm == "product" else min(numbers)
            if degree > 0:
                degrees_of.setdefault(tuple(label for label, _ in combination), {})[i] = degree
    return degrees_of


def _degrees(value: str | float | None, sets: Mapping[str, str] | None) -> dict[Any, float]:
    """Degree of a value in each label of its column; a value of a column without sets is its own label."""
    if value is None or sets is None:
        return {("value", value): 1.0}
    if value in sets or value == "*":
        return {value: 1.0}  # a label already, as a recoded table shows it
    return {label: membership(literal, value) for label, literal in sets.items()}


def membership(literal: str, value: str | float) -> float:
    """Degree of a value in ``(a;b;c)``, ``(-inf;b;c)``, ``(a;b;inf)``, ``(a;b;c;d)``, ``{v, w}`` or ``{v:0.5, w}``."""
    if literal.startswith("{"):
        return max(_degree_in_list(member.strip(), value) for member in literal.strip("{}").split(","))
    x = float(value)
    points = [float(part) for part in literal.strip("()").split(";")]
    if len(points) == 3 and points[0] == -math.inf:
        points = [-math.inf, -math.inf, points[1], points[2]]
    elif len(points) == 3 and points[2] == math.inf:
        points = [points[0], points[1], math.inf, math.inf]
    elif len(points) == 3:
        points = [points[0], points[1], points[1], points[2]]
    a, b, c, d = points
    if b <= x <= c:
        return 1.0
    if x <= a or x >= d:
        return 0.0
    return (x - a) / (b - a) if x < b else (d - x) / (d - c)


def _degree_in_list(member: str, value: str | float) -> float:
    """Degree of a value by one member of a listed set: ``v`` or ``v:0.5``."""
    name, colon, degree = member.rpartition(":")
    if not colon or not re.fullmatch(r"0?\.\d+|0|1(\.0*)?", degree.strip()):
        name, degree = member, "1"
    try:
        same = name.strip() == str(value) if isinstance(value, str) else float(name) == float(value)
    except ValueError:
        same = False
    return float(degree) if same else 0.0
