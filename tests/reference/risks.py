"""Every risk of one table by loops over plain rows: the slow, obvious second way.

Persons: a frequency is a number of persons, and a mean is over persons. One whose rows have different quasi-identifiers
counts once with each of them; the rows that she has with the same ones share the weight of one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from celosia.checker.rows import STAR, Plain, Row


@dataclass(frozen=True)
class Found:
    """The number for the file, and columns that ``records`` must have."""

    value: float
    records: dict[str, list[Any]] = field(default_factory=dict)


REFERENCE: dict[str, Callable[..., Found]] = {}
"""The name of a risk → its slow second way: ``f(table, **parameters)``."""


def reference(function: Callable[..., Found]) -> Callable[..., Found]:
    """Register a function under the name of its risk."""
    REFERENCE[function.__name__.replace("_", "-")] = functools.partial(_highest, function)
    return function


def _highest(function: Callable[..., Found], table: Plain, *others: Plain, **given: Any) -> Found:
    """The highest value over the readings of a table; records as the table has them."""
    if others:  # an attack compares two tables, each under one reading
        return function(table, *others, **given)
    found = [function(each, **given) for each in table.readings()]
    return Found(max(each.value for each in found), found[0].records)


# -- persons, frequencies, means -----------------------------------------------------------------------------------------


def alike(table: Plain, i: int) -> list[int]:
    """The rows that the record could be, as the reading of missing values says."""
    found = [j for j in table.in_classes if table.compatible(i, j)]
    if table.missing_semantics == "conservative" and table.blanks(i) < len(table.quasi):
        found = [j for j in found if table.key(j) == table.key(i) or not table.blanks(j)]
    return found


def weighed(table: Plain, numbers: Iterable[int]) -> float:
    """The people of the population that these rows stand for: a person counts once, with the mean of her weights."""
    weights: dict[Any, list[float]] = {}
    for i in numbers:
        weights.setdefault(table.who(i), []).append(table.rows[i][table.weight])
    return sum(sum(own) / len(own) for own in weights.values())


def shares(table: Plain) -> list[float]:
    """What each row adds to a mean over persons: 1 over the rows that its person has with these quasi-identifiers."""
    units = [(table.who(i), table.key(i)) for i in table.in_classes]
    return [
        0.0 if i in table.suppressed else 1 / units.count((table.who(i), table.key(i))) for i in range(len(table.rows))
    ]


def mean(values: list[float], weights: list[float]) -> float:
    """A weighted mean; 0 of nothing."""
    whole = sum(weights)
    return sum(v * w for v, w in zip(values, weights, strict=True)) / whole if whole else 0.0


def each(table: Plain, function: Callable[[int], Any], suppressed: Any = 0) -> list[Any]:
    """Something of every row; a stated answer for suppressed ones."""
    return [suppressed if i in table.suppressed else function(i) for i in range(len(table.rows))]


def class_sizes(table: Plain) -> list[int]:
    """Persons of each class."""
    return [table.persons(numbers) for numbers in table.classes().values()]


# -- frequencies ---------------------------------------------------------------------------------------------------------


@reference
def prosecutor(table: Plain) -> Found:
    """1 over the frequency; the highest."""
    frequency = each(table, table.frequency)
    risk = [1 / f if f else 0.0 for f in frequency]
    return Found(max(risk, default=0.0), {"risk": risk, "frequency": frequency})


@reference
def uniqueness(table: Plain) -> Found:
    """The share of persons who are alone."""
    frequency = each(table, table.frequency)
    alone = [f == 1 for f in frequency]
    return Found(mean([float(a) for a in alone], shares(table)), {"unique": alone, "frequency": frequency})


@reference
def k_advice(table: Plain) -> Found:
    """The share of persons who are alone, and the largest usual threshold that each record meets."""
    frequency = each(table, table.frequency)
    meets = [max(k for k in (0, 3, 5, 11, 20) if k <= f) for f in frequency]
    alone = [float(f == 1) for f in frequency]
    return Found(mean(alone, shares(table)), {"frequency": frequency, "meets": meets})


def people(table: Plain, i: int, population: list[Row] | None, size: int | None) -> float:
    """People of the population that the record could be: counted, scaled up, or summed from the weights."""
    if population is not None:
        return float(len({who for n, row in enumerate(population) for who in _fits(table, i, row, n)}))
    if size is not None:
        return table.frequency(i) * size / table.total()
    return max(weighed(table, alike(table, i)), float(table.frequency(i)))


def _fits(table: Plain, i: int, row: Row, number: int) -> list[Any]:
    """The person of the population who has this row, when the record could be hers."""
    for name in table.quasi:
        cell = table.rows[i][name]
        if cell == STAR:  # a suppressed record can be anybody
            continue
        if not _equal(cell, row[name]) and not (cell is None and table.missing.get(name, "category") != "category"):
            return []
    return [row.get(table.person, number)]


def _equal(cell: Any, fact: Any) -> bool:
    """Whether a cell is this value; numbers are text beside the stars of suppressed records."""
    return cell == fact or (None not in (cell, fact) and str(cell) == str(fact))


@reference
def journalist(table: Plain, population: list[Row] | None = None, size: int | None = None) -> Found:
    """1 over the people of the population; the highest."""
    F = each(table, lambda i: people(table, i, population, size))
    risk = [1 / f if f else 0.0 for f in F]
    return Found(max(risk, default=0.0), {"risk": risk, "F": F})


@reference
def marketer(table: Plain, population: list[Row] | None = None, size: int | None = None) -> Found:
    """The mean over persons of 1 over the people of the population; the table itself when none is given."""
    own = population is None and size is None and table.weight is None
    F = each(table, lambda i: float(table.frequency(i)) if own else people(table, i, population, size))
    risk = [1 / f if f else 0.0 for f in F]
    return Found(mean(risk, shares(table)), {"risk": risk})


# -- samples -------------------------------------------------------------------------------------------------------------


def expected_inverse(f: float, F: float) -> float:
    """E[1/F | f] as a series for f up to 2, the usual approximation above."""
    F = max(f, F)
    p = f / F
    if f > 2:
        return p / (f - (1 - p))
    term = total = 1.0
    n = 0
    while term > 1e-18 * total:
        term *= (1 - p) * (n + 1) / (f + 1 + n)
        total += term
        n += 1
    return min(1.0, p / f * total)


def _individual(table: Plain, i: int, population: list[Row] | None) -> tuple[float, float, float]:
    f = float(table.frequency(i))
    if population is not None:
        F = people(table, i, population, None)
    else:
        F = f if table.weight is None else weighed(table, alike(table, i))
    return expected_inverse(f, F), f, F


@reference
def individual_risk(table: Plain, population: list[Row] | None = None) -> Found:
    """The mean over persons of E[1/F | f]."""
    found = each(table, lambda i: _individual(table, i, population), (0.0, 0.0, 0.0))
    risk, f, F = ([row[k] for row in found] for k in range(3))
    return Found(mean(risk, shares(table)), {"risk": risk, "f": f, "F": F})


@reference
def household_risk(table: Plain) -> Found:
    """1 less the product over the members of a household, each person once with her highest risk there."""
    risk = each(table, lambda i: _individual(table, i, None)[0])

    def house(i: int) -> Any:
        own = table.rows[i][table.household]
        return ("alone", table.who(i)) if own is None else ("house", own)

    found = []
    for i in range(len(table.rows)):
        highest: dict[Any, float] = {}
        for j in table.in_classes:
            if house(j) == house(i):
                highest[table.who(j)] = max(risk[j], highest.get(table.who(j), 0.0))
        found.append(0.0 if i in table.suppressed else 1 - math.prod(1 - r for r in highest.values()))
    units = [(table.who(i), house(i)) for i in table.in_classes]
    weights = each(table, lambda i: 1 / units.count((table.who(i), house(i))), 0.0)
    return Found(mean(found, weights), {"household": found, "risk": risk})


@reference
def population_uniques(table: Plain, size: int | None = None, model: str = "zayatz", seed: int = 0) -> Found:
    """Zayatz' estimator with binomial coefficients."""
    assert model == "zayatz"
    assert seed == 0
    sizes = class_sizes(table)
    n, N = sum(sizes), _population(table, size)
    uniques = sizes.count(1)
    if n == N:
        stays, share = 1.0, uniques / N
    elif uniques == 0:
        stays, share = 0.0, 0.0
    else:
        h = {j: j * math.comb(N - j, n - 1) / math.comb(N, n) for j in set(sizes)}
        stays = uniques * h[1] / sum(h[j] for j in sizes)
        share = min(uniques * stays * N / n, N) / N
    alone = each(table, lambda i: table.persons(table.classes()[table.key(i)]) == 1, suppressed=False)
    return Found(share, {"risk": [stays if a else 0.0 for a in alone], "unique": alone})


