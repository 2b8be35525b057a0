"""The six codings of the experiment: how a pair of attributes becomes cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.clustering import Clusters, c_means, gustafson_kessel, spread_centres
from celosia.kernels.fuzzy.partitions import break_points, grid, harden, indicator, recode_labels, scale

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
T = TypeVar("T")

CLASSES = 3
"""Classes of each attribute in the source; the functions take any number."""
ATTRIBUTES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13)
"""Positions of the eleven non-sensitive columns; 10 and 12 are the sensitive ones."""
PAIRS = tuple((a, b) for i, a in enumerate(ATTRIBUTES) for b in ATTRIBUTES[i + 1 :])


@dataclass(frozen=True)
class Coding:
    """A pair of attributes as cells: degrees of the retained records, and which records these are."""

    mu: Floats
    rows: NDArray[np.int64]
    fuzzy: bool
    objective: float = 0.0
    clusters: Clusters | None = None

    @property
    def labels(self) -> Labels:
        """The cell of highest degree of each retained record."""
        return harden(self.mu)


def recoded(x: Floats, classes: int = CLASSES, *, as_source: bool = True) -> Labels:
    """Global recoding of one attribute in classes of equal size.

    As the source's program does it, breaks are rounded to whole numbers and the lower end is open: records at the
    minimum fall outside every class and are lost. On the census file the corrected mode keeps this coding and measures
    it rightly; other files are recoded without either.
    """
    points = break_points(x, classes)
    return recode_labels(x, np.round(points) if as_source else points, include_lowest=not as_source)


def crossed(first: Labels, second: Labels, classes: int = CLASSES) -> Coding:
    """Independent crisp coding: a cell per pair of classes; records outside a class are left out."""
    rows = np.flatnonzero((first >= 0) & (second >= 0))
    return Coding(indicator(classes * first[rows] + second[rows], classes**2), rows, fuzzy=False)


def crossed_fuzzy(first: Clusters, second: Clusters) -> Coding:
    """Independent fuzzy coding: a cell per pair of classes, degrees multiplied."""
    mu = grid([first.memberships, second.memberships])
    return Coding(mu, np.arange(len(mu)), fuzzy=True)


def joint(clusters: Clusters) -> Coding:
    """Joint fuzzy coding: one cell per cluster of the plane."""
    mu = clusters.memberships
    return Coding(mu, np.arange(len(mu)), True, clusters.report.objective, clusters)


def batch_phase(x: Floats, centres: Floats) -> Labels:
    """k-means from given centres until no record is nearer to another centre (Lloyd)."""
    labels = np.full(len(x), -1)
    while True:
        # the expansion of the square: n × c numbers, no n × c × p array
        moved = ((centres**2).sum(axis=1) - 2 * (x @ centres.T)).argmin(axis=1)
        if (moved == labels).all():
            return labels
        labels = moved
        centres = means(x, labels, len(centres))


def single_phase(x: Floats, labels: Labels, classes: int = CLASSES) -> tuple[Labels, float]:
    r"""Move single records while that lowers the sum of squares, which also moves their centres (Hartigan).

    The program the source used runs this phase after the first; without it some optima are missed by one record.
    Moving a record from cluster i to j changes the sum by :math:`\frac{n_j}{n_j+1} d_j^2 - \frac{n_i}{n_i-1} d_i^2`.
    """
    labels = labels.copy()
    every = np.arange(len(x))
    while True:
        centres, size = means(x, labels, classes), np.bincount(labels, minlength=classes)
        d = np.stack([((x - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
        own = d[every, labels] * size[labels] / np.maximum(size[labels] - 1, 1)
        change = d * (size / (size + 1)) - own[:, None]
        change[every, labels] = 0.0
        record, target = np.unravel_index(change.argmin(), change.shape)
        if change[record, target] >= -1e-12 * d.max():
            return labels, float(d[every, labels].sum())
        labels[record] = target


def means(x: Floats, labels: Labels, classes: int) -> Floats:
    """Return the mean of each class; an empty one lies at the origin, the mean of the shifted data."""
    size = np.maximum(np.bincount(labels, minlength=classes), 1)
    return np.stack([np.bincount(labels, x[:, j], classes) / size for j in range(x.shape[1])], axis=1)


def local_optima(
    x: Floats, starts: int, rng: np.random.Generator, classes: int = CLASSES
) -> list[tuple[Labels, float]]:
    """Different k-means results from random starts, best first; the source used one start of unknown seed."""
    shift = x - x.mean(axis=0)
    optima: dict[bytes, tuple[Labels, float]] = {}
    for start in range(starts):
        # half of the starts far apart, half plain records: the first finds the optimum, the second the traps
        plain = shift[rng.choice(len(x), classes, replace=False)]
        labels = batch_phase(shift, plain if start % 2 else spread_centres(shift, classes, rng))
        labels, cost = single_phase(shift, labels, classes)
        order = np.argsort([shift[labels == i, 0].mean() if (labels == i).any() else 0.0 for i in range(classes)])
        labels = np.argsort(order)[labels]
        optima.setdefault(labels.astype(np.int8).tobytes(), (labels, cost))
    return sorted(optima.values(), key=lambda r: r[1])


def gustafson_kessel_optima(x: Floats, starts: int, rng: np.random.Generator, classes: int = CLASSES) -> list[Coding]:
    """Different Gustafson–Kessel results from random starts, best first."""
    scaled = scale(x)
    optima: dict[float, Coding] = {}
    for start in range(starts):
        box = rng.random((classes, x.shape[1])) if start % 2 else spread_centres(scaled, classes, rng)
        clusters = gustafson_kessel(scaled, classes, centres=box, tolerance=1e-6, iterations=600)
        optima.setdefault(round(clusters.report.objective, 4), joint(clusters))
    return sorted(optima.values(), key=lambda c: c.objective)


def nearest(options: list[T], distance: Callable[[T], float]) -> T:
    """Return the option that lies nearest to the printed numbers; of equals the better optimum."""
    return min(options, key=distance)


def fuzzy_c_means(x: Floats, rng: np.random.Generator, classes: int = CLASSES) -> Clusters:
    """Fuzzy c-means on data scaled to [0, 1], with the settings recovered from the source: m = 2."""
    return c_means(scale(x), classes, m=2.0, seed=rng, starts=6)
