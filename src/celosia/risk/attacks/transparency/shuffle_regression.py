"""Estimates of shuffled values, by the regression that shuffling keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.errors import NotApplicable
from celosia.risk.bases.estimate_attack import _EstimateAttack
from celosia.risk.bases.transparency import PublicStep, Success

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


class ShuffleRegression(_EstimateAttack):
    r"""The share of original values that an intruder who knows the given columns of a shuffling estimates closely.

    She knows which record is the person's, and has read that the shuffled values depend on the columns ``given`` alone.
    A shuffled value by itself discloses nothing, but shuffling keeps the relation: she learns it from the released file
    and takes the quantile of the released column that it predicts.

    .. math:: \hat z = \Sigma_{xs} \Sigma_{ss}^{-1} s, \qquad \hat x = F^{-1}\bigl(\Phi(\hat z)\bigr)

    on normal scores, with indicators for categories. A value is disclosed when the estimate is at most ``within``
    standard deviations away. Without ``given`` it is the median for everybody, which is the baseline.

    She reads: the columns and ``given``. The baseline guesses the released median, the ``control`` takes the released
    value as it is. A missing value is not disclosed. References: Muralidhar & Sarathy (2006).

    >>> import polars as pl, celosia
    >>> age = np.random.default_rng(1).uniform(20, 60, 500)
    >>> table = celosia.read(pl.DataFrame({"age": age, "income": age**2 + 20 * np.sin(age)}))
    >>> protected = celosia.protect(table, "shuffle(columns=[income], given=[age])", seed=1)
    >>> evidence = ShuffleRegression().evidence(table, protected)
    >>> evidence["value"] > 0.9, evidence["baseline"] < 0.1
    (True, True)
    """

    reads: ClassVar[tuple[str, ...]] = ("shuffle",)
    examples: ClassVar = ({"method": {"use": "shuffle", "columns": ["x"], "given": ["p"]}, "within": 0.3},)

    def run(self, original: Table, protected: Table) -> Success:
        """Predict the shuffled columns from the given ones."""
        steps = self.last_steps(original, protected)
        guess = np.column_stack([_predict(self.name, protected, step, name) for name, step in steps.items()])
        return self.judge_estimates(original, protected, list(steps), guess, {})


def _predict(who: str, protected: Table, step: PublicStep, name: str) -> Floats:
    """Predict for each record a quantile of the released column from the given columns."""
    from scipy.special import ndtr

    from celosia.kernels.perturbation.shuffle import normal_scores

    y = protected.numeric([name])[:, 0]
    missing = [given for given in step.parameters["given"] if given not in protected.names]
    if missing:
        raise NotApplicable(f"{who}: the given column {missing[0]!r} was not released.")
    filled = ~np.isnan(y)
    design = np.column_stack([np.ones(len(y)), *(_scores(protected, given) for given in step.parameters["given"])])
    slope = np.linalg.lstsq(design[filled], normal_scores(y)[filled], rcond=None)[0]
    return np.asarray(np.quantile(y[filled], np.clip(ndtr(design @ slope), 0.0, 1.0)), dtype=np.float64)


def _scores(protected: Table, name: str) -> Floats:
    """Return normal scores of an ordered column, or indicators of categories."""
    from celosia.kernels.perturbation.shuffle import normal_scores

    codes, values = protected.codes(name)
    if protected.column(name).dtype.is_numeric() or protected.schema[name].kind == "ordinal":
        return normal_scores(np.asarray(codes, dtype=np.float64))[:, None]
    return np.asarray(codes[:, None] == np.arange(1, max(len(values), 1))[None, :], dtype=np.float64)
