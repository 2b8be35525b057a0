"""Curves over k with their intervals, as inline SVG that follows the theme of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.show.charts import legend
from celosia.show.formats import number
from celosia.show.svg import figure, svg, text
from celosia_reproduce.statements import Grid

WIDTH, HEIGHT, LEFT, EDGE = 480, 280, 58, 34
Point = tuple[float, float, float]
"""A mean with the ends of its interval."""


def curves(title: str, x: Sequence[float], series: Sequence[tuple[str, Sequence[Point]]], axis: str = "k") -> str:
    """One line per series; an upright stroke at each point is its interval.

    >>> curves("P_reid", [60, 90], [("standard", [(0.4, 0.3, 0.5), (0.3, 0.2, 0.4)])]).count("<path")
    3
    """
    ends = [value for _, points in series for point in points for value in point]
    low, high = min([0.0, *ends]), max([*ends, 1e-9])
    places = range(len(x))

    def across(at: int, nudge: int = 0) -> float:
        return LEFT + (WIDTH - LEFT - EDGE) * (at + 0.5) / len(x) + 3 * nudge

    def up(value: float) -> float:
        return HEIGHT - EDGE - (value - low) / (high - low) * (HEIGHT - 2 * EDGE)

    marks = []
    for j, (_, points) in enumerate(series):
        nudge = j - (len(series) - 1) / 2
        line = "L".join(f"{across(i, round(nudge)):.1f} {up(points[i][0]):.1f}" for i in places)
        marks.append(_stroke(f"M{line}", j, 1.8))
        for i in places:
            a = across(i, round(nudge))
            marks.append(_stroke(f"M{a:.1f} {up(points[i][1]):.1f}V{up(points[i][2]):.1f}", j, 3.5))
    texts: list[tuple[float, float, str, str]] = [
        (across(i), HEIGHT - EDGE + 16, f"{x[i]:g}", "middle") for i in places
    ]
    texts += [(LEFT - 6, up(v) + 4, number(v, percent=True), "end") for v in dict.fromkeys((low, 0.0, high))]
    texts += [(WIDTH / 2, HEIGHT - 3, axis, "middle")]
    words = "".join(text(*each) for each in texts)
    frame = f'<rect x="{LEFT}" y="{EDGE}" width="{WIDTH - LEFT - EDGE}" height="{HEIGHT - 2 * EDGE}" '
    frame += 'fill="none" stroke="var(--line)"/>'
    spoken = "; ".join(
        f"{name}: " + ", ".join(f"{axis} {x[i]:g}: {_said(points[i])}" for i in places) for name, points in series
    )
    picture = svg(frame + "".join(marks) + words, (WIDTH, HEIGHT), f"{title}. {spoken}")
    return figure(picture, title, legend=legend([name for name, _ in series]), below=True)


def grid(caption: str, table: Sequence[Mapping[str, Any]]) -> Grid:
    """Return a table from rows with named columns; the columns of texts come first."""
    first = table[0] if table else {}
    texts = sum(isinstance(value, str) for value in first.values())
    return Grid(caption, tuple(first), [list(row.values()) for row in table], plain=texts, digits=4)


def _stroke(path: str, series: int, width: float) -> str:
    return f'<path d="{path}" fill="none" style="stroke: var(--s{series})" stroke-width="{width}"/>'


def _said(point: Point) -> str:
    mean, low, high = (number(value, percent=True) for value in point)
    return mean if low == high == mean else f"{mean} ({low} to {high})"
