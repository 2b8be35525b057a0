"""What a certificate tells about noise: the released columns with the covariance of what was added to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import NotApplicable
from celosia.risk.bases.linking import _ColumnAttack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.bases.transparency import PublicStep
    from celosia.table import Table

    Floats = NDArray[np.float64]

READS = ("noise", "correlated-noise", "multiplicative-noise", "orthogonal-mask")
FAINT = 0.05  # below this share of the original value in the released one nothing is worth undoing
APART = 1e3  # standard deviations between zeros and other numbers, where zeros stay


@dataclass(frozen=True, eq=False)
class Noised:
    """Released columns as original + noise, both on the scale on which the noise is added."""

    names: list[str]
    observed: Floats
    noise: Floats
    """Covariance of the noise."""
    factors: NDArray[np.bool_]
    """Columns whose values were multiplied: they are compared by logarithm."""
    zeros: NDArray[np.bool_]
    """Columns in which a zero stays zero."""

    def scaled(self, values: Floats) -> Floats:
        """Values on the scale of the noise; a zero that was multiplied is missing there."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(values))
        return np.where(self.factors, np.where(np.isinf(logs), np.nan, logs), values)

    def unscaled(self, values: Floats, like: Floats) -> Floats:
        """Back from that scale, with the signs and zeros of released values."""
        with np.errstate(over="ignore"):
            powers = np.where(like == 0, 0.0, np.sign(like) * np.exp(np.where(self.factors, values, 0.0)))
        kept = np.where(self.zeros & (like == 0), 0.0, values)
        return np.where(self.factors, powers, kept)

    def marks(self, values: Floats) -> Floats:
        """What the noise leaves alone, as numbers that keep others apart: zeros, and signs of multiplied values."""
        signs = np.where(self.factors, np.sign(np.nan_to_num(values)), np.nan_to_num(values) == 0)
        return np.asarray(APART * signs[:, self.factors | self.zeros], dtype=np.float64)


def noised(attack: _ColumnAttack, original: Table, protected: Table) -> Noised:
    """What is known about the columns that got noise, by the last step that changed them."""
    steps = attack.last_steps(original, protected)
    names = list(steps)
    y = protected.numeric(names)
    factors = np.array([steps[name].method == "multiplicative-noise" for name in names])
    zeros = np.array([bool(steps[name].parameters.get("keep_zeros")) for name in names])
    empty = Noised(names, y, np.zeros((len(names), len(names))), factors, zeros)
    observed, noise = empty.scaled(y), empty.noise
    for step in {id(step): step for step in steps.values()}.values():
        here = [c for c, name in enumerate(names) if steps[name] is step]
        kept = _kept(step)
        if kept < FAINT:
            raise NotApplicable(f"{attack.name}: {step.method} leaves too little of the original values to undo.")
        noise[np.ix_(here, here)] = _covariance(step, [names[c] for c in here], y[:, here])
        mean = np.nanmean(observed[:, here], axis=0)
        observed[:, here] = mean + (observed[:, here] - mean) / kept
    return Noised(names, observed, noise, factors, zeros)


def _kept(step: PublicStep) -> float:
    """How much of the distance of a value from the mean is left in the released value, noise apart."""
    p = float(step.parameters["p"])
    if step.method == "orthogonal-mask":
        return 1 - p / 2
    return float(1 / np.sqrt(1 + p)) if step.parameters.get("keep_variance") else 1.0


def _covariance(step: PublicStep, names: list[str], y: Floats) -> Floats:
    """Covariance of the noise, as it was published or, without evidence, as it follows from the released columns."""
    from celosia.kernels.perturbation.noise import covariance

    p = float(step.parameters["p"])
    published: Mapping[str, Any] = step.evidence
    if step.method == "noise":
        stated = published.get("noise_variance")
        variances = np.nanvar(y, axis=0) * p / (1 + p) if stated is None else [stated[name] for name in names]
        return np.diag(np.asarray(variances, dtype=np.float64))
    if step.method == "multiplicative-noise":
        deviations = published.get("factor_deviation")
        variance = np.nanvar(y, axis=0) / (1 + p)  # that of the original: the noise adds p of it
        factor = p * variance / (np.nanmean(y * y, axis=0) - p * variance)
        square = factor if deviations is None else np.array([deviations[name] ** 2 for name in names])
        return np.diag(np.log1p(square))
    if step.method == "orthogonal-mask":
        kept = 1 - p / 2
        return covariance(y) * (1 - kept**2) / kept**2
    matrix = published.get("noise_covariance")
    if matrix is None:
        return covariance(y) * (p if step.parameters["keep_variance"] else p / (1 + p))
    place = [step.columns.index(name) for name in names]
    return np.asarray(matrix, dtype=np.float64)[np.ix_(place, place)]
