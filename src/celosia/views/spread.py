"""Put what is known about a class back on its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table


def on_records(table: Table, keys: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The facts of each record's class in table order; missing where a record is suppressed.

    ``keys`` holds the quasi-identifiers of the classes, ``facts`` one row per class in the same order.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 31, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> keys, counts = table.keyed_counts()
    >>> on_records(table, keys, pl.DataFrame({"size": counts.size}))["size"].to_list()
    [2, 1, 2]
    """
    import polars as pl

    placed = table.identified()  # a join may move rows
    hidden = {name: f"__fact__{name}" for name in facts.columns}
    small = pl.concat([keys, facts.rename(hidden)], how="horizontal")
    joined = table.engine.attach(placed.rows.frame, small, list(keys.columns))
    chosen = table.engine.select(table.engine.ordered(joined), list(hidden.values()))
    found = table.engine.collect(chosen).rename({new: old for old, new in hidden.items()})
    gone = pl.Series(table.suppressed_mask())
    return found.with_columns(pl.when(~gone).then(pl.all())) if gone.any() else found
