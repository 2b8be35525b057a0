"""Base class of hierarchies: parts that map every raw value of a column to a label on each level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from celosia import parts as catalogue
from celosia.hierarchy.levels import Levels
from celosia.hierarchy.text import texts

if TYPE_CHECKING:
    import polars as pl


class Hierarchy(catalogue.Part, home="celosia.hierarchy"):
    """Maps every raw value of a column to coarser labels, level by level."""

    kind: ClassVar[str] = "hierarchy"

    fallback: str | None = Field(
        default=None, description="label of values that the hierarchy does not cover; without it they are refused"
    )

    def levels(
        self, values: Iterable[object], counts: Sequence[int] | None = None, column: str | None = None
    ) -> Levels:
        """Return the level table of distinct raw values; some hierarchies depend on their frequencies ``counts``."""
        import polars as pl

        wanted = pl.Series("raw", texts(values), dtype=pl.String)
        weights = pl.Series("count", [1] * len(wanted) if counts is None else counts, dtype=pl.Int64)
        distinct = (
            pl.DataFrame({"raw": wanted, "count": weights})
            .drop_nulls("raw")
            .group_by("raw", maintain_order=True)
            .agg(pl.col("count").sum())
        )
        domain = self._domain_levels(distinct["raw"], distinct["count"])
        return domain.restrict(wanted.to_list(), self.fallback, column)

    def from_data(self) -> bool:
        """Return whether the levels depend on the values and their frequencies."""
        return False

    def is_public(self) -> bool:
        """Return whether the number of levels and all labels are known without the data."""
        return not self.from_data()

    def freeze(self, values: Iterable[object], counts: Sequence[int]) -> Hierarchy:
        """Return a hierarchy with the levels for these data, so that all later steps use the same levels."""
        if not self.from_data():
            return self
        built = self.levels(values, counts)
        columns = [built.labels(level) for level in range(built.height + 1)]
        rows = tuple(row for row in zip(*columns, strict=True) if row[0] is not None)
        if not rows:
            return self
        part: Any = catalogue.find("hierarchy", "levels")
        table: Hierarchy = part(rows=rows, fallback=self.fallback)
        return table

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:
        """Return the level table of all values that the hierarchy covers, including those of ``values``."""
        raise NotImplementedError
