r"""Fuzzy c-regression models (FCRM): several regressions at once, each record belonging to each by a degree.

.. math:: E_m(U, \beta) = \sum_{i=1}^{c} \sum_{k=1}^{n} U_{ik}^m\, E_{ik}, \qquad
          E_{ik} = \lVert y_k - f(x_k; \beta_i) \rVert^2, \qquad \sum_i U_{ik} = 1

Two steps in turn: weighted least squares gives each :math:`\beta_i`, then
:math:`U_{ik} = E_{ik}^{-1/(m-1)} / \sum_j E_{jk}^{-1/(m-1)}`. Neither raises the objective.
References: Hathaway & Bezdek (1993); Cano & Torra (2009).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from celosia.errors import DataError, ParameterError
from celosia.kernels.statistics.deviation import deviations
from celosia.kernels.synthesis.design import Design

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FLOOR = 1e-100
"""An error of zero is lifted to this (Cano Franco 2009): a membership needs a ratio of errors."""


@dataclass(frozen=True)
class State:
    """The models after one iteration; a picture can be drawn from it."""

    iteration: int
    objective: float
    change: float
    """Largest change of a membership in this iteration."""
    memberships: Floats
    """n × c, rows add up to 1."""
    coefficients: Floats
    """c × rank × t, on the basis of the design."""
    errors: Floats
    """n × c, squared errors."""

    def lines(self, model: Design) -> Floats:
        """Intercept and slopes of each cluster on the original columns, c × (1 + columns) × t."""
        lines: Floats = model.back @ self.coefficients
        return lines

    def predict(self, model: Design, cluster: Ints) -> Floats:
        """Return the prediction of each record by the model of one cluster."""
        predictions: Floats = np.einsum("kr,krt->kt", model.basis, self.coefficients[cluster])
        return predictions

    def nearest(self) -> Ints:
        """Return the cluster of highest membership; it depends on the true y."""
        return np.asarray(self.memberships.argmax(axis=1), dtype=np.int64)


def iterations(model: Design, y: Floats, start: Floats, m: float = 1.5, *, floor: float = FLOOR) -> Iterator[State]:
    """Iterate from memberships (n × c) without end; the objective never increases.

    ``y`` should be standardised when it has several columns. A cluster whose weighted error would grow by rounding (a
    nearly empty one) keeps its model.

    >>> from celosia.kernels.synthesis.design import design
    >>> x = np.array([[0.0], [1], [2], [0], [1], [2]])
    >>> y = np.array([[0.0], [1], [2], [9], [8], [7]])
    >>> u = np.array([[0.8, 0.2]] * 3 + [[0.2, 0.8]] * 3)
    >>> states = iterations(design(x), y, u)
    >>> [next(states) for _ in range(20)][-1].lines(design(x)).round(6).reshape(2, 2).tolist()
    [[0.0, 1.0], [9.0, -1.0]]
    """
    if not 1 < m < np.inf:
        raise ParameterError(f"fcrm: m must be greater than 1, got {m}. The usual value is 1.5.")
    q = model.basis
    u = np.ascontiguousarray(start.T)
    errors: Floats | None = None
    beta = np.zeros((len(u), q.shape[1], y.shape[1]))
    iteration = 0
    while True:
        w = u**m
        fresh = _least_squares(q, y, w)
        new = np.maximum(_squares(q, y, fresh), floor)
        if errors is not None:
            worse = (w * new).sum(axis=1) > (w * errors).sum(axis=1)
            fresh[worse], new[worse] = beta[worse], errors[worse]
        beta, errors = fresh, new
        following = _degrees(errors, m)
        change = float(np.abs(following - u).max())
        u = following
        iteration += 1
        objective = float((u**m * errors).sum())
        yield State(iteration, objective, change, u.T, beta.copy(), errors.T)


def fit(
    model: Design,
    y: Floats,
    start: Floats,
    m: float = 1.5,
    *,
    tolerance: float = 1e-5,
    max_iterations: int = 30,
) -> State:
    """Iterate until no membership moves by more than ``tolerance``, or ``max_iterations``."""
    *_, last = until(iterations(model, y, start, m), tolerance, max_iterations)
    return last


def until(states: Iterator[State], tolerance: float = 1e-5, max_iterations: int = 30) -> Iterator[State]:
    """Yield the iterations up to the first in which no membership moves by more than ``tolerance``, or
    ``max_iterations``.
    """
    for state in states:
        yield state
        if state.change <= tolerance or state.iteration >= max_iterations:
            return


def first_memberships(x: Floats, y: Floats, c: int, m: float, rng: np.random.Generator) -> Floats:
    """Return the starting memberships: fuzzy c-means of the standardised columns of x and y together."""
    from celosia.kernels.neighbours.fuzzy_clusters import c_means_degrees

    z = standardise(np.hstack([x, y]))
    if c >= len(z):
        raise DataError(f"fcrm: c must be smaller than the number of records, {len(z)}, got {c}.")
    return np.asarray(c_means_degrees(z, _centres(z, c, m, rng), m))


def _centres(z: Floats, c: int, m: float, rng: np.random.Generator) -> Floats:
    """Centres of fuzzy c-means, without much precision: they are a place to go on from."""
    from celosia.kernels.neighbours.fuzzy_clusters import c_means_sweep

    v = np.ascontiguousarray(z[rng.choice(len(z), c, replace=False)])
    for _ in range(30):
        following = c_means_sweep(z, v, m)[1]
        moved = float(np.abs(following - v).max())
        v = following
        if moved < 1e-3:
            break
    return v


def best_fit(
    x: Floats,
    y: Floats,
    model: Design,
    c: int,
    rng: np.random.Generator,
    m: float = 1.5,
    *,
    starts: int = 1,
    tolerance: float = 1e-5,
    max_iterations: int = 30,
) -> State:
    """Return the fit with the smallest objective of several starts.

    >>> from celosia.kernels.synthesis.design import design
    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(0, 1, (60, 1))
    >>> y = np.where(np.arange(60)[:, None] < 30, 2 * x, 5 - x)
    >>> bool(best_fit(x, y, design(x), 2, rng, starts=2).errors.min(axis=1).max() < 1e-9)
    True
    """
    fits = []
    for _ in range(starts):
        *_, last = until(iterate(x, y, model, c, rng, m), tolerance, max_iterations)
        fits.append(last)
    return min(fits, key=lambda state: state.objective)


def one_regression(model: Design, y: Floats) -> State:
    """Return the only regression of c = 1, which needs no iteration; units as in :func:`iterate`."""
    errors = np.square((y - model.fitted_values(y)) / _scale(y)).sum(axis=1, keepdims=True)
    return State(0, float(errors.sum()), 0.0, np.ones_like(errors), (model.basis.T @ y)[None], errors)


def iterate(x: Floats, y: Floats, model: Design, c: int, rng: np.random.Generator, m: float = 1.5) -> Iterator[State]:
    """Iterate from a start of fuzzy c-means without end; y is standardised for it and back again.

    The coefficients are in the unit of y, the objective and the errors in standard deviations.
    """
    centre, sd = y.mean(axis=0), _scale(y)
    # without an intercept a shift cannot be undone
    shift = centre if _has_constant(model) else np.zeros_like(centre)
    back = (model.basis.T @ np.broadcast_to(shift, y.shape))[None]
    for state in iterations(model, (y - shift) / sd, first_memberships(x, y, c, m, rng), m):
        yield replace(state, coefficients=state.coefficients * sd + back)


def blind_clusters(x: Floats, memberships: Floats, u: Floats) -> Ints:
    r"""Return a cluster for each record from its x alone: drawn by how likely each cluster is there.

    .. math:: P(i \mid x) \propto \pi_i\, N(x; \bar x_i, S_i)

    with the membership-weighted share, mean and covariance of each cluster, and a uniform number ``u`` per record.

    >>> x = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> blind_clusters(x, np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), np.full(4, 0.5)).tolist()
    [0, 0, 1, 1]
    """
    z = standardise(x)
    n, c = memberships.shape
    log = np.empty((n, c))
    for i in range(c):
        w = memberships[:, i] / max(float(memberships[:, i].sum()), 1e-300)
        mean = w @ z
        d = z - mean
        # a ridge: the columns of x may depend on each other, and a cluster may hold few records
        values, vectors = np.linalg.eigh((d * w[:, None]).T @ d + 1e-3 * np.eye(z.shape[1]))
        log[:, i] = -0.5 * (((d @ vectors) ** 2) / values).sum(axis=1) - 0.5 * np.log(values).sum()
        log[:, i] += np.log(max(float(memberships[:, i].sum()), 1e-300))
    p = np.exp(log - log.max(axis=1, keepdims=True))
    p = np.cumsum(p, axis=1)
    return np.asarray(np.minimum((p < u[:, None] * p[:, -1:]).sum(axis=1), c - 1), dtype=np.int64)


def radial_features(x: Floats, count: int, rng: np.random.Generator) -> Floats:
    r"""Return the columns of x and ``count`` radial basis functions of them: local models that may bend.

    .. math:: \phi_j(x) = \exp\left(-\lVert z - v_j \rVert^2 / 2h^2\right)

    on standardised columns, centres :math:`v_j` of fuzzy c-means, h the mean distance between a centre and the others.

    >>> radial_features(np.arange(8.0).reshape(-1, 1), 3, np.random.default_rng(0)).shape
    (8, 4)
    """
    z = standardise(x)
    if count < 1 or count >= len(x):
        raise DataError(f"fcrm: radial must be at least 1 and below the number of records, {len(x)}, got {count}.")
    v = _centres(z, count, 2.0, rng)
    apart = np.sqrt(((v[:, None] - v[None]) ** 2).sum(axis=2))
    width = float(apart.sum() / max(count * (count - 1), 1)) or 1.0
    distance = ((z[:, None] - v[None]) ** 2).sum(axis=2)
    return np.hstack([x, np.exp(-distance / (2 * width**2))])


def five_groups(rng: np.random.Generator, size: int = 30) -> tuple[Floats, Floats]:
    """Five groups of points along five lines, something to try: x and y, each a column."""
    lines = (
        (0.0, 2.0, 1.0, 1.5), (2.5, 4.5, 9.0, -1.0), (5.0, 7.0, 1.0, 0.5), (1.0, 3.0, 7.0, 0.5), (6.0, 8.0, 4.0, 1.0),
    )  # fmt: skip
    x, y = [], []
    for low, high, level, slope in lines:
        at = rng.uniform(low, high, size)
        x.append(at)
        y.append(level + slope * (at - low) + rng.normal(0, 0.25, size))
    return np.concatenate(x)[:, None], np.concatenate(y)[:, None]


def standardise(x: Floats) -> Floats:
    """Return the columns with mean 0 and standard deviation 1; constant ones become 0."""
    return np.ascontiguousarray((x - x.mean(axis=0)) / _scale(x))


def _least_squares(q: Floats, y: Floats, w: Floats) -> Floats:
    """Fit weighted least squares for each cluster: (QᵀDQ)⁻ QᵀDY, small eigenvalues left out."""
    scaled = q.T[None] * w[:, None, :]
    gram, right = scaled @ q, scaled @ y
    values, vectors = np.linalg.eigh(gram)
    keep = values > 1e-13 * values[:, -1:]
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=keep)
    beta = vectors @ (inverse[:, :, None] * (np.swapaxes(vectors, 1, 2) @ right))
    # one step of refinement wins back the digits that the normal equations lose
    left = y[None] - q[None] @ beta
    beta += vectors @ (inverse[:, :, None] * (np.swapaxes(vectors, 1, 2) @ (scaled @ left)))
    coefficients: Floats = beta
    return coefficients


def _squares(q: Floats, y: Floats, beta: Floats) -> Floats:
    left = y[None] - q[None] @ beta
    errors: Floats = np.einsum("ikt,ikt->ik", left, left)
    return errors


def _degrees(errors: Floats, m: float) -> Floats:
    """Memberships from errors, in logarithms so that tiny errors do not overflow."""
    log = np.log(errors) / (1 - m)
    u = np.exp(log - log.max(axis=0))
    degrees: Floats = u / u.sum(axis=0)
    return degrees


def _scale(x: Floats) -> Floats:
    sd = deviations(x)
    return np.where(sd > 0, sd, 1.0)


def _has_constant(model: Design) -> bool:
    return bool(model.back[0, 0] != 0) and model.back.shape[1] > 0 and bool(np.ptp(model.basis[:, 0]) == 0)
