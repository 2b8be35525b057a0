"""Linkage with microaggregated records: the groups that a known value may belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.disclosure.own_records import Own
from celosia.kernels.statistics.deviation import deviations
from celosia.risk.attacks.transparency.exchange import Candidates, by_group

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST = 1e-6  # lower bound of the share of the variance that groups lose


@dataclass(frozen=True, eq=False)
class Axis:
    """One number that the intruder compares between the records she knows and the released ones."""

    sought: Floats
    released: Floats
    weight: float
    """Weight of a squared difference."""
    bounds: tuple[Floats, Floats] | None = None
    """The least and the greatest released number that is possible for each known record."""


def neighbouring_means(values: Floats, group: Ints, means: Floats, means_group: Ints) -> tuple[Floats, Floats]:
    """Return the released mean below and the one above each value, in its stratum: one of them is that of its run.

    Groups that are runs of the sorted values do not overlap, so a value above the mean of the next run cannot belong
    to this one. A value below or above all means takes the first or the last; without means it has no bounds.

    >>> low, high = neighbouring_means(np.array([4.0]), np.zeros(1, int), np.array([2.0, 3, 6, 9]), np.zeros(4, int))
    >>> low.tolist(), high.tolist()
    ([3.0], [6.0])
    """
    low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    for rows, ordered in by_group(values, group, means, means_group):
        distinct = np.unique(ordered)
        low[rows] = distinct[np.maximum(np.searchsorted(distinct, values[rows], side="left") - 1, 0)]
        high[rows] = distinct[np.minimum(np.searchsorted(distinct, values[rows], side="right"), len(distinct) - 1)]
    return low, high


def weights_within(values: Floats, means: Floats) -> Floats:
    r"""Return the weight of a squared difference in each column of a block that was grouped together.

    .. math:: w_c = \frac{1}{2 L \operatorname{Var}(x_c)}, \qquad
              L = 1 - \frac1{|C|} \sum_{c \in C} \frac{\operatorname{Var}(\bar x_{G,c})}{\operatorname{Var}(x_c)}

    with L the share of the variance that the groups lost.

    >>> weights_within(np.array([[0.0], [2], [10], [12]]), np.array([[1.0], [1], [11], [11]])).round(9).tolist()
    [0.5]
    """
    whole, kept = np.nanvar(values, axis=0), np.nanvar(means, axis=0)
    varies = np.nanmax(values, axis=0, initial=-np.inf) > np.nanmin(values, axis=0, initial=np.inf)
    if not varies.any():
        return np.zeros_like(whole)
    lost = max(1.0 - float((kept[varies] / whole[varies]).mean()), LEAST)
    return np.asarray(np.divide(0.5 / lost, whole, out=np.zeros_like(whole), where=varies), dtype=np.float64)


def along_component(x: Floats, y: Floats, rows: Ints) -> list[Axis]:
    """Return the axis of the first principal component of ``x``, along which groups are runs; none with missing values.

    ``y`` holds the means and ``rows`` the records of ``x`` that are linked.
    """
    from celosia.kernels.statistics.components import first_component

    if np.isnan(x).any() or np.isnan(y).any():
        return []
    middle, spread = x.mean(axis=0), deviations(x)
    scale = np.where(spread > 0, spread, 1.0)
    axis = first_component((x - middle) / scale)[0]
    originals, means = ((part - middle) / scale @ axis for part in (x, y))
    none = np.zeros(len(rows), dtype=np.int64)
    bounds = neighbouring_means(originals[rows], none, _round_means(means), np.zeros(len(y), dtype=np.int64))
    weight = float(weights_within(originals[:, None], means[:, None])[0])
    return [Axis(originals[rows], _round_means(means), weight, bounds)]


def _round_means(means: Floats) -> Floats:
    """Round means, so that those of one group are equal in spite of rounding errors."""
    return np.asarray(np.round(means, 9), dtype=np.float64)


def likeliest_groups(axes: list[Axis], own: Own) -> Candidates:
    """Return the nearest released records inside all bounds; ``own``: those of the same person."""
    bounded = any(axis.bounds is not None for axis in axes)
    missing = any(np.isnan(values).any() for axis in axes for values in (axis.sought, axis.released))
    return _nearest_inside(axes, own) if bounded or missing else _nearest_by_tree(axes, own)


def _nearest_by_tree(axes: list[Axis], own: Own) -> Candidates:
    from celosia.risk.bases.nearest import nearest

    scale = np.sqrt([axis.weight for axis in axes])
    x, y = (np.column_stack(side) * scale for side in zip(*((a.sought, a.released) for a in axes), strict=True))
    links = nearest(x, y, own)
    return Candidates(links.tied, np.rint(links.correct * links.tied).astype(np.int64))


def _nearest_inside(axes: list[Axis], own: Own) -> Candidates:
    from celosia.kernels.neighbours.nearest_within import TIE, costs_within, nearest_within

    chosen = sorted(axes, key=lambda axis: axis.bounds is None)  # bounds first: they leave few pairs
    free = np.full(len(axes[0].sought), np.inf)
    sought = np.column_stack([axis.sought for axis in chosen])
    low = np.column_stack([-free if axis.bounds is None else axis.bounds[0] for axis in chosen])
    high = np.column_stack([free if axis.bounds is None else axis.bounds[1] for axis in chosen])
    released = np.column_stack([axis.released for axis in chosen])
    weights = np.array([axis.weight for axis in chosen])
    order = np.argsort(released[:, 0], kind="stable")
    ordered = released[order, 0]
    filled = int(np.isfinite(ordered).sum())  # missing ones come last
    missing = np.isnan(sought[:, 0])
    begin = np.where(missing, filled, np.searchsorted(ordered[:filled], low[:, 0], side="left"))
    end = np.where(missing, len(ordered), np.searchsorted(ordered[:filled], high[:, 0], side="right"))
    least, tied = nearest_within(sought, low, high, np.ascontiguousarray(released[order]), weights, begin, end)
    limit = np.where(np.isfinite(least), least + TIE * (1 + least), -1.0)

    def fits(i: Ints, j: Ints) -> NDArray[np.bool_]:
        return np.asarray(costs_within(i, j, sought, low, high, released, weights) <= limit[i], dtype=np.bool_)

    return Candidates(tied, np.minimum(own.count(fits), tied))
