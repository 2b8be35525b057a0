"""What was printed against what comes out: matches, mismatches with their reasons, and the summary tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from celosia.experiments.fuzzy_privacy.experiment import Results, Row

HALF_DIGIT = 5.1e-5
"""t is printed with four decimals."""
FUZZY_DIGIT = 6e-5
"""For t of fuzzy codings: the source's degrees were iterated to an unknown tolerance."""
FUZZY = ("fz", "gk", "fcm")
METHODS = {"independent": ("km", "gr", "fz"), "joint": ("km", "gk", "fcm")}
NAMES = {
    "km": "k-means",
    "gr": "global recode",
    "fz": "fuzzy c-means",
    "gk": "Gustafson–Kessel",
    "fcm": "fuzzy c-means",
}
CRITERIA = ("k", "risk", "Q", "l1", "t1", "l2", "t2")
LOWER_IS_BETTER = ("risk", "t1", "t2", "tmin1", "tmin2")

# The summary tables as they were printed: best-of counts, and means with mean distances to the best.
PRINTED_COUNTS: dict[str, dict[str, tuple[int | None, ...]]] = {
    "independent": {
        "k": (8, 42, 7),
        "risk": (8, 37, 9),
        "l1": (7, 48, 1),
        "t1": (2, 42, 10),
        "l2": (7, 48, 1),
        "t2": (2, 42, 10),
    },
    "joint": {
        "k": (14, 10, 32),
        "risk": (27, 19, 34),
        "Q": (None, 8, 47),
        "l1": (30, 9, 18),
        "t1": (0, 43, 12),
        "l2": (29, 10, 18),
        "t2": (0, 43, 12),
    },
}
PRINTED_MEANS: dict[str, dict[str, tuple[tuple[float, float] | None, ...]]] = {
    "independent": {
        "k": ((15.24, 46.89), (52.67, 8.17), (15.23, 45.89)),
        "risk": ((229.53, 151.72), (124.33, 79.11), (248.49, 177.7)),
    },
    "joint": {
        "k": ((213.62, 100.27), (200.78, 107.05), (278.42, 23.78)),
        "risk": ((164.42, 189.36), (236.78, 257.83), (109.22, 107.9)),
        "Q": (None, (184.36, 99.3), (262.29, 47.63)),
        "l1": ((97.73, 41.88), (89.55, 32.54), (109.56, 10.7)),
        "t1": ((0.0867, 0.0827), (0.0049, 0.0042), (0.0129, 0.0115)),
        "l2": ((93.76, 37.42), (86.13, 30.96), (104.6, 10.19)),
        "t2": ((0.0879, 0.0841), (0.0047, 0.004), (0.0122, 0.0107)),
    },
}
PRINTED_DUEL = {"l1": (33, 24), "l2": (34, 25)}
"""Table 4.7: l of joint k-means against joint fuzzy c-means."""


@dataclass(frozen=True)
class Match:
    """How one printed column compares with the compatible run."""

    block: str
    column: str
    compared: int
    equal: int
    largest: float


@dataclass(frozen=True)
class Mismatch:
    """One printed number that did not come out, and why."""

    block: str
    pair: tuple[int, int]
    column: str
    printed: float | None
    got: float | None
    reason: str


def matches(block: str, want: Results, got: Results) -> tuple[list[Match], list[Mismatch]]:
    """Compare every printed number with the compatible run."""
    columns = list(next(iter(want.values())))
    found, wrong = [], []
    for column in columns:
        compared = equal = 0
        largest = 0.0
        for pair, row in want.items():
            a, b = row[column], got[pair][column]
            if a is None and b is None:
                continue
            compared += 1
            if _equal(column, a, b):
                equal += 1
            else:
                wrong.append(Mismatch(block, pair, column, a, b, reason(column, row, got[pair])))
            largest = max(largest, abs(a - b)) if a is not None and b is not None else float("inf")
        found.append(Match(block, column, compared, equal, largest))
    return found, wrong


