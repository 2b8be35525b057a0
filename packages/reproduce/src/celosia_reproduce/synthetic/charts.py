"""Drawings as SVG text: loss and risk against c, surfaces over c and N, points with their regressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from celosia.show.svg import svg, text, turned_text
from celosia_reproduce.synthetic.sweeps import Drawing

Floats = NDArray[np.float64]
COLOURS = ("#b3362b", "#2f7d4f", "#6d4c9f", "#1b6ca8", "#c07d12", "#00798c", "#8d6a9f", "#b5651d", "#4f5d75", "#7a7a18")
WIDTH, HEIGHT, EDGE = 460, 300, 40


def curves(title: str, series: Sequence[tuple[str, Mapping[float, float], bool]], axis: str) -> str:
    """One line per series over the same parameter; dashed ones are those of the source.

    >>> curves("loss", [("PIL", {2: 40.0, 3: 30.0}, False)], "c").count("<path")
    1
    """
    ends = [p for _, values, _ in series for p in values]
    low, high = min(ends), max(ends)
    marks = []
    for i, (name, values, dashed) in enumerate(series):
        colour = COLOURS[(i // 2) % len(COLOURS)]
        places = [(_across(p, low, high), _up(v, 100.0)) for p, v in sorted(values.items())]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        marks.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
        marks.append(
            f'<text x="{EDGE + 105 * i}" y="{EDGE - 8}" class="axis" style="fill:{colour}">'
            f"{escape(name)}{' - - -' if dashed else ' ——'}</text>"
        )
    marks += [
        f'<text x="{EDGE - 6}" y="{_up(level, 100.0) + 4:.0f}" text-anchor="end" class="axis">{level}</text>'
        for level in (0, 25, 50, 75, 100)
    ]
    marks += [
        f'<text x="{_across(end, low, high):.0f}" y="{HEIGHT - EDGE + 16}" text-anchor="middle" class="axis">'
        f"{end:g}</text>"
        for end in (low, high)
    ]
    return _framed("".join(marks), title, axis, "per cent")


def surfaces(title: str, sheets: Sequence[tuple[str, Mapping[tuple[int, int], float]]]) -> str:
    """Sheets over (c, N), seen from above at an angle; each in a colour of its own."""
    numbers = sorted({c for _, sheet in sheets for c, _ in sheet})
    widths = sorted({n for _, sheet in sheets for _, n in sheet})
    faces: list[tuple[float, float, str]] = []
    for i, (_, sheet) in enumerate(sheets):
        for a in range(len(numbers) - 1):
            for b in range(len(widths) - 1):
                corners = ((a, b), (a + 1, b), (a + 1, b + 1), (a, b + 1))
                heights = [sheet[numbers[p], widths[q]] for p, q in corners]
                outline = " ".join(
                    "{:.1f},{:.1f}".format(*_tilted(p / (len(numbers) - 1), q / (len(widths) - 1), z / 100))
                    for (p, q), z in zip(corners, heights, strict=True)
                )
                faces.append(
                    (
                        a + b,
                        float(np.mean(heights)),
                        (
                            f'<polygon points="{outline}" fill="{COLOURS[i]}" fill-opacity=".55" stroke="{COLOURS[i]}" '
                            'stroke-width=".6"/>'
                        ),
                    )
                )
    drawn = "".join(face for _, _, face in sorted(faces, key=lambda f: f[:2]))
    names = "".join(
        f'<text x="{WIDTH - 10}" y="{34 + 14 * i}" text-anchor="end" class="axis" style="fill:{COLOURS[i]}">'
        f"{escape(name)}</text>"
        for i, (name, _) in enumerate(sheets)
    )
    foot = (
        f'<text x="60" y="{HEIGHT - 4}" class="axis">N = {widths[0]} … {widths[-1]} ↙</text>'
        f'<text x="{WIDTH - 60}" y="{HEIGHT - 4}" text-anchor="end" class="axis">'
        f"↘ c = {numbers[0]} … {numbers[-1]}</text>"
    )
    return _svg(drawn + names + foot, title)


def scatter(title: str, picture: Drawing) -> str:
    """Points in the colour of their cluster, and the line of each cluster over the points it has."""
    x, y = picture.x, picture.y
    left, right, bottom, top = float(x.min()), float(x.max()), float(y.min()), float(y.max())

    def at(a: float, b: float) -> tuple[float, float]:
        return _across(a, left, right), _up(b - bottom, (top - bottom) or 1.0)

    marks = []
    for i in np.unique(picture.cluster):
        mine = picture.cluster == i
        colour = COLOURS[int(i) % len(COLOURS)]
        spots = "".join(
            '<rect x="{:.1f}" y="{:.1f}" width="4" height="4"/>'.format(*(v - 2 for v in at(a, b)))
            for a, b in zip(x[mine], y[mine], strict=True)
        )
        ends = np.array([x[mine].min(), x[mine].max()])
        line = picture.lines[i, 0] + picture.lines[i, 1] * ends
        (x0, y0), (x1, y1) = (at(float(a), float(b)) for a, b in zip(ends, line, strict=True))
        marks.append(f'<g fill="{colour}" fill-opacity=".6">{spots}</g>')
        marks.append(f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{colour}" stroke-width="2.2"/>')
    return _framed("".join(marks), title, "x", "y")


def _tilted(a: float, b: float, z: float) -> tuple[float, float]:
    return WIDTH / 2 + 190 * (a - b), 150 + 62 * (a + b) - 125 * z


def _across(value: float, low: float, high: float) -> float:
    return EDGE + (value - low) / ((high - low) or 1.0) * (WIDTH - 2 * EDGE)


def _up(value: float, most: float) -> float:
    return HEIGHT - EDGE - value / most * (HEIGHT - 2 * EDGE)


def _framed(marks: str, title: str, across: str, up: str) -> str:
    box = (
        f'<rect x="{EDGE}" y="{EDGE}" width="{WIDTH - 2 * EDGE}" height="{HEIGHT - 2 * EDGE}" fill="none" '
        'stroke="currentColor" stroke-opacity=".3"/>'
    )
    names = text(WIDTH / 2, HEIGHT - 8, across, "middle", classes="axis") + turned_text(
        12, HEIGHT / 2, up, classes="axis"
    )
    return _svg(box + marks + names, title)


def _svg(marks: str, title: str) -> str:
    return svg(text(WIDTH / 2, 16, title, "middle", classes="title") + marks, (WIDTH, HEIGHT), title)
