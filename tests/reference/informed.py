"""Every attack of a reader of the certificate by loops over plain rows; ``method`` is the step as it was published."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean, median, pstdev
from typing import Any

import numpy as np
from tests.reference.attacks import numbers, over_persons
from tests.reference.risks import Found, reference

from celosia.checker.rows import Plain, Row


def links(table: Plain, costs: list[list[float]]) -> list[float]:
    """For each record the share of the possible records of the least cost that are the same person's."""
    found = []
    for i, row in enumerate(costs):
        tied = [j for j, cost in enumerate(row) if math.isfinite(cost) and cost <= min(row) + 1e-9]
        found.append(sum(table.who(i) == table.who(j) for j in tied) / len(tied) if tied else 0.0)
    return found


# -- values that change places ---------------------------------------------------------------------------------------------


def _positions(value: float, ordered: list[float]) -> list[int]:
    """The ranks that a value may have: those of the equal values, or of its two neighbours."""
    equal = [i for i, other in enumerate(ordered) if other == value]
    below = sum(other < value for other in ordered)
    return equal or [min(max(r, 0), len(ordered) - 1) for r in (below - 1, below)]


def _step_cost(before: list[int], after: list[int], n: int, method: dict[str, Any]) -> float:
    reach = int(method["window"] * n * (1 + 1e-12))
    step = method.get("step", "uniform")
    if step == "buckets":
        size = max(math.ceil(reach / 2), 1)
        return min(abs(a // size - b // size) for a in before for b in after) * math.log(2)
    if step == "uniform":
        return 0.0 if min(abs(a - b) for a in before for b in after) <= reach else math.inf
    half = max(reach, 1) / 2
    spans = {abs(a - b) for a in range(min(before), max(before) + 1) for b in range(min(after), max(after) + 1)}
    likely = min(max(half, min(spans)), max(spans))
    return ((likely - half) / half) ** 2 / 2


@reference
def rank_intersection(original: Plain, protected: Plain, method: dict[str, Any], columns: Any = None) -> Found:
    """The records within the window in every column, or the likeliest ones."""
    within = method.get("within", [])
    rows = len(original.rows)
    costs = [[0.0] * rows for _ in range(rows)]
    for name in [c for c in method["columns"] if columns is None or c in columns]:
        for i, known in enumerate(original.rows):
            near = [r for r in protected.rows if all(r[w] == known[w] for w in within) and r[name] is not None]
            ordered = sorted(r[name] for r in near)
            for j, row in enumerate(protected.rows):
                if any(row[w] != known[w] for w in within):
                    costs[i][j] = math.inf
                elif known[name] is None or row[name] is None or not ordered:
                    costs[i][j] += 0.0 if known[name] is None and row[name] is None else math.inf
                else:
                    ranks = (_positions(value, ordered) for value in (known[name], row[name]))
                    costs[i][j] += _step_cost(*ranks, len(ordered), method)
    risk = links(original, costs)
    return Found(over_persons(original, risk), {"risk": risk})


# -- groups ----------------------------------------------------------------------------------------------------------------


def _variance(values: list[float | None]) -> float:
    known = [v for v in values if v is not None]
    return pstdev(known) ** 2


def _may_be(value: float, mean: float, means: list[float]) -> bool:
    """Whether a run with this mean can hold the value: no other run lies between them."""
    return not any(min(value, mean) < other < max(value, mean) for other in means)


@reference
def group_intersection(original: Plain, protected: Plain, method: dict[str, Any]) -> Found:
    """The records of groups that may hold every value, those at the least weighted distance."""
    names, within = method["columns"], method.get("within", [])
    runs = method["use"] == "individual-ranking"
    before, after = ({name: numbers(table, name) for name in names} for table in (original, protected))
    lost = {name: 1 - _variance(after[name]) / _variance(before[name]) for name in names}
    share = {name: max(lost[name] if runs else fmean(lost.values()), 1e-6) for name in names}
    rows = range(len(original.rows))
    costs = [[0.0] * len(rows) for _ in rows]
    for i in rows:
        near = [j for j in rows if all(original.rows[i][w] == protected.rows[j][w] for w in within)]
        for j in rows:
            for name in names:
                a, b = before[name][i], after[name][j]
                means = [after[name][r] for r in near if after[name][r] is not None]
                if a is None or b is None:
                    costs[i][j] += 0.0 if a is None and b is None else math.inf
                elif j not in near or (runs and not _may_be(a, b, means)):
                    costs[i][j] = math.inf
                else:
                    costs[i][j] += (a - b) ** 2 / (2 * share[name] * _variance(before[name]))
    risk = links(original, costs)
    return Found(over_persons(original, risk), {"risk": risk})


# -- noise -----------------------------------------------------------------------------------------------------------------


def _noise(protected: Plain, method: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The released values as original + noise, their mean, the covariance of the noise and that of all of it."""
    y = np.array([numbers(protected, name) for name in method["columns"]], dtype=float).T
    whole = np.array([row for row in y if not np.isnan(row).any()])
    p, mean = method["p"], whole.mean(axis=0)
    spread = sum(np.outer(row - mean, row - mean) for row in whole) / len(whole)
    if method["use"] == "correlated-noise":
        noise = spread * p
        middle = np.nanmean(y, axis=0)
        y, spread = middle + (y - middle) * math.sqrt(1 + p), spread * (1 + p)
        mean = middle + (mean - middle) * math.sqrt(1 + p)
    else:
        noise = np.diag([_variance(numbers(protected, name)) * p / (1 + p) for name in method["columns"]])
    values, vectors = np.linalg.eigh(spread - noise)
    signal = sum(max(v, 0.0) * np.outer(u, u) for v, u in zip(values, vectors.T, strict=True))
    return y, mean, noise, signal + noise


@reference
def noise_linkage(original: Plain, protected: Plain, method: dict[str, Any]) -> Found:
    """The record of the greatest odds, pair by pair."""
    x = np.array([numbers(original, name) for name in method["columns"]], dtype=float).T
    y, mean, noise, total = _noise(protected, method)
    x, y = (np.where(np.isnan(part), mean, part) for part in (x, y))
    a, b = np.linalg.inv(noise), np.linalg.inv(total)
    costs = [[(t - s) @ a @ (t - s) - (t - mean) @ b @ (t - mean) for t in y] for s in x]
    weights, turn = np.linalg.eigh(a - b)
    if weights[0] < 1e-9 * weights[-1]:  # a direction without signal is left out
        seen = turn[:, weights >= 1e-9 * weights[-1]]
        centre = [np.linalg.lstsq(seen.T @ (a - b) @ seen, seen.T @ a @ (s - mean), rcond=None)[0] for s in x]
        costs = [[(e := seen.T @ (t - mean) - c) @ (seen.T @ (a - b) @ seen) @ e for t in y] for c in centre]
    scale = max(abs(cost) for row in costs for cost in row)
    risk = links(original, [[cost / scale for cost in row] for row in costs])
    return Found(over_persons(original, risk), {"risk": risk})


@reference
def noise_reconstruction(original: Plain, protected: Plain, method: dict[str, Any], within: float = 0.1) -> Found:
    """Values whose estimate from the known values of the record is near."""
    names = method["columns"]
    y, mean, noise, total = _noise(protected, method)
    limits = [within * math.sqrt(_variance(numbers(original, name))) for name in names]
    risk = []
    for i, row in enumerate(original.rows):
        here = [c for c in range(len(names)) if not math.isnan(y[i][c])]
        hits = 0
        if here:
            some = np.ix_(here, here)
            step = np.linalg.solve(total[some], (y[i] - mean)[here])
            guess = mean[here] + (total[some] - noise[some]) @ step
            for g, c in zip(guess, here, strict=True):
                hits += row[names[c]] is not None and abs(g - row[names[c]]) <= limits[c]
        risk.append(hits / len(names))
    return Found(over_persons(original, risk), {"risk": risk})


# -- categories ------------------------------------------------------------------------------------------------------------


def _stays(counts: dict[str, int], method: dict[str, Any], before: str, after: str) -> float:
    """The probability that one category becomes another."""
    n = sum(counts.values())
    if method["use"] == "randomised-response":
        return method["q"] * (before == after) + (1 - method["q"]) / len(method["categories"]["c"])
    rarest = min(counts.values()) / n
    move = (1 - max(method["diagonal"], rarest)) / (1 - rarest) if len(counts) > 1 else 0.0
    return (1 - move) * (before == after) + move * counts.get(after, 0) / n


@reference
def category_posterior(original: Plain, protected: Plain, method: dict[str, Any]) -> Found:
    """The likeliest of two categories; the released margin is that of the original, or follows from it."""
    (name,) = method["columns"]
    within = method.get("within", [])
    risk = []
    for row, seen in zip(original.rows, protected.rows, strict=True):
        near = [r[name] for r in protected.rows if all(r[w] == seen[w] for w in within)]
        counts = {label: near.count(label) for label in sorted(set(near))}
        share = {label: count / len(near) for label, count in counts.items()}
        if method["use"] == "randomised-response":
            a, b = method["categories"]["c"]
            first = min(max((share.get(a, 0.0) - (1 - method["q"]) / 2) / method["q"], 0.0), 1.0)
            share = {a: first, b: 1 - first}
        odds = {label: share[label] * _stays(counts, method, label, seen[name]) for label in share}
        best = [label for label in odds if odds[label] >= max(odds.values()) - 1e-9]
        risk.append((row[name] in best) / len(best))
    return Found(over_persons(original, risk), {"risk": risk})


# -- codes and relations ---------------------------------------------------------------------------------------------------


def _near(original: Plain, name: str, guesses: list[float | None], within: float) -> Found:
    limit = within * math.sqrt(_variance(numbers(original, name)))
    pairs = zip(numbers(original, name), guesses, strict=True)
    risk = [float(x is not None and g is not None and abs(x - g) <= limit) for x, g in pairs]
    return Found(over_persons(original, risk), {"risk": risk})


@reference
def coding_bounds(original: Plain, protected: Plain, method: dict[str, Any], within: float = 0.1) -> Found:
    """The middle of the interval of a rounded value; beyond a limit as far as the outer half lies from its inner end."""
    (name,) = method["columns"]
    released = numbers(protected, name)
    if method["use"] == "round":
        shift = {"down": 0.5, "up": -0.5}.get(method["way"], 0.0) * method["base"]
        return _near(original, name, [None if y is None else y + shift for y in released], within)
    sign = 1 if method["use"] == "top-code" else -1
    known = [sign * y for y in released if y is not None]
    limit = sign * method["value"]
    tail = [y for y in known if median(known) <= y < limit]
    put = sign * (limit + (fmean(tail) - min(tail) if tail else 0.0))
    return _near(original, name, [put if y is not None and sign * y == limit else y for y in released], within)


@reference
def shuffle_regression(original: Plain, protected: Plain, method: dict[str, Any], within: float = 0.1) -> Found:
    """The quantile of the mean normal score of the records with the same given category."""
    (name,), (given,) = method["columns"], method["given"]
    released = numbers(protected, name)
    ordered = sorted(y for y in released if y is not None)

    def score(y: float) -> float:
        rank = fmean(i + 1 for i, other in enumerate(ordered) if other == y)
        return NormalDist().inv_cdf(rank / (len(ordered) + 1))

    guesses = []
    for seen in protected.rows:
        alike = [score(r[name]) for r in protected.rows if r[given] == seen[given] and r[name] is not None]
        if not alike:
            alike = [score(y) for y in ordered]
        place = NormalDist().cdf(fmean(alike)) * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        guesses.append(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
    return _near(original, name, guesses, within)


@reference
def moved_areas(original: Plain, protected: Plain, method: dict[str, Any]) -> Found:
    """The alike records of the own area where there are k, else those of the others."""
    areas, names, k = method["geography"], method["risk"], method["k"]
    risk = []
    for i, known in enumerate(original.rows):
        alike = [j for j, r in enumerate(protected.rows) if all(r[c] == known[c] for c in names)]

        def inside(h: int, alike: list[int] = alike, known: Row = known) -> list[int]:
            return [j for j in alike if all(protected.rows[j][a] == known[a] for a in areas[:h])]

        chosen = inside(len(areas))
        for h in range(len(areas)):
            others = [j for j in inside(h) if j not in inside(h + 1)]
            if len(inside(h + 1)) < k and others:
                chosen = others
                break
        risk.append(sum(original.who(i) == original.who(j) for j in chosen) / len(chosen) if chosen else 0.0)
    return Found(over_persons(original, risk), {"risk": risk})


# -- fuzzy tables --------------------------------------------------------------------------------------------------------


@reference
def cell_intersection(
    original: Plain, protected: Plain, method: dict[str, Any], sets: dict[str, dict[str, str]], column: str
) -> Found:
    """The values that all cells of a person list: c by its sets, p as it is."""
    lists: dict[Any, set[str]] = {}
    for row in protected.rows:
        lists.setdefault((row["c"], row["p"]), set()).add(row[column])
    everything = {row[column] for row in protected.rows}
    risk, left = [], []
    for row in original.rows:
        inside = []
        for name, text in sets["c"].items():
            members = dict((*part.split(":"), "1")[:2] for part in text.strip("{}").replace(" ", "").split(","))
            if float(members.get(row["c"], 0)) >= method.get("degree", 0.5) and (name, row["p"]) in lists:
                inside.append(lists[name, row["p"]])
        shared = set.intersection(*inside) if inside else everything
        risk.append(1 / len(shared) if inside and row[column] in shared else 0.0)
        left.append(len(shared))
    return Found(over_persons(original, risk), {"risk": risk, "candidates": left})
