r"""Cost of columns that are not generalised but replaced by one aggregate per class, in a loss over columns.

A class that holds :math:`d` of the :math:`D` different values of the column loses the share :math:`d / D` of it for
each of its records, and a suppressed record everything. (Prasser & Kohlmayer count microaggregation so in ARX.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from celosia.classes.counts import ClassCounts, Shares, Verdict
from celosia.search.lattice.objective import ClassObjective, ColumnObjective, LevelMaps


def with_aggregates(objective: ColumnObjective, domain: LevelMaps, columns: Mapping[int, str]) -> ClassObjective:
    """Return the objective in which columns (position → counted name) are aggregated and form no classes."""
    n = max(1, domain.n)
    distinct = {name: max(1, int((domain.counts[j] > 0).sum())) for j, name in columns.items()}
    base = tuple(np.zeros_like(levels) if j in columns else levels for j, levels in enumerate(objective.base))
    extra = objective.extra
    if extra is not None:
        extra = tuple(
            tuple(np.zeros_like(cost) for cost in by_level) if j in columns else by_level
            for j, by_level in enumerate(extra)
        )
    cheap = replace(objective, base=base, extra=extra)

    def sums(classes: ClassCounts, kept: Verdict) -> Shares:
        codes, levels = classes.codes, classes.levels
        assert codes is not None
        assert levels is not None
        lost = ~kept
        x = np.array([objective.base[j][level] for j, level in enumerate(levels)], dtype=np.float64)
        for j, level in enumerate(levels):
            if j in columns:
                name = columns[j]
                held = classes.of(name).distinct / distinct[name]
                x[j] = float((classes.size * np.where(kept, held, 1.0)).sum() + domain.suppressed_before) / n
                continue
            if objective.extra is not None:
                x[j] += float((classes.size[lost] * objective.extra[j][level][codes[lost, j]]).sum())
            if objective.spread is not None and lost.any():
                count = np.bincount(codes[lost, j], classes.size[lost])
                count = count[count > 0]
                x[j] += float(objective.spread[j] * (count * np.log2(count.sum() / count)).sum())
        return x

    def score(classes: ClassCounts, kept: Verdict) -> float:
        return float(objective.value(sums(classes, kept))[0])

    return ClassObjective.of(score, columns=cheap, needs=tuple(columns.values()))
