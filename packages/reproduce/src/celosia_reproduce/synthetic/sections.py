"""Sections of the page: conclusions, readings, each table with the printed one and its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia_reproduce.statements import Grid, Section, Statement
from celosia_reproduce.synthetic.charts import curves, scatter, surfaces
from celosia_reproduce.synthetic.comparison import NEAR, close
from celosia_reproduce.synthetic.conclusions import Conclusion
from celosia_reproduce.synthetic.measures import Point
from celosia_reproduce.synthetic.setups import Row, Setup
from celosia_reproduce.synthetic.sweeps import Drawing

READINGS = (
    ("v1 … v13 are positions in the file", ("Only then v5 = v8 + v10 (PTOTVAL = POTHVAL + PEARNVAL) makes the design "
     "singular, as the source reports; its own list of attributes is alphabetical.")),
    ("Measures are taken on the dependent columns", "With the unchanged columns every record would be linked."),
    ("One set of regressions per dependent column, with intercept", ("The text has one vector of memberships per "
     "record (joint). Regressions for all columns stay near a loss of 50 at c = 15, where the source prints 7.2.")),
    ("The loss over all columns together (joint)", "Alone a column cannot lose more than 80; table 7 prints 94."),
    ("DR: linkage by the first 3, 5 and 8 columns, intervals of ranks", ("The source writes “for example” and “between "
     "1 and 10 per cent of the values”. Relative intervals (± p/2 per cent of the value) are the other reading, and "
     "seem to be those of the source: with them the printed risks of IPSO-A leave 30 links of 1080 records in Table 6 "
     "and 87 in Table 7, whole numbers; with intervals of ranks they leave less than none.")),
    ("Conjecture: the source measured its losses on one set of regressions per column and its risks on one set for all",
     ("The printed losses lie near those of the first reading (rows c), the printed risks near those of the second "
     "(rows c, joint); no single reading gives both. The source does not tell.")),
    ("F.O. is the last change of a membership", ("The printed numbers lie between 0 and 1, as the change does; "
     "the objective does not. A change near 1 is a record that flips between two regressions. It belongs to one random "
     "start and is shown, not compared.")),
    ("Iterations stop at a small change or at 30", "The source writes “or” where “and” must be meant."),
)  # fmt: skip


def choice_section(default: list[Statement], nearest: list[Statement]) -> Section:
    """Return the section with the matches at the default reading and at the reading nearest to print."""
    story = (
        "The source does not tell the readings below. The default reading is fixed for all tables; the nearest is "
        "chosen number by number after seeing the print (all columns or each alone, intervals of ranks or relative, "
        "with or without intercept): there a match says that the printed number can arise."
    )
    rows = [
        (f"within {points:g} points", len(default), close(default, points), close(nearest, points))
        for points in (0.05, 0.5, 1.0, NEAR)
    ]
    head = ("distance", "printed numbers", "default reading", "nearest to print")
    grid = Grid(f"loss, risk and score of Tables 5 to 8; within {NEAR:g} points counts as a match", head, rows)
    return Section("Default reading, and reading nearest to print", story, grids=(grid,))


def conclusion_section(concluded: Sequence[Conclusion]) -> Section:
    """Which conclusions hold here."""
    rows = [(c.conclusion, c.printed, c.here, "holds" if c.holds else "does not hold") for c in concluded]
    held = sum(c.holds for c in concluded)
    grid = Grid(f"{held} of {len(concluded)} hold here", ("conclusion", "in the source", "here", ""), rows, plain=4)
    return Section("Which conclusions hold here", grids=(grid,))


def reading_section() -> Section:
    """How the source is read."""
    return Section("The readings", grids=(Grid("what is read how, and why", ("reading", "why"), READINGS, plain=2),))


def identities_section(kept: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Section:
    """Return the section on the statistics that IPSO preserves."""
    rows = [
        (setup, f"IPSO-{variant}", errors["regression"], errors["residual covariance"])
        for setup, variants in kept.items()
        for variant, errors in variants.items()
    ]
    text = (
        "Both designs are singular. The regression is kept by all variants, the residual covariance by C; errors are "
        "relative to the standard deviations."
    )
    grid = Grid("largest error", ("set-up", "method", "regression", "covariance"), rows, plain=2)
    return Section("What IPSO keeps", text, grids=(grid,))


def sweep_section(setup: Setup, points: Mapping[str, Point], printed: Mapping[str, Row], number: str) -> Section:
    """Return the section with computed and printed loss and risk for each c."""
    rows = []
    for name, point in points.items():
        theirs = printed.get(name)
        rows.append(
            (
                name if not name.isdigit() else f"c = {name}",
                *((theirs.pil, theirs.dr, theirs.score, theirs.change) if theirs else (None,) * 4),
                point.pil,
                point.spread,
                point.pil_alone,
                point.dr,
                point.dr_relative,
                point.score,
                point.change,
            )
        )
    head = (
        "method", "PIL printed", "DR printed", "score printed", "F.O. printed", "PIL", "± sd", "PIL by column", "DR",
        "DR, relative intervals", "score", "last change",
    )  # fmt: skip
    ours = {int(n): p for n, p in points.items() if n.isdigit()}
    source = {int(n): r for n, r in printed.items() if n.isdigit()}
    chart = curves(
        f"{setup.name}: loss and risk against c",
        [
            ("PIL", {c: p.pil for c, p in ours.items()}, False),
            ("PIL printed", {c: r.pil for c, r in source.items()}, True),
            ("DR", {c: p.dr for c, p in ours.items()}, False),
            ("DR printed", {c: r.dr for c, r in source.items()}, True),
        ],
        "c",
    )
    dependent, independent = setup.columns
    text = f"Dependent: {', '.join(dependent)}. Independent: {', '.join(independent)}."
    return Section(f"{setup.name} ({number})", text, (chart,), grids=(Grid(number, head, rows),))


def variation_section(points: Mapping[str, Point]) -> Section:
    """Return the section on the future work of the source, and a choice of the regression without y."""
    rows = [(name, p.pil, p.dr, p.dr_relative, p.score) for name, p in points.items()]
    text = (
        "S1 with local models that bend (radial basis functions), with the regression drawn from the independent "
        "columns alone (blind), and with one set of regressions for all columns (joint)."
    )
    head = ("method", "PIL", "DR", "DR, relative intervals", "score")
    return Section("Beyond the source", text, grids=(Grid("one start each", head, rows),))


def surface_section(
    points: Mapping[tuple[int, int], Point],
    with_intercept: Mapping[tuple[int, int], Point],
    printed: Mapping[tuple[int, int], Row],
) -> Section:
    """S3: loss and risk over c and N, in all readings, and the surfaces."""
    rows = []
    for (c, n), theirs in printed.items():
        cells: list[float | None] = []
        for own in (points.get((c, n)), with_intercept.get((c, n))):
            cells += [own.pil_alone, own.pil, own.dr_alone, own.dr_alone_relative, own.dr] if own else [None] * 5
        rows.append((f"c = {c}, N = {n}", theirs.pil, theirs.dr, *cells))
    own_head = ("PIL by column", "PIL joint", "DR by column", "DR by column, relative", "DR joint")
    head = ("", "PIL printed", "DR printed", *own_head, *(f"{name}, intercept" for name in own_head))
    sheets = [
        ("PIL by column", {key: p.pil_alone for key, p in points.items()}),
        ("DR by column", {key: p.dr_alone or 0.0 for key, p in points.items()}),
        ("score", {key: (p.pil_alone + (p.dr_alone or 0.0)) / 2 for key, p in points.items()}),
    ]
    text = (
        "Each column in turn is dependent and the next N (from the start again after the last) are independent. DR "
        "has both linkages and the intervals: by column, where the intruder links by the one new column of each of "
        "thirteen files, and joint, where she has all thirteen new columns. More regressions or columns lose "
        "less and disclose more."
    )
    figures = (surfaces("S3: loss, risk and score over c and N", sheets), *_cuts(points, printed))
    return Section("S3 (Table 8)", text, figures, grids=(Grid("without and with intercept", head, rows),))


def _cuts(points: Mapping[tuple[int, int], Point], printed: Mapping[tuple[int, int], Row]) -> list[str]:
    """Loss and risk against N at the numbers of regressions that are printed."""
    figures = []
    for c in (2, 4):
        ours = {n: p for (d, n), p in points.items() if d == c}
        theirs = {n: r for (d, n), r in printed.items() if d == c}
        if ours:
            series: list[tuple[str, dict[float, float], bool]] = [
                ("PIL", {n: p.pil_alone for n, p in ours.items()}, False),
                ("PIL printed", {n: r.pil for n, r in theirs.items()}, True),
                ("DR", {n: p.dr_alone or 0.0 for n, p in ours.items()}, False),
                ("DR printed", {n: r.dr for n, r in theirs.items()}, True),
            ]
            figures.append(curves(f"S3: loss and risk by column against N, c = {c}", series, "N"))
    return figures


def example_section(
    points: Mapping[int, Point], pictures: Mapping[int, Drawing], printed: Mapping[str, Row]
) -> Section:
    """Return the two-dimensional example."""
    rows: list[tuple[Any, ...]] = []
    for c, p in points.items():
        theirs = printed.get(str(c))
        said = (theirs.pil, theirs.dr, theirs.score) if theirs else (None, None, None)
        rows.append((f"c = {c}", *said, p.pil, p.spread, p.dr, p.dr_relative, p.score))
    chart = curves(
        "example: loss and risk against c",
        [
            ("PIL", {c: p.pil for c, p in points.items()}, False),
            ("PIL printed", {int(c): r.pil for c, r in printed.items()}, True),
            ("DR", {c: p.dr for c, p in points.items()}, False),
            ("DR printed", {int(c): r.dr for c, r in printed.items()}, True),
        ],
        "c",
    )
    drawn = [scatter(f"five groups, c = {c}", picture) for c, picture in pictures.items()]
    text = (
        "The points of the source are not given; five groups of 30 points stand in. Means over ten starts. DR has both "
        "linkages by the one new column, and the intervals."
    )
    head = ("", "PIL printed", "DR printed", "score printed", "PIL", "± sd", "DR", "DR, relative intervals", "score")
    return Section("The example (Table 5)", text, (chart, *drawn), grids=(Grid("example", head, rows),))
