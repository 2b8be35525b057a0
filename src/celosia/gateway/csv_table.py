"""CSV files of the gateway, read in a fixed format: no record changes how another one is read."""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.io.statement import quote_name
from celosia.data.io.text.sniff import SEPARATORS, open_bytes, refuse_inflated
from celosia.errors import DataError
from celosia.gateway.metadata import ColumnFacts
from celosia.gateway.sql.values import LONGEST_TEXT

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_WHOLE = "[+-]?[0-9]+([.]0*)?"
_LOG = logging.getLogger(__name__)


def load_csv(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, columns: Mapping[str, ColumnFacts]
) -> list[str]:
    """Create a table of the declared columns; a cell that is not of the declared type is missing.

    Return the columns of which no cell is of the declared type.

    If the file has no declared column, all of its columns are loaded, and the check of the declaration names those
    that it misses.
    """
    frame = _read_texts(path, tuple(columns))
    typed = {column: _cast(quote_name(column), columns[column]) for column in frame.columns if column in columns}
    connection.register("celosia file", frame.to_arrow())
    listed = ", ".join(f"{sql} AS {quote_name(column)}" for column, sql in typed.items()) or "*"
    connection.execute(f'CREATE TABLE {quote_name(name)} AS SELECT {listed} FROM "celosia file"')  # noqa: S608
    counts = ", ".join(f"COUNT({quote_name(column)})" for column in typed) or "1"
    fitting = connection.execute(f"SELECT {counts} FROM {quote_name(name)}").fetchall()[0]  # noqa: S608
    connection.unregister("celosia file")
    for column, fits in zip(typed, fitting, strict=False):
        cells = frame[column].count()
        if fits < cells:  # for the data owner; a refusal would let one record decide whether anyone is answered
            _LOG.warning(
                "%d of %d values of the column %r of %r are no %s; they count as missing.",
                cells - fits, cells, column, name, columns[column].type,
            )  # fmt: skip
        unreadable = frame[column].str.contains("\ufffd", literal=True).sum()
        if unreadable:
            _LOG.warning("%d values of the column %r of %r are not in UTF-8.", unreadable, column, name)
    return [column for column, fits in zip(typed, fitting, strict=False) if not fits and frame[column].count()]


def _read_texts(path: Path, declared: tuple[str, ...]) -> pl.DataFrame:
    """Read all cells as text. The first line, which is public, decides on the separator, and no record on anything.

    Each line is a record, so that no quotation mark joins it to others. Missing fields are empty and surplus ones are
    left out.
    """
    import polars as pl

    refuse_inflated(path)
    with open_bytes(path) as file:
        data = file.read()
    header = data.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r")
    if not header.strip():
        raise DataError(f"{path.name} has no header: its first line must name the columns.")
    names = {mark: next(csv.reader([header], delimiter=mark), []) for mark in SEPARATORS}
    separator = max(SEPARATORS, key=lambda mark: len(set(names[mark]) & set(declared)))
    chosen = [column for column in names[separator] if column in declared]
    text = _pair_quotes(data, separator, several=len(names[separator]) > 1)
    opening = re.compile(rb'(?<![^%b\n])"' % re.escape(separator.encode()))
    opened = len(opening.findall(data)) - len(opening.findall(text))
    if opened:
        _LOG.warning(
            "%d cells of %r open a quotation mark that their line does not close. Each line counts as a record: "
            "write texts with line breaks to a Parquet file.",
            opened, path.name,
        )  # fmt: skip
    return pl.read_csv(
        text,
        separator=separator,
        columns=list(dict.fromkeys(chosen)) or None,
        infer_schema=False,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
    )


def _pair_quotes(data: bytes, separator: str, *, several: bool) -> bytes:
    r"""Drop quotation marks that enclose no field of one line, which would join their line to others, and blank lines.

    >>> _pair_quotes(b'a,b\n1,"x, y"\n2,"x\n3,5" pipe\n', ",", several=True)
    b'a,b\n1,"x, y"\n2,x\n3,5 pipe\n'
    """
    mark = re.escape(separator.encode())
    field = rb'(?<![^%b\n])"(?:[^"\n]++|"")*+"(?=%b|\r?\n|\Z)' % (mark, mark)
    blank = rb"|(?<=\n)\r?\n" if several else b""  # in a file of one column an empty line is a missing value
    return re.sub(rb'(%b)|"%b' % (field, blank), rb"\1", data)


def _cast(cell: str, facts: ColumnFacts) -> str:
    """Return the SQL of a text in the declared type; each cell is converted by itself."""
    if facts.type == "integer":  # a conversion would round 1.5 to 2, which may be another person
        return f"CASE WHEN regexp_full_match(TRIM({cell}), '{_WHOLE}') THEN TRY_CAST({cell} AS HUGEINT) END"
    if facts.type == "date":  # a day may be followed by a time, as in SQLite
        return f"TRY_CAST(LEFT(TRIM({cell}), 10) AS DATE)"
    plain = {"number": f"TRY_CAST({cell} AS DOUBLE)", "boolean": f"TRY_CAST({cell} AS BOOLEAN)"}
    return plain.get(facts.type) or shorten(cell)


def shorten(text: str) -> str:
    """Return the SQL of a text whose end is hashed where queries do not read it.

    So comparing identifiers of persons takes no longer, and different ones stay different.
    """
    cut = f"LEFT({text}, {LONGEST_TEXT}) || MD5({text})"
    return f"CASE WHEN LENGTH({text}) > {LONGEST_TEXT} THEN {cut} ELSE {text} END"
