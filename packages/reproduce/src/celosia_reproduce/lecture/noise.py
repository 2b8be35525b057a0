"""Differential privacy: the Laplace count, the malicious count, repetition, and a histogram of 32 cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from celosia.kernels.budget.cost import Cost, parallel, sequential
from celosia.kernels.budget.neighbours import of_count
from celosia.kernels.budget.noise import LaplaceNoise
from celosia.kernels.budget.scales import laplace
from celosia.kernels.disclosure.background import repetitions
from celosia_reproduce.statements import Statement, derived, printed

if TYPE_CHECKING:
    import polars as pl

    from celosia.gateway.gateway import Gateway
    from celosia_reproduce.lecture.people import People

DRAWS = (14211.230613, 14265.917434, 14265.770017, 14209.093826)
MALICIOUS = (18.475044, 15.158466, -0.688716, -2.115105, -0.203654, 13.167499)
SEXES = ("Female", "Male")
OLDER = "SELECT COUNT(*) FROM person WHERE age >= 40"


EPSILON = 0.1
REPEATED = 4
HISTOGRAM_EPSILON = 1.0
"""Not stated; the printed noise tells it."""


def scale() -> float:
    """Return the scale of the noise on a count at the epsilon of the lecture."""
    return laplace(of_count().l1, EPSILON)


def mechanism(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Scales and costs that need no data; the lecture prints sensitivity, epsilon and formulas, but none of these."""
    within = LaplaceNoise(scale(), discrete=False).probability_within(1)
    cells = sum(len(tables["histogram"][sex]) for sex in SEXES)
    share = Cost.of("pure", EPSILON, shares=REPEATED)
    cost = Cost.pure(HISTOGRAM_EPSILON)
    where = "Parallel histogram"
    return [
        printed("Laplace count", "sensitivity of a count", 1, of_count().l1),
        derived("Laplace count", "scale at epsilon 0.1", 10, scale(), within=1e-9),
        derived("Repetition", "scale of each of four answers", 40, laplace(of_count().l1, share.loss), within=1e-9),
        derived("Repetition", "cost of the four", EPSILON, sequential([share] * REPEATED).loss),
        derived(where, "cost of 32 disjoint cells", HISTOGRAM_EPSILON, parallel([cost] * cells).loss),
        derived(where, "cost of 32 overlapping counts", 32, sequential([cost] * cells).loss),
        derived(where, "cells that a changed person moves", 2, of_count("change-one", cells=cells).l1),
        printed(
            "Five people",
            "a noisy count is within ±1",
            1.0,
            round(within, 4),
            why=f"not a promise: {within:.1%} at epsilon 0.1; 95 % needs an epsilon of at least ln 20 = 2.996",
        ),
        derived("Repetition", "answers that tell the count with 95 %", 3074, repetitions(scale())),
    ]


def on_person(tables: Mapping[str, pl.DataFrame], person: People) -> list[Statement]:
    """Exact answers on ``person``, and how plausible the printed noise is."""
    whole = person.sql("SELECT SUM(age) FROM person")[0][0]
    without = person.sql("SELECT SUM(age) FROM person WHERE name <> 'Alan Brito'")[0][0]
    older = person.sql(OLDER)[0][0]
    noise = [draw - older for draw in DRAWS]
    chance = math.exp(-min(map(abs, noise)) / scale()) ** len(noise)  # all at least as large as the smallest
    alan = "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = "
    small, right = (person.sql(f"{alan}'{value}'")[0][0] for value in ("<=50k", "<=50K"))
    apart = [abs(answer - right) for answer in MALICIOUS]
    return [
        *extract(tables, person),
        printed("Differencing", "sum of all ages", 1256257, int(whole)),
        printed("Differencing", "sum without Alan Brito", 1256218, int(without)),
        printed("Differencing", "his age", 39, int(whole - without)),
        printed("Laplace count", "people of 40 and more", 14237, older),
        derived(
            "Laplace count",
            "mean absolute noise of the four printed answers",
            scale(),
            round(sum(map(abs, noise)) / len(noise), 2),
            within=2.0,
            why=f"Lap(10) expects 10; four draws all that large have probability {chance:.1e}",
        ),
        printed(
            "Malicious count",
            "exact answer with target = '<=50k'",
            1,
            small,
            why=f"the data say '<=50K', with which it is {right}; case matters in most databases",
        ),
        derived(
            "Malicious count",
            "mean absolute noise of the six printed answers",
            scale(),
            round(sum(apart) / len(apart), 2),
            within=2.0,
        ),
        *histogram(tables, person),
    ]


def extract(tables: Mapping[str, pl.DataFrame], person: People) -> list[Statement]:
    """Check that the ten printed rows are the first and the last five of Adult."""
    shown = [row for row in tables["person_extract"].rows() if row[0] != "..."]
    rows = person.sql("SELECT age, education_num, target FROM person")
    real = [(str(a), str(e), t) for a, e, t in (*rows[:5], *rows[-5:])]
    return [
        printed("Table person", f"row of {row[0]}", [row[2], row[3], row[5]], list(cells))
        for row, cells in zip(shown, real, strict=True)
    ]


def histogram(tables: Mapping[str, pl.DataFrame], person: People) -> list[Statement]:
    """All 32 cells, and the noise of the printed noisy ones."""
    where = "Parallel histogram"
    sql = "SELECT education, sex, COUNT(*) FROM person GROUP BY education, sex"
    counts = {(education, sex): int(n) for education, sex, n in person.sql(sql)}
    exact = tables["histogram"].rows(named=True)
    noisy = tables["histogram_noisy"].rows(named=True)
    cells = [
        printed(where, f"{row['Education']}, {sex}", int(row[sex]), counts.get((row["Education"], sex), 0))
        for row in exact
        for sex in SEXES
    ]
    noise = [abs(float(row[sex]) - counts.get((row["Education"], sex), 0)) for row in noisy for sex in SEXES]
    return [
        *cells,
        derived(where, "cells", 32, len(counts)),
        derived(where, "people in them", 32561, sum(counts.values())),
        derived(
            where,
            "mean absolute noise of the printed cells",
            1.0,
            round(sum(noise) / len(noise), 4),
            within=0.35,
            why="epsilon is not stated; Lap(1) expects 1, so epsilon was 1, not the 0.1 of the count",
        ),
    ]


def through_the_gateway(gateway: Gateway) -> list[Statement]:
    """Answer the queries through the gateway."""
    count = gateway.explain(OLDER, epsilon=EPSILON).numbers[0]
    cells = gateway.explain(
        "SELECT education, sex, COUNT(*) FROM person GROUP BY education, sex", epsilon=HISTOGRAM_EPSILON
    )
    return [
        printed("Laplace count", "sensitivity that the gateway derives", 1, count["sensitivity"]),
        derived("Laplace count", "scale of the gateway at epsilon 0.1", 10, count["scale"], within=1e-9),
        derived("Laplace count", "error of the gateway with 95 %", 30, count["half width"], within=0.5),
        derived("Parallel histogram", "cells of the gateway, empty ones included", 32, cells.cells),
        derived(
            "Parallel histogram", "scale of the gateway, once for all cells", 1, cells.numbers[0]["scale"], within=1e-9
        ),
    ]
