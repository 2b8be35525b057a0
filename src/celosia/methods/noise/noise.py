"""Additive noise, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.data.engines.lazy_frames import RECORD
from celosia.errors import DataError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import (
    as_column,
    bounds,
    check_numeric,
    numbers,
    refuse_constant,
    refuse_level,
    units,
)
from celosia.parts import CountsRows, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome
from celosia.table.edit import replace_by_batches
from celosia.table.frames import row_batches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table


class Noise(Method):
    r"""Add independent normal noise whose variance is a share ``p`` of each column's variance.

    .. math:: \tilde x_{ij} = x_{ij} + e_{ij}, \qquad e_{ij} \sim N(0,\ p \operatorname{Var}(V_j))

    Means and covariances between columns are kept on average; variances grow by 1 + p, so correlations shrink by
    1/(1 + p). A column that is the same within households gets one draw per household. Whole numbers stay whole;
    values that would leave the declared bounds are reflected at them; missing values stay missing. With
    ``scope = "outliers"`` only records outside the robust ellipse that holds ``1 - share`` of a normal cloud are
    changed. Fails for constant columns, text and infinite values. Noise alone does not give k-anonymity. Reference:
    Brand (2002).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [42, 28, 51, 23]}), celosia.Schema.of(quasi=["age"]))
    >>> protected = celosia.protect(table, Noise(columns=["age"], p=0.5), seed=1)
    >>> protected.polars()["age"].dtype, len(protected)
    (Int64, 4)
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that get noise; such quasi-identifiers when empty"
    )
    p: Annotated[float, Explored(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)] = Field(
        default=0.1, gt=0, description="variance of the noise as a share of the variance of the column"
    )
    scope: Literal["all", "outliers"] = Field(default="all", description="which records get noise")
    share: float = Field(default=0.01, gt=0, lt=1, description="share of a normal cloud that counts as outliers")
    keep_zeros: bool = Field(default=False, description="leave zeros as they are (semicontinuous columns)")
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    memory: ClassVar[Memory] = "blocks"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "its noise has a share of the variance of all records"
    examples: ClassVar = ({"columns": ["x", "y"]}, {"columns": ["m"], "scope": "outliers"})

    def needs_memory(self, schema: Schema) -> bool:
        """Return whether outliers or members of a household must be found among all records."""
        return self.scope == "outliers" or schema.household is not None

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Add the noise."""

        if table.counts.frame is None and not self.needs_memory(table.schema):
            return self._apply_in_batches(table, stream)
        x = numbers(self.name, table, self.columns)
        refuse_constant(self.name, x, self.columns)
        hit = np.ones(len(x), np.bool_)
        evidence: dict[str, object] = {}
        if self.scope == "outliers":
            from celosia.methods.bases.robust import outliers

            hit = outliers(x, self.share, stream.child("outliers").rng())
            evidence["outliers"] = int(hit.sum())
        columns: dict[str, pl.Series] = {}
        variances: dict[str, float] = {}
        for j, name in enumerate(self.columns):
            unit = units(self.name, table, [name])
            v = x[unit.first, j]
            variances[name] = self.p * exact_moments(partial(list, [v])).variance
            added = _AddNoise(name, variances[name], bounds(table, name), self.keep_zeros, stream.child(name))
            new = np.where(hit[unit.first], added.perturb(v, unit.pick(table.ids())), v)
            columns[name] = as_column(table.column(name), unit.expand(new))
        return Outcome(table.replace(columns), {**evidence, "noise_variance": variances})

    def _apply_in_batches(self, table: Table, stream: Stream) -> Outcome:
        """Add the noise batch by batch, without the table in memory."""

        check_numeric(self.name, table, self.columns)
        variances: dict[str, float] = {}
        done = table
        for name in self.columns:
            moments = exact_moments(partial(_numbers, self.name, table, name))
            refuse_level(self.name, name, moments.low, moments.high)
            variances[name] = self.p * moments.variance
            own = stream.child(name).with_digest()
            added = _AddNoise(name, variances[name], bounds(table, name), self.keep_zeros, own)
            done = replace_by_batches(done, name, added)
        return Outcome(done, {"noise_variance": variances})


@dataclass(frozen=True)
class _AddNoise:
    """Picklable function that adds the noise of one column to a batch of records."""

    name: str
    variance: float
    bounds: tuple[float, float]
    keep_zeros: bool
    stream: Stream

    def __call__(self, batch: pl.DataFrame) -> pl.Series:
        old = batch[self.name]
        new = self.perturb(old.cast(float).to_numpy(), batch[RECORD].to_numpy())
        return as_column(old, new)

    def perturb(self, v: NDArray[np.float64], records: NDArray[np.int64]) -> NDArray[np.float64]:
        from celosia.kernels.perturbation.noise import reflect

        new = reflect(v + np.sqrt(self.variance) * self.stream.normal(records), *self.bounds)
        return np.where(self.keep_zeros & (v == 0), v, new)


def _numbers(who: str, table: Table, name: str) -> Iterator[NDArray[np.float64]]:
    """Yield a column as floats, batch by batch; raise on infinite ones."""
    for batch in row_batches(table, [name]):
        values = batch[name].cast(float).to_numpy()
        if np.isinf(values).any():
            raise DataError(f"{who}: column {name!r} holds infinite values; replace or remove them first.")
        yield values


# Exact sums, so that neither the order of the numbers nor the size of batches changes a digit.


DIGITS = 53
"""Binary digits of a float."""
HALF = 26
"""Binary digits of the lower part of a mantissa: sums of 2^25 such parts are exact in a float."""
MOST = 1 << 25


def exact_sum(values: Floats) -> Fraction:
    """Sum finite numbers without any rounding.

    >>> exact_sum(np.array([1e16, 1.0, -1e16])), exact_sum(np.array([0.1] * 10)) == 10 * Fraction(0.1)
    (Fraction(1, 1), True)
    """
    total = Fraction(0)
    for start in range(0, len(values), MOST):
        mantissa, exponent = np.frexp(values[start : start + MOST])
        whole = np.rint(np.ldexp(mantissa, DIGITS)).astype(np.int64)
        least = int(exponent.min())
        place = exponent - least
        upper = np.bincount(place, weights=whole >> HALF)
        lower = np.bincount(place, weights=whole & ((1 << HALF) - 1))
        parts = (((int(u) << HALF) + int(w)) << k for k, (u, w) in enumerate(zip(upper, lower, strict=True)))
        total += sum(parts) * Fraction(2) ** (least - DIGITS)
    return total


@dataclass(frozen=True)
class Moments:
    """Count, mean, variance (over n), minimum and maximum of numbers."""

    count: int
    mean: float
    variance: float
    low: float
    high: float


def exact_moments(batches: Callable[[], Iterable[Floats]]) -> Moments:
    """Compute the moments of numbers that are read in batches, twice; missing ones (NaN) are left out.

    The mean is the exact one, rounded once; the squares about it are added up exactly. So every order and every size
    of batches gives the same digits.

    >>> numbers = np.array([1.0, 2.0, np.nan, 6.0])
    >>> exact_moments(lambda: [numbers]) == exact_moments(lambda: [numbers[:1], numbers[:0:-1]])
    True
    >>> moments = exact_moments(lambda: [numbers])
    >>> moments.mean, round(moments.variance, 9), moments.high
    (3.0, 4.666666667, 6.0)
    """
    count, total, low, high = 0, Fraction(0), np.inf, -np.inf
    for batch in batches():
        present = batch[~np.isnan(batch)]
        if len(present):
            count += len(present)
            total += exact_sum(present)
            low, high = min(low, float(present.min())), max(high, float(present.max()))
    if count == 0:
        return Moments(0, np.nan, np.nan, np.nan, np.nan)
    mean = float(total / count)
    squares = Fraction(0)
    for batch in batches():
        present = batch[~np.isnan(batch)]
        with np.errstate(over="ignore"):
            square = (present - mean) ** 2
        if np.isinf(square).any():
            raise DataError("the numbers of a column are too large to have a variance; divide them by 1e100 first.")
        squares += exact_sum(square)
    return Moments(count, mean, float(squares / count), low, high)
