"""Hierarchies of dates: day, month, quarter, year, decade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy

if TYPE_CHECKING:
    import polars as pl

Unit = Literal["day", "month", "quarter", "year", "decade"]
_ORDER: tuple[Unit, ...] = ("day", "month", "quarter", "year", "decade")


class Dates(Hierarchy):
    """Calendar units, coarser on each level, ``*`` on top.

    Values are ISO dates and timestamps, or have one of the ``formats`` (as in ``strftime``). Other values need
    ``fallback``.

    >>> levels = Dates(formats=["%d/%m/%Y"]).levels(["26/02/2018", "08/05/2018", "31/03/2019"])
    >>> levels.labels(1), levels.labels(2)
    (['2018-02', '2018-05', '2019-03'], ['2018-Q1', '2018-Q2', '2019-Q1'])
    >>> levels.labels(3), levels.labels(4)
    (['2018', '2018', '2019'], ['2010s', '2010s', '2010s'])
    """

    units: tuple[Unit, ...] = Field(
        default=("month", "quarter", "year", "decade"), min_length=1, description="one unit per level, finest first"
    )
    formats: tuple[str, ...] = Field(default=(), description="notations of the input besides ISO, as in strftime")

    @field_validator("units")
    @classmethod
    def _finest_first(cls, units: tuple[Unit, ...]) -> tuple[Unit, ...]:
        if list(units) != [unit for unit in _ORDER if unit in units]:
            raise ValueError(f"the units must go from fine to coarse: {', '.join(_ORDER)}.")
        return units

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:  # noqa: ARG002
        import polars as pl

        text = pl.col("v")
        iso = text.str.extract(r"^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$", 1).str.to_date("%Y-%m-%d", strict=False)
        given = [self._read(text, notation) for notation in self.formats]
        frame = values.to_frame("v").with_columns(day=pl.coalesce([iso, *given])).filter(pl.col("day").is_not_null())
        columns = [frame.select(_unit(unit)).to_series() for unit in self.units]
        return Levels.of(frame["v"].to_list(), [*columns, ["*"] * frame.height])

    @staticmethod
    def _read(text: pl.Expr, notation: str) -> pl.Expr:
        if any(code in notation for code in ("%H", "%I", "%M", "%S", "%T", "%R")):
            return text.str.to_datetime(notation, strict=False).dt.date()
        return text.str.to_date(notation, strict=False)


def _unit(unit: Unit) -> pl.Expr:
    import polars as pl

    day = pl.col("day").dt
    if unit == "day":
        return day.to_string("%Y-%m-%d")
    if unit == "month":
        return day.to_string("%Y-%m")
    if unit == "quarter":
        return day.to_string("%Y") + pl.lit("-Q") + day.quarter().cast(pl.String)
    if unit == "year":
        return day.to_string("%Y")
    return (day.year() // 10 * 10).cast(pl.String).str.zfill(4) + pl.lit("s")
