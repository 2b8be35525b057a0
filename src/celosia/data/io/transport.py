"""Writer of SAS transport files, with checks of the limits of the format.

A number is an IBM double: all 53 bits of a number fit, but the writer stops at 2^249. There are no value labels (SAS
has them in a separate catalogue), no difference between an empty and a missing text, and no trailing blanks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from celosia.data.io.facts import FileFacts
from celosia.errors import MissingExtra, OutputError, ParameterError

if TYPE_CHECKING:
    import polars as pl

TOO_LARGE, SMALLEST = 2.0**249, 2.0**-260
WHOLE = 2**53
NAMES = {8: 32, 5: 8}
TEXTS = {8: 32_767, 5: 200}
LABELS = {8: 256, 5: 40}


def write_transport(frame: pl.LazyFrame, draft: Path, facts: FileFacts | None, *, version: Literal[8, 5] = 8) -> None:
    """Write a SAS transport file with the descriptions of the columns.

    ``version=5``, which the oldest programs need, has names of at most 8 characters and texts of at most 200. Dates,
    times and datetimes keep their types, booleans are 1 and 0; labelled columns are codes, or text if recoded.
    """
    import polars as pl

    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra.of("writing SAS transport files", "stats") from error
    if draft.suffix.lower() != ".xpt":
        raise OutputError(f"SAS files ending in {draft.suffix} are only read: name the output .xpt.")
    if version not in NAMES:
        raise ParameterError(f"version of a SAS transport file must be 8 or 5, got {version!r}.")
    table = frame.collect(engine="streaming").with_columns(pl.col(pl.Null).cast(pl.String))
    check_names(table.columns, version)
    for column in table:
        check_column(column, version)
    kept = facts or FileFacts("none")
    described = {name: text[: LABELS[version]] for name, text in kept.descriptions.items() if name in table.columns}
    title = (kept.title or "")[: LABELS[5]]
    pyreadstat.write_xport(table, draft, file_label=title, column_labels=described, file_format_version=version)


def check_names(names: list[str], version: int) -> None:
    """Raise for names that SAS does not allow."""
    for name in names:
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or len(name) > NAMES[version]:
            raise OutputError(
                f"SAS does not allow the column name {name!r}: letters of English, digits and _, at most "
                f"{NAMES[version]} in version {version} of a transport file."
            )
    lowered = [name.lower() for name in names]
    twice = next((name for name in names if lowered.count(name.lower()) > 1), None)
    if twice is not None:
        raise OutputError(f"SAS does not tell capitals from small letters: {twice!r} would be there twice.")


def check_column(column: pl.Series, version: int) -> None:
    """Raise for a column whose values a reader of the file would not get back."""
    import polars as pl

    if column.dtype == pl.String:
        longest = max(column.str.len_bytes().drop_nulls().to_list(), default=0)
        if longest > TEXTS[version]:
            raise OutputError(
                f"column {column.name!r}: a text has {longest} bytes; version {version} of a SAS transport file holds "
                f"{TEXTS[version]}."
            )
    elif column.dtype.is_numeric():
        if column.dtype.is_integer():
            outside = (column > WHOLE) | (column < -WHOLE)
        else:
            size = column.cast(pl.Float64).fill_nan(None).abs()
            outside = (size >= TOO_LARGE) | ((size < SMALLEST) & (size > 0))
        count = int(outside.sum())
        if count:
            raise OutputError(
                f"column {column.name!r}: a SAS transport file cannot hold {count} of its numbers (whole ones up to "
                "2^53, others from 5.4e-79 to 9e74). Write it as text."
            )
