"""Pictures for a notebook: the charts of the report, with its colours and without any script.

They are drawn as inline SVG and not by a plotting library, so that a picture is the one of the report, opens offline,
stays in an exported notebook, and needs nothing that is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from celosia.errors import OutputError
from celosia.show.look import light

STYLE = (
    ".celosia figure{margin:.6em 0;display:inline-block;vertical-align:top;width:27rem;max-width:100%}"
    ".celosia svg{width:100%;height:auto;display:block}.celosia svg text{fill:currentColor;font-size:12px}"
    ".celosia figcaption{font-size:.85em;opacity:.75}.celosia .key{margin-right:1.2em;font-size:.9em}"
    ".celosia .swatch{display:inline-block;width:.9em;height:.9em;border-radius:.2em;margin-right:.35em}"
    ".celosia .outline{fill:none!important;stroke-width:1.6}.celosia .area{opacity:.55}"
)


class Picture:
    """Figures that a notebook shows; :meth:`save` writes them as a page."""

    def __init__(self, figures: Sequence[str], title: str) -> None:
        self.figures = tuple(figures)
        self.title = title

    def __repr__(self) -> str:
        return f"Picture({self.title!r}: a notebook shows it; save(path) writes a page)"

    def _repr_html_(self) -> str:
        series = "".join(
            f".celosia .s{i}{{fill:var(--s{i})}}.celosia .outline.s{i}{{stroke:var(--s{i})}}"
            f".celosia .swatch.s{i}{{background:var(--s{i})}}"
            for i in range(6)
        )
        style = f"<style>.celosia{{{light()}}}{STYLE}{series}</style>"
        return f'<div class="celosia">{style}{"".join(self.figures)}</div>'

    def save(self, path: str | Path) -> Path:
        """Write the picture as a page of its own that opens offline; the path ends in .html."""
        from html import escape

        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise OutputError(f"{str(path)!r}: pictures are written as pages. Name the file .html.")
        head = f'<meta charset="utf-8"><title>{escape(self.title)}</title>'
        page = f'<!doctype html><html lang="en"><head>{head}</head><body>{self._repr_html_()}</body></html>'
        Path(path).write_text(page, encoding="utf-8")
        return Path(path)
