"""Hierarchies of codes: characters hidden from one end, ``13053 → 1305* → 130**``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy

if TYPE_CHECKING:
    import polars as pl


class Prefixes(Hierarchy):
    """Characters hidden by stars, more on each level, ``*`` on top.

    Without ``masked`` each level hides ``step`` characters more, up to the longest value. Lengths are kept, so that
    only values of equal length are merged below the top. ``side="left"`` hides the beginning.

    >>> levels = Prefixes().levels(["13053", "13068", "14853"])
    >>> levels.height, levels.labels(2), levels.labels(5)
    (5, ['130**', '130**', '148**'], ['*', '*', '*'])
    >>> levels.cut(["130**", "1485*"])
    ['130**', '130**', '1485*']
    >>> Prefixes(masked=[3]).levels(["80222", "40831"]).labels(1)
    ['80***', '40***']
    """

    masked: tuple[int, ...] = Field(default=(), description="number of hidden characters on each level")
    step: int = Field(default=1, ge=1, description="how many characters more each level hides, without masked")
    side: Literal["right", "left"] = Field(default="right", description="the end that is hidden first")

    @model_validator(mode="after")
    def _check(self) -> Prefixes:
        if list(self.masked) != sorted(set(self.masked)) or any(hidden < 1 for hidden in self.masked):
            raise ValueError("prefixes: masked must be increasing numbers of at least 1.")
        return self

    def is_public(self) -> bool:
        """Return whether ``masked`` is set; otherwise the number of levels depends on the longest value."""
        return bool(self.masked)

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:  # noqa: ARG002
        import polars as pl

        longest = int(values.str.len_chars().max() or 1)  # type: ignore[arg-type]
        hidden = self.masked or tuple(range(self.step, longest, self.step))
        columns = [values.to_frame("v").select(self._mask_expression(pl.col("v"), n)).to_series() for n in hidden]
        return Levels.of(values.to_list(), [*columns, ["*"] * len(values)])

    def _mask_expression(self, value: pl.Expr, hidden: int) -> pl.Expr:
        import polars as pl

        length = value.str.len_chars().cast(pl.Int64)
        size = pl.min_horizontal(length, pl.lit(hidden))
        stars = pl.lit("*" * hidden).str.slice(0, size)
        if self.side == "right":
            return value.str.slice(0, length - size) + stars
        return stars + value.str.slice(size)
