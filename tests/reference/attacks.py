"""Every attack by loops over plain rows: record i of the protected table is record i of the original.

Persons: a right link goes to any record of the same person, and a share is over persons, each with the mean of her
records. Predicates and the samples of learners are drawn by the package's own generators; what they find is counted here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from statistics import fmean, median, pstdev, stdev
from typing import Any

import numpy as np
from tests.reference.risks import Found, reference

from celosia.checker.rows import Plain, Row


def person_means(table: Plain, values: Sequence[float | None]) -> list[float]:
    """The mean of each person's records; records without a value do not count."""
    own: dict[Any, list[float]] = {}
    for i, value in enumerate(values):
        if value is not None:
            own.setdefault(table.who(i), []).append(value)
    return [fmean(found) for found in own.values()]


def over_persons(table: Plain, values: Sequence[float | None]) -> float:
    """The mean over persons of the mean of their records."""
    return fmean(person_means(table, values))


def numbers(table: Plain, name: str) -> list[float | None]:
    """A column."""
    return [None if row[name] is None else float(row[name]) for row in table.rows]


# -- linkage -------------------------------------------------------------------------------------------------------------


def _filled(values: list[float | None]) -> list[float]:
    known = [v for v in values if v is not None]
    return [fmean(known) if v is None else v for v in values]


def _credit(table: Plain, scores: list[list[float]], tolerance: float) -> list[float]:
    """For each record the share of the lowest-scoring records that are the same person's."""
    found = []
    for i, row in enumerate(scores):
        tied = [j for j, score in enumerate(row) if score <= min(row) + tolerance]
        found.append(sum(table.who(i) == table.who(j) for j in tied) / len(tied))
    return found


@reference
def distance_linkage(original: Plain, protected: Plain, columns: list[str], scale: str = "sd") -> Found:
    """The nearest record in standard deviations of the original, or by Gower's distance."""
    n = len(original.rows)
    total = [[0.0] * n for _ in range(n)]
    for name in columns:
        a, b = ([row[name] for row in table.rows] for table in (original, protected))
        if scale == "gower":
            known = [float(v) for v in (*a, *b) if isinstance(v, float)]
            reach = (max(known) - min(known)) if known else 0.0
            for i, j in product(range(n), range(n)):
                total[i][j] += _gower(a[i], b[j], reach)
            continue
        x, y = _filled(a), _filled(b)
        spread = pstdev(x)
        for i, j in product(range(n), range(n)):
            total[i][j] += ((x[i] - y[j]) / spread) ** 2 if spread else 0.0
    away = total if scale == "gower" else [[math.sqrt(d) for d in row] for row in total]
    credit = _credit(original, away, 1e-9)
    return Found(over_persons(original, credit), {"risk": credit, "distance": [min(row) for row in away]})


def _gower(a: Any, b: Any, reach: float) -> float:
    if a is None or b is None:
        return float(a is not b)
    if isinstance(a, float):
        return abs(a - b) / reach if reach else 0.0
    return float(a != b)


@reference
def probabilistic_linkage(original: Plain, protected: Plain, columns: list[str], tolerance: float = 0.1) -> Found:
    """Fellegi and Sunter: agreement of all pairs, EM for what an agreement tells, the best-scoring record."""
    n, k = len(original.rows), len(columns)
    spread = {name: _spread(original, name) for name in columns}
    agree = [
        [
            tuple(_agrees(original.rows[i][c], protected.rows[j][c], tolerance * spread[c]) for c in columns)
            for j in range(n)
        ]
        for i in range(n)
    ]
    pairs = [pattern for row in agree for pattern in row]
    edge = 1e-9

    def kept(x: float, least: float = edge) -> float:
        return min(max(x, least), 1 - least)

    m = [0.9] * k
    u = [kept(fmean(pattern[c] for pattern in pairs)) for c in range(k)]
    p = 1 / n
    for _ in range(1000):
        match = [p * math.prod(m[c] if g[c] else 1 - m[c] for c in range(k)) for g in pairs]
        other = [(1 - p) * math.prod(u[c] if g[c] else 1 - u[c] for c in range(k)) for g in pairs]
        weight = [a / (a + b) for a, b in zip(match, other, strict=True)]
        matches = sum(weight)
        new_m = [kept(sum(w for w, g in zip(weight, pairs, strict=True) if g[c]) / matches) for c in range(k)]
        new_u = [
            kept(sum(1 - w for w, g in zip(weight, pairs, strict=True) if g[c]) / (len(pairs) - matches))
            for c in range(k)
        ]
        new_p = kept(matches / len(pairs), 1e-12)
        moved = max([abs(new_p - p), *(abs(a - b) for a, b in zip(new_m + new_u, m + u, strict=True))])
        m, u, p = new_m, new_u, new_p
        if moved < 1e-9:
            break

    def score(pattern: tuple[bool, ...]) -> float:
        told = (m[c] / u[c] if g else (1 - m[c]) / (1 - u[c]) for c, g in enumerate(pattern))
        return sum(math.log2(x) for x in told)

    credit = _credit(original, [[-score(pattern) for pattern in row] for row in agree], 1e-9)
    return Found(over_persons(original, credit), {"risk": credit})


