"""Random orthogonal masking in blocks, which keeps means and covariances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from celosia.errors import DataError

Floats = npt.NDArray[np.float64]

CHUNK = 20_000  # blocks rotated at a time, so that memory stays small


def helmert(size: int) -> Floats:
    """Orthonormal columns that are orthogonal to the vector of ones (size × (size - 1)).

    >>> bool(np.allclose(helmert(4).sum(axis=0), 0))
    True
    """
    basis = np.zeros((size, size - 1))
    for j in range(1, size):
        basis[:j, j - 1] = 1.0
        basis[j, j - 1] = -j
    result: Floats = basis / np.linalg.norm(basis, axis=0)
    return result


def _rotations(count: int, size: int, p: float, rng: np.random.Generator) -> Floats:
    r"""Random rotations with an expected squared change of ``p`` times the squared length of a vector.

    Cayley's transform of a skew-symmetric matrix ``A`` with eigenvalues :math:`\pm i\mu` is a rotation whose trace is
    the sum of :math:`(1-s^2\mu^2)/(1+s^2\mu^2)`; ``s`` is chosen so that the mean of those is :math:`1 - p/2`. That
    is the mean of :math:`s^2\mu^2/(1+s^2\mu^2) = p/4`, which keeps the digits of a small ``p``.
    """
    skew = rng.standard_normal((count, size, size))
    skew = skew - skew.transpose(0, 2, 1)
    squares = np.linalg.eigvalsh(1j * skew) ** 2
    low = np.full((count, 1), -100.0)
    high = np.full((count, 1), 20.0)
    for _ in range(60):  # bisection on the logarithm of the square of s
        middle = (low + high) / 2
        scaled = np.exp(middle) * squares
        small = (scaled / (1 + scaled)).mean(axis=1, keepdims=True) < p / 4
        low = np.where(small, middle, low)
        high = np.where(small, high, middle)
    skew *= np.exp(low / 2)[:, :, None]
    identity = np.eye(size)
    return np.asarray(np.linalg.solve(identity + skew, identity - skew), dtype=np.float64)


def rotate(x: Floats, p: float, rng: np.random.Generator, block: int = 9) -> Floats:
    r"""Mask records by a random orthogonal matrix ``T`` with :math:`T\mathbf 1 = \mathbf 1`, without building it.

    .. math:: X' = T X, \qquad \bar x' = \bar x, \quad X'^T X' = X^T X, \quad
              E\,|x' - x|^2 = p \operatorname{Var}(x)

    ``T`` permutes the records into random blocks and rotates each block around its mean: time :math:`O(nb)`, memory
    :math:`O(n)`. Needs complete records and at least ``block`` of them. Reference: Ting, Fienberg & Trottini (2008).

    >>> x = np.arange(40.0).reshape(20, 2) ** 1.5
    >>> y = rotate(x, 0.5, np.random.default_rng(1))
    >>> bool(np.allclose(x.mean(axis=0), y.mean(axis=0)) and np.allclose(x.T @ x, y.T @ y))
    True
    """
    n = len(x)
    if n < block:
        raise DataError(f"orthogonal masking needs at least {block} records, got {n}.")
    order = rng.permutation(n)
    result = np.empty_like(x)
    whole = n // block - 1
    pieces = [order[: whole * block].reshape(whole, block)[i : i + CHUNK] for i in range(0, whole, CHUNK)]
    for rows in [*pieces, order[None, whole * block :]]:
        size = rows.shape[1]
        basis = helmert(size)
        part = x[rows]
        middle = part.mean(axis=1, keepdims=True)
        inner = np.einsum("bi,mbd->mid", basis, part - middle)
        # The means of the blocks do not move, so the rest moves b / (b - 1) times as much.
        turned = _rotations(len(rows), size - 1, p * size / (size - 1), rng) @ inner
        result[rows] = middle + np.einsum("bi,mid->mbd", basis, turned)
    return result
