r"""A Gaussian copula for columns of any kind: margins as they are, dependence by the correlations of normal scores.

.. math:: \tilde x_j = \hat F_j^{-1}(\Phi(z_j)), \qquad z \sim N(0, R)

References: Nelsen (2006); Kamthe, Assefa & Deisenroth (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from celosia.methods.bases.trees import Feature, between

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BINS = 10
_LARGEST = 0.999


@dataclass(frozen=True)
class Margin:
    """Column in the order of its latent variable: sorted values, and the normal score of each record."""

    sorted: Floats
    """All values (or codes) in latent order; missing numbers first."""
    scores: Floats
    """Normal score of each record: the mean of the latent variable over the records that tie with it."""
    variance: float
    """Variance of the scores: 1 for numbers without ties, less for categories."""


@dataclass(frozen=True)
class Copula:
    """The margins and the correlation matrix of the latent variables."""

    margins: tuple[Margin, ...]
    correlation: Floats


def fit_copula(features: Sequence[Feature]) -> Copula:
    """Fit margins and latent correlations.

    Categories without an order get the one in which they agree best with the other columns: the first axis of multiple
    correspondence analysis. The correlation of scores of tied values falls short of the latent one by the variances of
    the scores, for small correlations exactly: it is divided by them.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 20000)
    >>> copula = fit_copula([Feature(z[:, 0], False), Feature((z[:, 1] > 0).astype(float), True)])
    >>> bool(abs(abs(copula.correlation[0, 1]) - 0.6) < 0.03)
    True
    """
    places = _category_places(features)
    margins = tuple(_margin(f, place) for f, place in zip(features, places, strict=True))
    scores = np.column_stack([m.scores for m in margins])
    size = np.array([m.variance for m in margins])
    size = np.where(size > 0, size, 1.0)
    r = np.clip(scores.T @ scores / len(scores) / np.outer(size, size), -_LARGEST, _LARGEST)
    np.fill_diagonal(r, 1.0)
    return Copula(margins, nearest_correlation(r))


def draw(copula: Copula, features: Sequence[Feature], size: int, rng: np.random.Generator) -> list[Floats]:
    """Draw new records: one array per column."""
    from scipy.special import ndtr

    values, vectors = np.linalg.eigh(copula.correlation)
    z = rng.standard_normal((size, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return [
        _inverse(margin, ndtr(z[:, j]), feature)
        for j, (margin, feature) in enumerate(zip(copula.margins, features, strict=True))
    ]


def nearest_correlation(r: Floats) -> Floats:
    """Find a positive definite correlation matrix near another: lift negative eigenvalues, rescale the diagonal to 1.

    >>> matrix = nearest_correlation(np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]))
    >>> bool(np.linalg.eigvalsh(matrix).min() > 0)
    True
    """
    for _ in range(50):
        values, vectors = np.linalg.eigh(r)
        if values[0] >= 1e-8:
            break
        r = (vectors * np.maximum(values, 1e-6)) @ vectors.T
        d = np.sqrt(np.diag(r))
        r = r / np.outer(d, d)
    return r


def _margin(feature: Feature, place: Floats | None) -> Margin:
    from scipy.special import ndtri

    n = len(feature.values)
    key = feature.values if place is None else place[feature.values.astype(np.int64)]
    key = np.where(np.isnan(key), -np.inf, key)
    order = np.argsort(key, kind="stable")
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    high = np.cumsum(counts) / n
    low = high - counts / n
    # E[z | low < Phi(z) < high] = (phi(low) - phi(high)) / (high - low)
    bell = np.exp(-0.5 * ndtri(np.concatenate([low, high[-1:]])) ** 2) / np.sqrt(2 * np.pi)
    bell = np.nan_to_num(bell)
    mean = (bell[:-1] - bell[1:]) / (high - low)
    scores = mean[inverse.reshape(-1)]
    return Margin(feature.values[order], scores, float((scores * scores).mean()))


def _inverse(margin: Margin, u: Floats, feature: Feature) -> Floats:
    """Quantiles of a margin; between two sorted values where the column is smoothed."""
    n = len(margin.sorted)
    at = np.minimum((u * n).astype(np.int64), n - 1)
    drawn = margin.sorted[at]
    if not feature.smooth:
        return np.asarray(drawn)
    zero = np.zeros_like(at)
    return between(margin.sorted, zero, zero + n, at, u * n - at - 0.5)


def _category_places(features: Sequence[Feature]) -> list[Floats | None]:
    """Coordinates of the categories of each nominal column on the first axis of correspondence analysis."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    if not any(f.nominal for f in features):
        return [None] * len(features)
    n = len(features[0].values)
    codes = [_bin(f) for f in features]
    sizes = [int(c.max()) + 1 for c in codes]
    start = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate([c + s for c, s in zip(codes, start, strict=False)])
    indicator = csr_array(
        (np.ones(n * len(codes)), (np.tile(np.arange(n), len(codes)), columns)), shape=(n, int(start[-1]))
    )
    burt = (indicator.T @ indicator).toarray()
    mass = np.sqrt(np.diag(burt))
    mass = np.where(mass > 0, mass, 1.0)
    scaled = burt / np.outer(mass, mass) - np.outer(mass, mass) * (1 / n)
    if len(scaled) > 40:
        axis = eigsh(scaled, k=1, v0=np.ones(len(scaled)))[1][:, 0]
    else:
        axis = np.linalg.eigh(scaled)[1][:, -1]
    place = axis / mass
    return [place[start[j] : start[j + 1]] if f.nominal else None for j, f in enumerate(features)]


def _bin(feature: Feature) -> Ints:
    if feature.nominal:
        return feature.values.astype(np.int64)
    filled = feature.values[~np.isnan(feature.values)]
    edges = np.unique(np.quantile(filled, np.arange(1, BINS) / BINS)) if len(filled) else np.zeros(0)
    codes = np.searchsorted(edges, feature.values, side="left")
    return np.where(np.isnan(feature.values), len(edges) + 1, codes).astype(np.int64)
