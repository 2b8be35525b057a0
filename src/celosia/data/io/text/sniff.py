"""Detection of the encoding, separator and decimal mark of a text file from its first bytes.

charset-normalizer is not used, because it always returns an encoding: Windows-1250 for short texts in Windows-1252
(``Muñoz`` becomes ``Muńoz``), and for damaged UTF-8, too. An error is better than a silently garbled name.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from celosia.data.io.facts import MOST_PACKED, UNPACKED
from celosia.data.io.text.columns import MARKS, SIGNS
from celosia.errors import DataError

#: Bytes of the beginning of a file: some thousand records.
HEAD = 1 << 20
SEPARATORS = (",", ";", "\t", "|")
# Letters and signs of Western European text. A file in Windows-1252 has these; damaged UTF-8 has others, too.
WESTERN = frozenset("áéíóúàèìòùâêîôûäëïöüãõñçßæœøåÁÉÍÓÚÀÈÌÒÙÂÊÎÔÛÄËÏÖÜÃÕÑÇÆŒØÅ¡¿ªº·€£§°«»–—‘’“”…´\xa0")
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
LIST_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
POINT_NUMBER = re.compile(r"[+-]?\d+\.\d+")
NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:([.,' ])\d{3})+|\d+)?(?:[.,]\d+|(?<=\d))(?:[eE][+-]?\d+)?")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
TELEPHONE = re.compile(r"[+(]?\d(?:[\s()./-]*\d){6,14}")
LETTERS = r"[^\W\d_]+"
DATE = re.compile(r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})(?:[T ]\d{1,2}:\d{2}.*)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")


@dataclass(frozen=True)
class Dialect:
    """Format of a text file."""

    encoding: str
    separator: str
    decimal: str
    columns: tuple[str, ...]


def open_bytes(source: Path | bytes) -> IO[bytes]:
    """Open a file, or bytes, for reading; a file named ``.gz`` is unpacked."""
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if source.name.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(source, "rb"))
    return source.open("rb")


def refuse_inflated(file: Path) -> None:
    """Raise for a compressed file that unpacks to over ``MOST_PACKED`` times its size."""
    if not file.name.lower().endswith(".gz"):
        return
    most = max(UNPACKED, MOST_PACKED * file.stat().st_size)
    unpacked = 0
    with open_bytes(file) as stream:
        while chunk := stream.read(1 << 20):
            unpacked += len(chunk)
            if unpacked > most:
                raise DataError(
                    f"{file.name}: it unpacks to more than {most:,} bytes, over {MOST_PACKED} times its size, as no "
                    "usual table does. Unpack it yourself, and read the unpacked file."
                )


def encoding_of(data: bytes, whole: bool = True) -> str | None:
    """Return the encoding of the bytes, or None if they are damaged UTF-8 or in an unknown encoding.

    Valid UTF-8 is UTF-8. Bytes without any multi-byte UTF-8 character that are Western text in Windows-1252 are that. A
    mixture is damaged: a guess would silently garble one part of it.

    >>> encoding_of("José".encode("cp1252")), encoding_of("José".encode()), encoding_of(b"Jos\\xc3\\xa9, Ram\\xf3n")
    ('cp1252', 'utf-8', None)
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data, final=whole)
    except UnicodeDecodeError:
        lossy = data.decode("utf-8", errors="ignore")
        if not lossy.isascii():
            return None
        try:
            high = [c for c in data.decode("cp1252") if c > "\x7f"]
        except UnicodeDecodeError:
            return None
        return "cp1252" if sum(c in WESTERN for c in high) >= 0.9 * len(high) else None
    return "utf-8"


def separator_of(head: str) -> str:
    """Return the separator that splits the first records into the most fields, the same number in each.

    >>> separator_of("a;b\\n1,5;2\\n2,5;3\\n")
    ';'
    """
    scores = {",": (0.0, 1)}
    for mark in SEPARATORS:
        widths = [len(row) for row in _rows(head, mark) if row]
        if widths and widths[0] > 1:
            scores[mark] = (sum(w == widths[0] for w in widths) / len(widths), widths[0])
    # Commas that are all between digits are decimal marks if another separator splits every record.
    if any(share == 1 for mark, (share, _) in scores.items() if mark != ",") and not LIST_COMMA.search(head):
        del scores[","]
    return max(scores, key=lambda mark: scores[mark])


def decimal_of(head: str, separator: str) -> str:
    """Return the decimal mark: a comma if numbers have commas and none has a point.

    A point before each three digits is not a decimal mark if there are commas: 1.234,56.

    >>> decimal_of("a;b\\n1,5;2\\n", ";"), decimal_of("a;b\\n1,5;2.5\\n", ";"), decimal_of("a;b\\n1,5;1.250\\n", ";")
    (',', '.', ',')
    """
    if separator == ",":
        return "."
    cells = [cell.strip() for row in _rows(head, separator)[1:] for cell in row]
    grouped = {cell for cell in cells if THOUSANDS.fullmatch(cell)}
    commas = any(COMMA_NUMBER.fullmatch(cell) for cell in cells) or any("," in cell for cell in grouped)
    points = any(POINT_NUMBER.fullmatch(cell) for cell in cells if cell not in grouped)
    return "," if commas and not points else "."


