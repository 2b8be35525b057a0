"""Homogeneity of classes, which discloses a sensitive value."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.data.schema import Missing
from celosia.errors import NotApplicable
from celosia.parts import Column, Evidence, Risk

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table


class HomogeneityEvidence(Evidence):
    """Share of disclosed records, disclosing classes, and the fewest facts that disclose a value."""

    classes: int
    facts: int


class Homogeneity(Risk):
    r"""The share of records whose class discloses a sensitive value.

    .. math:: \frac1n \sum_E |E| \cdot [\max_s p_E(s) \ge \text{share}]

    A class discloses when its most frequent value has at least the ``share`` (1: all records have it; with a person
    column all persons, who may have several values). Missing and suppressed values do not count: the share is that
    among the known values, where there are any, and a class of suppressed values alone discloses nothing. It needs
    classes, so missing values of quasi-identifiers that are a category. `classes` lists them with the value, and with
    ``facts``: how many values an intruder must be able to rule out until only one is left; none where all persons of a
    class have the same value. Such lists contain values of
    the data: they are for the data owner. References: Machanavajjhala et al. (2007).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": ["<30", "<30", "30-40", "30-40"], "disease": ["heart", "flu", "cancer", "cancer"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"]))
    >>> Homogeneity().value(table)
    0.5
    >>> Homogeneity().classes(table).select("age", "size", "value", "facts").rows()
    [('30-40', 2, 'cancer', 0)]
    """

    column: Column | None = Field(default=None, description="the sensitive column; all declared ones when not given")
    share: float = Field(
        default=1.0, gt=0, le=1, description="share of the most frequent value that counts as disclosure"
    )
    examples: ClassVar = ({}, {"share": 0.5})

    def value(self, table: Table) -> float:
        """Return the share of records in a class that discloses a value of some sensitive column."""
        from celosia.views.persons import person_shares

        share = person_shares(table)
        total = float(share.sum())
        return float(share[self.records(table)["disclosed"].to_numpy()].sum()) / total if total else 0.0

    def evidence(self, table: Table) -> HomogeneityEvidence:
        """Return the share, the number of disclosing classes, and the fewest facts that disclose a value."""
        every = self._every(table)
        return {
            "value": self.value(table),
            "classes": len(self.classes(table)),
            "facts": int(every["facts"].min() or 0),  # type: ignore[arg-type]
        }

    def classes(self, table: Table) -> pl.DataFrame:
        """Return the disclosing classes, largest first: quasi-identifiers, column, size, value, its share, facts."""
        import polars as pl

        return (
            self._every(table).filter(pl.col("share") >= self.share).sort("size", descending=True, maintain_order=True)
        )

    def records(self, table: Table) -> pl.DataFrame:
        """Return whether the class of each record discloses a value, and the fewest facts that would."""
        import polars as pl

        keys = list(table.schema.need_quasi())
        worst = (
            self._every(table)
            .group_by(keys, maintain_order=True)
            .agg((pl.col("share") >= self.share).any().alias("disclosed"), pl.col("facts").min())
        )
        classes = table.classes.histogram.cells
        facts = classes.join(worst, on=keys, how="left", nulls_equal=True, maintain_order="left")
        disclosed = table.classes.on_records(facts["disclosed"].to_numpy(), suppressed=False)
        fewest = table.classes.on_records(facts["facts"].cast(pl.Float64).to_numpy(), suppressed=np.nan)
        return pl.DataFrame({"disclosed": disclosed, "facts": pl.Series(fewest).fill_nan(None).cast(pl.Int64)})

    def _every(self, table: Table) -> pl.DataFrame:
        """All classes with their most frequent value, for every sensitive column."""
        import polars as pl

        columns = table.schema.need_sensitive(self.column)
        blocks = [table.compute_once(("homogeneity", column), partial(_block, table, column)) for column in columns]
        return pl.concat(blocks, how="vertical_relaxed")


def _block(table: Table, column: str) -> pl.DataFrame:
    import polars as pl

    from celosia.classes import STAR
    from celosia.data.engines.lazy_frames import ROWS
    from celosia.hierarchy import text_expression

    keys = list(table.schema.need_quasi())
    if table.schema.reading() != Missing.CATEGORY:
        raise NotApplicable("homogeneity: sensitive values are counted within classes: read missing as 'category'.")
    classes, counts = table.classes.histogram.cells, table.class_counts(in_order=True)
    sizes = classes.with_columns(pl.Series("size", counts.size))
    entries = table.counts.histogram([*keys, column], suppressed=False)
    combinations = entries.cells.with_columns(pl.Series(ROWS, entries.persons))
    value = text_expression(column, combinations.schema[column]).alias("__value__")
    hidden = pl.col("__value__").is_null() | (pl.col("__value__") == STAR)
    shown, missing = pl.col(ROWS).filter(~hidden), pl.col(ROWS).filter(pl.col("__value__").is_null())
    non_missing = table.counts.count_known(keys, column, stars=False)
    sizes = sizes.join(
        non_missing.cells.with_columns(pl.Series("present", non_missing.persons)),
        on=keys,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return (
        combinations.with_columns(value)
        .sort(ROWS, "__value__", descending=[True, False])
        .group_by(keys, maintain_order=True)
        .agg(
            pl.lit(column).alias("column"),
            pl.col("__value__").filter(~hidden).first().alias("value"),
            shown.first().alias("most"),
            missing.sum().alias("missing"),
            (pl.max_horizontal(shown.len(), 1) - 1).cast(pl.Int64).alias("facts"),
        )
        .join(sizes, on=keys, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.when(pl.col("most").is_null())
            .then(pl.col("missing") / pl.col("size"))
            .otherwise(pl.col("most") / pl.col("present"))
            .alias("share")
        )
        .with_columns(pl.when(pl.col("share") < 1).then(pl.col("facts")).otherwise(0).alias("facts"))
        .select(*keys, "column", "size", "value", "share", "facts")
    )
