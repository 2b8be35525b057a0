"""R–U map: every candidate by risk and utility, with the frontier, the limits and the original."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.io.atomic import replace_file
from celosia.parts import summary
from celosia.release.report.environment import templates
from celosia.release.report.texts import title
from celosia.release.report.texts import words as report_words
from celosia.show.formats import number
from celosia.show.plots import ticks
from celosia.show.svg import figure, svg

if TYPE_CHECKING:
    from celosia.frontier import Frontier, Point
    from celosia.frontier.points import Estimate

WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 74, 16, 16, 48
ROW, LETTERS = 18, 84
"""Height of a line of the list of points, and its longest line."""
SIZE = 4.5  # half of the width of a mark
# Hues far apart, of a lightness that is readable on white and on black; shapes distinguish methods without colour.
HUES = (172, 28, 215, 340, 95, 265, 0, 240, 50, 130, 300, 195)
SHAPES = ("circle", "square", "diamond", "triangle", "cross", "down")


@dataclass(frozen=True)
class Window:
    """Section of the map: lower and upper end of the risk and of the loss."""

    risk: tuple[float, float]
    loss: tuple[float, float]

    def holds(self, risk: float, loss: float) -> bool:
        """Return whether a point lies inside."""
        return self.risk[0] <= risk <= self.risk[1] and self.loss[0] <= loss <= self.loss[1]


def whole_window(frontier: Frontier) -> Window:
    """Return the window that contains every candidate, the original and the limits."""
    ends = [e for p in frontier.points for e in (p.risk.high or p.risk.mean, p.risk.mean)]
    losses = [e for p in frontier.points for e in (p.loss.high or p.loss.mean, p.loss.mean)]
    return Window(
        (0.0, _round_up(max([*ends, frontier.original[0], frontier.max_risk or 0.0, 1e-9]))),
        (0.0, _round_up(max([*losses, frontier.original[1], frontier.max_loss or 0.0, 1e-9]))),
    )


def ru_map(
    frontier: Frontier,
    *,
    window: Window | None = None,
    shown: Collection[int] | None = None,
    choosable: bool = False,
    chosen: int | None = None,
    numbered: bool = False,
    language: str = "en",
) -> str:
    """Draw the map as an SVG figure: utility grows to the right, risk upwards, so that the original is top right.

    Each mark is a candidate, with the method as shape and colour, and its name and numbers as tooltip. Bars are the
    intervals over the seeds. ``window`` draws a part of the map, ``shown`` some of the candidates. With ``choosable``
    every mark is a button with the candidate's number, and the page provides the style. ``numbered`` writes the places
    of the points of the frontier beside them, for a picture without tooltips (:func:`frontier_list`).
    """
    words = report_words(language)["map"]
    scale = _Scale(window or whole_window(frontier), language)
    families = list(dict.fromkeys(point.candidate.family for point in frontier.points))
    front = {id(point) for point in frontier.frontier}
    visible = [
        (i, point)
        for i, point in enumerate(frontier.points)
        if (shown is None or i in shown) and scale.window.holds(point.risk.mean, point.loss.mean)
    ]
    marks = [
        _mark(
            scale,
            frontier,
            point,
            families.index(point.candidate.family),
            words,
            on=id(point) in front,
            button=f' data-point="{i}" tabindex="0" role="button" aria-pressed="{str(i == chosen).lower()}"'
            if choosable
            else "",
        )
        for i, point in sorted(visible, key=lambda each: id(each[1]) in front)
    ]
    parts = [
        _axes(scale, frontier, words),
        _limits(scale, frontier, words),
        _line(scale, frontier),
        *marks,
        *(_numbers(scale, frontier) if numbered else ()),
        _original(scale, frontier, words),
    ]
    front_points = "; ".join(
        words["point"].format(
            label=p.label, risk=_share(p.risk.mean, language), loss=_loss(frontier, p.loss.mean, language)
        )
        for p in frontier.frontier
    )
    label = words["told"].format(n=len(frontier.points), front=front_points)
    box = f"{LEFT} {WIDTH - RIGHT - SIZE} {TOP + SIZE} {HEIGHT - BOTTOM}"
    role, attributes = ("group", f'data-box="{box}" data-window="{scale.text}"') if choosable else ("img", "")
    content = ("" if choosable else _style(len(families))) + "".join(parts)
    picture = svg(content, (WIDTH, HEIGHT), label, classes="ru", role=role, attributes=attributes)
    return figure(picture + _legend(families), words["caption"], below=True)


def frontier_list(frontier: Frontier, language: str = "en") -> str:
    """Draw the points of the frontier as a numbered list, with all parameters that may be published."""
    lines: list[str] = []
    for place, point in enumerate(frontier.frontier, 1):
        numbers = f"risk {_share(point.risk.mean, language)}, loss {_loss(frontier, point.loss.mean, language)}"
        wrapped = textwrap.wrap(f"{point.candidate.published}: {numbers}", LETTERS, break_on_hyphens=False)
        lines += [f"{place}  {wrapped[0]}", *(f"    {line}" for line in wrapped[1:])]
    texts = "".join(
        f'<text x="0" y="{ROW * (i + 1) - 5}" xml:space="preserve">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return figure(svg(texts, (WIDTH, ROW * max(1, len(lines))), "; ".join(lines)), "The line, from low to high risk")


def exploration_page(frontier: Frontier, path: Path, *, language: str = "en") -> None:
    """Write the map and the numbers as one self-contained page."""
    from markupsafe import Markup

    from celosia.errors import RequirementError

    front = {id(point) for point in frontier.frontier}
    try:
        best = frontier.best()
        verdict, good = f"Best: {best.label}", True
    except RequirementError as error:
        verdict, good = str(error), False

    def row(point: Point) -> dict[str, Any]:
        return {
            "label": point.label,
            "risk": _range(point.risk, _share),
            "loss": _range(point.loss, lambda v: _loss(frontier, v)),
            "score": f"{frontier.score(point):.1f}",
            "front": id(point) in front,
            "seeds": point.seeds,
            "decided": point.decided,
        }

    text = (
        templates()
        .get_template("explore.html.j2")
        .render(
            heading="Risk and utility",
            verdict=verdict,
            verdict_class="met" if good else "unmet",
            code=language,
            w=report_words(language),
            figure=Markup(ru_map(frontier, language=language)),  # noqa: S704 - every text in it is escaped
            rows=[row(p) for p in sorted(frontier.points, key=frontier.score)],
            failed=list(frontier.failed.items()),
            summaries=(summary(frontier.risk), summary(frontier.loss)),
            risk=frontier.risk,
            loss=frontier.loss,
            original=(_share(frontier.original[0]), _loss(frontier, frontier.original[1])),
        )
    )
    with replace_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


class _Scale:
    """Coordinates of risk and loss in the picture."""

    def __init__(self, window: Window, language: str = "en") -> None:
        self.window, self.language = window, language

    @property
    def text(self) -> str:
        """Ends of the window: risk, then loss."""
        return " ".join(f"{end:.12g}" for end in (*self.window.risk, *self.window.loss))

    def x(self, loss: float, *, clip: bool = True) -> float:
        return WIDTH - RIGHT - SIZE - (WIDTH - LEFT - RIGHT - 2 * SIZE) * _part(loss, self.window.loss, clip=clip)

    def y(self, risk: float, *, clip: bool = True) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM - SIZE) * _part(risk, self.window.risk, clip=clip)


def _part(value: float, ends: tuple[float, float], *, clip: bool) -> float:
    """Return the position of a value between two ends, from 0 to 1; ``clip`` limits it to that range."""
    part = (value - ends[0]) / (ends[1] - ends[0])
    return min(1.0, max(0.0, part)) if clip else part


def _round_up(value: float) -> float:
    """Round up to one significant digit, so that the axis ends at a round number.

    >>> _round_up(0.83), _round_up(37.0), _round_up(1.0)
    (0.9, 40.0, 1.0)
    """
    step = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / step - 1e-9) * step:.12g}")


def _axes(scale: _Scale, frontier: Frontier, words: Mapping[str, str]) -> str:
    left, base = LEFT, HEIGHT - BOTTOM
    out = [f'<path class="axis" d="M{left} {TOP}V{base}H{WIDTH - RIGHT}"/>']
    for risk in ticks(*scale.window.risk, 5):
        text = _tick(risk, percent=True, language=scale.language)
        out.append(f'<path class="grid" d="M{left} {scale.y(risk):.1f}H{WIDTH - RIGHT}"/>')
        out.append(f'<text x="{left - 6}" y="{scale.y(risk) + 4:.1f}" text-anchor="end">{text}</text>')
    for loss in ticks(*scale.window.loss, 5):
        text = _tick(loss, percent=frontier.loss.bounded, language=scale.language)
        out.append(f'<path class="grid" d="M{scale.x(loss):.1f} {TOP}V{base}"/>')
        out.append(f'<text x="{scale.x(loss):.1f}" y="{base + 16}" text-anchor="middle">{text}</text>')
    middle = (left + WIDTH - RIGHT) / 2
    across, up = (
        escape(words[f"{axis} axis"].format(name=_in_sentence(title(part, report_words(scale.language)))))
        for axis, part in (("loss", frontier.loss), ("risk", frontier.risk))
    )
    out.append(f'<text x="{middle:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{across}</text>')
    out.append(f'<text transform="translate(12 {(TOP + base) / 2:.0f}) rotate(-90)" text-anchor="middle">{up}</text>')
    return "".join(out)


def _tick(value: float, *, percent: bool, language: str) -> str:
    """Format a number along an axis, without rounding a small share to 0.

    >>> _tick(0.2, percent=True, language="en"), _tick(0.0005, percent=True, language="es")
    ('20 %', '0,05 %')
    """
    if percent and 0 < value < 0.001:
        return f"{number(100 * value, language=language)} %"
    return number(value, percent=percent, language=language)


def _in_sentence(name: str) -> str:
    """Write a name as in the middle of a sentence.

    >>> _in_sentence("Share of the file"), _in_sentence("PIL of statistics")
    ('share of the file', 'PIL of statistics')
    """
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def _limits(scale: _Scale, frontier: Frontier, words: Mapping[str, str]) -> str:
    out = []
    low_risk, low_loss = scale.window.risk[0], scale.window.loss[0]
    if frontier.max_risk is not None and low_risk <= frontier.max_risk <= scale.window.risk[1]:
        y = scale.y(frontier.max_risk)
        hint = escape(words["risk limit"].format(value=_share(frontier.max_risk, scale.language)))
        out.append(f'<path class="limit" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"><title>{hint}</title></path>')
        below = 14 if y < TOP + 20 else -5
        out.append(f'<text class="limit-word" x="{LEFT + 6}" y="{y + below:.1f}">{hint}</text>')
    if frontier.max_loss is not None and low_loss <= frontier.max_loss <= scale.window.loss[1]:
        x = scale.x(frontier.max_loss)
        hint = escape(words["loss limit"].format(value=_loss(frontier, frontier.max_loss, scale.language)))
        out.append(f'<path class="limit" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"><title>{hint}</title></path>')
        left = x < WIDTH / 2
        place = (
            f'x="{x + (5 if left else -5):.1f}" y="{HEIGHT - BOTTOM - 7}" text-anchor="{"start" if left else "end"}"'
        )
        out.append(f'<text class="limit-word" {place}>{hint}</text>')
    return "".join(out)


def _line(scale: _Scale, frontier: Frontier) -> str:
    if not frontier.points:
        return ""
    places = " ".join(
        f"{scale.x(p.loss.mean, clip=False):.1f},{scale.y(p.risk.mean, clip=False):.1f}" for p in frontier.frontier
    )
    frame = f'x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"'
    clip = f'<clipPath id="ru-frame"><rect {frame}/></clipPath>'
    return f'{clip}<polyline class="front" clip-path="url(#ru-frame)" points="{places}"/>'


def _mark(
    scale: _Scale,
    frontier: Frontier,
    point: Point,
    family: int,
    words: Mapping[str, str],
    *,
    on: bool,
    button: str = "",
) -> str:
    x, y = scale.x(point.loss.mean), scale.y(point.risk.mean)
    hint = (
        f"{point.label}\n{words['risk']} {_range(point.risk, lambda v: _share(v, scale.language))}\n"
        f"{words['loss']} {_range(point.loss, lambda v: _loss(frontier, v, scale.language))}\n"
        f"{words['score']} {frontier.score(point):.1f}{', ' + words['on the frontier'] if on else ''}"
        f"{chr(10) + words['decided'].format(name=point.decided) if point.decided else ''}"
    )
    bars = ""
    if point.risk.low is not None and point.risk.high is not None:
        bars += f"M{x:.1f} {scale.y(point.risk.low):.1f}V{scale.y(point.risk.high):.1f}"
    if point.loss.low is not None and point.loss.high is not None:
        bars += f"M{scale.x(point.loss.low):.1f} {y:.1f}H{scale.x(point.loss.high):.1f}"
    style = f"f{family % len(HUES)}" + ("" if on else " off")
    whiskers = f'<path class="bar" d="{bars}"/>' if bars else ""
    aria = f' aria-label="{escape(hint.replace(chr(10), ", "), quote=True)}"' if button else ""
    shape = _shape(SHAPES[family % len(SHAPES)], x, y)
    return f'<g class="{style}"{button}{aria}>{whiskers}{shape}<title>{escape(hint)}</title></g>'


def _numbers(scale: _Scale, frontier: Frontier) -> list[str]:
    """Draw the position of each frontier point next to its mark."""
    shown = [(i, p) for i, p in enumerate(frontier.frontier, 1) if scale.window.holds(p.risk.mean, p.loss.mean)]
    return [f'<text x="{scale.x(p.loss.mean) + 7:.1f}" y="{scale.y(p.risk.mean) - 6:.1f}">{i}</text>' for i, p in shown]


def _shape(name: str, x: float, y: float, r: float = SIZE) -> str:
    paths = {
        "square": f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z",
        "diamond": f"M{x:.1f} {y - 1.3 * r:.1f}l{1.3 * r} {1.3 * r}l{-1.3 * r} {1.3 * r}l{-1.3 * r} {-1.3 * r}z",
        "triangle": f"M{x:.1f} {y - 1.2 * r:.1f}l{1.2 * r} {2.1 * r}h{-2.4 * r}z",
        "down": f"M{x:.1f} {y + 1.2 * r:.1f}l{1.2 * r} {-2.1 * r}h{-2.4 * r}z",
        "cross": f"M{x - r:.1f} {y - 1.5:.1f}h{r - 1.5}v{1.5 - r}h3v{r - 1.5}h{r - 1.5}v3h{1.5 - r}v{r - 1.5}h-3"
        f"v{1.5 - r}h{1.5 - r}z",
    }
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>' if name == "circle" else f'<path d="{paths[name]}"/>'


def _original(scale: _Scale, frontier: Frontier, words: Mapping[str, str]) -> str:
    if not scale.window.holds(*frontier.original):
        return ""
    x, y = scale.x(frontier.original[1]), scale.y(frontier.original[0])
    hint = escape(
        words["the original"].format(
            risk=_share(frontier.original[0], scale.language),
            loss=_loss(frontier, frontier.original[1], scale.language),
        )
    )
    return (
        f'<g class="original">{_shape("square", x, y, 6)}<title>{hint}</title></g>'
        f'<text x="{x - 10:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(words["original"])}</text>'
    )


def _legend(families: list[str]) -> str:
    keys = "".join(
        f'<span class="key"><svg class="ru mark" viewBox="-7 -7 14 14" aria-hidden="true"><g class="f{i % len(HUES)}">'
        f"{_shape(SHAPES[i % len(SHAPES)], 0, 0)}</g></svg>{escape(name)}</span>"
        for i, name in enumerate(families)
    )
    return f'<div class="legend">{keys}</div>'


def _style(families: int) -> str:
    colours = "".join(
        f".ru .f{i}{{fill:hsl({hue} 65% 42%);stroke:hsl({hue} 65% 42%)}}"
        for i, hue in enumerate(HUES[: max(1, families)])
    )
    return (
        "<style>.ru .axis,.ru .grid,.ru .front,.ru .bar,.ru .limit{fill:none}.ru .axis{stroke:var(--soft,#555)}"
        ".ru .grid{stroke:var(--line,#ddd);stroke-width:.6}.ru .front{stroke:var(--ink,#222);stroke-width:1.4}"
        ".ru .limit{stroke:var(--bad,#a22);stroke-width:1.4;stroke-dasharray:6 4}"
        ".ru .limit-word{fill:var(--bad,#a22);paint-order:stroke;stroke:var(--paper,#fff);stroke-width:3px}"
        ".ru .bar{stroke-width:.8;opacity:.6}"
        "svg.ru{max-width:44rem}.legend .key{white-space:nowrap;display:inline-block}.ru .off{opacity:.55}"
        ".ru .original{fill:none;stroke:var(--ink,#222);stroke-width:2}"
        f"svg.ru.mark{{width:1em;height:1em;display:inline-block;vertical-align:-.12em;margin-right:.3em}}{colours}</style>"
    )


def _share(value: float, language: str = "en") -> str:
    return number(value, percent=True, language=language)


def _loss(frontier: Frontier, value: float, language: str = "en") -> str:
    return number(value, percent=frontier.loss.bounded, language=language)


def _range(estimate: Estimate, show: Callable[[float], str]) -> str:
    if estimate.low is None or estimate.high is None or show(estimate.low) == show(estimate.high):
        return show(estimate.mean)
    return f"{show(estimate.mean)} ({show(estimate.low)} – {show(estimate.high)})"
