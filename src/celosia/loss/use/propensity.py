"""Propensity score: whether a model can distinguish original and protected records."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Columns, Loss
from celosia.views.comparing.categories import categories
from celosia.views.comparing.features import features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

SHUFFLES = 20  # random permutations of the labels, for the pMSE of a tree without any difference


class Propensity(Loss):
    r"""The success of a model in distinguishing protected from original records (pMSE).

    .. math:: \mathrm{pMSE} = \frac1N \sum_i (\hat p_i - c)^2, \qquad c = n' / N

    with :math:`\hat p_i` the fitted probability that record i of both tables together is a protected one. 0 when they
    cannot be distinguished, :math:`c(1-c)`, a quarter for tables of one size, when they can be with certainty. The
    ``ratio`` among the parts divides by the value expected of records drawn from a right model that was fitted to the
    original, :math:`(k-1)(1-c)^2 c / N` with k coefficients: 1 is as good as synthesis can be, and a second sample of
    the population has about 2. For a tree the mean over shuffled labels is expected. The logistic model uses
    numbers, categories, and products in pairs if ``interactions``. Records need not be paired.
    References: Woo et al. (2009); Snoke et al. (2018).

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}))
    >>> Propensity().value(a, a)
    0.0
    """

    columns: Columns = Field(default=(), description="columns of any kind; all shared ones when empty")
    learner: Literal["logistic", "tree"] = Field(default="logistic", description="kind of model")
    interactions: bool = Field(default=False, description="let the logistic model use products of two features")
    seed: int = Field(default=0, ge=0, description="for the shuffled labels of a tree")

    def value(self, original: Table, protected: Table) -> float:
        """Return the pMSE."""
        x, label = self._stack(original, protected)
        return self._pmse(x, label)

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the pMSE, its expectation for a correct synthesis, and their ratio."""
        x, label = self._stack(original, protected)
        c = float(label.mean())
        pmse = self._pmse(x, label)
        if self.learner == "logistic":
            centred = x - x.mean(axis=0)
            coefficients = int(np.linalg.matrix_rank(centred)) if x.shape[1] else 0
            expected = coefficients * (1 - c) ** 2 * c / len(x)
        else:
            rng = np.random.default_rng(self.seed)
            expected = float(np.mean([self._pmse(x, rng.permutation(label)) for _ in range(SHUFFLES)]))
        return {"pMSE": pmse, "expected": expected, "ratio": pmse / expected if expected > 0 else 0.0}

    def _stack(self, original: Table, protected: Table) -> tuple[Floats, NDArray[np.int64]]:
        names = categories(original, protected, self.columns).names
        columns = features(original, protected, names)
        x = np.concatenate([columns.original, columns.protected])
        if self.interactions and self.learner == "logistic":
            i, j = np.triu_indices(x.shape[1])
            x = np.column_stack([x, x[:, i] * x[:, j]])
        label = np.repeat([0, 1], [len(columns.original), len(columns.protected)])
        return x, label

    def _pmse(self, x: Floats, label: NDArray[np.int64]) -> float:
        if not x.shape[1]:  # no column has more than one value: the tables cannot be distinguished
            return 0.0
        if self.learner == "tree":
            from sklearn.tree import DecisionTreeClassifier

            model = DecisionTreeClassifier(min_samples_leaf=max(5, len(x) // 50), random_state=self.seed)
        else:
            from sklearn.linear_model import LogisticRegression

            # A little shrinkage: for separable tables the likelihood has no maximum.
            model = LogisticRegression(C=1e4, max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            p = model.fit(x, label).predict_proba(x)[:, 1]
        return float(((p - label.mean()) ** 2).mean())
