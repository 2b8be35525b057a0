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
from tests.reference.rows import Plain, Row


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


def _reach(columns: list[str], *tables: Plain) -> dict[str, float]:
    """The range of each column over some tables."""
    found = {}
    for name in columns:
        known = [v for table in tables for v in numbers(table, name) if v is not None]
        found[name] = max(known) - min(known) if known else 0.0
    return found


def _away(row: Row, other: Row, reach: dict[str, float]) -> float:
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
                reach = _reach(names, people, protected)
                away = [_away(row, other, reach) for other in protected.rows]
                near.append(away.index(min(away)))
            found.append(float(near[0] == near[1]))
        return found

    own = linked(original)
    others = None if control is None else over_persons(control, linked(control))
    return Found(_risk(over_persons(original, own), others), {"linked": own})


@reference
def membership(original: Plain, protected: Plain, columns: list[str], control: Plain) -> Found:
    """Persons nearer to the release than the median are called members."""
    reach = _reach(columns, protected)

    def near(people: Plain) -> list[float]:
        return [min(_away(row, other, reach) for other in protected.rows) / len(columns) for row in people.rows]

    members, others = person_means(original, near(original)), person_means(control, near(control))
    return Found(_advantage(members, others), {"distance": near(original)})


def _advantage(members: list[float], others: list[float]) -> float:
    middle = median([*members, *others])
    right = sum(1.0 if d < middle else 0.5 if d == middle else 0.0 for d in members)
    right += sum(1.0 if d > middle else 0.5 if d == middle else 0.0 for d in others)
    return max(0.0, 2 * right / (len(members) + len(others)) - 1)


@reference
def nearest_original(original: Plain, protected: Plain, columns: list[str], control: Plain) -> Found:
    """The share of released persons that are nearer to an original record than to one of the control."""
    reach = _reach(columns, original, control)

    def near(people: Plain) -> list[float]:
        return [min(_away(row, other, reach) for other in people.rows) / len(columns) for row in protected.rows]

    own, others = near(original), near(control)
    nearer = [1.0 if a < b else 0.5 if a == b else 0.0 for a, b in zip(own, others, strict=True)]
    alone = _reach(columns, original)
    distance = [min(_away(row, other, alone) for other in original.rows) / len(columns) for row in protected.rows]
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


# -- several releases ----------------------------------------------------------------------------------------------------


def _fits(known: Row, row: Row, columns: list[str]) -> bool:
    return all(row[name] == "*" or row[name] == known[name] for name in columns)


@reference
def composition(
    original: Plain,
    protected: Plain,
    earlier: list[Plain],
    known: list[str],
    columns: list[str] | None = None,
    k: int = 2,
) -> Found:
    """The records of each release that can be somebody's, without those that another release rules out."""
    releases = [protected, *earlier]
    if columns is None:  # what nobody changed: in these tables all but the numbers with noise and the cells with stars
        columns = [n for n in original.rows[0] if n not in {*known, original.person} and _kept(original, earlier[0], n)]
    risk, candidates, alone = [], [], []
    for i, person in enumerate(original.rows):
        sets = [[j for j, row in enumerate(r.rows) if _fits(person, row, known)] for r in releases]
        marked = [
            [tuple(r.rows[j][c] for c in columns) for j in found] for r, found in zip(releases, sets, strict=True)
        ]
        full = [set(m) for m in marked if m]
        common = set.intersection(*full) if full else set()
        left = [
            r.persons([j for j, m in zip(found, marks, strict=True) if m in common])
            for r, found, marks in zip(releases, sets, marked, strict=True)
            if found
        ]
        candidates.append(min(left, default=0))
        alone.append(min((r.persons(found) for r, found in zip(releases, sets, strict=True) if found), default=0))
        own = tuple(protected.rows[i][c] for c in columns)
        risk.append(float(0 < candidates[-1] < k and own in common))
    return Found(over_persons(original, risk), {"risk": risk, "candidates": candidates, "alone": alone})


def _kept(original: Plain, earlier: Plain, name: str) -> bool:
    values = {row[name] for row in original.rows}
    return fmean(row[name] is None or row[name] in values for row in earlier.rows) >= 0.9


