"""Domain loss: the share of its domain that a value covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import Coverage, column_counts, coverages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.search.lattice.objective import Additive, ColumnObjective, LevelMaps
    from celosia.table import Table


SHIFT = 0.3
r"""Shift of ``balanced``, which softens the loss of a whole column. With 0 one lost column is a total loss; with 0.3 it
costs as much as three columns that are half lost (:math:`\log \frac{1.3}{0.3} = 3 \log \frac{1.3}{0.8}`); at infinity
it costs no more than its share, as in the arithmetic mean."""


class DomainLoss(SearchObjective, Loss):
    r"""The mean share of its column's domain that a cell covers, scaled to [0, 1] and combined over the columns.

    .. math:: x_j = \frac1n \sum_i \frac{|\text{values under } \tilde x_{ij}|}{D_j}, \qquad
              v_j = \frac{x_j - 1/D_j}{1 - 1/D_j}, \qquad
              \text{geometric: } \prod_j (1 + v_j)^{1/m} - 1

    A suppressed record covers everything. :math:`D_j` counts all rows of the hierarchy, also those for values that
    do not occur. ``gs`` shifts the weight: below 0.5 suppression costs less (the share that a suppressed record
    would cover at the level of the others, and a part of the rest), above it generalisation does.
    ``rank`` compares the sorted columns, largest first; its value is the largest. One minus the arithmetic form is
    ARX's granularity.

    The geometric form (ARX's *Loss*) counts the first steps of a column most: given the choice, it gives one column up
    to keep others as they are. ``balanced`` is its mirror image, the geometric mean of what is *left* of each column,

    .. math:: \text{balanced: } 1.3 - \prod_j (1.3 - v_j)^{w_j / \sum w},

    in which the last steps cost most: it takes a little of every column before it takes all of one.

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 1, 2, 3]}), schema)
    >>> safe = celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1)
    >>> round(DomainLoss().value(table, safe), 4)
    0.3333
    """

    memory: ClassVar[Memory] = "none"
    aggregate: Literal["geometric", "arithmetic", "max", "sum", "rank", "balanced"] = Field(
        default="geometric", description="way to combine the columns"
    )
    gs: float = Field(
        default=0.5, ge=0, le=1, description="0: only generalisation costs, 1: only suppression, 0.5: both"
    )
    weights: dict[str, float] = Field(default_factory=dict, description="importance of columns; 1 when not given")
    examples: ClassVar = (
        {},
        {"aggregate": "arithmetic"},
        {"aggregate": "max"},
        {"aggregate": "sum"},
        {"aggregate": "rank"},
        {"aggregate": "balanced"},
    )

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether the loss is a share: a sum, or weights above one, leave [0, 1]."""
        return self.aggregate != "sum" and all(weight <= 1 for weight in self.weights.values())

    def value(self, original: Table, protected: Table) -> float:
        """Return the combined loss."""
        covers = coverages(original, protected)
        v = np.array([self._column(original, cover) for cover in covers])
        combined = self.combine(v, np.array([self.weights.get(cover.name, 1.0) for cover in covers]))
        return float(combined[0] if self.aggregate == "rank" else combined)

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the loss of each column."""
        return {cover.name: self._column(original, cover) for cover in coverages(original, protected)}

    def combine(self, losses: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Combine the losses of the columns, which lie along the last axis."""
        if self.aggregate == "balanced":
            return _balanced_loss(_balanced_terms(weight)[0](losses).sum(axis=-1))
        v = losses * weight
        if self.aggregate == "geometric":
            return np.asarray(np.prod(1 + v, axis=-1) ** (1 / v.shape[-1]) - 1, dtype=np.float64)
        if self.aggregate == "rank":
            return -np.sort(-v, axis=-1)
        ways = {"arithmetic": np.mean, "max": np.max, "sum": np.sum}
        return np.asarray(ways[self.aggregate](v, axis=-1), dtype=np.float64)  # type: ignore[operator]

    def _additive(self, weight: NDArray[np.float64]) -> Additive | None:
        """Return the combination as a function of a sum over columns; None where it is not one."""
        m = len(weight)
        ways: dict[str, Additive] = {
            "geometric": (lambda v: np.log1p(v * weight), lambda total: float(np.expm1(total / m))),
            "balanced": _balanced_terms(weight),
            "arithmetic": (lambda v: v * weight / m, float),
            "sum": (lambda v: v * weight, float),
        }
        return ways.get(self.aggregate)

    def objective(self, domain: LevelMaps) -> ColumnObjective:
        """Return the objective of a search."""
        from celosia.search.lattice.objective import ColumnObjective

        g, s = _factors(self.gs)
        balanced = self.aggregate == "balanced"
        weight = np.array([self.weights.get(name, 1.0) for name in domain.names])
        weight = weight * domain.importance if balanced else weight
        base, extra, kept_loss = [], [], []
        for j in range(len(domain)):
            low, scale = _scale(g, domain.size(j))
            shares = [domain.share(j, level) for level in range(domain.height(j) + 1)]
            sums = [
                g * float(share @ domain.frequency(j, at)) + s * domain.suppressed_before
                for at, share in enumerate(shares)
            ]
            base.append(np.array([max(0.0, (x / max(1, domain.n) - low) / scale) for x in sums]))
            extra.append(tuple((share + s * (1 - share) - g * share) / scale / max(1, domain.n) for share in shares))
            kept_loss.append(tuple(shares))
        return ColumnObjective(
            tuple(base),
            lambda v: self.combine(v, weight),
            tuple(extra),
            digits=10,
            ranked=self.aggregate == "rank",
            kept_loss=tuple(kept_loss),
            additive=self._additive(weight),
            weighted=balanced,
        )

    def _column(self, original: Table, cover: Coverage) -> float:
        g, s = _factors(self.gs)
        low, scale = _scale(g, cover.domain)
        # with s < 1 a suppressed record costs the share of its generalised value and the part s of the rest
        covered = _suppressed_share(original, cover) if s < 1 and cover.suppressed else 1.0
        mean = cover.mean(g * cover.share, suppressed=covered + s * (1 - covered))
        return float(np.round(max(0.0, (mean - low) / scale), 10))