def dialect_of(
    path: Path, separator: str | None, encoding: str | None, decimal: str | None, header: bool | None
) -> Dialect:
    """Detect the format of a file from its first megabyte, as far as it is not given.

    Raises ``DataError`` if ``header`` is None and the first line looks like a record.
    """
    with open_bytes(path) as file:
        data = file.read(HEAD)
    if not data.strip():
        raise DataError(f"{path.name} is empty: there is no header and no record.")
    encoding = encoding or encoding_of(data, whole=len(data) < HEAD) or "utf-8"
    try:
        text = codecs.getincrementaldecoder(encoding)("replace").decode(data)
    except LookupError as error:
        raise DataError(f"{path.name}: no encoding named {encoding!r}. Try utf-8, cp1252 or utf-16.") from error
    except UnicodeError as error:
        raise DataError(f"{path.name}: the text is not {encoding}. Try utf-8 or cp1252.") from error
    text = text.removeprefix("\ufeff")
    # An incomplete last record would count as ragged.
    head = text if len(data) < HEAD else text[: text.rfind("\n") + 1]
    separator = separator or ("\t" if ".tsv" in path.name.lower() else separator_of(head))
    decimal = decimal or decimal_of(head, separator)
    rows = _rows(head, separator)
    first = rows[0] if rows else []
    if header is None and (evidence := header_doubts(rows)):
        raise DataError(missing_header(path.name, evidence, len(first), " (with columns for the names)"))
    names = tuple(first) if header is not False else tuple(f"column_{i + 1}" for i in range(len(first)))
    return Dialect(encoding, separator, decimal, names)


def header_doubts(rows: list[list[str]]) -> int:
    """Count the cells of the first line that look like data; one can be enough to doubt the header.

    A cell looks like data if it is a mark for a missing value, or of the form that at least half of its column has: a
    number, a date, an e-mail address, a telephone number, a code. A value that its column has in other lines looks like
    data, too, if two columns or at least half of those with repeated texts have such a cell: a column may be named
    after one of its two values. Years and consecutive numbers name the columns of wide tables if the lines below do not
    have such a series, and the options of a question name columns that have their name or nothing.

    >>> records = [["Ana", "Female"], ["Eva", "Male"], ["Ivo", "Male"]]
    >>> header_doubts([["Joan", "Male"], *records]), header_doubts([["name", "sex"], *records])
    (1, 0)
    """
    if len(rows) < 2:
        return 0
    first, body = ([[cell.strip() for cell in row] for row in part] for part in (rows[:1], rows[1:]))
    cells = first[0]
    columns = [[row[i] for row in body if len(row) > i and row[i]] for i in range(len(cells))]
    numbers = [i for i, cell in enumerate(cells) if NUMBER.fullmatch(cell)]
    kind = series_of([cells[i] for i in numbers])
    below = sum(series_of([row[i] for i in numbers]) == kind for row in body if len(row) == len(cells))
    series = bool(kind) and (2 * below < len(body) or cells[numbers[0]] in ("0", "1"))
    options = {i for i, cell in enumerate(cells) if set(columns[i]) == {cell} and len(columns[i]) < len(body)}
    excused = set(numbers if series else ()) | (options if len(options) > 1 else set())
    judged = [(cell, columns[i]) for i, cell in enumerate(cells) if cell and i not in excused]
    formed = {i for i, (cell, column) in enumerate(judged) if cell in SIGNS or _has_form_of(cell, column)}
    texts = {i for i, (_, column) in enumerate(judged) if len(set(column)) < len(column)} - formed
    repeated = {i for i in texts if judged[i][0] in judged[i][1]}
    return len(formed | repeated) if formed or len(repeated) >= min(2, max(1, len(texts) / 2)) else 0


def missing_header(source: str, doubts: int, cells: int, names: str = "") -> str:
    """Return the message for a first line that looks like a record; ``names`` is the hint how to name the columns."""
    return (
        f"{source} seems to have no header: {doubts} of the {cells} cells in its first line look like data (values "
        "that their column has in other lines, or numbers, dates, addresses or codes above others of the same form). "
        f"State header = false{names}, or header = true if the first line names the columns."
    )


def _has_form_of(cell: str, column: list[str]) -> bool:
    """Return whether at least half of a column has the form of a cell."""
    pattern = form_of(cell)
    filled = [other for other in column if other not in MARKS]
    return pattern is not None and 0 < len(filled) <= 2 * sum(bool(pattern.fullmatch(other)) for other in filled)


def series_of(cells: list[str]) -> str:
    """Return "years" for increasing or decreasing years, "numbers" for consecutive numbers, otherwise an empty text."""
    if len(cells) < 2 or not all(cell.isdecimal() for cell in cells):
        return ""
    values = [int(cell) for cell in cells]
    steps = {b - a for a, b in itertools.pairwise(values)}
    if all(1800 <= value <= 2100 for value in values) and (min(steps) > 0 or max(steps) < 0):
        return "years"
    return "numbers" if steps == {1} else ""


def form_of(cell: str) -> re.Pattern[str] | None:
    """Return the form of a cell: its kind, or its text with other digits; None for a text without digits.

    The letters may differ, too, if there are fewer of them than digits.

    >>> [bool(form_of(a).fullmatch(b)) for a, b in (("7-1-90", "1990-10-12"), ("Room 1", "Room 12"), ("1X", "23Y"))]
    [True, True, False]
    """
    for pattern in (NUMBER, DATE, EMAIL, TELEPHONE):
        if pattern.fullmatch(cell):
            return pattern
    digits, letters = sum(map(str.isdecimal, cell)), sum(map(str.isalpha, cell))
    if not digits:
        return None
    runs = re.findall(r"\d+|[^\W\d_]+|.", cell, re.DOTALL)
    kept = [
        r"\d+" if run.isdecimal() else LETTERS if run.isalpha() and digits > letters else re.escape(run) for run in runs
    ]
    return re.compile("".join(kept))


def _rows(text: str, separator: str, limit: int = 1000) -> list[list[str]]:
    """Return the first records as lists of cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append(row)
            if len(rows) == limit:
                break
    except csv.Error:
        pass  # a cell over csv's size limit: the records before are enough to detect the separator
    return rows
