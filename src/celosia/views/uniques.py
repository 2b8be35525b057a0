"""Unique records: those that are alone in their class."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celosia.table import Table


def unique_share(table: Table) -> float:
    """Share of unique records among those that are not suppressed; 0 without records.

    >>> import polars as pl, celosia
    >>> unique_share(celosia.read(pl.DataFrame({"age": [30, 30, 30, 31]}), celosia.Schema.of(quasi=["age"])))
    0.25
    """
    frequency, records = table.classes.sizes
    return float(records[frequency == 1].sum() / records.sum()) if len(records) else 0.0
