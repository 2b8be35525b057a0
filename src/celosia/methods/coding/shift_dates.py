"""Shift dates, the same for all rows of a person."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.data.credentials import is_reference, key_bytes
from celosia.errors import DataError, ParameterError
from celosia.parts import (
    Column,
    Credential,
    Method,
    PersonUnit,
    PublishesEvidence,
    RecordByRecord,
    SuitedColumns,
    refuse_replay,
)
from celosia.table import Outcome
from celosia.table.columns import column_types

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

WEEK = 7
LAST_YEAR = 9999  # of what most programs can read


class ShiftDates(PublishesEvidence, RecordByRecord, Method):
    r"""Shift all dates of a person by the same random number of days.

    .. math:: \tilde d_{ij} = d_{ij} + s_i, \qquad s_i \text{ uniform on } \{-D, \dots, D\}

    Spans of time between the dates of a person stay exact; the calendar does not. ``by`` is the person column unless
    another is named; without either every record has a shift of its own. ``weeks`` shifts whole weeks, so that the
    days of the week stay. With ``key``, which needs persons, shifts come from the key and the person's number alone: a
    later file with the same key gets the same ones; with a seed other data get other ones. A date known to the day to
    an intruder is hidden only among :math:`2D + 1` days, and two known dates of different persons bound both shifts.
    Dates as text need ``notation``. Fails where a date would leave the years 1 to 9999.

    >>> import polars as pl, celosia, datetime
    >>> days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 11)]
    >>> table = celosia.read(pl.DataFrame({"id": [7, 7], "seen": days}), celosia.Schema.of(person="id"))
    >>> first, second = celosia.protect(table, ShiftDates(columns=["seen"], days=30), seed=1).polars()["seen"]
    >>> (second - first).days, abs((first - days[0]).days) <= 30
    (10, True)
    """

    columns: SuitedColumns = Field(
        default=(), description="date columns, shifted together; such quasi-identifiers when empty"
    )
    days: int = Field(default=182, ge=1, description="largest shift in days, to either side")
    by: Column | None = Field(default=None, description="column of the persons; the declared one when not given")
    weeks: bool = Field(default=False, description="shift by whole weeks")
    notation: str | None = Field(default=None, description="how dates are written in text columns, as in strftime")
    key: Annotated[str | None, Credential()] = Field(
        default=None,
        description="secret of at least 16 bytes, or env:NAME, file:PATH: the same shifts in all files",
    )
    suits: ClassVar[tuple[str, ...]] = ("date",)
    public_evidence: ClassVar[frozenset[str]] = frozenset({"shifted", "consistent by"})
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = (
        "its shifts came from the seed and the data of that run. Give key to shift files alike"
    )
    examples: ClassVar = (
        {"columns": ["day"], "days": 30},
        {"columns": ["day"], "by": "h", "key": "correct horse battery"},
    )

    @model_validator(mode="after")
    def _possible(self) -> ShiftDates:
        if self.key is not None and not is_reference(self.key):
            key_bytes(self.key, self.name)
        if self.weeks and self.days < WEEK:
            raise ParameterError(f"shift-dates: weeks needs days of at least {WEEK}, got {self.days}.")
        return self

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself, which needs the key of the release."""
        if self.key is None:
            raise refuse_replay(self)
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Shift the columns."""
        import polars as pl

        by = self.by or table.schema.person
        if by is None and self.key is not None:
            raise ParameterError(
                "shift-dates: key gives each person a shift, but no column names the persons; give by, declare a "
                "person column, or leave key out."
            )
        shifts = self._shifts(table, by, stream)
        changed = {}
        for name in self.columns:
            dates = self._dates(table.column(name))
            moved = pl.DataFrame({name: dates, "__shift__": shifts}).select(
                pl.col(name) + pl.duration(days=pl.col("__shift__"))
            )[name]
            self._check_years(moved)
            is_text = column_types(table)[name] == pl.String
            changed[name] = moved.dt.strftime(self.notation or "%Y-%m-%d") if is_text else moved.cast(dates.dtype)
        return Outcome(table.replace(changed), {"shifted": list(self.columns), "consistent by": by or "record"})

    def _shifts(self, table: Table, by: str | None, stream: Stream) -> NDArray[np.int64]:
        """Shift of each record in days."""
        from celosia.hierarchy import texts

        step = WEEK if self.weeks else 1
        reach = self.days // step
        if by is None:
            draws = stream.child("shift").uniform(table.ids())
            return (np.floor(draws * (2 * reach + 1)).astype(np.int64) - reach) * step
        key = key_bytes(self.key, self.name) if self.key is not None else stream.child("shift").key()
        column = table.column(by)
        codes, values = table.codes(by)
        shifts = np.array([_draw(key, str(text), reach) for text in texts(values)] or [0], dtype=np.int64)
        of_person = shifts[np.maximum(codes, 0)]
        # A record without a person is a person of its own.
        missing = column.is_null().to_numpy()
        alone = np.floor(stream.child("alone").uniform(table.ids()) * (2 * reach + 1)).astype(np.int64) - reach
        result: NDArray[np.int64] = np.where(missing, alone, of_person) * step
        return result

    def _check_years(self, moved: pl.Series) -> None:
        gone = int((~moved.dt.year().is_between(1, LAST_YEAR)).sum())
        if gone:
            raise DataError(
                f"shift-dates: {gone} values of column {moved.name!r} would leave the years 1 to {LAST_YEAR}. Lower "
                "days, or blank dates that stand for no day (suppress-cells) first."
            )

    def _dates(self, column: pl.Series) -> pl.Series:
        import polars as pl

        if isinstance(column.dtype, pl.Date | pl.Datetime):
            return column
        if column.dtype != pl.String:
            raise DataError(f"shift-dates: column {column.name!r} holds no dates.")
        dates = column.str.to_date(self.notation or "%Y-%m-%d", strict=False)
        lost = dates.null_count() - column.null_count()
        if lost:
            raise DataError(
                f"shift-dates: {lost} values of column {column.name!r} are no dates in the notation"
                f" {self.notation or '%Y-%m-%d'!r}. Give notation."
            )
        return dates


def _draw(key: bytes, person: str, reach: int) -> int:
    """Derive a whole number from -reach to reach; 64 bits make the bias of the remainder negligible."""
    digest = hmac.digest(key, person.encode(), hashlib.sha256)
    return int.from_bytes(digest[:8], "big") % (2 * reach + 1) - reach
