"""The introduction to privacy in data publishing: every table and exercise, run again, and its figures redrawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia_reproduce import write_report

if TYPE_CHECKING:
    import polars as pl

NAME = "textbook"
DOCUMENT = "Navarro-Arribas (2020), introduction to privacy in data publishing"
DATA = ""
INTRO = (
    "Every table and exercise of the introduction (Tables 2 to 26), computed again with the methods, models, attacks "
    "and losses of Celosia. Draws of noise are random: their properties are compared, not their values."
)


def reproduce(
    out: Path,
    progress: Callable[[str, float], None] | None = None,
    *,
    tables: Mapping[str, pl.DataFrame] | None = None,
) -> dict[str, Any]:
    """Compute all tables again and write ``textbook.html`` and ``textbook.json`` into ``out``.

    ``tables`` are the tables as they are printed, unless given.
    """
    from celosia_reproduce.statements import page, printed_tables, sections_of, summary
    from celosia_reproduce.textbook import disclosure, exercises, figures, losses, masking

    tell = progress or (lambda *_: None)
    tables = tables or printed_tables(NAME)
    checked = []
    for at, part in enumerate((disclosure, masking, losses, exercises)):
        tell(part.__name__.rsplit(".", 1)[-1], at / 5)
        checked += part.statements(tables)
    tell("figures", 0.8)
    drawn = figures.sections(tables)
    report = summary(NAME, checked) | {"figures": [section.name for section in drawn]}
    html = page(
        "Privacy in data publishing: the introduction, run again", INTRO, checked, [*sections_of(checked), *drawn]
    )
    files = write_report(NAME, out, html, report)
    tell("done", 1.0)
    return {**report, "files": files}
