"""Split a table into independent and dependent columns, and replace the dependent ones stratum by stratum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import DataError, ParameterError
from celosia.kernels.perturbation.noise import reflect
from celosia.methods.bases.cells import as_column, bounds, numbers, refuse_missing, strata, units

if TYPE_CHECKING:
    import polars as pl
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
    """Read the columns as numbers; raise on a column on both sides, text, missing values or no records."""
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


def need_residuals(who: str, split: Columns, models: int, *, intercept: bool, fewest: int = 2) -> None:
    """Raise when the regression of a stratum leaves too few residual degrees of freedom.

    With none the fit is the original; with one a residual of the same size is the original one or its opposite.
    ``models`` regressions share the records of a stratum; the design of each has the rank of the independent columns.
    """
    for rows in split.strata:
        design = np.column_stack([np.ones((len(rows), 1)), split.x[rows]]) if intercept else split.x[rows]
        scale = np.abs(design).max(axis=0, initial=0.0)
        rank = int(np.linalg.matrix_rank(design / np.where(scale > 0, scale, 1.0))) if design.size else 0
        left = len(rows) - models * rank
        if left < fewest and (models == 1 or len(rows) > models):  # fewer records than models have their own refusal
            raise DataError(
                f"{who}: a group of {len(rows)} records leaves {max(0, left)} residual degrees of freedom for "
                f"{models * rank} coefficients, and at least {fewest} are needed: the new values would be the original "
                "ones. Use fewer independent columns, fewer regressions or larger groups (`within`)."
            )


def by_stratum(split: Columns, make: Callable[[int, Floats, Floats, Ints], Floats]) -> Floats:
    """Compute new dependent columns stratum by stratum."""
    synthetic = np.empty_like(split.y)
    for s, rows in enumerate(split.strata):
        synthetic[rows] = make(s, split.x[rows], split.y[rows], rows)
    return synthetic


def replace_dependent(
    table: Table, names: Sequence[str], synthetic: Floats, *, whole: bool
) -> tuple[Table, Floats, dict[str, int]]:
    """Replace the columns; return the table, the released numbers, and per column the count outside its bounds.

    With ``whole`` whole-number columns are rounded and values reflected at the declared bounds.
    """
    synthetic = synthetic.copy()
    columns: dict[str, pl.Series | Floats] = {}
    outside: dict[str, int] = {}
    for j, name in enumerate(names):
        low, high = bounds(table, name) if whole else (table.schema[name].bounds or (-np.inf, np.inf))
        if whole:
            column = as_column(table.column(name), reflect(synthetic[:, j], low, high))
            columns[name] = column
            synthetic[:, j] = column.to_numpy()
        else:
            columns[name] = synthetic[:, j]
        count = int(((synthetic[:, j] < low) | (synthetic[:, j] > high)).sum())
        if count:
            outside[name] = count
    return table.replace(columns), synthetic, outside
