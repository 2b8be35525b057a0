"""Round numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import DataError
from celosia.methods.bases.by_rows import EACH_CELL
from celosia.parts import Method, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table

HAIR = 2.0**-50  # a few last bits of the quotient


class Round(Method):
    r"""Round values to multiples of a base.

    .. math:: \tilde x_i = b \left\lfloor x_i / b + u_i \right\rfloor

    with :math:`u_i = 1/2` for the nearest multiple (halves up), 0 for down, just under 1 for up, and uniform on [0, 1)
    for ``random``, which is unbiased: :math:`E\,\tilde x_i = x_i`. Whole numbers stay whole when the base is whole.

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
    rows_because: ClassVar[str] = EACH_CELL
    suits: ClassVar[tuple[str, ...]] = ("numeric",)

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        """Random draws are made by record ids."""
        return self.way == "random"

    def settled(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Each record by itself."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Round the columns."""
        types = table.polars_types()
        for name in self.columns:
            if not types[name].is_numeric():
                raise DataError(f"round: column {name!r} holds text or dates, but numbers are needed.")
        whole = {name: types[name].is_integer() and float(self.base).is_integer() for name in self.columns}
        if self.way == "random":
            return Outcome(
                table.replace({name: self._drawn(table, name, whole[name], stream) for name in self.columns})
            )
        return Outcome(table.with_columns({name: self._expression(name, whole[name]) for name in self.columns}))

    def _expression(self, name: str, whole: bool) -> Any:
        import narwhals as nw

        # Engines divide by a constant in different ways; they multiply in the same.
        raw = nw.col(name).cast(nw.Float64) * (1.0 / self.base)
        # A multiple of the base, or of its half, is one though the quotient is off by a hair: 49 * (1 / 49) is below 1.
        half = (raw * 2 + 0.5).floor() / 2
        q = nw.when((raw - half).abs() <= raw.abs() * HAIR).then(half).otherwise(raw)
        # The engines round halves differently; their floors agree.
        multiple = {"nearest": (q + 0.5).floor(), "down": q.floor(), "up": q.ceil()}[self.way]
        scaled = (multiple * self.base).round(self._decimals())
        return scaled.cast(nw.Int64) if whole else scaled

    def _drawn(self, table: Table, name: str, whole: bool, stream: Stream) -> Any:
        import polars as pl

        q = table.numeric([name])[:, 0] * (1.0 / self.base)
        u = stream.child(name).uniform(table.ids())
        # A multiple of the base stays: a quotient off by a hair must not move it.
        near = np.rint(q)
        multiple = np.where(np.abs(q - near) < 1e-9, near, np.floor(q + u))
        rounded = pl.Series(name, np.round(multiple * self.base, self._decimals())).fill_nan(None)
        return rounded.cast(pl.Int64) if whole else rounded

    def _decimals(self) -> int:
        """Decimals of the base: the product is rounded to them, so that 3 x 0.1 is 0.3."""
        return max(0, -int(Decimal(repr(self.base)).normalize().as_tuple().exponent))
