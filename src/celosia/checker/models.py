"""Second implementation of every model: slow, from its definition, over plain rows.

``MODELS`` maps each model to a function of the table and the parameters that returns the value and whether it holds.
Shares are fractions, so that a value exactly on its bound holds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from celosia.checker import closeness
from celosia.checker.fuzzy import distance_of, fuzzy_l_diversity, fuzzy_t_closeness, q_anonymity
from celosia.checker.rows import STAR, Plain, Row

Verdict = tuple[float, bool]
"""The measured value, and whether the requirement holds."""
HAIR = 1e-9
"""Tolerance of the comparison with a bound for values that are no fractions (logarithms)."""


def k_anonymity(table: Plain, k: int) -> Verdict:
    """Smallest frequency of a record."""
    value = min((frequency for frequency, _ in table.patterns()), default=math.inf)
    return value, value >= k


def k_map(
    table: Plain, k: int, size: int | None = None, alpha: float = 0.01, population: Sequence[Row] = ()
) -> Verdict:
    """Fewest people of the population that a class could be: counted, or the largest accepted k."""
    if size is None:
        value = min((people for _, people in _people(table, population)), default=math.inf)
    else:
        fraction = Fraction(table.total(), size)
        value = min((_largest_accepted_k(n, fraction, alpha) for n, _ in table.patterns()), default=math.inf)
    return value, value >= k


def _largest_accepted_k(size: int, fraction: Fraction, alpha: float) -> int:
    """Largest k for which a class of this size is large enough."""
    k = 1
    while size >= min(k + 1, _poisson_limit(float((k + 1) * fraction), alpha) + 2):
        k += 1
    return k


def _poisson_limit(mean: float, alpha: float) -> int:
    """Smallest c with P[Poisson(mean) <= c] >= 1 - alpha."""
    c, chance, below = 0, math.exp(-mean), math.exp(-mean)
    while below < 1 - alpha:
        c += 1
        chance *= mean / c
        below += chance
    return c


def delta_presence(table: Plain, highest: float, population: Sequence[Row], lowest: float = 0.0) -> Verdict:
    """Largest share of the people of a class that are in the table."""
    shares = [Fraction(size, people) for size, people in _people(table, population)]
    inside = sum(any(_fits(table, key, person) for key in table.classes()) for person in population)
    within = all(lowest <= float(share) <= highest for share in shares)
    return float(max(shares, default=0)), within and (lowest == 0 or inside == len(population))


def _people(table: Plain, population: Sequence[Row]) -> list[tuple[int, int]]:
    """For each class its persons, and the people of the population whose values its cells cover."""
    people = []
    for key, numbers in table.classes().items():
        people.append((table.persons(numbers), sum(_fits(table, key, person) for person in population)))
    return people


def _fits(table: Plain, key: Sequence[object], person: Row) -> bool:
    """Whether a person can be in a class."""
    return all(_covers(table, *cell, person) for cell in zip(table.quasi, key))  # noqa: B905


def _covers(table: Plain, column: str, cell: object, person: Row) -> bool:
    """Whether a cell is the raw value of a person or one of its labels; a star covers every value."""
    raw = person[column]
    if column in table.trees and raw is not None:
        return str(cell) in table.path(column, raw)
    return cell == STAR or str(cell) == str(raw)


def average_risk(table: Plain, risk: float, highest: float | None = None, share: float = 0.0) -> Verdict:
    """Mean of 1 / frequency over the records; the share of records above ``highest`` is bounded too."""
    patterns = table.patterns()
    records = sum(persons for _, persons in patterns)
    if not records:
        return 0.0, True
    mean = sum(Fraction(persons, frequency) for frequency, persons in patterns) / records
    above = 0
    if highest is not None:
        above = sum(n for f, n in patterns if Fraction(1, f) > Fraction(str(highest)))
    return float(mean), float(mean) <= risk and above <= Fraction(str(share)) * records


def sample_uniqueness(table: Plain, share: float) -> Verdict:
    """Share of unique records."""
    patterns = table.patterns()
    records = sum(persons for _, persons in patterns)
    value = Fraction(sum(n for f, n in patterns if f == 1), records) if records else Fraction(0)
    return float(value), float(value) <= share


def population_uniqueness(table: Plain, share: float, size: int, model: str = "dankar") -> Verdict:
    """Zayatz' estimator from binomial coefficients; the other estimators have no closed form."""
    assert model == "zayatz", "only the estimator of Zayatz has a closed form"
    sizes = [table.persons(numbers) for numbers in table.classes().values()]
    n, alone = sum(sizes), sizes.count(1)
    if not alone:
        return 0.0, True
    if n == size:
        return alone / size, alone / size <= share
    sampled_once = [Fraction(j * math.comb(size - j, n - 1), math.comb(size, n)) for j in sizes]  # one of j is sampled
    stays = alone * Fraction(math.comb(size - 1, n - 1), math.comb(size, n)) / sum(sampled_once)
    value = float(min(alone * stays * Fraction(size, n), Fraction(size)) / size)
    return value, value <= share + HAIR


