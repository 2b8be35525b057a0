"""Distance of contingency tables."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, ClassVar, TypedDict

import numpy as np
from pydantic import Field

from celosia.kernels.statistics.distribution_distance import counts, total_variation
from celosia.parts import Columns, Loss
from celosia.views.comparing.categories import Categories, categories

if TYPE_CHECKING:
    from celosia.table import Table


class TableDistances(TypedDict):
    """Distances of the tables of one order."""

    mean: float
    largest: float
    of: tuple[str, ...]
    """Columns of the table with the largest distance."""


class Contingency(Loss):
    r"""The share of records in the wrong cell of contingency tables.

    .. math:: \frac{1}{m} \sum_{o=1}^{m} \binom{p}{o}^{-1} \sum_{|S| = o} \tfrac12 \sum_c |p_S(c) - \tilde p_S(c)|

    over all one-way, two-way … tables of up to ``order`` columns; each distance is the share of records that would
    have to change cells. Numbers with more than ``bins`` values fall into bins with equal counts in the original;
    missing values and generalised ones are categories of their own. Records need not be paired. The number of tables
    grows like the number of columns to the power of the order: name columns when there are many.
    References: Gomatam & Karr (2003).

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"x": ["u", "u", "v", "v"], "y": ["s", "t", "s", "t"]}))
    >>> b = celosia.read(pl.DataFrame({"x": ["u", "u", "v", "v"], "y": ["s", "s", "t", "t"]}))
    >>> Contingency(order=2).value(a, b)
    0.25
    """

    columns: Columns = Field(default=(), description="columns of any kind; all shared ones when empty")
    order: int = Field(default=3, ge=1, le=3, description="largest number of columns in a table")
    bins: int = Field(default=10, ge=2, description="bins of a numeric column")
    examples: ClassVar = ({}, {"order": 1})

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean over the orders."""
        coded = categories(original, protected, self.columns, self.bins)
        orders = range(1, min(self.order, len(coded.names)) + 1)
        return float(np.mean([np.mean(list(self._tables(coded, o).values())) for o in orders]))

    def parts(self, original: Table, protected: Table) -> dict[str, TableDistances]:
        """Return for each order the mean distance, the largest, and the columns of the worst table."""
        coded = categories(original, protected, self.columns, self.bins)
        out: dict[str, TableDistances] = {}
        for o in range(1, min(self.order, len(coded.names)) + 1):
            tables = self._tables(coded, o)
            worst = max(tables, key=lambda names: tables[names])
            out[f"{o}-way"] = {"mean": float(np.mean(list(tables.values()))), "largest": tables[worst], "of": worst}
        return out

    def _tables(self, coded: Categories, order: int) -> dict[tuple[str, ...], float]:
        distances = {}
        for chosen in itertools.combinations(range(len(coded.names)), order):
            a, b, size = coded.original[:, chosen[0]], coded.protected[:, chosen[0]], coded.sizes[chosen[0]]
            for j in chosen[1:]:
                a, b = a * coded.sizes[j] + coded.original[:, j], b * coded.sizes[j] + coded.protected[:, j]
                size *= coded.sizes[j]
            distances[tuple(coded.names[j] for j in chosen)] = total_variation(*counts(a, b, size))
        return distances
