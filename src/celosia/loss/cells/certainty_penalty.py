"""Certainty penalty: NCP and GCP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.data.schema import Kind
from celosia.hierarchy.match import matches
from celosia.hierarchy.values import Exact, Interval, number, parse
from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import Coverage, coverages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.hierarchy import Hierarchy
    from celosia.search.lattice.objective import ColumnObjective, LevelMaps
    from celosia.table import Table


class CertaintyPenalty(SearchObjective, Loss):
    r"""The share of its column's range that a cell covers, averaged over records and columns (GCP).

    .. math:: \mathrm{NCP} = \frac{\max - \min \text{ of the cell}}{\max - \min \text{ of the column}}
              \text{ (numbers)}, \qquad
              \mathrm{NCP} = \frac{\mathrm{card}(u)}{|A|},\; 0 \text{ if } \mathrm{card}(u) = 1
              \text{ (categories)}, \qquad
              \mathrm{GCP} = \frac{1}{n d} \sum_i \sum_j w_j \mathrm{NCP}_{ij}

    with *u* the node of the hierarchy of the cell and card(*u*) the leaves below it. A suppressed cell
    costs 1. The range of a column is that of its hierarchy or its declared bounds, else of the original values.
    ``normalisation="once"`` (default) takes the weights relative to their mean, so that the largest value is 1;
    ``"twice"`` takes weights that sum to 1 and still divides by *d*, as some publications print, so that it is
    1/d. It can be the objective of ``generalise``. References: Xu et al. (2006); Ghinita et al. (2009).

    >>> import polars as pl, celosia
    >>> marital = {"not married": ["separated", "single", "divorced"], "married": []}
    >>> schema = celosia.Schema.of(quasi=["marital"], hierarchies={"marital": marital})
    >>> table = celosia.read(pl.DataFrame({"marital": ["single", "married"]}), schema)
    >>> safe = celosia.protect(table, celosia.methods.Recode(column="marital", level=1), seed=1)
    >>> CertaintyPenalty().value(table, safe)
    0.375
    """

    memory: ClassVar[Memory] = "none"
    weights: dict[str, float] = Field(default_factory=dict, description="importance of columns; 1 when not given")
    normalisation: Literal["once", "twice"] = Field(default="once", description="whether d divides once or twice")

    def value(self, original: Table, protected: Table) -> float:
        """Return the global certainty penalty."""
        parts = self.parts(original, protected)
        weight = np.array([self.weights.get(name, 1.0) for name in parts])
        weight = weight / weight.sum()
        total = float(weight @ np.array(list(parts.values())))
        return total / len(parts) if self.normalisation == "twice" else total

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the mean penalty of each column."""
        return {c.name: c.mean(penalties(original, c)) for c in coverages(original, protected)}

    def objective(self, domain: LevelMaps) -> ColumnObjective | None:
        """Return the objective of a search."""
        from celosia.search.lattice.objective import per_cell

        table, hierarchies = domain.table, domain.hierarchies
        if table is None or hierarchies is None:
            return None

        def cell(j: int, level: int) -> NDArray[np.float64]:
            labels, levels = domain.labels(j, level), hierarchies[j]
            share = np.array([levels.share_of(label) for label in labels], dtype=np.float64)
            frequency = domain.frequency(j, level)
            return penalties(table, Coverage(domain.names[j], labels, frequency, share, levels, 0, domain.n))

        weight = np.array([self.weights.get(name, 1.0) for name in domain.names])
        weight = weight / weight.sum() / (len(domain) if self.normalisation == "twice" else 1)
        return per_cell(domain, cell, lambda x, axis: np.asarray(x @ weight), additive=(lambda x: x * weight, float))  # noqa: ARG005


def penalties(original: Table, cover: Coverage) -> NDArray[np.float64]:
    """Return the penalty of each cell of one column."""
    column, hierarchy = original.schema[cover.name], original.schema.hierarchy(cover.name)
    values = [value for value in cover.levels.domain if value is not None]
    numbers = np.array([np.nan if (x := number(value)) is None else x for value in values])
    if column.kind == Kind.NUMERIC and len(numbers) and not np.isnan(numbers).any():
        ends = column.bounds or (float(numbers.min()), float(numbers.max()))
        return np.array([_span(cell, cover, numbers, ends, hierarchy) for cell in cover.cells])
    order = {name: at for at, name in enumerate(column.order)}
    if order and all(value in order for value in values):
        ranks = np.array([order[value] for value in values], dtype=np.float64)
        return np.array([_span(cell, cover, ranks, (0.0, len(order) - 1.0), hierarchy) for cell in cover.cells])
    leaves = np.round(cover.share * cover.domain)
    return np.where(leaves <= 1, 0.0, cover.share)


def _span(
    cell: str | None,
    cover: Coverage,
    numbers: NDArray[np.float64],
    ends: tuple[float, float],
    hierarchy: Hierarchy | None,
) -> float:
    """Extent of a cell within the range of its column."""
    low, high = ends
    if cell is None or high <= low:
        return 0.0
    parsed = parse(cell)
    if isinstance(parsed, Interval) and not parsed.textual:
        start, stop = max(float(parsed.low), low), min(float(parsed.high), high)
        return max(0.0, stop - start) / (high - low)
    if cover.levels.level_of(cell) == 0 and isinstance(parsed, Exact):
        return 0.0
    values = [value for value in cover.levels.domain if value is not None]
    inside = numbers[matches([cell], values, hierarchy)[0]]
    if math.isinf(parsed.width) or not len(inside):
        return 1.0 if math.isinf(parsed.width) else 0.0
    return float(inside.max() - inside.min()) / (high - low)
