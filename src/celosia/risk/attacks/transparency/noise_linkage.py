"""Noise seen through by its covariance: links."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.risk.bases.linking import _LinkingAttack
from celosia.risk.bases.noising import READS, noised
from celosia.risk.bases.transparency import Reached

if TYPE_CHECKING:
    from celosia.table import Table


class NoiseLinkage(_LinkingAttack):
    r"""The share of records that an intruder links rightly who knows how much noise was added and how it is correlated.

    She knows the values x of a person in some ``columns``. A released record y is the person's by the noise and anybody
    else's by the margin of the file, so she takes the record of the greatest odds

    .. math:: \frac{p(y \mid x)}{p(y)}, \qquad y \mid x \sim N(x, \Sigma_e), \quad y \sim N(\mu, \Sigma_y)

    which is the nearest record to :math:`(A-B)^{-1}(Ax - B\mu)` in the metric A - B, with
    :math:`A = \Sigma_e^{-1}` and :math:`B = \Sigma_y^{-1}`. Factors are noise on the logarithm, with signs and zeros as
    they were; a result that was shrunk to keep the variances, or rotated, is stretched back first.

    She reads: the columns, p, the kind of noise, ``keep_variance``, ``keep_zeros`` and the published variances (without
    them they follow from p and the released file). The evidence has an interval, what guessing reaches and as
    ``control`` what the nearest record in standard deviations reaches. Ties are shared; a missing value takes the mean.

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

    def reach(self, original: Table, protected: Table) -> Reached:
        """Link by the odds."""
        from celosia.risk.attacks.transparency.denoising import comparable
        from celosia.risk.bases.nearest import nearest

        released = noised(self, original, protected)
        x = original.numeric(released.names)[self.attacked(original)]
        y = protected.numeric(released.names)
        a, b = comparable(released.scaled(x), released.observed, released.noise)
        links = nearest(
            np.hstack([a, released.marks(x)]), np.hstack([b, released.marks(y)]), self.own(original, protected)
        )
        return Reached(
            self.spread(original, links.correct),
            self.guess(original, protected),
            self.uninformed(original, protected, released.names),
            {"tied": self.spread(original, links.tied)},
            {"columns": released.names},
        )
