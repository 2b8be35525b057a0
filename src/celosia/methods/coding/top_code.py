"""Top and bottom coding: extreme values become one."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.parts import Method, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class _Coding(Method):
    """What top and bottom coding share."""

    columns: SuitedColumns = Field(default=(), description="numeric columns to code; such quasi-identifiers when empty")
    value: float | str | None = Field(default=None, description="the limit: a number, or a date such as 1936-01-01")
    quantile: float | None = Field(default=None, gt=0, lt=1, description="the limit as a quantile of each column")
    replacement: float | str | None = Field(default=None, description="what stands for values beyond the limit")
    rows_because: ClassVar[str] = "a limit is put on each cell; a quantile is one of rows"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    in_memory: ClassVar[bool] = False

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if (self.value is None) == (self.quantile is None):
            raise ParameterError(f"{self.name}: give value or quantile, one of the two.")
        return self

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:
        """Code new records at the limits that were given, or at the quantiles of the release."""
        if self.quantile is None:
            return super().replay(table, recorded, stream)
        for name, limit in recorded["limits"].items():
            settled = type(self)(columns=(name,), value=limit, replacement=self.replacement)
            table = settled.apply(table, stream).table
        return table, np.zeros(len(table), dtype=np.bool_)

    def settled(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Each record by itself, at the limits that were given."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Replace the extreme values."""
        import narwhals as nw

        changes: dict[str, Any] = {}
        hits: dict[str, Any] = {}
        limits: dict[str, Any] = {}
        types = table.polars_types()
        for name in self.columns:
            limit, replacement = self._limit(table, name)
            value = nw.col(name)
            hit = self._beyond(value, nw.lit(limit))
            if types[name].is_float():  # to an engine what is no number is larger than any
                hit = hit & ~value.is_nan()
            changes[name] = nw.when(hit).then(nw.lit(replacement)).otherwise(value)
            hits[name] = (hit & (value != nw.lit(replacement))).cast(nw.Int64).sum()
            limits[name] = limit
        frame = nw.from_native(table.having(self.columns))
        counted = table.engine.collect(frame.select(**hits).to_native()).row(0, named=True)
        private = {"limits": {name: str(limit) for name, limit in limits.items()}} if self.quantile is not None else {}
        changed = {name: int(count or 0) for name, count in counted.items()}
        return Outcome(table.with_columns(changes), {"changed": changed}, private)

    def _limit(self, table: Table, name: str) -> tuple[Any, Any]:
        """The limit of a column and what replaces the values beyond it, in the column's type."""
        import polars as pl

        dtype = table.polars_types()[name]
        if dtype.is_numeric():
            limit = self._numeric_limit(self.value) if self.value is not None else self._quantile(table, name)
            replacement = limit if self.replacement is None else self._numeric_limit(self.replacement)
            if dtype.is_integer() and float(replacement).is_integer():
                replacement = int(replacement)
            return limit, replacement
        if isinstance(dtype, pl.Date | pl.Datetime):
            if self.value is None:
                raise ParameterError(f"{self.name}: column {name!r} holds dates, which need value, not quantile.")
            day = self._date_limit(self.value, dtype)
            return day, day if self.replacement is None else self._date_limit(self.replacement, dtype)
        raise DataError(f"{self.name}: column {name!r} holds text, but numbers or dates are needed.")

    def _quantile(self, table: Table, name: str) -> float:
        import narwhals as nw

        frame = table.having([name])
        if table.engine.collect(nw.from_native(frame).select(nw.col(name).max()).to_native()).item() is None:
            raise DataError(f"{self.name}: column {name!r} has no values, so it has no quantile; give value.")
        limit = float(table.engine.quantiles(frame, name, [self.quantile or 0.0])[0])
        return float(round(limit)) if table.polars_types()[name].is_integer() else limit  # whole numbers stay whole

    def _numeric_limit(self, value: float | str) -> float:
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise ParameterError(f"{self.name}: a numeric column needs a number as limit, got {value!r}.")
        return limit

    def _date_limit(self, value: float | str, dtype: Any) -> dt.date:
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

    def _beyond(self, value: Any, limit: Any) -> Any:
        raise NotImplementedError


class TopCode(_Coding):
    r"""Replace every value above a limit by the limit, or by a replacement.

    .. math:: \tilde x_i = \begin{cases} r & x_i > L \\ x_i & \text{otherwise} \end{cases}

    The limit is a number, a date, or a quantile of the column. Missing values stay missing. A date without a time zone
    is one in the zone of its column.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 90, 97]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, TopCode(columns=["age"], value=89, replacement=90)).polars()["age"].to_list()
    [30, 90, 90]
    """

    def _beyond(self, value: Any, limit: Any) -> Any:
        return value > limit


class BottomCode(_Coding):
    r"""Replace every value below a limit by the limit, or by a replacement.

    .. math:: \tilde x_i = \begin{cases} r & x_i < L \\ x_i & \text{otherwise} \end{cases}

    The limit is a number, a date, or a quantile of the column. Missing values stay missing.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [3, 20, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, BottomCode(columns=["age"], value=18)).polars()["age"].to_list()
    [18, 20, 30]
    """

    def _beyond(self, value: Any, limit: Any) -> Any:
        return value < limit