def _spread(table: Plain, name: str) -> float:
    values = [row[name] for row in table.rows if isinstance(row[name], float)]
    return pstdev(values) if values else 0.0


def _agrees(a: Any, b: Any, reach: float) -> bool:
    if a is None or b is None:
        return False
    return abs(a - b) <= reach * (1 + 1e-12) if isinstance(a, float) else a == b


@reference
def interval_disclosure(
    original: Plain, protected: Plain, columns: list[str], window: str = "rank", k: float = 0.05
) -> Found:
    """Whether the original value lies in each of ten intervals around the protected one."""
    if window == "joint":
        return _joint(original, protected, columns, k)
    inside = [[0.0] * len(columns) for _ in original.rows]
    for c, name in enumerate(columns):
        x, y = numbers(original, name), numbers(protected, name)
        column = sorted(v for v in y if v is not None)
        both = [a for a, b in zip(x, y, strict=True) if a is not None and b is not None]
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            if a is None or b is None:
                continue
            for percent in range(1, 11):
                if window == "rank":
                    steps = int(percent / 200 * len(column) + 1e-9)
                    places = [at for at, v in enumerate(column) if v == b]
                    low = column[max(places[0] - steps, 0)]
                    high = column[min(places[-1] + steps, len(column) - 1)]
                else:
                    half = percent / 200 * (abs(b) if window == "relative" else pstdev(both))
                    low, high = b - half, b + half
                inside[i][c] += (low <= a <= high) / 10
    risk = [fmean(row) for row in inside]
    return Found(over_persons(original, risk), {"risk": risk})


def _joint(original: Plain, protected: Plain, columns: list[str], k: float) -> Found:
    risk = []
    for i in range(len(original.rows)):
        near = True
        for name in columns:
            a, b = original.rows[i][name], protected.rows[i][name]
            spread = stdev([v for v in numbers(protected, name) if v is not None])
            near &= a is None or b is None or abs(a - b) <= k * spread
        risk.append(float(near))
    return Found(over_persons(original, risk), {"risk": risk})


@reference
def disclosure_risk(original: Plain, protected: Plain, columns: list[str]) -> Found:
    """The better linkage, or the mean of it and interval disclosure where that is more."""
    linked = (distance_linkage(original, protected, columns), probabilistic_linkage(original, protected, columns))
    link = max(linked, key=lambda found: found.value)
    inside = interval_disclosure(original, protected, columns)
    if link.value >= inside.value:
        return Found(link.value, {"risk": link.records["risk"]})
    pairs = zip(link.records["risk"], inside.records["risk"], strict=True)
    return Found((link.value + inside.value) / 2, {"risk": [(a + b) / 2 for a, b in pairs]})


@reference
def classical_disclosure_risk(original: Plain, protected: Plain, columns: list[str]) -> Found:
    """A quarter of each linkage and half of interval disclosure."""
    near = distance_linkage(original, protected, columns)
    agree = probabilistic_linkage(original, protected, columns)
    inside = interval_disclosure(original, protected, columns)
    parts = {"dbrl": near, "prl": agree, "id": inside}
    weights = {"dbrl": 0.25, "prl": 0.25, "id": 0.5}
    risk = [sum(weights[p] * parts[p].records["risk"][i] for p in parts) for i in range(len(original.rows))]
    return Found(sum(weights[p] * parts[p].value for p in parts), {"risk": risk})


# -- what a release tells ------------------------------------------------------------------------------------------------


