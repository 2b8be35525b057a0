"""The sections of the report: each a table beside the printed one, with its charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.experiments.synthetic.charts import curves, scatter, surfaces
from celosia.experiments.synthetic.page import plots, section, table
from celosia.experiments.synthetic.setups import Row, Setup
from celosia.experiments.synthetic.sweeps import Drawing, Point


def identities_section(kept: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """What IPSO keeps, measured."""
    rows = [
        (setup, f"IPSO-{variant}", errors["regression"], errors["residual covariance"])
        for setup, variants in kept.items()
        for variant, errors in variants.items()
    ]
    text = (
        "Both designs are singular. The regression is kept by all variants, the residual covariance by C; errors are "
        "relative to the standard deviations."
    )
    return section(
        "What IPSO keeps", text, table("largest error", ("set-up", "method", "regression", "covariance"), rows)
    )


def sweep_section(setup: Setup, points: Mapping[str, Point], printed: Mapping[str, Row], number: str) -> str:
    """Loss and risk for each c beside the printed ones."""
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
    return section(f"{setup.name} ({number})", text, plots([chart]), table(number, head, rows))


def variation_section(points: Mapping[str, Point]) -> str:
    """What the source names as future work, and a choice of the regression that does not look at y."""
    rows = [(name, p.pil, p.dr, p.dr_relative, p.score) for name, p in points.items()]
    text = (
        "S1 with local models that bend (radial basis functions), with the regression drawn from the independent "
        "columns alone (blind), and with one set of regressions for all columns (joint)."
    )
    head = ("method", "PIL", "DR", "DR, relative intervals", "score")
    return section("Beyond the source", text, table("one start each", head, rows))


def surface_section(
    points: Mapping[tuple[int, int], Point],
    with_intercept: Mapping[tuple[int, int], Point],
    printed: Mapping[tuple[int, int], Row],
) -> str:
    """S3: loss over c and N, in four readings, and the surfaces."""
    rows = []
    for (c, n), theirs in printed.items():
        ours, other = points.get((c, n)), with_intercept.get((c, n))
        if ours is None:
            rows.append((f"c = {c}, N = {n}", theirs.pil, theirs.dr, *((None,) * 6)))
            continue
        with_ = (other.pil_alone, other.pil) if other else (None, None)
        rows.append(
            (f"c = {c}, N = {n}", theirs.pil, theirs.dr, ours.pil_alone, ours.pil, *with_, ours.dr, ours.dr_relative)
        )
    head = (
        "", "PIL printed", "DR printed", "no intercept, by column", "no intercept, joint", "intercept, by column",
        "intercept, joint", "half ID, ranks", "half ID, relative",
    )  # fmt: skip
    sheets = [
        ("PIL by column", {key: p.pil_alone for key, p in points.items()}),
        ("half of interval disclosure", {key: p.dr for key, p in points.items()}),
        ("score", {key: (p.pil_alone + p.dr) / 2 for key, p in points.items()}),
    ]
    text = (
        "Each column in turn is dependent and the next N (from the start again after the last) are independent. The "
        "risk is the half that interval disclosure contributes; more regressions or columns lose less, disclose more."
    )
    return section(
        "S3 (Table 8)",
        text,
        plots([surfaces("S3: loss, risk and score over c and N", sheets)]),
        table("S3", head, rows),
    )


def example_section(points: Mapping[int, Point], pictures: Mapping[int, Drawing], printed: Mapping[str, Row]) -> str:
    """The two-dimensional example."""
    rows: list[tuple[Any, ...]] = []
    for c, p in points.items():
        theirs = printed.get(str(c))
        rows.append(
            (f"c = {c}", *((theirs.pil, theirs.dr) if theirs else (None, None)), p.pil, p.spread, p.dr_relative)
        )
    chart = curves(
        "example: loss and risk against c",
        [
            ("PIL", {c: p.pil for c, p in points.items()}, False),
            ("PIL printed", {int(c): r.pil for c, r in printed.items()}, True),
            ("half ID", {c: p.dr_relative for c, p in points.items()}, False),
            ("DR printed", {int(c): r.dr for c, r in printed.items()}, True),
        ],
        "c",
    )
    drawn = [scatter(f"five groups, c = {c}", picture) for c, picture in pictures.items()]
    text = "The points of the source are not given; five groups of 30 points stand in. Means over ten starts."
    head = ("", "PIL printed", "DR printed", "PIL", "± sd", "half ID, relative")
    return section("The example (Table 5)", text, plots([chart, *drawn]), table("example", head, rows))
