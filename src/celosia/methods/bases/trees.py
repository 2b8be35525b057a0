r"""Synthesis column by column: a tree predicts each column from those before it, and values are drawn from its leaves.

.. math:: \tilde x_{ij} \sim \hat F\big(x_j \mid \text{leaf}_j(\tilde x_{i1}, \dots, \tilde x_{i,j-1})\big)

References: Reiter (2005), *Using CART to generate partially synthetic public use microdata*; Nowok, Raab & Dibben
(2016), *synthpop*.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from celosia.errors import MissingExtra

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Feature:
    """One column: numbers (NaN is missing) or codes from 0 (missing is a code of its own)."""

    values: Floats
    nominal: bool
    whole: bool = False
    """Whether smoothed values are rounded to whole numbers."""
    smooth: bool = False
    """Whether new values may lie between those that occur."""


def synthesise(
    features: Sequence[Feature],
    order: Sequence[int],
    given: dict[int, Floats],
    size: int,
    rng: np.random.Generator,
    *,
    leaf: int = 50,
    fit: npt.NDArray[np.bool_] | None = None,
    weights: Floats | None = None,
) -> dict[int, Floats]:
    """Synthesise the columns of ``order``, each from those before it; ``given`` columns come first.

    ``fit`` limits the records that trees learn from. Values of smoothed columns lie between those of the
    leaf, others are values of the leaf. ``leaf`` is the least number of records of a leaf, or their least sum of
    ``weights``.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, 400).astype(float)
    >>> drawn = synthesise([Feature(a, True), Feature(3 * a, True)], [0, 1], {}, 400, rng)
    >>> bool((drawn[1] == 3 * drawn[0]).all())
    True
    """
    columns: dict[int, Floats] = dict(given)
    rows = np.arange(len(features[0].values)) if fit is None else np.flatnonzero(fit)
    for target in order:
        feature = features[target]
        y = feature.values[rows]
        predictors = [j for j in columns if j != target]
        if predictors:
            seen, new = _matrices(features, predictors, columns, rows, feature, y)
            tree = _tree(seen, y, feature, leaf, rng, None if weights is None else weights[rows])
            leaves, wanted = tree.apply(seen), tree.apply(new)
        else:
            leaves, wanted = np.zeros(len(rows), np.int64), np.zeros(size, np.int64)
        columns[target] = lend(leaves, y, wanted, rng, smooth=feature.smooth, whole=feature.whole)
    return {target: columns[target] for target in order}


def lend(leaves: Ints, y: Floats, wanted: Ints, rng: np.random.Generator, *, smooth: bool, whole: bool) -> Floats:
    """Draw values for records from their leaves, evenly over the sorted values of each leaf.

    Evenly: the r-th of m records takes the quantile (r + U) / m in random order, so that the shares of a leaf are kept
    as closely as whole records allow; independent draws would only add noise. Smoothed values lie between
    two neighbours in the leaf.

    >>> leaf = np.zeros(4, dtype=int)
    >>> drawn = lend(leaf, np.array([1.0, 2, 3, 4]), leaf, np.random.default_rng(0), smooth=False, whole=False)
    >>> sorted(drawn.tolist())
    [1.0, 2.0, 3.0, 4.0]
    """
    order = np.lexsort((y, leaves))
    names, start, count = np.unique(leaves[order], return_index=True, return_counts=True)
    place = np.searchsorted(names, wanted)
    u = evenly(place, rng)
    s, n = start[place], count[place]
    at = np.minimum((u * n).astype(np.int64), n - 1)
    sorted_values = y[order]
    drawn = sorted_values[s + at]
    if not smooth:
        return np.asarray(drawn)
    moved = between(sorted_values, s, n, at, u * n - at - 0.5)
    return np.rint(moved) if whole else moved


def between(values: Floats, start: Ints, count: Ints, at: Ints, shift: Floats) -> Floats:
    """Move values towards a neighbour in their run of sorted values by the share ``shift`` (-½ … ½) of the gap.

    A value without a neighbour on that side (the ends, or a missing one) moves to the other side, so that
    the smallest and the largest value are not repeated either.

    >>> one = np.array([1])
    >>> between(np.array([1.0, 2.0]), 0 * one, 2 * one, 0 * one, np.array([-0.25])).tolist()
    [1.25]
    """
    drawn = values[start + at]

    def towards(way: Ints) -> Floats:
        exists = (at + way >= 0) & (at + way < count)
        neighbour = np.where(exists, values[start + np.clip(at + way, 0, count - 1)], np.nan)
        return np.asarray(drawn + np.abs(shift) * (neighbour - drawn))

    side = np.where(shift < 0, -1, 1)
    moved = towards(side)
    moved = np.where(np.isnan(moved), towards(-side), moved)
    return np.where(np.isnan(moved), drawn, moved)


def evenly(groups: Ints, rng: np.random.Generator) -> Floats:
    """Stratified uniform numbers in [0, 1), one per record: evenly spread within each group, in random order.

    >>> u = evenly(np.array([0, 0, 1, 1]), np.random.default_rng(0))
    >>> sorted((u[:2] * 2).astype(int).tolist()), sorted((u[2:] * 2).astype(int).tolist())
    ([0, 1], [0, 1])
    """
    order = np.lexsort((rng.random(len(groups)), groups))
    _, first, many = np.unique(groups[order], return_index=True, return_counts=True)
    rank = np.arange(len(groups)) - np.repeat(first, many)
    u = np.empty(len(groups))
    u[order] = (rank + rng.random(len(groups))) / np.repeat(many, many)
    return u


def _tree(
    x: Floats, y: Floats, feature: Feature, leaf: int, rng: np.random.Generator, weights: Floats | None = None
) -> DecisionTreeClassifier | DecisionTreeRegressor:
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError:
        raise MissingExtra.of("sequential-trees", "learn") from None
    options: dict[str, Any] = {"min_samples_leaf": leaf, "random_state": int(rng.integers(2**31))}
    if weights is not None:
        share = leaf / float(weights.sum())
        # where no two leaves can weigh enough, one leaf has all
        options |= {"min_weight_fraction_leaf": share} if share <= 0.5 else {"min_samples_leaf": len(y)}
    if feature.nominal:
        with warnings.catch_warnings():
            # a stratum may have nearly as many classes as records
            warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
            return DecisionTreeClassifier(**options).fit(x, y.astype(np.int64), weights)
    missing = np.isnan(y)
    if not missing.any():
        return DecisionTreeRegressor(**options).fit(x, y, weights)
    # the tree predicts where a number is missing, too
    centre, spread = (float(np.nanmean(y)), float(np.nanstd(y)) or 1.0) if not missing.all() else (0.0, 1.0)
    return DecisionTreeRegressor(**options).fit(
        x, np.column_stack([np.where(missing, 0.0, (y - centre) / spread), missing]), weights
    )


def _matrices(
    features: Sequence[Feature],
    predictors: Sequence[int],
    columns: dict[int, Floats],
    rows: Ints,
    target: Feature,
    y: Floats,
) -> tuple[Floats, Floats]:
    """Predictors of the original and of the synthetic records; categories are ordered by their effect on the target."""
    seen = np.empty((len(rows), len(predictors)), np.float32)
    new = np.empty((len(next(iter(columns.values()))), len(predictors)), np.float32)
    for i, j in enumerate(predictors):
        old, synthetic = features[j].values[rows], columns[j]
        if features[j].nominal:
            size = int(max(features[j].values.max(), synthetic.max())) + 1
            rank = category_order(old.astype(np.int64), target, y, size)
            old, synthetic = rank[old.astype(np.int64)], rank[synthetic.astype(np.int64)]
        else:
            low = min(np.nanmin(old, initial=0.0), np.nanmin(synthetic, initial=0.0)) - 1.0
            old, synthetic = np.nan_to_num(old, nan=low), np.nan_to_num(synthetic, nan=low)
        seen[:, i], new[:, i] = old, synthetic
    return seen.astype(np.float64), new.astype(np.float64)


def category_order(codes: Ints, target: Feature, y: Floats, size: int) -> Floats:
    """Score the categories along the main direction in which the target differs between them.

    With a number or two classes as the target, splits along this order include the best split of the categories; with
    more classes it is the main axis of their shares. References: Breiman et al. (1984), theorem 4.5; Coppersmith,
    Hong & Hosking (1999).

    >>> y = np.array([5.0, 1.0, 3.0, 3.0])
    >>> category_order(np.array([0, 1, 2, 2]), Feature(y, False), y, 3).argsort().tolist()
    [1, 2, 0]
    """
    counts = np.bincount(codes, minlength=size).astype(np.float64)
    occurs = counts > 0
    if not target.nominal:
        filled = np.where(np.isnan(y), np.nanmean(y) if not np.isnan(y).all() else 0.0, y)
        sums = np.bincount(codes, weights=filled, minlength=size)
        return np.asarray(np.divide(sums, counts, out=np.full(size, float(filled.mean())), where=occurs))
    classes = int(y.max()) + 1
    table = np.bincount(codes * classes + y.astype(np.int64), minlength=size * classes).reshape(size, classes)
    shares: Floats = table / np.maximum(counts, 1.0)[:, None]
    centred = np.where(occurs[:, None], shares - (counts @ shares) / counts.sum(), 0.0)
    _, vectors = np.linalg.eigh(centred.T @ (centred * counts[:, None]))
    return np.asarray(centred @ vectors[:, -1])
