"""Profile of a column for the guard: counts of its distinct values by what they contain.

Values are classified one by one. A column with many values is classified in parts by the engine, which returns counts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from celosia.data.engines.lazy_frames import ROWS, group_counts
from celosia.proposals.recognition.names import only_names
from celosia.proposals.recognition.normal_form import plain_spelling
from celosia.proposals.recognition.traces import NAMES, TRACES, traces_in
from celosia.table.columns import count_values, has_many_values

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

Frame: TypeAlias = Any
"""A frame of any engine, native or wrapped by Narwhals."""
TRIED = 1000
"""Size of the sample of values that is compared with known forms."""
ALL, ONLY_NAMES = "", "only names"
_WHAT, _VALUES, _LEAST = "what", "values", "least"


@dataclass(frozen=True)
class Amount:
    """Number of distinct values of one kind, their rows, and the rows of the rarest of them."""

    values: int = 0
    rows: int = 0
    least: int = 0


@dataclass(frozen=True)
class ColumnProfile:
    """Values of a column that are neither missing nor suppressed (``*``)."""

    amounts: Mapping[str, Amount]
    sample: pl.Series
    """Distinct values over the whole range, compared with known forms."""
    width: float
    """Difference of the largest and the smallest number; 0 for a column of another type."""
    values: pl.DataFrame | None
    """All distinct values with their rows; None if there are too many for memory."""

    @property
    def all(self) -> Amount:
        """Counts of the whole column."""
        return self.amounts.get(ALL, Amount())

    @property
    def is_text(self) -> bool:
        """Whether the values are texts or categories."""
        import polars as pl

        return self.sample.dtype == pl.String

    def without_traces(self, *, codes: bool) -> pl.Series:
        """Sample of the values in which no identifier was found."""
        plain = self.sample
        for _, matches in traces_in(self.sample, codes=codes):
            plain = plain.filter(~plain.is_in(self.sample.filter(matches).implode()))
        return plain

    def count(self, values: pl.Series, test: Callable[[str], bool]) -> Amount:
        """Count those of these values that pass a test; every cell if the values are not all in memory."""
        import polars as pl

        if self.values is None or len(self.sample) < len(self.values):
            return self.all
        passed = values.filter(pl.Series([test(plain_spelling(value)) for value in values], dtype=pl.Boolean))
        rows = self.values.filter(self.values[self.sample.name].is_in(passed.implode()))[ROWS]
        return Amount(len(rows), int(rows.sum()), int(rows.min()))  # type: ignore[arg-type]

    def numbers(self, name: str) -> pl.Series:
        """All distinct values, or a sample if there are too many for memory."""
        return self.sample if self.values is None else self.values[name]

    def traces(self) -> Iterator[tuple[str, Amount]]:
        """Yield the kinds of identifiers in the cells, with their counts."""
        for what in (*(trace.what for trace in TRACES), NAMES):
            if what in self.amounts:
                yield what, self.amounts[what]


def profile_column(table: Table, name: str, *, untouched: bool) -> ColumnProfile:
    """Count the values of a column by what they contain; pseudonyms only in a column that no step overwrote."""
    import polars as pl

    dtype = table.rows.types[name]
    texts = not (dtype.is_numeric() or dtype.is_temporal() or dtype.is_boolean())
    count = functools.partial(_count_kinds, name=name, texts=texts, codes=untouched)
    if (untouched or not texts) and has_many_values(table, name):  # labels that steps made of texts are read one by one
        return _profile_in_engine(table, name, count, texts=texts, numeric=dtype.is_numeric())
    values = count_values(table, name).drop_nulls(name)
    if texts:
        values = values.with_columns(pl.col(name).cast(pl.String)).filter(pl.col(name) != "*")
    width = values[name].max() - values[name].min() if dtype.is_numeric() and len(values) else 0  # type: ignore[operator]
    return ColumnProfile(_sum_parts(count(values)), _sample(values[name]), width, values)  # type: ignore[arg-type]


def _sample(values: pl.Series) -> pl.Series:
    return values.sort().gather_every(max(1, -(-len(values) // TRIED)))


def _profile_in_engine(
    table: Table, name: str, count: Callable[[pl.DataFrame], pl.DataFrame], *, texts: bool, numeric: bool
) -> ColumnProfile:
    import narwhals as nw
    import polars as pl

    engine = table.engine
    values = nw.from_native(group_counts(table.rows.frame, [name])).filter(~nw.col(name).is_null())
    if texts:
        values = values.with_columns(nw.col(name).cast(nw.String)).filter(nw.col(name) != "*")
    types = {_WHAT: pl.String(), _VALUES: pl.Int64(), ROWS: pl.Int64(), _LEAST: pl.Int64()}
    lines = engine.collect(engine.map_partitions(values.to_native(), [], types, count))
    lowest, highest = (values.select(name).sort(name, descending=d).head(TRIED) for d in (False, True))
    sample = pl.concat([engine.collect(part.to_native())[name] for part in (lowest, highest)])
    ends = values.select(low=nw.col(name).min(), high=nw.col(name).max())
    low, high = engine.collect(ends.to_native()).row(0) if numeric else (0, 0)
    return ColumnProfile(_sum_parts(lines), sample.unique(maintain_order=True), high - low, None)


def _count_kinds(values: pl.DataFrame, *, name: str, texts: bool, codes: bool) -> pl.DataFrame:
    """Count values, and those that contain each kind of identifier: one line per kind."""
    import polars as pl

    rows = values[ROWS].cast(pl.Int64)
    lines = [(ALL, len(rows), rows.sum(), rows.min())]
    if texts:
        cells = values[name].cast(pl.String)
        for what, mask in ((ONLY_NAMES, only_names(cells)), *traces_in(cells, codes=codes)):
            matching = rows.filter(mask)
            lines.append((what, len(matching), matching.sum(), matching.min()))
    return pl.DataFrame([line for line in lines if line[1]], schema=[_WHAT, _VALUES, ROWS, _LEAST], orient="row")


def _sum_parts(lines: pl.DataFrame) -> dict[str, Amount]:
    """Sum the lines of all parts by kind."""
    sums: dict[str, Amount] = {}
    for what, values, rows, least in lines.rows():
        before = sums.get(what, Amount(least=least))
        sums[what] = Amount(before.values + values, before.rows + rows, min(before.least, least))
    return sums
