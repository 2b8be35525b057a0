"""Estimates of noisy values, given the covariance of the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from celosia.risk.bases.estimate_attack import _EstimateAttack
from celosia.risk.bases.noise_model import READS, noisy_columns
from celosia.risk.bases.transparency import Success

if TYPE_CHECKING:
    from celosia.table import Table


class NoiseReconstruction(_EstimateAttack):
    r"""The share of original values that an intruder who knows how much noise was added estimates closely.

    She knows which record is the person's, and filters the noise: directions in which the released file varies little
    more than the noise carry no signal, the others do.

    .. math:: \hat x = \mu + \Sigma_x \Sigma_y^{-1} (y - \mu), \qquad \Sigma_x = \Sigma_y - \Sigma_e

    A value is disclosed when the estimate is at most ``within`` standard deviations away. For normal data it is the
    best estimate there is, and its mean square error is :math:`\Sigma_x - \Sigma_x \Sigma_y^{-1} \Sigma_x`, which the
    evidence gives as ``expected`` next to the actual ``error`` (both as a share of the variance, by column) and
    the ``gain`` over guessing the mean. Correlated columns with independent noise are estimated best.

    She reads what :class:`~celosia.risk.NoiseLinkage` reads. The baseline guesses the median of the released column for
    everybody; the ``control``, who has not read the certificate, takes the released value as it is. With a person
    column the share is over persons. A missing value is not disclosed.

    References: Huang, Du & Chen (2005), Deriving private information from randomized data; Kargupta et al. (2003).

    >>> import numpy as np, polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> x = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], 2000)
    >>> table = celosia.read(pl.DataFrame(x, schema=["a", "b"]))
    >>> evidence = NoiseReconstruction().evidence(table, celosia.protect(table, "noise(columns=[a, b], p=0.5)", seed=1))
    >>> evidence["value"] > evidence["control"] > evidence["baseline"], round(evidence["gain"]["a"], 1)
    (True, 0.8)
    """

    reads: ClassVar[tuple[str, ...]] = READS
    examples: ClassVar = (
        {"method": {"use": "noise", "columns": ["x", "y"], "p": 0.1}, "within": 0.3},
        {"method": {"use": "correlated-noise", "columns": ["x", "y"], "p": 0.2, "keep_variance": True}, "within": 0.3},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Estimate the values without noise."""
        from celosia.kernels.statistics.deviation import spreads
        from celosia.risk.attacks.transparency.noise_posterior import estimate

        released = noisy_columns(self, original, protected)
        behind, left = estimate(released.observed, released.noise)
        variance = spreads(original.numeric(released.names)) ** 2
        expected = {
            name: float(left[c, c] / variance[c])
            for c, name in enumerate(released.names)
            if not released.factors[c] and variance[c] > 0
        }
        guess = released.from_noise_scale(behind, protected.numeric(released.names))
        return self.judge_estimates(original, protected, released.names, guess, {"expected": expected})
