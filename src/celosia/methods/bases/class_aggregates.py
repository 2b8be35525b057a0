"""One value per class in place of a column's own: mean, median, mode, range or set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.errors import DataError
from celosia.hierarchy.text import member_expression, text_series

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

Aggregate = Literal["mean", "geometric-mean", "median", "mode", "interval", "set"]

_UNCLEAR = r"^\s|\s$|^$|\n|(^| )\.\.( |$)"
"""What no end of a range of words can have and be read back."""


def aggregated(
    who: str, table: Table, name: str, how: Aggregate, label: NDArray[np.int64], kept: NDArray[np.bool_]
) -> pl.Series:
    """A column with one value per class (``label``), in record order; records that are not kept have none.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 34, 50]}), celosia.Schema.of(quasi=["age"]))
    >>> everyone = np.ones(3, dtype=bool)
    >>> [aggregated("x", table, "age", how, np.array([0, 0, 1]), everyone).to_list() for how in ("mean", "interval")]
    [[32.0, 32.0, 50.0], ['[30-34]', '[30-34]', '50']]
    """
    import polars as pl

    column = table.column(name)
    if how in ("mean", "geometric-mean", "median") and not column.dtype.is_numeric():
        raise DataError(f"{who}: column {name!r} is not numeric, so {how} has no meaning; use mode, interval or set.")
    rows = pl.DataFrame({"class": label, "value": column, "text": text_series(column), "kept": kept})
    if column.dtype.is_float():
        rows = rows.with_columns(pl.col("value").fill_nan(None))
    if how == "geometric-mean" and (rows.filter("kept")["value"] < -1).any():
        raise DataError(f"{who}: column {name!r} has values below -1, of which there is no geometric-mean; use mean.")
    of_class = rows.filter("kept").group_by("class").agg(_expression(how, column.dtype).alias("new"))
    by_record = rows.select("class", "kept").join(of_class, on="class", how="left", maintain_order="left")
    return by_record.select(pl.when("kept").then("new")).to_series().alias(name)


def _expression(how: Aggregate, dtype: Any) -> pl.Expr:
    import polars as pl

    value = pl.col("value")
    if how == "mean":
        return value.mean()
    if how == "geometric-mean":
        return (value.cast(pl.Float64) + 1).log().mean().exp() - 1  # zeros count as well
    if how == "median":
        return value.median()
    if how == "mode":
        return value.drop_nulls().mode().sort().first()
    text = pl.col("text")
    members = text.sort_by("value").drop_nulls().unique(maintain_order=True)
    several = pl.concat_str(pl.lit("{"), member_expression(members).str.join(", "), pl.lit("}"))
    if how == "set":
        span = several
    elif dtype.is_numeric():
        low, high = text.sort_by("value", nulls_last=True).first(), text.sort_by("value").last()
        endless = value.is_infinite().any() if dtype.is_float() else pl.lit(False)
        dash = pl.when(endless).then(pl.lit(", ")).otherwise(pl.lit("-"))
        span = pl.concat_str(pl.lit("["), low, dash, high, pl.lit("]"))
    else:
        low, high = text.min(), text.max()
        span = pl.concat_str(pl.lit("["), low, pl.lit(" .. "), high, pl.lit("]"))
        # such ends would be read as others
        unclear = low.str.contains(_UNCLEAR) | high.str.contains(_UNCLEAR)
        span = pl.when(unclear).then(several).otherwise(span)
    return pl.when(text.drop_nulls().n_unique() > 1).then(span).otherwise(text.drop_nulls().first())
