"""Non-uniform entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import Coverage, column_counts, coverages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.search.lattice.objective import ColumnObjective, LevelMaps
    from celosia.table import Table


class NonUniformEntropy(SearchObjective, Loss):
    r"""The bits that are missing to determine the original value from the cell, by the frequencies of the values.

    .. math:: -\sum_j \sum_i \log_2 \frac{f(x_{ij})}{f(\tilde x_{ij})}

    with :math:`f(\tilde x)` the original records whose value lies in the cell; for a suppressed record it is all
    of them. By default the bits of each column are a share of what they would be if every record were suppressed,
    and the columns are averaged; ``normalised=False`` gives bits. ``as_arx=True`` charges a suppressed record as ARX
    does: the bits of its generalised cell, and those that distinguish it from the other suppressed ones.
    References: Gionis & Tassa (2009).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 1, 2, 3]}), schema)
    >>> safe = celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1)
    >>> NonUniformEntropy().value(table, safe), NonUniformEntropy(normalised=False).value(table, safe)
    (0.5, 4.0)
    """

    memory: ClassVar[Memory] = "none"
    normalised: bool = Field(default=True, description="a share of the largest loss, averaged over columns; else bits")
    as_arx: bool = Field(default=False, description="charge suppressed records as ARX does")
    examples: ClassVar = ({}, {"normalised": False})

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether the loss is a share: bits have no upper bound."""
        return self.normalised

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean share over the columns, or the sum of bits."""
        by_column = list(self.parts(original, protected).values())
        return float(np.mean(by_column) if self.normalised else np.sum(by_column))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the share or the bits of each column."""
        return {cover.name: self._column(original, cover) for cover in coverages(original, protected)}

    def _column(self, original: Table, cover: Coverage) -> float:
        values, counts = column_counts(original, cover.name)
        n = max(1, int(counts.sum()))
        certain = float(counts @ np.log2(counts)) if len(counts) else 0.0
        if self.as_arx and cover.suppressed:
            bits = _arx_bits(cover, counts) - certain
        else:
            inside = _original_records(cover, values, counts)
            bits = float(cover.records @ np.log2(np.maximum(inside, 1)) + cover.suppressed * np.log2(n)) - certain
        if not self.normalised:
            return max(0.0, bits)
        largest = float(n * np.log2(n)) - certain
        return min(1.0, max(0.0, bits / largest)) if largest > 0 else 0.0

    def objective(self, domain: LevelMaps) -> ColumnObjective:
        """Return the objective of a search; a suppressed record could be any record, whatever its cell."""
        from celosia.search.lattice.objective import ColumnObjective

        base, spread, extra = [], [], []
        for j in range(len(domain)):
            a = domain.counts[j].astype(np.float64)
            present = a > 0
            certain = float((a[present] * np.log2(a[present])).sum())
            largest = domain.searched * np.log2(max(1, domain.searched)) - certain
            before = 0.0 if self.as_arx else domain.suppressed_before * np.log2(max(1, domain.searched))
            scale = 1.0 if not self.normalised else 1 / (largest * len(domain)) if largest > 0 else 0.0
            bits, more = [], []
            for level in range(domain.height(j) + 1):
                frequency = np.maximum(domain.frequency(j, level), 1)
                inside = frequency[domain.maps[j][level]]
                bits.append(float((a[present] * np.log2(inside[present])).sum()) - certain + before)
                more.append(np.log2(max(1, domain.searched) / frequency) * scale)
            base.append(np.array(bits) * scale)
            spread.append(scale)
            extra.append(tuple(more))

        def total(x: NDArray[np.float64]) -> NDArray[np.float64]:
            share = np.minimum(x, 1 / len(domain)) if self.normalised else x
            return np.asarray(share.sum(axis=-1), dtype=np.float64)

        if self.as_arx:
            return ColumnObjective(tuple(base), total, spread=np.array(spread))
        return ColumnObjective(tuple(base), total, tuple(extra))


def _arx_bits(cover: Coverage, counts: NDArray[np.int64]) -> float:
    """Return the bits of all records at the level of the cells, and those that separate the suppressed ones there."""
    for level in range(cover.levels.height + 1):
        labels = cover.levels.categories(level)
        if set(cover.cells) <= set(labels):
            records = np.bincount(cover.levels.codes(level), weights=counts, minlength=len(labels))
            kept = np.zeros(len(labels))
            kept[[labels.index(cell) for cell in cover.cells]] = cover.records
            lost = records - kept
            some = lost > 0
            apart = lost[some] @ np.log2(lost.sum() / lost[some])
            return float(records @ np.log2(np.maximum(records, 1)) + apart)
    raise NotApplicable("non-uniform-entropy: as_arx needs all cells of a column at one level of its hierarchy.")


def _original_records(cover: Coverage, values: list[str | None], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each cell the number of original records whose value lies in it."""
    from celosia.hierarchy.match import matches

    by_label: dict[str | None, float] = {}
    for level in range(cover.levels.height + 1):
        sums = np.bincount(cover.levels.codes(level), weights=counts, minlength=len(cover.levels.categories(level)))
        for label, records in zip(cover.levels.categories(level), sums, strict=True):
            by_label[label] = max(by_label.get(label, 0.0), float(records))
    unlisted = [cell for cell in cover.cells if cell not in by_label]
    if unlisted:
        covered = matches(unlisted, values) @ counts
        by_label |= dict(zip(unlisted, covered.astype(np.float64).tolist(), strict=True))
    return np.array([by_label[cell] for cell in cover.cells], dtype=np.float64)
