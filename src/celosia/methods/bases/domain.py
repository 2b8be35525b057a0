"""The public domain of a column: declared values or intervals, and the cast of every cell to it.

A formal guarantee covers types and labels too. So nothing here depends on the type that a reader inferred: ``1``,
``1.0`` and ``"1"`` are one value, and a cell outside the domain is treated as missing, never refused.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.data.io.text.columns import MARKS, PATTERNS
from celosia.data.schema import Column, Kind
from celosia.errors import CelosiaError, ParameterError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy import Hierarchy
    from celosia.table import Table

    Ints = NDArray[np.int64]


MOST_VALUES = 128  # a whole-number column with fewer values keeps them: ages pile up at round numbers
_MOMENTS = (  # one way to write a moment; midnight is a day
    (r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)$", "${1}T$2"),
    (r"(T\d\d:\d\d:\d\d)\.0+$", "$1"),
    (r"(T\d\d:\d\d:\d\d\.\d*[1-9])0+$", "$1"),
    (r"^(\d{4}-\d\d-\d\d)T00:00:00$", "$1"),
)


@dataclass(frozen=True)
class Domain:
    """The cells of a column: declared values, or equal intervals between declared bounds."""

    name: str
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    """Ends of the intervals; empty when there are values."""
    whole: bool = False

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.values) if self.values else len(self.edges) - 1

    @property
    def series(self) -> pl.Series:
        """The declared values, in the type that the declaration has."""
        import polars as pl

        return pl.Series(self.name, list(self.values), dtype=declared_type(self.values), strict=False)

    @property
    def texts(self) -> list[str | None]:
        """The canonical text of every declared value."""
        return canonical_texts(self.series, keep=self.values).to_list()

    def codes(self, column: pl.Series) -> Ints:
        """Cell of each record; -1 for missing and undeclared values, numbers are moved into the bounds."""
        import polars as pl

        if self.values:
            cells = canonical_texts(column, keep=self.values).to_frame("text")
            lookup = pl.DataFrame({"text": pl.Series(self.texts, dtype=pl.String), "code": np.arange(len(self.values))})
            joined = cells.join(lookup, on="text", how="left", maintain_order="left", nulls_equal=True)
            return np.asarray(joined["code"].fill_null(-1).to_numpy(), dtype=np.int64)
        x = canonical_numbers(column).fill_null(np.nan).to_numpy()
        inner = np.array(self.edges[1:-1])
        return np.where(np.isnan(x), -1, np.searchsorted(inner, x, side="right")).astype(np.int64)

    def column(self, codes: Ints, rng: np.random.Generator) -> pl.Series:
        """Values for cells; within an interval any number is as likely as any other."""
        import polars as pl

        if self.values:
            return self.series.gather(codes)
        edges = np.array(self.edges)
        low, high = edges[codes], edges[codes + 1]
        if self.whole:
            whole_numbers = np.ceil(low) + np.floor(
                rng.random(len(codes)) * np.maximum(np.ceil(high) - np.ceil(low), 1.0)
            )
            return pl.Series(self.name, np.clip(whole_numbers, self.edges[0], self.edges[-1] - 1)).cast(pl.Int64)
        return pl.Series(self.name, low + rng.random(len(codes)) * (high - low))


def declared_type(values: Sequence[Any]) -> pl.DataType:
    """Polars type of declared values: their common type, else text.

    >>> declared_type([1, 2, None]), declared_type([1, 2.5]), declared_type(["a", 1])
    (Int64, Float64, String)
    """
    import polars as pl

    given = [value for value in values if value is not None]
    kinds: list[tuple[tuple[type, ...], pl.DataType]] = [
        ((bool,), pl.Boolean()),
        ((int,), pl.Int64()),
        ((int, float), pl.Float64()),
        ((dt.datetime,), pl.Datetime("us")),
        ((dt.date,), pl.Date()),
    ]
    for types, dtype in kinds:
        if given and all(isinstance(v, types) and (bool in types or not isinstance(v, bool)) for v in given):
            return dtype
    return pl.String()


def canonical_texts(column: pl.Series, keep: Sequence[Any] = ()) -> pl.Series:
    """Text of every cell, the same whichever type the cell was read as; marks of missing values become missing.

    ``keep`` names declared values: a mark such as ``NA`` that is declared is a value.

    >>> import polars as pl
    >>> canonical_texts(pl.Series([1.0, 2.5])).to_list()
    ['1', '2.5']
    >>> canonical_texts(pl.Series(["1", "2,50", " x", "NA", "2020-01-31 00:00:00"])).to_list()
    ['1', '2.5', 'x', None, '2020-01-31']
    """
    import polars as pl

    if column.dtype.is_float():
        return _number_texts(column.cast(pl.Float64))
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return column.cast(pl.String)
    if column.dtype == pl.Datetime:
        column = column.dt.replace_time_zone(None).dt.to_string("%Y-%m-%dT%H:%M:%S%.6f")
    texts = column.cast(pl.String, strict=False).str.strip_chars()
    is_integer = texts.str.contains(PATTERNS["integer"])
    numbers = _number_texts(canonical_numbers(texts.set(is_integer.fill_null(value=False), None)))
    moments = texts
    for old, new in _MOMENTS:
        moments = moments.str.replace(old, new)
    declared = pl.Series(sorted({str(value) for value in keep}), dtype=pl.String)
    marks = pl.Series(["", *(mark.lower() for mark in MARKS)])
    gone = texts.str.to_lowercase().is_in(marks.implode()) & ~texts.is_in(declared.implode())
    frame = pl.DataFrame({"number": numbers, "text": moments, "gone": gone})
    return frame.select(pl.when(~pl.col("gone")).then(pl.coalesce("number", "text")).alias(column.name)).to_series()


def canonical_numbers(column: pl.Series) -> pl.Series:
    """Numbers of the cells, the same whichever type the cell was read as; missing unless finite.

    >>> import polars as pl
    >>> canonical_numbers(pl.Series(["1,5", "1.5", "x", "inf"])).to_list()
    [1.5, 1.5, None, None]
    """
    import polars as pl

    numbers = column
    if not column.dtype.is_numeric():
        texts = column.cast(pl.String, strict=False).str.strip_chars().str.replace(r"^([+-]?\d*),(\d+)$", "$1.$2")
        non_missing = texts.str.contains(PATTERNS["number"]) | texts.str.contains(
            PATTERNS["integer"]
        )  # up to 18 digits
        numbers = texts.set(~non_missing.fill_null(value=False), None)
    numbers = numbers.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite().fill_null(value=False), None)


def covered_texts(table: Table, name: str) -> pl.Series:
    """Canonical texts of a column; values without a label in its hierarchy become missing."""
    texts = canonical_texts(table.column(name))
    hierarchy = table.schema.hierarchy(name)
    if hierarchy is None:
        return texts
    values = _covered_values(hierarchy, texts.drop_nulls().unique().sort().to_list())
    return texts.set(~texts.is_in(values).fill_null(value=False), None)


def cover_hierarchies(table: Table) -> Table:
    """Blank the values that the hierarchy of their column does not cover, so that no cell is refused later."""
    names = [name for name in table.names if table.schema[name].hierarchy is not None]
    return table.replace({name: covered_texts(table, name) for name in names}) if names else table


def _covered_values(hierarchy: Hierarchy, values: list[str]) -> list[str]:
    """Values that have a label in the hierarchy."""
    try:
        hierarchy.levels(values)
    except CelosiaError:
        middle = len(values) // 2
        halves = (values[:middle], values[middle:]) if middle else ()
        return [value for half in halves for value in _covered_values(hierarchy, half)]
    return values


def domain(
    who: str, table: Table, name: str, given: Mapping[str, Sequence[Any]], bins: int, whole: Sequence[str] = ()
) -> Domain:
    """Return the declared domain of a column: ``given`` values, an order, or bounds cut into ``bins`` intervals.

    Columns named in ``whole`` hold whole numbers.
    """
    info = table.schema[name]
    if name in given:
        return check_values(who, Domain(name, values=tuple(dict.fromkeys(given[name]))))
    if info.order:
        return check_values(who, Domain(name, values=tuple(info.order)))
    if info.bounds is not None:
        low, high = info.bounds
        if name in whole:
            low, high = np.ceil(low), np.floor(high)
            if high - low < max(bins, MOST_VALUES):
                return check_values(who, Domain(name, values=tuple(range(int(low), int(high) + 1))))
            return Domain(name, edges=tuple(np.linspace(low, high + 1, bins + 1).tolist()), whole=True)
        return Domain(name, edges=tuple(np.linspace(low, high, bins + 1).tolist()))
    raise ParameterError(
        f"{who}: the values of {name!r} are not declared, and which occur is itself private: give `values`, "
        "an order in the schema, or bounds of numbers; or leave the column out with `columns`."
    )


def with_declared_kind(column: Column, dtype: pl.DataType) -> Column:
    """Derive the kind of a column from its declaration and type, not from the cells that were read."""
    if column.order:
        return replace(column, kind=Kind.ORDINAL)
    if dtype.is_numeric():
        return replace(column, kind=Kind.NUMERIC)
    return replace(column, kind=Kind.DATE if dtype.is_temporal() else Kind.NOMINAL)


def check_values(who: str, declared: Domain) -> Domain:
    """Raise for a domain without values, or with one value under two spellings."""
    if not declared.values:
        raise ParameterError(
            f"{who}: no value of {declared.name!r} is declared: its `values` are empty, or no whole number lies within "
            "its bounds. Declare what it can hold, or leave the column out with `columns`."
        )
    if len(set(declared.texts)) < len(declared.values):  # a person would be counted in two cells
        raise ParameterError(f"{who}: two of the declared values of {declared.name!r} are the same value.")
    return declared


def _number_texts(numbers: pl.Series) -> pl.Series:
    """Shortest text of every finite number, without a fraction where it has none."""
    import polars as pl

    frame = numbers.alias("x").to_frame().with_columns(pl.when(pl.col("x").is_finite()).then(pl.col("x")))
    whole = (pl.col("x") == pl.col("x").round()) & (pl.col("x").abs() < 1e15)
    text = pl.when(whole).then(pl.col("x").cast(pl.Int64, strict=False).cast(pl.String))
    return frame.select(text.otherwise(pl.col("x").cast(pl.String)).alias(numbers.name)).to_series()
