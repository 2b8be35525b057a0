"""The rows of a protected table, put together from the combinations that were followed through its steps.

Each row of the input is one number, that of its combination; the numbers are moved to their new places, and there the
cells that became of the combination are looked up. So no text is moved or compared row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes.counting import ROOM
from celosia.data.engines.engine import KEY, RECORD

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes import Encoded, Followed
    from celosia.streams import Stream
    from celosia.table.table import Table

PLACE = "__place__"


@dataclass(frozen=True, eq=False)
class Weaving:
    """A table, the combinations of its input, and the number of each."""

    table: Table
    followed: Followed
    keys: NDArray[np.int64]
    """The number of each combination, in rising order."""
    whole: bool
    """Whether every row of the input is left."""

    @classmethod
    def of(cls, table: Table) -> Weaving | None:
        """What it takes for a table whose steps gave equal cells to equal cells; None for others."""
        trace = table.trace
        if trace is None or not trace.steps or not set(table.names) <= set(trace.base.names):
            return None
        followed = trace.followed([name for name in table.names if trace.touches(name)])
        if followed is None or not followed.before:
            return None
        if math.prod(len(column.values) for column in followed.before.values()) >= ROOM:
            return None
        keys = np.zeros(len(followed.patterns), dtype=np.int64)
        for column in followed.before.values():
            keys = keys * len(column.values) + column.codes
        if not (np.diff(keys) > 0).all():
            return None
        return cls(table, followed, keys, not any(step.drops for step in trace.steps))

    def shuffled(self, stream: Stream) -> pl.LazyFrame:
        """The visible columns, rows in the order that the stream and the ids of the records give."""
        import polars as pl

        trace, engine, names = self.table.trace, self.table.engine, self.table.names
        assert trace is not None
        woven = self.followed.patterns
        others = [name for name in names if name not in woven.names]
        domains = {name: column.values for name, column in self.followed.before.items()}
        keyed = engine.shuffle(engine.keyed(trace.base.rows.frame, domains, [RECORD, *others]), stream)
        rows = engine.streamed(engine.select(keyed, [KEY, *others]), rows=len(trace.base))
        rows = rows.with_columns(pl.col(KEY).map_batches(self._place, pl.Int64, is_elementwise=True).alias(PLACE))
        if not self.whole:
            rows = rows.filter(pl.col(PLACE) >= 0)
        cells = {name: _cells(woven.column(name)) for name in names if name in woven.names}
        return rows.select(cells[name].alias(name) if name in cells else pl.col(name) for name in names)

    def _place(self, keys: pl.Series) -> pl.Series:
        """Which combination each number is; -1 for one that is left out."""
        import polars as pl

        given = keys.to_numpy()
        place = np.searchsorted(self.keys, given)
        if not self.whole:
            there = np.take(self.keys, place, mode="clip") == given if len(self.keys) else np.zeros(len(given), bool)
            place = np.where(there, place, -1)
        return pl.Series(place, dtype=pl.Int64)


def _cells(column: Encoded) -> pl.Expr:
    """The cell of each combination, by its place."""
    import polars as pl

    codes = column.codes.astype(np.min_scalar_type(max(1, len(column.values))))

    def called(places: pl.Series) -> pl.Series:
        return column.values.gather(codes[places.to_numpy()].astype(np.uint32))

    return pl.col(PLACE).map_batches(called, column.values.dtype, is_elementwise=True)


__all__ = ["Weaving"]
