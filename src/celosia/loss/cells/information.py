"""Losses by entropy: information of the protected value about the original, and of columns about each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable
from celosia.kernels.statistics.distribution_distance import entropy, pair_codes, shared_information
from celosia.loss.bases.column_loss import _CategoryLoss
from celosia.table.pairing import positions

if TYPE_CHECKING:
    from celosia.table import Table


class EntropyLoss(_CategoryLoss):
    r"""The share of the information of a column that the protected value does not carry, mean over columns.

    .. math:: \frac1p \sum_j \frac{H(X_j \mid \tilde X_j)}{H(X_j)}

    The conditional entropy of the original value given the protected one. Works for categories that were swapped,
    randomised, generalised or blanked, and for numbers in bins with equal counts. A re-labelling costs nothing. Columns
    with one value only count as unchanged. Needs paired records; with few records per category it is too low.
    References: Kooiman, Willenborg & Gouweleeuw (1998).

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"c": c})) for c in (["u", "v", "u", "v"], ["w", "w", "w", "w"]))
    >>> EntropyLoss().value(a, b)
    1.0
    """

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the share of each column."""
        encoded = self._categories(original, protected)
        before = encoded.original[positions(original, protected)]
        lost = {}
        for j, name in enumerate(encoded.names):
            a, b = before[:, j], encoded.protected[:, j]
            whole = entropy(a)
            left = entropy(pair_codes(a, b)) - entropy(b)
            lost[name] = min(1.0, max(0.0, left / whole)) if whole > 0 else 0.0
            if np.array_equal(a, b):
                lost[name] = 0.0  # rounding of the two entropies
        return lost


class MutualInformation(_CategoryLoss):
    r"""The change of the normalised mutual information of two columns, mean over pairs of columns.

    .. math:: \binom p2^{-1} \sum_{i < j} \left| I_{ij} - \tilde I_{ij} \right|, \qquad
              I_{ij} = \frac{H(X_i) + H(X_j) - H(X_i, X_j)}{\sqrt{H(X_i) H(X_j)}}

    For columns of any kind; numbers with more than ``bins`` values fall into bins with equal counts in the original.
    Between 0 and 1. Sees relations that are not linear; blind to single columns. Records need not be paired. Needs two
    columns; with few records per cell the information is too high on both sides.

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"x": ["u", "u", "v", "v"], "y": ["s", "s", "t", "t"]}))
    >>> b = celosia.read(pl.DataFrame({"x": ["u", "u", "v", "v"], "y": ["s", "t", "s", "t"]}))
    >>> MutualInformation().value(a, b)
    1.0
    """

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean over pairs of columns."""
        return float(np.mean(list(self._pairs(original, protected).values())))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the mean change of the pairs of each column."""
        pairs = self._pairs(original, protected)
        names = dict.fromkeys(name for pair in pairs for name in pair)
        return {name: float(np.mean([v for pair, v in pairs.items() if name in pair])) for name in names}

    def _pairs(self, original: Table, protected: Table) -> dict[tuple[str, str], float]:
        encoded = self._categories(original, protected)
        if len(encoded.names) < 2:
            raise NotApplicable("one column shares no information: two are needed.")
        a, b = encoded.original, encoded.protected
        return {
            (encoded.names[i], encoded.names[j]): abs(
                shared_information(a[:, i], a[:, j]) - shared_information(b[:, i], b[:, j])
            )
            for i, j in itertools.combinations(range(len(encoded.names)), 2)
        }
