"""The sweeps: loss and risk of IPSO and of fuzzy c-regression over c, over c and N, and on two-dimensional points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.synthesis.design import design
from celosia.kernels.synthesis.fuzzy_regression import State, best_fit, five_groups
from celosia.kernels.synthesis.ipso import identities
from celosia.release.protect import protect
from celosia.table import Table
from celosia_reproduce.fuzzy_privacy.study import COLUMNS
from celosia_reproduce.synthetic.measures import Point, mean, measured, measured_alone, table_of
from celosia_reproduce.synthetic.setups import OwnSetup, Setup, next_columns

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]


def census_table(x: Floats) -> Table:
    """Return the census file as a table."""
    return table_of(x, COLUMNS)


def sweep(
    table: Table, setup: Setup | OwnSetup, numbers: Sequence[int], starts: int, tell: Progress, *, joint: bool = False
) -> dict[str, Point]:
    """IPSO A, B, C and fuzzy c-regression for each c, each a mean over several starts; ``joint`` adds its reading.

    The rows of the other reading, one set of regressions for all columns, are named ``c, joint``.
    """
    dependent, independent = setup.columns
    common: dict[str, Any] = {"dependent": dependent, "independent": independent}
    tried: dict[str, dict[str, Any]] = {str(c): {"use": "fcrm", "c": c, **common} for c in numbers}
    if joint:
        tried |= {f"{c}, joint": {"use": "fcrm", "c": c, "joint": True, **common} for c in numbers}
    for variant in "ABC":
        tried[f"IPSO-{variant}"] = {"use": "ipso", "variant": variant, "noise": "unit", **common}
    points = {}
    for i, (name, method) in enumerate(tried.items()):
        tell(f"{setup.name}: {name}", i / len(tried))
        runs = range(1 if name == "IPSO-A" else starts)
        synthetic = [protect(table, method, seed=seed) for seed in runs]
        points[name] = mean([_measured(table, each, dependent) for each in synthetic])
    return points


def _measured(table: Table, synthetic: Table, dependent: Sequence[str]) -> Point:
    step = synthetic.history[-1]
    return measured(table, synthetic, dependent, change=step.get("last change"), objective=step.get("objective"))


VARIATIONS: dict[str, dict[str, Any]] = {
    "linear": {},
    "radial, 8 functions": {"radial": 8},
    "blind": {"choice": "blind"},
    "joint": {"joint": True},
}


def variations(table: Table, setup: Setup, tell: Progress, numbers: Sequence[int]) -> dict[str, Point]:
    """Fuzzy c-regression with local models that bend, with a blind choice, and for all columns together."""
    dependent, independent = setup.columns
    points = {}
    for i, c in enumerate(numbers):
        tell(f"{setup.name}: variations", i / len(numbers))
        for name, more in VARIATIONS.items():
            method = {"use": "fcrm", "c": c, "dependent": dependent, "independent": independent, **more}
            points[f"c = {c}, {name}"] = _measured(table, protect(table, method, seed=1), dependent)
    return points


def kept_identities(table: Table, setup: Setup, seed: int) -> dict[str, dict[str, float]]:
    """Return the largest relative error of the regression and of the residual covariance, by variant."""
    dependent, independent = setup.columns
    x, y = table.numeric(independent), table.numeric(dependent)
    errors = {}
    for variant in "ABC":
        part = {"use": "ipso", "variant": variant, "dependent": dependent, "independent": independent}
        errors[variant] = identities(x, y, protect(table, part, seed=seed).numeric(dependent))
    return errors


def rotating(
    x: Floats, numbers: Sequence[int], widths: Sequence[int], intercept: bool, tell: Progress
) -> dict[tuple[int, int], Point]:
    """S3: each column in turn is dependent, the next N are independent.

    Loss and risk (both linkages and the intervals): of all new columns together, and the mean over as many files of one
    new column each.
    """
    points = {}
    done = 0
    for n in widths:
        models = []
        for v in range(1, x.shape[1] + 1):
            chosen = x[:, [j - 1 for j in next_columns(v, n, x.shape[1])]]
            models.append((chosen, design(chosen, intercept=intercept), x[:, [v - 1]]))
        for c in numbers:
            synthetic = np.column_stack([_synthetic(*model, c, np.random.default_rng([c, n, v]))[0] for v, model in
                                    enumerate(models)])  # fmt: skip
            points[c, n] = measured_alone(x, synthetic)
            done += 1
            tell(f"S3: c = {c}, N = {n}", done / (len(numbers) * len(widths)))
    return points


def _synthetic(x: Floats, model: Any, y: Floats, c: int, rng: np.random.Generator) -> tuple[Floats, State | None]:
    if c == 1:
        return model.fitted_values(y)[:, 0], None
    state = best_fit(x, y, model, c, rng)
    return state.predict(model, state.nearest())[:, 0], state


SUM = ("PTOTVAL", "POTHVAL", "PEARNVAL")
EQUATION = "PTOTVAL = POTHVAL + PEARNVAL"


def constrained(table: Table, c: int = 4) -> dict[str, Any]:
    """Synthesise records with a sum constraint, without and with enforcing it: violations, loss and risk."""
    independent = [name for name in COLUMNS if name not in SUM]
    method: dict[str, Any] = {"use": "fcrm", "c": c, "dependent": list(SUM), "independent": independent}
    measures = {}
    for name, more in (("free", {}), ("constrained", {"constraints": [EQUATION]})):
        synthetic = protect(table, {**method, **more}, seed=1)
        total, other, earned = synthetic.numeric(SUM).T
        held = float(np.isclose(total, other + earned, rtol=0, atol=0.5).mean())
        point = measured(table, synthetic, SUM)
        measures[name] = {"records where it holds": held, "pil": point.pil, "dr": point.dr, "score": point.score}
    return measures


@dataclass(frozen=True)
class Drawing:
    """Points with their cluster, and the lines, for a picture."""

    x: Floats
    y: Floats
    cluster: NDArray[np.int64]
    lines: Floats


def example(numbers: Sequence[int], starts: int, drawn: Sequence[int]) -> tuple[dict[int, Point], dict[int, Drawing]]:
    """Run the two-dimensional example on five generated groups of points, with c regressions."""
    x, y = five_groups(np.random.default_rng(2009))
    model = design(x)
    points, pictures = {}, {}
    for c in numbers:
        runs = [_synthetic(x, model, y, c, np.random.default_rng([c, s])) for s in range(starts)]
        points[c] = mean([measured_alone(y, column[:, None]) for column, _ in runs])
        best = min((state for _, state in runs if state is not None), key=lambda s: s.objective, default=None)
        if c in drawn and best is not None:
            pictures[c] = Drawing(x[:, 0], y[:, 0], best.nearest(), best.lines(model)[:, :, 0])
    return points, pictures
