"""Several spellings of a sensitive value, and codes for a missing one: a warning, and codes that unify them."""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.io.text.columns import is_mark
from celosia.table.columns import column_types, count_values, has_many_values, sensitive_codes

if TYPE_CHECKING:
    from celosia.classes import Sensitive
    from celosia.table import Table

MISSING_CODES = frozenset({"", "na", "n/a", "n.a.", "nan", "null", "nil", "missing", "-", "?", "."})
"""Usual codes for a missing value, in lower case, beyond those of text files; "none" is a value in some columns."""


def plain_form(text: str) -> str:
    """Return a text without case, repeated spaces and Unicode variants.

    >>> plain_form(" Asthma  Acuta"), plain_form("ＨＩＶ")
    ('asthma acuta', 'hiv')
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_missing_code(plain: str) -> bool:
    """Return whether a text in plain form is a usual code for a missing value."""
    return plain != "none" and (plain in MISSING_CODES or is_mark(plain))


def unified_codes(table: Table, name: str) -> Sensitive:
    """Encode a sensitive column; spellings of one value share a code, and codes for a missing value are missing."""
    column = sensitive_codes(table, name)
    if str(column_types(table)[name]) != "String":
        return column
    values = table.classes.baseline(name).values
    code_of: dict[str, int] = {}
    missing = column.missing_code
    target = np.arange(len(values), dtype=np.int32)
    for code, text in enumerate(values.to_list()):
        if text is None:
            continue
        plain = plain_form(text)
        if is_missing_code(plain):
            missing = code if missing < 0 else missing
            target[code] = missing
        else:
            target[code] = code_of.setdefault(plain, code)
    codes = np.where(column.codes < 0, column.codes, target[column.codes])
    return replace(column, codes=codes, missing_code=missing)


def warn_spellings(table: Table, columns: Iterable[str]) -> None:
    """Warn if a sensitive column has several spellings of a value, or usual codes for a missing one."""
    for column in dict.fromkeys(columns):
        if has_many_values(table, column) or str(column_types(table)[column]) != "String":
            continue
        texts = count_values(table, column)[column].drop_nulls().to_list()
        plain = Counter(map(plain_form, texts))
        variants = sum(count for count in plain.values() if count > 1)
        codes = sum(count for text, count in plain.items() if is_missing_code(text))
        if variants or codes:
            warnings.warn(
                f"column {column!r}: {variants} of {len(texts)} values differ from another one only by case, spaces or "
                f"Unicode form, and {codes} look like a code for a missing value. Requirements count each as a value "
                "of its own. Unify them before protecting (clean: strip, same, missing).",
                stacklevel=4,
            )
