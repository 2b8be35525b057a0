"""Randomised response."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.histogram import group
from celosia.methods.bases.domain import Domain, canonical_texts, check_values, with_declared_kind
from celosia.methods.bases.units import Units
from celosia.parts import Columns, Formal, Method, PersonUnit
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class RandomisedResponse(Formal, Method):
    r"""Report the true category with probability ``q``, else one of the K at random (local differential privacy).

    .. math:: P(\tilde x = j \mid x = i) = q\,[i = j] + \frac{1-q}{K}, \qquad
              \varepsilon = \ln\Bigl(1 + \frac{qK}{1-q}\Bigr)

    For two categories :math:`\varepsilon = \ln\frac{1+q}{1-q}`. Give ``q`` or ``epsilon`` (then q follows for each
    column). Columns are randomised independently: a person's loss is the sum over them. ``categories`` declares what
    each column can hold; the result has their type. A missing or other value gets any of the categories at random
    (declare None as a category to keep missing ones). Random numbers come from the operating system, a seed has no
    effect.

    Where a person column is declared, a person gives one answer per column, that of their first row, which all their
    rows show. With ``rows_per_person`` = m above 1 a person gives m answers, and further rows repeat them; the loss of
    a person is m times that of an answer: ``epsilon``, which is about a person, is divided by m, or what ``q`` costs
    is multiplied by it. Columns named under ``household`` belong to households: one answer for each.

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
    categories: dict[str, tuple[Any, ...]] = Field(default={}, description="column → all categories that it may have")
    rows_per_person: int = Field(default=1, ge=1, description="most answers of one person per column")
    household: Columns = Field(default=(), description="columns that belong to households: one answer for each")
    persons: ClassVar[PersonUnit] = "counted"
    covers_table: ClassVar[bool] = False
    not_replayable_because: ClassVar[str] = "further answers are another release with a cost of its own"
    examples: ClassVar = (
        {"columns": ["s"], "epsilon": 2.0, "categories": {"s": ["flu", "cold", "hiv", "tbc"]}, "rows_per_person": 9},
    )

    @model_validator(mode="after")
    def _check_declared(self) -> RandomisedResponse:
        if (self.q is None) == (self.epsilon is None):
            raise ParameterError("randomised-response: give q or epsilon, one of the two.")
        for name in self.columns:
            if len(set(self.categories.get(name, ()))) < 2:
                raise ParameterError(
                    f"randomised-response: the categories of {name!r} are not declared, and which occur is itself "
                    "private: name at least 2 under categories."
                )
            self._declared_domain(name)
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Randomise, by the operating system's generator."""
        from celosia.kernels.perturbation.response import epsilon

        new: dict[str, pl.Series] = {}
        facts: dict[str, object] = {}
        total = 0.0
        for name in self.columns:
            domain = self._declared_domain(name)
            q = self._truth(domain.size)
            spent = epsilon(q, domain.size) * self.rows_per_person
            total += spent
            facts[name] = {"q": q, "categories": domain.size, "epsilon": spent}
            codes = domain.codes(table.column(name))
            unit = self._respondents(table, name)
            new[name] = domain.series.gather(_randomise(codes[unit.first], domain.size, q)[unit.member])
        done = table.replace(new)
        for name in self.columns:
            done = done.with_schema(
                done.schema.change(name, kind=with_declared_kind(done.schema[name], new[name].dtype).kind)
            )
        return Outcome(done, {"epsilon": total, "rows per person": self.rows_per_person, "columns": facts})

    def privacy_loss(self) -> float | None:
        """Return the sum over the columns."""
        from celosia.kernels.perturbation.response import epsilon

        if self.epsilon is not None:
            return self.epsilon * len(self.columns)
        if self.q is None:
            return None
        sizes = (self._declared_domain(name).size for name in self.columns)
        return self.rows_per_person * sum(epsilon(self.q, size) for size in sizes)

    def _respondents(self, table: Table, name: str) -> Units:
        """Units with one answer each: households, persons (``rows_per_person`` answers) or records."""
        schema = table.schema
        if name in self.household and schema.household is not None:
            return _groups(table, schema.household, 1)
        if schema.person is not None:
            return _groups(table, schema.person, self.rows_per_person)
        return Units.records(len(table))

    def estimate(self, table: Table, name: str, confidence: float = 0.95) -> pl.DataFrame:
        """Shares of the original categories, estimated from a protected table, with an interval for each."""
        import polars as pl

        from celosia.kernels.perturbation.response import estimate_shares

        domain = self._declared_domain(name)
        codes = domain.codes(table.column(name))
        counts = np.bincount(codes[codes >= 0], minlength=domain.size).astype(np.float64)
        share, low, high = estimate_shares(counts, self._truth(domain.size), confidence)
        return pl.DataFrame({"category": domain.series, "share": share, "low": low, "high": high})

    def _truth(self, categories: int) -> float:
        from celosia.kernels.perturbation.response import truth

        return self.q if self.q is not None else truth((self.epsilon or 0.0) / self.rows_per_person, categories)

    def _declared_domain(self, name: str) -> Domain:
        domain = Domain(name, values=tuple(dict.fromkeys(self.categories[name])))
        return check_values("randomised-response", domain)


def _groups(table: Table, column: str, answers: int) -> Units:
    """Deal the rows of each person out to ``answers`` units; rows without an id are those of one person."""
    names = canonical_texts(table.column(column))
    who = names.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    order = np.argsort(who, kind="stable")
    turn = np.empty(len(who), dtype=np.int64)
    turn[order] = np.arange(len(who)) - np.searchsorted(who[order], who[order], side="left")
    first, member = group([who, turn % answers])
    return Units(member, first)


def _uniform(n: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) from the operating system."""
    words = np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)
    return np.asarray((words >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def _randomise(codes: NDArray[np.int64], size: int, q: float) -> NDArray[np.int64]:
    """Randomise codes of categories; a value outside the categories (-1) becomes a random one."""
    other = (_uniform(len(codes)) * size).astype(np.int64)
    return np.where((_uniform(len(codes)) < q) & (codes >= 0), codes, other)
