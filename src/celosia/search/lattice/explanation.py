"""The course of a search as plain data: for the report, the diagram and the private record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from celosia.search.lattice.lattice import SearchResult
    from celosia.search.lattice.objective import Score


def lattice_record(result: SearchResult, names: Sequence[str]) -> dict[str, object]:
    """Return the evaluated nodes, the best one, and the bounds of the lattice.

    Each node is a list ``[levels, suppressed, classes, score, holds]``; no cell value occurs.
    """
    return {
        "columns": list(names),
        "lower": list(result.lower),
        "upper": list(result.upper),
        "size": result.nodes,
        "optimal": result.optimal,
        "best": None if result.best is None else list(result.best.levels),
        "nodes": [
            [
                list(check.levels),
                check.suppressed,
                check.classes,
                list(check.score) if isinstance(check.score, tuple) else check.score,
                check.holds,
            ]
            for check in result.evaluations
        ],
    }


MANY = 10
"""Quasi-identifiers above which fewer of them are advised: the lattice grows with the product of their levels."""


def search_quality(
    *, complete: bool, score: Score, bound: Score | None, judged: int, spans: Sequence[int], may_suppress: bool
) -> dict[str, object]:
    """Return the evidence on how close a result is to the optimum.

    ``gap`` is the largest possible distance of the optimum from the score, ``None`` where no bound is proven.
    ``advice`` names the changes that would help a search that stopped early, the most helpful first.

    >>> search_quality(complete=False, score=0.5, bound=0.3, judged=7, spans=[3, 4], may_suppress=False)["gap"]
    0.2
    """
    proven = bound if isinstance(bound, tuple) or (bound is not None and np.isfinite(bound)) else None
    gap = max(0.0, score - proven) if isinstance(score, float) and isinstance(proven, float) else None
    advice: list[str] = []
    if not complete:
        helps = {
            "columns": len(spans) > MANY,
            "hierarchies": max(spans, default=1) > 3,
            "suppression": not may_suppress,
            "time": True,
        }
        advice = [name for name, helpful in helps.items() if helpful]
    return {
        "complete": complete,
        "score": score,
        "bound": proven,
        "gap": gap,
        "judged": judged,
        "nodes": math.prod(spans),
        "advice": advice,
    }


def minimal_safe_nodes(lattice: Mapping[str, Any]) -> list[list[int]]:
    """Return the evaluated nodes that hold while no evaluated finer one does: the border of protection.

    >>> nodes = [[[0, 0], 9, 1, 0.1, False], [[1, 0], 0, 2, 0.4, True], [[1, 1], 0, 1, 0.9, True]]
    >>> minimal_safe_nodes({"nodes": nodes})
    [[1, 0]]
    """
    safe = np.array([node[0] for node in lattice["nodes"] if node[4]], dtype=np.int64)
    if not len(safe):
        return []
    order = np.lexsort(safe.T)[np.argsort(safe[np.lexsort(safe.T)].sum(axis=1), kind="stable")]
    minimal: list[np.ndarray[Any, Any]] = []
    for levels in safe[order]:
        if not any((finer <= levels).all() for finer in minimal):
            minimal.append(levels)
    return [levels.tolist() for levels in minimal]


def suppression_curve(lattice: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """Return the least score found for each number of suppressed records, where it improves.

    Only evaluated nodes count, so beyond the limit of the search there may be better ones.

    >>> nodes = [[[0, 0], 9, 1, 0.1, False], [[1, 0], 2, 2, 0.4, True], [[0, 1], 3, 2, 0.6, True]]
    >>> suppression_curve({"nodes": nodes})
    [(2, 0.4), (9, 0.1)]
    """
    curve: list[tuple[int, Any]] = []
    for _, suppressed, classes, score, _ in sorted(lattice["nodes"], key=lambda node: (node[1], node[3])):
        if classes and (not curve or score < curve[-1][1]):
            curve.append((suppressed, score))
    return curve


def alternatives(lattice: Mapping[str, Any], most: int = 6) -> list[Any]:
    """Return the evaluated nodes that hold, the best one first, then by score.

    >>> nodes = [[[0, 0], 9, 1, 0.1, False], [[1, 0], 2, 2, 0.4, True], [[0, 1], 3, 2, 0.6, True]]
    >>> [node[0] for node in alternatives({"nodes": nodes, "best": [1, 0]})]
    [[1, 0], [0, 1]]
    """
    holding = [node for node in lattice["nodes"] if node[4]]
    return sorted(holding, key=lambda node: (node[0] != lattice["best"], node[3], node[1]))[:most]
