"""Drift: how new records differ from those that a transformation was found for.

Counts and shares only: no value of a column is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Kind
from celosia.hierarchy.text import texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

BINS = 10
"""Ranges of equal frequency in which numbers are compared."""
LEAST = 0.05
"""A smaller distance between two distributions is no shift."""


@dataclass(frozen=True)
class ColumnDrift:
    """Drift of one column."""

    column: str
    unknown: int
    """Records with a value that the earlier records do not have; of a number, outside their range."""
    distance: float
    """Total variation distance of the two distributions; numbers in ranges of equal frequency."""
    expected: float
    """Distance that two samples of this size from one distribution have on average."""

    @property
    def is_shifted(self) -> bool:
        """Whether the distance is more than twice what chance gives, and not small."""
        return self.distance > max(LEAST, 2 * self.expected)

    def spec(self) -> dict[str, object]:
        """Return the drift as plain data."""
        return {
            "column": self.column,
            "unknown": self.unknown,
            "distance": self.distance,
            "expected": self.expected,
            "shifted": self.is_shifted,
        }


def measure_drift(earlier: Table, new: Table, columns: Sequence[str]) -> tuple[ColumnDrift, ...]:
    """Compare columns of new records with those of earlier ones.

    >>> import polars as pl, celosia
    >>> old, new = (celosia.read(pl.DataFrame({"c": c})) for c in (["a", "b"] * 50, ["b", "c"] * 50))
    >>> drift = measure_drift(old, new, ["c"])[0]
    >>> drift.unknown, drift.distance, drift.is_shifted
    (50, 0.5, True)
    """
    return tuple(_column_drift(earlier, new, name) for name in columns)


def _column_drift(earlier: Table, new: Table, name: str) -> ColumnDrift:
    if new.schema[name].kind == Kind.NUMERIC and _is_number(earlier, name) and _is_number(new, name):
        before, after = (table.numeric([name])[:, 0] for table in (earlier, new))
        unknown, codes = _ranges(before, after)
    else:
        unknown, codes = _categories(earlier, new, name)
    size = max(int(part.max(initial=-1)) for part in codes) + 1
    p, q = (np.bincount(part, minlength=size) / max(1, len(part)) for part in codes)
    pooled = (p * len(codes[0]) + q * len(codes[1])) / max(1, len(codes[0]) + len(codes[1]))
    spread = 1 / max(1, len(codes[0])) + 1 / max(1, len(codes[1]))
    # mean of the absolute value of a normal difference with this variance
    expected = 0.5 * float(np.sqrt(2 / np.pi * pooled * (1 - pooled) * spread).sum())
    return ColumnDrift(name, unknown, 0.5 * float(np.abs(p - q).sum()), expected)


def _is_number(table: Table, name: str) -> bool:
    return bool(table.column(name).dtype.is_numeric())


def _ranges(
    before: NDArray[np.float64], after: NDArray[np.float64]
) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the number of new values outside the earlier range, and both columns in ranges; missing is a range."""
    filled = before[np.isfinite(before)]
    if not len(filled):
        return int(np.isfinite(after).sum()), ((~np.isfinite(before)).astype(np.int64), np.isfinite(after).astype(int))
    edges = np.unique(np.quantile(filled, np.linspace(0, 1, BINS + 1)[1:-1]))

    def code(x: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.where(np.isfinite(x), np.searchsorted(edges, x, side="right"), len(edges) + 1).astype(np.int64)

    outside = (after < filled.min()) | (after > filled.max())
    return int(outside.sum()), (code(before), code(after))


def _categories(earlier: Table, new: Table, name: str) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the number of new cells with a value that is not among the earlier ones, and both columns as codes."""
    (before, domain), (after, values) = earlier.codes(name), new.codes(name)
    place = {value: code for code, value in enumerate(texts(domain))}
    size = len(place)
    moved = np.array([place.setdefault(value, len(place)) for value in texts(values)] or [0], dtype=np.int64)
    # a missing cell has the code 0, the others follow
    codes = before.astype(np.int64) + 1, np.where(after < 0, 0, moved[after] + 1)
    return int((codes[1] > size).sum()), codes
