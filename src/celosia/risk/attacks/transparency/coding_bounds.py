"""Estimates of rounded and top-coded values, from their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.risk.bases.estimate_attack import _EstimateAttack
from celosia.risk.bases.transparency import PublicStep, Success

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


class CodingBounds(_EstimateAttack):
    r"""The share of original values that an intruder who knows how they were rounded or cut off estimates closely.

    She knows which record is the person's. A value that was rounded to multiples of b lies in an interval of width b
    around it, above it or below it, by the way it was rounded (2b when it was drawn); one that was cut off lies beyond
    the limit, and all others are exact:

    .. math:: x \in [y - b/2,\ y + b/2], \quad [y,\ y + b], \quad [y - b,\ y], \quad (y - b,\ y + b), \qquad
              y = r \Rightarrow x > L

    The estimate is the middle of the interval, and for values beyond a limit the limit plus the mean distance by which
    the outer half of the released values lies beyond its inner end, as if the tail went on alike. A value is disclosed
    when it is at most ``within`` standard deviations away. The evidence gives the mean ``width`` of the intervals in
    standard deviations, and the share of ``exact`` values, by column.

    She reads: the columns, base and way of ``round``; the limit and the replacement of ``top-code`` and ``bottom-code``
    (a limit that is a quantile shows as the last value of the released column). The baseline guesses the released
    median for everybody, the ``control`` takes the released value as it is. Numbers only; a missing value is not
    disclosed.

    References: Domingo-Ferrer & Torra (2001); Hundepool et al. (2012), section 3.3.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"income": list(range(1000, 3000, 7))}))
    >>> protected = celosia.protect(table, "round(columns=[income], base=100, way=down)")
    >>> evidence = CodingBounds(within=0.08).evidence(table, protected)
    >>> round(evidence["value"], 2), round(evidence["control"], 2)
    (0.93, 0.47)
    """

    reads: ClassVar[tuple[str, ...]] = ("round", "top-code", "bottom-code")
    examples: ClassVar = (
        {"method": {"use": "round", "columns": ["x"], "base": 2, "way": "down"}, "within": 0.3},
        {"method": {"use": "round", "columns": ["y"], "base": 2, "way": "random"}, "within": 0.3},
        {"method": {"use": "top-code", "columns": ["x"], "value": 1.5}, "within": 0.3},
        {"method": {"use": "bottom-code", "columns": ["x"], "value": -1}, "within": 0.3},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Estimate values by the middle of their interval."""
        from celosia.kernels.statistics.deviation import spreads

        steps = self.changed_columns(original, protected)
        names = list(self.last_steps(original, protected))
        y = protected.numeric(names)
        guess, low, high = y.copy(), y.copy(), y.copy()
        for c, name in enumerate(names):
            for step in reversed(steps[name]):  # the last step is undone first
                low[:, c], high[:, c], guess[:, c] = _undo(step, low[:, c], high[:, c], guess[:, c], y[:, c])
        spread = spreads(original.numeric(names))
        width = np.where(np.isfinite(high - low), high - low, np.nan)
        parts = {
            "width": {
                name: float(np.nanmean(width[:, c]) / spread[c])
                for c, name in enumerate(names)
                if spread[c] > 0 and not np.isnan(width[:, c]).all()
            },
            "exact": {name: float((low[:, c] == high[:, c]).mean()) for c, name in enumerate(names)},
        }
        return self.judge_estimates(original, protected, names, guess, parts)


def _undo(step: PublicStep, low: Floats, high: Floats, guess: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return bounds and estimate before a step, from those after it."""
    if step.method == "round":
        base = float(step.parameters["base"])
        below, above = {
            "nearest": (0.5, 0.5), "down": (0.0, 1.0), "up": (1.0, 0.0), "random": (1.0, 1.0),
        }[step.parameters["way"]]  # fmt: skip
        return low - below * base, high + above * base, guess + (above - below) / 2 * base
    side = 1.0 if step.method == "top-code" else -1.0
    given, put = (step.parameters[name] for name in ("value", "replacement"))
    shown = side * y[~np.isnan(y)]
    coded = side * float(put if put is not None else given if given is not None else side * shown.max(initial=-np.inf))
    inner = shown[shown != coded] if put is not None else shown
    limit = side * float(given) if given is not None else inner.max(initial=-np.inf)
    hit = side * y == coded
    tail = shown[(shown < limit) & (shown >= np.median(shown))] if len(shown) else shown
    beyond = float(tail.mean() - tail.min()) if len(tail) else 0.0
    ends = (limit, np.inf) if side > 0 else (-np.inf, -limit)
    guess = np.where(hit, side * (limit + beyond), guess)
    return np.where(hit, ends[0], low), np.where(hit, ends[1], high), guess