def _population(table: Plain, size: int | None) -> int:
    """People of the population; a person of the table who is in several classes stands for others like her."""
    n = sum(class_sizes(table))
    if size is not None:
        return round(size * n / table.persons(table.in_classes))
    return max(n, round(sum(weighed(table, numbers) for numbers in table.classes().values())))


@reference
def log_linear_risk(table: Plain, size: int | None = None, form: str = "independence") -> Found:
    """Right links to sample uniques when the quasi-identifiers are independent."""
    assert form == "independence"
    counts = {key: table.persons(numbers) for key, numbers in table.classes().items()}
    n = sum(counts.values())
    pi = min(1.0, n / _population(table, size))
    match, unique = {}, {}
    for key, f in counts.items():
        mu = n * math.prod(sum(c for k, c in counts.items() if k[j] == key[j]) / n for j in range(len(key)))
        x = (1 - pi) * mu / pi
        match[key] = 0.0 if f != 1 else (1 - math.exp(-x)) / x if x > 1e-12 else 1.0
        unique[key] = math.exp(-x) if f == 1 else 0.0
    risk, alone = (each(table, lambda i, own=own: own[table.key(i)]) for own in (match, unique))
    return Found(sum(match.values()) / n, {"risk": risk, "unique": alone})


# -- smaller tables ------------------------------------------------------------------------------------------------------


