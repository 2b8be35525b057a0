"""Agreement of two models: labels, trees, coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from celosia.errors import NotApplicable
from celosia.kernels.statistics.deviation import deviations, subtract_mean

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Floats = npt.NDArray[np.float64]


def disagreement(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    r"""Return the share of the records to which two models give different labels.

    .. math:: \frac1T \sum_t [M(x_t) \ne M'(x_t)]

    >>> disagreement(np.array(["u", "v"]), np.array(["u", "u"]))
    0.5
    """
    return float((a != b).mean())


@dataclass(frozen=True)
class Tree:
    """A binary decision tree as arrays: the feature and threshold of each node, its children, its share of records."""

    feature: npt.NDArray[np.int64]
    threshold: Floats
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    share: Floats

    @classmethod
    def of(cls, fitted: DecisionTreeClassifier | DecisionTreeRegressor) -> Tree:
        """Read the tree of a fitted scikit-learn model."""
        t = fitted.tree_
        weight = np.asarray(t.weighted_n_node_samples, dtype=np.float64)
        return cls(t.feature, t.threshold, t.children_left, t.children_right, weight / weight[0])


def tree_overlap(a: Tree, b: Tree, tolerance: float) -> tuple[float, float]:
    """Return the weight of the splits that two trees share from the root down, and that of all splits of the larger.

    Two splits are the same when they cut the same feature at thresholds that differ by at most the tolerance. A split
    weighs as much as the records that reach it.

    >>> stump = Tree(np.array([0, -2, -2]), np.array([0.5, 0, 0]), np.array([1, -1, -1]), np.array([2, -1, -1]),
    ...              np.array([1.0, 0.5, 0.5]))
    >>> tree_overlap(stump, stump, 0.0)
    (1.0, 1.0)
    """
    same = []
    waiting = [(0, 0)]
    while waiting:
        i, j = waiting.pop()
        inner = a.left[i] >= 0 and b.left[j] >= 0
        if inner and a.feature[i] == b.feature[j] and abs(a.threshold[i] - b.threshold[j]) <= tolerance:
            same.append(float(min(a.share[i], b.share[j])))
            waiting += [(int(a.left[i]), int(b.left[j])), (int(a.right[i]), int(b.right[j]))]
    # exact sums: the order of the splits must not matter, or equal trees would differ by rounding
    return math.fsum(same), max(math.fsum(t.share[t.left >= 0].tolist()) for t in (a, b))


def least_squares(x: Floats, y: Floats, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Return the coefficients of a linear regression with intercept (the last one), and the ends of their intervals.

    >>> least_squares(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))[0].round(12).tolist()
    [2.0, 1.0]
    """
    from scipy.stats import t

    # on standardised columns: neither units nor distances from 0 must count as a linear relation
    spread = deviations(x)
    unit = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([subtract_mean(x) / unit, np.ones(len(x))])
    n, p = design.shape
    if n <= p:
        raise NotApplicable(f"{n} records are too few for {p} coefficients.")
    solution = np.linalg.lstsq(design, y, rcond=1e-10)
    if int(solution[2]) < p:
        raise NotApplicable("the predictors are collinear, so that coefficients are not determined; name fewer.")
    residual = y - design @ solution[0]
    variance = float(residual @ residual) / (n - p)
    back = np.eye(p)
    back[:-1, :-1], back[-1, :-1] = np.diag(1 / unit), -x.mean(axis=0) / unit
    b = np.asarray(back @ solution[0], dtype=np.float64)
    se = np.sqrt(variance * np.diag(back @ np.linalg.inv(design.T @ design) @ back.T))
    half = float(t.ppf((1 + level) / 2, n - p)) * se
    return b, b - half, b + half


def interval_overlap(low: Floats, high: Floats, low2: Floats, high2: Floats) -> Floats:
    r"""Return the mean share of two intervals that lies in both; 0 when they do not meet.

    .. math:: \tfrac12 \left( \frac{|I \cap J|}{|I|} + \frac{|I \cap J|}{|J|} \right)

    >>> interval_overlap(np.array([0.0]), np.array([2.0]), np.array([1.0]), np.array([5.0])).tolist()
    [0.375]
    """
    common = np.maximum(0.0, np.minimum(high, high2) - np.maximum(low, low2))
    same = ((low == low2) & (high == high2)).astype(np.float64)
    shares = [np.divide(common, w, out=same.copy(), where=w > 0) for w in (high - low, high2 - low2)]
    result: Floats = (shares[0] + shares[1]) / 2
    return result
