"""(α, k)-anonymity."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from celosia.models.bases.sensitive_model import _SensitiveModel
from celosia.parts import Condition, SearchHints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts, ValueCounts


class AlphaK(SearchHints, _SensitiveModel):
    r"""Classes of at least ``k`` records in which no sensitive value has more than the share ``alpha``.

    .. math:: |E| \ge k, \qquad \max_s p_E(s) \le \alpha

    The value is the largest share; the requirement holds when both conditions do. With ``alpha = 1/l`` it is the
    rule of anatomisation. With a person column a share is that of the persons of the class who have the value, so
    that shares may sum to more than 1. Missing sensitive values protect nobody: shares are taken with and without
    them, and the larger counts. References: Wong et al. (2006).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["130**"] * 4, "disease": ["flu", "flu", "flu", "heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["disease"]))
    >>> AlphaK(alpha=0.75, k=4).value(table), AlphaK(alpha=0.75, k=4).holds(table), AlphaK(alpha=0.5, k=4).holds(table)
    (0.75, True, False)
    """

    alpha: float = Field(gt=0, le=1, description="largest allowed share of one sensitive value in a class")
    k: int = Field(default=2, ge=1, description="smallest allowed class size")

    symbol: ClassVar[str] = "alpha"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    known_alone: ClassVar[bool] = True
    monotone_generalisation: ClassVar[bool] = True
    examples: ClassVar = ({"k": 1}, {"k": 2, "column": "s"}, {"k": 5, "column": "o"})

    def bound(self) -> float:
        """Return the largest allowed share."""
        return self.alpha

    def column_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the largest share of a value in each class."""
        return counts.largest_share

    def judge(self, classes: ClassCounts, scores: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
        """Return whether each class is large and mixed enough."""
        return super().judge(classes, scores) & (classes.size >= self.k)

    def smallest_size(self) -> int:
        """Return k."""
        return self.k

    def conditions(self) -> tuple[Condition, ...]:
        """Return the largest share and the smallest class."""
        return (*super().conditions(), Condition("k", "at least", self.k))
