"""Numeric cells of a perturbation: read them per record or household, by stratum, and write them back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BeforeValidator

from celosia.errors import DataError, ParameterError
from celosia.histogram import number
from celosia.methods.bases.conditions import records_where
from celosia.methods.bases.units import Units, units_of
from celosia.parts import Private, grammar
from celosia.table.columns import column_types

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


def _rules(value: object) -> object:
    if isinstance(value, str):
        return tuple(grammar.parse_list(value)) if value.strip().startswith("[") else (value,)
    return value


Impossible = Annotated[tuple[str, ...], BeforeValidator(_rules), Private()]
"""Combinations that cannot exist, each a condition as in SQL; a method never creates one."""


def units(who: str, table: Table, names: Sequence[str]) -> Units:
    """Households when a household column is declared and all columns are equal within households; else records.

    Household-level columns are then perturbed once and every member gets the result. A mixture of household and
    personal columns is refused: their values would no longer fit together.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"home": [1, 1, 2], "rent": [500, 500, 700]})
    >>> units("noise", celosia.read(data, celosia.Schema.of(household="home")), ["rent"]).member.tolist()
    [0, 0, 1]
    """
    household = table.schema.household
    each = Units.records(len(table))
    homes = each if household in names else units_of(table, household)
    shared = [homes.count_differing(table, name) == 0 for name in names]
    if homes.each:
        return each
    if not any(shared):
        return each
    if not all(shared):
        household_column, personal_column = names[shared.index(True)], names[shared.index(False)]
        raise ParameterError(
            f"{who}: column {household_column!r} is the same within households, column {personal_column!r} is not; "
            "protect household columns and personal columns in two steps."
        )
    return homes


def check_numeric(who: str, table: Table, names: Sequence[str]) -> None:
    """Raise when no column is named, one is named twice, or one does not hold numbers."""
    if not names:
        raise ParameterError(f"{who}: give at least one column.")
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise ParameterError(f"{who}: column {repeated[0]!r} is named twice.")
    for name in names:
        dtype = _type_of(table, name)
        if str(dtype) == "Boolean":
            raise DataError(f"{who}: column {name!r} holds true and false, but numbers are needed; use pram.")
        if not dtype.is_numeric():
            raise DataError(f"{who}: column {name!r} holds text or dates, but numbers are needed.")


def _type_of(table: Table, name: str) -> pl.DataType:
    table.schema[name]
    dtype: pl.DataType = column_types(table)[name]
    return dtype


def numbers(who: str, table: Table, names: Sequence[str]) -> Floats:
    """Numeric columns as floats (NaN is missing); errors name the method and the column."""
    check_numeric(who, table, names)
    try:
        return table.numeric(names)
    except DataError as error:
        raise DataError(f"{who}: {error}") from None


def refuse_constant(who: str, x: Floats, names: Sequence[str]) -> None:
    """Raise when a column has no variance, of which noise could be a share."""
    for j, name in enumerate(names):
        values = x[~np.isnan(x[:, j]), j]
        refuse_level(who, name, *((values.min(), values.max()) if len(values) else (np.nan, np.nan)))


def refuse_level(who: str, name: str, low: float, high: float) -> None:
    """Raise when the smallest and largest value of a column are equal, or NaN because it has none."""
    if np.isnan(low):
        raise DataError(f"{who}: column {name!r} has no values.")
    if low == high:
        raise DataError(f"{who}: column {name!r} is constant: a share of no variance is nothing. Leave it out.")


def refuse_missing(who: str, x: Floats, why: str) -> None:
    """Raise when a record has a missing value."""
    count = int(np.isnan(x).any(axis=1).sum())
    if count:
        raise DataError(f"{who}: {count} records have missing values in these columns; {why}")


def strata(table: Table, within: Sequence[str], unit: Units, also: Sequence[Ints] = ()) -> list[Ints]:
    """Positions of the units by stratum, in a fixed order; arrays in ``also`` divide the strata further."""
    parts = [np.asarray(table.codes(name)[0])[unit.first] for name in within] + [np.asarray(a) for a in also]
    if not parts or len(unit) == 0:
        return [np.arange(len(unit))] if len(unit) else []
    label = combine_codes(parts)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def combine_codes(parts: Sequence[NDArray[np.integer]]) -> Ints:
    """Combine columns of codes (-1 is missing): one code from 0 per distinct combination, in their order.

    >>> combine_codes([np.array([1, 0, 1]), np.array([-1, 2, -1])]).tolist()
    [1, 0, 1]
    """
    return number([np.asarray(codes) + 1 for codes in parts])


def bounds(table: Table, name: str) -> tuple[float, float]:
    """Return the declared bounds of a column, whole for a whole-number column; infinite where nothing is declared."""
    dtype = _type_of(table, name)
    low, high = table.schema[name].bounds or (-math.inf, math.inf)
    if dtype.is_integer():
        least, most = _extent(dtype)
        low, high = np.ceil(low), np.floor(high)
        if most < 2**32:  # a small type has ends of its own; reflecting at those of a large one would cost digits
            low, high = max(low, least), min(high, most)
        elif least == 0:
            low = max(low, 0.0)
    return float(low), float(high)


def _extent(dtype: pl.DataType) -> tuple[float, float]:
    """Smallest and largest number of a whole-number type, as floats within its range."""
    info = np.iinfo(str(dtype).lower() if str(dtype) != "Int128" else "int64")
    most = float(info.max)
    return float(info.min), most if most <= 2**53 else float(np.nextafter(most, 0.0))


def replace_numbers(table: Table, unit: Units, columns: dict[str, Floats]) -> Table:
    """Replace columns by new numbers per unit: missing cells stay missing, whole-number columns stay whole."""
    return table.replace({name: as_column(table.column(name), unit.expand(new)) for name, new in columns.items()})


def as_column(old: pl.Series, new: Floats, *, whole: bool = True) -> pl.Series:
    """Cast new numbers to the type of the old column; where the new one is NaN, the old cell stays.

    A whole-number column becomes one of floats where the numbers need not be ``whole``.
    """
    import polars as pl

    if old.dtype.is_integer() and not whole:
        old = old.cast(pl.Float64)
    if old.dtype.is_integer():
        new = np.clip(np.rint(new), *_extent(old.dtype))
    fresh = pl.Series(old.name, new, nan_to_null=True).cast(old.dtype)
    kept = pl.Series(np.isnan(new))
    return pl.select(pl.when(kept).then(pl.lit(old)).otherwise(pl.lit(fresh)).alias(old.name)).to_series()


def created_impossible(who: str, before: Table, after: Table, rules: Sequence[str]) -> Bools:
    """Mask of the records that meet an impossible combination only after the change."""
    hit = np.zeros(len(before), np.bool_)
    for rule in rules:
        hit |= records_where(after, rule, who) & ~records_where(before, rule, who)
    return hit
