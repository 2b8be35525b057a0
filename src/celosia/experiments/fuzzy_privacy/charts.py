"""Drawings of cells and memberships as SVG text: points, contour curves, surfaces, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6d597a", "#00798c", "#8d6a9f", "#b5651d", "#4f5d75")
SIZE = 320
EDGE = 34


def points(x: Floats, y: Floats, labels: NDArray[np.int64], title: str, axes: tuple[str, str]) -> str:
    """Records in the unit square, coloured by cell."""
    marks = [
        f'<g fill="{COLOURS[int(label) % len(COLOURS)]}" fill-opacity=".65">'
        + "".join(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="1.8"/>'
            for a, b in zip(_across(x[labels == label]), _up(y[labels == label]), strict=True)
        )
        + "</g>"
        for label in np.unique(labels)
    ]
    return _framed("".join(marks), title, axes)


def contours(
    degrees: Callable[[Floats], Floats], cells: int, title: str, axes: tuple[str, str], centres: Floats
) -> str:
    """Curves of equal membership (0.5, 0.7, 0.9) of each cell over the unit square."""
    side = 61
    line = np.linspace(0, 1, side)
    plane = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    mu = degrees(plane).reshape(side, side, -1)
    marks = []
    for i in range(cells):
        for level, width in ((0.5, 0.8), (0.7, 1.3), (0.9, 1.9)):
            path = _level_path(mu[:, :, i], line, level)
            marks.append(f'<path d="{path}" fill="none" stroke="{COLOURS[i]}" stroke-width="{width}"/>')
        a, b = float(_across(centres[i, :1])[0]), float(_up(centres[i, 1:2])[0])
        marks.append(f'<path d="M{a - 4:.1f} {b:.1f}h8M{a:.1f} {b - 4:.1f}v8" stroke="{COLOURS[i]}" stroke-width="2"/>')
    return _framed("".join(marks), title, axes)


def surface(degrees: Callable[[Floats], Floats], title: str, axes: tuple[str, str]) -> str:
    """The memberships of all cells as surfaces over the unit square, seen from above at an angle."""
    side = 25
    line = np.linspace(0, 1, side)
    plane = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    mu = degrees(plane).reshape(side, side, -1)
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
                faces.append((i + j, middle, f'<polygon points="{outline}" fill="{_tint(COLOURS[cell], middle)}"/>'))
    drawn = "".join(face for _, _, face in sorted(faces, key=lambda f: f[:2]))
    text = (
        f'<text x="60" y="262" class="axis">{axes[1]} ↙</text><text x="225" y="262" class="axis">↘ {axes[0]}</text>'
        f'<text x="160" y="16" text-anchor="middle" class="title">{title}</text>'
    )
    return (
        f'<svg viewBox="0 0 320 290" role="img" aria-label="{title}">'
        f'<g stroke="#fff" stroke-width=".3">{drawn}</g>{text}</svg>'
    )


def curves(lines: Sequence[tuple[str, Floats]], title: str, axes: tuple[str, str]) -> str:
    """Possibility curves: one line per coding, from Q = 1 on, with the half marked."""
    longest = max(int(np.flatnonzero(curve > 0.01)[-1]) if (curve > 0.01).any() else 1 for _, curve in lines)
    marks = [
        f'<path d="M{EDGE} {_up(np.array([0.5]))[0]:.1f}h{SIZE - 2 * EDGE}" stroke="#999" stroke-dasharray="3 3"/>'
    ]
    for i, (name, curve) in enumerate(lines):
        shown = curve[1 : longest + 1]
        at = _across(np.arange(1, len(shown) + 1) / max(longest, 1))
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(at, _up(shown), strict=True))
        marks.append(f'<path d="{path}" fill="none" stroke="{COLOURS[i]}" stroke-width="1.6"/>')
        marks.append(f'<text x="{SIZE - EDGE - 4}" y="{EDGE + 14 + 13 * i}" text-anchor="end" class="axis" '
                     f'style="fill:{COLOURS[i]}">{name}</text>')  # fmt: skip
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


def _across(x: Floats) -> Floats:
    return EDGE + x * (SIZE - 2 * EDGE)


def _up(y: Floats) -> Floats:
    return SIZE - EDGE - y * (SIZE - 2 * EDGE)


def _tint(colour: str, strength: float) -> str:
    """A colour mixed with white: pale where the membership is low."""
    share = 0.25 + 0.75 * strength
    mixed = (round(255 - share * (255 - int(colour[k : k + 2], 16))) for k in (1, 3, 5))
    return "#" + "".join(f"{v:02x}" for v in mixed)


def _framed(marks: str, title: str, axes: tuple[str, str]) -> str:
    inner = SIZE - 2 * EDGE
    return (
        f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{title}">'
        f'<rect x="{EDGE}" y="{EDGE}" width="{inner}" height="{inner}" fill="none" stroke="#bbb"/>{marks}'
        f'<text x="{SIZE / 2}" y="20" text-anchor="middle" class="title">{title}</text>'
        f'<text x="{SIZE / 2}" y="{SIZE - 8}" text-anchor="middle" class="axis">{axes[0]}</text>'
        f'<text x="12" y="{SIZE / 2}" text-anchor="middle" class="axis" transform="rotate(-90 12 {SIZE / 2})">'
        f"{axes[1]}</text>"
        "</svg>"
    )
