"""Constraints between columns that a synthetic table keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import RequirementError

if TYPE_CHECKING:
    from celosia.table import Table

DIGITS = 44  # binary digits that sums of columns may use: with whole-number coefficients they are then exact


def keep_constraints(
    who: str, table: Table, dependent: Sequence[str], constraints: Sequence[str], *, whole: bool
) -> tuple[Table, int]:
    """Move the dependent columns of each record to the nearest values that meet the constraints; count the records."""
    from celosia.mathematics.statistics.centred import deviations
    from celosia.mathematics.synthesis.linear_constraints import nearest_feasible, parse_constraint, system
    from celosia.methods.bases.cells import as_column, refuse_missing

    numeric = [name for name in table.names if table.polars_types()[name].is_numeric()]
    read = [parse_constraint(text, numeric) for text in constraints]
    used = list(dict.fromkeys(name for constraint in read for name in constraint.coefficients))
    free = [name for name in dependent if name in used]
    if not free:
        raise RequirementError(f"{who}: no constraint names a dependent column.")
    columns = {name: table.numeric([name])[:, 0] for name in used}
    refuse_missing(who, np.column_stack(list(columns.values())), "a constraint needs all of them; fill them in first.")
    y = np.column_stack([columns[name] for name in free])
    limits = system(read, free, columns)
    spread = deviations(y)
    scale = np.where(spread > 0, spread, 1.0)
    largest = max(float(np.abs(values).max(initial=1.0)) for values in columns.values())
    fine = 2.0 ** (np.floor(np.log2(max(largest, 1.0))) - DIGITS)
    whole_columns = [whole and table.column(name).dtype.is_integer() for name in free]
    moved_values = nearest_feasible(y, limits, scale, np.where(whole_columns, 1.0, fine))
    moved = int((np.abs(moved_values - y) > 1e-9 * scale).any(axis=1).sum())
    new: dict[str, Any] = {}
    for j, name in enumerate(free):
        new[name] = as_column(table.column(name), moved_values[:, j]) if whole_columns[j] else moved_values[:, j]
    return table.replace(new), moved
