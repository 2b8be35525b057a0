"""Every attack of a reader of the certificate by loops over plain rows; ``method`` is the step as it was published."""

from __future__ import annotations

import math
from typing import Any

from tests.reference.attacks import over_persons
from tests.reference.risks import Found, reference
from tests.reference.rows import Plain


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
