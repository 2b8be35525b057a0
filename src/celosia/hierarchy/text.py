"""Canonical text of raw values: whole numbers without ``.0``, dates as ISO, booleans in lower case.

Hierarchies, generalised cells and files use text. Raw values are converted to text only here, so that 30, 30.0 and "30"
are the same row of a hierarchy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_IN_QUOTES = r"^\s|\s$|^$|,|^\""
"""Members of a set that need quotes: with blanks at an end, a comma or a quotation mark at the beginning, or empty."""


def plain(value: object) -> str | None:
    """Text of one raw value; a missing one stays missing.

    >>> plain(30.0), plain("30"), plain(True), plain(date(2018, 2, 26)), plain(float("nan"))
    ('30', '30', 'true', '2018-02-26', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else _decimal(float(value))
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        fine = "milliseconds" if value.microsecond and value.microsecond % 1000 == 0 else "auto"  # as in a column
        return value.date().isoformat() if midnight else value.isoformat(sep="T", timespec=fine)
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "item"):  # a numpy scalar; a short float by its shortest decimal
        return plain(float(str(value))) if type(value).__name__ in ("float32", "float16") else plain(value.item())
    return str(value)


def _decimal(value: float) -> str:
    if 1e-4 <= abs(value) < 1e16:
        return repr(value)
    import polars as pl  # very small and large numbers: the same exponent as in a column

    return str(pl.Series([value]).cast(pl.String)[0])


def texts(values: Iterable[object]) -> list[str | None]:
    """Text of each of several raw values.

    >>> texts([30, None, 2.5])
    ['30', None, '2.5']
    """
    import polars as pl

    if isinstance(values, pl.Series):
        return text_series(values).to_list()
    return [plain(value) for value in values]


def member(text: str) -> str:
    """Text of a value in a set; in quotes if it would be parsed as several values, or as another one.

    >>> member("Clerks"), member("Managers, senior"), member(" x")
    ('Clerks', '"Managers, senior"', '" x"')
    """
    return '"' + text.replace('"', '""') + '"' if re.search(_IN_QUOTES, text) else text


def member_expression(text: pl.Expr) -> pl.Expr:
    """Polars expression for the text of a value in a set."""
    import polars as pl

    quoted = pl.concat_str(pl.lit('"'), text.str.replace_all('"', '""', literal=True), pl.lit('"'))
    return pl.when(text.str.contains(_IN_QUOTES)).then(quoted).otherwise(text)


def text_expression(name: str, dtype: pl.DataType | type[pl.DataType]) -> pl.Expr:
    """Polars expression for the text of a column of the given type.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"x": [1.0, 2.5, float("nan"), None]})
    >>> frame.select(text_expression("x", frame.schema["x"]))["x"].to_list()
    ['1', '2.5', None, None]
    """
    import polars as pl

    column = pl.col(name)
    if dtype == pl.String:
        return column
    if dtype == pl.Boolean:
        return column.cast(pl.String)
    if dtype.is_float():
        # Polars writes 1e16 and above with an exponent, as Python does; whole numbers below go through integers
        whole = column.is_finite() & (column == column.floor()) & (column.abs() < 1e16)
        return (
            pl.when(column.is_nan())
            .then(None)
            .when(whole)
            .then(column.cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(column.cast(pl.String))
            .alias(name)
        )
    if dtype == pl.Date:
        return column.dt.to_string("%Y-%m-%d")
    if dtype == pl.Datetime:
        day = column.dt.to_string("%Y-%m-%d")
        return (
            pl.when(column.dt.truncate("1d") == column)
            .then(day)
            .otherwise(day + pl.lit("T") + column.dt.to_string("%H:%M:%S%.f").str.strip_chars_end("."))
            .alias(name)
        )
    if dtype.is_decimal():
        return column.cast(pl.String).str.replace(r"(\.\d*?)0+$", "$1").str.strip_suffix(".")
    return column.cast(pl.String)


def text_series(values: pl.Series) -> pl.Series:
    """Return the text of each value of a column, as a column of the same name.

    >>> import polars as pl
    >>> text_series(pl.Series("x", [1.0, 2.5, None])).to_list()
    ['1', '2.5', None]
    """
    return values.to_frame("values").select(text_expression("values", values.dtype)).to_series().alias(values.name)
