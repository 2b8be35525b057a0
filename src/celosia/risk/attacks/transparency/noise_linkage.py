"""Linkage with noisy records, given the covariance of the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.risk.bases.linking_attack import _LinkingAttack
from celosia.risk.bases.noise_model import READS, noisy_columns
from celosia.risk.bases.transparency import Success

if TYPE_CHECKING:
    from celosia.table import Table


class NoiseLinkage(_LinkingAttack):
    r"""The share of records that an intruder who knows the covariance of the added noise links rightly.

    She knows the values x of a person in some ``columns``. The released record y of the person follows the noise, that
    of another person the margin of the file, so she takes the record of the greatest odds

    .. math:: \frac{p(y \mid x)}{p(y)}, \qquad y \mid x \sim N(x, \Sigma_e), \quad y \sim N(\mu, \Sigma_y)

    which is the nearest record to :math:`(A-B)^{-1}(Ax - B\mu)` in the metric A - B, with
    :math:`A = \Sigma_e^{-1}` and :math:`B = \Sigma_y^{-1}`. Factors are noise on the logarithm, with signs and zeros as
    they were; a result that was shrunk to keep the variances, or rotated, is stretched back first.

    She reads: the columns, p, the kind of noise, ``keep_variance``, ``keep_zeros`` and the published variances (without
    them they follow from p and the released file). The evidence has an interval, the baseline and as ``control`` the
    success of the nearest record in standard deviations. Ties are shared; a missing value takes the mean.

    References: Fuller (1993); Muralidhar & Sarathy (2003).

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> x = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], 300)
    >>> table = celosia.read(pl.DataFrame(x, schema=["a", "b"]))
    >>> protected = celosia.protect(table, "correlated-noise(columns=[a, b], p=0.01)", seed=1)
    >>> evidence = NoiseLinkage().evidence(table, protected)
    >>> evidence["value"] > evidence["control"]
    True
    """

    reads: ClassVar[tuple[str, ...]] = READS
    examples: ClassVar = (
        {"method": {"use": "noise", "columns": ["x", "y"], "p": 0.1}},
        {"method": {"use": "correlated-noise", "columns": ["x", "y"], "p": 0.2, "keep_variance": True}},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Link each record to the one of the greatest odds."""
        from celosia.risk.attacks.transparency.noise_posterior import comparable
        from celosia.risk.bases.nearest import nearest

        released = noisy_columns(self, original, protected)
        x = original.numeric(released.names)[self.attacked_records(original)]
        y = protected.numeric(released.names)
        a, b = comparable(released.to_noise_scale(x), released.observed, released.noise)
        links = nearest(
            np.hstack([a, released.unchanged_marks(x)]),
            np.hstack([b, released.unchanged_marks(y)]),
            self.own(original, protected),
        )
        return Success(
            self.by_record(original, links.correct),
            self.guess(original, protected),
            self.nearest_link_chance(original, protected, released.names),
            {"tied": self.by_record(original, links.tied)},
            {"columns": released.names},
        )
