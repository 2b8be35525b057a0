"""Warning about several spellings of a sensitive value, and about codes for a missing one."""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from celosia.table.columns import column_types, count_values, has_many_values

if TYPE_CHECKING:
    from celosia.table import Table

MISSING_CODES = frozenset({"", "na", "n/a", "n.a.", "nan", "null", "nil", "missing", "-", "?", "."})
"""Usual codes for a missing value, in lower case; without "none", which is a value in some columns."""


def warn_spellings(table: Table, columns: Iterable[str]) -> None:
    """Warn if a sensitive column has several spellings of a value, or usual codes for a missing one."""
    for column in dict.fromkeys(columns):
        if has_many_values(table, column) or str(column_types(table)[column]) != "String":
            continue
        texts = count_values(table, column)[column].drop_nulls().to_list()
        plain = Counter(" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts)
        variants = sum(count for count in plain.values() if count > 1)
        codes = sum(count for text, count in plain.items() if text in MISSING_CODES)
        if variants or codes:
            warnings.warn(
                f"column {column!r}: {variants} of {len(texts)} values differ from another one only by case, spaces or "
                f"Unicode form, and {codes} look like a code for a missing value. Requirements count each as a value "
                "of its own. Unify them before protecting (clean: strip, same, missing).",
                stacklevel=4,
            )
