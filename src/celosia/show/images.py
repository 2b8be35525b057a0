"""Figures as one SVG file without a style sheet outside of it, and as PNG."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

from celosia.errors import MissingExtra
from celosia.show.look import colours

LINE, MARGIN, LETTER = 18, 12, 6.4
"""Height of a line of text, space around a figure, and width of a letter, in pixels."""
STYLE = (
    "text{{fill:{ink};font-size:12px;font-family:DejaVu Sans,sans-serif}}.area{{fill-opacity:.55}}"
    ".outline{{fill:none;stroke-width:1.6}}.caption{{font-size:13px}}"
)


@dataclass
class _Figure(HTMLParser):
    """Parser of a figure: caption, keys of the legend, and the drawing."""

    caption: str = ""
    keys: list[tuple[str, str]] = field(default_factory=list)
    """Mark of each series (a class, or a drawing of its own) and its label."""
    drawing: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._place, self._svg, self._mark = "", "", ""
        self._open: list[str] = []
        """Open elements of a drawing, with their capitals, which the parser lowers."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "svg" or self._open:
            written = self.get_starttag_text() or ""
            self._open.append(written[1:].split()[0].rstrip(">"))
            self._svg += written
        elif tag == "figcaption":
            self._place = "caption"
        elif tag == "span":
            classes = dict(attrs).get("class") or ""
            if "swatch" in classes:
                self._mark = classes.replace("swatch", "").strip()
            else:
                self._place, self._mark = "key", ""
                self.keys.append(("", ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if self._open:
            self._svg += self.get_starttag_text() or ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self._svg += data if self._open[-1] == "style" else escape(data)
        elif self._place == "caption":
            self.caption += data
        elif self._place == "key" and data.strip():
            self.keys[-1] = (self._mark, self.keys[-1][1] + data)

    def handle_endtag(self, tag: str) -> None:
        if self._open:
            self._svg += f"</{self._open.pop()}>"
            if not self._open:
                if self._place == "key":
                    self._mark = self._svg
                else:
                    self.drawing = self._svg
                self._svg = ""
        elif tag in ("figcaption", "div"):
            self._place = ""


def combined_svg(figures: Sequence[str], title: str) -> str:
    """Return figures of a page as one SVG, one below the other, with captions and legends, in the light theme.

    >>> combined_svg(['<figure><figcaption>Ages</figcaption><svg viewBox="0 0 90 40"></svg></figure>'], "Ages")[:38]
    '<svg xmlns="http://www.w3.org/2000/svg'
    """
    palette = colours()
    parts, y, width = [], float(MARGIN), 0.0
    for figure in figures:
        parsed = _Figure()
        parsed.feed(figure)
        box = [float(n) for n in re.search(r'viewBox="([^"]+)"', parsed.drawing)[1].split()]  # type: ignore[index]
        across, high = box[2], box[3]
        width = max(width, across)
        for line in textwrap.wrap(parsed.caption, int(across / LETTER)):
            parts.append(f'<text class="caption" x="{MARGIN}" y="{y + LINE - 5:.0f}">{escape(line)}</text>')
            y += LINE
        x = float(MARGIN)
        for mark, label in parsed.keys:
            taken = 26 + LETTER * 1.15 * len(label)
            if x > MARGIN and x + taken > across:
                x, y = float(MARGIN), y + LINE
            parts.append(_key(mark, x, y))
            parts.append(f'<text x="{x + 18:.0f}" y="{y + LINE - 5:.0f}">{escape(label)}</text>')
            x += taken
        y += LINE if parsed.keys else 0
        parts.append(
            re.sub(
                r"^<svg", f'<svg x="{MARGIN}" y="{y:.0f}" width="{across:g}" height="{high:g}"', parsed.drawing, count=1
            )
        )
        y += high + 2 * MARGIN
    size = f"{width + 2 * MARGIN:g} {y:g}"
    series = "".join(
        f".s{i}{{fill:{palette[f's{i}']}}}.outline.s{i}{{fill:none;stroke:{palette[f's{i}']}}}" for i in range(6)
    )
    style = STYLE.format(ink=palette["ink"]) + series
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width + 2 * MARGIN:g}" height="{y:g}">'
        f"<title>{escape(title)}</title><style>{style}</style>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>'
    )
    return _with_colours(whole, palette)


def png_bytes(drawing: str, *, style: str = "", zoom: int = 2) -> bytes:
    """Return an SVG as PNG."""
    try:
        import resvg_py
    except ImportError:
        raise MissingExtra.of("a picture as PNG", "word") from None

    return bytes(resvg_py.svg_to_bytes(svg_string=drawing, style_sheet=style, zoom=zoom, background="#ffffff"))


def _key(mark: str, x: float, y: float) -> str:
    """Return the mark of a series in a legend."""
    if mark.startswith("<svg"):
        return re.sub(r"^<svg", f'<svg x="{x:.0f}" y="{y + 1:.0f}" width="14" height="14"', mark, count=1)
    return f'<rect class="{escape(mark)}" x="{x:.0f}" y="{y + 3:.0f}" width="11" height="11" rx="2"/>'


def _with_colours(drawing: str, palette: dict[str, str]) -> str:
    """Replace CSS variables and the colour of the text by colours."""
    named = re.sub(r"var\(--(\w+)(?:,[^)]*)?\)", lambda match: palette.get(match[1], "#000000"), drawing)
    return named.replace("currentColor", palette["ink"])
