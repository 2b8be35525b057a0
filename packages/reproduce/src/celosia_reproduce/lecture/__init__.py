"""The lecture on database privacy: every table, number and attack, run again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia_reproduce import write_report

if TYPE_CHECKING:
    import polars as pl

    from celosia_reproduce.statements import Grid

NAME = "lecture"
DOCUMENT = "Databases, class 12: privacy (slides of a lecture)"
DATA = "adult.data"
INTRO = (
    "Every number that the lecture prints, and what follows from it, computed again with the methods, models and "
    "attacks of Celosia; the attacks on queries are carried out against plain SQL and against the gateway. Noise is "
    "new in every run."
)


def reproduce(
    data: Path,
    out: Path,
    progress: Callable[[str, float], None] | None = None,
    *,
    tables: Mapping[str, pl.DataFrame] | None = None,
) -> dict[str, Any]:
    """Run the lecture on the UCI file ``adult.data`` and write ``lecture.html`` and ``lecture.json`` into ``out``.

    ``tables`` are the tables as the lecture prints them, unless given.
    """
    from celosia_reproduce.lecture import anonymity, attacks, estimates, governor, netflix, noise, separation
    from celosia_reproduce.lecture.people import gateway, people
    from celosia_reproduce.statements import Section, page, printed_tables, sections_of, summary

    tell = progress or (lambda *_: None)
    tables = tables or printed_tables(NAME)
    tell("small tables", 0.0)
    checked = [*anonymity.statements(tables), *separation.statements(tables), *noise.mechanism(tables)]
    with tempfile.TemporaryDirectory() as place:
        person = people(Path(data), Path(place))
        tell("counts", 0.2)
        checked += [*anonymity.by_sql(tables, person), *noise.on_person(tables, person)]
        with closing(gateway(person, Path(place))) as opened:
            checked += noise.through_the_gateway(opened)
            tell("attacks", 0.5)
            stories = [
                attacks.differencing(person, opened),
                attacks.selective(person, opened),
                attacks.averaging(person, opened),
            ]
        tell("estimates", 0.8)
        checked += attacks.statements(stories[-1])
        shown = [netflix.netflix(), governor.governor(), estimates.compared(person)]
    listed = sections_of(checked)
    checked += [statement for section in shown for statement in section.statements]
    report = summary(NAME, checked) | {
        "attacks": stories,
        "netflix": dict(shown[0].facts or {}),
        "governor": _rows(shown[1].grids[0]),
        "errors of estimated counts": _rows(shown[2].grids[0]),
    }
    attacked = [
        Section(f"Attack: {s['name']}", s["story"], facts={k: v for k, v in s.items() if k not in TOLD}, why=s["why"])
        for s in stories
    ]
    html = page("Database privacy: the lecture, run again", INTRO, checked, [*shown, *listed, *attacked])
    files = write_report(NAME, out, html, report)
    tell("done", 1.0)
    return {**report, "files": files}


def _rows(grid: Grid) -> list[dict[str, Any]]:
    return [dict(zip(grid.head, row, strict=True)) for row in grid.rows]


TOLD = ("name", "story", "why")
