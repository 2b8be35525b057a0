"""The study on any file: IPSO and fuzzy c-regression by loss, risk and score, and the surfaces over c and N."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from celosia.errors import DataError, ParameterError, UnknownName
from celosia.table import Table, read
from celosia_reproduce import write_report
from celosia_reproduce.statements import Grid, Section, page
from celosia_reproduce.synthetic.charts import curves, surfaces
from celosia_reproduce.synthetic.conclusions import choice
from celosia_reproduce.synthetic.measures import Point
from celosia_reproduce.synthetic.setups import OwnSetup
from celosia_reproduce.synthetic.sweeps import Progress, rotating, sweep

MOST = 6
"""Most numbers of regressions, and of independent columns, of a surface."""
TOLERANCE = 1e-5
"""Change of memberships above which a run of fuzzy c-regression has not converged."""
READINGS = (
    "One set of regressions per dependent column, or (joint) one set for all of them, with one vector of memberships "
    "per record, as the formulas of the source can be read. Loss (PIL) and risk (DR) are of the dependent columns, in "
    "per cent, lower is better; its intervals are of ranks, or relative: ± p/2 per cent of the value. A run "
    "whose memberships still moved by more than 0.00001 after the last iteration has not converged: its numbers depend "
    "on where it stopped. Means over {starts} starts."
)


def study(
    data: Path, out: Path, tell: Progress, dependent: list[str], independent: list[str], numbers: list[int], starts: int
) -> dict[str, Any]:
    """Run the study and write ``synthetic.html`` and ``synthetic.json`` into ``out``."""
    table = _table(data, dependent, independent, numbers)
    setup = OwnSetup((dependent, independent))
    points = sweep(table, setup, numbers, starts, lambda what, share: tell(what, 0.7 * share), joint=True)
    x = table.numeric([*dependent, *independent])
    cs, widths = numbers[:MOST], range(1, min(MOST, x.shape[1] - 1) + 1)
    surface = rotating(x, cs, list(widths), True, lambda what, share: tell(what, 0.7 + 0.28 * share))
    own = {name: point for name, point in points.items() if name.isdigit() or name.startswith("IPSO")}
    report = {
        "experiment": "synthetic",
        "records": len(table),
        "dependent": ", ".join(dependent),
        "independent": ", ".join(independent),
        "not converged": "; ".join(f"c = {name}" for name, point in points.items() if _is_moving(point)) or "none",
        **{key: value for key, value in choice(own).items() if value is not None},
        "points": {name: point.data() for name, point in points.items()},
        "surface": {f"c={c}, N={n}": point.data() for (c, n), point in surface.items()},
    }
    intro = f"{len(table)} records. Dependent: {', '.join(dependent)}. Independent: {', '.join(independent)}."
    parts = [_sweep_section(points, starts), _surface_section(surface, x.shape[1])]
    heading = "Synthetic data by IPSO and fuzzy c-regression"
    files = write_report("synthetic", out, page(heading, intro, [], parts), report)
    tell("done", 1.0)
    return {**{k: v for k, v in report.items() if k not in {"points", "surface"}}, "files": files}


def _table(data: Path, dependent: list[str], independent: list[str], numbers: list[int]) -> Table:
    """Read the columns; raise if one does not exist, is named twice, or is no column of numbers without gaps."""
    table = read(data)
    if not dependent or not independent:
        raise ParameterError("synthetic: name the columns of your file with --dependent and --independent.")
    for name in (*dependent, *independent):
        if name not in table.names:
            raise UnknownName.of("column", name, table.names)
        if not table.column(name).dtype.is_numeric() or np.isnan(table.numeric([name])).any():
            raise DataError(f"column {name!r} must hold numbers, none of them missing.")
    twice = sorted({name for name in (*dependent, *independent) if (*dependent, *independent).count(name) > 1})
    if twice:
        raise ParameterError(f"synthetic: column {twice[0]!r} is named twice.")
    if not all(1 <= c < len(table) for c in numbers):
        raise ParameterError(f"synthetic: c must be from 1 to {len(table) - 1}, got {min(numbers)} to {max(numbers)}.")
    return table


def _is_moving(point: Point) -> bool:
    return point.change is not None and point.change > TOLERANCE


def _sweep_section(points: dict[str, Point], starts: int) -> Section:
    """Return the section with a row per c, reading and variant, and the curves."""
    rows = [
        (
            name if name.startswith("IPSO") else f"c = {name}",
            *(p.objective, p.change, None if p.change is None else "no" if _is_moving(p) else "yes"),
            *(p.pil, p.spread, p.pil_alone, p.dr, p.dr_relative, p.score),
        )
        for name, p in points.items()
    ]
    head = ("method", "objective", "last change", "converged", "PIL", "± sd", "PIL by column", "DR", "DR, relative",
            "score")  # fmt: skip
    series: list[tuple[str, dict[float, float], bool]] = []
    for measure in ("PIL", "DR"):
        for suffix, dashed in (("", False), (", joint", True)):
            values = {
                float(name.split(",")[0]): p.pil if measure == "PIL" else p.dr
                for name, p in points.items()
                if name[0].isdigit() and name.endswith("joint") == bool(suffix)
            }
            series.append((f"{measure}{suffix}", values, dashed))
    chart = curves("loss and risk against c", series, "c")
    grid = Grid("a row per number of regressions and per variant of IPSO", head, rows)
    return Section("Loss, risk and score", READINGS.format(starts=starts), (chart,), grids=(grid,))


def _surface_section(surface: dict[tuple[int, int], Point], columns: int) -> Section:
    """Return the section with loss and risk over c and the number of independent columns."""
    rows = [(f"c = {c}, N = {n}", p.pil, p.dr, p.dr_relative, p.score) for (c, n), p in surface.items()]
    sheets = [
        ("PIL", {key: p.pil for key, p in surface.items()}),
        ("DR", {key: p.dr for key, p in surface.items()}),
        ("score", {key: p.score for key, p in surface.items()}),
    ]
    text = f"Each of the {columns} columns in turn is dependent, and the next N, from the start again, are independent."
    several = len({c for c, _ in surface}) > 1 and len({n for _, n in surface}) > 1
    drawn = (surfaces("loss, risk and score over c and N", sheets),) if several else ()
    head = ("", "PIL", "DR", "DR, relative", "score")
    return Section("Over c and N", text, drawn, grids=(Grid("all new columns together", head, rows),))
