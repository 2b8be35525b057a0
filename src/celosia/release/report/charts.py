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
        rows.append(_text(_LABEL - 8, y + (_ROW * many) / 2 + 4, label, anchor="end", limit=18))
        for j, (name, values) in enumerate(series):
            value = values[i]
            width = 0.0 if value is None else max(1.0 if value > 0 else 0.0, room * value / most)
            said = "…" if value is None else number(value, percent=percent)
            rows.append(
                f'<rect class="s{j}" x="{_LABEL}" y="{y + 3:.0f}" width="{width:.1f}" height="{_ROW - 6}" rx="2">'
                f"<title>{escape(f'{label}, {name}: {said}')}</title></rect>"
            )
            rows.append(_text(_LABEL + width + 6, y + _ROW / 2 + 4, said))
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


def _text(x: float, y: float, text: str, anchor: str = "start", limit: int = 40) -> str:
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(shown)}</text>'
