"""Distance-based record linkage: the nearest records of another file, and whether they are the right ones.

The nearest records come from a k-d tree over the distinct points of the target file, so that the hundreds of equal
records of a microaggregated file cost no more than one. No matrix of all pairs is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, ParameterError
from celosia.kernels.disclosure.own_records import Own
from celosia.kernels.statistics.deviation import deviations, subtract_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["sd", "own-sd", "none", "mahalanobis", "range"]

TIE = 1e-9  # distances that differ by less than this share are equal up to rounding
LARGEST_ASSIGNMENT = 3000  # records for which the optimal one-to-one assignment may use a full cost matrix


@dataclass(frozen=True)
class Links:
    """The links from each source record into the target file."""

    first: Ints
    """The nearest target record, the lowest index among equally near ones."""
    distance: Floats
    tied: Ints
    """Number of target records that are equally near."""
    correct: Floats
    """Chance that the link is right: the share of the nearest records that are the same person's."""
    second: Floats
    """Chance that a record of the same person is among the two nearest."""
    margin: Floats
    """Distance of the next nearest record over that of the nearest; 1 for a tie, infinite for an exact link."""


def nearest(source: Floats, target: Floats, truth: Ints | Own, p: float = 2.0) -> Links:
    r"""Link each source record to the nearest target record, with ties shared.

    .. math:: c_i = \frac{\#\{j \in t(i) : d(a_i, b_j) = \min\}}{\#\{j : d(a_i, b_j) = \min\}}

    ``truth`` gives t(i), the target record that belongs to each source record (-1 for none), or those of the same
    person. ``p`` is the Minkowski exponent: 2 is Euclidean, 1 adds up the columns.

    Fails with DataError on an empty target.

    References: Pagliuca & Seri (1999); Domingo-Ferrer & Torra (2001).

    >>> x, y = np.array([[0.0], [2.0]]), np.array([[0.1], [0.1], [1.9]])
    >>> links = nearest(x, y, np.array([0, 2]))
    >>> links.first.tolist(), links.tied.tolist(), links.correct.tolist()
    ([0, 2], [2, 1], [0.5, 1.0])
    """
    from scipy.spatial import cKDTree

    if len(target) == 0:
        raise DataError("linkage: the file to link with has no records.")
    points, count, lowest = _distinct(target)
    tree = cKDTree(points, balanced_tree=len(points) < 50_000)
    k = min(4, len(points))
    distances, index = tree.query(source, k=k, p=p, workers=-1 if len(source) > 5000 else 1)
    distances, index = distances.reshape(len(source), k), index.reshape(len(source), k)
    first, tied, at = _group(distances, index, count, lowest, 0)
    unresolved = (at == k) & (k < len(points))
    rows = np.arange(len(source))
    after = distances[rows, np.minimum(at, k - 1)]
    after[at == k] = np.inf
    next_tied = np.zeros(len(source), dtype=np.int64)
    resolved = at < k
    next_tied[resolved], at_next = _next(distances[resolved], index[resolved], count, at[resolved])
    again = np.zeros(len(source), dtype=bool)
    again[resolved] = (at_next == k) & (k < len(points))
    again &= tied == 1
    for i in np.flatnonzero(unresolved | again):
        # more than k records are equally near: count them all
        radius = (distances[i, 0] if unresolved[i] else after[i]) * (1 + TIE)
        ball = np.array(tree.query_ball_point(source[i], radius, p=p))
        if unresolved[i]:
            tied[i], first[i] = count[ball].sum(), lowest[ball].min()
            after[i] = distances[i, 0]
        else:
            next_tied[i] = count[ball].sum() - tied[i]
    slack = _rounding(source, target)

    def count_own(limit: Floats) -> Ints:
        def fits(i: Ints, j: Ints) -> NDArray[np.bool_]:
            away = (np.abs(source[i] - target[j]) ** p).sum(axis=1) ** (1 / p)
            return np.asarray(away <= limit[i] * (1 + TIE) + slack, dtype=np.bool_)

        return own.count(fits)

    own = truth if isinstance(truth, Own) else Own.single(truth)
    right = (count_own(distances[:, 0]), count_own(after))
    return _links(first, distances[:, 0], tied, after, next_tied, right)