@reference
def differencing(
    original: Plain, protected: Plain, earlier: list[Plain], known: list[str], columns: list[str], k: int = 2
) -> Found:
    """The persons of a cell with certain carried values that the newer release has more than the earlier one."""
    before = earlier[0]
    risk, added = [], []

    def counted(table: Plain, cell: tuple[Any, ...], mark: tuple[Any, ...] | None = None) -> int:
        rows = [i for i, row in enumerate(table.rows) if tuple(row[c] for c in known) == cell]
        return table.persons([i for i in rows if mark is None or tuple(table.rows[i][c] for c in columns) == mark])

    for row in protected.rows:
        cell, mark = tuple(row[c] for c in known), tuple(row[c] for c in columns)
        marks = {tuple(r[c] for c in columns) for r in protected.rows if tuple(r[c] for c in known) == cell}
        more = {m: max(0, counted(protected, cell, m) - counted(before, cell, m)) for m in marks}
        exposed = counted(before, cell) > 0 and 0 < sum(more.values()) < k and more[mark] > 0
        risk.append(more[mark] / counted(protected, cell, mark) if exposed else 0.0)
        added.append(sum(more.values()) if exposed else 0)
    return Found(over_persons(original, risk), {"risk": risk, "surplus": added})


@reference
def averaging(
    original: Plain,
    protected: Plain,
    earlier: list[Plain],
    known: list[str],
    columns: list[str],
    tolerance: float = 0.05,
) -> Found:
    """The mean of a number over the releases where its record is the only one with its carried values."""
    before = earlier[0]

    def only(table: Plain, mark: tuple[Any, ...]) -> Row | None:
        rows = [row for row in table.rows if tuple(row[c] for c in columns) == mark]
        return rows[0] if len(rows) == 1 else None

    changed = [
        c
        for c in ("x", "y")
        if any(None not in (a[c], b[c]) and a[c] != b[c] for a, b in zip(original.rows, protected.rows, strict=True))
    ]
    risk = []
    for truth, shown in zip(original.rows, protected.rows, strict=True):
        mark = tuple(shown[c] for c in columns)
        other = only(before, mark) if only(protected, mark) is not None else None
        near = []
        for c in changed:
            reach = tolerance * pstdev([r[c] for r in original.rows if r[c] is not None])
            seen = [shown[c]] + ([other[c]] if other is not None and other[c] is not None else [])
            near.append(None not in (truth[c], shown[c]) and abs(fmean(seen) - truth[c]) <= reach)
        risk.append(fmean(near))
    return Found(over_persons(original, risk), {"risk": risk})


# -- sparse data ---------------------------------------------------------------------------------------------------------


@reference
def scoreboard(original: Plain, protected: Plain, items: list[str], eccentricity: float, drawn: Any, **_: Any) -> Found:
    """Everybody scored by the items that they share with what is known; the best one claimed if she stands out.

    What is known was drawn by the package: numbers of persons and items follow the order of their names.
    """

    def listed(table: Plain) -> list[tuple[Any, str, float | None]]:
        return [
            (original.who(i), *((f"{c}={row[c]}", None) if isinstance(row[c], str) else (c, row[c])))
            for i, row in enumerate(table.rows)
            for c in items
            if row[c] is not None
        ]

    held = listed(protected)
    names = sorted({item for table in (original, protected) for _, item, _ in listed(table)})
    everybody = sorted({who for who, _, _ in held})
    numbered = sorted({original.who(i) for i in range(len(original.rows))})
    risk: dict[Any, float] = {}
    stands: dict[Any, float] = {}
    for t, target in enumerate(drawn.target):
        scores = dict.fromkeys(everybody, 0.0)
        for at in range(drawn.begin[t], drawn.begin[t + 1]):
            item, value = names[drawn.item[at]], float(drawn.values[at, 0])
            holders = {who for who, name, _ in held if name == item}
            for who in holders:
                alike = [
                    1.0 if v is None or math.isnan(value) else math.exp(-abs(v - value) / 1.5)
                    for person, name, v in held
                    if (person, name) == (who, item)
                ]
                scores[who] += max(alike) / math.log(max(len(holders), 2))
        first, second = sorted(scores.values(), reverse=True)[:2]
        spread = pstdev(scores.values())
        own = numbered[target]
        stands[own] = (first - second) / spread if spread > 1e-9 else 0.0
        best = max(scores, key=lambda who: scores[who])
        risk[own] = float(stands[own] >= eccentricity and best == own)
    who = [original.who(i) for i in range(len(original.rows))]
    return Found(
        fmean(risk.values()), {"risk": [risk.get(w) for w in who], "eccentricity": [stands.get(w) for w in who]}
    )


