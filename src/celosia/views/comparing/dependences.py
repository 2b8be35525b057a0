"""Dependences between the columns of two tables, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable
from celosia.kernels.statistics.association import cramers_matrix
from celosia.kernels.statistics.moments import correlation
from celosia.table.columns import column_types
from celosia.views.comparing.categories import categories
from celosia.views.comparing.comparable import number_columns, samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

MOST_CATEGORIES = 60
"""Most categories of a column: with as many as records every column determines every other."""
MOST_COLUMNS = 14
"""Most columns of a map of dependences: more cannot be read."""


@dataclass(frozen=True)
class Dependences:
    """Matrices of one measure of dependence, before and after."""

    measure: str
    names: tuple[str, ...]
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    largest: float
    """Largest change of a pair."""
    left_out: tuple[str, ...] = ()


def dependences(original: Table, protected: Table) -> tuple[Dependences, ...]:
    """Pearson's correlations of columns that are numeric in both tables, and Cramér's V of all columns."""
    maps = []
    for measure in (_pearson, _cramer):
        try:
            maps.append(measure(original, protected))
        except NotApplicable:
            continue
    return tuple(maps)


def _pearson(original: Table, protected: Table) -> Dependences:
    after = column_types(protected)
    every = number_columns(original, original)
    names = [
        n for n in every if n in after and after[n].is_numeric() and _varies(original, n) and _varies(protected, n)
    ]
    if len(names) < 2:
        raise NotApplicable("fewer than two columns are numbers before and after.")
    x, y = samples(original, protected, names[:MOST_COLUMNS])
    return _dependences("pearson", names[:MOST_COLUMNS], correlation(x), correlation(y), every)


def _varies(table: Table, name: str) -> bool:
    x = table.numeric([name])[:, 0]
    return bool(np.nanmin(x) < np.nanmax(x)) if np.isfinite(x).any() else False


def _cramer(original: Table, protected: Table) -> Dependences:
    skipped = {*original.schema.naming, original.schema.weight}
    every = [n for n in original.names if n in protected.names and n not in skipped]
    coded = categories(original, protected, every)
    few = [n for n, size in zip(coded.names, coded.sizes, strict=True) if size <= MOST_CATEGORIES][:MOST_COLUMNS]
    if len(few) < 2:
        raise NotApplicable("the tables share fewer than two columns with few categories.")
    coded = categories(original, protected, few)
    return _dependences("cramer", coded.names, cramers_matrix(coded.original), cramers_matrix(coded.protected), every)


def _dependences(
    measure: str, names: Sequence[str], before: Floats, after: Floats, every: Sequence[str]
) -> Dependences:
    first, second = (tuple(tuple(row) for row in matrix.tolist()) for matrix in (before, after))
    largest = float(np.abs(before - after).max(initial=0.0))
    return Dependences(measure, tuple(names), first, second, largest, tuple(n for n in every if n not in names))
