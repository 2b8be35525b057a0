"""SVG pictures of the page: membership functions with handles, and curves of Q-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from celosia.show.plots import Axis, Plane, series
from celosia.studio.pages.fuzzy.view import ColumnView, CurveView, SetFacts

RADIUS = 9
MIN_STEP = 0.002
"""Smallest step of a curve that is drawn."""


def sets_picture(view: ColumnView, words: dict[str, str]) -> str:
    """Draw memberships over the histogram of a column; each point of a chain is a draggable slider."""
    plane = Plane(
        Axis(view.column, view.low, view.high), Axis(words["degree"], 0.0, 1.0), width=720, height=340, top=26
    )
    width = (view.high - view.low) / len(view.bins)
    bars = "".join(
        f'<path class="bin" d="M{plane.x(view.low + i * width) + 0.5:.1f} {plane.y(0):.1f}'
        f'V{plane.y(0.92 * height):.1f}H{plane.x(view.low + (i + 1) * width) - 0.5:.1f}V{plane.y(0):.1f}Z"/>'
        for i, height in enumerate(view.bins)
        if height > 0
    )
    shapes = "".join(
        f'<g class="set" data-set="{i}">{plane.area(facts.outline, f"area {series(i)}")}'
        f"{plane.line(facts.outline, f'line {series(i)}')}{_name(plane, facts)}</g>"
        for i, facts in enumerate(view.sets)
        if facts.outline
    )
    label = "; ".join(f"{facts.name} {facts.literal}" for facts in view.sets)
    if view.chain is None:
        return plane.draw(bars + shapes, label)
    more = "".join(
        f' data-{name}="{escape(str(value), quote=True)}"'
        for name, value in {
            "column": view.column, "points": " ".join(map(repr, view.chain.points)), "step": view.step,
            "low": view.low, "high": view.high, "left": plane.left, "right": plane.width - plane.right,
            "full": plane.y(1), "none": plane.y(0), "width": plane.width,
        }.items()
    )  # fmt: skip
    return plane.draw(bars + shapes + _handles(plane, view, words), label, "plane sets", "group", more)


def _name(plane: Plane, facts: SetFacts) -> str:
    """Return the label of a set above the middle of its core."""
    top = [x for x, degree in facts.outline if degree == 1.0]
    if not top:
        return ""
    middle = (plane.x(top[0]) + plane.x(top[-1])) / 2
    return f'<text class="name" x="{middle:.1f}" y="{plane.top - 9}" text-anchor="middle">{escape(facts.name)}</text>'


def _handles(plane: Plane, view: ColumnView, words: dict[str, str]) -> str:
    chain = view.chain
    assert chain is not None
    out = []
    for i, value in enumerate(chain.points):
        left, right = chain.names[i // 2], chain.names[i // 2 + 1]
        label = (words["ends"] if i % 2 else words["begins"]).format(left=left, right=right)
        low = chain.points[i - 1] if i else view.low
        high = chain.points[i + 1] if i + 1 < len(chain.points) else view.high
        out.append(
            f'<g class="handle" id="handle-{i}" role="slider" tabindex="0" aria-label="{escape(label, quote=True)}" '
            f'aria-valuemin="{low!r}" aria-valuemax="{high!r}" aria-valuenow="{value!r}" '
            f'transform="translate({plane.x(value):.1f} {plane.y(0.0 if i % 2 else 1.0):.1f})">'
            f'<circle class="reach" r="18"/><circle class="{series(i // 2)}" r="{RADIUS}"/></g>'
        )
    return "".join(out)


def curve_picture(curves: Sequence[tuple[str, CurveView]], words: dict[str, str]) -> str:
    """Draw curves of possibility over Q, with the required possibility as a line."""
    drawn = [(name, view) for name, view in curves if view.q]
    if not drawn:
        return ""
    longest = max(view.q[-1] for _, view in drawn)
    plane = Plane(Axis("Q", 0, max(longest, 2)), Axis(words["possibility"], 0.0, 1.0), width=520, height=290)
    least = drawn[0][1].least
    marks = [f'<path class="limit" d="M{plane.left} {plane.y(least):.1f}H{plane.width - plane.right}"/>']
    for i, (_, view) in enumerate(drawn):
        points = steps(view.q, view.possibility)
        marks.append(plane.line(points, f"line {series(i)}"))
        marks.append(f'<circle class="{series(i)}" cx="{plane.x(view.reached):.1f}" cy="{plane.y(least):.1f}" r="6"/>')
    label = "; ".join(f"{name}: Q = {view.reached}" for name, view in drawn)
    return plane.draw("".join(marks), label)


def steps(q: Sequence[int], possibility: Sequence[float]) -> list[tuple[float, float]]:
    """Return a falling curve as a step function; invisible steps are left out.

    >>> steps((1, 2, 3), (0.5, 0.5, 0.25))
    [(0.0, 0.5), (2.0, 0.5), (2.0, 0.25), (3.0, 0.25), (3.0, 0.0)]
    """
    points = [(0.0, possibility[0])]
    for at, after in zip(q, (*possibility[1:], 0.0), strict=True):
        if points[-1][1] - after > MIN_STEP or after == 0.0:
            points += [(float(at), points[-1][1]), (float(at), after)]
    return points
