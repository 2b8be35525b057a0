"""Aggregates of classes of records that replace the values of a column: mean, median, mode, range or set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np

from celosia.errors import DataError
from celosia.hierarchy.ends import AFTER, SHARED, round_ends, word_ends
from celosia.hierarchy.text import member_expression, text_series
from celosia.hierarchy.values import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

Aggregate = Literal["mean", "geometric-mean", "median", "mode", "interval", "set"]

_UNCLEAR = r"^\s|\s$|^$|\n|(^| )\.\.( |$)"
"""Matches an end of a range of words that could not be parsed back."""


def aggregate_classes(
    who: str,
    table: Table,
    name: str,
    how: Aggregate,
    label: NDArray[np.int64],
    kept: NDArray[np.bool_],
    fewest: int = 1,
) -> pl.Series:
    """Aggregate a column per class (``label``), in record order; records that are not kept get a missing value.

    So does a class in which fewer than ``fewest`` records (persons) have a value: the mean of one value is that value.
    The ends of an interval are round numbers or dates, or first letters of words.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 34, 50]}), celosia.Schema.of(quasi=["age"]))
    >>> everyone = np.ones(3, dtype=bool)
    >>> classes = np.array([0, 0, 1])
    >>> [aggregate_classes("x", table, "age", how, classes, everyone).to_list() for how in ("mean", "interval")]
    [[32.0, 32.0, 50.0], ['[30-50)', '[30-50)', '50']]
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
    person = table.schema.person
    whose = pl.Series("who", range(len(column))) if person is None else table.column(person).alias("who")
    rows = rows.with_columns(whose)
    enough = pl.col("who").filter(pl.col("value").is_not_null()).n_unique() >= fewest
    new = pl.when(enough).then(_expression(how)).alias("new")
    of_class = rows.filter("kept").group_by("class").agg(new)
    if how == "interval":
        of_class = _ranges(rows, of_class)
    by_record = rows.select("class", "kept").join(of_class, on="class", how="left", maintain_order="left")
    return by_record.select(pl.when("kept").then("new")).to_series().alias(name)


def _expression(how: Aggregate) -> pl.Expr:
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
    return pl.when(text.drop_nulls().n_unique() > 1).then(several).otherwise(text.drop_nulls().first())


def _ranges(rows: pl.DataFrame, of_class: pl.DataFrame) -> pl.DataFrame:
    """Replace the sets of several values by ranges, except where the ends of a range could not be parsed back."""
    import polars as pl

    kept = rows.filter("kept").drop_nulls("value")
    by_text = kept.group_by("text").agg(pl.col("value").min(), pl.len())
    values = by_text.sort("value")
    ends: Sequence[float | str | None] | None = round_ends(values["value"])
    words = ends is None
    if ends is None:
        values = by_text.sort("text")
        shared = (values["len"] >= SHARED) | (rows["value"].dtype == pl.Boolean)
        ends = [None if end == AFTER else end for end in word_ends(values["text"].to_list(), shared.to_numpy())]
    coded = kept.join(values.select("text").with_row_index("code"), on="text")
    spans = coded.group_by("class").agg(low=pl.col("code").min(), high=pl.col("code").max())
    both = of_class.join(spans, on="class", how="left", maintain_order="left")
    cells = [
        new if new is None or low == high else _range(ends, low, high, words) or new
        for new, low, high in both.select("new", "low", "high").iter_rows()
    ]
    return of_class.with_columns(pl.Series("new", cells, dtype=pl.String))


def _range(ends: Sequence[float | str | None], low: int, high: int, words: bool) -> str | None:
    """Text of the narrowest range with known ends around the values from ``low`` to ``high``."""
    first = next((end for end in reversed(ends[: low + 1]) if end is not None), None)
    last = next((end for end in ends[high + 1 :] if end is not None), None)
    if first is None or last is None or any(re.search(_UNCLEAR, str(end)) for end in (first, last)):
        return None
    is_open = any(end is not None for end in ends[high + 1 : -1])
    return str(Interval(first, last, high_closed=words and not is_open))
