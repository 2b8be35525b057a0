"""Conversion of data frames of other libraries to Polars and back.

The result has the type of the input. A pandas frame keeps its index, and the pandas type of each column whose values
still have it. Categories are the exception: a result lists those that occur, because others would disclose values that
were removed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from celosia.errors import DataError, MissingExtra

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    AnyFrame: TypeAlias = Any
    """Data frame of one of the libraries below."""
    PandasType: TypeAlias = Any
    """Type of a pandas column: one of numpy, of pandas or of Arrow."""

LIBRARIES = {
    "polars": "polars",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "pyspark": "spark",
}
"""Library of a frame, by the first part of the module of its class."""
ARROW_INDEX = "__index_level_"
_views = itertools.count()


@dataclass(frozen=True, eq=False)
class FrameMetadata:
    """Attributes of a frame besides its cells, to restore in the result."""

    index: Any = None
    """Index of a pandas frame, or the columns in which Arrow stores one."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """Column types of a pandas frame."""
    relation: Any = None
    """DuckDB relation of the input, whose connection the result uses."""


def library_of(source: object) -> str:
    """Return the kind of frame: polars, lazy, pandas, pyarrow, duckdb or spark; "file" for a path or URL.

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
        return "polars"  # any frame that can be exported to Arrow
    if named is None:
        raise DataError(
            f"cannot read a {cls.__name__}: give a path, a database URL, "
            "or a Polars, pandas, PyArrow, DuckDB or Spark frame."
        )
    return "lazy" if cls.__name__ == "LazyFrame" else named


def is_frame(source: object) -> bool:
    """Return whether a source is a data frame, so that the result is one of the same kind."""
    try:
        return library_of(source) != "file"
    except DataError:
        return False


def unwrap_frame(source: AnyFrame, library: str) -> tuple[AnyFrame, FrameMetadata]:
    """Split a frame into one that an engine accepts and its metadata."""
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
    metadata: FrameMetadata,
    types: Mapping[str, pl.DataType],
    places: NDArray[np.int64] | None,
) -> AnyFrame:
    """Convert rows in memory to the kind of frame of the input.

    ``types`` are the Polars types of the input, ``places`` the input row of each row (None for new rows).
    """
    data = _restore_categories(data, types)
    if library == "pandas":
        return _to_pandas(data, metadata, types, places)
    if library == "pyarrow":
        return _to_arrow(data, metadata, places)
    if library == "duckdb":
        view = f"celosia_released_{next(_views)}"
        return metadata.relation.query(view, "SELECT * FROM data")  # DuckDB looks the Python variable up
    return data.lazy() if library == "lazy" else data


def _from_pandas(frame: AnyFrame) -> tuple[pl.DataFrame, FrameMetadata]:
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


def _from_arrow(source: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> tuple[pa.Table, FrameMetadata]:
    import pyarrow as pa

    table = source.read_all() if hasattr(source, "read_all") else source
    table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    index = [name for name in table.column_names if name.startswith(ARROW_INDEX)]
    return table.drop_columns(index), FrameMetadata(table.select(index) if index else None)


def _restore_categories(data: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Convert columns of texts that were categories back to categories, of the values that occur."""
    import polars as pl

    categories = (pl.Categorical, pl.Enum)
    texts = [n for n in data.columns if types.get(n) in categories and data.schema[n] == pl.String]
    return data.with_columns(pl.col(texts).cast(pl.Categorical)) if texts else data


def _to_arrow(data: pl.DataFrame, metadata: FrameMetadata, places: NDArray[np.int64] | None) -> pa.Table:
    import polars as pl
    import pyarrow as pa

    coded = [name for name, dtype in data.schema.items() if dtype in (pl.Categorical, pl.Enum)]
    table = data.cast(dict.fromkeys(coded, pl.String)).to_arrow()
    for name in coded:
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).dictionary_encode())
    if metadata.index is not None and places is not None:
        for name in metadata.index.column_names:
            table = table.append_column(name, metadata.index.column(name).take(pa.array(places)))
    return table


def _to_pandas(
    data: pl.DataFrame, metadata: FrameMetadata, types: Mapping[str, pl.DataType], places: NDArray[np.int64] | None
) -> pd.DataFrame:
    import pandas as pd

    columns = {
        name: _pandas_column(data[name], metadata.types.get(name), same=types.get(name) == data.schema[name])
        for name in data.columns
    }
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(data)), columns=pd.Index(data.columns))
    if metadata.index is not None and places is not None:
        frame.index = metadata.index.take(places)
    return frame


def _pandas_column(series: pl.Series, dtype: PandasType, *, same: bool) -> pd.Series:
    """Convert a column to pandas, to its original type if the values still have it."""
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


def _by_own_type(series: pl.Series) -> pd.Series:
    """Convert a column by its Polars type; integers and booleans with missing values keep a type of their own."""
    import pandas as pd
    import polars as pl

    if series.null_count() and (series.dtype.is_integer() or series.dtype == pl.Boolean):
        masked = pd.arrays.BooleanArray if series.dtype == pl.Boolean else pd.arrays.IntegerArray
        filler = False if series.dtype == pl.Boolean else 0
        return pd.Series(masked(series.fill_null(filler).to_numpy().copy(), series.is_null().to_numpy().copy()))
    if series.dtype in (pl.Categorical, pl.Enum):
        return _categories(series, pd.CategoricalDtype())
    return series.to_pandas()


def _categories(series: pl.Series, dtype: PandasType) -> pd.Series:
    """Convert a column to the categories that occur, in the declared order if it has all of them."""
    import pandas as pd
    import polars as pl

    plain = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    occurring = set(plain.drop_nulls().unique().to_list())
    ordered: list[str] = [] if dtype.categories is None else [c for c in dtype.categories if c in occurring]
    every = len(ordered) == len(occurring)
    order = ordered if every else sorted(occurring)
    return pd.Series(pd.Categorical(plain.to_pandas(), categories=order, ordered=every and bool(dtype.ordered)))


__all__ = ["FrameMetadata", "is_frame", "library_of", "rewrap_frame", "unwrap_frame"]
