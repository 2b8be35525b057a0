"""Cleaning of a frame that is read: strip blanks, unify spellings, replace codes for missing values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from celosia.errors import DataError, UnknownName

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoLazyFrameT

TRUTH = {"true": True, "false": False}
LARGEST = 2**63 - 1


def clean_frame(
    frame: IntoLazyFrameT,
    *,
    strip: Sequence[str] = (),
    same: Mapping[str, Mapping[str, str]] | None = None,
    missing: Mapping[str, Sequence[str | float]] | None = None,
) -> IntoLazyFrameT:
    """Clean the columns of a frame of any engine: blanks first, then spellings, then codes.

    ``strip`` names columns of texts that are stripped of blanks (an empty text is missing), ``same`` maps the
    spellings of a column to the one to use, ``missing`` lists the codes of a column that mean missing.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": ["H", "Hombre ", "NS/NC"], "age": [30, -99, 41]})
    >>> codes = {"sex": ["NS/NC"], "age": [-99]}
    >>> clean_frame(frame, strip=["sex"], same={"sex": {"H": "Hombre"}}, missing=codes).rows()
    [('Hombre', 30), ('Hombre', None), (None, 41)]
    """
    import narwhals as nw

    same, missing = same or {}, missing or {}
    lazy = nw.from_native(frame)
    types = lazy.collect_schema()
    changes: dict[str, nw.Expr] = {}
    for name in dict.fromkeys([*strip, *same, *missing]):
        if name not in types:
            raise UnknownName.of("column", name, list(types), "(clean)")
        cell = nw.col(name)
        textual = types[name] == nw.String
        if name in strip and textual:
            bare = cell.str.strip_chars()
            cell = nw.when(bare != "").then(bare)
        spelt = cell
        for old, new in same.get(name, {}).items():  # by the value that was read: two values may be swapped
            if not textual:
                raise DataError(f"clean.same: column {name!r} does not hold texts.")
            cell = nw.when(spelt == old).then(nw.lit(new)).otherwise(cell)
        codes = _codes(name, missing.get(name, ()), types[name])
        if codes:
            cell = nw.when(~cell.is_in(codes)).then(cell)
        changes[name] = cell
    return lazy.with_columns(**changes).to_native() if changes else frame


def _codes(name: str, codes: Iterable[str | float], dtype: nw.dtypes.DType) -> Sequence[object]:
    """Convert codes to the type of their column."""
    try:
        if dtype.is_integer():
            return [_whole(code) for code in codes]
        if dtype.is_numeric():
            return [float(code) for code in codes]
        if dtype.is_temporal():
            moments = [dt.datetime.fromisoformat(str(code)) for code in codes]
            return [moment.date() for moment in moments] if str(dtype) == "Date" else moments
        if str(dtype) == "Boolean":
            return [TRUTH[str(code).lower()] for code in codes]
    except (ValueError, ArithmeticError, KeyError):
        raise DataError(f"clean.missing: a code of column {name!r} is no value of its type ({dtype}).") from None
    return [str(code) for code in codes]


def _whole(code: str | float) -> int:
    """Convert a code to an integer, with all its digits; raise ``ValueError`` for a fraction."""
    number = Decimal(str(code))
    if number != number.to_integral_value() or abs(number) > LARGEST:
        raise ValueError
    return int(number)
