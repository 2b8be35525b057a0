"""The sweeps: loss and risk of IPSO and of fuzzy c-regression over c, over c and N, and on two-dimensional points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.experiments.fuzzy_privacy.study import COLUMNS
from celosia.experiments.synthetic.setups import Setup, five_groups, next_columns
from celosia.mathematics.disclosure.interval_disclosure import inside
from celosia.mathematics.statistics.probabilistic_loss import terms
from celosia.mathematics.synthesis.design import design
from celosia.mathematics.synthesis.fuzzy_regression import State, best_fit
from celosia.mathematics.synthesis.ipso import identities
from celosia.parts import build
from celosia.release.measuring import protect
from celosia.table import Table, read

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]
PERCENTS = tuple(range(1, 11))


@dataclass(frozen=True)
class Point:
    """What was measured at one setting, in percent: means over the starts, and the spread of the loss."""

    pil: float
    dr: float
    pil_alone: float
    """The loss with each column judged alone."""
    dr_relative: float
    """The risk with intervals of ± p/2 per cent of the value."""
    spread: float = 0.0
    change: float | None = None
    objective: float | None = None

    @property
    def score(self) -> float:
        """Half the loss and half the risk."""
        return (self.pil + self.dr) / 2

    def data(self) -> dict[str, float | None]:
        """The point as plain data."""
        return {**vars(self), "score": self.score}


def census_table(x: Floats) -> Table:
    """The census file as a table."""
    import polars as pl

    return read(pl.DataFrame(x, schema=COLUMNS))


def sweep(table: Table, setup: Setup, numbers: Sequence[int], starts: int, tell: Progress) -> dict[str, Point]:
    """IPSO A, B, C and fuzzy c-regression for each c; each a mean over several starts."""
    dependent, independent = setup.columns
    common: dict[str, Any] = {"dependent": dependent, "independent": independent}
    tried: dict[str, dict[str, Any]] = {str(c): {"use": "fcrm", "c": c, **common} for c in numbers}
    for variant in "ABC":
        tried[f"IPSO-{variant}"] = {"use": "ipso", "variant": variant, "noise": "unit", **common}
    found = {}
    for i, (name, method) in enumerate(tried.items()):
        tell(f"{setup.name}: {name}", i / len(tried))
        runs = range(1 if name == "IPSO-A" else starts)
        made = [protect(table, method, seed=seed) for seed in runs]
        found[name] = _mean([_measured(table, one, dependent) for one in made])
    return found


def _measured(table: Table, made: Table, dependent: Sequence[str]) -> Point:
    step = made.history[-1]
    lost = {
        scope: 100
        * build("loss", {"use": "probabilistic-loss", "columns": dependent, "scope": scope}).value(table, made)
        for scope in ("joint", "per-column")
    }
    risk = {
        window: 100
        * build("attack", {"use": "classical-disclosure-risk", "columns": dependent, "window": window}).value(
            table, made
        )
        for window in ("rank", "relative")
    }
    return Point(
        lost["joint"],
        risk["rank"],
        lost["per-column"],
        risk["relative"],
        change=step.get("last change"),
        objective=step.get("objective"),
    )


def _mean(points: Sequence[Point]) -> Point:
    def of(name: str) -> Any:
        values = [getattr(p, name) for p in points]
        return None if values[0] is None else float(np.mean(values))

    names = ("pil", "dr", "pil_alone", "dr_relative", "change", "objective")
    return Point(**{name: of(name) for name in names}, spread=float(np.std([p.pil for p in points])))


VARIATIONS: dict[str, dict[str, Any]] = {
    "linear": {},
    "radial, 8 functions": {"radial": 8},
    "blind": {"choice": "blind"},
    "joint": {"joint": True},
}


def variations(table: Table, setup: Setup, tell: Progress, numbers: Sequence[int] = (2, 5, 10)) -> dict[str, Point]:
    """Fuzzy c-regression with local models that bend, with a blind choice, and for all columns together."""
    dependent, independent = setup.columns
    found = {}
    for i, c in enumerate(numbers):
        tell(f"{setup.name}: variations", i / len(numbers))
        for name, more in VARIATIONS.items():
            method = {"use": "fcrm", "c": c, "dependent": dependent, "independent": independent, **more}
            found[f"c = {c}, {name}"] = _measured(table, protect(table, method, seed=1), dependent)
    return found


def kept_identities(table: Table, setup: Setup, seed: int) -> dict[str, dict[str, float]]:
    """The largest relative error of the regression and of the residual covariance, by variant."""
    dependent, independent = setup.columns
    x, y = table.numeric(independent), table.numeric(dependent)
    found = {}
    for variant in "ABC":
        part = {"use": "ipso", "variant": variant, "dependent": dependent, "independent": independent}
        found[variant] = identities(x, y, protect(table, part, seed=seed).numeric(dependent))
    return found


def rotating(
    x: Floats, numbers: Sequence[int], widths: Sequence[int], intercept: bool, tell: Progress
) -> dict[tuple[int, int], Point]:
    """S3: each column in turn is dependent, the next N are independent; all thirteen new columns are judged.

    Loss: all columns together, and each alone. Risk: by the interval of each value alone (the linkages would need
    all columns known at once, which this set-up never releases), so that it is half of DR at most.
    """
    found = {}
    done = 0
    for n in widths:
        models = []
        for v in range(1, 14):
            chosen = x[:, [j - 1 for j in next_columns(v, n)]]
            models.append((chosen, design(chosen, intercept=intercept), x[:, [v - 1]]))
        for c in numbers:
            made = np.column_stack([_synthetic(*model, c, np.random.default_rng([c, n, v]))[0] for v, model in
                                    enumerate(models)])  # fmt: skip
            found[c, n] = _judged(x, made)
            done += 1
            tell(f"S3: c = {c}, N = {n}", done / (len(numbers) * len(widths)))
    return found


def _synthetic(x: Floats, model: Any, y: Floats, c: int, rng: np.random.Generator) -> tuple[Floats, State | None]:
    if c == 1:
        return model.fitted(y)[:, 0], None
    state = best_fit(x, y, model, c, rng)
    return state.predicted(model, state.nearest())[:, 0], state


def _judged(x: Floats, made: Floats) -> Point:
    joint = 100 * terms(x, made).value() if x.shape[1] > 1 else float("nan")
    alone = []
    for j in range(x.shape[1]):
        part = terms(x[:, [j]], made[:, [j]])
        alone.append(100 * (part.quantiles + part.mean + 2 * part.variance) / 5)
    rank, relative = (50 * float(inside(x, made, PERCENTS, kind).mean()) for kind in ("rank", "relative"))
    return Point(joint if x.shape[1] > 1 else float(np.mean(alone)), rank, float(np.mean(alone)), relative)


@dataclass(frozen=True)
class Drawing:
    """Points with their cluster, and the lines, for a picture."""

    x: Floats
    y: Floats
    cluster: NDArray[np.int64]
    lines: Floats


def example(numbers: Sequence[int], starts: int, drawn: Sequence[int]) -> tuple[dict[int, Point], dict[int, Drawing]]:
    """The two-dimensional example on a stand-in: five groups of points, c regressions."""
    x, y = five_groups(np.random.default_rng(2009))
    model = design(x)
    found, pictures = {}, {}
    for c in numbers:
        runs = [_synthetic(x, model, y, c, np.random.default_rng([c, s])) for s in range(starts)]
        found[c] = _mean([_judged(y, made[:, None]) for made, _ in runs])
        best = min((state for _, state in runs if state is not None), key=lambda s: s.objective, default=None)
        if c in drawn and best is not None:
            pictures[c] = Drawing(x[:, 0], y[:, 0], best.nearest(), best.lines(model)[:, :, 0])
    return found, pictures