def _equal(column: str, a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    method, criterion = column.split("_")
    digit = FUZZY_DIGIT if method in FUZZY else HALF_DIGIT
    return abs(a - b) <= (digit if criterion.startswith("t") else 0)


def reason(column: str, printed: Row, got: Row) -> str:
    """Why a printed number does not come out."""
    method, criterion = column.split("_")
    if method == "km" and printed["km_k"] == got["km_k"]:
        return "the source's columns came from different runs: no numbering of the clusters gives both"
    if method == "km":
        return "the source stopped in a local optimum of k-means that none of the random starts here reached"
    if method == "gk" and criterion == "risk":
        risk, k = printed["gk_risk"] or 0, printed["gk_k"] or 0
        if 0 < risk < k:
            return "the printed risk is impossible, it must be 0 or at least k: it came from another random start"
        return "risk counts whole classes and jumps when one record moves; it came from another random start"
    if method == "gk":
        return "another stopping point or start of Gustafson–Kessel in the source; this is the nearest optimum found"
    if criterion == "risk":
        return "risk counts whole classes: it jumps when the size of one class passes the threshold by a record"
    if criterion.startswith("t") and method in ("fz", "fcm"):
        return "degrees of the source were iterated to a coarser tolerance; the smallest of 1080 distances shows it"
    if criterion in ("k", "Q", "l1", "l2"):
        gap = abs((printed[column] or 0) - (got[column] or 0))
        return f"{gap:g} record at the border of two cells: the source's clustering stopped at a coarser tolerance"
    return "not explained"


def best_counts(results: Results, methods: tuple[str, ...], criterion: str) -> list[int | None]:
    """How often each method is best, ties counted for each; pairs where all have k = 1 are left out."""
    columns = [f"{m}_{criterion}" for m in methods]
    counts: list[int | None] = [0 if any(c in r for r in results.values()) else None for c in columns]
    for row in results.values():
        known = [row[c] for c in columns if row.get(c) is not None]
        if not known or all(row[f"{m}_k"] == 1 for m in methods):
            continue
        best = (min if criterion in LOWER_IS_BETTER else max)(v for v in known if v is not None)
        for i, column in enumerate(columns):
            if row.get(column) == best:
                counts[i] = (counts[i] or 0) + 1
    return counts


def means(results: Results, methods: tuple[str, ...], criterion: str) -> list[tuple[float, float] | None]:
    """Mean of each method, and its mean distance to the best where it is not the best."""
    columns = [f"{m}_{criterion}" for m in methods]
    pick = min if criterion in LOWER_IS_BETTER else max
    out: list[tuple[float, float] | None] = []
    for column in columns:
        values, gaps = [], []
        for row in results.values():
            own = row.get(column)
            if own is None:
                continue
            values.append(own)
            best = pick(v for c in columns if (v := row.get(c)) is not None)
            if own != best:
                gaps.append(abs(own - best))
        mean = sum(values) / len(values) if values else 0.0
        out.append((mean, sum(gaps) / len(gaps) if gaps else 0.0) if values else None)
    return out


def summary(block: str, versions: dict[str, Results]) -> dict[str, Any]:
    """Best-of counts and means of every criterion, for each version of the results."""
    methods = METHODS[block]
    return {
        criterion: {
            name: {"best": best_counts(results, methods, criterion), "mean": means(results, methods, criterion)}
            for name, results in versions.items()
        }
        for criterion in CRITERIA
        if any(f"{m}_{criterion}" in row for row in versions["printed"].values() for m in methods)
    }


def duel(versions: dict[str, Results]) -> dict[str, Any]:
    """Table 4.7: how often joint k-means and joint fuzzy c-means have the larger l."""
    return {
        criterion: {name: best_counts(results, ("km", "fcm"), criterion) for name, results in versions.items()}
        for criterion in ("l1", "l2")
    }


def artefact(results: Results, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Mean t over all pairs by its definition, the largest distance, and by the smallest, as the source took it."""
    return {
        method: {
            name: sum(row[f"{method}_{column}"] or 0 for row in results.values()) / len(results)
            for name, column in (("largest", "t1"), ("smallest", "tmin1"))
        }
        for method in methods
    }


def plain(items: list[Match] | list[Mismatch]) -> list[dict[str, Any]]:
    """Records as plain data."""
    return [asdict(item) for item in items]
