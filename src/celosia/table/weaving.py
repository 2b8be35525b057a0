"""The rows of a protected table, put together from the combinations that were followed through its steps.

Each row of the input is one number, that of its combination; the numbers are moved to their new places, and there the
cells that became of the combination are looked up. So no text is moved or compared row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes.keys import Keys, packed, tellable
from celosia.data.engines.engine import KEY, RECORD
from celosia.data.engines.ordering import in_drawn_order

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes import Followed
    from celosia.streams import Stream
    from celosia.table.table import Table
    from celosia.table.tracing import Trace

PLACE = "__place__"
READ = 1 << 20
"""Rows that are read at once."""
WRITTEN = 1 << 16
"""Rows whose cells are looked up at once."""


@dataclass(frozen=True, eq=False)
class Weaving:
    """A table, the combinations of its input, and the number of each."""

    table: Table
    trace: Trace
    followed: Followed
    kept: Keys | None
    """The numbers of the rows, where they were kept."""
    domains: Mapping[str, pl.Series]
    """The columns that a number tells, and their values."""
    keys: NDArray[np.int64]
    """The numbers of the combinations, in rising order."""
    entry: NDArray[np.int64]
    """Which combination each of them is."""

    @classmethod
    def of(cls, table: Table) -> Weaving | None:
        """What it takes for a table whose steps gave equal cells to equal cells; None for others."""
        trace = table.trace
        if trace is None or not trace.steps or not set(table.names) <= set(trace.base.names):
            return None
        kept = trace.base.classes.kept
        touched = [name for name in table.names if trace.touches(name)]
        followed = trace.followed(list(dict.fromkeys([*touched, *(kept.domains if kept else ())])))
        if followed is None or not followed.before:
            return None
        if kept is None or set(kept.domains) != set(followed.before):
            kept = None
        domains = kept.domains if kept else {name: column.values for name, column in followed.before.items()}
        if not tellable(domains):
            return None
        keys = packed({name: followed.before[name].codes for name in domains}, domains)
        entry = np.argsort(keys, kind="stable")
        keys = keys[entry]
        return cls(table, trace, followed, kept, domains, keys, entry) if (np.diff(keys) > 0).all() else None

    @classmethod
    def shuffling(cls, table: Table, stream: Stream) -> pl.LazyFrame:
        """The same of a table for which there is one."""
        woven = cls.of(table)
        assert woven is not None
        return woven.shuffled(stream)

    def shuffled(self, stream: Stream) -> pl.LazyFrame:
        """The visible columns, rows in the order that the stream and the ids of the records give."""
        import polars as pl
        from polars.io.plugins import register_io_source

        def batches(columns: list[str] | None, predicate: Any, most: int | None, _size: int | None) -> Iterator[Any]:
            names = self.table.names if columns is None else columns
            for rows in in_drawn_order(self._placed(), len(self.table), stream):
                for some in rows.iter_slices(WRITTEN):
                    cells = self._cells(some if most is None else some.head(most), names)
                    most = None if most is None else most - len(cells)
                    yield cells if predicate is None else cells.filter(predicate)
                    if most == 0:
                        return

        types = self.table.polars_types()
        return register_io_source(batches, schema=pl.Schema({name: types[name] for name in self.table.names}))

    def _placed(self) -> Iterator[pl.DataFrame]:
        """The rows that are left: which combination each has, its id, and the columns that no number tells."""
        import polars as pl

        from celosia.mathematics.kernels.grouping.locating import locate, starting

        first = 0
        starts, shift = starting(self.keys)
        for batch in self._rows.collect_batches(chunk_size=READ, maintain_order=True):
            place = locate(self.keys, starts, shift, batch[KEY].to_numpy())
            ids = np.arange(first, first + len(batch))
            first += len(batch)
            placed = batch.drop(KEY).with_columns(pl.Series(PLACE, place), pl.Series(RECORD, ids))
            yield placed if (place >= 0).all() else placed.filter(pl.col(PLACE) >= 0)

    @property
    def _rows(self) -> pl.LazyFrame:
        """The number of each row of the input in the order of the records, and the columns that none tells."""
        others = [name for name in self.table.names if name not in self.domains]
        if self.kept is not None and not others:
            return self.kept.rows()
        base, engine = self.trace.base, self.table.engine
        return engine.streamed(engine.keyed(base.rows.frame, self.domains, others), rows=len(base))

    def _cells(self, rows: pl.DataFrame, names: list[str] | tuple[str, ...]) -> pl.DataFrame:
        """The visible cells of some rows."""
        import polars as pl

        place = rows[PLACE].to_numpy()
        woven = self._woven
        cells = {n: woven[n][1].gather(woven[n][0][place].astype(np.uint32)) if n in woven else rows[n] for n in names}
        return pl.DataFrame(cells)

    @cached_property
    def _woven(self) -> dict[str, tuple[NDArray[Any], pl.Series]]:
        """The code that each combination now has in each column, in as few bytes as it takes, and the values."""
        patterns = self.followed.patterns
        columns = {name: patterns.column(name) for name in self.table.names if name in patterns.names}
        return {
            name: (column.codes[self.entry].astype(np.min_scalar_type(max(1, len(column.values)))), column.values)
            for name, column in columns.items()
        }


__all__ = ["Weaving"]
