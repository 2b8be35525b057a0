"""δ-disclosure privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.models.bases.sensitive_model import _SensitiveModel
from celosia.parts import ComparesWithInput, Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ValueCounts


class DeltaDisclosure(ComparesWithInput, _SensitiveModel):
    r"""Each value present in a class is as frequent as in the input table, up to a factor of 2 to the power δ.

    .. math:: \bigl|\log_2 (p_i / q_i)\bigr| < \delta \quad \text{for all values present}

    The value is the largest such logarithm; the bound is strict. A value that a class lacks is not judged, so
    merging classes can break it. With a person column :math:`p_i` and :math:`q_i` are the shares of the persons of the
    class, and of the input table, who have the value. References: Brickell & Shmatikov (2008).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["a", "a", "b", "b"], "disease": ["flu", "flu", "flu", "heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["disease"]))
    >>> DeltaDisclosure(delta=1).value(table), DeltaDisclosure(delta=1).holds(table)
    (1.0, False)
    """

    delta: float = Field(gt=0, description="bound of the logarithm, exclusive")

    symbol: ClassVar[str] = "delta"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    examples: ClassVar = ({}, {"column": "v"})

    def bound(self) -> float:
        """Return the bound of the logarithm."""
        return self.delta

    def column_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the largest logarithm in each class."""
        if len(counts.start) <= 1:
            return np.zeros(0)
        with np.errstate(divide="ignore"):
            gain = np.abs(np.log2(counts.share / counts.prior[counts.value]))
        return np.asarray(np.maximum.reduceat(gain, counts.start[:-1]).round(12), dtype=np.float64)

    def conditions(self) -> tuple[Condition, ...]:
        """Return the strict bound."""
        return (Condition(self.symbol, "less than", self.delta),)
