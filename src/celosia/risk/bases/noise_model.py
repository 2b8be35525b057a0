"""Noise as a certificate describes it: the released columns with the covariance of their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import NotApplicable
from celosia.risk.bases.linking_attack import _ColumnAttack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.bases.transparency import PublicStep
    from celosia.table import Table

    Floats = NDArray[np.float64]

READS = ("noise", "correlated-noise", "multiplicative-noise", "orthogonal-mask")
FAINT = 0.05  # share of the original value in the released one below which an attack has no signal
APART = 1e3  # standard deviations between zeros and other numbers, where zeros stay


@dataclass(frozen=True, eq=False)
class NoisyColumns:
    """Released columns as original + noise, both on the scale on which the noise is added."""

    names: list[str]
    observed: Floats
    noise: Floats
    """Covariance of the noise."""
    factors: NDArray[np.bool_]
    """Columns whose values were multiplied: they are compared by logarithm."""
    zeros: NDArray[np.bool_]
    """Columns in which a zero stays zero."""

    def to_noise_scale(self, values: Floats) -> Floats:
        """Transform values to the scale of the noise; a zero that was multiplied is missing there."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(values))
        return np.where(self.factors, np.where(np.isinf(logs), np.nan, logs), values)

    def from_noise_scale(self, values: Floats, like: Floats) -> Floats:
        """Transform values back from the scale of the noise, with the signs and zeros of released values."""
        with np.errstate(over="ignore"):
            powers = np.where(like == 0, 0.0, np.sign(like) * np.exp(np.where(self.factors, values, 0.0)))
        kept = np.where(self.zeros & (like == 0), 0.0, values)
        return np.where(self.factors, powers, kept)

    def unchanged_marks(self, values: Floats) -> Floats:
        """Return what noise does not change (zeros, signs of multiplied values) as coordinates that are far apart."""
        signs = np.where(self.factors, np.sign(np.nan_to_num(values)), np.nan_to_num(values) == 0)
        return np.asarray(APART * signs[:, self.factors | self.zeros], dtype=np.float64)


def noisy_columns(attack: _ColumnAttack, original: Table, protected: Table) -> NoisyColumns:
    """Describe the columns with noise, by the last step that changed them."""
    steps = attack.last_steps(original, protected)
    names = list(steps)
    y = protected.numeric(names)
    factors = np.array([steps[name].method == "multiplicative-noise" for name in names])
    zeros = np.array([bool(steps[name].parameters.get("keep_zeros")) for name in names])
    empty = NoisyColumns(names, y, np.zeros((len(names), len(names))), factors, zeros)
    observed, noise = empty.to_noise_scale(y), empty.noise
    for step in {id(step): step for step in steps.values()}.values():
        here = [c for c, name in enumerate(names) if steps[name] is step]
        kept = _signal_factor(step)
        if kept < FAINT:
            raise NotApplicable(f"{attack.name}: {step.method} leaves too little of the original values to undo.")
        noise[np.ix_(here, here)] = _covariance(step, [names[c] for c in here], y[:, here])
        mean = np.nanmean(observed[:, here], axis=0)
        observed[:, here] = mean + (observed[:, here] - mean) / kept
    return NoisyColumns(names, observed, noise, factors, zeros)


def _signal_factor(step: PublicStep) -> float:
    """Return the factor by which the step shrank the distance of a value from the mean."""
    p = float(step.parameters["p"])
    if step.method == "orthogonal-mask":
        return 1 - p / 2
    return float(1 / np.sqrt(1 + p)) if step.parameters.get("keep_variance") else 1.0


def _covariance(step: PublicStep, names: list[str], y: Floats) -> Floats:
    """Return the covariance of the noise, as published or, without evidence, from the released columns."""
    from celosia.kernels.perturbation.noise import covariance

    p = float(step.parameters["p"])
    published: Mapping[str, Any] = step.evidence
    if step.method == "noise":
        stated = published.get("noise_variance")
        variances = np.nanvar(y, axis=0) * p / (1 + p) if stated is None else [stated[name] for name in names]
        return np.diag(np.asarray(variances, dtype=np.float64))
    if step.method == "multiplicative-noise":
        deviations = published.get("factor_deviation")
        variance = np.nanvar(y, axis=0) / (1 + p)  # of the original: the noise adds the share p
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
