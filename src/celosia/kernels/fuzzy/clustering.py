r"""Partitions found in the data: fuzzy c-means, Gustafson–Kessel, k-means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import DataError, MissingExtra, ParameterError

Floats = NDArray[np.float64]
Seed = int | np.random.Generator | None
Stop = Literal["centres", "memberships"]

CONDITION = 1e15
"""Largest ratio of the eigenvalues of a cluster's covariance; smaller ones are lifted (Babuška et al. 2002)."""


@dataclass(frozen=True)
class Convergence:
    """How a clustering went: the kept start, and the objective of every start."""

    objective: float
    iterations: int
    converged: bool
    change: float
    objectives: tuple[float, ...]
    lifted: int = 0
    metrics: Floats | None = None


class Clusters(NamedTuple):
    """Memberships (n × c), centres (c × p) and the convergence report."""

    memberships: Floats
    centres: Floats
    report: Convergence


def c_means(
    x: ArrayLike,
    c: int,
    m: float = 2.0,
    seed: Seed = None,
    *,
    starts: int = 4,
    tolerance: float = 1e-8,
    iterations: int = 1000,
    centres: ArrayLike | None = None,
    stop: Stop = "centres",
) -> Clusters:
    r"""Fuzzy c-means: memberships and centres that make the weighted squared distances smallest.

    .. math:: J = \sum_i \sum_k \mu_{ik}^m \lVert x_k - v_i \rVert^2, \quad
              v_i = \frac{\sum_k \mu_{ik}^m x_k}{\sum_k \mu_{ik}^m}, \quad
              \mu_{ik} = \frac{d_{ik}^{-2/(m-1)}}{\sum_j d_{jk}^{-2/(m-1)}}

    Stops when no centre moves by more than ``tolerance`` times the largest range of a column, or with
    ``stop="memberships"`` when no membership changes by more than ``tolerance``. The best of
    ``starts`` starts (k-means++) is kept; with ``centres`` there is one start, from there. Clusters are ordered by
    the first column. Columns of different units should be scaled first (:func:`celosia.fuzzy.scale`). Fails for m ≤ 1
    and for c above the number of records. Reference: Bezdek (1981).

    >>> u, v, report = c_means([[0.0], [0.1], [0.9], [1.0]], 2, seed=1)
    >>> v.round(2).ravel().tolist(), report.converged
    ([0.05, 0.95], True)
    """
    from celosia.kernels.neighbours.fuzzy_clusters import c_means_degrees, c_means_sweep

    x = _matrix(x, c, m, starts, "c-means")
    step = tolerance * _scale(x) if stop == "centres" else tolerance

    def run(v: Floats) -> tuple[Floats, None, Convergence]:
        change, objective, done = np.inf, np.inf, 0
        before = None if stop == "centres" else c_means_degrees(x, v, m)
        while done < iterations and change > step:
            objective, following = c_means_sweep(x, v, m)
            change = float(np.abs(following - v).max())
            v, done = following, done + 1
            if before is not None:
                mu = c_means_degrees(x, v, m)
                change, before = float(np.abs(mu - before).max()), mu
        return v, None, Convergence(objective, done, change <= step, change, (objective,))

    v, _, report = _best(run, x, c, seed, starts, centres)
    v = v[np.lexsort(v.T[::-1])]
    return Clusters(c_means_degrees(x, v, m), v, report)


