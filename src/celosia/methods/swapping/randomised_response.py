"""Randomised response."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.methods.bases.cells import units
from celosia.parts import Columns, Method
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class RandomisedResponse(Method):
    r"""Tell the truth with probability ``q`` and else any of the K categories at random (local differential privacy).

    .. math:: P(\tilde x = j \mid x = i) = q\,[i = j] + \frac{1-q}{K}, \qquad
              \varepsilon = \ln\Bigl(1 + \frac{qK}{1-q}\Bigr)

    For two categories :math:`\varepsilon = \ln\frac{1+q}{1-q}`. Give ``q`` or ``epsilon`` (then q follows for each
    column). Columns are randomised independently: a record's loss is the sum over them. The categories must be known
    without looking at the data (``categories``) for the guarantee to cover which categories occur; without them those
    of the data are used and the evidence says so. Random numbers come from the operating system, a seed has no effect.
    A column that is the same within households is randomised once per household.
    Missing values stay and are not protected: make them a category first if they tell something.

    :meth:`estimate` gives the shares of the original with an interval,
    :math:`\hat p_j = (Y_j - (1-q)/K)/q`. Reference: Warner (1965).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"smokes": ["yes", "no", "no", "no"]}))
    >>> method = RandomisedResponse(columns=["smokes"], q=0.5, categories={"smokes": ["no", "yes"]})
    >>> protected = celosia.protect(table, method)
    >>> round(protected.history[-1]["epsilon"], 4)
    1.0986
    """

    columns: Columns = Field(min_length=1, description="categorical columns, randomised independently")
    q: float | None = Field(default=None, gt=0, lt=1, description="probability of the true category")
    epsilon: float | None = Field(default=None, gt=0, description="privacy loss per column, instead of q")
    categories: dict[str, tuple[str, ...]] = Field(default={}, description="all categories that a column may have")
    formal: ClassVar[bool] = True
    refusal: ClassVar[str] = "further answers are another release with a cost of its own"

    @model_validator(mode="after")
    def _q_or_epsilon(self) -> RandomisedResponse:
        if (self.q is None) == (self.epsilon is None):
            raise ParameterError("randomised-response: give q or epsilon, one of the two.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Randomise, by the operating system's generator."""
        from celosia.mathematics.perturbation.response import epsilon

        new: dict[str, Any] = {}
        facts: dict[str, Any] = {}
        total = 0.0
        for name in self.columns:
            codes, values = self._codes(table, name)
            q = self._truth(len(values))
            spent = epsilon(q, len(values))
            total += spent
            facts[name] = {
                "q": q,
                "categories": len(values),
                "epsilon": spent,
                "declared": name in self.categories,
            }
            unit = units(self.name, table, [name])
            new[name] = _drawn(table.column(name), codes[unit.first], values, q).gather(unit.member)
        return Outcome(table.replace(new), {"epsilon": total, "columns": facts})

    def estimate(self, table: Table, name: str, confidence: float = 0.95) -> pl.DataFrame:
        """Shares of the original categories, estimated from a protected table, with an interval for each."""
        import polars as pl

        from celosia.mathematics.perturbation.response import estimate_shares

        codes, values = self._codes(table, name)
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.float64)
        share, low, high = estimate_shares(counts, self._truth(len(values)), confidence)
        return pl.DataFrame({"category": values, "share": share, "low": low, "high": high})

    def _truth(self, categories: int) -> float:
        from celosia.mathematics.perturbation.response import truth

        return self.q if self.q is not None else truth(self.epsilon or 0.0, categories)

    def _codes(self, table: Table, name: str) -> tuple[NDArray[np.int64], pl.Series]:
        """Codes over the declared categories, or over those that occur."""
        import polars as pl

        occurring, values = table.codes(name)
        codes = np.asarray(occurring, dtype=np.int64)
        if name in self.categories:
            declared = list(dict.fromkeys(self.categories[name]))
            place: Mapping[str, int] = {label: i for i, label in enumerate(declared)}
            texts = [str(value) for value in values]
            unknown = sum(text not in place for text in texts)
            if unknown:
                raise DataError(f"randomised-response: column {name!r} has {unknown} categories that are not declared.")
            lookup = np.array([place[text] for text in texts] + [-1], dtype=np.int64)
            codes = lookup[codes]
            try:
                values = pl.Series(name, declared).cast(values.dtype)
            except pl.exceptions.PolarsError:
                raise ParameterError(
                    f"randomised-response: the categories of {name!r} do not fit the type of the column."
                ) from None
        if len(values) < 2:
            raise DataError(
                f"randomised-response: column {name!r} has {len(values)} categories; at least 2 are needed. "
                "Name them all under categories."
            )
        return codes, values


def _uniform(n: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) from the operating system."""
    words = np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)
    return np.asarray((words >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def _drawn(old: pl.Series, codes: NDArray[np.int64], values: pl.Series, q: float) -> pl.Series:
    import polars as pl

    other = (_uniform(len(codes)) * len(values)).astype(np.int64)
    new = np.where(_uniform(len(codes)) < q, codes, other)
    picked = pl.Series(np.where(codes < 0, -1, new)).replace(-1, None).cast(pl.UInt32)
    return values.gather(picked).alias(old.name).cast(old.dtype)
