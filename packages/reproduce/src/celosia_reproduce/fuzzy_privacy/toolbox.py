"""Start and stopping rule of the toolbox that the source names: the fuzzy clustering toolbox for MATLAB.

Its programs begin with ``rand('state', 0)``, so that every clustering starts from the same numbers, and they stop on
the signed change of the memberships: a membership that falls by more than the tolerance does not keep them going.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.clustering import Clusters, Convergence

Floats = NDArray[np.float64]

FIRST = (
    *(0.950129285147175, 0.231138513574288, 0.606842583541787, 0.485982468709300, 0.891298966148902),
    *(0.762096833027395, 0.456467665168341, 0.018503643248224, 0.821407164295253, 0.444703364353194),
    *(0.615432348100095, 0.791937037427035, 0.921812970744803, 0.738207245810665, 0.176266144494618),
)
"""The first numbers after ``rand('state', 0)`` in MATLAB, to 15 digits."""
TOLERANCE = 1e-4
SOFTENING = 1e-10
"""Added to squared distances, so that a record on a centre has memberships."""


def start(x: Floats, c: int) -> Floats:
    """Return the first centres: the mean of the records, and beyond it up to the record that is farthest by column."""
    columns = x.shape[1]
    drawn = np.array(FIRST[: c * columns]).reshape(columns, c).T
    middle = x.mean(axis=0)
    return np.asarray(2 * np.abs(x - middle).max(axis=0) * (drawn - 0.5) + middle)


def cluster(x: Floats, c: int, *, shaped: bool, most: int = 10_000) -> Clusters:
    """Return the clusters of fuzzy c-means, or of Gustafson–Kessel (``shaped``), as the toolbox finds them; m = 2."""
    metrics = np.repeat(np.eye(x.shape[1])[None], c, axis=0)
    centres = start(x, c)
    following, before, done = _memberships(x, centres, metrics)[0], np.zeros((len(x), c)), 0
    objective = 0.0
    while float((following - before).max()) > TOLERANCE and done < most:
        before, done = following, done + 1
        weight = before**2
        centres = (weight.T @ x) / weight.sum(axis=0)[:, None]
        if shaped:
            metrics = np.stack([_metric(x - centre, own) for centre, own in zip(centres, weight.T, strict=True)])
        following, squared = _memberships(x, centres, metrics)
        objective = float((weight * squared).sum())
    change = float(np.abs(following - before).max())
    order = np.lexsort(centres.T[::-1])
    report = Convergence(objective, done, done < most, change, (objective,), metrics=metrics[order] if shaped else None)
    return Clusters(following[:, order], centres[order], report)


def _memberships(x: Floats, centres: Floats, metrics: Floats) -> tuple[Floats, Floats]:
    """Return memberships and squared distances (records × clusters)."""
    squared = np.stack([((x - v) @ a * (x - v)).sum(axis=1) for v, a in zip(centres, metrics, strict=True)], axis=1)
    inverse = 1 / (squared + SOFTENING)
    return inverse / inverse.sum(axis=1, keepdims=True), squared


def _metric(off: Floats, weight: Floats) -> Floats:
    """Return the metric of a cluster: its inverse covariance, scaled to determinant 1."""
    covariance = (weight[:, None] * off).T @ off / weight.sum()
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, values[-1] / 1e15)
    inverse = (vectors / values) @ vectors.T
    return np.asarray(np.exp(np.log(values).sum() / len(values)) * inverse)
