"""Charts on two axes of numbers, as inline SVG: points with lines, sets, curves, numbers with error bars.

Colours are classes (``s0`` … ``s9``), so that a chart follows the theme of its page; nothing is styled inline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from celosia.show.formats import number
from celosia.show.svg import figure, svg, text, tooltip, turned_text

Points = Sequence[tuple[float, float]]
SERIES = 10
"""Colours that there are; the next series begins anew."""


@dataclass(frozen=True)
class Axis:
    """The part of an axis that is drawn."""

    name: str
    low: float
    high: float

    def place(self, value: float, begin: float, end: float) -> float:
        """Return the coordinate of a value between two coordinates."""
        return begin + (end - begin) * (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Plane:
    """Two axes, the size of the picture and its margins."""

    across: Axis
    up: Axis
    width: int = 640
    height: int = 400
    right: int = 14
    top: int = 12
    bottom: int = 42

    @cached_property
    def left(self) -> int:
        """Coordinate where the horizontal axis starts, right of the numbers and the name of the vertical one."""
        return 36 + 8 * max(len(number(value)) for value in ticks(self.up.low, self.up.high, 5))

    def x(self, value: float) -> float:
        """Return the horizontal coordinate of a value."""
        return self.across.place(value, self.left, self.width - self.right)

    def y(self, value: float) -> float:
        """Return the vertical coordinate of a value."""
        return self.up.place(value, self.height - self.bottom, self.top)

    def axes(self) -> str:
        """Return the frame with its grid, numbers and names."""
        left, base, end = self.left, self.height - self.bottom, self.width - self.right
        out = [f'<path class="axis" d="M{left} {self.top}V{base}H{end}"/>']
        for value in ticks(self.across.low, self.across.high):
            x = self.x(value)
            out.append(f'<path class="grid" d="M{x:.1f} {self.top}V{base}"/>')
            out.append(f'<text x="{x:.1f}" y="{base + 17}" text-anchor="middle">{number(value)}</text>')
        for value in ticks(self.up.low, self.up.high, 5):
            y = self.y(value)
            out.append(f'<path class="grid" d="M{left} {y:.1f}H{end}"/>')
            out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
        middle = (left + end) / 2
        out.append(text(middle, self.height - 5, self.across.name, "middle"))
        out.append(turned_text(13, (self.top + base) / 2, self.up.name))
        return "".join(out)

    def line(self, points: Points, classes: str) -> str:
        """Return a line through points."""
        path = "L".join(f"{self.x(a):.1f} {self.y(b):.1f}" for a, b in points)
        return f'<path class="{classes}" d="M{path}"/>' if points else ""

    def area(self, points: Points, classes: str, more: str = "") -> str:
        """Return the area below a line."""
        corners = [(points[0][0], self.up.low), *points, (points[-1][0], self.up.low)]
        path = "L".join(f"{self.x(a):.1f} {self.y(b):.1f}" for a, b in corners)
        return f'<path class="{classes}" d="M{path}Z"{more}/>'

    def squares(self, points: Iterable[tuple[float, float]], classes: str, size: float = 7.0) -> str:
        """Return a square at each point, all in one path, since there may be thousands."""
        half = size / 2
        path = "".join(f"M{self.x(a) - half:.1f} {self.y(b) - half:.1f}h{size}v{size}h-{size}z" for a, b in points)
        return f'<path class="{classes}" d="{path}"/>' if path else ""

    def draw(self, marks: str, label: str, classes: str = "plane", role: str = "img", more: str = "") -> str:
        """Return the picture with its axes; ``label`` is what a screen reader reads."""
        size = (self.width, self.height)
        return svg(self.axes() + marks, size, label, classes=classes, role=role, attributes=more.strip())


def intervals(title: str, bars: Sequence[tuple[str, float, float, float]], language: str = "en") -> str:
    """Return numbers with their error bars, one below the other: label, value, low, high.

    >>> intervals("people", [("F", 10.0, 8.0, 12.0), ("M", 9.0, 7.0, 11.0)]).count("<circle")
    2
    """

    def spoken(label: str, value: float, below: float, above: float) -> str:
        shown = [number(each, language=language) for each in (value, below, above)]
        return f"{label}: {shown[0]} ({shown[1]} – {shown[2]})"

    row, edge = 30, 8
    low, high = min(0.0, *(b[2] for b in bars)), max(0.0, *(b[3] for b in bars))
    axis = Axis("", low, high if high > low else low + 1)
    left, end, base = 150, 600, len(bars) * row + edge
    out = []
    for value in ticks(axis.low, axis.high):
        x = axis.place(value, left, end)
        out.append(f'<path class="grid" d="M{x:.1f} {edge}V{base}"/>')
        out.append(f'<text x="{x:.1f}" y="{base + 17}" text-anchor="middle">{number(value, language=language)}</text>')
    for i, (label, value, below, above) in enumerate(bars):
        y = edge + row * i + row / 2
        a, b, c = (axis.place(v, left, end) for v in (below, value, above))
        shown = label if len(label) <= 20 else label[:19] + "…"
        hint = tooltip(spoken(label, value, below, above))
        out.append(text(left - 10, y + 4, shown, "end"))
        out.append(
            f'<g class="error"><path class="s1" d="M{a:.1f} {y}H{c:.1f}M{a:.1f} {y - 6}v12M{c:.1f} {y - 6}v12"/>'
            f'<circle class="s1" cx="{b:.1f}" cy="{y}" r="4.5"/>{hint}</g>'
        )
    label = f"{title}. {'; '.join(spoken(*bar) for bar in bars)}"
    return figure(svg("".join(out), (620, base + 24), label, classes="plane"), title, below=True)


def series(i: int) -> str:
    """Return the class of the i-th series."""
    return f"s{(i + 1) % SERIES}"


def ticks(low: float, high: float, about: int = 6) -> tuple[float, ...]:
    """Return round numbers along an axis.

    >>> ticks(0, 10), ticks(-0.3, 0.42)
    ((0.0, 2.0, 4.0, 6.0, 8.0, 10.0), (-0.2, 0.0, 0.2, 0.4))
    """
    step = plain_step((high - low) / about)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(float(f"{k * step:.12g}") + 0.0 for k in range(first, last + 1))


def plain_step(rough: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, 50, … that is not below a number.

    >>> plain_step(0.9), plain_step(0.01), plain_step(3)
    (1.0, 0.01, 5.0)
    """
    size = 10.0 ** math.floor(math.log10(rough))
    return float(f"{next(k for k in (1, 2, 5, 10) if size * k >= rough * (1 - 1e-9)) * size:.12g}")
