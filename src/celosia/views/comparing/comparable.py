"""Numbers of an original and a protected table that a loss can compare, with missing values resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable, UnknownName
from celosia.kernels.statistics import deviation
from celosia.table.columns import column_types
from celosia.table.pairing import paired_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


def number_columns(original: Table, protected: Table, columns: Sequence[str] = ()) -> list[str]:
    """Return the given columns, or all numeric ones of the original that the protected table still has.

    A column that is no longer a number (intervals, stars) makes the comparison meaningless and is named.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [1, 2], "city": ["A", "B"]}))
    >>> number_columns(table, table)
    ['age']
    """
    schema = original.schema
    special = {*schema.identifiers, schema.weight, schema.household, schema.person, schema.stratum}
    before, after = column_types(original), column_types(protected)
    for name in columns:
        for types in (before, after):
            if name not in types:
                raise UnknownName.of("column", name, types)
    names = list(columns) or [n for n in before if n in after and n not in special and before[n].is_numeric()]
    if not names:
        raise NotApplicable("the two tables share no numeric column.")
    text = [name for name in names if not (before[name].is_numeric() and after[name].is_numeric())]
    if text:
        raise NotApplicable(
            f"column {text[0]!r} does not hold numbers in both tables (intervals or text): name other columns, "
            "or measure generalised tables by certainty-penalty or domain-loss."
        )
    return names


def cells(original: Table, protected: Table, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Paired numbers; a cell missing in both tables is unchanged, one missing in one table is the mean of its column.

    The mean is that of the original column: what a user would impute.
    """
    x, y = paired_numbers(original, protected, names)
    if len(x) == 0:
        raise NotApplicable("the protected table has no records.")
    for j, name in enumerate(names):
        empty = np.isnan(x[:, j]) | np.isnan(y[:, j])
        if not empty.any():
            continue
        if np.isnan(x[:, j]).all():
            raise NotApplicable(f"column {name!r} has no values; leave it out.")
        mean = np.nanmean(x[:, j])
        x[:, j] = np.where(np.isnan(x[:, j]), mean, x[:, j])
        y[:, j] = np.where(np.isnan(y[:, j]), mean, y[:, j])
    return x, y


def samples(original: Table, protected: Table, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the complete records of each table; they need not be paired."""
    complete = []
    for which, table in (("original", original), ("protected", protected)):
        x = table.numeric(names)
        whole = x[~np.isnan(x).any(axis=1)]
        if len(whole) < 2:
            raise NotApplicable(f"the {which} table has {len(whole)} records without missing numbers; two are needed.")
        complete.append(whole)
    return complete[0], complete[1]


def columns_of_numbers(original: Table, protected: Table, names: Sequence[str]) -> list[tuple[Floats, Floats]]:
    """Return each column without its missing values; the tables need not be paired."""
    pairs = []
    for name in names:
        pair = []
        for which, table in (("original", original), ("protected", protected)):
            x = table.numeric([name])[:, 0]
            x = x[~np.isnan(x)]
            if len(x) == 0:
                raise NotApplicable(f"column {name!r} of the {which} table has no values; leave it out.")
            pair.append(x)
        pairs.append((pair[0], pair[1]))
    return pairs


def deviations(x: Floats, names: Sequence[str]) -> Floats:
    """Return standard deviations with 1/n; refuse a constant column."""
    sd = deviation.deviations(x)
    if (sd == 0).any():
        raise NotApplicable(f"column {names[int(np.argmin(sd))]!r} is constant in the original; leave it out.")
    return sd
