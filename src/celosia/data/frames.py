"""Data frames of other libraries: which library one is of, how its rows come in and how they go out again.

What goes out is the kind that came in. A pandas frame has its index, and a column whose values are of the type that
they had keeps the type that pandas gave it. The one type that is never given back whole is a list of categories: it
would name the values that were taken out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.errors import DataError, MissingExtra

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

LIBRARIES = {
    "polars": "polars",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "pyspark": "spark",
}
"""The library that a class of frames belongs to, by the first word of its module."""
ARROW_INDEX = "__index_level_"
_views = itertools.count()


@dataclass(frozen=True, eq=False)
class FrameMetadata:
    """What a frame had around its cells, for the way back."""

    index: Any = None
    """The index of a pandas frame, or the columns in which Arrow keeps one."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """The types that pandas gave to the columns."""
    relation: Any = None
    """The relation that came in, whose connection the result has too."""


def library_of(source: Any) -> str:
    """The kind of frame: polars, lazy, pandas, pyarrow, duckdb or spark; "file" for what is opened by its name.

    >>> import polars as pl
    >>> library_of(pl.LazyFrame({"age": [30]})), library_of("people.csv")
    ('lazy', 'file')
    """
    if isinstance(source, str | Path) or (isinstance(source, Mapping) and {"path", "url"} & set(source.keys())):
        return "file"
    cls = type(source)
    named = LIBRARIES.get(cls.__module__.split(".")[0])
    if named in {"polars", "pandas", "pyarrow"} and cls.__name__ not in {"DataFrame", "LazyFrame", "Table"}:
        named = "pyarrow" if cls.__name__ in {"RecordBatch", "RecordBatchReader"} else None
    if named is None and hasattr(source, "__arrow_c_stream__") and hasattr(source, "columns"):
        return "polars"  # a frame of a library that hands its rows over as Arrow does
    if named is None:
        raise DataError(
            f"cannot read a {cls.__name__}: give a path, a database URL, "
            "or a Polars, pandas, PyArrow, DuckDB or Spark frame."
        )
    return "lazy" if cls.__name__ == "LazyFrame" else named


def is_frame(source: Any) -> bool:
    """Whether a result goes back as the kind of frame that was given."""
    try:
        return library_of(source) != "file"
    except DataError:
        return False


def unwrap_frame(source: Any, library: str) -> tuple[Any, FrameMetadata]:
    """A frame that an engine accepts, and what it had around its cells."""
    if library == "pandas":
        return _from_pandas(source)
    if library == "pyarrow":
        return _from_arrow(source)
    if library == "polars" and type(source).__module__.split(".")[0] != "polars":
        import polars as pl

        return pl.DataFrame(source), FrameMetadata()
    return source, FrameMetadata(relation=source) if library == "duckdb" else FrameMetadata()


def rewrap_frame(
    data: pl.DataFrame,
    library: str,
    around: FrameMetadata,
    came: Mapping[str, Any],
    places: NDArray[np.int64] | None,
) -> Any:
    """Rows as the kind of frame that came in, for what is in memory.

    ``came`` has the Polars types of the input; ``places`` tells which row of the input each row is, unless the rows are
    new.
    """
    data = _restore_categories(data, came)
    if library == "pandas":
        return _to_pandas(data, around, came, places)
    if library == "pyarrow":
        return _to_arrow(data, around, places)
    if library == "duckdb":
        view = f"celosia_released_{next(_views)}"
        return around.relation.query(view, "SELECT * FROM data")  # found among the names here, on that connection
    return data.lazy() if library == "lazy" else data


def _from_pandas(frame: Any) -> tuple[pl.DataFrame, FrameMetadata]:
    import polars as pl

    odd = [label for label in frame.columns if not isinstance(label, str)]
    if odd:
        raise DataError(
            f"{len(odd)} columns have labels that are no text: rename them first, "
            "as in frame.columns = frame.columns.map(str)."
        )
    if not frame.columns.is_unique:
        raise DataError("two columns have the same name: rename one of them first.")
    columns = []
    for name in frame.columns:
        try:
            columns.append(pl.from_pandas(frame[name].reset_index(drop=True), nan_to_null=True).alias(name))
        except ImportError:
            raise MissingExtra.of("a pandas frame", "pandas") from None
        except Exception:  # each library has errors of its own, and their messages hold cells
            raise DataError(
                f"column {name!r} holds values of several types, or of one ({frame[name].dtype}) that is not known "
                "here: make it one of numbers, texts, truth values or dates."
            ) from None
    return pl.DataFrame(columns), FrameMetadata(frame.index, dict(frame.dtypes))


def _from_arrow(source: Any) -> tuple[Any, FrameMetadata]:
    import pyarrow as pa

    table = source.read_all() if hasattr(source, "read_all") else source
    table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    aside = [name for name in table.column_names if name.startswith(ARROW_INDEX)]
    return table.drop_columns(aside), FrameMetadata(table.select(aside) if aside else None)


def _restore_categories(data: pl.DataFrame, came: Mapping[str, Any]) -> pl.DataFrame:
    """Texts of a column that came as categories are categories again: those that occur, and no others."""
    import polars as pl

    categories = (pl.Categorical, pl.Enum)
    texts = [n for n in data.columns if came.get(n) in categories and data.schema[n] == pl.String]
    return data.with_columns(pl.col(texts).cast(pl.Categorical)) if texts else data


def _to_arrow(data: pl.DataFrame, around: FrameMetadata, places: NDArray[np.int64] | None) -> Any:
    import polars as pl
    import pyarrow as pa

    coded = [name for name, dtype in data.schema.items() if dtype in (pl.Categorical, pl.Enum)]
    table = data.cast(dict.fromkeys(coded, pl.String)).to_arrow()
    for name in coded:
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).dictionary_encode())
    if around.index is not None and places is not None:
        for name in around.index.column_names:
            table = table.append_column(name, around.index.column(name).take(pa.array(places)))
    return table


def _to_pandas(
    data: pl.DataFrame, around: FrameMetadata, came: Mapping[str, Any], places: NDArray[np.int64] | None
) -> Any:
    import pandas as pd

    columns = {
        name: _pandas_column(data[name], around.types.get(name), same=came.get(name) == data.schema[name])
        for name in data.columns
    }
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(data)), columns=pd.Index(data.columns))
    if around.index is not None and places is not None:
        frame.index = around.index.take(places)
    return frame


def _pandas_column(series: pl.Series, dtype: Any, *, same: bool) -> Any:
    """A column as pandas has it: of the type that it had, where the values are still of that type."""
    import pandas as pd
    import polars as pl

    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(series, dtype)
    if series.dtype == pl.Date and str(dtype) == "object":
        return pd.Series(series.to_list(), dtype=object)
    plain = _by_own_type(series)
    if dtype is None or not same:
        return plain
    try:
        return plain.astype(dtype)
    except (TypeError, ValueError):  # missing values where there were none: a type that can hold them
        return plain


def _by_own_type(series: pl.Series) -> Any:
    """A column by its own type; whole numbers and truth values with missing ones do not become floats or objects."""
    import pandas as pd
    import polars as pl

    if series.null_count() and (series.dtype.is_integer() or series.dtype == pl.Boolean):
        masked = pd.arrays.BooleanArray if series.dtype == pl.Boolean else pd.arrays.IntegerArray
        filler: Any = False if series.dtype == pl.Boolean else 0
        return pd.Series(masked(series.fill_null(filler).to_numpy().copy(), series.is_null().to_numpy().copy()))
    if series.dtype in (pl.Categorical, pl.Enum):
        return _categories(series, pd.CategoricalDtype())
    return series.to_pandas()


def _categories(series: pl.Series, dtype: Any) -> Any:
    """The categories that occur, in their order where all are known; a category that is gone is named nowhere."""
    import pandas as pd
    import polars as pl

    plain = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    occurring = set(plain.drop_nulls().unique().to_list())
    ordered: Sequence[Any] = [] if dtype.categories is None else [c for c in dtype.categories if c in occurring]
    every = len(ordered) == len(occurring)
    order = ordered if every else sorted(occurring)
    return pd.Series(pd.Categorical(plain.to_pandas(), categories=order, ordered=every and bool(dtype.ordered)))


__all__ = ["FrameMetadata", "is_frame", "library_of", "rewrap_frame", "unwrap_frame"]
