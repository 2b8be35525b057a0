"""One value per class in place of a column's own: mean, median, mode, range or set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.errors import DataError
from celosia.hierarchy.text import member_expression

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

Aggregate = Literal["mean", "geometric-mean", "median", "mode", "interval", "set"]


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
    rows = pl.DataFrame({"class": label, "value": column, "kept": kept})
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
    text = value.drop_nulls().cast(pl.String) if dtype != pl.String else value.drop_nulls()
    if how == "set":
        several = pl.concat_str(pl.lit("{"), member_expression(text.unique().sort()).str.join(", "), pl.lit("}"))
        return pl.when(value.drop_nulls().n_unique() > 1).then(several).otherwise(text.first())
    low, high = value.min().cast(pl.String), value.max().cast(pl.String)
    span = pl.concat_str(pl.lit("["), low, pl.lit("-"), high, pl.lit("]"))
    return pl.when(value.min() != value.max()).then(span).otherwise(low)
