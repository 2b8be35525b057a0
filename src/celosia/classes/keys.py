"""One whole number per row for its values in some columns, kept on disk in the order of the records.

A table that is not in memory is turned into numbers once. From then on whoever looks at every row of these columns, to
count, to digest or to write them, reads eight bytes of it.
"""

from __future__ import annotations

import math
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.data.engines.engine import KEY, ROWS
from celosia.data.engines.fingerprint import BLOCK, block_digest, whole
from celosia.data.spill import spill_folder

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.engines.engine import Engine

ROOM = 2**62
"""So many combinations can be told apart by one number."""


@dataclass(frozen=True, eq=False)
class Keys:
    """The number of each row, and the columns that it tells: the last one's code is in its lowest place."""

    path: Path
    domains: Mapping[str, pl.Series]
    """For each column the values that occur in it, a missing one last."""

    @classmethod
    def of(cls, engine: Engine, frame: Any, domains: Mapping[str, pl.Series]) -> Keys:
        """Run once through a frame whose rows come in the order of the records. The file goes with what is returned."""
        path = Path(tempfile.mkdtemp(prefix="keys-", dir=spill_folder())) / "keys.parquet"
        engine.write(engine.keyed(frame, domains, []), path, compression="uncompressed")
        kept = cls(path, dict(domains))
        weakref.finalize(kept, path.unlink, missing_ok=True)
        return kept

    def rows(self) -> pl.LazyFrame:
        """The numbers, as column ``KEY``."""
        import polars as pl

        return pl.scan_parquet(self.path, glob=False)

    def histogram(self) -> pl.DataFrame:
        """How many rows have each number."""
        import polars as pl

        return self.rows().group_by(KEY).agg(pl.len().alias(ROWS)).collect(engine="streaming")

    def fingerprint(self, names: Sequence[str], others: pl.LazyFrame | None) -> bytes:
        """The digest of some columns, those that the numbers do not tell being given: no text is made row by row."""
        digests = []
        for block, further in self._blocks(others):
            columns = {name: (codes, self.domains[name]) for name, codes in self._codes(block)}
            digests.append(block_digest({n: columns[n] if n in columns else further[n] for n in names}))
        return whole(digests)

    def _blocks(self, others: pl.LazyFrame | None) -> Iterator[tuple[NDArray[np.int64], Mapping[str, pl.Series]]]:
        keys = self.rows().collect_batches(chunk_size=BLOCK, maintain_order=True)
        if others is None:
            for block in keys:
                yield block[KEY].to_numpy(), {}
        else:
            for block, further in zip(keys, others.collect_batches(chunk_size=BLOCK, maintain_order=True), strict=True):
                yield block[KEY].to_numpy(), further.to_dict()

    def _codes(self, keys: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """The columns that the numbers tell, the last one first."""
        for name, values in reversed(list(self.domains.items())):
            keys, codes = np.divmod(keys, len(values))
            yield name, codes


def packed(columns: Mapping[str, NDArray[np.int32]], domains: Mapping[str, pl.Series]) -> NDArray[np.int64]:
    """The number of each combination, from its codes."""
    key = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for name, values in domains.items():
        key = key * len(values) + columns[name]
    return key


def tellable(domains: Mapping[str, pl.Series]) -> bool:
    """Whether one number can tell the combinations of these values apart."""
    return math.prod(len(values) for values in domains.values()) < ROOM
