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
    """Figures that a notebook shows; :meth:`save` writes them to a file."""

    def __init__(self, figures: Sequence[str], title: str) -> None:
        self.figures = tuple(figures)
        self.title = title

    def __repr__(self) -> str:
        return f"Picture({self.title!r}: a notebook shows it; save(path) writes SVG, PNG, PDF or a page)"

    def _repr_html_(self) -> str:
        series = "".join(
            f".celosia .s{i}{{fill:var(--s{i})}}.celosia .outline.s{i}{{stroke:var(--s{i})}}"
            f".celosia .swatch.s{i}{{background:var(--s{i})}}"
            for i in range(6)
        )
        style = f"<style>.celosia{{{light()}}}{STYLE}{series}</style>"
        return f'<div class="celosia">{style}{"".join(self.figures)}</div>'

    def save(self, path: str | Path) -> Path:
        """Write the picture in the format of the ending: .svg, .png, .pdf (printed by a browser), or a page (.html)."""
        from celosia.show.images import combined_svg, png_bytes

        place, ending = Path(path), Path(path).suffix.lower()
        if ending in (".html", ".htm"):
            place.write_text(self._page(self._repr_html_()), encoding="utf-8")
        elif ending == ".svg":
            place.write_text(combined_svg(self.figures, self.title), encoding="utf-8")
        elif ending == ".png":
            place.write_bytes(png_bytes(combined_svg(self.figures, self.title)))
        elif ending == ".pdf":
            self._print(combined_svg(self.figures, self.title), place)
        else:
            raise OutputError(f"{str(path)!r}: a picture is written as .svg, .png, .pdf or .html.")
        return place

    def _page(self, body: str, style: str = "") -> str:
        """Return a page of its own that opens offline."""
        from html import escape

        head = f'<meta charset="utf-8"><title>{escape(self.title)}</title>{style}'
        return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'

    def _print(self, drawing: str, place: Path) -> None:
        """Print a drawing on a sheet of its size."""
        import re
        import tempfile

        from celosia.show.browser import print_page

        size = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawing)
        assert size is not None
        style = f"<style>@page{{size:{size[1]}px {size[2]}px;margin:0}}body{{margin:0}}svg{{display:block}}</style>"
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "picture.html"
            page.write_text(self._page(drawing, style), encoding="utf-8")
            print_page(page, place)
