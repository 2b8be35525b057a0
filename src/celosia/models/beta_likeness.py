"""β-likeness."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.models.bases.sensitive_model import _SensitiveModel
from celosia.parts import ComparesWithInput, SearchHints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts, ValueCounts


class BetaLikeness(SearchHints, ComparesWithInput, _SensitiveModel):
    r"""In no class is a sensitive value more than (1 + β) times as frequent as in the whole input table.

    .. math:: \frac{p_i - q_i}{q_i} \le \beta, \qquad \text{enhanced: } \frac{p_i - q_i}{q_i} \le \min(\beta, -\ln q_i)

    The value is the smallest β for which it would hold (infinite when the bound :math:`-\ln q_i` of the enhanced
    form is broken). With a person column :math:`p_i` is the share of the persons of the class who have the value,
    and :math:`q_i` that of the persons of the input table: each value is a question of yes or no about a person.
    Unlike t-closeness it protects rare values; it says nothing about values that become rarer.
    References: Cao & Karras (2012).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["a", "a", "b", "b"], "disease": ["flu", "flu", "flu", "heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["disease"]))
    >>> BetaLikeness(beta=1).value(table), BetaLikeness(beta=1, enhanced=True).value(table)
    (1.0, inf)
    """

    beta: float = Field(gt=0, description="largest allowed relative gain")
    enhanced: bool = Field(default=False, description="also bound the gain of frequent values by -ln q")

    symbol: ClassVar[str] = "beta"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    monotone_generalisation: ClassVar[bool] = True
    examples: ClassVar = ({}, {"column": "s", "enhanced": True})

    def bound(self) -> float:
        """Return the largest allowed relative gain."""
        return self.beta

    def column_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the largest relative gain in each class; 0 when no value gains."""
        if len(counts.start) <= 1:
            return np.zeros(0)
        q = counts.prior[counts.value]
        with np.errstate(divide="ignore"):
            gain = np.round((counts.share - q) / q, 12)
            if self.enhanced:
                gain = np.where(gain > -np.log(q) + 1e-12, np.inf, gain)
        return np.maximum(np.maximum.reduceat(gain, counts.start[:-1]), 0.0)

    def least_removed(self, classes: ClassCounts) -> NDArray[np.int64]:
        """Return how many records each class must lose at least, here and at every finer level, for small gains."""
        from celosia.kernels.grouping.removal import removed_for_caps

        out = np.zeros(len(classes), dtype=np.int64)
        for counts in self.value_counts(classes):
            gain = np.full(len(counts.baseline), self.beta)
            if self.enhanced:
                with np.errstate(divide="ignore"):
                    gain = np.minimum(gain, -np.log(counts.baseline))
            cap = np.minimum(1.0, counts.baseline * (1 + gain))
            out = np.maximum(out, removed_for_caps(counts.start, counts.value, counts.count, cap))
        return out
