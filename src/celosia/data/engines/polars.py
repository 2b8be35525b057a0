"""Polars: lazy scans of files, data frames in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import narwhals as nw
import polars as pl

from celosia.data.engines.engine import RECORD, Engine


class Polars(Engine):
    """The default engine: streams files, keeps the order of rows."""

    name: ClassVar[str] = "polars"

    def scan(self, path: Path, **options: Any) -> pl.LazyFrame:
        """Scan CSV or Parquet."""
        if path.suffix.lower() in {".parquet", ".pq"}:
            return pl.scan_parquet(path)
        return pl.scan_csv(path, **options)

    def accept(self, frame: Any) -> pl.LazyFrame:
        """Take over a Polars, pandas, PyArrow or DuckDB frame."""
        if isinstance(frame, pl.LazyFrame):
            return frame
        if isinstance(frame, pl.DataFrame):
            return frame.lazy()
        native = nw.from_native(frame)
        if isinstance(native, nw.LazyFrame):
            native = native.collect("polars")
        eager: pl.DataFrame = native.to_polars()
        return eager.lazy()

    def identify(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Add the row number as record id."""
        return frame.with_row_index(RECORD).with_columns(pl.col(RECORD).cast(pl.Int64))

    def attach(
        self, frame: pl.LazyFrame, small: pl.DataFrame, on: Sequence[str], *, keep_unmatched: bool = True
    ) -> pl.LazyFrame:
        """Null-safe join that keeps the order of the rows."""
        types = frame.collect_schema()
        small = small.with_columns(pl.col(name).cast(types[name]) for name in on)
        how: Any = "left" if keep_unmatched else ("semi" if set(small.columns) == set(on) else "inner")
        order: Any = "none" if how == "semi" else "left"
        return frame.join(small.lazy(), on=list(on), how=how, nulls_equal=True, maintain_order=order)

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run the query with the streaming engine."""
        return frame.collect(engine="streaming")

    def streamed(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """It is one."""
        return frame

    def resident(self, frame: pl.LazyFrame) -> bool:
        """A plan that scans no file."""
        return "SCAN [" not in frame.explain(optimized=False)

    def bounded(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Collect once: a grouping is in memory as soon as its rows can be counted."""
        found = self.collect(frame)
        self.check_bound(found.height * found.width)
        return found

    def quantiles(self, frame: pl.LazyFrame, column: str, shares: Sequence[float]) -> list[float]:
        """Quantiles of one column in one pass."""
        clean = pl.col(column).drop_nulls()
        found = frame.select(clean.quantile(q, "linear").alias(str(i)) for i, q in enumerate(shares))
        return [float(value) for value in found.collect().row(0)]

    def write(self, frame: pl.LazyFrame, path: Path, **options: Any) -> None:
        """Write by streaming; the caller gives a temporary path."""
        if path.suffix.lower() in {".parquet", ".pq"}:
            frame.sink_parquet(path)
        else:
            frame.sink_csv(path, **options)
