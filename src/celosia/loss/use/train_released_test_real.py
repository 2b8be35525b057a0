"""Loss for a use: models that are trained on the released table and tested on real records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.loss.bases.training_data import Learner, hold_out, is_number, predict
from celosia.parts import Columns, Loss
from celosia.table.pairing import shared_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


class TrainReleasedTestReal(Loss):
    r"""The share of the predictive skill that models lose when they are trained on the released table.

    .. math:: \frac1p \sum_j \min\left(1, \max\left(0, 1 - \frac{S_j(M'_j)}{S_j(M_j)}\right)\right)

    For each target *j* a model :math:`M'_j` is trained on the released records, :math:`M_j` on the original ones; both
    are tested on the same held-out original records. The skill S is the improvement over the commonest class,
    :math:`(a - a_0) / (1 - a_0)` with the accuracy a, or R² for a number. Known for synthetic data as *train on
    synthetic, test on real*. A target that even the original does not predict (S at most 0) is left out; 0 means that
    nothing is lost, 1 that nothing can be predicted any more. References: Esteban, Hyland & Rätsch (2017).

    >>> import numpy as np, polars as pl, celosia
    >>> x = np.arange(100.0)
    >>> a = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 50, "low", "high")}))
    >>> TrainReleasedTestReal(targets=["y"]).value(a, a)
    0.0
    """

    targets: Columns = Field(default=(), description="columns to predict from all others; all shared ones when empty")
    learner: Learner = Field(default="tree", description="kind of model; linear is logistic regression for categories")
    test: float = Field(default=0.3, gt=0, lt=1, description="share of records held out")
    seed: int = Field(default=0, ge=0, description="chooses the held-out records")
    bounded: ClassVar[bool] = True
    examples: ClassVar = ({"targets": ["e"]}, {"targets": ["e"], "learner": "linear"})

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean over the targets."""
        lost = self.parts(original, protected)
        if not lost:
            raise NotApplicable("the original itself predicts none of the targets.")
        return float(np.mean(list(lost.values())))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the share of the skill that each target loses."""
        schema = original.schema
        special = {schema.weight, schema.household, schema.person}
        targets = self.targets or [name for name in shared_columns(original, protected) if name not in special]
        measured = {name: self._skills(original, protected, name) for name in targets}
        return {
            name: float(np.clip(1 - released / real, 0, 1))
            for name, (real, released) in measured.items()
            if real > 0 and np.isfinite(released)
        }

    def _skills(self, original: Table, protected: Table, target: str) -> tuple[float, float]:
        """Return the skill of the models of both tables; 0 where there is nothing to learn."""
        data = hold_out(original, protected, target, (), self.test, self.seed)
        regress = is_number(data.y) and data.y2.dtype.kind == "f"
        y, y2, truth = (values if regress else values.astype(str) for values in (data.y, data.y2, data.truth))
        real = self._skill(data.x, y, data.test, truth, regress=regress)
        return real, self._skill(data.x2, y2, data.test, truth, regress=regress) if real > 0 else 0.0

    def _skill(
        self, x: NDArray[Any], y: NDArray[Any], at: NDArray[Any], truth: NDArray[Any], *, regress: bool
    ) -> float:
        if len(np.unique(y)) < 2:
            return 0.0
        predicted = predict(self.learner, x, y, at, self.seed, regress=regress)
        if regress:
            total = float(((truth - truth.mean()) ** 2).sum())
            return 1 - float(((truth - predicted) ** 2).sum()) / total if total > 0 else 0.0
        commonest = float(np.unique(truth, return_counts=True)[1].max() / len(truth))
        return (float((predicted == truth).mean()) - commonest) / (1 - commonest) if commonest < 1 else 0.0
