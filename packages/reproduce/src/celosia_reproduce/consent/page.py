"""The sections of the page: figures 6.1 to 6.4 and 8.1 to 8.4 redrawn with their intervals, Table 8.2, differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia_reproduce.consent import case
from celosia_reproduce.consent.charts import Point, curves, grid
from celosia_reproduce.consent.experiment import GROUPS, RULES, Results, magnitudes, others_cost, paired
from celosia_reproduce.consent.questions import alpha_table
from celosia_reproduce.statements import Section

INTRO = (
    "The admission data of the thesis are private. Its students are generated here: as many, in as many places and "
    "schools. Which districts are large is our choice and decides how many rows a given k alters, so directions are "
    "compared with the thesis, not sizes. “class” is the published rule, “coarser” and “exchange” discriminate "
    "between owners, “control” is the larger k + X for everybody without any preference."
)


def sections(results: Results, report: dict[str, Any]) -> list[Section]:
    """Everything but the statements."""
    plan = results.plan
    facts: dict[str, Any] = {"blocks": plan.blocks, "students in each": plan.rows, "X": plan.extra}
    facts |= {"owners who block, in a block": round(results.blocking), "districts": report["case"]}
    parts = [
        Section(
            "How the students were generated",
            _generated(report["case"]),
            facts=facts,
        ),
        Section(
            "Altered rows, and what no rule can do",
            _altered(plan.extra),
            grids=tuple(
                grid(f"Altered rows of one block, {shape} districts", table) for shape, table in report["cases"].items()
            ),
        ),
        Section("What was to be shown", facts=_said(report["summary"])),
        Section("The seven questions", grids=(grid("Question, thesis, here", report["questions"]),)),
        Section(
            "Figures 8.1 to 8.4",
            "Means over the blocks; an upright stroke is the 99 % interval of the mean, often smaller than the line.",
            tuple(_figures(results)),
        ),
        Section(
            "Table 8.2: α of Lodha and Thomas",
            "The share of records that are alone with their place. Nobody is after k-anonymity, so α cannot fall with "
            "k as printed; what does is the number of places that are shown, as a share of the rows.",
            grids=(grid("α by k", alpha_table(results)),),
        ),
        Section(
            "Differences",
            grids=(
                grid("P_reid, standard(k) minus the rule, with 99 % intervals", magnitudes(results)),
                grid("What the rules cost owners who block nothing (GCP)", others_cost(results)),
            ),
        ),
        Section(
            "Analysis of variance of P_reid of blocking owners",
            grids=(grid("Effects", report["anova"]), grid("Assumptions", [report["assumptions"]])),
        ),
    ]
    if report["sensitivity"]:
        parts.append(Section("Sensitivity to X", _SENSITIVITY, grids=(grid("X, k and rule", report["sensitivity"]),)))
    if report["adult"]:
        numbers = (grid("The numbers", report["adult"]),)
        drawn = tuple(_adult(report["adult"]))
        parts.append(Section("Chapter 6: the metric on the Adult file", _ADULT, drawn, grids=numbers))
    return parts


_SENSITIVITY = (
    "P_reid of those who block, for the larger of what an intruder knows, and altered rows of everybody. Other numbers "
    "of blocks and other k are run by --blocks and --k."
)
_ADULT = (
    "Accuracy alone says little: “guessing” is what naming the most frequent value reaches. What lies on that line "
    "tells an intruder nothing."
)


def _altered(extra: int) -> str:
    most = extra * (1 - case.SHARE) / case.SHARE
    return (
        "No rule of true places can lie below standard(k): it must keep k for everybody, and a block asks for more "
        "company, never for less. An owner shows the place of standard(k) or one above it, so a row that standard(k) "
        "alters stays altered. A rule can lie below the control, which keeps the same promise by giving k + X to "
        f"everybody. exchange does at every k, with values that are not true. coarser is sure to only where those who "
        f"do not block can stay behind in a place of their own, for k below X (1 − β) / β = {most:.0f} with a share β "
        f"of {case.SHARE:.0%} who block; beyond it they join a neighbour, and as many rows change as under the "
        "control, in some blocks more."
    )


def _generated(shape: str) -> str:
    towns = ", ".join(f"{n} in {name}" for name, n in case.TOWNS.items())
    if shape == "clustered":
        how = (
            f"{sum(case.TOWNS.values())} cantons hold towns ({towns}), the others villages; a median district of towns "
            f"is to one of villages as {case.TOWN:g} to {case.VILLAGE:g}. The logarithms of sizes spread by "
            f"{case.CANTON_SPREAD:g} between cantons of towns and by {case.DISTRICT_SPREAD:g} between the districts of "
            "a canton. We chose these numbers so that the standard method alters few rows at the smallest k and most "
            "at the largest. "
        )
    else:
        how = f"Sizes of districts fall like 1 / i^{case.ZIPF:g} and are scattered over the cantons. "
    return (
        f"{case.STUDENTS} students, {sum(case.DISTRICTS.values())} districts, {sum(case.CANTONS.values())} cantons, "
        f"{len(case.CANTONS)} provinces, {case.SCHOOLS} schools, {case.SCORES} scores. {how}A student attends a school "
        f"of the own district with probability {case.NEAR:g}, of the canton with {case.IN_CANTON:g}, else of the "
        f"province; {case.SHARE:.0%} of the students, drawn at random, block. Scores are normal and depend on nothing."
    )


def _said(summary: dict[str, Any]) -> dict[str, Any]:
    said = {True: "yes", False: "no"}
    return {
        name: f"{value:.1%}" if isinstance(value, float) else said[value] if isinstance(value, bool) else value
        for name, value in summary.items()
    }


def _point(values: NDArray[np.float64]) -> Point:
    """Return the mean over blocks with its 99 % interval."""
    interval = paired(values, np.zeros(len(values)))
    return interval["mean"], interval["low"], interval["high"]


def _figures(results: Results) -> list[str]:
    """8.1 P_reid of all, 8.2 of blocking owners, 8.3 the difference, 8.4 altered rows; by k, one curve per rule."""
    k, drawn = results.plan.k, []
    for number, group, who in (("8.1", "all", "everybody"), ("8.2", "blocking", "those who block")):
        g = GROUPS.index(group)
        for e, share in enumerate(results.plan.external):
            series: list[tuple[str, list[Point]]] = [
                (rule, [_point(results.p_reid[:, i, e, j, g]) for i in range(len(k))]) for j, rule in enumerate(RULES)
            ]
            drawn.append(curves(f"Figure {number}: P_reid of {who}; the intruder knows {share:.0%}", k, series))
    gain = results.p_reid[:, :, :, [RULES.index("standard")], 1] - results.p_reid[..., 1]
    series = [
        (f"{rule}, {share:.0%}", [_point(gain[:, i, e, RULES.index(rule)]) for i in range(len(k))])
        for rule in ("class", "coarser")
        for e, share in enumerate(results.plan.external)
    ]
    drawn.append(curves("Figure 8.3: how much lower P_reid is for those who block than under standard(k)", k, series))
    altered: list[tuple[str, list[Point]]] = [
        (r, [_point(results.altered[:, i, j, 0]) for i in range(len(k))]) for j, r in enumerate(RULES)
    ]
    return [*drawn, curves("Figure 8.4: altered rows (CM of the thesis)", k, altered)]


def _adult(study: Sequence[dict[str, Any]]) -> list[str]:
    """6.1 race, 6.2 income, 6.4 age, each by number of quasi-identifiers; 6.3 GCP."""
    counts = list(dict.fromkeys(row["quasi"] for row in study))
    sizes = list(dict.fromkeys(row["k"] for row in study))
    cell = {(row["quasi"], row["k"]): row for row in study}

    def points(q: int, name: str) -> list[Point]:
        return [(cell[q, k][name],) * 3 for k in sizes]

    drawn = []
    for number, target in (("6.1", "race"), ("6.2", "income"), ("6.4", "age")):
        learners = [
            n.removeprefix(f"{target} ") for n in study[0] if n.startswith(f"{target} ") and "baseline" not in n
        ]
        for q in counts:
            series = [(learner, points(q, f"{target} {learner}")) for learner in learners]
            series.append(("guessing", points(q, f"{target} baseline")))
            drawn.append(curves(f"Figure {number}: {target} predicted, {q} quasi-identifiers", sizes, series))
    gcp = [(f"{q} quasi-identifiers", points(q, "gcp")) for q in counts]
    return [*drawn, curves("Figure 6.3: GCP", sizes, gcp)]
