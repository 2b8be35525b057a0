"""Functions on the lazy frames of all engines, in Narwhals, and the reserved columns.

A frame is the engine's own: a Polars ``LazyFrame``, a DuckDB relation, a Spark ``DataFrame``. Once they exist, it has
the columns ``RECORD`` (the hidden record id) and ``SUPPRESSED``. A frame with a column ``ROWS`` is a table by its
combinations: each of its rows counts for that many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw
import polars as pl

from celosia.data.schema import Kind

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame, IntoFrameT, IntoLazyFrame

Frame = TypeVar("Frame", bound="IntoLazyFrame")
"""Lazy frame of an engine."""
RECORD = "__record__"
SUPPRESSED = "__suppressed__"
HIDDEN = (RECORD, SUPPRESSED)
ORDER = "__order__"
ROWS = "__rows__"
PERSONS = "__persons__"


def select_columns(frame: Frame, names: Sequence[str]) -> Frame:
    """Select columns."""
    return nw.from_native(frame).select(*names).to_native()


def filter_rows(frame: Frame, predicate: nw.Expr) -> Frame:
    """Keep the rows for which the predicate is true."""
    return nw.from_native(frame).filter(predicate).to_native()


def with_columns(frame: Frame, columns: Mapping[str, nw.Expr]) -> Frame:
    """Add or replace columns by expressions."""
    return nw.from_native(frame).with_columns(**columns).to_native()


def sort_by_record(frame: Frame) -> Frame:
    """Sort the rows by their record ids."""
    return nw.from_native(frame).sort(RECORD).to_native()


def frame_types(frame: IntoLazyFrame) -> dict[str, nw.dtypes.DType]:
    """Return the column names and Narwhals types."""
    return dict(nw.from_native(frame).collect_schema())


def column_kinds(frame: IntoLazyFrame) -> dict[str, Kind]:
    """Return the kind of each visible column by its type."""
    return {name: _kind(dtype) for name, dtype in frame_types(frame).items() if name not in HIDDEN}


def group_counts(frame: Frame, keys: Sequence[str], *, person: str | None = None) -> Frame:
    """Count the rows, and persons, of each combination of keys. Missing is a value like any other."""
    native = nw.from_native(frame)
    sums = [row_count(frame).alias(ROWS)]
    if person is not None:
        sums.append(nw.col(person).n_unique().alias(PERSONS))
    return (native.group_by(*keys).agg(*sums) if keys else native.select(*sums)).to_native()


def row_count(frame: IntoLazyFrame) -> nw.Expr:
    """Return the expression for the number of rows of a frame, or of each group of it."""
    return nw.col(ROWS).sum() if ROWS in nw.from_native(frame).collect_schema() else nw.len()


def without_negative_zero(frame: IntoFrameT, names: Iterable[str] | None = None) -> IntoFrameT:
    """Replace -0.0 by 0.0 in these columns, or in all: numbers that are equal must have the same text in a file."""
    rows: Any = frame  # Narwhals has no type variable for eager and lazy frames
    native = nw.from_native(rows)
    types = native.collect_schema()
    floats = [name for name in (types if names is None else names) if types[name].is_float()]
    plain = {n: nw.when(nw.col(n) == 0).then(nw.lit(0.0, types[n])).otherwise(nw.col(n)) for n in floats}
    changed: IntoFrameT = native.with_columns(**plain).to_native() if plain else frame
    return changed


def to_polars(frame: IntoFrame) -> pl.DataFrame:
    """Collect a data frame of any library."""
    native = nw.from_native(frame)
    return (native.collect("polars") if isinstance(native, nw.LazyFrame) else native).to_polars()


def as_text(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Expression for a column as text, a whole number without its decimal point."""
    if dtype == nw.String:
        return nw.col(name)
    text = nw.col(name).cast(nw.String)
    return text.str.replace_all(r"\.0$", "") if dtype.is_float() else text


def is_consecutive(numbers: pl.Series) -> bool:
    """Return whether whole numbers follow one another without a gap."""
    return len(numbers) > 0 and numbers.is_sorted() and int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1


def _kind(dtype: nw.dtypes.DType) -> Kind:
    if dtype.is_numeric():
        return Kind.NUMERIC
    if dtype.is_temporal():
        return Kind.DATE
    if isinstance(dtype, nw.Enum):
        return Kind.ORDINAL
    return Kind.NOMINAL
