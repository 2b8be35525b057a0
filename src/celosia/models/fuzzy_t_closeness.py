"""Fuzzy t-closeness: distance of the mixture of cells of an individual from the whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError, SchemaError
from celosia.models.bases.fuzzy_model import _FuzzyModel, record_frame
from celosia.models.t_closeness import TCloseness, distance_by_kind
from celosia.parts import BoundsBestClass, Column, ComparesWithInput
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


class FuzzyTCloseness(ComparesWithInput, BoundsBestClass, _FuzzyModel):
    r"""The distribution of the sensitive column that the cells imply for any individual is near that of the table.

    .. math:: t(T) = \max_x D[P_x, Q], \qquad P_x = \sum_i \mu_{Q_i}(x) P_i

    where :math:`P_i` is the distribution of the column in cell i and ``Q`` that in the input table. Distances as in
    t-closeness: ``equal``, ``ordered``, ``hierarchical``, ``value``; with ``auto`` numbers are ordered and the values
    of other columns equally far from each other, as in the source. Negligible cells do not count: the degrees of a
    record in the others are divided by their sum, and the evidence counts the records that are in no other cell. Cells
    count by σ-counts; ``counting="count"`` uses whole counts, as published. Where persons have several values the
    distance is at least the largest difference of the shares of persons who have a known value, as in t-closeness.
    ``aggregate="min"`` reports the smallest distance over the individuals, as the source does: it describes the best
    protected individual and bounds nothing. Reference: Quirós (2013), master's thesis, University of Oviedo.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [29, 22, 27, 43, 52, 47, 30, 36, 32], "pay": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["pay"]))
    >>> sets = {"age": {"low": "(-inf;25;30)", "medium": "(25;30;35;40)", "high": "(35;40;inf)"}}
    >>> published = FuzzyTCloseness(t=0.35, sets=sets, distance="ordered", counting="count")
    >>> published.value(table) == round(49 / 144, 12), published.holds(table)
    (True, True)
    """

    t: float = Field(ge=0, description="largest allowed distance")
    column: Column | None = Field(default=None, description="the sensitive column; all declared ones when not given")
    distance: Literal["auto", "equal", "ordered", "hierarchical", "value"] = Field(
        default="auto", description="how far values are from each other; auto: ordered for numbers, equal for others"
    )
    aggregate: Literal["max", "min"] = Field(
        default="max", description="the individual that decides: the worst, or the best"
    )
    counting: Literal["sigma", "count"] = Field(
        default="sigma", description="how records are counted in a cell: sums of degrees, or whole counts"
    )

    symbol: ClassVar[str] = "t"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    examples: ClassVar = (
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "column": "o", "distance": "ordered"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "column": "s", "distance": "hierarchical"},
        {
            "sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}},
            "column": "v",
            "distance": "value",
            "aggregate": "min",
        },
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "least_degree": 0.5, "least_count": 1.5},
    )

    @model_validator(mode="after")
    def _mixture(self) -> FuzzyTCloseness:
        if self.norm == "min":
            raise ParameterError(
                "fuzzy-t-closeness: norm must be 'product', got 'min': with the minimum the degrees of a record do not "
                "sum to 1 and its mixture is no distribution."
            )
        return self

    def crisp(self) -> Model:
        """Return t-closeness with the same distance, for one column."""
        return TCloseness(t=self.t, column=self.column, distance=self.distance)

    def evidence(self, table: Table) -> Mapping[str, JsonValue]:
        """Return the distance used for each sensitive column, where none was given, and the negligible cells."""
        columns = table.schema.need_sensitive(self.column) if self.distance == "auto" else ()
        chosen = {name: self._distance_of(self.table_sensitive(table, name)) for name in columns}
        return {**({"distance": {**chosen}} if chosen else {}), **self.cell_evidence(table)}

    def _distance_of(self, sensitive: Sensitive) -> str:
        return distance_by_kind(sensitive.numbers) if self.distance == "auto" else self.distance

    def protects(self) -> bool:
        """Return whether every class is bounded: the smallest distance does not bound the others."""
        return self.aggregate == "max"

    def bound(self) -> float:
        """Return the largest allowed distance."""
        return self.t

    def counted_columns(self) -> tuple[str | None, ...]:
        """Return the column, or all sensitive ones."""
        return (self.column,)

    def measured_value(self, table: Table) -> float:
        """Return the largest (or smallest) distance of an individual, the worst over the columns; 0 without records."""
        pick = np.max if self.aggregate == "max" else np.min
        distances = [self._distances(table, column) for column in table.schema.need_sensitive(self.column)]
        judged = [each[~np.isnan(each)] for each in distances]
        return max((float(pick(each)) for each in judged if each.size), default=0.0)

    def records(self, table: Table) -> pl.DataFrame:
        """Return the distance of each record, one column per sensitive column; null when suppressed."""
        columns = table.schema.need_sensitive(self.column)
        return record_frame(table, {f"t {name}": self._distances(table, name) for name in columns})

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per cell: its names, σ-count, whole count, and the distance of its own distribution."""
        cells = self.table_cells(table)
        worst = np.zeros((len(cells.group_names), cells.degrees.shape[1]))
        for column in table.schema.need_sensitive(self.column):
            sensitive = self.table_sensitive(table, column)
            for number, rows, mu in cells.blocks():
                own = self._block_distances(table, mu, sensitive, rows, np.eye(mu.shape[1]))
                worst[number] = np.maximum(worst[number], own)
        return self.cell_frame(cells, t=np.round(worst, 12))

    def _distances(self, table: Table, column: str) -> NDArray[np.float64]:
        cells, sensitive = self.table_cells(table), self.table_sensitive(table, column)
        result = np.zeros(len(cells.group))
        for _, rows, mu in cells.blocks():
            result[rows] = self._block_distances(table, mu, sensitive, rows, self._shares_of_cells(mu))
        return np.round(result, 12)  # 3/8 must be at most 0.375 whatever the last bit

    def _shares_of_cells(self, mu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the degrees of each record divided by their sum, where cells are left out; NaN for one in no cell."""
        if not self.least_degree and not self.least_count:
            return mu
        total = mu.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(mu, total, out=np.full_like(mu, np.nan), where=total > 0))

    def _block_distances(
        self,
        table: Table,
        mu: NDArray[np.float64],
        sensitive: Sensitive,
        rows: NDArray[np.int64],
        individuals: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the distance of individuals, given by their degrees in the cells that the rows make.

        A person counts once per cell and value, with the highest degree.
        """
        from celosia.kernels.fuzzy.cardinality import count
        from celosia.kernels.fuzzy.closeness import individual_distances, person_distances
        from celosia.kernels.fuzzy.diversity import cell_counts, shares

        codes, of_all = sensitive.codes[rows].astype(np.int64), declared_persons(table)
        if of_all is None:
            gaps = shares(cell_counts(mu, codes, sensitive.width, self.counting)) - sensitive.share()
            return individual_distances(individuals, self._distance_map(gaps, sensitive))
        persons = of_all[table.classes.members][rows].astype(np.int64)
        degrees, kept = merge_persons(mu, persons * sensitive.width + codes)
        counts = cell_counts(degrees, codes[kept], sensitive.width, self.counting)
        pairs = individual_distances(individuals, self._distance_map(shares(counts) - sensitive.share(), sensitive))
        whole = merge_persons(mu, persons)[0]
        totals = whole.sum(axis=0) if self.counting == "sigma" else count(whole).astype(float)
        prior = sensitive.share() if sensitive.prevalence is None else sensitive.prevalence
        non_missing = np.arange(sensitive.width) != sensitive.missing_code
        return np.maximum(pairs, person_distances(individuals, shares(counts, totals), prior, non_missing))

    def _distance_map(self, gaps: NDArray[np.float64], sensitive: Sensitive) -> NDArray[np.float64]:
        """Return the map of each cell's difference to the input table; see :mod:`celosia.kernels.fuzzy.closeness`."""
        from celosia.kernels.fuzzy.closeness import equal_map, ordered_map, stepped_map, tree_map

        distance = self._distance_of(sensitive)
        if distance == "equal":
            return equal_map(gaps)
        if distance == "ordered":
            return ordered_map(gaps)
        if distance == "value":
            return stepped_map(gaps, _steps(sensitive))
        if sensitive.ancestors is None:
            raise SchemaError("fuzzy-t-closeness: distance 'hierarchical' needs a hierarchy of the sensitive column.")
        return tree_map(gaps, sensitive.ancestors.T.astype(np.int64))


def _steps(sensitive: Sensitive) -> NDArray[np.float64]:
    """Step from each value to the next as a share of the range."""
    from celosia.kernels.statistics.closeness import value_gaps

    if sensitive.numbers is None:
        raise SchemaError("fuzzy-t-closeness: distance 'value' needs a numeric column; use 'ordered' or 'equal'.")
    return value_gaps(sensitive.numbers)
