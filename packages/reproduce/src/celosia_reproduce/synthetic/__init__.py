"""The experiments of Cano Franco (2009): synthetic numbers by IPSO and fuzzy c-regression, by PIL, DR and score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia_reproduce import write_report

if TYPE_CHECKING:
    from celosia_reproduce.statements import Statement
    from celosia_reproduce.synthetic.measures import Point

NAME = "synthetic"
DOCUMENT = "Cano Franco (2009), synthetic microdata by IPSO and fuzzy c-regression"
DATA = "census.csv"
UNIT = "points"
STARTS = 4
OWN_NUMBERS = (2, 3, 5, 8, 12)
"""Numbers of regressions that are tried on another file where none are given."""
Progress = Callable[[str, float], None]


def reproduce(
    data: Path,
    out: Path,
    progress: Progress | None = None,
    *,
    starts: int = STARTS,
    numbers: tuple[int, ...] | None = None,
    surface: tuple[int, int] = (10, 12),
    repeats: int = 10,
    dependent: Sequence[str] | None = None,
    independent: Sequence[str] | None = None,
    c: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Run the experiments on the census file and write ``synthetic.html`` and ``synthetic.json`` into ``out``.

    With ``dependent`` and ``independent`` columns the study is run on any file instead: IPSO-A, B and C, and fuzzy
    c-regression for each of the numbers of regressions ``c`` in both readings, and the surfaces over c and N. Otherwise
    ``numbers`` limits S1, S2 and the variations to some numbers of regressions, ``surface`` S3 to c and N up to these,
    ``repeats`` the starts of the example.
    """
    from celosia_reproduce.fuzzy_privacy.study import read_census
    from celosia_reproduce.statements import page, summary
    from celosia_reproduce.synthetic import comparison, sections, sweeps
    from celosia_reproduce.synthetic.conclusions import choice, conclusions, of_the_text
    from celosia_reproduce.synthetic.setups import S1, S2, printed, printed_s3

    tell = progress or (lambda *_: None)
    if dependent or independent or c:
        from celosia_reproduce.synthetic.own import study

        return study(
            Path(data), out, tell, list(dependent or []), list(independent or []), list(c or OWN_NUMBERS), starts
        )
    x = read_census(Path(data))
    table = sweeps.census_table(x)
    swept: dict[str, dict[str, Point]] = {}
    kept: dict[str, Any] = {}
    for setup, first, last in ((S1, 0.0, 0.3), (S2, 0.3, 0.45)):
        wanted = [c for c in setup.numbers if numbers is None or c in numbers]
        runs = starts if setup is S1 else max(1, starts // 4)  # the printed S2 is no target: one start shows it
        swept[setup.name] = sweeps.sweep(table, setup, wanted, runs, _between(tell, first, last), joint=setup is S1)
        kept[setup.name] = sweeps.kept_identities(table, setup, seed=1)
    bent = [c for c in (2, 5, 10) if numbers is None or c in numbers]
    beyond = sweeps.variations(table, S1, _between(tell, 0.45, 0.5), bent)
    sums = sweeps.constrained(table)
    cs, widths = range(1, surface[0] + 1), range(1, surface[1] + 1)
    s3 = sweeps.rotating(x, list(cs), list(widths), False, _between(tell, 0.5, 0.9))
    few = [c for c in (2, 4) if c in cs]
    with_intercept = sweeps.rotating(x, few, list(widths), True, _between(tell, 0.9, 0.97))
    small, pictures = sweeps.example(range(1, 11), repeats, (2, 5))
    by_table = {
        5: ({str(c): point for c, point in small.items()}, printed(5)),
        6: (swept["S1"], printed(6)),
        7: (swept["S2"], printed(7)),
    }
    rows = list(comparison.lines(by_table, printed_s3(), (with_intercept, s3)))
    concluded = conclusions({"S1": by_table[6], "S2": by_table[7]}, s3, beyond, sums)
    source = {
        **{number: printed(number) for number in (5, 6, 7)},
        8: {str(key): row for key, row in printed_s3().items()},
    }
    said = [*(conclusion.statement() for conclusion in concluded), *of_the_text(source)]
    tables = {near: comparison.checked(rows, nearest=near) for near in (False, True)}
    parts = [
        sections.conclusion_section(concluded),
        sections.choice_section(tables[False], tables[True]),
        sections.sweep_section(S1, swept["S1"], printed(6), "Table 6"),
        sections.sweep_section(S2, swept["S2"], printed(7), "Table 7"),
        sections.surface_section(s3, with_intercept, printed_s3()),
        sections.example_section(small, pictures, printed(5)),
        sections.identities_section(kept),
        sections.variation_section(beyond),
        sections.reading_section(),
    ]
    checked = [*tables[False], *said]
    report = {
        **summary(NAME, checked, [*tables[True], *said]),
        "numbers of Tables 5 to 8, default reading": _within(tables[False], comparison.NEAR),
        "numbers of Tables 5 to 8, reading nearest to print": _within(tables[True], comparison.NEAR),
        "conclusions that hold": f"{sum(c.holds for c in concluded)} of {len(concluded)}",
        "conclusions": [conclusion.data() for conclusion in concluded],
        "identities": kept,
        "choice": {name: choice(points) for name, points in swept.items()},
        "choice of the source": {"S1": choice(printed(6)), "S2": choice(printed(7))},
        "constraint": sums,
        "S1": _point_data(swept["S1"]),
        "S2": _point_data(swept["S2"]),
        "variations": _point_data(beyond),
        "S3": {f"c={c}, N={n}": point.data() for (c, n), point in s3.items()},
        "S3 with intercept": {f"c={c}, N={n}": point.data() for (c, n), point in with_intercept.items()},
        "example": {str(c): point.data() for c, point in small.items()},
    }
    intro = INTRO.format(starts=starts, near=comparison.NEAR)
    heading = "Synthetic data by IPSO and fuzzy c-regression: the experiments of 2009, run again"
    files = write_report(NAME, out, page(heading, intro, checked, parts), report)
    tell("done", 1.0)
    return {**report, "files": files}


INTRO = (
    "Census reference file, 1080 records, 13 columns. Loss (PIL), risk (DR) and score are in per cent, lower is "
    "better. Means over {starts} starts for S1. A printed number counts as met within {near:g} points; it is compared "
    "at the default reading."
)


def _within(compared: list[Statement], points: float) -> str:
    return f"{sum(statement.agrees for statement in compared)} of {len(compared)} within {points:g} points"


def _between(tell: Progress, first: float, last: float) -> Progress:
    return lambda what, share: tell(what, first + share * (last - first))


def _point_data(points: Mapping[str, Point]) -> dict[str, Any]:
    return {name: point.data() for name, point in points.items()}
