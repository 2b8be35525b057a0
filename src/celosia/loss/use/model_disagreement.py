"""Loss for a use: predictions of a model that is trained on the protected table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.kernels.statistics.deviation import deviations, subtract_mean
from celosia.loss.bases.training_data import Learner, hold_out, is_number, predict
from celosia.loss.use.agreement import disagreement
from celosia.parts import Column, Columns, Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


class ModelDisagreement(Loss):
    r"""The rate at which a model trained on the protected table contradicts one trained on the original.

    .. math:: \frac1T \sum_{t} [M(x_t) \ne M'(x_t)]

    Both models predict ``target`` for the same held-out records of the original, which neither has seen. For a number
    the loss is the mean difference of the predictions in standard deviations of the target. ``measure`` gives a gap
    instead: how much accuracy, (macro) precision, recall or F1, or R² the second model has lost; a model that became
    better lost nothing. All of them are among the parts. The disagreement matters even where both are equally good.
    A predictor that was generalised is another feature to the second model. Needs at least two classes in both tables.

    >>> import numpy as np, polars as pl, celosia
    >>> x = np.arange(100.0)
    >>> a = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 50, "low", "high")}))
    >>> ModelDisagreement(target="y").value(a, a)
    0.0
    """

    target: Column = Field(description="column to predict")
    predictors: Columns = Field(default=(), description="columns to predict from; all other shared ones when empty")
    learner: Learner = Field(default="tree", description="kind of model; linear is logistic regression for categories")
    measure: Literal["disagreement", "accuracy", "precision", "recall", "f1", "r2"] = Field(
        default="disagreement", description="what is compared; the others than disagreement are gaps"
    )
    test: float = Field(default=0.3, gt=0, lt=1, description="share of records held out")
    seed: int = Field(default=0, ge=0, description="chooses the held-out records")
    bounded: ClassVar[bool] = False
    examples: ClassVar = ({"target": "e"},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the disagreement or the gap."""
        measures = self.parts(original, protected)
        if self.measure not in measures:
            kind = "numbers" if "r2" in measures else "categories"
            raise NotApplicable(f"the target holds {kind}, which {self.measure} is not for; use {', '.join(measures)}.")
        return max(0.0, float(measures[self.measure]))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the disagreement and every gap that suits the target; negative where the second model is better."""
        data = hold_out(original, protected, self.target, self.predictors, self.test, self.seed)
        regress = is_number(data.y)
        if regress and data.y2.dtype.kind != "f":
            raise NotApplicable(f"column {self.target!r} holds numbers in the original only.")
        if not regress and min(len(np.unique(data.y.astype(str))), len(np.unique(data.y2.astype(str)))) < 2:
            raise NotApplicable("the target has one class only: there is nothing to learn.")
        if not regress:
            data = replace(data, y=data.y.astype(str), y2=data.y2.astype(str), truth=data.truth.astype(str))
        a = self._predict(data.x, data.y, data.test, regress=regress)
        b = self._predict(data.x2, data.y2, data.test, regress=regress)
        if regress:
            spread = float(deviations(data.y[:, None])[0]) or 1.0
            total = float((subtract_mean(data.truth) ** 2).sum()) or 1.0
            r2 = [1 - float(((data.truth - p) ** 2).sum()) / total for p in (a, b)]
            return {"disagreement": float(np.abs(a - b).mean()) / spread, "r2": r2[0] - r2[1]}
        return {"disagreement": disagreement(a, b), **_gaps(data.truth, a, b)}

    def _predict(self, x: NDArray[Any], y: NDArray[Any], at: NDArray[Any], *, regress: bool) -> NDArray[Any]:
        return predict(self.learner, x, y, at, self.seed, regress=regress)


def _gaps(truth: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> dict[str, float]:
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    scores = []
    for predicted in (a, b):
        precision, recall, f1, _ = precision_recall_fscore_support(truth, predicted, average="macro", zero_division=0)
        scores.append((accuracy_score(truth, predicted), precision, recall, f1))
    names = ("accuracy", "precision", "recall", "f1")
    return {name: float(x - y) for name, x, y in zip(names, *scores, strict=True)}