def l_diversity(
    table: Plain,
    l: float,
    column: str | None = None,
    variant: str = "distinct",
    c: float = 3.0,
    estimator: str = "shannon",
    others: str = "ignore",
) -> Verdict:
    """Diversity of the least diverse class, over the sensitive columns."""
    diversities = []
    for name in _columns(table, column):
        seen = table
        if others == "quasi":
            seen = replace(table, quasi=(*table.quasi, *(s for s in table.sensitive if s != name)))
        for numbers in seen.classes().values():
            each = _counted(seen, numbers, name, variant)
            diversities += [
                _diversity(sorted(n.values(), reverse=True), size, variant, c, estimator) for n, size in each
            ]
    value = min(diversities, default=math.inf)
    return value, value >= l - HAIR


def _diversity(counts: list[int], persons: int, variant: str, c: float, estimator: str) -> float:
    """Diversity of the counts of a class; where its persons have several values, no more than they allow."""
    if variant == "distinct":
        return 1 if counts[0] == persons else len(counts)
    if variant == "recursive":
        return max(l for l in range(1, len(counts) + 1) if l == 1 or counts[0] < c * (persons - sum(counts[: l - 1])))
    n = sum(counts)
    most = persons / counts[0] if n > persons else math.inf
    if estimator == "shannon":
        return min(most, math.exp(-sum(k / n * math.log(k / n) for k in counts)))
    return min(most, float(len(counts)), math.exp(_grassberger(n) - sum(k * _grassberger(k) for k in counts) / n))


def _grassberger(n: int) -> float:
    """G(n) = ψ(n) + ½ (-1)^n (ψ((n + 1)/2) - ψ(n/2)), the digamma function from its recurrence."""
    sign = -1.0 if n % 2 else 1.0
    return _digamma(n) + 0.5 * sign * (_digamma((n + 1) / 2) - _digamma(n / 2))


def _digamma(x: float) -> float:
    start = -0.5772156649015329 if x == int(x) else -0.5772156649015329 - 2 * math.log(2)
    at = 1.0 if x == int(x) else 0.5
    while at < x - 1e-9:
        start, at = start + 1 / at, at + 1
    return start


def alpha_k(table: Plain, alpha: float, k: int = 2, column: str | None = None) -> Verdict:
    """Largest share of a value in a class; every class must have at least k persons."""
    largest = [
        Fraction(max(counted.values()), persons)
        for name in _columns(table, column)
        for numbers in table.classes().values()
        for counted, persons in table.counts_in_turn(numbers, name)
    ]
    large = all(table.persons(numbers) >= k for numbers in table.classes().values())
    value = max(largest, default=Fraction(0))
    return float(value), float(value) <= alpha and large


def t_closeness(
    table: Plain, t: float, column: str | None = None, distance: str = "equal", aggregate: str = "max"
) -> Verdict:
    """Distance of a class from the input table: the worst class of the worst column."""
    each = [
        max(_distance(table, numbers, name, distance) for name in _columns(table, column))
        for numbers in table.classes().values()
    ]
    pick = max if aggregate == "max" else min
    value = pick(each, default=Fraction(0))
    return float(value), float(value) <= t + 1e-12


def _distance(table: Plain, numbers: Sequence[int], column: str, how: str) -> Fraction:
    """Distance of pairs of a person and a value; where persons have several, at least that of each known value."""
    how = distance_of(table, column, how)
    moved = closeness.distance(table, column, table.shares(numbers, column), table.baseline(column), how)
    p, q = table.person_shares(numbers, column), table.prevalence(column)
    if sum(p.values()) == 1 and sum(q.values()) == 1:
        return moved
    non_missing = {*p, *q} - {None}
    return max(
        moved, *(abs(p.get(value, Fraction(0)) - q.get(value, Fraction(0))) for value in non_missing), Fraction(0)
    )


def beta_likeness(table: Plain, beta: float, column: str | None = None, enhanced: bool = False) -> Verdict:
    """Largest relative gain of a value in a class; infinite where the bound of the enhanced form is broken."""
    worst: float = 0.0
    for name in _columns(table, column):
        q = table.prevalence(name)
        for numbers in table.classes().values():
            for value, p in table.person_shares(numbers, name).items():
                gain = (p - q[value]) / q[value] if value in q else math.inf
                if enhanced and value in q and gain > -math.log(q[value]) + 1e-12:
                    gain = math.inf
                worst = max(worst, float(gain))
    return worst, worst <= beta + 1e-12


def delta_disclosure(table: Plain, delta: float, column: str | None = None) -> Verdict:
    """Largest absolute log2 ratio of shares, over the values present; the bound is strict."""
    worst = 0.0
    for name in _columns(table, column):
        q = table.prevalence(name)
        for numbers in table.classes().values():
            for value, p in table.person_shares(numbers, name).items():
                worst = max(worst, abs(math.log2(p / q[value])) if value in q else math.inf)
    return worst, worst < delta - 1e-12