def gustafson_kessel(
    x: ArrayLike,
    c: int,
    m: float = 2.0,
    rho: ArrayLike | None = None,
    seed: Seed = None,
    *,
    starts: int = 4,
    tolerance: float = 1e-8,
    iterations: int = 1000,
    centres: ArrayLike | None = None,
    stop: Stop = "centres",
) -> Clusters:
    r"""Gustafson–Kessel clustering: fuzzy c-means where each cluster has its own shape of volume ``rho``.

    .. math:: D_{ik}^2 = (x_k - v_i)^T A_i (x_k - v_i), \quad A_i = (\rho_i \det F_i)^{1/p} F_i^{-1}, \quad
              F_i = \frac{\sum_k \mu_{ik}^m (x_k - v_i)(x_k - v_i)^T}{\sum_k \mu_{ik}^m}

    With one column and ρ = 1 the metric is 1 and the result is that of :func:`c_means`. A covariance whose eigenvalues
    differ by more than 10¹⁵ is lifted; the report counts how often. Stops as :func:`c_means` does. The objective
    has many local optima: use several starts. Fails for m ≤ 1, c above the number of records, ρ ≤ 0.
    References: Gustafson & Kessel (1978); Babuška, van der Veen & Kaymak (2002).

    >>> u, v, report = gustafson_kessel([[0.0], [0.1], [0.9], [1.0]], 2, seed=1)
    >>> v.round(2).ravel().tolist(), report.metrics.round(9).ravel().tolist()
    ([0.05, 0.95], [1.0, 1.0])
    """
    from celosia.kernels.neighbours.fuzzy_clusters import metric_degrees, metric_sweep

    x = _matrix(x, c, m, starts, "gustafson-kessel")
    volumes = np.ones(c) if rho is None else np.asarray(rho, dtype=np.float64)
    if volumes.shape != (c,) or not (volumes > 0).all():
        raise ParameterError(f"gustafson-kessel: rho must be {c} numbers above 0, got {np.asarray(rho).tolist()}.")
    width = _scale(x)
    step = tolerance * width if stop == "centres" else tolerance

    def run(v: Floats) -> tuple[Floats, Floats, Convergence]:
        roots = np.repeat(np.eye(x.shape[1])[None], c, axis=0)
        change, objective, done, lifted = np.inf, np.inf, 0, 0
        before = None if stop == "centres" else metric_degrees(x, v, roots, m)
        while done < iterations and change > step:
            objective, following, covariance = metric_sweep(x, v, roots, m)
            renewed, low = _roots(covariance, volumes)
            # a metric may still turn while its centre stands, so both must have come to rest
            turn = float(np.abs(renewed - roots).max() / np.abs(renewed).max()) * width
            change = max(float(np.abs(following - v).max()), turn)
            v, roots, done, lifted = following, renewed, done + 1, lifted + low
            if before is not None:
                mu = metric_degrees(x, v, roots, m)
                change, before = float(np.abs(mu - before).max()), mu
        return v, roots, Convergence(objective, done, change <= step, change, (objective,), lifted)

    v, roots, report = _best(run, x, c, seed, starts, centres)
    assert roots is not None
    order = np.lexsort(v.T[::-1])
    v, roots = v[order], roots[order]
    metrics = np.einsum("iab,iac->ibc", roots, roots)
    report = Convergence(**{**report.__dict__, "metrics": metrics})
    return Clusters(metric_degrees(x, v, roots, m), v, report)


