"""Top and bottom coding: extreme values become one."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.parts import CountsRows, Memory, Method, PersonUnit, RecordByRecord, SuitedColumns
from celosia.table import Outcome
from celosia.table.columns import cheapest_frame_with, column_types
from celosia.table.edit import replace_by_expressions

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

EXACT = 2**53
"""Beyond it floating-point numbers do not represent every whole number."""


class _Coding(RecordByRecord, Method):
    """Base class of top and bottom coding."""

    columns: SuitedColumns = Field(default=(), description="numeric columns to code; such quasi-identifiers when empty")
    value: int | float | str | None = Field(
        default=None, description="the limit: a number, or a date such as 1936-01-01"
    )
    quantile: float | None = Field(default=None, gt=0, lt=1, description="the limit as a quantile of each column")
    replacement: int | float | str | None = Field(default=None, description="what stands for values beyond the limit")
    persons: ClassVar[PersonUnit] = CountsRows("a limit is put on each cell; a quantile is one of rows")
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    memory: ClassVar[Memory] = "none"

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if (self.value is None) == (self.quantile is None):
            raise ParameterError(f"{self.name}: give value or quantile, one of the two.")
        return self

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:
        """Code new records at the limits of the policy, or at the recorded quantiles of the release."""
        if self.quantile is None:
            return super().replay(table, recorded, stream)
        for name, limit in recorded["limits"].items():
            with_limit = type(self)(columns=(name,), value=limit, replacement=self.replacement)
            table = with_limit.apply(table, stream).table
        return table, np.zeros(len(table), dtype=np.bool_)

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself: it codes record by record at the limit of the policy."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Replace the extreme values."""
        import narwhals as nw

        changes: dict[str, nw.Expr] = {}
        hits: dict[str, nw.Expr] = {}
        limits: dict[str, object] = {}
        types = column_types(table)
        for name in self.columns:
            limit, replacement = self._limit(table, name)
            value = nw.col(name)
            hit = self._beyond(value, nw.lit(limit))
            if types[name].is_float():  # engines order NaN above every number
                hit = hit & ~value.is_nan()
            changes[name] = nw.when(hit).then(nw.lit(replacement)).otherwise(value)
            hits[name] = (hit & (value != nw.lit(replacement))).cast(nw.Int64).sum()
            limits[name] = limit
        frame = nw.from_native(cheapest_frame_with(table, self.columns))
        counted = table.engine.collect(frame.select(**hits).to_native()).row(0, named=True)
        private = {"limits": {name: str(limit) for name, limit in limits.items()}} if self.quantile is not None else {}
        changed = {name: int(count or 0) for name, count in counted.items()}
        return Outcome(replace_by_expressions(table, changes), {"changed": changed}, private)

    def _limit(self, table: Table, name: str) -> tuple[Any, Any]:
        """Return the limit of a column and the replacement of the values beyond it, in the column's type."""
        import polars as pl

        dtype = column_types(table)[name]
        if dtype.is_numeric():
            limit = self._numeric_limit(self.value) if self.value is not None else self._quantile(table, name)
            replacement = limit if self.replacement is None else self._numeric_limit(self.replacement)
            if dtype.is_integer():
                limit, replacement = (self._whole(name, number, dtype) for number in (limit, replacement))
                return self._last_whole(limit), replacement
            return float(limit), float(replacement)
        if isinstance(dtype, pl.Date | pl.Datetime):
            if self.value is None:
                raise ParameterError(f"{self.name}: column {name!r} holds dates, which need value, not quantile.")
            day = self._date_limit(self.value, dtype)
            return day, day if self.replacement is None else self._date_limit(self.replacement, dtype)
        raise DataError(f"{self.name}: column {name!r} holds text, but numbers or dates are needed.")

    def _quantile(self, table: Table, name: str) -> float:
        import narwhals as nw

        frame, column = nw.from_native(cheapest_frame_with(table, [name])), nw.col(name)
        low, high = table.engine.collect(frame.select(low=column.min(), high=column.max()).to_native()).row(0)
        if low is None:
            raise DataError(f"{self.name}: column {name!r} has no values, so it has no quantile; give value.")
        origin = 0
        if column_types(table)[name].is_integer() and max(abs(low), abs(high)) > EXACT >= high - low:
            origin = low  # the quantile is a floating-point number
            frame = frame.select(column - nw.lit(origin))
        limit = float(table.engine.quantiles(frame.to_native(), name, [self.quantile or 0.0])[0])
        # A quantile is interpolated between two values: with it and the value that stays an intruder could compute the
        # value that is coded. So the limit is the nearest value that stays.
        stays = frame.filter(~self._beyond(column, nw.lit(limit)))
        nearest: float = table.engine.collect(stays.select(self._outermost(column)).to_native()).item() + origin
        return nearest

    def _numeric_limit(self, value: float | str) -> float:
        """Parse a limit; a whole number stays one, with all its digits."""
        for number in (float,) if isinstance(value, float) else (int, float):
            with suppress(ValueError, OverflowError):
                limit = number(value)
                if math.isfinite(limit):
                    return limit
        raise ParameterError(f"{self.name}: a numeric column needs a number as limit, got {value!r}.")

    def _whole(self, name: str, number: float, dtype: pl.DataType) -> float:
        """Check that 64 bits hold a limit of a column of whole numbers; return it as a whole number if it is one."""
        import polars as pl

        low, high = (0, 2**64 - 1) if dtype == pl.UInt64 else (-(2**63), 2**63 - 1)
        if not low <= number <= high:
            raise ParameterError(
                f"{self.name}: column {name!r} holds whole numbers, so a limit must be between {low} and {high}, "
                f"got {number!r}."
            )
        return int(number) if float(number).is_integer() else number

    def _date_limit(self, value: float | str, dtype: pl.DataType) -> dt.date:
        import polars as pl

        try:
            moment = dt.datetime.fromisoformat(str(value))
        except ValueError:
            raise ParameterError(f"{self.name}: a date is written as 1936-01-01, got {value!r}.") from None
        if not isinstance(dtype, pl.Datetime):
            return moment.date()
        if dtype.time_zone is not None:
            zone = ZoneInfo(dtype.time_zone)
            return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)
        if moment.tzinfo is not None:
            raise ParameterError(f"{self.name}: the column has no time zone, so its limit has none, got {value!r}.")
        return moment

    def _beyond(self, value: nw.Expr, limit: nw.Expr) -> nw.Expr:
        raise NotImplementedError

    def _last_whole(self, limit: float) -> float:
        """Last whole number that is not beyond the limit."""
        raise NotImplementedError

    def _outermost(self, value: nw.Expr) -> nw.Expr:
        """Largest value for top coding, smallest for bottom coding."""
        raise NotImplementedError


