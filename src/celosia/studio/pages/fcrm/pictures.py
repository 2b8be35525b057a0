"""SVG picture of the playground: points and regression lines in the colours of their clusters."""

from __future__ import annotations

from html import escape

from celosia.show.plots import Plane, series
from celosia.studio.pages.fcrm.view import Drawing

STANDALONE_STYLE = (
    "text{font:12px sans-serif;fill:#222}.axis,.grid,.line{fill:none}.axis{stroke:#555}.grid{stroke:#ddd}"
    ".line{stroke-width:2.5}"
)
COLOURS = ("#7d918e", "#0b7d70", "#b85c00", "#6650b5", "#2a6cb0", "#a3326b", "#5f7a12", "#8a5a3c", "#c0392b", "#3d4f5c")


def plane(drawing: Drawing) -> Plane:
    """Return the coordinate system of a drawing."""
    return Plane(drawing.across, drawing.up, width=600, height=420)


def picture(drawing: Drawing, *, standalone: bool = False) -> str:
    """Return a drawing as SVG; a ``standalone`` file contains its own style."""
    area = plane(drawing)
    groups: dict[int | None, list[tuple[float, float]]] = {}
    for dot in drawing.dots:
        groups.setdefault(dot.cluster, []).append((dot.x, dot.y))
    marks = [
        area.squares(
            points, "dot" if cluster is None else f"dot {series(cluster)}", 7 if len(drawing.dots) < 800 else 4
        )
        for cluster, points in sorted(groups.items(), key=lambda group: -1 if group[0] is None else group[0])
    ]
    for line in drawing.lines:
        marks.append(area.line(line.ends, f"line {series(line.cluster)}"))
        x, y = line.ends[1]
        marks.append(
            f'<text class="tip" x="{min(area.x(x) - 4, area.width - area.right - 2):.1f}" '
            f'y="{max(area.y(y) - 7, area.top + 12):.1f}" text-anchor="end">{line.cluster + 1}</text>'
        )
    label = f"{len(drawing.dots)} points, {len(drawing.lines)} lines. {drawing.across.name}, {drawing.up.name}"
    if standalone:
        colours = "".join(f".s{i}{{fill:{c};stroke:{c}}}" for i, c in enumerate(COLOURS))
        style = f"<style>{STANDALONE_STYLE}{colours}.line{{fill:none}}.dot{{stroke:none}}</style>"
        return area.draw(style + "".join(marks), label, more=' xmlns="http://www.w3.org/2000/svg"')
    ends = "".join(
        f' data-{name}="{escape(str(value), quote=True)}"'
        for name, value in {
            "x0": drawing.across.low, "x1": drawing.across.high, "y0": drawing.up.low, "y1": drawing.up.high,
            "left": area.left, "right": area.right, "top": area.top, "bottom": area.bottom,
            "width": area.width, "height": area.height,
        }.items()
    )  # fmt: skip
    return area.draw("".join(marks) + '<path class="cursor" d="M-9 0H9M0 -9V9"/>', label, more=ends)
