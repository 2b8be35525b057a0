"""Dependences between the columns of two tables, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes import Rows
from celosia.data.engines import engine_named
from celosia.data.engines.lazy_frames import RECORD, filter_rows, select_columns
from celosia.errors import NotApplicable
from celosia.kernels.statistics.association import cramers_matrix
from celosia.kernels.statistics.moments import correlation
from celosia.table.columns import column_types
from celosia.table.derive import with_record_ids
from celosia.table.pairing import paired_counts
from celosia.table.provenance import Provenance
from celosia.views.comparing.categories import categories
from celosia.views.comparing.comparable import number_columns, samples

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

MOST_CATEGORIES = 60
"""Most categories of a column: with as many as records every column determines every other."""
MOST_COLUMNS = 14
"""Most columns of a map of dependences: more cannot be read."""
MOST_RECORDS = 50_000
"""Approximate number of records that are measured of a larger table: Cramér's V is by chance at most 0.035 above 0."""


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
    sampled: int | None = None
    """Original records of the sample that was measured; None for all records."""


def dependences(original: Table, protected: Table) -> tuple[Dependences, ...]:
    """Pearson's correlations of columns that are numeric in both tables, and Cramér's V of all columns.

    Of large tables a systematic sample of about ``MOST_RECORDS`` records is measured.
    """
    step = max(1, len(original) // MOST_RECORDS)
    if step > 1 or original.counts.frame is None or protected.counts.frame is None:
        original, protected = _sample(original, protected, step)
    maps = []
    for measure in (_pearson, _cramer):
        try:
            maps.append(measure(original, protected))
        except NotApplicable:
            continue
    return tuple(replace(each, sampled=len(original)) for each in maps) if step > 1 else tuple(maps)


def _sample(original: Table, protected: Table, step: int) -> tuple[Table, Table]:
    """Return one of ``step`` records of both tables, in memory: from their joint counts, or else by the record ids."""
    import narwhals as nw
    import polars as pl

    names = _compared(original, protected)
    lineage = protected.provenance.lineage
    counted = lineage is not None and set(names) <= set(lineage.base.joint)
    derived = paired_counts(original, protected, names) if counted else None
    if derived is not None and set(names) <= set(derived.before.names):
        entry = np.repeat(np.arange(len(derived.before)), derived.before.rows)[::step]
        place = np.full(len(derived.before), -1, dtype=np.int64)
        place[derived.kept] = np.arange(len(derived.kept))
        left = place[entry][place[entry] >= 0]
        before = [derived.before.column(name).take(entry).cells().alias(name) for name in names]
        after = [derived.column(name).take(left).cells().alias(name) for name in names]
        return _in_memory(original, pl.DataFrame(before)), _in_memory(protected, pl.DataFrame(after))
    sides = []
    for table in (original, protected):
        rows = filter_rows(with_record_ids(table).rows.frame, nw.col(RECORD) % step == 0)
        sides.append(_in_memory(table, table.engine.collect(select_columns(rows, names))))
    return sides[0], sides[1]


def _in_memory(table: Table, cells: pl.DataFrame) -> Table:
    """Return a table of these cells with the schema of another one."""
    rows = Rows(engine_named("polars"), cells.lazy(), table.schema.keep(cells.columns))
    return replace(table, rows=rows, provenance=Provenance(), _cache={})


def _compared(original: Table, protected: Table) -> list[str]:
    """Return the columns of both tables but those that name a person."""
    skipped = {*original.schema.naming, original.schema.weight}
    return [name for name in original.names if name in protected.names and name not in skipped]


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
    every = _compared(original, protected)
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
