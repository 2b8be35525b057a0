"""Fuzzy c-regression watched step by step: what a page draws while it iterates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """The regressions after one iteration, the synthetic values they give, and how these are judged in per cent."""

    iteration: int
    objective: float
    change: float
    memberships: Floats
    """n × c."""
    lines: Floats
    """Intercept and slopes of each regression, c × (1 + columns)."""
    synthetic: Floats
    pil: float
    dr: float
    score: float


def steps(
    x: Floats, y: Floats, c: int, rng: np.random.Generator, *, m: float = 1.5, intercept: bool = True
) -> Iterator[Step]:
    """Iterate without end on independent columns ``x`` (n × s) and one dependent column ``y``.

    >>> x = np.array([[0.0], [1], [2], [3], [0], [1], [2], [3]])
    >>> y = np.array([0.0, 1, 2, 3, 9, 8, 7, 6])
    >>> found = steps(x, y, 2, np.random.default_rng(1))
    >>> last = [next(found) for _ in range(20)][-1]
    >>> last.iteration, bool(np.allclose(last.synthetic, y))
    (20, True)
    """
    from celosia.mathematics.synthesis.design import design
    from celosia.mathematics.synthesis.fuzzy_regression import first_memberships, iterations

    model = design(x, intercept=intercept)
    column = y.reshape(-1, 1)
    start = first_memberships(x, column, c, m, rng)
    for state in iterations(model, column, start, m):
        made = state.predicted(model, state.nearest())[:, 0]
        pil, dr = _judged(y, made)
        yield Step(
            state.iteration,
            state.objective,
            state.change,
            state.memberships,
            state.lines(model)[:, :, 0],
            made,
            pil,
            dr,
            (pil + dr) / 2,
        )


def _judged(y: Floats, made: Floats) -> tuple[float, float]:
    from celosia.experiments.synthetic.measures import measured, table_of

    point = measured(table_of(y[:, None]), table_of(made[:, None]), ["v1"])
    return point.pil, point.dr_relative
