"""Type inference for the columns of a text file, valid for all cells.

A guess from the head of the file is checked against every cell in one streaming pass. If a cell does not fit the column
gets the next wider type, in the end text. Numbers with leading zeros stay text: ``08001`` is a postcode, not 8001.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: Non-answers. In a column of texts they may be values (``NS`` is Nova Scotia), among numbers they cannot.
NO_ANSWER = frozenset(
    [
        "ns/nc", "ns", "nc", "no sabe", "no contesta", "no sabe/no contesta", "no consta", "desconocido",
        "desconocida", "sin datos", "sin dato", "sin especificar", "no especificado", "no informado", "no disponible",
        "desconegut", "desconeguda", "sense dades", "sense especificar", "no informat", "no ho sap", "unknown",
        "not known", "not stated", "not available", "not reported", "not specified", "unspecified", "missing",
        "refused", "don't know", "no answer", "inconnu", "non renseigné", "ne sait pas", "unbekannt", "keine angabe",
        "k.a.", "weiß nicht", "sconosciuto", "non disponibile", "desconhecido", "sem informação", "não informado",
        "ignorado", "nieznany", "brak danych", "onbekend", "n/a", "n/d", "n.d.", "s/d", "nd", "sd",
    ]
)  # fmt: skip
#: Marks for missing values that are hardly values or names.
SIGNS = (
    "NA",
    "N/A",
    "NaN",
    "nan",
    "NULL",
    "null",
    "None",
    ".",
    "..",
    "?",
    "-",
    "--",
    "#N/A",
    "#N/D",
    "#NULL!",
    "#VALUE!",
)
#: Marks that mean *missing* in a column of numbers or dates. In text they may be values (``NA`` is Namibia).
MARKS = (
    *SIGNS,
    *sorted({form for word in NO_ANSWER - {"n/a"} for form in (word, word.upper(), word.capitalize())}),
)
#: Pairs of thousands separator and decimal mark: 1.234,56 · 1,234.56 · 1 234,56 · 1'234.56
Groupings = tuple[tuple[str, str], ...]
GROUPINGS: Groupings = ((".", ","), (",", "."), (" ", ","), ("\xa0", ","), ("\u202f", ","), ("'", "."), ("’", "."))
# A double is exact to 15 digits, an integer to 18.
PATTERNS = {
    "integer": r"^(?:0|-?[1-9]\d{0,17})$",
    "number": r"^[+-]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$",
    "truth": r"^(?:true|false)$",
    "date": r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$",
    "moment": r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?$",
}
WIDER = {"integer": "number", "number": "text", "truth": "text", "date": "text", "moment": "text"}


@dataclass(frozen=True)
class Reading:
    """Parsing of the cells of a column: kind, marks for missing cells, whether to strip blanks, notation of dates.

    ``grouping`` is the thousands separator and the decimal mark of numbers that have both.
    """

    kind: str
    marks: tuple[str, ...] = ()
    strip: bool = False
    notation: str | None = None
    grouping: tuple[str, str] | None = None

    def dtype(self) -> pl.DataType:
        """Return the polars type of the column."""
        import polars as pl

        types = {"integer": pl.Int64(), "number": pl.Float64(), "truth": pl.Boolean(), "date": pl.Date()}
        return pl.Datetime("us") if self.kind == "moment" else types.get(self.kind, pl.String())

    @property
    def native(self) -> bool:
        """Whether the scanner itself can parse the column, without an expression after it."""
        plain = not self.strip and self.grouping is None and self.kind != "moment"
        return plain and len(self.marks) < 2 and "" not in self.marks


def is_mark(text: str) -> bool:
    """Return whether a cell is a mark for missing or a non-answer in any case.

    >>> is_mark("ns/NC"), is_mark("0")
    (True, False)
    """
    return text in MARKS or text.lower() in NO_ANSWER


def grouped_notation(
    cells: pl.Series, decimal: str = ".", groupings: Groupings = GROUPINGS, separator: str = ""
) -> tuple[str, str] | None:
    """Return the thousands separator and the decimal mark with which all cells are numbers, or None.

    At least one cell must be unambiguous (1.234 is not), or the file have this decimal mark in other numbers.

    >>> import polars as pl
    >>> grouped_notation(pl.Series(["1.234,56", "7,5"])), grouped_notation(pl.Series(["1.234", "7.500"]))
    (('.', ','), None)
    """
    for grouping in groupings:
        thousands, mark = map(re.escape, grouping)
        if not cells.str.contains(_grouped_pattern("number", grouping)).all():
            continue
        sure = rf"\d{thousands}\d{{3}}{mark}|\d{thousands}\d{{3}}{thousands}"
        if grouping[1] != separator:  # "1,2" between commas is a list of two answers as well as a number
            sure += rf"|{mark}(?:\d{{1,2}}|\d{{4,}})$"
        if (grouping[1] == decimal and decimal != ".") or cells.str.contains(sure).any():
            return grouping
    return None


def _grouped_pattern(kind: str, grouping: tuple[str, str]) -> str:
    """Return the regular expression of numbers with a thousands separator."""
    thousands, mark = map(re.escape, grouping)
    places = rf"(?:{mark}\d+)?" if kind == "number" else ""
    return rf"^[+-]?(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}}){{1,4}}|0|[1-9]\d{{0,14}}){places}$"


def pattern(kind: str, decimal: str, grouping: tuple[str, str] | None = None) -> str:
    """Return the regular expression of one kind of cell.

    >>> import re
    >>> re.match(pattern("number", ","), "-3,5") is not None
    True
    """
    if grouping is not None:
        return _grouped_pattern(kind, grouping)
    if kind != "number" or decimal == ".":
        return PATTERNS[kind]
    return PATTERNS[kind].replace(r"\.", decimal)


def readings_of(
    cells: pl.LazyFrame,
    head: pl.DataFrame,
    decimal: str,
    marks: tuple[str, ...] = MARKS,
    *,
    quoted: bool = True,
    decimal_given: bool = False,
    separator: str = "",
) -> dict[str, Reading]:
    """Infer the reading of each column; ``cells`` and ``head`` have the cells as text, perhaps in quotes.

    A column may have thousands separators, and a decimal mark of its own unless that of the file is given.

    >>> import polars as pl
    >>> head = pl.DataFrame({"a": ["1", "2"], "zip": ["08001", "17001"]})
    >>> cells = pl.DataFrame({"a": ["1", "2", "2.5"], "zip": ["08001", "17001", "25001"]})
    >>> [(name, r.kind) for name, r in readings_of(cells.lazy(), head, ".").items()]
    [('a', 'number'), ('zip', 'text')]
    """
    groupings = tuple(g for g in GROUPINGS if g[1] == decimal) if decimal_given else GROUPINGS
    readings = {name: _guess(head[name], decimal, marks, groupings, separator) for name in head.columns}
    unchecked = {name for name, reading in readings.items() if reading.kind != "text"}
    # integer -> number -> text takes three rounds; two more are for columns that are empty in the head, and for blanks.
    for _ in range(5):
        if not unchecked:
            break
        misfits, marked = _misfits(cells, {name: readings[name] for name in unchecked}, decimal, marks)
        for name in [n for n in unchecked if marked[n] and not misfits[n]]:
            readings[name] = replace(readings[name], marks=marks_in(cells, name, readings[name].strip, marks))
        unchecked = {name for name in unchecked if misfits[name]}
        for name in unchecked:
            readings[name] = _widen(cells, name, readings[name], decimal, marks, groupings, separator)
        unchecked = {name for name in unchecked if readings[name].kind != "text"}
    for name in unchecked:
        readings[name] = Reading("text")
    texts = [name for name, reading in readings.items() if reading.kind == "text"] if quoted else []
    for name in _with_empty(cells, texts):
        readings[name] = replace(readings[name], marks=("",))
    return {name: Reading("text") if r.kind == "empty" else r for name, r in readings.items()}


def expression(name: str, reading: Reading, decimal: str, *, strict: bool = True) -> pl.Expr:
    """Return the expression that parses the text cells of a column."""
    import polars as pl

    cell = _cell(name, reading.strip)
    if reading.marks:
        cell = pl.when(cell.is_in(list(reading.marks)).not_()).then(cell)
    if reading.grouping is not None:
        thousands, decimal = reading.grouping
        cell = cell.str.replace_all(thousands, "", literal=True)
    if reading.kind == "number" and decimal != ".":
        cell = cell.str.replace(decimal, ".", literal=True)
    if reading.kind == "moment":
        return cell.str.replace(" ", "T", literal=True).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us")
    if reading.kind == "date":
        return cell.str.to_date(reading.notation or "%Y-%m-%d", strict=strict)
    if reading.kind == "truth":
        return cell == "true"
    return cell.cast(reading.dtype())


def _cell(name: str, strip: bool) -> pl.Expr:
    """Return the text of a cell; an empty text after stripping is missing."""
    import polars as pl

    cell = pl.col(name)
    if not strip:
        return cell
    stripped = cell.str.strip_chars()
    return pl.when(stripped != "").then(stripped).alias(name)


def _guess(
    head: pl.Series, decimal: str, marks: tuple[str, ...], groupings: Groupings = GROUPINGS, separator: str = ""
) -> Reading:
    """Guess the reading of a column from its first cells."""
    cells = head.drop_nulls()
    if cells.is_empty():
        return Reading("empty")
    stripped = cells.str.strip_chars()
    spaced = bool((stripped != cells).any())
    bare = stripped.filter(~stripped.is_in(marks) & (stripped != ""))
    for kind in PATTERNS:
        if not bare.is_empty() and bare.str.contains(pattern(kind, decimal)).all():
            return Reading(kind, strip=spaced)
    grouping = None if bare.is_empty() else grouped_notation(bare, decimal, groupings, separator)
    if grouping is not None:
        whole = bool(bare.str.contains(_grouped_pattern("integer", grouping)).all())
        return Reading("integer" if whole else "number", strip=spaced, grouping=grouping)
    # ", " between cells: every cell starts with a blank that belongs to the separator.
    return Reading("text", strip=bool(cells.str.starts_with(" ").all()))


def _misfits(
    cells: pl.LazyFrame, readings: Mapping[str, Reading], decimal: str, marks: tuple[str, ...]
) -> tuple[dict[str, int], dict[str, int]]:
    """Count, per column, the cells that do not fit the reading, and the marks."""
    import polars as pl

    wanted = []
    for name, reading in readings.items():
        cell = _cell(name, reading.strip)
        mark = cell.is_in(list(marks)) if marks else pl.lit(False)
        wanted += [
            (_misfit(cell, reading, decimal) & ~mark).sum().alias(f"misfit:{name}"),
            mark.sum().alias(f"mark:{name}"),
        ]
    row = cells.select(wanted).collect(engine="streaming").row(0, named=True)
    return (
        {name: int(row[f"misfit:{name}"] or 0) for name in readings},
        {name: int(row[f"mark:{name}"] or 0) for name in readings},
    )


def _misfit(cell: pl.Expr, reading: Reading, decimal: str) -> pl.Expr:
    """Return an expression for the cells that do not fit the reading."""
    if reading.kind == "empty":
        return cell.is_not_null()
    misfit = ~cell.str.contains(pattern(reading.kind, decimal, reading.grouping))
    if reading.kind in ("date", "moment"):
        # The pattern allows 30 February and the year 0.
        misfit |= cell.str.head(10).str.to_date("%Y-%m-%d", strict=False).is_null() | cell.str.starts_with("0000")
    return misfit & cell.is_not_null()


def _widen(
    cells: pl.LazyFrame,
    name: str,
    reading: Reading,
    decimal: str,
    marks: tuple[str, ...],
    groupings: Groupings,
    separator: str,
) -> Reading:
    """Return the next reading to try after a cell did not fit."""
    import polars as pl

    wrong = cells.filter(_misfit(_cell(name, reading.strip), reading, decimal)).select(pl.col(name)).head(1000)
    misfits = wrong.collect(engine="streaming")[name]
    seen = _guess(misfits, decimal, marks, groupings, separator)
    if reading.kind == "empty":
        return seen
    # Blanks around a number, or instead of one, do not make a column of numbers text.
    bare = misfits.str.strip_chars()
    if not reading.strip and ((bare != misfits) | (bare == "")).any():
        return replace(reading, strip=True)
    numeric = reading.kind in ("integer", "number")
    if numeric and seen.grouping is not None and reading.grouping in (None, seen.grouping):
        return replace(seen, kind="number", strip=reading.strip or seen.strip)
    if reading.grouping is not None and reading.kind == "integer":
        return replace(reading, kind="number", strip=reading.strip or seen.strip)
    wider = "text" if reading.grouping is not None else WIDER[reading.kind]
    return Reading("text") if wider == "text" else Reading(wider, strip=reading.strip or seen.strip)


def _with_empty(cells: pl.LazyFrame, names: list[str]) -> list[str]:
    """Return the text columns with an empty text in quotes, which the scanner does not treat as missing."""
    import polars as pl

    if not names:
        return []
    row = cells.select((pl.col(name) == "").any() for name in names).collect(engine="streaming").row(0)
    return [name for name, empty in zip(names, row, strict=True) if empty]


def marks_in(cells: pl.LazyFrame, name: str, strip: bool, marks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the marks that occur in a column."""
    cell = _cell(name, strip)
    occurring = cells.select(cell.filter(cell.is_in(list(marks))).unique()).collect(engine="streaming")
    return tuple(sorted(occurring.to_series().to_list()))


def mark_map(readings: Mapping[str, Reading]) -> dict[str, tuple[str, ...]]:
    """Return the marks of each column that has some."""
    return {name: reading.marks for name, reading in readings.items() if any(reading.marks)}


def grouping_map(readings: Mapping[str, Reading]) -> dict[str, tuple[str, str]]:
    """Return the thousands separator and the decimal mark of each column that has them."""
    return {name: reading.grouping for name, reading in readings.items() if reading.grouping is not None}
