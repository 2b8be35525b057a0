"""Value labels of a column that was recoded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celosia.hierarchy.values import OneOf, number, parse

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.io.facts import MissingCode

Labels = dict[float | str, str]

STAR = "*"
"""The label of a suppressed cell."""


def relabel(
    column: pl.Series, labels: Mapping[float | str, str], missing: Sequence[MissingCode] = ()
) -> tuple[pl.Series, Labels]:
    """Convert a labelled column back to codes, with labels for the codes that occur.

    A column that still has its codes keeps their labels. One that was recoded to text (``[30-35)``, ``{1, 2}``, ``*``)
    gets a new code for each text, above the old codes; the label of a set of old codes lists their labels. A code that
    no record has loses its label, which would disclose removed values; codes that are declared ``missing`` keep theirs.
    A column of codes with fractions is the result of a computation, to which no label applies.

    >>> import polars as pl
    >>> codes, labels = relabel(pl.Series("m", ["1", "{2, 3}", "*"]), {1: "single", 2: "married", 3: "widowed"})
    >>> codes.to_list(), labels[4], labels[5]
    ([1, 4, 5], '{married, widowed}', '*')
    """
    import polars as pl

    if column.dtype.is_numeric() or any(isinstance(code, str) for code in labels):
        return column, _labels_in_use(labels, column, missing)
    old = {_code_text(code): code for code in labels}
    numbers = [float(code) for code in labels]
    texts = sorted(column.drop_nulls().cast(pl.String).unique().to_list(), key=_natural)
    new: Labels = {}
    codes: dict[str, float] = {}
    fresh = int(max([*numbers, *(x for t in texts if (x := _code(t)) is not None), 0]))
    for text in texts:
        value = _code(text)
        if text in old:
            codes[text] = float(old[text])
        elif value is not None:
            codes[text] = value  # a code without a label, as it was
        else:
            fresh += 1
            codes[text] = fresh
            new[fresh] = _label(text, old, labels)
    mapping = pl.Series(list(codes), dtype=pl.String), pl.Series(list(codes.values()), dtype=pl.Float64)
    values = column.cast(pl.String).replace_strict(*mapping, default=None, return_dtype=pl.Float64).cast(pl.Float64)
    whole = bool((values.drop_nulls() == values.drop_nulls().round()).all())
    return (values.cast(pl.Int64) if whole else values).alias(column.name), _labels_in_use(
        labels, values, missing
    ) | new


def _labels_in_use(labels: Mapping[float | str, str], column: pl.Series, missing: Sequence[MissingCode]) -> Labels:
    """Select the labels of the codes in a column, and of those that are declared missing."""
    codes = set(column.drop_nulls().unique().to_list())
    if column.dtype.is_float() and not all(float(value).is_integer() for value in codes) and _whole(labels):
        codes = set()
    return {code: text for code, text in labels.items() if code in codes or any(m.covers(code) for m in missing)}


def _whole(labels: Mapping[float | str, str]) -> bool:
    return all(not isinstance(code, str) and float(code).is_integer() for code in labels)


def _label(text: str, old: Mapping[str, Any], labels: Mapping[Any, str]) -> str:
    """Return the label of a new text: the labels of its members if it is a set of old codes."""
    cell = parse(text)
    if isinstance(cell, OneOf) and all(member in old for member in cell.members):
        return str(OneOf(tuple(labels[old[member]] for member in cell.members)))
    return text


def _code(text: str) -> float | None:
    """Parse a text as a code; None for other texts and infinite numbers."""
    value = number(text)
    return None if value is None or math.isinf(value) else value


def _code_text(code: float | str) -> str:
    """Write a code as a recoded column would."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _natural(text: str) -> tuple[bool, float, str]:
    """Return a sort key: numbers by value, then texts, then suppressed cells."""
    value = _code(text)
    return (value is None, value or 0.0, "~" if text == STAR else text)
