"""Check of a text file in one pass over its bytes: number of records, equal numbers of fields, valid UTF-8.

The separators and line ends outside quotes are found with array operations on blocks, so the pass takes about as long
as reading the file. It is done before the lazy scan, because a scan silently pads short records and detects damaged
characters only in the middle of a run.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from celosia.data.io.text.sniff import open_bytes

BLOCK = 1 << 24
QUOTE, LINE_FEED, RETURN = 34, 10, 13


@dataclass(frozen=True)
class Structure:
    """Counts of records (with the header), ragged records and blank lines; whether the text is UTF-8 and has quotes."""

    records: int
    ragged: int
    first_ragged: int
    blank: int
    trailing: int
    utf8: bool
    quoted: bool
    unclosed: bool = False


def structure_of(source: Path | bytes, separator: str, fields: int) -> Structure:
    r"""Count the records of a file, and those without the expected number of fields.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place) / "a.csv"
    ...     _ = file.write_text('a,b\n1,"x\ny,z"\n2\n')
    ...     structure_of(file, ",", 2)
    Structure(records=3, ragged=1, first_ragged=3, blank=0, trailing=0, utf8=True, quoted=True, unclosed=False)
    """
    decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")()
    tally = _Tally(fields)
    inside, carried, empty, last = 0, 0, True, LINE_FEED
    mark = ord(separator)
    with open_bytes(source) as file:
        while block := file.read(BLOCK):
            decoder = _feed(decoder, block)
            b = np.frombuffer(block, dtype=np.uint8)
            if inside or QUOTE in block:
                tally.quoted = True
                # Parity of the quotes so far; the sum wraps at 256, which keeps its parity.
                parity = (np.cumsum(b == QUOTE, dtype=np.uint8) + inside) & 1
                outside = parity == 0
                ends = np.flatnonzero((b == LINE_FEED) & outside)
                marks = np.flatnonzero((b == mark) & outside)
                inside = int(parity[-1])
            else:
                ends = np.flatnonzero(b == LINE_FEED)
                marks = np.flatnonzero(b == mark)
            if ends.size:
                upto = np.searchsorted(marks, ends)
                counts = np.diff(upto, prepend=0)
                counts[0] += carried
                starts = np.concatenate([[0], ends[:-1] + 1])
                length = ends - starts
                bare = (length == 0) | ((length == 1) & (b[starts] == RETURN))
                bare[0] &= empty
                tally.add(counts, bare)
                carried = int(marks.size - upto[-1])
                empty = bool(ends[-1] == b.size - 1)
            else:
                carried += int(marks.size)
                empty = False
            last = int(b[-1])
    if last != LINE_FEED or inside:
        tally.add(np.array([carried]), np.array([False]))
    return tally.result(_is_complete(decoder), unclosed=bool(inside))


def damaged_columns(path: Path, separator: str, names: tuple[str, ...]) -> dict[str, int]:
    """Count, per column, the cells that are not UTF-8."""
    import polars as pl

    with open_bytes(path) as file:
        # Every byte becomes one character and back, so that damaged cells pass the parser.
        text = file.read().decode("latin-1").encode()
    frame = pl.read_csv(
        text,
        separator=separator,
        infer_schema=False,
        has_header=False,
        truncate_ragged_lines=True,
        new_columns=list(names),
    )
    damaged = {}
    for name in frame.columns:
        high = frame[name].drop_nulls()
        high = high.filter(high.str.contains(r"[^\x00-\x7F]"))
        bad = sum(1 for cell in high.to_list() if not _is_utf8(cell))
        if bad:
            damaged[name] = bad
    return damaged


class _Tally:
    """Running counts of records."""

    def __init__(self, fields: int) -> None:
        self.fields = fields
        self.quoted = False
        self.records = self.ragged = self.first = self.blank = self.trailing = 0

    def add(self, counts: np.ndarray, bare: np.ndarray) -> None:
        # In a file of one column an empty line is a missing value, not a blank line.
        bare = bare if self.fields > 1 else np.zeros_like(bare)
        wrong = (counts + 1 != self.fields) & ~bare
        if not self.first and wrong.any():
            self.first = self.records + int(np.argmax(wrong)) + 1
        self.ragged += int(wrong.sum())
        self.records += counts.size
        self.blank += int(bare.sum())
        full = np.flatnonzero(~bare)
        self.trailing = int(bare.size - 1 - full[-1]) if full.size else self.trailing + bare.size

    def result(self, utf8: bool, unclosed: bool) -> Structure:
        return Structure(self.records, self.ragged, self.first, self.blank, self.trailing, utf8, self.quoted, unclosed)


def _feed(decoder: codecs.IncrementalDecoder | None, block: bytes) -> codecs.IncrementalDecoder | None:
    """Feed a block to the decoder; None if the text is not UTF-8."""
    if decoder is None:
        return None
    try:
        decoder.decode(block)
    except UnicodeDecodeError:
        return None
    return decoder


def _is_complete(decoder: codecs.IncrementalDecoder | None) -> bool:
    """Return whether the text is UTF-8 to its last byte."""
    try:
        return decoder is not None and decoder.decode(b"", final=True) == ""
    except UnicodeDecodeError:
        return False


def _is_utf8(cell: str) -> bool:
    """Return whether the bytes of a cell, one per character, are UTF-8."""
    try:
        cell.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
