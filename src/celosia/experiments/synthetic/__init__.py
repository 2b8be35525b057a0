"""The experiments of Cano Franco (2009): synthetic numbers by IPSO and fuzzy c-regression, by PIL, DR and score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.experiments import write_report

if TYPE_CHECKING:
    from celosia.experiments.synthetic.setups import Row
    from celosia.experiments.synthetic.sweeps import Point

NAME = "synthetic"
DOCUMENT = "Cano Franco (2009), synthetic microdata by IPSO and fuzzy c-regression"
DATA = "census.csv"
STARTS = 4
Progress = Callable[[str, float], None]


def reproduce(
    data: Path,
    out: Path,
    progress: Progress | None = None,
    *,
    starts: int = STARTS,
    numbers: tuple[int, ...] | None = None,
    surface: tuple[int, int] = (10, 12),
) -> dict[str, Any]:
    """Run the experiments on the census file and write ``synthetic.html`` and ``synthetic.json`` into ``out``.

    ``numbers`` limits S1 and S2 to some numbers of regressions, ``surface`` S3 to c and N up to these.
    """
    from celosia.experiments.fuzzy_privacy.study import read_census
    from celosia.experiments.synthetic import sections, sweeps
    from celosia.experiments.synthetic.page import page
    from celosia.experiments.synthetic.setups import S1, S2, printed, printed_s3

    tell = progress or (lambda *_: None)
    x = read_census(Path(data))
    table = sweeps.census_table(x)
    found: dict[str, dict[str, Point]] = {}
    kept: dict[str, Any] = {}
    for setup, first, last in ((S1, 0.0, 0.4), (S2, 0.4, 0.6)):
        wanted = [c for c in setup.numbers if numbers is None or c in numbers]
        runs = starts if setup is S1 else max(1, starts // 4)  # the printed S2 is no target: one start shows it
        found[setup.name] = sweeps.sweep(table, setup, wanted, runs, _between(tell, first, last))
        kept[setup.name] = sweeps.kept_identities(table, setup, seed=1)
    beyond = sweeps.variations(table, S1, _between(tell, 0.6, 0.65))
    cs, widths = range(1, surface[0] + 1), range(1, surface[1] + 1)
    s3 = sweeps.rotating(x, list(cs), list(widths), False, _between(tell, 0.65, 0.95))
    few = [c for c in (2, 4) if c in cs]
    with_intercept = sweeps.rotating(x, few, list(widths), True, _between(tell, 0.95, 0.98))
    small, pictures = sweeps.example(range(1, 11), 10, (2, 5))
    agreement = _agreement(found["S1"], printed(6))
    facts = {"starts": starts, **agreement}
    parts = [
        sections.identities_section(kept),
        sections.sweep_section(S1, found["S1"], printed(6), "Table 6"),
        sections.sweep_section(S2, found["S2"], printed(7), "Table 7"),
        sections.variation_section(beyond),
        sections.surface_section(s3, with_intercept, printed_s3()),
        sections.example_section(small, pictures, printed(5)),
    ]
    report = {
        "experiment": NAME,
        "losses of S1 compared": agreement["compared"],
        "within 4 points of the printed ones": agreement["within"],
        "largest difference": round(agreement["largest"], 3),
        "identities": kept,
        "choice": {name: choice(points) for name, points in found.items()},
        "S1": _plain(found["S1"]),
        "S2": _plain(found["S2"]),
        "variations": _plain(beyond),
        "S3": {f"c={c}, N={n}": point.data() for (c, n), point in s3.items()},
        "S3 with intercept": {f"c={c}, N={n}": point.data() for (c, n), point in with_intercept.items()},
        "example": {str(c): point.data() for c, point in small.items()},
    }
    files = write_report(NAME, out, page(facts, parts), report)
    tell("done", 1.0)
    return {**report, "files": files}


def choice(points: Mapping[str, Point]) -> dict[str, Any]:
    """The c of the best score, where loss and risk cross, and the first c with a loss of at most 20 per cent."""
    from celosia.mathematics.disclosure.operating_point import best, crossing, reaching

    cs = [int(name) for name in points if name.isdigit()]
    pil, dr = [points[str(c)].pil for c in cs], [points[str(c)].dr for c in cs]
    return {
        "best c": best(cs, [points[str(c)].score for c in cs]) if cs else None,
        "loss falls below risk between": crossing(cs, pil, dr),
        "first c with a loss of at most 20": reaching(cs, pil, 20.0),
    }


def _agreement(points: Mapping[str, Point], printed: Mapping[str, Row]) -> dict[str, Any]:
    gaps = [abs(point.pil - printed[name].pil) for name, point in points.items() if name.isdigit()]
    return {"compared": len(gaps), "within": sum(gap <= 4 for gap in gaps), "largest": max(gaps, default=0.0)}


def _between(tell: Progress, first: float, last: float) -> Progress:
    return lambda what, share: tell(what, first + share * (last - first))


def _plain(points: Mapping[str, Point]) -> dict[str, Any]:
    return {name: point.data() for name, point in points.items()}