def _columns(table: Plain, column: str | None) -> tuple[str, ...]:
    return table.sensitive if column is None else (column,)


def _worst(model: Callable[..., Verdict], *, smallest: bool) -> Callable[..., Verdict]:
    """Apply a model to every interpretation of a table: the worst value, and whether it holds in all of them."""

    @functools.wraps(model)
    def worst(table: Plain, **parameters: object) -> Verdict:
        verdicts = [model(each, **parameters) for each in table.readings()]
        pick = min if smallest else max
        return pick(value for value, _ in verdicts), all(holds for _, holds in verdicts)

    return worst


def _with_suppressed_class(
    model: Callable[..., Verdict], crisp: Callable[..., float], *, smallest: bool
) -> Callable[..., Verdict]:
    """Apply a fuzzy model; suppressed records that show a sensitive value are in no cell and form one crisp class."""

    @functools.wraps(model)
    def worst(table: Plain, **parameters: object) -> Verdict:
        readings = table.readings()
        bound = cast("float", next(parameters[name] for name in ("q", "l", "t") if name in parameters))
        verdicts = [model(each, **parameters) for each in readings if each.suppressed == table.suppressed]
        for each in (each for each in readings if each.suppressed != table.suppressed):
            hidden = sorted(table.suppressed - each.suppressed)
            value = float(crisp(each, hidden, **parameters))
            verdicts.append((value, value >= bound - HAIR if smallest else value <= bound + HAIR))
        pick = min if smallest else max
        return pick(value for value, _ in verdicts), all(holds for _, holds in verdicts)

    return worst


def _persons_of(table: Plain, rows: Sequence[int], **_: object) -> float:
    return table.persons(rows)


def _values_of(
    table: Plain,
    rows: Sequence[int],
    column: str | None = None,
    variant: str = "distinct",
    c: float = 3.0,
    **_: object,
) -> float:
    each = [counted for name in _columns(table, column) for counted in _counted(table, rows, name, variant)]
    return min(_diversity(sorted(n.values(), reverse=True), size, variant, c, "shannon") for n, size in each)


def _counted(
    table: Plain, rows: Sequence[int], column: str, variant: str
) -> Sequence[tuple[Mapping[object, int], int]]:
    """Return the counts of the values of some rows with and without missing values, which are no further value."""
    each = table.counts_in_turn(rows, column)
    return each[-1:] if variant == "distinct" else each


def _distance_of(
    table: Plain,
    rows: Sequence[int],
    column: str | None = None,
    distance: str | Mapping[str, str] = "auto",
    **_: object,
) -> float:
    columns = _columns(table, column)
    return max(float(_distance(table, rows, name, distance_of(table, name, distance))) for name in columns)


_DEFINITIONS: dict[str, Callable[..., Verdict]] = {
    "alpha-k": alpha_k,
    "average-risk": average_risk,
    "beta-likeness": beta_likeness,
    "delta-disclosure": delta_disclosure,
    "delta-presence": delta_presence,
    "fuzzy-l-diversity": fuzzy_l_diversity,
    "fuzzy-t-closeness": fuzzy_t_closeness,
    "k-anonymity": k_anonymity,
    "k-map": k_map,
    "l-diversity": l_diversity,
    "population-uniqueness": population_uniqueness,
    "q-anonymity": q_anonymity,
    "sample-uniqueness": sample_uniqueness,
    "t-closeness": t_closeness,
}
_LARGER_IS_SAFER = frozenset({"k-anonymity", "k-map", "l-diversity", "q-anonymity", "fuzzy-l-diversity"})
MODELS = {name: _worst(model, smallest=name in _LARGER_IS_SAFER) for name, model in _DEFINITIONS.items()}
MODELS |= {
    "q-anonymity": _with_suppressed_class(q_anonymity, _persons_of, smallest=True),
    "fuzzy-l-diversity": _with_suppressed_class(fuzzy_l_diversity, _values_of, smallest=True),
    "fuzzy-t-closeness": _with_suppressed_class(fuzzy_t_closeness, _distance_of, smallest=False),
}
"""Function of every model."""

_FITTED_SETS = dict.fromkeys(
    ("coding", "joint", "cells", "m", "starts", "rho", "tolerance", "stop", "max_iterations"),
    "fuzzy sets fitted to the data are not fitted again",
)
NOT_APPLIED: dict[str, dict[str, str]] = {
    "q-anonymity": _FITTED_SETS,
    "fuzzy-l-diversity": _FITTED_SETS | {"counting": "of the posterior belief, which is no part of the value"},
    "fuzzy-t-closeness": _FITTED_SETS
    | {
        "counting": "of the degrees of a class, for which no second way is written",
        "norm": "combines columns, for which no second way of mixtures is written",
    },
}
"""Parameters that no definition here applies, by model, with the reason: a claim that sets one is not checked."""
