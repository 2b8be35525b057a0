"""Random orthogonal matrix masking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from celosia.errors import DataError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import bounds, numbers, refuse_constant, refuse_missing, replace_numbers, strata, units
from celosia.parts import Columns, CountsRows, Explored, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class OrthogonalMask(Method):
    r"""Rotate the records among each other so that means and covariances stay exactly as they are.

    .. math:: \tilde X = T X, \quad T^T T = I, \quad T \mathbf 1 = \mathbf 1, \qquad
              E\,|\tilde x - x|^2 = p \operatorname{Var}(x)

    ``T`` is never built: records are put into random blocks and each block is rotated around its mean, which takes
    time and memory in proportion to the number of records. Regressions and principal components are those of the
    original. Whole numbers are rounded and values reflected at declared bounds, both of which disturb the moments a
    little. Fails for missing values and for fewer than ``block`` records. References: Ting, Fienberg & Trottini
    (2008), random orthogonal matrix masking (ROMM).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"a": [float(i) for i in range(20)], "b": [float(i * i) for i in range(20)]})
    >>> protected = celosia.protect(celosia.read(data), OrthogonalMask(columns=["a", "b"], p=0.3), seed=1).polars()
    >>> round(protected["a"].mean(), 9), round(protected["b"].var() / data["b"].var(), 9)
    (9.5, 1.0)
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that are rotated together; such quasi-identifiers when empty"
    )
    p: Annotated[float, Explored(0.05, 0.1, 0.2, 0.5)] = Field(
        default=0.1, gt=0, le=2, description="mean squared change as a share of the variance"
    )
    block: int = Field(default=9, ge=4, le=64, description="records that are mixed with each other")
    within: Columns = Field(default=(), description="mix only records that agree on these columns")
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "records are rotated together"
    examples: ClassVar = ({"columns": ["x", "y"]},)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Rotate the records block by block."""
        from celosia.kernels.perturbation.noise import reflect

        unit = units(self.name, table, self.columns)
        x = numbers(self.name, table, self.columns)[unit.first]
        refuse_missing(self.name, x, "records are mixed with each other, so fill them in or leave them out first.")
        refuse_constant(self.name, x, self.columns)
        new = np.empty_like(x)
        parts = strata(table, self.within, unit)
        for s, rows in enumerate(parts):
            new[rows] = rotate(x[rows], self.p, stream.child(s).rng(), self.block)
        for j, name in enumerate(self.columns):
            new[:, j] = reflect(new[:, j], *bounds(table, name))
        columns = {name: new[:, j] for j, name in enumerate(self.columns)}
        return Outcome(replace_numbers(table, unit, columns), {"strata": len(parts)})


# Random orthogonal masking in blocks, which keeps means and covariances.


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