def _balanced_terms(weight: NDArray[np.float64]) -> Additive:
    """Return the map from column losses to additive terms, and the map from their sum to the combined loss."""
    share = weight / (weight.sum() or 1.0)

    def to_terms(v: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-share * np.log1p(-np.minimum(v, 1.0) / (1 + SHIFT)), dtype=np.float64)

    return to_terms, lambda total: float(_balanced_loss(total))


def _balanced_loss(total: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the combined loss of sums of additive terms."""
    return np.asarray(-(1 + SHIFT) * np.expm1(-np.asarray(total)), dtype=np.float64)


def _suppressed_share(original: Table, cover: Coverage) -> float:
    """Return the mean share of suppressed records at the level of the others; that of the others if levels differ."""
    _, counts = column_counts(original, cover.name)
    kept = float(cover.records @ cover.share)
    for level in range(cover.levels.height + 1):
        if set(cover.cells) <= set(cover.levels.categories(level)):
            return (float(counts @ cover.levels.shares(level)) - kept) / cover.suppressed
    return kept / max(1, int(cover.records.sum()))


def _factors(gs: float) -> tuple[float, float]:
    """Return the weights of generalisation and of suppression."""
    return (1.0 if gs <= 0.5 else 1 - 2 * (gs - 0.5)), (2 * gs if gs < 0.5 else 1.0)


def _scale(g: float, size: int) -> tuple[float, float]:
    """Return the loss of an unchanged column, and the range of losses above it."""
    low = g / max(1, size)
    return low, (1.0 if low == 1 else 1 - low)
