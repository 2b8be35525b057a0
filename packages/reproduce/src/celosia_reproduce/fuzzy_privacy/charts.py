"""Drawings of cells and memberships as SVG text: points, contour curves, surfaces, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from celosia.show.svg import svg, text, turned_text

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Degrees = Callable[[Floats], Floats]
COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6d597a", "#00798c", "#8d6a9f", "#b5651d", "#4f5d75")
SIZE = 320
EDGE = 34


def points(unit: Floats, labels: Labels, title: str, axes: tuple[str, str]) -> str:
    """Draw the records in the unit square, coloured by cell."""
    return _framed(_dots(unit, labels), title, axes)


def memberships(degrees: Degrees, unit: Floats, title: str) -> str:
    """Draw the degrees in every set of one attribute, scaled to 0 … 1, with the records as marks below.

    >>> memberships(lambda x: np.hstack([x, 1 - x]), np.array([0.2, 0.9]), "age").count("<path")
    3
    """
    line = np.linspace(0, 1, 121)
    curves_of = degrees(line[:, None]).T
    marks = [
        f'<path d="M{_line(line, curve)}" fill="none" stroke="{_colour(i)}" stroke-width="1.8"/>'
        for i, curve in enumerate(curves_of)
    ]
    foot = SIZE - EDGE
    ticks = "".join(f"M{a:.1f} {foot}v4" for a in np.unique(_across(unit).round(1)))
    marks.append(f'<path d="{ticks}" stroke="currentColor" stroke-opacity=".35" stroke-width=".6"/>')
    return _framed("".join(marks), title, ("value, scaled", "degree"))


def borders(centres: Floats) -> Floats:
    """Return the points half-way between neighbouring centres, where two fuzzy sets have the same degree."""
    ordered = np.sort(centres)
    return (ordered[1:] + ordered[:-1]) / 2


def pair(unit: Floats, labels: Labels, degrees: Degrees, lines: tuple[Floats, Floats], axes: tuple[str, str]) -> str:
    """Draw the records by cell, the curves of degree one half, and dashed the borders of independent cells."""
    line, mu = _over_square(degrees, 61)
    inner = SIZE - 2 * EDGE
    dashes = [f"M{a:.1f} {EDGE}v{inner}" for a in _across(lines[0])] + [
        f"M{EDGE} {b:.1f}h{inner}" for b in _up(lines[1])
    ]
    halves = "".join(
        f'<path d="{_level_path(mu[:, :, i], line, 0.5)}" fill="none" stroke="{_colour(i)}" stroke-width="1.6"/>'
        for i in range(mu.shape[2])
    )
    cut = f'<path d="{"".join(dashes)}" stroke="currentColor" stroke-opacity=".45" stroke-dasharray="4 4"/>'
    return _framed(_dots(unit, labels) + cut + halves, " × ".join(axes), axes)


def contours(degrees: Degrees, title: str, axes: tuple[str, str], centres: Floats) -> str:
    """Curves of equal membership (0.5, 0.7, 0.9) of each cell over the unit square."""
    line, mu = _over_square(degrees, 61)
    marks = []
    for i in range(mu.shape[2]):
        for level, width in ((0.5, 0.8), (0.7, 1.3), (0.9, 1.9)):
            path = _level_path(mu[:, :, i], line, level)
            marks.append(f'<path d="{path}" fill="none" stroke="{_colour(i)}" stroke-width="{width}"/>')
        a, b = float(_across(centres[i, :1])[0]), float(_up(centres[i, 1:2])[0])
        marks.append(f'<path d="M{a - 4:.1f} {b:.1f}h8M{a:.1f} {b - 4:.1f}v8" stroke="{_colour(i)}" stroke-width="2"/>')
    return _framed("".join(marks), title, axes)


def surface(degrees: Degrees, title: str, axes: tuple[str, str]) -> str:
    """Draw the memberships of all cells as surfaces over the unit square, seen from above at an angle."""
    side = 25
    line, mu = _over_square(degrees, side)
    a, b = np.meshgrid(line, line, indexing="ij")
    across = 160 + 130 * (a - b)
    down = 150 + 65 * (a + b)
    faces = []
    for cell in range(mu.shape[2]):
        height = down - 115 * mu[:, :, cell]
        for i in range(side - 1):
            for j in range(side - 1):
                corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                middle = float(np.mean([mu[c][cell] for c in corners]))
                # far faces first, low ones before high ones at the same place
                outline = " ".join(f"{across[c]:.1f},{height[c]:.1f}" for c in corners)
                faces.append((i + j, middle, f'<polygon points="{outline}" fill="{_tint(_colour(cell), middle)}"/>'))
    drawn = "".join(face for _, _, face in sorted(faces, key=lambda f: f[:2]))
    names = (
        text(60, 262, f"{axes[1]} ↙", classes="axis")
        + text(225, 262, f"↘ {axes[0]}", classes="axis")
        + text(160, 16, title, "middle", classes="title")
    )
    return svg(f'<g stroke="#fff" stroke-width=".3">{drawn}</g>{names}', (320, 290), title)


def curves(lines: Sequence[tuple[str, Floats]], title: str, axes: tuple[str, str]) -> str:
    """Possibility curves: one line per coding, from Q = 1 on, with the half marked."""
    longest = max(int(np.flatnonzero(curve > 0.01)[-1]) if (curve > 0.01).any() else 1 for _, curve in lines)
    marks = [
        f'<path d="M{EDGE} {_up(np.array([0.5]))[0]:.1f}h{SIZE - 2 * EDGE}" stroke="#999" stroke-dasharray="3 3"/>'
    ]
    for i, (name, curve) in enumerate(lines):
        shown = curve[1 : longest + 1]
        at = _across(np.arange(1, len(shown) + 1) / max(longest, 1))
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(at, _up(shown), strict=True))
        marks.append(f'<path d="M{path}" fill="none" stroke="{_colour(i)}" stroke-width="1.6"/>')
        marks.append(f'<text x="{SIZE - EDGE - 4}" y="{EDGE + 14 + 13 * i}" text-anchor="end" class="axis" '
                     f'style="fill:{_colour(i)}">{escape(name)}</text>')  # fmt: skip
    marks.append(f'<text x="{SIZE - EDGE}" y="{SIZE - EDGE + 14}" text-anchor="end" class="axis">{longest}</text>')
    return _framed("".join(marks), title, axes)


def _level_path(values: Floats, line: Floats, level: float) -> str:
    """Line pieces where a function on a square grid equals ``level``: each square is two triangles."""
    i, j = (v.ravel() for v in np.meshgrid(np.arange(len(line) - 1), np.arange(len(line) - 1), indexing="ij"))
    pieces = []
    for corners in (((0, 0), (1, 0), (0, 1)), ((1, 1), (1, 0), (0, 1))):
        a = np.stack([line[i + di] for di, _ in corners])
        b = np.stack([line[j + dj] for _, dj in corners])
        f = np.stack([values[i + di, j + dj] for di, dj in corners]) - level
        ends = []
        for p, q in ((0, 1), (1, 2), (2, 0)):
            crosses = (f[p] > 0) != (f[q] > 0)
            share = np.divide(f[p], f[p] - f[q], out=np.zeros_like(f[p]), where=crosses)
            ends.append((crosses, a[p] + share * (a[q] - a[p]), b[p] + share * (b[q] - b[p])))
        for p, q in ((0, 1), (1, 2), (2, 0)):
            hit = ends[p][0] & ends[q][0]
            pieces += [
                f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"
                for x0, y0, x1, y1 in zip(
                    _across(ends[p][1][hit]),
                    _up(ends[p][2][hit]),
                    _across(ends[q][1][hit]),
                    _up(ends[q][2][hit]),
                    strict=True,
                )
            ]
    return "".join(pieces)


def _dots(unit: Floats, labels: Labels) -> str:
    """One path per cell: a dot is a line of no length with a round end, a tenth of the text of a circle."""
    drawn = []
    for label in np.unique(labels):
        own = unit[labels == label]
        dots = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in zip(_across(own[:, 0]), _up(own[:, 1]), strict=True))
        drawn.append(f'<path d="{dots}" stroke="{_colour(int(label))}"/>')
    return f'<g stroke-width="3.4" stroke-linecap="round" stroke-opacity=".55">{"".join(drawn)}</g>'


def _over_square(degrees: Degrees, side: int) -> tuple[Floats, Floats]:
    """Degrees on a grid over the unit square, and its lines."""
    line = np.linspace(0, 1, side)
    plane = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    return line, degrees(plane).reshape(side, side, -1)


def _line(x: Floats, y: Floats) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(_across(x), _up(y), strict=True))


def _colour(cell: int) -> str:
    return COLOURS[cell % len(COLOURS)]


def _across(x: Floats) -> Floats:
    return EDGE + x * (SIZE - 2 * EDGE)


def _up(y: Floats) -> Floats:
    return SIZE - EDGE - y * (SIZE - 2 * EDGE)


def _tint(colour: str, strength: float) -> str:
    """Return a colour mixed with white: pale where the membership is low."""
    share = 0.25 + 0.75 * strength
    mixed = (round(255 - share * (255 - int(colour[k : k + 2], 16))) for k in (1, 3, 5))
    return "#" + "".join(f"{v:02x}" for v in mixed)


def _framed(marks: str, title: str, axes: tuple[str, str]) -> str:
    inner = SIZE - 2 * EDGE
    frame = (
        f'<rect x="{EDGE}" y="{EDGE}" width="{inner}" height="{inner}" fill="none" stroke="currentColor" '
        'stroke-opacity=".3"/>'
    )
    names = (
        text(SIZE / 2, 20, title, "middle", classes="title")
        + text(SIZE / 2, SIZE - 8, axes[0], "middle", classes="axis")
        + turned_text(12, SIZE / 2, axes[1], classes="axis")
    )
    return svg(frame + marks + names, (SIZE, SIZE), title)
