"""The lattice of hierarchy levels as an SVG picture: the evaluated nodes, those that hold, and the best one."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, TypeAlias

from celosia.search.lattice.explanation import minimal_safe_nodes

Node: TypeAlias = list[Any]
"""``[levels, suppressed, classes, score, holds]``."""
DRAWN = 400
"""Largest number of nodes drawn; a picture with more is illegible."""
WIDTH = 900
ROW = 44
LEFT = 60
COLOURS = {
    "best": "var(--s2, #b5482a)",
    "safe": "var(--s1, #3d7a57)",
    "holds": "var(--s0, #a9cdb8)",
    "fails": "var(--soft, #8c857b)",
}
"""Colours of the page that contains the picture, with defaults."""
INK = 'fill="var(--ink, #222)"'
LABELLED = 12
"""Nodes of a row up to which each is labelled with its levels; of a longer one the best and the minimal are."""
ENGLISH = {
    "optimum": "optimum",
    "minimal": "minimal, holds",
    "holds": "holds",
    "fails": "does not hold",
    "told": "Lattice of {size} nodes, {judged} judged, {drawn} drawn",
    "node": "{levels}; loss {loss}; {suppressed} suppressed; {classes} classes; {verdict}",
    "key": "Numbers are the levels of {columns}, in this order.",
}
"""Texts of the picture; a page in another language passes its own."""


def lattice_svg(lattice: Mapping[str, Any], words: Mapping[str, str] = ENGLISH) -> str:
    """Draw a recorded lattice (:func:`celosia.search.lattice.explanation.lattice_record`), fine nodes at the bottom.

    The best node, the minimal nodes that hold, other nodes that hold and nodes that fail differ in colour and in shape
    (so that the picture can be read without colours); lines join nodes that differ by one level of one column. Labels
    are the levels of the columns in their order.
    Texts name columns, levels and counts only.

    >>> picture = lattice_svg({"columns": ["age"], "lower": [0], "upper": [1], "size": 2, "optimal": True, "best": [1],
    ...                        "nodes": [[[0], 3, 0, 0.0, False], [[1], 0, 1, 1.0, True]]})
    >>> picture.startswith("<svg"), picture.count("<title>")
    (True, 3)
    """
    chosen = _chosen(lattice)
    rows: dict[int, list[Any]] = {}
    for node in chosen:
        rows.setdefault(sum(node[0]), []).append(node)
    heights = sorted(rows)
    place: dict[tuple[int, ...], tuple[float, float]] = {}
    for row, height in enumerate(reversed(heights)):
        members = sorted(rows[height], key=lambda node: (node[3], node[0]))
        gap = (WIDTH - 2 * LEFT) / len(members)
        for i, node in enumerate(members):
            place[tuple(node[0])] = (LEFT + gap * (i + 0.5), 30 + ROW * row)
    height_px = 70 + ROW * max(1, len(heights)) + 30
    summary = words["told"].format(size=lattice["size"], judged=len(lattice["nodes"]), drawn=len(chosen))
    frame = f'viewBox="0 0 {WIDTH} {height_px}" role="img" font-family="system-ui, sans-serif" font-size="11"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {frame}><title>{escape(summary, quote=False)}</title>']
    parts += [
        f'<text x="8" y="{34 + ROW * row}" fill="var(--soft, #555)">{height}</text>'
        for row, height in enumerate(reversed(heights))
    ]
    parts += list(_lines(place))
    safe = {tuple(levels) for levels in minimal_safe_nodes(lattice)}
    best = tuple(lattice["best"] or ())
    for node in chosen:
        state = _state(node, best, safe)
        named = state in {"best", "safe"} or len(rows[sum(node[0])]) <= LABELLED
        parts.append(_mark(node, place[tuple(node[0])], state, lattice["columns"], words, named=named))
    key = escape(words["key"].format(columns=", ".join(lattice["columns"])), quote=False)
    parts.append(f'<text x="{LEFT}" y="{height_px - 36}" fill="var(--soft, #555)">{key}</text>')
    parts.append(_legend(height_px - 12, words))
    parts.append("</svg>")
    return "".join(parts)


def _chosen(lattice: Mapping[str, Any]) -> list[Any]:
    """Return the nodes to draw: the best one, the minimal ones that hold, then those nearest to the best in levels."""
    nodes = list(lattice["nodes"])
    if len(nodes) <= DRAWN:
        return nodes
    safe = {tuple(levels) for levels in minimal_safe_nodes(lattice)}
    centre = lattice["best"] or lattice["upper"]

    def distance(node: Node) -> tuple[bool, int]:
        levels = tuple(node[0])
        return levels not in safe, sum(abs(a - b) for a, b in zip(levels, centre, strict=True))

    return sorted(nodes, key=distance)[:DRAWN]


def _lines(place: Mapping[tuple[int, ...], tuple[float, float]]) -> list[str]:
    lines = []
    for levels, (x, y) in place.items():
        for j in range(len(levels)):
            upper = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
            if upper in place:
                to_x, to_y = place[upper]
                ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
                lines.append(f'<line {ends} stroke="var(--line, #ccc)" stroke-width="0.6"/>')
    return lines


def _state(node: Node, best: tuple[int, ...], safe: set[tuple[int, ...]]) -> str:
    levels = tuple(node[0])
    if levels == best:
        return "best"
    if levels in safe:
        return "safe"
    return "holds" if node[4] else "fails"


def _mark(
    node: Node, at: tuple[float, float], state: str, columns: list[str], words: Mapping[str, str], *, named: bool
) -> str:
    levels, suppressed, classes, score, holds = node
    x, y = at
    title = words["node"].format(
        levels=", ".join(f"{name} {level}" for name, level in zip(columns, levels, strict=True)),
        loss=f"{score:.6g}" if isinstance(score, int | float) else ", ".join(f"{part:.4g}" for part in score),
        suppressed=suppressed,
        classes=classes,
        verdict=words["holds" if holds else "fails"],
    )
    label = f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle" {INK}>{"·".join(map(str, levels))}</text>'
    return f"<g>{_shape(state, x, y)}{label if named else ''}<title>{escape(title, quote=False)}</title></g>"


def _shape(state: str, x: float, y: float) -> str:
    colour = COLOURS[state]
    if state == "best":
        points = f"{x:.1f},{y - 9:.1f} {x + 9:.1f},{y:.1f} {x:.1f},{y + 9:.1f} {x - 9:.1f},{y:.1f}"
        return f'<polygon points="{points}" fill="{colour}"/>'
    if state == "safe":
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="{colour}"/>'
    if state == "holds":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="none" stroke="{colour}"/>'


def _legend(y: float, words: Mapping[str, str]) -> str:
    said = {"best": "optimum", "safe": "minimal", "holds": "holds", "fails": "fails"}
    return "".join(
        f'{_shape(state, 80 + 190 * i, y - 4)}<text x="{94 + 190 * i}" y="{y}" {INK}>{words[word]}</text>'
        for i, (state, word) in enumerate(said.items())
    )
