"""Small charts as inline SVG: they follow the theme of the page, print well and carry a text for screen readers.

Drawn here and not by a chart library, because a picture with fixed colours cannot follow light and dark, and because
the two libraries it would take weigh more than the rest of the report and a second of CPU each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH = 440
_ROW = 20
_LABEL = 126
_VALUE = 58


def bars(
    title: str,
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float | None]]],
    *,
    percent: bool = True,
) -> str:
    """Horizontal bars, one group per label and one bar per series; None is a withheld number.

    >>> bars("ages", ["young", "old"], [("now", [0.25, 0.75])]).startswith("<figure")
    True
    """
    many = len(series)
    height = len(labels) * (_ROW * many + 10) + 8
    most = max((value for _, values in series for value in values if value), default=1.0) or 1.0
    room = WIDTH - _LABEL - _VALUE
    rows = []
    y = 4
    for i, label in enumerate(labels):
        rows.append(_caption(_LABEL - 8, y + (_ROW * many) / 2 + 4, label, anchor="end", limit=18))
        for j, (name, values) in enumerate(series):
            value = values[i]
            width = 0.0 if value is None else max(1.0 if value > 0 else 0.0, room * value / most)
            said = "…" if value is None else number(value, percent=percent)
            rows.append(
                f'<rect class="s{j}" x="{_LABEL}" y="{y + 3:.0f}" width="{width:.1f}" height="{_ROW - 6}" rx="2">'
                f"<title>{escape(f'{label}, {name}: {said}')}</title></rect>"
            )
            rows.append(_caption(_LABEL + width + 6, y + _ROW / 2 + 4, said))
            y += _ROW
        y += 10
    described = "; ".join(
        f"{label}: "
        + ", ".join(
            f"{name} {'…' if values[i] is None else number(values[i] or 0.0, percent=percent)}"
            for name, values in series
        )
        for i, label in enumerate(labels)
    )
    label = escape(f"{title}. {described}", quote=True)
    svg = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}">{"".join(rows)}</svg>'
    return f"<figure>{legend([name for name, _ in series])}{svg}<figcaption>{escape(title)}</figcaption></figure>"


def overlay(title: str, edges: Sequence[float], series: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Histograms over the same ranges, one on top of the other: the first filled, the others as outlines.

    >>> overlay("age", [0, 10, 20], [("before", [0.5, 0.5]), ("after", [0.4, 0.6])]).count("<path")
    2
    """
    height, left, base = 150, 8, 122
    most = max((value for _, values in series for value in values), default=0.0) or 1.0
    room = WIDTH - 2 * left
    at = [left + room * (edge - edges[0]) / ((edges[-1] - edges[0]) or 1.0) for edge in edges]
    drawn = []
    for j, (_, values) in enumerate(series):
        tops = [base - (base - 8) * value / most for value in values]
        steps = "".join(f"V{top:.1f}H{x:.1f}" for top, x in zip(tops, at[1:], strict=True))
        drawn.append(f'<path class="{"area" if j == 0 else "outline"} s{j}" d="M{at[0]:.1f} {base}{steps}V{base}Z"/>')
    places = [(0, "start"), (len(edges) // 2, "middle"), (len(edges) - 1, "end")]
    texts = [_caption(at[i], base + 18, number(float(edges[i])), anchor=anchor) for i, anchor in places]
    peaks = "; ".join(
        f"{name}: {number(max(values), percent=True)} {number(float(edges[list(values).index(max(values))]))}"
        for name, values in series
        if len(values)
    )
    label = escape(f"{title}. {peaks}", quote=True)
    svg = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">{"".join(drawn)}{"".join(texts)}</svg>'
    return f"<figure>{legend([name for name, _ in series])}{svg}<figcaption>{escape(title)}</figcaption></figure>"


def cut_histogram(
    title: str, edges: Sequence[float], counts: Sequence[int], breaks: Sequence[float], *, step: float, grip: str
) -> str:
    """A histogram with breaks that can be dragged: each is a slider that keys move too; ``grip`` names the i-th one.

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
    ticks = [low + (high - low) * i / 4 for i in range(5)]
    anchors = ("start", "middle", "middle", "middle", "end")
    drawn += [_caption(x(t), base + 20, number(t), anchor=a) for t, a in zip(ticks, anchors, strict=True)]
    for i, value in enumerate(breaks):
        drawn.append(
            f'<g class="grip" id="grip-{i}" data-break="{i}" transform="translate({x(value):.1f} 0)" tabindex="0" '
            f'role="slider" aria-orientation="horizontal" aria-valuemin="{low:g}" aria-valuemax="{high:g}" '
            f'aria-valuenow="{value:g}" aria-label="{escape(grip.format(n=i + 1), quote=True)}">'
            f'<rect class="reach" x="-14" y="0" width="28" height="{base}"/><path class="cut" d="M0 8V{base}"/>'
            f'<circle cy="12" r="9"/><text y="{base + 38}" text-anchor="middle">{value:g}</text></g>'
        )
    frame = f'data-low="{low:g}" data-high="{high:g}" data-left="{left}" data-room="{room}" data-step="{step:g}"'
    label = escape(title, quote=True)
    svg = f'<svg class="cuts" viewBox="0 0 {width} {base + 46}" role="group" aria-label="{label}" {frame}>'
    return f"<figure>{svg}{''.join(drawn)}</svg><figcaption>{escape(title)}</figcaption></figure>"


def heatmap(title: str, names: Sequence[str], values: Sequence[Sequence[float]]) -> str:
    """A square of numbers between -1 and 1, one per pair of columns; the stronger, the darker (class ``h0`` to ``h9``).

    >>> heatmap("correlation", ["a", "b"], [[1.0, -0.5], [-0.5, 1.0]]).count("<rect")
    4
    """
    cell = min(46, (WIDTH - _LABEL) // max(1, len(names)))
    size = cell * len(names)
    drawn = []
    for i, row in enumerate(values):
        drawn.append(_caption(_LABEL - 8, i * cell + cell / 2 + 4, names[i], anchor="end", limit=18))
        for j, value in enumerate(row):
            shade = min(9, int(abs(value) * 10))
            sign = " minus" if value < 0 else ""
            hint = escape(f"{names[i]}, {names[j]}: {value:.2f}")
            drawn.append(
                f'<rect class="h{shade}{sign}" x="{_LABEL + j * cell}" y="{i * cell}" width="{cell - 1}" '
                f'height="{cell - 1}"><title>{hint}</title></rect>'
            )
            if cell >= 30:
                place = f'x="{_LABEL + j * cell + cell / 2:.0f}" y="{i * cell + cell / 2 + 4:.0f}"'
                drawn.append(f'<text class="t{shade}" {place} text-anchor="middle">{value:.2f}</text>')
    pairs = "; ".join(
        f"{names[i]} {names[j]} {values[i][j]:.2f}" for i in range(len(names)) for j in range(i + 1, len(names))
    )
    label = escape(f"{title}. {pairs}", quote=True)
    svg = f'<svg viewBox="0 0 {WIDTH} {size}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    return f'<figure class="heat">{svg}<figcaption>{escape(title)}</figcaption></figure>'


def legend(names: Sequence[str]) -> str:
    """Which colour is which series; nothing for a single one."""
    if len(names) < 2:
        return ""
    keys = "".join(
        f'<span class="key"><span class="swatch s{j}"></span>{escape(name)}</span>' for j, name in enumerate(names)
    )
    return f'<div class="legend" aria-hidden="true">{keys}</div>'


def number(value: float, *, percent: bool = False) -> str:
    """A number for people: three significant digits, a percentage with one digit.

    >>> number(0.1234, percent=True), number(12918200.0), number(0.000123), number(5.0)
    ('12.3 %', '12,918,200', '0.000123', '5')
    """
    if percent:
        share = 100 * value
        if 0 < share < 0.1:
            return "< 0.1 %"
        return f"{share:.1f} %"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _caption(x: float, y: float, text: str, anchor: str = "start", limit: int = 40) -> str:
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(shown)}</text>'
