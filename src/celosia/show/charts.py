"""Small charts as inline SVG: they follow the theme of the page, print well and carry a text for screen readers.

Drawn here and not by a chart library: ``docs/developers/report.md`` has the numbers of the libraries that were tried.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from celosia.show.formats import number
from celosia.show.plots import ticks
from celosia.show.svg import figure, svg, text, tooltip

WIDTH = 440
WIDE = 760
"""Of a picture that takes the whole width of a page (class ``wide``)."""
_ROW = 20
_LINE = 14
_LABEL = 150
_LETTERS = 21
"""Letters of a label in one line; a longer one takes several."""
_VALUE = 58


def bars(
    title: str,
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float | None]]],
    *,
    percent: bool = True,
    language: str = "en",
) -> str:
    """Horizontal bars, one group per label and one bar per series; None is a withheld number.

    >>> bars("ages", ["young", "old"], [("now", [0.25, 0.75])]).startswith("<figure")
    True
    """
    most = max((value for _, values in series for value in values if value), default=1.0) or 1.0
    left = _label_width([line for label in labels for line in _lines(label)])
    room = WIDTH - left - _VALUE
    first = 0 if len(series) > 1 else 1
    rows = []
    y = 4.0
    for i, label in enumerate(labels):
        lines = _lines(label)
        height = max(_ROW * len(series), _LINE * len(lines))
        rows.append(_label(left - 8, y + height / 2, lines))
        for j, (name, values) in enumerate(series):
            value = values[i]
            width = 0.0 if value is None else max(1.0 if value > 0 else 0.0, room * value / most)
            said = _number_text(value, percent=percent, language=language)
            top = y + (height - _ROW * len(series)) / 2 + _ROW * j
            rows.append(
                f'<rect class="s{j + first}" x="{left}" y="{top + 3:.0f}" width="{width:.1f}" height="{_ROW - 6}" '
                f'rx="2">{tooltip(f"{label}, {name}: {said}")}</rect>'
            )
            rows.append(text(left + width + 6, top + _ROW / 2 + 4, said))
        y += height + 10
    described = "; ".join(
        f"{label}: "
        + ", ".join(f"{name} {_number_text(values[i], percent=percent, language=language)}" for name, values in series)
        for i, label in enumerate(labels)
    )
    picture = svg("".join(rows), (WIDTH, round(y + 4)), f"{title}. {described}")
    return figure(picture, title, legend=legend([name for name, _ in series]))


def stacked_bars(
    title: str, bands: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]], *, language: str = "en"
) -> str:
    """Return one bar per row, divided into bands from bad to good (class ``r0``, ``r1``, …); None is a withheld share.

    >>> stacked_bars("risk", ["high", "low"], [("before", [0.75, 0.25]), ("after", [0, 1])]).count("<rect")
    3
    """
    said_above, thick, row = 30, 32, 72
    drawn, spoken_rows = [], []
    for i, (name, shares) in enumerate(rows):
        y, x = i * row + said_above, 0.0
        whole = sum(value or 0.0 for value in shares) or 1.0
        drawn.append(text(0, y - 8, name))
        for j, value in enumerate(shares):
            width = WIDE * (value or 0.0) / whole
            if not width:
                continue
            said = number(value or 0.0, percent=True, language=language)
            drawn.append(
                f'<rect class="r{j}" x="{x:.1f}" y="{y}" width="{max(1.0, width):.1f}" height="{thick}">'
                f"{tooltip(f'{name}, {bands[j]}: {said}')}</rect>"
            )
            if width > 15 * len(said):  # a phone draws the letters twice as wide
                place = f'x="{x + width / 2:.1f}" y="{y + thick / 2:.0f}"'
                drawn.append(
                    f'<text class="on-r{j}" {place} text-anchor="middle" dominant-baseline="central">{said}</text>'
                )
            x += width
        shown = ", ".join(f"{band} {_number_text(v, language=language)}" for band, v in zip(bands, shares, strict=True))
        spoken_rows.append(f"{name}: {shown}")
    height = len(rows) * row - 8
    picture = svg("".join(drawn), (WIDE, height), f"{title}. {'; '.join(spoken_rows)}")
    return figure(picture, title, legend=legend(bands, "r"), classes="wide")


def overlay(
    title: str,
    edges: Sequence[float],
    series: Sequence[tuple[str, Sequence[float | None]]],
    *,
    language: str = "en",
) -> str:
    """Histograms over the same ranges, one on top of the other: the first filled, the others as outlines.

    >>> overlay("age", [0, 10, 20], [("before", [0.5, 0.5]), ("after", [0.4, 0.6])]).count("outline")
    1
    """
    height, left, base = 150, 56, 122
    heights = [(name, [value or 0.0 for value in values]) for name, values in series]
    most = max((value for _, values in heights for value in values), default=0.0) or 1.0
    room = WIDTH - left - 16
    low, high = float(edges[0]), float(edges[-1])

    def x(value: float) -> float:
        return left + room * (value - low) / ((high - low) or 1.0)

    drawn = [f'<path d="M{left} 8V{base}H{WIDTH - 16}" fill="none" stroke="currentColor" stroke-opacity=".3"/>']
    for j, (_, values) in enumerate(heights):
        tops = [base - (base - 8) * value / most for value in values]
        steps = "".join(f"V{top:.1f}H{x(edge):.1f}" for top, edge in zip(tops, edges[1:], strict=True))
        drawn.append(f'<path class="{"area" if j == 0 else "outline"} s{j}" d="M{x(low):.1f} {base}{steps}V{base}Z"/>')
    marks = ticks(low, high, 4) if high > low else (low,)
    drawn += [text(x(t), base + 18, number(t, language=language), anchor="middle") for t in marks]
    drawn.append(text(left - 6, 14, number(most, percent=True, language=language), anchor="end"))
    drawn.append(text(left - 6, base, number(0.0, percent=True, language=language), anchor="end"))
    peaks = "; ".join(
        f"{name}: {number(max(values), percent=True, language=language)} "
        f"{number(float(edges[values.index(max(values))]), language=language)}"
        for name, values in heights
        if values
    )
    picture = svg("".join(drawn), (WIDTH, height), f"{title}. {peaks}")
    return figure(picture, title, legend=legend([name for name, _ in series]))


def cut_histogram(
    title: str, edges: Sequence[float], counts: Sequence[int], breaks: Sequence[float], *, step: float, grip: str
) -> str:
    """Return a histogram with breaks that can be dragged: each is a slider that keys move too; ``grip`` names the i-th
    one.

    >>> cut_histogram("age", [0, 5, 10], [3, 4], [5.0], step=1, grip="break {n}").count('role="slider"')
    1
    """
    width, base, left = 2 * WIDTH, 170, 10
    room, low, high = width - 2 * left, float(edges[0]), float(edges[-1])

    def x(value: float) -> float:
        return left + room * min(1.0, max(0.0, (value - low) / ((high - low) or 1.0)))

    most = max(counts, default=0) or 1
    drawn = [
        f'<rect class="s0" x="{x(a):.1f}" y="{base - 150 * n / most:.1f}" width="{max(0.5, x(b) - x(a) - 1):.1f}" '
        f'height="{150 * n / most:.1f}"><title>{number(float(a))} – {number(float(b))}: {n:,}</title></rect>'
        for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    marks = [low + (high - low) * i / 4 for i in range(5)]
    anchors = ("start", "middle", "middle", "middle", "end")
    drawn += [text(x(t), base + 20, number(t), anchor=a) for t, a in zip(marks, anchors, strict=True)]
    for i, value in enumerate(breaks):
        drawn.append(
            f'<g class="grip" id="grip-{i}" data-break="{i}" transform="translate({x(value):.1f} 0)" tabindex="0" '
            f'role="slider" aria-orientation="horizontal" aria-valuemin="{low:g}" aria-valuemax="{high:g}" '
            f'aria-valuenow="{value:g}" aria-label="{escape(grip.format(n=i + 1), quote=True)}">'
            f'<rect class="reach" x="-14" y="0" width="28" height="{base}"/><path class="cut" d="M0 8V{base}"/>'
            f'<circle cy="12" r="9"/><text y="{base + 38}" text-anchor="middle">{value:g}</text></g>'
        )
    frame = f'data-low="{low:g}" data-high="{high:g}" data-left="{left}" data-room="{room}" data-step="{step:g}"'
    picture = svg("".join(drawn), (width, base + 46), title, classes="cuts", role="group", attributes=frame)
    return figure(picture, title)


def heatmap(title: str, names: Sequence[str], values: Sequence[Sequence[float]], *, language: str = "en") -> str:
    """Return a square of numbers between -1 and 1, one per pair of columns; the stronger, the darker (class ``h0`` to
    ``h9``).

    >>> heatmap("correlation", ["a", "b"], [[1.0, -0.5], [-0.5, 1.0]]).count("<rect")
    4
    """
    from babel.numbers import format_decimal

    from celosia.show.formats import LOCALES

    def said(value: float) -> str:
        return str(format_decimal(round(value, 2) + 0.0, "0.00", locale=LOCALES[language]))

    left = _label_width([line for i, name in enumerate(names) for line in _lines(f"{i + 1} {name}")])
    cell, top = min(46, (WIDTH - left) // max(1, len(names))), 20
    drawn = []
    for i, row in enumerate(values):
        drawn.append(_label(left - 8, top + i * cell + cell / 2, _lines(f"{i + 1} {names[i]}"), room=cell))
        drawn.append(text(left + i * cell + cell / 2, 14, str(i + 1), anchor="middle"))
        for j, value in enumerate(row):
            shade = min(9, int(abs(value) * 10))
            sign = " minus" if value < 0 else ""
            hint = tooltip(f"{names[i]}, {names[j]}: {said(value)}")
            drawn.append(
                f'<rect class="h{shade}{sign}" x="{left + j * cell}" y="{top + i * cell}" width="{cell - 1}" '
                f'height="{cell - 1}">{hint}</rect>'
            )
            if cell >= 34:
                place = f'x="{left + j * cell + cell / 2:.0f}" y="{top + i * cell + cell / 2 + 4:.0f}"'
                drawn.append(f'<text class="t{shade}" {place} text-anchor="middle">{said(value)}</text>')
    pairs = "; ".join(
        f"{names[i]} {names[j]} {said(values[i][j])}" for i in range(len(names)) for j in range(i + 1, len(names))
    )
    picture = svg("".join(drawn), (WIDTH, top + cell * len(names)), f"{title}. {pairs}", classes="heat")
    return figure(picture, title, classes="heat")


def legend(names: Sequence[str], classes: str = "s") -> str:
    """Return the key of colours to series, or nothing for a single series."""
    if len(names) < 2:
        return ""
    keys = "".join(
        f'<span class="key"><span class="swatch {classes}{j}"></span>{escape(name)}</span>'
        for j, name in enumerate(names)
    )
    return f'<div class="legend" aria-hidden="true">{keys}</div>'


def _number_text(value: float | None, *, percent: bool = True, language: str = "en") -> str:
    return "…" if value is None else number(value, percent=percent, language=language)


def _lines(label: str, letters: int = _LETTERS) -> list[str]:
    """Wrap a label into as many lines as it needs."""
    return textwrap.wrap(label, letters, break_on_hyphens=False) or [""]


def _label_width(lines: Sequence[str]) -> int:
    """Return the width that labels take next to their bars."""
    return min(_LABEL, 14 + 7 * max(map(len, lines), default=0))


def _label(x: float, middle: float, lines: Sequence[str], room: float = 0.0) -> str:
    """Return lines of text that end at ``x``, centred on ``middle``; closer together where ``room`` is small."""
    line = min(_LINE, room / len(lines)) if room else _LINE
    top = middle + 4 - line * (len(lines) - 1) / 2
    spans = "".join(f'<tspan x="{x:.0f}" y="{top + line * i:.1f}">{escape(t)}</tspan>' for i, t in enumerate(lines))
    return f'<text text-anchor="end">{spans}</text>'
