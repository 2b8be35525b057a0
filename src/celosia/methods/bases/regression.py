"""What the methods share that put new numbers in place of dependent columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import DataError, ParameterError
from celosia.mathematics.perturbation.noise import reflect
from celosia.methods.bases.cells import as_column, bounds, numbers, refuse_missing, strata, units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """Independent and dependent columns as numbers, and the records of each stratum."""

    x: Floats
    y: Floats
    strata: list[Ints]


def split_columns(
    who: str, table: Table, dependent: Sequence[str], independent: Sequence[str], within: Sequence[str]
) -> Columns:
    """The numbers, or an error: a column on both sides, text, missing values, no records."""
    both = [name for name in dependent if name in independent]
    if both:
        raise ParameterError(f"{who}: column {both[0]!r} is dependent and independent; name it on one side.")
    clash = [name for name in within if name in dependent]
    if clash:
        raise ParameterError(f"{who}: column {clash[0]!r} parts the records and is dependent; name it on one side.")
    x, y = numbers(who, table, independent), numbers(who, table, dependent)
    refuse_missing(who, np.hstack([x, y]), "remove or impute them first.")
    if not len(y):
        raise DataError(f"{who}: the table has no records.")
    return Columns(x, y, strata(table, within, units(who, table, ())))


def by_stratum(split: Columns, make: Callable[[int, Floats, Floats, Ints], Floats]) -> Floats:
    """New dependent numbers, made stratum by stratum."""
    synthetic = np.empty_like(split.y)
    for s, rows in enumerate(split.strata):
        synthetic[rows] = make(s, split.x[rows], split.y[rows], rows)
    return synthetic


def put_back(
    table: Table, names: Sequence[str], synthetic: Floats, *, whole: bool
) -> tuple[Table, Floats, dict[str, int]]:
    """The table with new numbers, those numbers, and how many of each column lie outside its declared bounds.

    With ``whole`` whole-number columns are rounded and values folded into the declared bounds.
    """
    synthetic = synthetic.copy()
    columns: dict[str, Any] = {}
    outside: dict[str, int] = {}
    for j, name in enumerate(names):
        low, high = bounds(table, name) if whole else (table.schema[name].bounds or (-np.inf, np.inf))
        if whole:
            synthetic[:, j] = reflect(synthetic[:, j], low, high)
            columns[name] = as_column(table.column(name), synthetic[:, j])
            synthetic[:, j] = columns[name].to_numpy()
        else:
            columns[name] = synthetic[:, j]
        count = int(((synthetic[:, j] < low) | (synthetic[:, j] > high)).sum())
        if count:
            outside[name] = count
    return table.replace(columns), synthetic, outside