def _links(
    first: Ints, distance: Floats, tied: Ints, after: Floats, next_tied: Ints, right: tuple[Ints, Ints]
) -> Links:
    """Score the links by how many of the nearest records, and of those up to the next distance, are the right ones."""
    hits, near = np.minimum(right[0], tied), right[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # two of the tied records at random: both wrong with chance C(t - h, 2) / C(t, 2)
        wrong = (tied - hits) * (tied - hits - 1) / (tied * (tied - 1.0))
        next_right = np.where(hits == 0, np.minimum(1.0, near / np.maximum(next_tied, 1)), 0.0)
        second = np.where(tied > 1, np.where(hits > 0, 1.0 - wrong, 0.0), np.where(hits > 0, 1.0, next_right))
        margin = np.where(tied > 1, 1.0, np.where(distance > 0, after / distance, np.inf))
    return Links(first, distance, tied, hits / tied, second, margin)


def nearest_mixed(
    numbers: tuple[Floats, Floats],
    codes: tuple[NDArray[np.int32], NDArray[np.int32]],
    truth: Ints | Own,
    weights: Floats,
) -> Links:
    r"""Link by Gower's distance over numeric and categorical columns, with ties shared.

    .. math:: d(a, b) = \sum_j w_j d_j, \qquad d_j = |a_j - b_j| / \mathrm{range}_j \text{ or } [a_j \ne b_j]

    ``numbers`` are the numeric columns of source and target divided by their ranges (NaN is missing), ``codes`` the
    categories (-1 is missing). A missing value is at distance 0 from a missing one and 1 from all others. All pairs are
    compared, column by column until the sum is too large: the time grows with the product of the sizes of the files.

    References: Gower (1971).

    >>> no = np.empty((2, 0))
    >>> links = nearest_mixed((no, no), (np.array([[0, 1], [2, 2]], np.int32), np.array([[0, 0], [2, 1]], np.int32)),
    ...                       np.arange(2), np.ones(2))
    >>> links.first.tolist(), links.distance.tolist()
    ([0, 1], [1.0, 1.0])
    """
    from celosia.kernels.neighbours.mixed_nearest import TIE as SAME
    from celosia.kernels.neighbours.mixed_nearest import mixed_nearest

    (x, y), (a, b) = numbers, codes
    if len(y) == 0:
        raise DataError("linkage: the file to link with has no records.")
    first, distance, tied, after, next_tied = mixed_nearest(x, a, y, b, weights)

    def count_own(limit: Floats) -> Ints:
        def fits(i: Ints, j: Ints) -> NDArray[np.bool_]:
            gap = np.abs(x[i] - y[j])
            either, both = np.isnan(x[i]) | np.isnan(y[j]), np.isnan(x[i]) & np.isnan(y[j])
            gap = np.where(both, 0.0, np.where(either, 1.0, gap))
            away = gap @ weights[: x.shape[1]] + (a[i] != b[j]) @ weights[x.shape[1] :]
            return np.asarray(away <= limit[i] + SAME, dtype=np.bool_)

        return own.count(fits)

    own = truth if isinstance(truth, Own) else Own.single(truth)
    return _links(first, distance, tied, after, next_tied, (count_own(distance), count_own(after)))


def assign_one_to_one(source: Floats, target: Floats, p: float = 2.0) -> tuple[Ints, float]:
    r"""Assign source to target records one to one with the least total distance.

    .. math:: \min_\sigma \sum_i d(a_i, b_{\sigma(i)}), \qquad \sigma \text{ one-to-one}

    Up to 3 000 records it is the optimum over all pairs; beyond, over the pairs of near records (at least 30
    each, more until every record can be assigned). Return the target of each source record (-1 when the target file is
    shorter) and the total distance.

    >>> assign_one_to_one(np.array([[0.0], [1.0]]), np.array([[1.1], [0.9]]))[0].tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    if max(len(source), len(target)) > LARGEST_ASSIGNMENT:
        return _assign_near_records(source, target, p)
    cost = cdist(source, target, "minkowski", p=p)
    row, column = linear_sum_assignment(cost)
    partner = np.full(len(source), -1, dtype=np.int64)
    partner[row] = column
    return partner, float(cost[row, column].sum())


def _assign_near_records(source: Floats, target: Floats, p: float) -> tuple[Ints, float]:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching
    from scipy.spatial import cKDTree

    if len(source) > len(target):
        raise ParameterError(
            f"linkage: one-to-one links of {len(source)} records into {len(target)} are not possible; "
            "swap the direction."
        )
    tree = cKDTree(target)
    k = 30
    while True:
        k = min(k, len(target))
        distances, index = tree.query(source, k=k, p=p)
        start = np.arange(len(source) + 1) * k
        shift = distances.max() + 1.0  # the matching needs positive weights; the shift adds the same to every matching
        graph = csr_matrix((distances.ravel() + shift, index.ravel(), start), shape=(len(source), len(target)))
        try:
            row, column = min_weight_full_bipartite_matching(graph)
        except ValueError:
            if k == len(target):
                raise
            k *= 2
            continue
        partner = np.full(len(source), -1, dtype=np.int64)
        partner[row] = column
        cost = ((np.abs(source[row] - target[column]) ** p).sum(axis=1) ** (1 / p)).sum()
        return partner, float(cost)


def scale_columns(
    original: Floats, protected: Floats, scale: Scale, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    r"""Scale both files for distances; a missing value takes the column's mean.

    - ``sd``: each column divided by its standard deviation in the original;
    - ``own-sd``: each file standardised by its own mean and standard deviation (the intruder has only her own file);
    - ``range``: divided by the range over both files (Gower's, with the exponent 1);
    - ``mahalanobis``: rotated so that distances use the covariance of the original:
      :math:`d^2 = (a-b)^T \Sigma^{-1} (a-b)`;
    - ``none``: as they are.

    A constant column adds nothing. ``weights`` multiply the columns (not with mahalanobis).

    >>> scale_columns(np.array([[0.0], [2.0]]), np.array([[4.0], [4.0]]), "sd")[1].tolist()
    [[4.0], [4.0]]
    """
    x, y = _fill_missing(original), _fill_missing(protected)
    if scale == "mahalanobis":
        unit = _inverse(deviations(x))  # otherwise a column in small units would count as a linear relation
        x, y = x * unit, y * unit
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False, ddof=0)))
        keep = values > 1e-12 * max(values.max(), 1e-300)
        turn = vectors[:, keep] / np.sqrt(values[keep])
        return x @ turn, y @ turn
    if scale == "own-sd":
        x, y = (subtract_mean(part) * _inverse(deviations(part)) for part in (x, y))
    elif scale == "sd":
        factor = _inverse(deviations(x))
        x, y = x * factor, y * factor
    elif scale == "range":
        low, high = np.minimum(x.min(axis=0), y.min(axis=0)), np.maximum(x.max(axis=0), y.max(axis=0))
        x, y = (x - low) * _inverse(high - low), (y - low) * _inverse(high - low)
    if weights is not None:
        x, y = x * weights, y * weights
    return x, y


def _inverse(spread: Floats) -> Floats:
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)


def _fill_missing(values: Floats) -> Floats:
    holes = np.isnan(values)
    if not holes.any():
        return values
    numbers = (~holes).sum(axis=0)
    mean = np.where(holes, 0.0, values).sum(axis=0) / np.maximum(numbers, 1)
    return np.where(holes, mean, values)


def _rounding(source: Floats, target: Floats) -> float:
    """Return the rounding error of a distance that is 0."""
    return 1e-13 * float(max(np.abs(source).max(initial=0.0), np.abs(target).max(initial=0.0)))


def _distinct(target: Floats) -> tuple[Floats, Ints, Ints]:
    """Return the distinct points, with the number of records and the first record of each."""
    order = np.lexsort(target.T[::-1])
    ordered = target[order]
    new = np.ones(len(target), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    group = np.cumsum(new) - 1
    count = np.bincount(group).astype(np.int64)
    lowest = np.minimum.reduceat(order, np.flatnonzero(new)).astype(np.int64)
    return ordered[new], count, lowest


def _group(distances: Floats, index: Ints, count: Ints, lowest: Ints, start: int) -> tuple[Ints, Ints, Ints]:
    """Return lowest record, number of records and end of the run of equal distances that begins at ``start``."""
    same = distances <= distances[:, [start]] * (1 + TIE)
    tied = np.where(same, count[index], 0).sum(axis=1)
    first = np.where(same, lowest[index], np.iinfo(np.int64).max).min(axis=1)
    return first, tied, same.sum(axis=1)


def _next(distances: Floats, index: Ints, count: Ints, at: Ints) -> tuple[Ints, Ints]:
    """Return the number of records in the second run of equal distances, and the end of that run."""
    rows = np.arange(len(distances))
    limit = distances[rows, at] * (1 + TIE)
    place = np.arange(distances.shape[1])
    run = (distances <= limit[:, None]) & (place >= at[:, None])
    return np.where(run, count[index], 0).sum(axis=1), at + run.sum(axis=1)
