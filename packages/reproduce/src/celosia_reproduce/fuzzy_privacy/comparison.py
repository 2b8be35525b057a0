"""Comparison of printed and recomputed numbers: matches, mismatches with their reasons, and the summary tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celosia_reproduce import statements
from celosia_reproduce.fuzzy_privacy.study import Results, Row
from celosia_reproduce.statements import Statement

HALF_DIGIT = 5.1e-5
"""t is printed with four decimals."""
CHOSEN = ("km",)
"""Codings that start at random: the source took one start of unknown seed; its fuzzy ones start from fixed numbers."""
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
class Number:
    """One printed number of the annex, computed again."""

    block: str
    pair: tuple[int, int]
    column: str
    statement: Statement

    @property
    def chosen(self) -> bool:
        """Whether the coding depends on a random start."""
        return self.column.split("_")[0] in CHOSEN


def numbers(block: str, want: Results, got: Results, near: Results | None = None) -> list[Number]:
    """Compare every printed number of a block with the recomputed one.

    ``near``, what comes out at the choice nearest to print, tells why a number differs at another choice.
    """
    compared = []
    for column in next(iter(want.values())):
        method, criterion = column.split("_")
        for pair, row in want.items():
            stated, computed = row[column], got[pair][column]
            if stated is None:
                continue  # a dash
            where, what = f"{block} coding, {NAMES[method]}", f"{criterion} of pair ({pair[0]}, {pair[1]})"
            digit = HALF_DIGIT if criterion.startswith("t") else 0.0
            statement = statements.printed(where, what, stated, computed, within=digit)
            if not statement.agrees:
                why = reason(column, row, got[pair])
                if near is not None and method in CHOSEN:
                    again = statements.printed(where, what, stated, near[pair][column], within=digit)
                    why = ELSEWHERE if again.agrees else reason(column, row, near[pair])
                statement = statements.printed(where, what, stated, computed, within=digit, why=why)
            compared.append(Number(block, pair, column, statement))
    return compared


ELSEWHERE = "comes out at another local optimum than the best one: the source used one random start of unknown seed"


def came_out(compared: Sequence[Number], *, chosen: bool | None = None) -> tuple[int, int]:
    """Count the numbers that match, and all numbers; of the codings with a random start, of the others, or of all."""
    own = [n.statement.agrees for n in compared if chosen is None or n.chosen == chosen]
    return sum(own), len(own)


def largest(compared: Sequence[Number]) -> float:
    """Return the largest difference between a printed number and ours."""
    gaps = [(n.statement.stated, n.statement.computed) for n in compared]
    return max(abs(a - b) if a is not None and b is not None else float("inf") for a, b in gaps)


LAST_DIGIT = "printed one off in the last digit"
FOLLOWS = "follows from numbers of the annex that differ"


def of_the_print(annex: dict[str, Results]) -> list[Statement]:
    """Compare the summary tables of the source with its own annex."""
    return _summaries(annex, statements.consistent, LAST_DIGIT)


def summary_statements(results: dict[str, Results]) -> list[Statement]:
    """Compare the summary tables of the source with the codings that were run, which must be all pairs."""
    return _summaries(results, statements.printed, FOLLOWS)


def _summaries(results: dict[str, Results], compare: Callable[..., Statement], reason_why: str) -> list[Statement]:
    checked = []
    for block, table in results.items():
        tables = {"independent": ("4.2", "4.3"), "joint": ("4.5", "4.6")}[block]
        for criterion, row in PRINTED_COUNTS[block].items():
            again = tuple(best_counts(table, METHODS[block], criterion))
            checked.append(compare(f"Table {tables[0]}", f"how often best by {criterion}", row, again))
        for criterion, pairs in PRINTED_MEANS[block].items():
            digit = HALF_DIGIT if criterion.startswith("t") else 0.0051
            mean = tuple(means(table, METHODS[block], criterion))
            checked.append(
                compare(f"Table {tables[1]}", f"mean and distance of {criterion}", pairs, mean, within=digit)
            )
    for criterion, duel_row in PRINTED_DUEL.items():
        again = tuple(best_counts(results["joint"], ("km", "fcm"), criterion))
        checked.append(compare("Table 4.7", f"k-means against fuzzy c-means by {criterion}", duel_row, again))
    return [own if own.agrees else replace(own, why=reason_why) for own in checked]


def reason(column: str, printed: Row, got: Row) -> str:
    """Return the reason why a printed number differs."""
    method, criterion = column.split("_")
    if method == "km" and printed["km_k"] == got["km_k"]:
        return "the source's columns came from different runs: no numbering of the clusters gives both"
    if method == "km":
        return "a local optimum of k-means in the source that none of the random starts here reached"
    if method == "gk" and criterion == "risk":
        risk, k = printed["gk_risk"] or 0, printed["gk_k"] or 0
        if 0 < risk < k:
            return "the printed risk is impossible, it must be 0 or at least k: it came from another run"
        return "k, Q, l and t of this coding come out as printed, this risk does not: it came from another run"
    if criterion == "risk":
        return "risk counts whole classes: it jumps when the size of one class passes the threshold by a record"
    return "not explained"


def best_counts(results: Results, methods: tuple[str, ...], criterion: str) -> list[int | None]:
    """How often each method is best, ties counted for each; pairs where all have k = 1 are left out."""
    columns = [f"{m}_{criterion}" for m in methods]
    counts: list[int | None] = [0 if any(c in r for r in results.values()) else None for c in columns]
    for row in results.values():
        measured = [row[c] for c in columns if row.get(c) is not None]
        if not measured or all(row[f"{m}_k"] == 1 for m in methods):
            continue
        best = (min if criterion in LOWER_IS_BETTER else max)(v for v in measured if v is not None)
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
        if any(f"{m}_{criterion}" in row for rows in versions.values() for row in rows.values() for m in methods)
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
