"""What a search looked at, as plain data: for the report, the drawing and the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from celosia.search.lattice.lattice import SearchResult
    from celosia.search.lattice.objective import Score


def explored(result: SearchResult, names: Sequence[str]) -> dict[str, Any]:
    """Give the nodes that were judged, the best one, and the lattice they lie in.

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
            for check in result.checks
        ],
    }


MANY = 10
"""Quasi-identifiers above which fewer of them are advised: the lattice grows with the product of their levels."""


def how_good(
    *, complete: bool, score: Score, bound: Score | None, judged: int, spans: Sequence[int], may_suppress: bool
) -> dict[str, Any]:
    """Give how good a result is as far as the search can tell, for the evidence.

    ``gap`` is how far the best may lie below the score; ``None`` (unknown) where no bound is proven. ``advice`` names
    what would help a search that stopped early, the most helpful first.

    >>> how_good(complete=False, score=0.5, bound=0.3, judged=7, spans=[3, 4], may_suppress=False)["gap"]
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


def minimal_safe(lattice: Mapping[str, Any]) -> list[list[int]]:
    """Give the judged nodes that hold while no judged finer one does: where protection begins.

    >>> nodes = [[[0, 0], 9, 1, 0.1, False], [[1, 0], 0, 2, 0.4, True], [[1, 1], 0, 1, 0.9, True]]
    >>> minimal_safe({"nodes": nodes})
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
    """Give what more suppression buys: records suppressed, and the least score found at or below so many.

    Only nodes that were judged count, so beyond the limit of the search it is what is known, not the best there is.

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
    """Give the judged nodes that hold, the best one first, then by their score.

    >>> nodes = [[[0, 0], 9, 1, 0.1, False], [[1, 0], 2, 2, 0.4, True], [[0, 1], 3, 2, 0.6, True]]
    >>> [node[0] for node in alternatives({"nodes": nodes, "best": [1, 0]})]
    [[1, 0], [0, 1]]
    """
    holding = [node for node in lattice["nodes"] if node[4]]
    return sorted(holding, key=lambda node: (node[0] != lattice["best"], node[3], node[1]))[:most]
