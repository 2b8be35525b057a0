"""Round numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.catalogue import Columns, Method
from celosia.errors import DataError
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


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

    columns: Columns = Field(min_length=1, description="numeric columns to round")
    base: float = Field(gt=0, description="results are multiples of it")
    way: Literal["nearest", "down", "up", "random"] = Field(default="nearest", description="which multiple is taken")
    in_memory: ClassVar[bool] = False

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

        q = nw.col(name).cast(nw.Float64) / self.base
        # The engines round halves differently; their floors agree.
        multiple = {"nearest": (q + 0.5).floor(), "down": q.floor(), "up": q.ceil()}[self.way]
        scaled = self._scaled(multiple)
        return scaled.cast(nw.Int64) if whole else scaled

    def _drawn(self, table: Table, name: str, whole: bool, stream: Stream) -> Any:
        import polars as pl

        x = table.numeric([name])[:, 0]
        u = stream.child(name).uniform(table.ids())
        rounded = self._scaled(np.floor(x / self.base + u))
        # A multiple of the base is its own neighbour: a quotient off by a hair must not move it.
        near = np.rint(x / self.base)
        rounded = np.where(np.abs(x / self.base - near) < 1e-9, self._scaled(near), rounded)
        made = pl.Series(name, rounded).fill_nan(None)
        return made.cast(pl.Int64) if whole else made

    def _scaled(self, multiple: Any) -> Any:
        """The multiple times the base; for 0.1, 0.01 … divided by 10, 100 …, which has no rounding dust."""
        inverse = 1.0 / self.base
        near = round(inverse)
        return multiple / near if self.base < 1 and abs(inverse - near) < 1e-9 * near else multiple * self.base
