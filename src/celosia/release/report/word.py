"""Export of a report to Word, with the headings, texts, tables and pictures of its page."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import MissingExtra
from celosia.show.look import colours

if TYPE_CHECKING:
    from docx.document import Document

HEADINGS = {"h1": 0, "h2": 1, "h3": 2}
STYLES = {"li": "List Bullet", "figcaption": "Caption", "pre": "Intense Quote", "dt": "Heading 4"}
SKIPPED = {"style", "title", "nav"}
WIDE = 6.2
"""Largest width of a picture in inches."""


def write_word(page: str, target: Path) -> None:
    """Convert the page of a report to Word."""
    try:
        import docx
    except ImportError:
        raise MissingExtra.of("a report as Word document", "word") from None
    document = docx.Document()
    reader = _Reader(document)
    reader.feed(page)
    document.core_properties.title = reader.heading
    document.core_properties.author = "Celosia"
    with target.open("wb") as file:
        document.save(file)


class _Reader(HTMLParser):
    """Parser of a report page that writes its elements into a document."""

    def __init__(self, document: Document) -> None:
        super().__init__(convert_charrefs=True)
        self.document = document
        self.heading = ""
        self.text: list[str] = []
        self.rows: list[list[str]] = []
        self.svg: list[str] | None = None
        self.open: list[str] = []
        """Open elements of a picture, with their capitals, which the parser lowers."""
        self.skipping = 0
        self.in_table = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.svg is not None or tag == "svg":
            written = self.get_starttag_text() or ""
            self.open.append(written[1:].split()[0].rstrip(">"))
            self.svg = [*(self.svg or []), written]
        elif tag in SKIPPED:
            self.skipping += 1
        elif tag == "table":
            self.in_table, self.rows = True, []
        elif tag == "tr":
            self.rows.append([])
        elif tag == "br" or (tag == "span" and dict(attrs).get("class") == "below"):
            self.text.append("\n")
        elif tag in {*HEADINGS, *STYLES, "p", "dd", "td", "th"}:
            self.text = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.svg is not None:
            self.svg.append(self.get_starttag_text() or "")
        else:
            super().handle_startendtag(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self.svg is not None:
            from html import escape

            self.svg.append(data if self.open[-1] == "style" else escape(data))
        elif not self.skipping:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self.svg is not None:
            self.svg.append(f"</{self.open.pop()}>")
            if not self.open:
                self._picture("".join(self.svg))
                self.svg = None
        elif tag in SKIPPED:
            self.skipping -= 1
        elif tag in {"td", "th"}:
            self.rows[-1].append(self._take_text())
        elif tag == "table":
            self._table()
            self.in_table = False
        elif tag in HEADINGS and not self.in_table:
            text = self._take_text()
            self.heading = self.heading or text
            self.document.add_heading(text, HEADINGS[tag])
        elif tag in {*STYLES, "p", "dd"} and not self.in_table and not self.skipping:
            text = self._take_text()
            if text:
                self.document.add_paragraph(text, style=STYLES.get(tag))

    def _take_text(self) -> str:
        """Return the collected text, its lines without superfluous blanks, and start a new one."""
        lines = "".join(self.text).split("\n")
        self.text = []
        return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)

    def _table(self) -> None:
        if not self.rows:
            return
        table = self.document.add_table(rows=0, cols=max(map(len, self.rows)), style="Light Grid Accent 1")
        for row in self.rows:
            for cell, text in zip(table.add_row().cells, row, strict=False):
                cell.text = text
        self.document.add_paragraph()

    def _picture(self, svg: str) -> None:
        from docx.shared import Inches

        if 'aria-hidden="true"' in svg.split(">", 1)[0]:
            return
        width = float(re.search(r'viewBox="\S+ \S+ (\S+)', svg)[1])  # type: ignore[index]
        self.document.add_picture(io.BytesIO(png(svg)), width=Inches(min(WIDE, width / 96 * 1.3)))


def png(svg: str) -> bytes:
    """Convert a chart of a page to PNG, in the colours of the light theme."""
    from celosia.release.report.environment import templates
    from celosia.show.images import png_bytes

    palette = colours()

    def plain(text: str) -> str:
        return re.sub(r"var\(--(\w+)(?:,[^)]*)?\)", lambda match: palette.get(match[1], "#000000"), text)

    sheet = plain(templates().get_template("charts.css.j2").render()).replace("inherit", "DejaVu Sans, sans-serif")
    named = (
        svg if "xmlns=" in svg.split(">", 1)[0] else svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    )
    return png_bytes(plain(named).replace("currentColor", palette["ink"]), style=sheet)
