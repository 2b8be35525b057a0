"""Kullback–Leibler divergence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import class_cells, log_areas, lost_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts, Verdict
    from celosia.search.lattice.objective import ClassObjective, LevelMaps
    from celosia.table import Table


LOGS = 65_536
"""Length of the table of logarithms; few classes are larger."""


class KullbackLeibler(SearchObjective, Loss):
    r"""The divergence of the joint distribution of the quasi-identifiers when each class is spread over its cells.

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

    memory: ClassVar[Memory] = "none"
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """Return the divergence in bits."""
        bits = self.parts(original, protected)
        return max(0.0, round(float(bits["cross"] - bits["entropy"]), 12))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the entropy of the original combinations, and their cross entropy under the protected table."""
        from celosia.data.engines.lazy_frames import ROWS

        n = max(1, len(original))
        counts = _present(class_cells(original)[ROWS].to_numpy(), original.suppressed())
        bits, records, largest = log_areas(original, protected)
        cross = float(records @ (bits - np.log2(records / n)) / n) if len(records) else 0.0
        lost = lost_records(original, protected)
        if lost:
            cross += lost / n * (largest - np.log2(lost / n))
        return {"entropy": float(-(counts / n) @ np.log2(counts / n)), "cross": cross}

    def objective(self, domain: LevelMaps) -> ClassObjective:
        """Return the objective of a search: the cross entropy, less the entropy of the original, which is constant."""
        from celosia.kernels.grouping.class_measures import spread_bits
        from celosia.search.lattice.objective import ClassObjective, ColumnObjective, Measures, cell_numbers

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
        cells = cell_numbers(bits)
        logs = _log2(np.arange(min(n, LOGS) + 1, dtype=np.float64))

        def measure(classes: ClassCounts, kept: Verdict, certain: Verdict) -> Measures:
            inside, whole, room, lost = spread_bits(cells(classes), classes.size, kept, certain, logs, n, largest)
            share = (lost + domain.suppressed_before) / n
            score = inside / n + (share * (largest - float(np.log2(share))) if share else 0.0)
            return Measures(score, whole / n, room / n)

        def settle(finest: ClassCounts) -> Callable[[float], float]:
            p = _present(finest.size, domain.suppressed_before) / n
            entropy = float(-p @ np.log2(p))
            return lambda spent: max(0.0, round(spent - entropy, 12))

        columns = ColumnObjective(base, lambda x: np.asarray(x.sum(axis=-1) - 1e-9, dtype=np.float64))
        return ClassObjective(measure, columns, gap_adds=False, fit_scale=settle)


def _present(counts: NDArray[np.int64], suppressed: int) -> NDArray[np.int64]:
    """Return the records of each combination; those that were suppressed before are one more combination."""
    return np.append(counts, suppressed) if suppressed else counts


def _log2(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log2(x, where=x > 0, out=np.zeros_like(x))
