"""Round numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import DataError
from celosia.methods.bases.by_rows import EACH_CELL
from celosia.parts import CountsRows, Method, PersonUnit, RecordByRecord, SuitedColumns
from celosia.table import Outcome
from celosia.table.columns import column_types
from celosia.table.edit import replace_by_expressions

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table

LARGEST = 2**62  # twice the base must fit in 64 bits
HAIR = 2.0**-50  # a few last bits of the quotient


class Round(RecordByRecord, Method):
    r"""Round values to multiples of a base.

    .. math:: \tilde x_i = b \left\lfloor x_i / b + u_i \right\rfloor

    with :math:`u_i = 1/2` for the nearest multiple (halves up), 0 for down, just under 1 for up, and uniform on [0, 1)
    for ``random``, which is unbiased: :math:`E\,\tilde x_i = x_i`. Whole numbers stay whole when the base is whole, to
    the last digit; those too near to the largest that 64 bits hold are refused.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"income": [1234, 1250, 1999]}), celosia.Schema.of(sensitive=["income"]))
    >>> celosia.protect(table, Round(columns=["income"], base=100)).polars()["income"].to_list()
    [1200, 1300, 2000]
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns to round; such quasi-identifiers when empty"
    )
    base: float = Field(gt=0, allow_inf_nan=False, description="results are multiples of it")
    way: Literal["nearest", "down", "up", "random"] = Field(default="nearest", description="which multiple is taken")
    persons: ClassVar[PersonUnit] = CountsRows(EACH_CELL)
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    examples: ClassVar = ({"columns": ["x"], "base": 5}, {"columns": ["m"], "base": 10, "way": "random"})

    def needs_memory(self, schema: Schema) -> bool:  # noqa: ARG002
        """Random rounding draws by record ids."""
        return self.way == "random"

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself: it rounds record by record."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Round the columns."""
        types = column_types(table)
        for name in self.columns:
            if not types[name].is_numeric():
                raise DataError(f"round: column {name!r} holds text or dates, but numbers are needed.")
        exact = float(self.base).is_integer() and self.base <= LARGEST
        whole = {name: types[name].is_integer() and exact for name in self.columns}
        self._check_room(table, [name for name in self.columns if whole[name]])
        if self.way == "random":
            return Outcome(
                table.replace({name: self._round_randomly(table, name, whole[name], stream) for name in self.columns})
            )
        return Outcome(
            replace_by_expressions(
                table, {name: self._whole(name) if whole[name] else self._expression(name) for name in self.columns}
            )
        )

    def _check_room(self, table: Table, names: list[str]) -> None:
        """Refuse whole numbers whose multiple 64 bits may not hold."""
        import narwhals as nw

        if not names:
            return
        ends = [
            end.alias(f"{at}") for at, end in enumerate(e for n in names for e in (nw.col(n).min(), nw.col(n).max()))
        ]
        values = table.engine.collect(nw.from_native(table.rows.frame).select(*ends).to_native()).row(0)
        for at, name in enumerate(names):
            low, high = (0 if end is None else int(end) for end in values[2 * at : 2 * at + 2])
            if low < int(self.base) - 2**63 or high >= 2**63 - int(self.base):
                raise DataError(
                    f"round: column {name!r} holds whole numbers that are too large to be rounded to multiples of "
                    f"{self.base:g} in 64 bits; read it as floating-point numbers, or take a smaller base."
                )

    def _whole(self, name: str) -> nw.Expr:
        """Round whole numbers without a quotient, which would lose digits beyond 2**53."""
        import narwhals as nw

        x, base = nw.col(name).cast(nw.Int64), int(self.base)
        # The remainder of a negative number is negative on some engines.
        over = (x % base + base) % base
        up = {"nearest": over >= base - base // 2, "down": over < 0, "up": over > 0}[self.way]
        return nw.when(up).then(x - over + base).otherwise(x - over)

    def _expression(self, name: str) -> nw.Expr:
        import narwhals as nw

        # Engines divide by a constant in different ways; they multiply in the same.
        raw = nw.col(name).cast(nw.Float64) * (1.0 / self.base)
        # A multiple of the base, or of its half, is one though the quotient is off by a hair: 49 * (1 / 49) is below 1.
        half = (raw * 2 + 0.5).floor() / 2
        q = nw.when((raw - half).abs() <= raw.abs() * HAIR).then(half).otherwise(raw)
        # The engines round halves differently; their floors agree.
        multiple = {"nearest": (q + 0.5).floor(), "down": q.floor(), "up": q.ceil()}[self.way]
        return (multiple * self.base).round(self._decimals())

    def _round_randomly(self, table: Table, name: str, whole: bool, stream: Stream) -> pl.Series:
        import polars as pl

        u = stream.child(name).uniform(table.ids())
        if whole:
            x, base = table.column(name).cast(pl.Int64), int(self.base)
            over = (x % base + base) % base
            return x - over + (over / base + pl.Series(u) >= 1).cast(pl.Int64) * base
        q = table.numeric([name])[:, 0] * (1.0 / self.base)
        # A multiple of the base stays: a quotient off by a hair must not move it.
        near = np.rint(q)
        multiple = np.where(np.abs(q - near) < 1e-9, near, np.floor(q + u))
        return pl.Series(name, np.round(multiple * self.base, self._decimals())).fill_nan(None)

    def _decimals(self) -> int:
        """Decimals of the base: the product is rounded to them, so that 3 x 0.1 is 0.3."""
        return max(0, -int(Decimal(repr(self.base)).normalize().as_tuple().exponent))
