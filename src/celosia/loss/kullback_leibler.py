"""Kullback–Leibler divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from celosia.catalogue import Loss
from celosia.views.coverage import class_cells, log_areas, lost_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.search.classes import ClassCounts, Verdict
    from celosia.search.objective import ClassObjective, Domain
    from celosia.table import Table


class KullbackLeibler(Loss):
    r"""How far the joint distribution of the quasi-identifiers moves when each class is spread over its cells.

    .. math:: \sum_x p(x) \log_2 \frac{p(x)}{q(x)}, \qquad
              q(x) = \frac{|E|}{n \cdot \mathrm{area}(E)} \text{ for } x \in E

    in bits; the area of a class is the number of combinations of domain values that its cells cover, and the
    suppressed records are one class over the whole domain. Needs records that stay in their class's cells: after
    noise or swapping it has no meaning. ARX sums over records instead of combinations. References: Kifer & Gehrke
    (2006).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 0, 0, 1]}), schema)
    >>> safe = celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1)
    >>> round(KullbackLeibler().value(table, safe), 4)
    0.1887
    """

    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """The divergence in bits."""
        found = self.parts(original, protected)
        return max(0.0, round(float(found["cross"] - found["entropy"]), 12))

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """Entropy of the original combinations, and the bits that the protected table spends on them."""
        from celosia.engines.engine import ROWS

        n = max(1, len(original))
        counts = class_cells(original)[ROWS].to_numpy()
        bits, records, largest = log_areas(original, protected)
        cross = float(records @ (bits - np.log2(records / n)) / n) if len(records) else 0.0
        lost = lost_records(original, protected)
        if lost:
            cross += lost / n * (largest - np.log2(lost / n))
        return {"entropy": float(-(counts / n) @ np.log2(counts / n)), "cross": cross}

    def objective(self, domain: Domain) -> ClassObjective:
        """What a search minimises: the bits spent, since the entropy of the original is the same for all candidates."""
        from celosia.search.objective import ClassObjective, ColumnObjective, once

        n = max(1, domain.n)
        bits = [
            [_log2(domain.share(j, at) * domain.size(j)) for at in range(domain.height(j) + 1)]
            for j in range(len(domain))
        ]
        largest = float(sum(np.log2(domain.size(j)) for j in range(len(domain))))
        base = tuple(
            np.array([float(domain.frequency(j, at) @ bits[j][at]) / n for at in range(domain.height(j) + 1)])
            for j in range(len(domain))
        )

        @once
        def held(classes: ClassCounts) -> NDArray[np.float64]:
            assert classes.codes is not None and classes.levels is not None  # noqa: PT018
            total = np.zeros(len(classes))
            for j, level in enumerate(classes.levels):
                total += bits[j][level][classes.codes[:, j]]
            return total

        @once
        def rarity(classes: ClassCounts) -> NDArray[np.float64]:
            return np.asarray(np.log2(n) - np.log2(classes.size), dtype=np.float64)

        @once
        def spent(classes: ClassCounts) -> NDArray[np.float64]:
            return np.asarray(classes.size * (held(classes) + rarity(classes)) / n, dtype=np.float64)

        def score(classes: ClassCounts, kept: Verdict) -> float:
            inside = float(spent(classes)[kept].sum())
            lost = int(classes.size[~kept].sum()) / n
            return inside + (lost * (largest - float(np.log2(lost))) if lost else 0.0)

        def floor(classes: ClassCounts) -> float:
            return float(spent(classes).sum())

        def gap(classes: ClassCounts, certain: Verdict) -> float:
            room = largest - held(classes)
            return float(classes.size @ np.where(certain, room, np.minimum(rarity(classes), room)) / n)

        columns = ColumnObjective(base, lambda x: np.asarray(x.sum(axis=-1) - 1e-9, dtype=np.float64))
        return ClassObjective(score, floor=floor, columns=columns, gap=gap, gap_adds=False)


def _log2(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log2(x, where=x > 0, out=np.zeros_like(x))
