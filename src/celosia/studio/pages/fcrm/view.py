"""View model of the playground: drawing, last reading and clusters, without rendering."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from celosia.show.plots import Axis
from celosia.studio.pages.fcrm.board import Board, Reading, current_iteration

Floats = NDArray[np.float64]
EMPTY = (0.0, 10.0)
"""Range of an empty axis."""


@dataclass(frozen=True)
class Dot:
    """A point and its cluster of highest membership (None before the first step)."""

    x: float
    y: float
    cluster: int | None = None


@dataclass(frozen=True)
class Line:
    """The visible segment of a regression line."""

    cluster: int
    ends: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Cluster:
    """Size and coefficients of one regression."""

    number: int
    points: int
    intercept: float
    slope: float


@dataclass(frozen=True)
class Drawing:
    """Axes, points and lines in data units."""

    across: Axis
    up: Axis
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class View:
    """Content of the page of a :class:`Board`: the drawing, the clusters, and the numbers of one iteration."""

    board: Board
    drawing: Drawing
    clusters: tuple[Cluster, ...]
    reading: Reading | None
    moved: int
    """Number of new values that the constraints moved."""
    enough: bool
    """Whether there are enough points for the regressions."""

    @property
    def state(self) -> str:
        """State of the board: empty, few, ready, running, stopped, converged or ended."""
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
    """Return the view of a board (cached)."""
    points = np.array(board.points, dtype=np.float64).reshape(-1, len(board.names))
    x, y = points[:, board.independent - 1], points[:, board.dependent - 1]
    across, up = _axis(board.axes[0], x), _axis(board.axes[1], y)
    enough = len(points) >= board.fewest_points
    now = current_iteration(board)
    if now is None:
        dots = tuple(Dot(float(a), float(b)) for a, b in points[:, [board.independent - 1, board.dependent - 1]])
        return View(board, Drawing(across, up, dots, ()), (), None, 0, enough)
    lines, nearest = now.lines[:, :, 0], now.state.nearest()
    dots = tuple(Dot(float(a), float(b), int(k)) for a, b, k in zip(x, y, nearest, strict=True))
    segments = tuple(
        Line(k, ends)
        for k, (a, b) in enumerate(lines)
        if (ends := clip_line(float(a), float(b), across, up)) is not None
    )
    sizes = np.bincount(nearest, minlength=board.c)
    clusters = tuple(Cluster(k, int(sizes[k]), float(a), float(b)) for k, (a, b) in enumerate(lines))
    moved = int(now.outcome.evidence.get("moved by constraints", 0))
    return View(board, Drawing(across, up, dots, segments), clusters, board.readings[-1], moved, enough)


def clip_line(
    intercept: float, slope: float, across: Axis, up: Axis
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the ends of a line within the axes, or None if it is outside.

    >>> box = Axis("x", 0, 10), Axis("y", 0, 10)
    >>> clip_line(-5, 2, *box), clip_line(20, 0, *box)
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
