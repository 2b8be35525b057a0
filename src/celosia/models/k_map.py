"""k-map."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.parts import CountsPopulation, Model, SearchHints
from celosia.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts


class KMap(SearchHints, CountsPopulation, Model):
    r"""Every record could be at least ``k`` people of the population.

    With a ``population`` table (raw values; it contains the people of the table) the number is counted:
    :math:`\min_E F_E`. With the ``size`` *N* of the population only, class sizes are taken as Poisson with the
    sampling fraction *n/N*: a class of *f* records is accepted as ``k`` when

    .. math:: f \ge \min(k, c + 2), \qquad c = \min\{c : P[\mathrm{Poisson}(k n / N) \le c] \ge 1 - \alpha\}

    so that a population class below ``k`` would seldom look like it. The value is then the largest ``k`` that is
    accepted. The estimate assumes that the table is a simple random sample. References: El Emam & Dankar (2008).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"])
    >>> table = celosia.read(pl.DataFrame({"age": ["30-39", "30-39", "40-49"]}), schema)
    >>> KMap(k=2, population=pl.DataFrame({"age": [31, 35, 38, 42, 47]})).value(table)
    2.0
    """

    k: int = Field(ge=1, description="smallest allowed number of people")
    population: Source = Field(default=None, description="table of the population with the raw quasi-identifiers")
    size: int | None = Field(
        default=None, ge=1, description="number of people in the population, without a table of it"
    )
    alpha: float = Field(default=0.01, gt=0, lt=1, description="chance of a wrong acceptance, with size")

    symbol: ClassVar[str] = "k"
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    monotone_generalisation: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    examples: ClassVar = ({"size": 100}, {"size": 1000, "alpha": 0.2}, {"population": True})

    @model_validator(mode="after")
    def _one_population(self) -> KMap:
        if (self.population is None) == (self.size is None):
            raise ValueError("k-map: give either population (a table) or size (its number of people).")
        return self

    def bound(self) -> float:
        """Return the smallest allowed number of people."""
        return self.k

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """People of the population that each class could be: counted, or the largest k that is accepted."""
        if self.size is None:
            if classes.population is None:
                raise ParameterError("k-map: the classes were counted without the population table.")
            return classes.population.astype(np.float64)
        if self.size < classes.total:
            raise ParameterError(
                f"k-map: size must be at least the {classes.total} people of the table, got {self.size}."
            )
        return largest_accepted_k(classes.size, classes.total / self.size, self.alpha)

    def smallest_size_in(self, classes: ClassCounts) -> int:
        """Return the class size that is accepted as k."""
        return 1 if self.size is None else smallest_accepted_size(self.k, classes.total / self.size, self.alpha)

    def is_size_only(self) -> bool:
        """Return whether class sizes alone decide: with the size of the population only."""
        return self.size is not None


def smallest_accepted_size(k: int, fraction: float, alpha: float) -> int:
    """Return the class size that is accepted as ``k`` at a sampling fraction.

    >>> smallest_accepted_size(5, 30162 / 300_000, 0.01), smallest_accepted_size(5, 30162 / 317_000_000, 0.01)
    (5, 2)
    """
    from scipy.stats import poisson

    return int(min(k, poisson.ppf(1 - alpha, k * fraction) + 2))


def largest_accepted_k(size: NDArray[np.int64], fraction: float, alpha: float) -> NDArray[np.float64]:
    """Return the largest k as which each class size is accepted; never below the size itself.

    >>> largest_accepted_k(np.array([1, 2, 5]), 30162 / 300_000, 0.01).tolist()
    [1.0, 2.0, 8.0]
    """
    from scipy.special import gammainccinv

    # P[Poisson(m) <= f - 2] >= 1 - alpha holds up to m with gammaincc(f - 1, m) = 1 - alpha
    mean = gammainccinv(np.maximum(size - 1, 1).astype(np.float64), 1 - alpha)
    largest = np.floor(mean / fraction * (1 + 1e-12))
    return np.asarray(np.where(size > 1, np.maximum(size, largest), size), dtype=np.float64)
