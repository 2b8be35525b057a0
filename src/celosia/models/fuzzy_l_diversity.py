"""Fuzzy l-diversity: number of sensitive values in the cells of a fuzzy coding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.histogram import group
from celosia.models.bases.fuzzy_model import _FuzzyModel, record_frame
from celosia.models.l_diversity import LDiversity
from celosia.parts import Column
from celosia.table.columns import declared_persons
from celosia.views.fuzzy_cells import merge_persons

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray
    from pydantic import JsonValue

    from celosia.classes import Sensitive
    from celosia.parts import Model
    from celosia.table import Table


class FuzzyLDiversity(_FuzzyModel):
    r"""Every cell of a fuzzy coding holds at least ``l`` values of the sensitive column.

    .. math:: l(T) = \min_i |\{s: \exists x \text{ with } s,\ \mu_{Q_i}(x) \ge \tfrac12\}|

    Cells in which no record has a degree of one half are left out, and so are negligible ones (``least_degree``,
    ``least_count``). With ``variant`` the values are counted as in l-diversity, by their σ-counts in the cell:
    ``entropy`` takes :math:`\min_i \exp(-\sum_s p_s \ln p_s)` with the shares :math:`p_s` of the σ-count, ``recursive``
    the largest l with :math:`r_1 < c\,(r_l + \dots + r_m)` for the σ-counts :math:`r_1 \ge r_2 \ge \dots` of the
    values; both are the smaller of the two numbers with and without records whose value is missing, and 1 where the
    records with a degree of at least one half share their value.

    :meth:`records` gives the intruder's posterior
    belief in each record's own value,

    .. math:: \beta(q, s, T^*) = \frac{g(s)}{\sum_{s'} g(s')}, \quad
              g(s) = \frac{\sum_i \mu_{Q_i}(q) |Q_i \cap s| \cdot f(s \mid q)}{\sum_i \mu_{Q_i}(q) f(s \mid Q_i)}

    with σ-counts; ``counting="count"`` uses whole counts :math:`\#`, as published, which are not additive when
    degrees tie at one half. The intruder knows :math:`f(s \mid q)`, the shares among the records with exactly the same
    quasi-identifiers. With a declared person column persons are counted, each once per value, and a cell in which every
    person has the same value, whatever others they have, has one value. With several sensitive
    columns the value is the smallest. A missing sensitive value is no further value. It fails against skewed or
    similar values, as l-diversity does. Reference: Quirós (2013), master's thesis, University of Oviedo.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 24, 32, 36, 45, 56], "ill": ["a", "b", "a", "c", "c", "c"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
    >>> model = FuzzyLDiversity(l=2, sets={"age": {"Young": "(-inf;30;36)", "Older": "(30;36;inf)"}})
    >>> model.value(table), model.classes(table)["homogeneous"].to_list()
    (1.0, [False, True])
    """

    l: float = Field(ge=1, description="smallest allowed number of values")
    column: Column | None = Field(default=None, description="the sensitive column; all declared ones when not given")
    variant: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct", description="how values are counted"
    )
    c: float = Field(default=3.0, gt=0, description="constant of the recursive variant")
    counting: Literal["sigma", "count"] = Field(
        default="sigma", description="counts in the posterior: sums of degrees, or whole counts"
    )

    symbol: ClassVar[str] = "l"
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    examples: ClassVar = (
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "column": "o", "norm": "min"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "variant": "entropy"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "variant": "recursive", "c": 1.5},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "least_degree": 0.5, "least_count": 1.5},
    )

    def crisp(self) -> Model:
        """Return l-diversity in the same variant."""
        return LDiversity(l=self.l, column=self.column, variant=self.variant, c=self.c)

    def evidence(self, table: Table) -> Mapping[str, JsonValue]:
        """Return the number of negligible cells, where some could be."""
        return self.cell_evidence(table)

    def bound(self) -> float:
        """Return the smallest allowed number of values."""
        return self.l

    def counted_columns(self) -> tuple[str | None, ...]:
        """Return the column, or all sensitive ones."""
        return (self.column,)

    def measured_value(self, table: Table) -> float:
        """Return the smallest number of values that a cell holds; infinite without any cell."""
        diversities = [d[d > 0] for d in self._diversities(table).values()]
        return min((float(d.min()) for d in diversities if d.size), default=math.inf)

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per cell: names, σ-count, whole count, number of values, and whether it holds one value only."""
        diversities = list(self._diversities(table).values())
        least = np.minimum.reduce(diversities)
        return self.cell_frame(self.table_cells(table), l=least, homogeneous=least == 1)

    def records(self, table: Table) -> pl.DataFrame:
        """Return the posterior belief in each record's own value, by sensitive column; null when suppressed."""
        columns = table.schema.need_sensitive(self.column)
        return record_frame(
            table, {f"posterior {name}": self._posterior(table, self.table_sensitive(table, name)) for name in columns}
        )

    def _diversities(self, table: Table) -> dict[str, NDArray[np.float64]]:
        """Return for each sensitive column the diversity of each cell, groups × fuzzy cells; 0 where none is judged."""
        distinct = self._distinct(table)
        if self.variant == "distinct":
            return {column: values.astype(np.float64) for column, values in distinct.items()}
        cells, of_all = self.table_cells(table), declared_persons(table)
        persons = None if of_all is None else of_all[table.classes.members].astype(np.int64)
        result = {}
        for column, values in distinct.items():
            sensitive = self.table_sensitive(table, column)
            diversity = np.zeros(values.shape)
            for place, rows, mu in cells.blocks():
                local = sensitive.codes[rows].astype(np.int64)
                own = None if persons is None else persons[rows]
                for filled in {False, sensitive.missing_code is not None}:  # with missing values, and without
                    some = local != sensitive.missing_code if filled else np.ones(len(local), np.bool_)
                    own_some = None if own is None else own[some]
                    block_diversity = self._weighted(mu[some], local[some], own_some, sensitive.width)
                    block_diversity = np.where(values[place] > 0, np.maximum(block_diversity, 1.0), 0.0)
                    diversity[place] = np.minimum(diversity[place], block_diversity) if filled else block_diversity
            # a value that every person of a cell has discloses it, whatever others they have
            result[column] = np.where(values == 1, 1.0, diversity)
        return result

    def _weighted(
        self, mu: NDArray[np.float64], codes: NDArray[np.int64], persons: NDArray[np.int64] | None, width: int
    ) -> NDArray[np.float64]:
        """Return the diversity of each fuzzy cell by the σ-counts of its values; a person counts once per value."""
        from celosia.kernels.fuzzy.diversity import cell_counts, entropy_diversity, recursive_diversity

        degrees, kept = merge_persons(mu, None if persons is None else persons * width + codes)
        counts = cell_counts(degrees, codes[kept], width)
        size = merge_persons(mu, persons)[0].sum(axis=0)
        if self.variant == "entropy":
            return entropy_diversity(counts, None if persons is None else size)
        return recursive_diversity(counts, self.c, None if persons is None else size)

    def _distinct(self, table: Table) -> dict[str, NDArray[np.int64]]:
        """Return for each sensitive column the number of values per cell, groups × fuzzy cells."""
        from celosia.kernels.fuzzy.sets import TOLERANCE

        cells, of_all = self.table_cells(table), declared_persons(table)
        persons = None if of_all is None else of_all[table.classes.members].astype(np.int64)
        result = {}
        for column in table.schema.need_sensitive(self.column):
            sensitive = self.table_sensitive(table, column)
            codes, filled = sensitive.codes, sensitive.codes != sensitive.missing_code
            values = np.zeros((len(cells.group_names), cells.degrees.shape[1]), dtype=np.int64)
            for f in range(cells.degrees.shape[1]):
                inside = cells.degrees[:, f] >= 0.5 - TOLERANCE
                values[cells.group[inside], f] = 1
                present = cells.group[inside & filled]
                if len(present):
                    first, _ = group([present, codes[inside & filled]])
                    values[:, f] = np.maximum(values[:, f], np.bincount(present[first], minlength=len(values)))
                    if persons is not None:
                        values[_uniform_cells(present, codes[inside & filled], persons[inside & filled]), f] = 1
            result[column] = values
        return result

    def _posterior(self, table: Table, sensitive: Sensitive) -> NDArray[np.float64]:
        from celosia.kernels.fuzzy.cardinality import count
        from celosia.kernels.fuzzy.diversity import cell_counts, own_posterior

        cells, alike = self.table_cells(table), self.table_alike(table)
        of_all = declared_persons(table)
        persons = None if of_all is None else of_all[table.classes.members].astype(np.int64)
        result = np.full(len(cells.group), np.nan)
        for _, rows, mu in cells.blocks():
            values, local = np.unique(sensitive.codes[rows], return_inverse=True)
            own = None if persons is None else persons[rows]
            # a person counts once per cell and value, with the highest degree, and once among those who look the same
            degrees, stands = merge_persons(mu, None if own is None else own * len(values) + local)
            counts = cell_counts(degrees, local[stands], len(values), self.counting)
            totals = count(merge_persons(mu, own)[0]).astype(float) if self.counting == "count" else None
            apart = None if own is None else group([alike[rows], own, local])[0]
            result[rows] = own_posterior(mu, alike[rows], local, counts, totals, apart)
        return result


def _uniform_cells(cell: NDArray[np.int64], value: NDArray[np.int32], person: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cells in which all persons have the same value."""
    first = group([cell, person])[0]
    size = np.bincount(cell[first])
    first = group([cell, value, person])[0]
    of_value, place = group([cell[first], value[first]])
    return np.asarray(cell[first][of_value][np.bincount(place) == size[cell[first][of_value]]])
