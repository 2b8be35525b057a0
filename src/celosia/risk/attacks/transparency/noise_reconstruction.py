"""Noise seen through by its covariance: values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.risk.bases.linking import _ColumnAttack
from celosia.risk.bases.noising import READS, noised
from celosia.risk.bases.transparency import Reached

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


class NoiseReconstruction(_ColumnAttack):
    r"""The share of original values that an intruder estimates closely who knows how much noise was added.

    She knows which record is the person's, and takes the noise out again: directions in which the released file varies
    little more than the noise tell nothing, the others a lot.

    .. math:: \hat x = \mu + \Sigma_x \Sigma_y^{-1} (y - \mu), \qquad \Sigma_x = \Sigma_y - \Sigma_e

    A value is disclosed when the estimate is at most ``within`` standard deviations away. For normal data it is the
    best estimate there is, and its mean square error is :math:`\Sigma_x - \Sigma_x \Sigma_y^{-1} \Sigma_x`, which the
    evidence gives as ``expected`` beside the ``error`` that was made (both as a share of the variance, by column) and
    the ``gain`` over guessing the mean. Correlated columns with independent noise are estimated best.

    She reads what :class:`~celosia.risk.NoiseLinkage` reads. The baseline guesses the median of the released column for
    everybody; the ``control``, who has not read the certificate, takes the released value as it is. With a person
    column the share is over persons. A missing value is not disclosed.

    References: Huang, Du & Chen (2005), Deriving private information from randomized data; Kargupta et al. (2003).

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> x = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], 2000)
    >>> table = celosia.read(pl.DataFrame(x, schema=["a", "b"]))
    >>> found = NoiseReconstruction().evidence(table, celosia.protect(table, "noise(columns=[a, b], p=0.5)", seed=1))
    >>> found["value"] > found["control"] > found["baseline"], round(found["gain"]["a"], 1)
    (True, 0.8)
    """

    within: float = Field(default=0.1, gt=0, description="standard deviations within which a value is disclosed")
    reads: ClassVar[tuple[str, ...]] = READS
    discloses: ClassVar[Literal["identity", "value"]] = "value"

    def reach(self, original: Table, protected: Table) -> Reached:
        """Take the noise out."""
        from celosia.mathematics.disclosure.denoising import estimate
        from celosia.table.pairing import positions

        known = noised(self, original, protected)
        rows = positions(original, protected)
        everybody, y = original.numeric(known.names), protected.numeric(known.names)
        behind, left = estimate(known.observed, known.noise)
        guess = known.unscaled(behind, y)
        truth = everybody[rows]
        spread = np.nanstd(everybody, axis=0)

        def near(values: Floats) -> Floats:
            with np.errstate(invalid="ignore"):
                close = np.abs(values - truth) <= self.within * spread
            chance = np.zeros(len(original))
            chance[rows] = close.mean(axis=1)
            return chance

        baseline = near(np.broadcast_to(np.nanmedian(y, axis=0), y.shape))
        return Reached(
            near(guess),
            float(self._by_person(original, baseline).mean()),
            near(y),
            {},
            {**self._errors(known.names, guess, truth, left, known.factors), "columns": known.names},
        )

    def _errors(
        self, names: list[str], guess: Floats, truth: Floats, left: Floats, factors: NDArray[np.bool_]
    ) -> dict[str, Any]:
        """By column: the mean square error, the one expected of normal data, and the gain over guessing the mean."""
        variance = np.nanvar(truth, axis=0)
        shares = np.nanmean((guess - truth) ** 2, axis=0) / np.where(variance > 0, variance, 1.0)
        error = dict(zip(names, shares.tolist(), strict=True))
        expected = {
            name: float(left[c, c] / variance[c]) for c, name in enumerate(names) if not factors[c] and variance[c] > 0
        }
        return {"error": error, "expected": expected, "gain": {name: 1 - share for name, share in error.items()}}
