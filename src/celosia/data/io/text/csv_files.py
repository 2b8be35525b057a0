"""CSV and TSV files: a checked lazy scan, and a writer."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from celosia.data.io.facts import FileFacts, Scan, distinct_names
from celosia.data.io.filetypes import FileType, existing_file, register
from celosia.data.io.formulas import Formulas, without_formulas
from celosia.data.io.options import DecimalMark, Encoding, Notation, Separator, WrittenSeparator
from celosia.data.io.text.columns import MARKS, Reading, expression, grouping_map, mark_map, marks_in, readings_of
from celosia.data.io.text.sniff import SEPARATORS, Dialect, dialect_of, encoding_of, open_bytes, refuse_inflated
from celosia.data.io.text.structure import Structure, damaged_columns, structure_of
from celosia.errors import DamagedText, DataError, ParameterError

if TYPE_CHECKING:
    import polars as pl

Repeated = Literal["rename", "refuse"]
Damaged = Literal["refuse", "cp1252"]
WINDOWS = "celosia.cp1252"
"""Name of the error handler that reads the bytes that are not UTF-8 as Windows text."""


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Return the bytes that cannot be decoded as Windows text, and where to go on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(WINDOWS, _as_windows)
MOST_COLUMNS = 20_000
"""Largest number of columns of a file: each is analysed separately."""


def scan(
    path: str | Path,
    *,
    separator: Separator | None = None,
    encoding: Encoding | None = None,
    decimal: DecimalMark | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    missing: Sequence[str] | None = None,
    text: Sequence[str] | bool = (),
    dates: Mapping[str, Notation] | None = None,
    repeated: Repeated = "rename",
    damaged: Damaged = "refuse",
) -> Scan:
    """Open a delimited text file as a lazy scan whose column types hold for every record.

    The separator, the encoding and the decimal mark are detected from the first megabyte unless they are given.
    ``header=False`` with ``columns`` names the columns of a file without a header; if it is not given, a first line
    that looks like a record is refused. ``missing`` lists the marks that mean missing in every column; ``text`` lists
    columns to read as text (``True``: all of them); ``dates`` maps columns to the notation of their dates
    (``%d/%m/%Y``), which ISO dates do not need. A name that is ``repeated`` in the header gets a number (``a_2``), or
    is refused. Bytes that are not UTF-8 in a text that is otherwise are refused as ``damaged``, or read one by one as
    ``"cp1252"`` (Windows). Both are in the notes of the file's facts.

    Raises ``DataError`` for an empty file, a header without records, records of another width than the header, and
    ``DamagedText`` for damaged UTF-8.
    """
    import polars as pl

    file = existing_file(path)
    try:
        refuse_inflated(file)
        dialect = dialect_of(file, separator, encoding, decimal, header)
        header = header is not False
        names, renamed = _names(file, dialect, columns, repeated)
        source, structure, repaired = _check_structure(file, dialect, names, encoding is not None, damaged)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{file.name} is not compressed by gzip, or damaged: it cannot be read to its end.") from None
    except pl.exceptions.PolarsError as error:  # its message may quote a record
        raise DataError(f"{file.name} cannot be read as delimited text ({type(error).__name__}).") from None
    _refuse_misshapen(file, dialect, names, structure, header)
    # A scan reads blank lines at the end as records without values, so that it is limited to the records before.
    rows = structure.records - structure.trailing - int(header) if structure.trailing else None
    checked = _Text(source, dialect, names, header, rows)
    cells = checked.lazy({name: Reading("text") for name in names})
    marks = MARKS if missing is None else tuple(missing)
    try:
        readings = _readings(
            cells, dialect, names, marks, text, dates or {}, structure, decimal_given=decimal is not None
        )
        _check_dates(file, cells, readings)
    except pl.exceptions.PolarsError as error:  # its message may quote a record
        raise DataError(f"{file.name} cannot be read as delimited text ({type(error).__name__}).") from error
    if missing:
        readings = {n: Reading(r.kind, tuple(missing), r.strip) if r.kind == "text" else r for n, r in readings.items()}
    facts = FileFacts(
        "csv",
        source=file,
        separator=dialect.separator,
        encoding=dialect.encoding,
        decimal=dialect.decimal,
        marks=mark_map(readings),
        grouping=grouping_map(readings),
        plain=checked.plain(readings),
        notes=(*renamed, *repaired),
    )
    return Scan(checked.lazy(readings), facts, str(file))


def write(
    frame: pl.LazyFrame,
    draft: Path,
    facts: FileFacts | None,
    *,
    separator: WrittenSeparator | None = None,
    decimal: DecimalMark | None = None,
    bom: bool = False,
    formulas: Formulas = "keep",
) -> None:
    """Write a delimited text file in UTF-8, with the separator and decimal mark of the original by default.

    ``formulas`` is for texts that a spreadsheet would execute: ``quote`` puts an apostrophe before them, ``keep``
    leaves them, ``refuse`` raises.
    """
    frame = without_formulas(frame, formulas)
    kept = facts if facts is not None and facts.type == "csv" else FileFacts("csv")
    name = draft.name.lower()
    default = kept.separator if kept.separator in SEPARATORS else ","  # others cannot be detected
    mark = separator or ("\t" if ".tsv" in name else default)
    point = decimal or (kept.decimal if mark != "," else ".") or "."
    if ".tsv" in name and mark != "\t":
        raise ParameterError(f"csv: a file whose name says .tsv has tabs, no {mark!r}. Name it .csv, or leave it out.")
    if mark == point:
        raise ParameterError(f"csv: separator and decimal mark are both {point!r}. Give another separator.")
    frame.sink_csv(
        draft,
        separator=mark,
        decimal_comma=point == ",",
        include_bom=bom,
        compression="gzip" if name.endswith(".gz") else "uncompressed",
        check_extension=False,
    )


def _names(
    file: Path, dialect: Dialect, columns: Sequence[str] | None, repeated: Repeated
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the column names, which differ, and notes on those that were renamed."""
    if columns is not None and len(columns) != len(dialect.columns):
        raise DataError(f"{file.name}: {len(columns)} column names for {len(dialect.columns)} columns.")
    raw = dialect.columns if columns is None else tuple(columns)
    if len(raw) > MOST_COLUMNS:
        raise DataError(f"{file.name} has {len(raw)} columns; at most {MOST_COLUMNS} are read. Leave some out.")
    names = tuple(name.strip() or f"column_{i + 1}" for i, name in enumerate(raw))
    patterns = [name for name in names if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if patterns:  # for Polars they are patterns over all columns, also in operations on one column
        raise DataError(f"{file.name}: a column cannot be named {patterns[0]!r}. Rename it.")
    twice = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    if twice and (repeated == "refuse" or columns is not None):
        raise DataError(f"{file.name}: column names must differ; repeated: {', '.join(twice)}. Rename them.")
    return distinct_names(names)


def _check_structure(
    file: Path, dialect: Dialect, names: tuple[str, ...], encoded: bool, damaged: Damaged
) -> tuple[Path | bytes, Structure, tuple[str, ...]]:
    """Return the file, or its text as UTF-8 if it has another encoding, with its structure and notes on repairs."""
    if dialect.encoding.replace("_", "-").lower() in ("utf-8", "utf8", "utf-8-sig", "ascii"):
        structure = structure_of(file, dialect.separator, len(names))
        if structure.utf8:
            return file, structure, ()
        with open_bytes(file) as stream:
            data = stream.read()
        # The head may be ASCII and the first accent come later: then the encoding is that of the whole file.
        whole = None if encoded else encoding_of(data)
        if whole != "cp1252":
            counts = damaged_columns(file, dialect.separator, names)
            listed = ", ".join(f"{name}: {count}" for name, count in counts.items())
            damage = f"{sum(counts.values())} cells are not valid UTF-8 ({listed})"
            if damaged == "refuse":
                raise DamagedText(
                    f"{file.name}: {damage}. Repair them, give the encoding, for example encoding='cp1252', or read "
                    "the damaged bytes as Windows text: damaged='cp1252'."
                )
            text = data.decode("utf-8", errors=WINDOWS).removeprefix("\ufeff").encode()
            note = f"{damage}: the damaged bytes were read as Windows text (cp1252)"
            return text, structure_of(text, dialect.separator, len(names)), (note,)
        dialect = Dialect(whole, dialect.separator, dialect.decimal, dialect.columns)
    else:
        with open_bytes(file) as stream:
            data = stream.read()
    try:
        text = data.decode(dialect.encoding).removeprefix("\ufeff").encode()
    except (UnicodeError, LookupError) as error:
        raise DataError(
            f"{file.name}: the text is not {dialect.encoding}. Give another encoding, for example 'utf-8' or 'cp1252'."
        ) from error
    return text, structure_of(text, dialect.separator, len(names)), ()


def _refuse_misshapen(file: Path, dialect: Dialect, names: tuple[str, ...], structure: Structure, header: bool) -> None:
    """Raise if there are no records, ragged records or blank lines between records."""
    if structure.unclosed:
        raise DataError(
            f"{file.name}: a quote is opened and never closed, so the rest of the file is one cell. Close it."
        )
    if structure.ragged:
        raise DataError(
            f"{file.name}: {structure.ragged} records do not have {len(names)} fields like the"
            f" {'header' if header else 'first record'}; the first is record {structure.first_ragged - int(header)}."
            f" Check the quotes and the separator ({dialect.separator!r} was used)."
        )
    if structure.blank > structure.trailing:
        raise DataError(
            f"{file.name}: {structure.blank - structure.trailing} blank lines between records. Remove them."
        )
    if structure.records - structure.trailing <= int(header):
        raise DataError(f"{file.name} has a header of {len(names)} columns but no records.")


def _readings(
    cells: pl.LazyFrame,
    dialect: Dialect,
    names: tuple[str, ...],
    marks: tuple[str, ...],
    text: Sequence[str] | bool,
    dates: Mapping[str, str],
    structure: Structure,
    *,
    decimal_given: bool,
) -> dict[str, Reading]:
    """Infer the readings of all columns, except those read as text or dates by option."""
    asked = set(names) if text is True else set(text or ())
    unknown = (asked | set(dates)) - set(names)
    if unknown:
        raise DataError(f"csv: no columns {', '.join(sorted(unknown))}. There are: {', '.join(names)}.")
    rest = [name for name in names if name not in asked and name not in dates]
    readings: dict[str, Reading] = {}
    if rest:
        wanted = cells.select(rest)
        head = wanted.head(10_000).collect()
        readings = readings_of(
            wanted,
            head,
            dialect.decimal,
            marks,
            quoted=structure.quoted,
            decimal_given=decimal_given,
            separator=dialect.separator,
        )
    readings |= {
        name: Reading("date", marks_in(cells, name, strip=True, marks=marks), strip=True, notation=notation)
        for name, notation in dates.items()
    }
    return {name: readings.get(name, Reading("text")) for name in names}


def _check_dates(file: Path, cells: pl.LazyFrame, readings: dict[str, Reading]) -> None:
    """Raise if a cell is not a date in the notation of its column."""
    notated = {name: reading for name, reading in readings.items() if reading.notation}
    if not notated:
        return
    wrong = []
    for name, reading in notated.items():
        filled = expression(name, Reading("text", reading.marks, strip=True), ".").is_not_null()
        wrong.append((filled & expression(name, reading, ".", strict=False).is_null()).sum().alias(name))
    counts = cells.select(wrong).collect(engine="streaming").row(0, named=True)
    bad = [f"{name}: {count}" for name, count in counts.items() if count]
    if bad:
        raise DataError(f"{file.name}: cells that are no dates in the notation given ({', '.join(bad)}).")


@dataclass(frozen=True)
class _Text:
    """Checked text: its source, format, names of columns and number of records."""

    source: Path | bytes
    dialect: Dialect
    names: tuple[str, ...]
    header: bool
    rows: int | None
    """None for all of them."""

    def plain(self, readings: dict[str, Reading]) -> bool:
        """Return whether any CSV reader would read the same records from the file."""
        written = isinstance(self.source, Path) and self.header and self.rows is None
        named = self.names == self.dialect.columns and self.dialect.decimal == "."
        return written and named and all(r.native and not r.marks for r in readings.values())

    def lazy(self, readings: dict[str, Reading]) -> pl.LazyFrame:
        """Return the lazy scan with every column in its type."""
        import polars as pl

        options: dict[str, Any] = {
            # The names were checked and may differ from the header (blanks, gaps), so that the header is skipped.
            "has_header": False,
            "skip_rows": int(self.header),
            "separator": self.dialect.separator,
            "decimal_comma": self.dialect.decimal == ",",
            "n_rows": self.rows,
        }
        native = {name: reading for name, reading in readings.items() if reading.native}
        frame = pl.scan_csv(
            self.source,
            glob=False,
            schema={name: native[name].dtype() if name in native else pl.String() for name in self.names},
            null_values={name: reading.marks[0] for name, reading in native.items() if reading.marks} or None,
            **options,
        )
        later = [expression(n, r, self.dialect.decimal).alias(n) for n, r in readings.items() if not r.native]
        return frame.with_columns(later) if later else frame


register(FileType("csv", (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".data"), "delimited text", scan, write))
