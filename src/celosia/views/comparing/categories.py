"""Columns of two tables as codes that mean the same in both; numbers fall into bins of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable, UnknownName
from celosia.table.pairing import shared_columns
from celosia.views.comparing.encoding import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Categories:
    """Codes from 0 of the original and the protected records, one column each; 0 is a missing value."""

    names: tuple[str, ...]
    original: Ints
    protected: Ints
    sizes: tuple[int, ...]
    """Number of codes of each column."""


def categories(original: Table, protected: Table, columns: Sequence[str] = (), bins: int = 10) -> Categories:
    """Code columns: numbers with more than ``bins`` values by quantiles of the original, all else by its text.

    A generalised or suppressed value is a category of its own.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"c": c})) for c in (["u", "v"], ["v", None]))
    >>> categories(a, b).original.ravel().tolist(), categories(a, b).protected.ravel().tolist()
    ([1, 2], [2, 0])
    """
    for name in columns:
        for table in (original, protected):
            if name not in table.names:
                raise UnknownName.of("column", name, table.names)
    special = {original.schema.weight, original.schema.household, original.schema.person}
    names = list(columns) or [name for name in shared_columns(original, protected) if name not in special]
    if not names:
        raise NotApplicable("the two tables share no column that can be compared.")
    if not len(original) or not len(protected):
        raise NotApplicable("a table has no records.")
    coded = encode([original, protected], names)
    coded_columns: dict[str, tuple[Ints, Ints, int]] = {}
    for j, name in enumerate(coded.nominal):
        a, b = (table.codes[:, j].astype(np.int64) + 1 for table in coded.tables)
        coded_columns[name] = (a, b, coded.sizes[j] + 1)
    for j, name in enumerate(coded.numeric):
        x, y = (table.numbers[:, j] for table in coded.tables)
        edges = _edges(x, y, bins)
        a, b = (np.where(np.isnan(v), 0, np.searchsorted(edges, v, side="left") + 1) for v in (x, y))
        coded_columns[name] = (a.astype(np.int64), b.astype(np.int64), len(edges) + 2)
    chosen = [coded_columns[name] for name in names]
    return Categories(
        tuple(names),
        np.column_stack([a for a, _, _ in chosen]),
        np.column_stack([b for _, b, _ in chosen]),
        tuple(size for _, _, size in chosen),
    )


def _edges(x: NDArray[np.float64], y: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Upper ends of the bins but the last: every value when there are few, else quantiles of the original."""
    values: NDArray[np.float64] = np.unique(np.concatenate([x, y]))
    values = values[~np.isnan(values)]
    if len(values) <= bins:
        return np.asarray(values, dtype=np.float64)
    filled = x[~np.isnan(x)]
    edges: NDArray[np.float64] = np.unique(np.quantile(filled if len(filled) else values, np.arange(1, bins) / bins))
    return edges
