"""Shuffle of rows on disk, in the order that a random stream gives to their records.

The words of a stream are uniform. So a part of their range has a known share of the rows: rows are written to the part
of their word, and each part is sorted by itself. No parts have to be merged.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from celosia.data.engines.fingerprint import BLOCK
from celosia.data.engines.lazy_frames import ORDER, RECORD
from celosia.data.spill import spill_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream

PART = 1 << 21
"""Rows that are sorted in memory at once."""


def sort_by_draw(batches: Iterable[pl.DataFrame], rows: int, stream: Stream) -> Iterator[pl.DataFrame]:
    """Sort batches of rows by the words of their record ids (``RECORD``, which increase), and drop the ids.

    ``rows`` is the approximate number of rows. Ties keep the order of the ids.
    """
    parts = -(-rows // PART) or 1
    stream = stream.with_digest()
    keyed = (batch.drop(RECORD).with_columns(pl.Series(ORDER, _words(stream, batch[RECORD]))) for batch in batches)
    if parts == 1:
        whole = list(keyed)
        yield from [_sort(pl.concat(whole))] if whole else []
        return
    place = Path(tempfile.mkdtemp(prefix="order-", dir=spill_folder()))
    try:
        paths: list[list[Path]] = [[] for _ in range(parts)]
        for batch in keyed:
            for part, some in _split(batch, parts):
                paths[part].append(place / f"{part}-{len(paths[part])}.arrow")
                some.write_ipc(paths[part][-1])
        for own in filter(None, paths):
            yield _sort(pl.concat([pl.scan_ipc(path, glob=False).collect() for path in own]))
            for path in own:
                path.unlink()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _sort(part: pl.DataFrame) -> pl.DataFrame:
    return part.sort(ORDER, maintain_order=True).drop(ORDER)


def _words(stream: Stream, ids: pl.Series) -> NDArray[np.uint64]:
    """First word of each id, by blocks, so that the three other words of all ids are not in memory together."""
    records = ids.to_numpy()
    words = np.empty(len(records), dtype=np.uint64)
    for start in range(0, len(records), BLOCK):
        words[start : start + BLOCK] = stream.words(records[start : start + BLOCK])[:, 0]
    return words


def _split(batch: pl.DataFrame, parts: int) -> Iterator[tuple[int, pl.DataFrame]]:
    """Split a batch by the part of the range that the word of each row is in."""
    words = batch[ORDER].to_numpy()
    part = ((words >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.uint16)
    moved = batch[np.argsort(part, kind="stable")]
    ends = np.cumsum(np.bincount(part, minlength=parts))
    for number, (end, size) in enumerate(zip(ends, np.diff(ends, prepend=0), strict=True)):
        if size:
            yield number, moved.slice(int(end - size), int(size))


__all__ = ["sort_by_draw"]
