"""Cleaning while reading: blanks taken off, spellings of one value made equal, codes for missing made missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from celosia.errors import DataError, UnknownName

TRUTH = {"true": True, "false": False}
LARGEST = 2**63 - 1


def clean_frame(
    frame: Any,
    *,
    strip: Sequence[str] = (),
    same: Mapping[str, Mapping[str, str]] | None = None,
    missing: Mapping[str, Sequence[str | float]] | None = None,
) -> Any:
    """Return a frame of any engine with clean columns, in this order: blanks, spellings, codes.

    ``strip`` names columns of texts whose cells lose the blanks around them (nothing left is missing), ``same`` maps
    the spellings of a column to the one that stays, ``missing`` lists the codes of a column that mean missing.

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
    changes: dict[str, Any] = {}
    for name in dict.fromkeys([*strip, *same, *missing]):
        if name not in types:
            raise UnknownName.of("column", name, list(types), "(clean)")
        cell = nw.col(name)
        textual = types[name] == nw.String
        if name in strip and textual:
            bare = cell.str.strip_chars()
            cell = nw.when(bare != "").then(bare)
        spelt = cell
        for old, new in same.get(name, {}).items():  # each as it was read: two values may change places
            if not textual:
                raise DataError(f"clean.same: column {name!r} does not hold texts.")
            cell = nw.when(spelt == old).then(nw.lit(new)).otherwise(cell)
        codes = _codes(name, missing.get(name, ()), types[name])
        if codes:
            cell = nw.when(~cell.is_in(codes)).then(cell)
        changes[name] = cell
    return lazy.with_columns(**changes).to_native() if changes else frame


def _codes(name: str, codes: Iterable[str | float], dtype: Any) -> list[Any]:
    """Return codes as values of the column's type."""
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
    """Return a code as a whole number, with all its digits; a fraction is none of them."""
    number = Decimal(str(code))
    if number != number.to_integral_value() or abs(number) > LARGEST:
        raise ValueError
    return int(number)
