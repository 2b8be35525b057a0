"""SPSS, Stata and SAS files, with value labels, declared missing codes, formats and dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from celosia.data.io.facts import FileFacts, MissingCode, Scan
from celosia.data.io.filetypes import FileType, existing_file, register
from celosia.data.io.labels import STAR, relabel
from celosia.data.io.transport import write_transport
from celosia.errors import DataError, MissingExtra, OutputError, ParameterError

if TYPE_CHECKING:
    import polars as pl
    import pyreadstat

#: Stata stores ``.a`` to ``.z`` in a 32-bit column as the numbers above this one, which no value of such a column can
#: have. A tagged missing value is replaced by this number.
TAGGED = 2_147_483_621
TAGS = "abcdefghijklmnopqrstuvwxyz"
#: Codes that SPSS declares missing in a column, at most; a range takes the place of two.
MOST_MISSING = 3


def scan(
    path: str | Path,
    *,
    user_missing: Literal["null", "keep"] = "null",
    encoding: str | None = None,
) -> Scan:
    """Read an SPSS, Stata or SAS file.

    Cells are codes; their labels are in the facts. With ``user_missing="null"`` cells with a declared missing code are
    missing; ``"keep"`` keeps the codes, so that *refused* and *not asked* stay distinct (tagged missing values ``.a``
    to ``.z`` are then the numbers 2147483622 to 2147483647). A writer writes the declarations back in both cases. An
    empty text is missing. Columns of whole numbers become integers. A code labelled ``*``, that of the suppressed cells
    of a release, becomes a suppressed value ``*`` again, if no other code of the column has this label.
    """
    file = existing_file(path)
    if user_missing not in ("null", "keep"):
        raise ParameterError(f"user_missing must be 'null' or 'keep', got {user_missing!r}.")
    kind, read = _reader(file)
    options: dict[str, Any] = {"encoding": encoding, "output_format": "polars"}
    if kind != "xport":
        # The reader returns the declared codes only if they stay in the cells.
        options["user_missing"] = True
    try:
        frame, meta = read(file, **options)
    except Exception as error:  # the reader's own class is private, and it raises others for damaged files
        raise DataError(f"{file.name} cannot be read as a {kind} file: it is damaged or of another type.") from error
    if frame.width == 0 or frame.height == 0:
        raise DataError(f"{file.name} has {frame.width} columns but no records.")
    missing = _missing_codes(meta)
    facts = FileFacts(
        "sas" if kind in ("sas7bdat", "xport") else kind,
        source=file,
        encoding=meta.file_encoding,
        title=meta.file_label or None,
        labels={n: {_code(c): t for c, t in texts.items()} for n, texts in meta.variable_value_labels.items()},
        descriptions={name: text for name, text in meta.column_names_to_labels.items() if text},
        missing=missing,
        formats={name: fmt for name, fmt in meta.original_variable_types.items() if fmt and fmt != "NULL"},
        measures={name: m for name, m in meta.variable_measure.items() if m in ("nominal", "ordinal", "scale")},
    )
    typed = _with_types(frame, missing)
    cells = typed if user_missing == "keep" else _without_codes(typed, _without_suppressed(missing, facts.labels))
    return Scan(_with_suppressed(cells, facts.labels).lazy(), facts, str(file))


def _without_suppressed(
    missing: Mapping[str, tuple[MissingCode, ...]], labels: Mapping[str, Mapping[float | str, str]]
) -> dict[str, tuple[MissingCode, ...]]:
    """Return the missing codes but those of suppressed cells, which have the label ``*``."""
    kept = {
        name: tuple(code for code in codes if code.low != code.high or labels.get(name, {}).get(code.low) != STAR)
        for name, codes in missing.items()
    }
    return {name: codes for name, codes in kept.items() if codes}


def _with_suppressed(frame: pl.DataFrame, labels: Mapping[str, Mapping[float | str, str]]) -> pl.DataFrame:
    """Replace the code labelled ``*`` by suppressed values; several such codes are different values."""
    import polars as pl

    for name, texts in labels.items():
        suppressed = [code for code, text in texts.items() if text == STAR]
        if suppressed and name in frame.columns:
            cell = pl.col(name)
            if frame[name].filter(frame[name].is_in(suppressed)).n_unique() > 1:
                continue
            shown = pl.when(cell.is_in(suppressed)).then(pl.lit(STAR)).otherwise(cell.cast(pl.String))
            frame = frame.with_columns(shown.alias(name))
    return frame


def notes_of(path: str | Path) -> list[str]:
    """Return the notes (documents) of a statistical file."""
    _, read = _reader(existing_file(path))
    return list(read(path, metadataonly=True)[1].notes or [])


def write_spss(frame: pl.LazyFrame, draft: Path, facts: FileFacts | None, *, compress: bool = False) -> None:
    """Write an SPSS file with the updated labels, missing codes, formats and measures of the original."""
    if draft.suffix.lower() == ".por":
        raise OutputError("the portable files of SPSS (.por) are only read: name the output .sav.")
    import pyreadstat

    table, kept, labels = _prepare(frame, facts)
    ranges = {
        name: [{"lo": code.low, "hi": code.high} for code in codes]
        for name, codes in kept.missing.items()
        if _has_missing_codes(table, name, codes)
    }
    formats = kept.formats if kept.type == "spss" else {}
    pyreadstat.write_sav(
        table,
        draft,
        file_label=kept.title or "",
        column_labels={name: kept.descriptions.get(name) for name in table.columns},
        compress=False,
        row_compress=compress or draft.suffix.lower() == ".zsav",
        variable_value_labels=labels,
        missing_ranges=ranges,
        variable_measure={n: m for n, m in kept.measures.items() if n in table.columns},
        variable_format={n: f for n, f in formats.items() if n in table.columns and _fits_format(table[n], f)},
    )


def write_stata(frame: pl.LazyFrame, draft: Path, facts: FileFacts | None) -> None:
    """Write a Stata file with the updated labels of the original and its tagged missing values."""
    import polars as pl
    import pyreadstat

    table, kept, labels = _prepare(frame, facts, tagged=True)
    tags: dict[str, list[str]] = {}
    for name, codes in kept.missing.items():
        letters = {code.low: code.tag for code in codes if code.tag}
        if name not in table.columns or not letters or not table[name].dtype.is_numeric():
            continue
        labels[name] = {letters.get(code, code): text for code, text in labels.get(name, {}).items()}
        # The writer accepts tags, and labels of tags, only in a column of objects.
        tags[name] = sorted(tag for tag in letters.values() if tag)
        cells = [letters.get(cell, cell) for cell in table[name].to_list()]
        table = table.with_columns(pl.Series(name, cells, dtype=pl.Object))
    bad = [name for name in table.columns if not name.isidentifier() or len(name) > 32]
    if bad:
        raise OutputError(f"Stata does not allow the column name {bad[0]!r}: letters, digits and _, at most 32.")
    pyreadstat.write_dta(
        table,
        draft,
        file_label=(kept.title or "")[:80],
        column_labels={name: kept.descriptions.get(name) for name in table.columns},
        variable_value_labels={name: texts for name, texts in labels.items() if texts},
        missing_user_values=tags or None,
        variable_format={n: f for n, f in kept.formats.items() if n in table.columns and _fits_format(table[n], f)}
        if kept.type == "stata"
        else {},
    )


def _reader(file: Path) -> tuple[str, Callable[..., Any]]:
    """Return the kind of a statistical file and the function that reads it."""
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra.of("reading SPSS, Stata and SAS files", "stats") from error
    readers = {
        ".sav": ("spss", pyreadstat.read_sav),
        ".zsav": ("spss", pyreadstat.read_sav),
        ".por": ("spss", pyreadstat.read_por),
        ".dta": ("stata", pyreadstat.read_dta),
        ".sas7bdat": ("sas7bdat", pyreadstat.read_sas7bdat),
        ".xpt": ("xport", pyreadstat.read_xport),
    }
    if file.suffix.lower() not in readers:
        raise DataError(f"{file.name}: a statistical file ends in {', '.join(readers)}.")
    return readers[file.suffix.lower()]


def _code(code: float | str) -> float | str:
    """Convert a code to the cells of the frame: whole numbers to integers, tags to their numbers."""
    if isinstance(code, str):
        return TAGGED + 1 + TAGS.index(code) if len(code) == 1 and code in TAGS else code
    return int(code) if float(code).is_integer() else float(code)


def _missing_codes(meta: pyreadstat.metadata_container) -> dict[str, tuple[MissingCode, ...]]:
    """Return the missing codes that a file declares."""
    missing = {
        name: tuple(MissingCode(_code_or_end(r["lo"]), _code_or_end(r["hi"])) for r in ranges)
        for name, ranges in meta.missing_ranges.items()
    }
    for name, tags in meta.missing_user_values.items():
        codes = [tag.lower() for tag in tags]
        missing[name] = tuple(MissingCode(_code(tag), _code(tag), tag) for tag in codes if tag in TAGS)
    return missing


def _code_or_end(end: float | str) -> float | str:
    """Convert an end of a range: text stays as it is (a one-letter text is not a tag here), numbers become codes."""
    return end if isinstance(end, str) or end in (float("inf"), float("-inf")) else _code(end)


def _with_types(frame: pl.DataFrame, missing: Mapping[str, tuple[MissingCode, ...]]) -> pl.DataFrame:
    """Convert columns: tagged missing values to numbers, whole numbers to integers, empty texts to missing values."""
    import polars as pl

    changes: list[pl.Expr | pl.Series] = []
    for name, dtype in frame.schema.items():
        column = frame[name]
        if dtype == pl.Object:
            tags = {code.tag for code in missing.get(name, ())}
            letters = [cell.lower() if isinstance(cell, str) else cell for cell in column.to_list()]
            numbers = [(_code(c) if c in tags else None) if isinstance(c, str) else c for c in letters]
            column, dtype = pl.Series(name, numbers, dtype=pl.Float64), pl.Float64()
        if dtype.is_float():
            present = column.drop_nulls().drop_nans()
            whole = bool(((present == present.round()) & (present.abs() < 2**53)).all()) and not present.is_empty()
            changes.append(column.fill_nan(None).cast(pl.Int64) if whole else column.fill_nan(None))
        elif dtype == pl.String:
            changes.append(pl.col(name).replace("", None))
        elif dtype == pl.Null:
            changes.append(pl.col(name).cast(pl.Float64))
        elif dtype.is_integer():
            changes.append(pl.col(name).cast(pl.Int64))
    return frame.with_columns(changes)


def _without_codes(frame: pl.DataFrame, missing: Mapping[str, tuple[MissingCode, ...]]) -> pl.DataFrame:
    """Replace declared missing codes by missing values; columns that are whole without them become integers."""
    import polars as pl

    changes = []
    for name, codes in missing.items():
        cell = pl.col(name)
        declared = pl.any_horizontal(
            *(cell == c.low if isinstance(c.low, str) else cell.is_between(c.low, c.high) for c in codes)
        )
        changes.append(pl.when(~declared).then(cell).alias(name))
    return _with_types(frame.with_columns(changes), {}) if changes else frame


def _prepare(
    frame: pl.LazyFrame, facts: FileFacts | None, *, tagged: bool = False
) -> tuple[pl.DataFrame, FileFacts, dict[str, dict[float | str, str]]]:
    """Return the table with labelled columns as codes, the facts, and the labels of its columns.

    The code of suppressed cells is declared missing, with the label ``*``: ``tagged``, as in Stata, or as in SPSS.
    """
    import polars as pl

    try:
        import pyreadstat  # noqa: F401
    except ImportError as error:
        raise MissingExtra.of("writing SPSS and Stata files", "stats") from error
    kept = facts or FileFacts("none")
    table = frame.collect(engine="streaming")
    table = table.with_columns(
        pl.col(pl.Boolean).cast(pl.Int64),
        pl.col(pl.Null).cast(pl.String),
    )
    labels: dict[str, dict[float | str, str]] = {}
    missing = dict(kept.missing)
    for name, texts in kept.labels.items():
        if name in table.columns:
            column, labels[name] = relabel(table[name], texts, kept.missing.get(name, ()))
            suppressed = next((code for code, text in labels[name].items() if text == STAR and code not in texts), None)
            if suppressed is not None and isinstance(suppressed, int | float):
                code = _suppressed_code(suppressed, missing.get(name, ()), tagged=tagged)
                if code is not None:
                    missing[name] = (*missing.get(name, ()), code)
                    labels[name] = {code.low if c == suppressed else c: text for c, text in labels[name].items()}
                    column = column.replace(suppressed, code.low)
            table = table.with_columns(column)
    return table, replace(kept, missing=missing), labels


def _suppressed_code(code: float, missing: tuple[MissingCode, ...], *, tagged: bool) -> MissingCode | None:
    """Return the declaration of the code of suppressed cells as missing; None if the type of file has no place for it.

    Stata has a tag of its own, SPSS three codes, or a range and a code.
    """
    if tagged:
        free = [tag for tag in reversed(TAGS) if all(tag != other.tag for other in missing)]
        number = TAGGED + 1 + TAGS.index(free[0])
        return MissingCode(number, number, free[0])
    ranges = sum(other.low != other.high for other in missing)
    if any(other.tag for other in missing) or (len(missing) >= MOST_MISSING - ranges):
        return None
    return MissingCode(code, code)


def _has_missing_codes(table: pl.DataFrame, name: str, codes: tuple[MissingCode, ...]) -> bool:
    """Return whether the missing codes of a column still apply: it exists with the same type, and they are not tags."""
    if name not in table.columns or any(code.tag for code in codes):
        return False
    return all(isinstance(code.low, str) != table[name].dtype.is_numeric() for code in codes)


def _fits_format(column: pl.Series, display: str) -> bool:
    """Return whether a display format of the original still fits the column after recoding."""
    import polars as pl

    temporal = display.startswith(("%t", "%d")) or "DATE" in display.upper() or "TIME" in display.upper()
    if isinstance(column.dtype, pl.Date | pl.Datetime | pl.Time):
        return temporal
    if column.dtype.is_numeric():
        return (
            not temporal
            and display[:1] in "FfEeNnCc%"
            and not display.endswith("s")
            and _shows_decimals(column, display)
        )
    return False


def _shows_decimals(column: pl.Series, display: str) -> bool:
    """Return whether a display format shows the decimals of a column."""
    return display.startswith("%") or not column.dtype.is_float() or not display.endswith(".0")


register(FileType("spss", (".sav", ".zsav", ".por"), "SPSS", scan, write_spss))
register(FileType("stata", (".dta",), "Stata", scan, write_stata))
register(FileType("sas", (".sas7bdat", ".xpt"), "SAS", scan, write_transport))