@reference
def inference_attack(
    original: Plain, protected: Plain, target: str, predictors: list[str], external: float = 0.1, seed: int = 0
) -> Found:
    """Persons are drawn; the target follows from the one predictor, which has two values: who saw both is right."""
    (predictor,) = predictors
    truth = [row[target] for row in original.rows]
    persons = sorted({original.rows[i][original.person] if original.person else i for i in range(len(truth))})
    known = max(2, round(external * len(persons)))
    rng = np.random.default_rng(seed)
    tried, right = [0] * len(truth), [0] * len(truth)
    order = rng.permutation(len(persons))
    for turn in range(5):
        if turn and turn % (len(persons) // known) == 0:
            order = rng.permutation(len(persons))
        block = order[(turn % (len(persons) // known)) * known :][:known]
        held = {persons[b] for b in block}
        inside = [(original.rows[i][original.person] if original.person else i) in held for i in range(len(truth))]
        seen = {row[predictor]: truth[i] for i, row in enumerate(protected.rows) if inside[i]}
        if len(set(seen.values())) > 1:
            rng.integers(2**31)  # the seed of the learner
        for i in range(len(truth)):
            if not inside[i]:
                tried[i] += 1
                guess = seen.get(protected.rows[i][predictor], next(iter(seen.values())))
                right[i] += guess == truth[i]
    risk = [r / t if t else None for r, t in zip(right, tried, strict=True)]
    return Found(over_persons(original, risk), {"risk": risk})


@reference
def join_attack(original: Plain, protected: Plain, external: list[Row], on: list[str], key: str) -> Found:
    """Persons of the release whose record fits an external one; right when hers is among them."""
    risk, best = [], [0.0] * len(protected.rows)
    joined = [0] * len(protected.rows)
    for person in external:
        fits = [j for j, row in enumerate(protected.rows) if all(row[c] == "*" or row[c] == person[c] for c in on)]
        own = [j for j in fits if original.rows[j][key] == person[key]]
        chance = 1 / original.persons(fits) if own else 0.0
        risk.append(chance)
        for j in fits:
            joined[j] += 1
        for j in own:
            best[j] = max(best[j], chance)
    return Found(fmean(risk), {"risk": best, "joined": joined})


# -- synthetic records ---------------------------------------------------------------------------------------------------


def reach_of(columns: list[str], *tables: Plain) -> dict[str, float]:
    """The range of each column over some tables."""
    found = {}
    for name in columns:
        known = [v for table in tables for v in numbers(table, name) if v is not None]
        found[name] = max(known) - min(known) if known else 0.0
    return found


def gower_away(row: Row, other: Row, reach: dict[str, float]) -> float:
    return sum(_gower(row[name], other[name], reach[name]) for name in reach)


def _risk(rate: float, control: float | None) -> float:
    if control is None:
        return rate
    return max(0.0, (rate - control) / (1 - control)) if control < 1 else 0.0


@reference
def linkability(
    original: Plain, protected: Plain, first: list[str], second: list[str], control: Plain | None = None
) -> Found:
    """Whether the released record nearest by some columns is the one nearest by the others."""

    def linked(people: Plain) -> list[float]:
        found = []
        for row in people.rows:
            near = []
            for names in (first, second):
                reach = reach_of(names, people, protected)
                away = [gower_away(row, other, reach) for other in protected.rows]
                near.append(away.index(min(away)))
            found.append(float(near[0] == near[1]))
        return found

    own = linked(original)
    others = None if control is None else over_persons(control, linked(control))
    return Found(_risk(over_persons(original, own), others), {"linked": own})


@reference
def membership(original: Plain, protected: Plain, columns: list[str], control: Plain) -> Found:
    """Persons nearer to the release than the median are called members."""
    reach = reach_of(columns, protected)

    def near(people: Plain) -> list[float]:
        return [min(gower_away(row, other, reach) for other in protected.rows) / len(columns) for row in people.rows]

    members, others = person_means(original, near(original)), person_means(control, near(control))
    return Found(advantage(members, others), {"distance": near(original)})


def advantage(members: list[float], others: list[float]) -> float:
    middle = median([*members, *others])
    right = sum(1.0 if d < middle else 0.5 if d == middle else 0.0 for d in members)
    right += sum(1.0 if d > middle else 0.5 if d == middle else 0.0 for d in others)
    return max(0.0, 2 * right / (len(members) + len(others)) - 1)


@reference
def nearest_original(original: Plain, protected: Plain, columns: list[str], control: Plain) -> Found:
    """The share of released persons that are nearer to an original record than to one of the control."""
    reach = reach_of(columns, original, control)

    def near(people: Plain) -> list[float]:
        return [min(gower_away(row, other, reach) for other in people.rows) / len(columns) for row in protected.rows]

    own, others = near(original), near(control)
    nearer = [1.0 if a < b else 0.5 if a == b else 0.0 for a, b in zip(own, others, strict=True)]
    alone = reach_of(columns, original)
    distance = [min(gower_away(row, other, alone) for other in original.rows) / len(columns) for row in protected.rows]
    return Found(max(0.0, 2 * over_persons(protected, nearer) - 1), {"distance": distance})


@reference
def copied_uniques(original: Plain, protected: Plain, columns: list[str], control: Plain | None = None) -> Found:
    """Released records that equal one that a single person has."""

    def copied(release: Plain) -> list[float]:
        found = []
        for row in release.rows:
            same = [i for i, own in enumerate(original.rows) if all(own[c] == row[c] for c in columns)]
            found.append(float(original.persons(same) == 1))
        return found

    own = copied(protected)
    others = None if control is None else over_persons(control, copied(control))
    return Found(_risk(over_persons(protected, own), others), {"copied": own})


@reference
def singling_out(
    original: Plain,
    protected: Plain,
    columns: list[str],
    predicates: Callable[[], list[Any]],
    control: Plain | None = None,
) -> Found:
    """Given predicates that are one person's in the release: those that are one person's in the original."""

    def fits(row: Row, predicate: Any) -> bool:
        for name, above, bound in predicate:
            value = row[name]
            if value is None or (value < bound if above else value > bound):
                return False
        return True

    def singled(table: Plain, predicate: Any) -> list[int]:
        hit = [i for i, row in enumerate(table.rows) if fits(row, predicate)]
        return hit if table.persons(hit) == 1 else []

    asked = predicates()
    assert asked
    assert all(singled(protected, predicate) for predicate in asked)
    hits = [0] * len(original.rows)
    for predicate in asked:
        for i in singled(original, predicate):
            hits[i] += 1
    rate = fmean(bool(singled(original, predicate)) for predicate in asked)
    others = None if control is None else fmean(bool(singled(control, predicate)) for predicate in asked)
    return Found(_risk(rate, others), {"singled_out": hits})


@reference
def bayesian_disclosure(
    original: Plain,
    protected: Plain,
    sets: dict[str, dict[str, str]] | None = None,
    prior: list[Row] | None = None,
    positive: float = 0.9,
    negative: float = 0.05,
) -> Found:
    """Bayes' rule for every person and value, by the formulas with one loop for each of their sums."""
    values = sorted({row["t"] for row in original.rows})
    keys = [(row["c"], row["p"]) for row in original.rows]

    def belief(key: Any) -> dict[str, float] | None:
        if prior is None:
            holders = {(original.who(i), row["t"]) for i, row in enumerate(original.rows) if keys[i] == key}
            found = {s: float(sum(value == s for _, value in holders)) for s in values}
        else:
            found = {s: sum(r["probability"] for r in prior if (r["c"], r["p"], r["t"]) == (*key, s)) for s in values}
        total = sum(found.values())
        return {s: found[s] / total for s in values} if total else None

    def degrees(i: int) -> dict[Any, float]:
        if not sets:
            return {(protected.rows[i]["c"], protected.rows[i]["p"]): 1.0}
        return {(name, keys[i][1]): _listed(text, keys[i][0]) for name, text in sets["c"].items()}

    mu = [degrees(i) for i in range(len(keys))]

    def count(cell: Any, s: str) -> float:
        best: dict[Any, float] = {}
        for i, row in enumerate(protected.rows):
            if row["t"] == s:
                best[original.who(i)] = max(best.get(original.who(i), 0.0), mu[i].get(cell, 0.0))
        return sum(best.values())

    def share(cell: Any, s: str) -> float:
        if prior is None:
            return count(cell, s) / (sum(count(cell, other) for other in values) or 1.0)
        weight = {v: sum(mu[i].get(cell, 0.0) * (belief(k) or {v: 0.0})[v] for i, k in enumerate(keys)) for v in values}
        return weight[s] / (sum(weight.values()) or 1.0)

    columns: dict[str, list[Any]] = {"prior": [], "posterior": [], "risk": []}
    for i, row in enumerate(original.rows):
        before, after = belief(keys[i]), None
        if before is not None:
            g = {}
            for s in values:
                f = sum(mu[i][cell] * share(cell, s) for cell in mu[i])
                g[s] = sum(mu[i][cell] * count(cell, s) for cell in mu[i]) * before[s] / f if f > 0 else 0.0
            after = {s: g[s] / sum(g.values()) for s in values} if sum(g.values()) > 0 else None
        own = None if after is None else after[row["t"]]
        columns["prior"].append(None if before is None else before[row["t"]])
        columns["posterior"].append(own)
        columns["risk"].append(float(own is not None and own >= positive > (before or {})[row["t"]]))
    return Found(over_persons(original, columns["risk"]), columns)


def _listed(text: str, value: str) -> float:
    """Degree of a value in a set that lists its members: {a, b:0.3}."""
    members = dict((*part.split(":"), "1")[:2] for part in text.strip("{}").replace(" ", "").split(","))
    return float(members.get(value, 0))
