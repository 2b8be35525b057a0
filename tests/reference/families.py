"""Attacks on several releases, sparse data, anatomy, fuzzy codes and several rows, by loops over plain rows.

What is drawn at random was drawn by the package; what follows from it is counted here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from tests.reference.attacks import advantage, gower_away, over_persons, person_means, reach_of
from tests.reference.risks import Found, reference

from celosia.checker.rows import Plain, Row

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
    reach = reach_of(columns, protected)
    used, unused, population = ([int(i) for i in rows] for rows in chosen)

    def kth(row: Row, others: Sequence[Row]) -> float:
        return sorted(gower_away(row, other, reach) for other in others)[neighbours - 1]

    def ratio(row: Row) -> float:
        return (kth(row, protected.rows) + 1e-12) / (kth(row, [control.rows[i] for i in population]) + 1e-12)

    def means(table: Plain, rows: list[int]) -> list[float]:
        return person_means(table, [ratio(row) if i in rows else None for i, row in enumerate(table.rows)])

    return Found(
        advantage(means(original, used), means(control, unused)), {"ratio": [ratio(row) for row in original.rows]}
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
