"""Bayesian disclosure: what a release adds to an intruder's belief in the sensitive value of each person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import ParameterError
from celosia.histogram import group, number
from celosia.kernels.fuzzy.coding import FuzzyCoding
from celosia.kernels.fuzzy.diversity import cell_counts, shares
from celosia.parts import Attack, AttackEvidence, Column, DisclosesValue, Private
from celosia.table.columns import encoded_column
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

BLOCK = 2_000_000
"""Most numbers of a block of records × values."""


class BayesianDisclosureEvidence(AttackEvidence):
    """Shares of positive and negative disclosure, and of records without a posterior."""

    positive: float
    negative: float
    without_posterior: float


class BayesianDisclosure(DisclosesValue, Attack):
    r"""The share of people whose sensitive value an intruder believes in only after the release.

    The intruder knows the quasi-identifiers :math:`q` of a person and a prior :math:`f(s \mid q)`, and reads the
    cells of the release:

    .. math:: \beta(q, s, T^*) = \frac{g(s)}{\sum_{s'} g(s')}, \qquad
              g(s) = \frac{\sum_i \mu_{Q_i}(q)\, |Q_i \cap s|\; f(s \mid q)}{\sum_i \mu_{Q_i}(q) f(s \mid Q_i)}

    Without ``sets`` the cells are the equivalence classes of the protected table, each record in its own; with them,
    fuzzy cells of the original quasi-identifiers, counted by σ-counts. The prior of an intruder is a table ``prior``
    with the quasi-identifiers, the sensitive column and ``probability``; :math:`f(s \mid Q_i)` is then its mean over
    the records of the cell. Without one it is the share among the people with equal quasi-identifiers, and the
    posterior in a single class equals it.

    A release discloses a value positively when the posterior of the person's own value is at least ``positive`` and
    the prior was less, and negatively when the posterior of some value is at most ``negative`` and its prior was more.
    Where every :math:`g` is 0 (0/0), or the prior says nothing of a person, there is no posterior. The baseline is the
    share of people whose value was known before. A person counts once in a cell for each value.
    References: Machanavajjhala et al. (2007); Quirós (2013), master's thesis, University of Oviedo.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 24, 32, 36], "ill": ["flu", "flu", "flu", "heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
    >>> safe = celosia.protect(table, "recode(column=age, breaks=[30])")
    >>> even = pl.DataFrame({"age": [21, 24, 32, 36], "ill": "flu", "probability": 0.5})
    >>> even = pl.concat([even, even.with_columns(ill=pl.lit("heart"))])
    >>> BayesianDisclosure(prior=even).records(table, safe)["posterior"].to_list()
    [1.0, 1.0, 0.5, 0.5]
    """

    column: Column | None = Field(default=None, description="the sensitive column; the first declared one if not given")
    sets: Annotated[dict[str, dict[str, str]], Private()] = Field(
        default_factory=dict, description="fuzzy sets by column; without them the classes of the protected table"
    )
    prior: Source = Field(
        default=None, description="the intruder's belief: quasi-identifiers, the sensitive column and probability"
    )
    positive: float = Field(default=0.9, gt=0, le=1, description="belief from which a value counts as known")
    negative: float = Field(default=0.05, ge=0, lt=1, description="belief up to which a value counts as ruled out")
    examples: ClassVar = (
        {},
        {"prior": True, "positive": 0.6, "negative": 0.4},
        {"sets": {"c": {"one": "{a, b:0.3}", "two": "{b:0.7}"}}, "prior": True, "positive": 0.5, "negative": 0.3},
    )

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of people with positive disclosure."""
        return self.evidence(original, protected)["value"]

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return prior and posterior of each record's own value, and the disclosures; null without a posterior."""
        import polars as pl

        beliefs = self._beliefs(original, protected)
        columns = {"risk": beliefs.gained.astype(np.float64), "prior": beliefs.prior, "posterior": beliefs.posterior}
        return pl.DataFrame({name: pl.Series(values).fill_nan(None) for name, values in columns.items()}).with_columns(
            positive=pl.Series(beliefs.gained), negative=pl.Series(beliefs.ruled_out)
        )

    def evidence(self, original: Table, protected: Table) -> BayesianDisclosureEvidence:
        """Return the shares of people, with an interval for positive disclosure, and those who were known before."""
        from celosia.kernels.statistics.intervals import wilson
        from celosia.views.persons import by_person, person_codes

        beliefs, person = self._beliefs(original, protected), person_codes(original)
        was_known = np.nan_to_num(beliefs.prior) >= self.positive
        masks = (beliefs.gained, beliefs.ruled_out, was_known, np.isnan(beliefs.posterior))
        gained, ruled_out, before, lost = (float(by_person(m.astype(np.float64), person).mean()) for m in masks)
        n = len(np.unique(person))
        return {
            "value": gained,
            "interval": list(wilson(gained * n, n)),
            "baseline": before,
            "positive": gained,
            "negative": ruled_out,
            "without_posterior": lost,
        }

    def _beliefs(self, original: Table, protected: Table) -> Beliefs:
        key = (str(self), Same(self.prior), Same(original))
        return protected.compute_once(key, lambda: self._compute(original, protected))

    def _compute(self, original: Table, protected: Table) -> Beliefs:
        from celosia.table.pairing import positions
        from celosia.views.fuzzy_cells import merge_persons
        from celosia.views.persons import person_codes

        column = self.column or original.schema.need_sensitive(None)[0]
        rows, persons = positions(original, protected), person_codes(original)
        domain = _texts(original, column).drop_nulls().unique().sort()
        own = _codes(_texts(original, column), domain)
        published = np.full(len(original), -1, dtype=np.int64)
        published[rows] = _codes(_texts(protected, column), domain)
        alike = number([encoded_column(original, name).codes for name in original.schema.need_quasi()])
        priors = self._priors(original, column, domain, alike, own, persons)
        beliefs = Beliefs.without_posterior(len(original))
        for members, mu in self._cells(original, protected, rows):
            codes = published[members]
            pairs = None if original.schema.person is None else persons[members] * (len(domain) + 1) + codes
            degrees, kept = merge_persons(mu, pairs)  # a person counts once per cell and value
            counts = cell_counts(degrees, codes[kept], len(domain))
            by_prior = np.nan_to_num(priors[alike[members]])
            expected = shares(counts if self.prior is None else mu.T @ by_prior)
            block = max(1, BLOCK // max(len(domain), 1))
            for start in range(0, len(members), block):
                some = members[start : start + block]
                prior = priors[alike[some]]
                after = _posterior(mu[start : start + block], prior, counts, expected)
                beliefs.enter(some, own[some], prior, after, positive=self.positive, negative=self.negative)
        return beliefs

    def _cells(self, original: Table, protected: Table, rows: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Yield the records of each class, or of each group of fuzzy cells, with their degrees."""
        from celosia.views.fuzzy_cells import quasi_values

        if self.sets:
            members = np.flatnonzero(original.classes.members).astype(np.int64)
            cells = FuzzyCoding(sets=self.sets).cross(quasi_values(original))
            yield from ((members[some], mu) for _, some, mu in cells.blocks())
            return
        place = protected.classes.place
        order = np.argsort(place, kind="stable")
        for block in np.split(order, np.flatnonzero(np.diff(place[order])) + 1):
            if len(block) and place[block[0]] >= 0:
                yield rows[block], np.ones((len(block), 1))

    def _priors(self, original: Table, column: str, domain: pl.Series, alike: Ints, own: Ints, persons: Ints) -> Floats:
        """Return the prior of each value (column) for each combination of quasi-identifiers (row); NaN if unknown."""
        import polars as pl

        from celosia.table.source import open_source

        size = int(alike.max(initial=-1)) + 1
        belief = np.zeros((size, len(domain)))
        if self.prior is None:
            with_value = np.flatnonzero(own >= 0)
            once = with_value[group([alike[with_value], own[with_value], persons[with_value]])[0]]
            np.add.at(belief, (alike[once], own[once]), 1.0)
        else:
            names, given = list(original.schema.need_quasi()), open_source(self.prior)
            lost = [name for name in (*names, column, "probability") if name not in given.names]
            if lost:
                raise ParameterError(
                    f"bayesian-disclosure: the prior has no column {lost[0]!r}. It needs the quasi-identifiers, "
                    f"{column!r} and 'probability'."
                )
            chance = given.numeric(["probability"])[:, 0]
            if not ((chance >= 0) & (chance <= 1)).all():
                raise ParameterError("bayesian-disclosure: probabilities of the prior must be from 0 to 1.")
            keys = pl.DataFrame({name: _texts(original, name) for name in names}).with_columns(__alike__=alike)
            asked = pl.DataFrame({name: _texts(given, name) for name in names}).with_columns(
                __value__=_codes(_texts(given, column), domain), __chance__=chance
            )
            met = asked.join(keys.unique("__alike__"), on=names, nulls_equal=True).filter(pl.col("__value__") >= 0)
            np.add.at(belief, (met["__alike__"].to_numpy(), met["__value__"].to_numpy()), met["__chance__"].to_numpy())
        total = belief.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(belief, total, out=np.full_like(belief, np.nan), where=total > 0))


@dataclass(frozen=True)
class Beliefs:
    """Prior and posterior of each record's own value, and which disclosures there are; NaN without a posterior."""

    prior: Floats
    posterior: Floats
    gained: NDArray[np.bool_]
    ruled_out: NDArray[np.bool_]

    @classmethod
    def without_posterior(cls, records: int) -> Beliefs:
        """Return the beliefs before anything is computed."""
        nothing = np.zeros(records, np.bool_)
        return cls(np.full(records, np.nan), np.full(records, np.nan), nothing, nothing.copy())

    def enter(self, rows: Ints, own: Ints, prior: Floats, after: Floats, *, positive: float, negative: float) -> None:
        """Enter the beliefs about some records."""
        place, has_value = np.arange(len(rows)), own >= 0
        self.prior[rows] = np.where(has_value, prior[place, own], np.nan)
        self.posterior[rows] = np.where(has_value, after[place, own], np.nan)
        self.gained[rows] = (self.posterior[rows] >= positive) & ~(self.prior[rows] >= positive)
        self.ruled_out[rows] = ((after <= negative) & (prior > negative)).any(axis=1)


def _posterior(mu: Floats, prior: Floats, counts: Floats, expected: Floats) -> Floats:
    """Return the posterior of each value (column) for some records (rows); NaN where every g is 0."""
    weighted, share = (mu @ counts) * prior, mu @ expected
    g = np.divide(weighted, share, out=np.zeros_like(weighted), where=share > 0)
    total = g.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(g, total, out=np.full_like(g, np.nan), where=total > 0))


def _texts(table: Table, name: str) -> pl.Series:
    """Return a column as text, whole numbers without decimals."""
    import polars as pl

    column = table.column(name)
    if column.dtype.is_float() and (column == column.round(0)).all():
        column = column.cast(pl.Int64)
    return column.cast(pl.String)


def _codes(column: pl.Series, domain: pl.Series) -> Ints:
    """Return the place of each value in a sorted domain, -1 where it is not in it."""
    import polars as pl

    if domain.is_empty():
        return np.full(len(column), -1, dtype=np.int64)
    place = domain.search_sorted(column.fill_null(""))
    inside = np.minimum(place.to_numpy().astype(np.int64), len(domain) - 1)
    same = (domain.gather(pl.Series(inside)) == column).fill_null(value=False).to_numpy()
    return np.where(same, inside, -1)