def cluster_memberships(x: ArrayLike, centres: Floats, m: float = 2.0, metrics: Floats | None = None) -> Floats:
    """Memberships of records in clusters that were found before, with the metrics of Gustafson–Kessel if given.

    >>> cluster_memberships([[0.25]], np.array([[0.0], [1.0]])).round(9).tolist()
    [[0.9, 0.1]]
    """
    from celosia.kernels.neighbours.fuzzy_clusters import c_means_degrees, metric_degrees

    x = _matrix(x, 1, m, 1, "memberships")
    if metrics is None:
        return np.asarray(c_means_degrees(x, centres, m))
    values, vectors = np.linalg.eigh(metrics)
    roots = (vectors * np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
    return np.asarray(metric_degrees(x, centres, np.ascontiguousarray(roots), m))


def k_means(x: ArrayLike, c: int, seed: Seed = None, *, starts: int = 10) -> NDArray[np.int64]:
    """Labels 0 … c - 1 of the records by k-means (scikit-learn), clusters ordered by the first column.

    >>> k_means([[0.0], [0.1], [0.9], [1.0]], 2, seed=1).tolist()
    [0, 0, 1, 1]
    """
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        raise MissingExtra.of("k-means", "learn") from None
    x = _matrix(x, c, 2.0, starts, "k-means")
    state = int(np.random.default_rng(seed).integers(2**31))
    model = KMeans(n_clusters=c, n_init=starts, random_state=state, tol=0.0, max_iter=1000).fit(x)
    rank = np.empty(c, dtype=np.int64)
    rank[np.lexsort(model.cluster_centers_.T[::-1])] = np.arange(c)
    return np.asarray(rank[model.labels_])


Run = Callable[[Floats], tuple[Floats, Floats | None, Convergence]]


def _best(
    run: Run, x: Floats, c: int, seed: Seed, starts: int, centres: ArrayLike | None
) -> tuple[Floats, Floats | None, Convergence]:
    """Run from each start and keep the smallest objective."""
    if centres is not None:
        given = np.ascontiguousarray(np.asarray(centres, dtype=np.float64).reshape(c, -1))
        if given.shape != (c, x.shape[1]):
            raise ParameterError(f"centres must be {c} × {x.shape[1]}, got {given.shape[0]} × {given.shape[1]}.")
        return run(given)
    rng = np.random.default_rng(seed)
    runs = [run(spread_centres(x, c, rng)) for _ in range(starts)]
    v, metrics, report = min(runs, key=lambda r: r[2].objective)
    objectives = tuple(r[2].objective for r in runs)
    return v, metrics, Convergence(**{**report.__dict__, "objectives": objectives})


def spread_centres(x: Floats, c: int, rng: np.random.Generator) -> Floats:
    """Sample records far from each other (k-means++), each with odds of its squared distance."""
    rows = [int(rng.integers(len(x)))]
    nearest = ((x - x[rows[0]]) ** 2).sum(axis=1)
    for _ in range(1, c):
        total = np.cumsum(nearest)
        row = int(np.searchsorted(total, rng.random() * total[-1], side="right")) if total[-1] > 0 else len(rows)
        rows.append(min(row, len(x) - 1))
        nearest = np.minimum(nearest, ((x - x[rows[-1]]) ** 2).sum(axis=1))
    return np.ascontiguousarray(x[rows])


def _roots(covariance: Floats, volumes: Floats) -> tuple[Floats, int]:
    """Symmetric R_i with R_i R_i = (ρ_i det F_i)^(1/p) F_i⁻¹, and how many F_i had to be lifted."""
    values, vectors = np.linalg.eigh(covariance)
    largest = values[:, -1:]
    collapsed = largest <= 0  # all records of the cluster coincide: any metric of volume ρ will do
    floor = np.where(collapsed, 1.0, largest / CONDITION)
    lifted = (values < floor).any(axis=1)
    values = np.maximum(values, floor)
    p = values.shape[1]
    # the determinant as a sum of logarithms: it neither overflows nor vanishes
    size = np.exp((np.log(volumes)[:, None] + np.log(values).sum(axis=1, keepdims=True)) / p)
    half = np.sqrt(size / values)
    return np.ascontiguousarray((vectors * half[:, None, :]) @ vectors.transpose(0, 2, 1)), int(lifted.sum())


def _scale(x: Floats) -> float:
    width = float((x.max(axis=0) - x.min(axis=0)).max())
    return width if width > 0 else 1.0


def _matrix(x: ArrayLike, c: int, m: float, starts: int, name: str) -> Floats:
    """Return the records as an n × p array, with every precondition of clustering checked."""
    x = np.asarray(x, dtype=np.float64)
    x = np.ascontiguousarray(x.reshape(-1, 1) if x.ndim == 1 else x)
    if x.ndim != 2 or x.shape[1] == 0:
        raise ParameterError(f"{name}: x must be records × columns, got {x.ndim} dimensions.")
    if not 1 < m < np.inf:
        raise ParameterError(
            f"{name}: m must be greater than 1, got {m}. Usual is 2; near 1 the clusters become crisp."
        )
    if c < 1:
        raise ParameterError(f"{name}: c must be at least 1, got {c}.")
    if c > len(x):
        raise ParameterError(f"{name}: c must be at most the number of records, {len(x)}, got {c}.")
    if starts < 1:
        raise ParameterError(f"{name}: starts must be at least 1, got {starts}.")
    bad = ~np.isfinite(x).all(axis=1)
    if bad.any():
        raise DataError(
            f"{name}: {bad.sum()} of {len(x)} records have a missing or infinite value. Remove or impute them first."
        )
    return x