# -- anatomy -------------------------------------------------------------------------------------------------------------


@reference
def definetti(original: Plain, protected: Plain, target: str, group: str, columns: list[str], **_: Any) -> Found:
    """Weights of records and values: learnt by counting, fitted to the counts of the groups, learnt again."""
    n = len(original.rows)
    truth = [row[target] for row in original.rows]
    groups = [row[group] for row in protected.rows]
    members = {g: [i for i in range(n) if groups[i] == g] for g in groups}
    counts = {g: {s: sum(truth[i] == s for i in m) for s in {truth[i] for i in m}} for g, m in members.items()}
    shares = [{s: c / len(members[g]) for s, c in counts[g].items()} for g in groups]
    weights = [dict(found) for found in shares]
    features = [[row[c] for row in protected.rows] for c in columns]
    for _ in range(30):
        total = {s: sum(w.get(s, 0.0) for w in weights) for s in set(truth)}
        fresh = []
        for i in range(n):
            likely = {}
            for s in weights[i]:
                likely[s] = total[s]
                for column in features:
                    seen = sum(weights[j].get(s, 0.0) for j in range(n) if column[j] == column[i])
                    likely[s] *= (1 + seen) / (len(set(column)) + total[s])
            fresh.append({s: v / max(likely.values()) for s, v in likely.items()})
        weights = fresh
        for _ in range(20):
            for g, m in members.items():
                for s, c in counts[g].items():
                    whole = sum(weights[i][s] for i in m)
                    for i in m:
                        weights[i][s] *= c / whole
            for w in weights:
                whole = sum(w.values())
                for s in w:
                    w[s] /= whole
    risk = []
    for i in range(n):
        tied = [s for s, v in weights[i].items() if v >= max(weights[i].values()) - 1e-9]
        risk.append((truth[i] in tied) / len(tied))
    return Found(over_persons(original, risk), {"risk": risk})


@reference
def attribute_disclosure(
    original: Plain,
    protected: Plain,
    known: list[str],
    target: list[str],
    tolerance: float,
    learner: str = "nearest",
    control: Plain | None = None,
) -> Found:
    """The values of the released record that is nearest in one known number, or of a straight line through all."""
    (name,) = known
    x = [row[name] for row in protected.rows]

    def predicted(value: float, wanted: str) -> Any:
        y = [row[wanted] for row in protected.rows]
        if learner == "nearest":
            return y[min(range(len(x)), key=lambda j: abs(x[j] - value))]
        slope = sum((a - fmean(x)) * (b - fmean(y)) for a, b in zip(x, y, strict=True)) / sum(
            (a - fmean(x)) ** 2 for a in x
        )
        return fmean(y) + slope * (value - fmean(x))

    def right(row: Row) -> float:
        hits = []
        for wanted in target:
            guess = predicted(row[name], wanted)
            if isinstance(guess, str):
                hits.append(guess == row[wanted])
            else:
                hits.append(abs(guess - row[wanted]) <= tolerance * pstdev([r[wanted] for r in protected.rows]))
        return fmean(hits)

    risk = [right(row) for row in original.rows]
    rate = over_persons(original, risk)
    if control is None:
        return Found(rate, {"risk": risk})
    other = over_persons(control, [right(row) for row in control.rows])
    return Found(max(0.0, (rate - other) / (1 - other)), {"risk": risk})


@reference
def degree_inversion(
    original: Plain, protected: Plain, column: str, degrees: list[str], tolerance: float, chosen: list[bool], **_: Any
) -> Found:
    """The mean number of the three known records with the same label (then of others) and the nearest degrees."""
    reach = tolerance * pstdev([row[column] for row in original.rows])
    labels = sorted({row[column] for row in protected.rows})
    risk = []
    for i, row in enumerate(original.rows):
        if chosen[i]:
            risk.append(0.0)
            continue

        def away(j: int, i: int = i) -> float:
            mine, other = protected.rows[i], protected.rows[j]
            apart = 10 * (labels.index(mine[column]) - labels.index(other[column]))
            return math.hypot(apart, *(mine[d] - other[d] for d in degrees))

        near = sorted((j for j in range(len(chosen)) if chosen[j]), key=away)[:3]
        risk.append(float(abs(fmean(original.rows[j][column] for j in near) - row[column]) <= reach))
    return Found(over_persons(original, risk), {"risk": risk})


