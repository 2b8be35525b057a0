"""Values of the original that must leave nowhere, and the search for them in all the ways in which they may be written."""

from __future__ import annotations

import gzip
import html
import json
import urllib.parse
import zipfile
from pathlib import Path

import polars as pl

NAMES = [f"Zuleika-{7731 + i}" for i in range(120)]
TOWNS = ["Canarytown", "Kanaryville", "Qanarybourg"]
PAY = [777_001.25, 778_002.5, 779_003.75]
LABEL, NOTE = "labelled-canary", "note-of-the-canary"
CANARIES = [*NAMES, *TOWNS, *(str(pay) for pay in PAY), LABEL, NOTE]


def original() -> pl.DataFrame:
    """Three towns, three incomes and a region that one person has each, and a name for everybody."""
    n = len(NAMES)
    return pl.DataFrame(
        {
            "name": NAMES,
            "town": [TOWNS[i] if i < 3 else ["Vic", "Olot"][i % 2] for i in range(n)],
            "region": [9 if i == 3 else 1 + i % 2 for i in range(n)],
            "pay": [PAY[i] if i < 3 else 20_000.0 + 10_000 * (i % 5) for i in range(n)],
        }
    )


def content(path: Path) -> bytes:
    """All that a file holds, without its compression: cells, labels, statistics, hidden sheets."""
    raw = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            raw += b"".join(name.encode() + parts.read(name) for name in parts.namelist())
    if raw[:2] == b"\x1f\x8b":
        raw += gzip.decompress(raw)
    if raw[:4] == b"PAR1":
        import pyarrow.parquet as pq

        meta = pq.read_metadata(path)
        raw += (
            str(meta.metadata).encode()
            + str(pq.read_schema(path).metadata).encode()
            + str(pq.read_table(path).to_pydict()).encode()
        )
        for group in range(meta.num_row_groups):
            raw += b"".join(str(meta.row_group(group).column(i).statistics).encode() for i in range(meta.num_columns))
    if path.suffix in (".sav", ".dta", ".por", ".xpt"):
        import pyreadstat

        reader = getattr(pyreadstat, {".xpt": "read_xport"}.get(path.suffix, f"read_{path.suffix[1:]}"))
        frame, meta = reader(path)
        raw += str(frame.to_dict("list")).encode() + str(vars(meta)).encode()
    return raw


def told(blob: bytes) -> list[str]:
    """The canaries that a text holds, in any of the ways in which one is written."""
    found = []
    for canary in CANARIES:
        ways = {
            canary,
            html.escape(canary),
            urllib.parse.quote(canary),
            json.dumps(canary)[1:-1],
            canary.replace(".", ","),
        }
        if any(way.encode(code) in blob for way in ways for code in ("utf-8", "utf-16-le")):
            found.append(canary)
    return found
