"""What the playground shows: the drawing, the read-out of the last iteration, the clusters. Data in, data out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from celosia.show.plots import Axis
from celosia.studio.pages.fcrm.board import Board, Reading, seen

Floats = NDArray[np.float64]
EMPTY = (0.0, 10.0)
"""What an empty axis shows."""


@dataclass(frozen=True)
class Dot:
    """A point; its cluster is the one of highest membership, none before the first step."""

    x: float
    y: float
    cluster: int | None = None


@dataclass(frozen=True)
class Line:
    """The regression of a cluster, over the part of the drawing that it crosses."""

    cluster: int
    ends: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Cluster:
    """One regression in numbers."""

    number: int
    points: int
    intercept: float
    slope: float


@dataclass(frozen=True)
class Drawing:
    """Points and lines in their own units."""

    across: Axis
    up: Axis
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class View:
    """All that the page says about a board."""

    board: Board
    drawing: Drawing
    clusters: tuple[Cluster, ...]
    reading: Reading | None
    moved: int
    """Points that the constraints moved."""
    enough: bool
    """Whether there are enough points for the regressions."""

    @property
    def state(self) -> str:
        """Where the board is: empty, few, ready, running, stopped, converged or ended."""
        board = self.board
        if not board.points:
            return "empty"
        if not self.enough:
            return "few"
        if board.running:
            return "running"
        if board.converged:
            return "converged"
        if board.finished:
            return "ended"
        return "stopped" if board.readings else "ready"


@lru_cache(maxsize=8)
def view(board: Board) -> View:
    """The page of a board; the same board is computed once."""
    points = np.array(board.points, dtype=np.float64).reshape(-1, len(board.names))
    x, y = points[:, board.independent - 1], points[:, board.dependent - 1]
    across, up = _axis(board.axes[0], x), _axis(board.axes[1], y)
    enough = len(points) >= board.fewest_points
    now = seen(board)
    if now is None:
        dots = tuple(Dot(float(a), float(b)) for a, b in points[:, [board.independent - 1, board.dependent - 1]])
        return View(board, Drawing(across, up, dots, ()), (), None, 0, enough)
    lines, nearest = now.lines[:, :, 0], now.state.nearest()
    dots = tuple(Dot(float(a), float(b), int(k)) for a, b, k in zip(x, y, nearest, strict=True))
    drawn = tuple(
        Line(k, ends) for k, (a, b) in enumerate(lines) if (ends := clipped(float(a), float(b), across, up)) is not None
    )
    sizes = np.bincount(nearest, minlength=board.c)
    clusters = tuple(Cluster(k, int(sizes[k]), float(a), float(b)) for k, (a, b) in enumerate(lines))
    moved = int(now.outcome.evidence.get("moved by constraints", 0))
    return View(board, Drawing(across, up, dots, drawn), clusters, board.readings[-1], moved, enough)


def clipped(
    intercept: float, slope: float, across: Axis, up: Axis
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The ends of a line inside the drawing; none where it does not cross it.

    >>> box = Axis("x", 0, 10), Axis("y", 0, 10)
    >>> clipped(-5, 2, *box), clipped(20, 0, *box)
    (((2.5, 0.0), (7.5, 10.0)), None)
    """
    left, right = across.low, across.high
    if slope != 0:
        hits = sorted(((up.low - intercept) / slope, (up.high - intercept) / slope))
        left, right = max(left, hits[0]), min(right, hits[1])
    elif not up.low <= intercept <= up.high:
        return None
    if left > right:
        return None
    return (left, intercept + slope * left), (right, intercept + slope * right)


def _axis(name: str, values: Floats) -> Axis:
    low, high = (float(values.min()), float(values.max())) if len(values) else EMPTY
    if low >= EMPTY[0] and high <= EMPTY[1] and high > 1:
        low, high = EMPTY  # clicked points: the drawing does not move while they come
    elif high > low:
        low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    else:
        low, high = low - 1, high + 1
    return Axis(name, low, high)
