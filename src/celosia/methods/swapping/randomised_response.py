"""Randomised response."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.methods.bases.cells import units
from celosia.methods.bases.units import distinct_counts, units_of
from celosia.parts import Columns, Counting, Method
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.methods.bases.units import Units
    from celosia.streams import Stream
    from celosia.table import Table


class RandomisedResponse(Method):
    r"""Tell the truth with probability ``q`` and else any of the K categories at random (local differential privacy).

    .. math:: P(\tilde x = j \mid x = i) = q\,[i = j] + \frac{1-q}{K}, \qquad
              \varepsilon = \ln\Bigl(1 + \frac{qK}{1-q}\Bigr)

    For two categories :math:`\varepsilon = \ln\frac{1+q}{1-q}`. Give ``q`` or ``epsilon`` (then q follows for each
    column). Columns are randomised independently: a person's loss is the sum over them. The categories must be known
    without looking at the data (``categories``) for the guarantee to cover which categories occur; without them those
    of the data are used and the evidence says so. Random numbers come from the operating system, a seed has no effect.
    Missing values stay and are not protected: make them a category first if they tell something.

    A column that belongs to households (it is the same within each) is answered once per household. Where a person
    column is declared, a person gives one answer per column, which all their rows show; the rows of a person must agree
    for that. With ``rows_per_person`` = m above 1 every row answers by itself and the loss of a person is m times that
    of a row: ``epsilon``, which is about a person, is divided by m, or what ``q`` costs is multiplied by it. A table in
    which a person would answer more often is refused.

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
    epsilon: float | None = Field(default=None, gt=0, description="privacy loss of a person per column, instead of q")
    categories: dict[str, tuple[str, ...]] = Field(default={}, description="all categories that a column may have")
    rows_per_person: int = Field(default=1, ge=1, description="most answers of one person per column")
    persons: ClassVar[Counting] = "counted"
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
            spent = epsilon(q, len(values)) * self.rows_per_person
            total += spent
            facts[name] = {
                "q": q,
                "categories": len(values),
                "epsilon": spent,
                "declared": name in self.categories,
            }
            unit = self._answering(table, name)
            new[name] = _drawn(table.column(name), codes[unit.first], values, q).gather(unit.member)
        return Outcome(
            table.replace(new), {"epsilon": total, "rows per person": self.rows_per_person, "columns": facts}
        )

    def privacy_loss(self) -> float | None:
        """The sum over the columns; None where ``q`` is given and the number of categories is left to the data."""
        from celosia.mathematics.perturbation.response import epsilon

        if self.epsilon is not None:
            return self.epsilon * len(self.columns)
        if self.q is None or any(name not in self.categories for name in self.columns):
            return None
        sizes = (len(set(self.categories[name])) for name in self.columns)
        return self.rows_per_person * sum(epsilon(self.q, size) for size in sizes)

    def _answering(self, table: Table, name: str) -> Units:
        """Who answers: households, persons or records; refuse where a person would answer too often."""
        unit, persons = units(self.name, table, [name]), table.persons()
        if persons is None:
            return unit
        if self.rows_per_person == 1 and unit.each:
            unit = units_of(table, table.schema.person)
            differ = unit.differing(table, name)
            if differ:
                raise DataError(
                    f"randomised-response: {differ} records have another value of {name!r} than the first of their "
                    "person, so that one answer per person is not enough. Give rows_per_person: every row then answers "
                    "by itself, and the loss of a person is so many times that of a row."
                )
        most = int(distinct_counts(unit.member, persons.astype(np.int64)).max(initial=0))
        if most > self.rows_per_person:
            raise DataError(
                f"randomised-response: a person would give {most} answers for {name!r}, but rows_per_person is "
                f"{self.rows_per_person}. Records without an id count as one person. Give rows_per_person={most}, or "
                "leave out rows before."
            )
        return unit

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

        return self.q if self.q is not None else truth((self.epsilon or 0.0) / self.rows_per_person, categories)

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