def _inside(table: Plain, i: int, names: tuple[str, ...]) -> list[int] | None:
    """The rows in the same cell of a smaller table; None when the record is in no cell: a value is missing."""
    for name in names:
        if table.rows[i][name] is None and table.missing.get(name, "category") != "category":
            return None
    return [j for j in table.in_classes if all(table.rows[i][name] == table.rows[j][name] for name in names)]


def _subsets(names: tuple[str, ...], largest: int) -> list[tuple[str, ...]]:
    return [s for size in range(1, min(largest, len(names)) + 1) for s in combinations(names, size)]


@reference
def unsafe_cells(table: Plain, k: int = 3, ways: int = 3) -> Found:
    """The share of persons in a cell of fewer than k persons, in some table of a few columns."""

    def unsafe(i: int) -> int:
        cells = [_inside(table, i, s) for s in _subsets(table.quasi, ways)]
        return sum(cell is not None and table.persons(cell) < k for cell in cells)

    found = each(table, unsafe)
    return Found(mean([float(u > 0) for u in found], shares(table)), {"unsafe": found})


@reference
def suda(table: Plain, sampling_fraction: float = 0.01) -> Found:
    """Sets of columns on which all rows like this one are the same person's, and none of whose parts is one."""
    m = len(table.quasi)

    def minimal(i: int) -> list[tuple[str, ...]]:
        cells = {s: _inside(table, i, s) for s in _subsets(table.quasi, m)}
        alone = [s for s, cell in cells.items() if cell is not None and table.persons(cell) == 1]
        return [s for s in alone if not any(set(t) < set(s) for t in alone)]

    sets = each(table, minimal, [])
    score = [float(sum(math.factorial(m - len(s)) for s in own)) for own in sets]
    power = 1 + (8 - m) / 20
    pairs = sum(2 for size in class_sizes(table) if size == 2)
    scored = {(table.who(i), table.key(i)): score[i] for i in table.in_classes if score[i] > 0}
    whole = sum(s**-power for s in scored.values())
    odds = pairs * (1 - sampling_fraction) / sampling_fraction
    dis = [1 / (1 + odds / (s**power * whole)) if s else 0.0 for s in score]
    return Found(
        mean(dis, shares(table)),
        {
            "score": score,
            "dis": dis,
            "sets": [len(own) for own in sets],
            "smallest": [min((len(s) for s in own), default=0) for own in sets],
        },
    )


# -- sensitive values ----------------------------------------------------------------------------------------------------


@reference
def homogeneity(table: Plain, share: float = 1.0) -> Found:
    """The share of persons in a class where one value is that of (nearly) all persons."""

    def discloses(i: int) -> bool:
        own = table.classes()[table.key(i)]
        return any(largest(own, c) >= share for c in table.sensitive)

    def largest(own: list[int], c: str) -> Fraction:
        known = [i for i in own if table.rows[i][c] not in (None, "*")]
        if not known:
            return Fraction(table.counts(own, c).get(None, 0), table.persons(own))
        return Fraction(max(table.counts(known, c).values()), table.persons(known))

    def facts(i: int) -> int:
        own = table.classes()[table.key(i)]
        values = [[value for value in table.counts(own, c) if value not in (None, "*")] for c in table.sensitive]
        shared = any(largest(own, c) == 1 for c in table.sensitive)
        return 0 if shared else min(max(len(each), 1) - 1 for each in values)

    found = each(table, discloses, suppressed=False)
    return Found(
        mean([float(d) for d in found], shares(table)),
        {"disclosed": found, "facts": each(table, facts, None)},
    )


@reference
def attacker_knows(
    table: Plain, known: dict[str, Any] | None = None, excluded: dict[str, list[Any]] | None = None
) -> Found:
    """1 over the persons who fit what is known; a missing cell fits when it stands for anything."""

    def fits(i: int) -> bool:
        row = table.rows[i]
        wild = {name for name in table.quasi if table.missing.get(name, "category") == "wildcard"}
        right = all(_equal(row[c], v) or (row[c] is None and c in wild) for c, v in (known or {}).items())
        return right and not any(row[c] in values for c, values in (excluded or {}).items())

    found = each(table, fits, suppressed=False)
    number = table.persons([i for i, fit in enumerate(found) if fit])
    chance = 1 / number if number else 0.0
    return Found(chance, {"candidate": found, "risk": [chance if fit else 0.0 for fit in found]})