@reference
def density_membership(
    original: Plain, protected: Plain, columns: list[str], neighbours: int, control: Plain, chosen: Any
) -> Found:
    """Members by the distance to the release over that to half of the control; who is tried was drawn by the package."""
    reach = _reach(columns, protected)
    used, unused, population = ([int(i) for i in rows] for rows in chosen)

    def kth(row: Row, others: Sequence[Row]) -> float:
        return sorted(_away(row, other, reach) for other in others)[neighbours - 1]

    def ratio(row: Row) -> float:
        return (kth(row, protected.rows) + 1e-12) / (kth(row, [control.rows[i] for i in population]) + 1e-12)

    def means(table: Plain, rows: list[int]) -> list[float]:
        return person_means(table, [ratio(row) if i in rows else None for i, row in enumerate(table.rows)])

    return Found(
        _advantage(means(original, used), means(control, unused)), {"ratio": [ratio(row) for row in original.rows]}
    )


@reference
def minimality(original: Plain, protected: Plain, target: str, worlds: list[list[Any]], **_: Any) -> Found:
    """Worlds in which a class of both columns has one value only: with them the finer level had failed."""
    n = len(original.rows)
    finer = [(row["c"], row["p"]) for row in original.rows]
    kept = [w for w in worlds if any(len({w[j] for j in range(n) if finer[j] == cell}) < 2 for cell in finer)]
    truth = [row[target] for row in original.rows]
    risk = []
    for i, row in enumerate(protected.rows):
        mates = [truth[j] for j in range(n) if protected.rows[j]["c"] == row["c"]]
        alike = [j for j in range(n) if finer[j] == finer[i]]
        said = {v: mates.count(v) / len(mates) + fmean(sum(w[j] == v for w in kept) for j in alike) for v in set(truth)}
        tied = [value for value, often in said.items() if often >= max(said.values()) - 1e-9]
        risk.append((truth[i] in tied) / len(tied))
    return Found(over_persons(original, risk), {"risk": risk})


# -- rows that belong together -------------------------------------------------------------------------------------------


@reference
def several_rows(original: Plain, protected: Plain, drawn: list[list[int]], **_: Any) -> Found:
    """Persons who have a row in each class of the rows that are known; the rows were drawn by the package."""
    owned: dict[Any, set[Any]] = {}
    for i, row in enumerate(protected.rows):
        owned.setdefault(original.who(i), set()).add((row["c"], row["p"]))
    chance = {}
    for rows in drawn:
        seen = {(protected.rows[i]["c"], protected.rows[i]["p"]) for i in rows}
        chance[original.who(rows[0])] = 1 / sum(seen <= classes for classes in owned.values())
    return Found(fmean(chance.values()), {"risk": [chance.get(original.who(i)) for i in range(len(original.rows))]})


@reference
def blanked_cells(original: Plain, protected: Plain, method: dict[str, Any], columns: list[str] | None = None) -> Found:
    """The most frequent value that k - 1 records with the same other shown cells do not have."""
    quasi = ["c", "p", "name"]
    risk = []
    for truth, row in zip(original.rows, protected.rows, strict=True):
        hits = []
        for name in columns or quasi:
            if row[name] is not None or truth[name] is None:
                continue
            values = sorted({r[name] for r in original.rows if r[name] is not None})
            often = {v: sum(r[name] == v for r in protected.rows) for v in values}
            others = [c for c in quasi if c != name and row[c] is not None]
            mates = [r for r in protected.rows if all(r[c] == row[c] for c in others)]
            ranked = sorted(values, key=lambda v: -often[v])
            free = [v for v in ranked if sum(r[name] == v for r in mates) < method["k"] - 1]
            hits.append((free or ranked)[0] == truth[name])
        risk.append(fmean(hits) if hits else 0.0)
    return Found(over_persons(original, risk), {"risk": risk})