class TopCode(_Coding):
    r"""Replace every value above a limit by the limit, or by a replacement.

    .. math:: \tilde x_i = \begin{cases} r & x_i > L \\ x_i & \text{otherwise} \end{cases}

    The limit is a number, a date, or a quantile of the column: the largest value up to its type-7 quantile, so that
    it discloses nothing about the values above. Missing values stay missing. A date without a time zone
    is one in the zone of its column.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 90, 97]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, TopCode(columns=["age"], value=89, replacement=90)).polars()["age"].to_list()
    [30, 90, 90]
    """

    examples: ClassVar = ({"columns": ["x"], "quantile": 0.9}, {"columns": ["day"], "value": "2020-10-01"})

    def _beyond(self, value: nw.Expr, limit: nw.Expr) -> nw.Expr:
        return value > limit

    def _last_whole(self, limit: float) -> float:
        return math.floor(limit)

    def _outermost(self, value: nw.Expr) -> nw.Expr:
        return value.max()


class BottomCode(_Coding):
    r"""Replace every value below a limit by the limit, or by a replacement.

    .. math:: \tilde x_i = \begin{cases} r & x_i < L \\ x_i & \text{otherwise} \end{cases}

    The limit is a number, a date, or a quantile of the column: the smallest value from its type-7 quantile on, so that
    it discloses nothing about the values below. Missing values stay missing.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [3, 20, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, BottomCode(columns=["age"], value=18)).polars()["age"].to_list()
    [18, 20, 30]
    """

    examples: ClassVar = ({"columns": ["x"], "quantile": 0.1}, {"columns": ["m"], "value": 5})

    def _beyond(self, value: nw.Expr, limit: nw.Expr) -> nw.Expr:
        return value < limit

    def _last_whole(self, limit: float) -> float:
        return math.ceil(limit)

    def _outermost(self, value: nw.Expr) -> nw.Expr:
        return value.min()
