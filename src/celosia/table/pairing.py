"""Pair protected records with their originals, for row-wise measures.

Tables of one run share their record ids. Two frames in memory are paired by position. Two files are paired by a key
column only: a written release is shuffled, so positions mean nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from celosia.data.engines.lazy_frames import RECORD
from celosia.data.schema import Role, Schema
from celosia.errors import DataError, NotApplicable, ParameterError
from celosia.table import Table
from celosia.table.columns import column_types
from celosia.table.derive import with_provenance

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes import Derived

Numbers: TypeAlias = Any
"""Numbers as Narwhals or Polars expressions or as series."""
DECIMALS = 6
"""Most decimals of a column of numbers."""
SAME = 1e-6
"""Numbers that differ by a smaller share of themselves and of the range of their column are the same."""
NEGLIGIBLE = 1e-3
"""A change by a smaller share of a number and of the standard deviation of its column hides nothing."""


def positions(original: Table, protected: Table) -> NDArray[np.int64]:
    """Return for each protected record the position of its original record."""
    if original.provenance.family is protected.provenance.family:
        key = ("positions", original.rows)
        return protected.compute_once(key, lambda: np.searchsorted(original.ids(), protected.ids()).astype(np.int64))
    if original.origin.ordered and protected.origin.ordered and len(original) == len(protected):
        return protected.compute_once(_by_position(original), lambda: np.arange(len(original), dtype=np.int64))
    raise NotApplicable(
        "the records of the two tables cannot be paired: give a key column that both have, or measure inside the run "
        "that protects the table (a written release is shuffled, so positions mean nothing)."
    )


def _by_position(original: Table) -> tuple[object, ...]:
    """Return the key under which a table keeps that it was paired by position."""
    return "by position", original.rows


def counterparts(original: Table, protected: Table) -> NDArray[np.int64]:
    """Return for each original record the position of its protected record, -1 for none."""
    rows = positions(original, protected)
    rows_of_originals = np.full(len(original), -1, dtype=np.int64)
    rows_of_originals[rows] = np.arange(len(rows))
    return rows_of_originals


def paired_numbers(
    original: Table, protected: Table, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numeric columns of the originals and of the protected records, row by row."""
    rows = positions(original, protected)
    return original.numeric(names)[rows], protected.numeric(names)


def paired_counts(original: Table, protected: Table, names: Sequence[str]) -> Derived | None:
    """Return the combinations of those of these columns that steps changed, before and after.

    For a table that is not in memory, and whose steps gave equal cells to equal cells; None for others.
    """
    lineage = protected.provenance.lineage
    if protected.counts.frame is not None or lineage is None or lineage.base.rows is not original.rows:
        return None
    changed = [name for name in names if lineage.changes_column(name)]
    return lineage.derive(changed or original.schema.quasi, rows_only=True)


def same_numbers(table: Table, name: str, before: Numbers, after: Numbers) -> Numbers:
    """Whether numbers, as expressions or series, count as the original ones of a column.

    They do when they are, once rounded to the decimals of the column (at most six), and when they differ by less than a
    millionth of the number and of the range of the column. Without decimals to round to, the range alone decides.
    """
    off = (after - before).abs()
    half, share, _ = _number_tolerances(table, name)
    return (off < half) | ((off < share) & (off < SAME * before.abs()))


def nearly_same_numbers(table: Table, name: str, before: Numbers, after: Numbers) -> Numbers:
    """Whether numbers count as the original ones of a column, or differ negligibly from them."""
    off, spread = (after - before).abs(), _number_tolerances(table, name)[2]
    near = (off < NEGLIGIBLE * spread) & (off < NEGLIGIBLE * before.abs())
    return same_numbers(table, name, before, after) | near


def is_spread(table: Table, name: str) -> bool:
    """Whether different whole numbers of a column may differ negligibly."""
    return _number_tolerances(table, name)[2] * NEGLIGIBLE > 1 or is_wide(table, name)


def is_wide(table: Table, name: str) -> bool:
    """Whether different whole numbers of a column may count as the same."""
    return _number_tolerances(table, name)[1] > 1


def number_unit(table: Table, name: str) -> float:
    """Return the last decimal of a column, or a millionth of its range without decimals."""
    half, share, _ = _number_tolerances(table, name)
    return 2 * half or 2 * share


def number_spread(table: Table, name: str) -> float:
    """Return the standard deviation of a column."""
    return _number_tolerances(table, name)[2]


def _number_tolerances(table: Table, name: str) -> tuple[float, float, float]:
    """Half a unit of the last decimal of a column, a millionth of its range, and its standard deviation."""
    import narwhals as nw

    def measure() -> tuple[float, float, float]:
        column = nw.when(nw.col(name).cast(nw.Float64).is_finite()).then(nw.col(name).cast(nw.Float64))
        off = {f"d{d}": (column - column.round(d)).abs().max() for d in range(DECIMALS + 1)}
        frame = nw.from_native(table.rows.frame).select(low=column.min(), high=column.max(), spread=column.std(), **off)
        row = table.engine.collect(frame.to_native()).row(0, named=True)
        if row["low"] is None:
            return 0.0, 0.0, 0.0
        exact = 1e-12 * max(1.0, abs(row["low"]), abs(row["high"]))
        decimals = next((d for d in range(DECIMALS + 1) if row[f"d{d}"] <= exact), None)
        share = SAME * float(row["high"] - row["low"])
        return share if decimals is None else 0.5 * 10.0**-decimals, share, float(row["spread"] or 0)

    tolerances: tuple[float, float, float] = table.compute_once(("number tolerances", name), measure)
    return tolerances


def shared_columns(original: Table, protected: Table) -> list[str]:
    """Columns that both tables have, identifiers left out."""
    return [name for name in original.names if name in protected.names and name not in original.schema.identifiers]


def shared_numbers(original: Table, protected: Table) -> list[str]:
    """Columns that are numbers in both tables, identifiers, weights and ids left out."""
    schema = original.schema
    special = {schema.weight, schema.household, schema.person, schema.stratum}
    before, after = column_types(original), column_types(protected)
    return [
        name
        for name in shared_columns(original, protected)
        if name not in special and before[name].is_numeric() and after[name].is_numeric()
    ]


def pair(
    original: Table, protected: Table, *, key: str | None = None, by: Literal["position"] | None = None
) -> tuple[Table, Table]:
    """Return both tables with their records paired: by a key column, by position, or as they are already.

    The key becomes an identifier, which no loss and no attack uses. Pairing by position is refused when it is certainly
    wrong: the tables differ in length, or unchanged columns have the same rows in another order.
    """
    if by not in (None, "position"):
        raise ParameterError(f"compare: by must be 'position', got {by!r}.")
    if key is not None and by is not None:
        raise ParameterError("compare: give a key or by='position', not both.")
    if key is not None:
        original, protected = (table.with_schema(_without_key(table.schema, key)) for table in (original, protected))
        return original, by_key(original, protected, key)
    if original.provenance.family is protected.provenance.family:
        return original, protected
    if by is not None:
        if len(original) != len(protected):
            raise DataError(
                f"the tables have {len(original)} and {len(protected)} rows, so that they cannot be paired by "
                "position. Give a key column that both have."
            )
        refuse_shuffled(original, protected)
        return original, by_ids(original, protected, original.ids())
    if original.origin.ordered and protected.origin.ordered and len(original) == len(protected):
        refuse_shuffled(original, protected, stated=False)
    return original, protected


def refuse_shuffled(original: Table, protected: Table, *, stated: bool = True) -> bool:
    """Return whether an unchanged column shows that the rows have the same order; raise when one shows another.

    A column is unchanged if it has the same values in both tables, in any order; one with a single value shows nothing,
    and one with equal cells at all positions shows that the order is the same. If pairing by position is ``stated``,
    two columns must have the same rows in another order, since methods swap the values of a column; otherwise one is
    enough.
    """
    names = [name for name in original.names if name in protected.names]
    before, after = original.polars().select(names), protected.polars().select(names)
    same = [name for name in names if before[name].dtype == after[name].dtype and before[name].n_unique() > 1]
    unchanged = [name for name in same if before[name].sort().equals(after[name].sort())]
    if any(before[name].equals(after[name]) for name in unchanged):
        return True
    together = len(unchanged) > 1 and before.select(unchanged).sort(unchanged).equals(
        after.select(unchanged).sort(unchanged)
    )
    if together or (unchanged and not stated):
        rows = "the same rows" if together else "the same values"
        raise DataError(
            f"the rows of the two tables are in another order: the unchanged columns ({', '.join(unchanged)}) have "
            f"{rows}, but not at the same positions. A written release is shuffled. Give a key column that both have "
            "(key)" + ("." if together else ", or state by='position' if a method moved these values.")
        )
    return False


def warn_of_positions(original: Table, protected: Table) -> None:
    """Warn if a measure paired two tables by position while nothing shows that their rows have the same order."""
    if _by_position(original) in protected._cache and not refuse_shuffled(original, protected, stated=False):
        warnings.warn(
            "compare: rows are paired by position, and no unchanged column shows that their order is the same. A "
            "written release is shuffled. State by='position', or give a key column that both have (key).",
            stacklevel=3,
        )


def _without_key(schema: Schema, key: str) -> Schema:
    """Return the schema with the key as an identifier, unless it identifies a person."""
    if key not in schema or schema.person == key:
        return schema
    return schema.change(key, roles=frozenset({Role.IDENTIFIER}))


def by_key(original: Table, protected: Table, key: str) -> Table:
    """Return the protected table with the record ids of the original, by a key column of both."""
    import polars as pl

    ours, theirs = original.column(key), protected.column(key)
    if ours.dtype != theirs.dtype:
        ours, theirs = _as_text(ours), _as_text(theirs)
    for which, series in (("original", ours), ("protected", theirs)):
        repeated = len(series) - series.n_unique()
        if repeated:
            raise DataError(f"key column {key!r}: {repeated} values of the {which} table are repeated or missing.")
    ids = pl.DataFrame({key: ours, RECORD: original.ids()})  # the key may have any other name, "id" above all
    matched = theirs.to_frame().join(ids, on=key, how="left", maintain_order="left")[RECORD]
    if matched.null_count():
        raise DataError(f"key column {key!r}: {matched.null_count()} protected records have no original.")
    return by_ids(original, protected, matched.to_numpy())


def _as_text(column: pl.Series) -> pl.Series:
    """Return the values of a key as text, whole numbers without decimals."""
    import polars as pl

    whole = column.cast(pl.Int64, strict=False) if column.dtype.is_float() else column
    return whole.cast(pl.String) if (whole == column).all() else column.cast(pl.String)


def by_index(original: Table, protected: Table) -> Table:
    """Pair a protected pandas frame with the original by their indexes, where these identify rows.

    Rows that are numbered from 0 may have been renumbered: they are not paired.
    """
    ours, theirs = original.origin.metadata.index, protected.origin.metadata.index
    alike = (
        hasattr(ours, "get_indexer")
        and hasattr(theirs, "get_indexer")
        and original.provenance.family is not protected.provenance.family
    )
    if not alike or not ours.is_unique or not theirs.is_unique:
        return protected
    places = ours.get_indexer(theirs)
    numbered = np.array_equal(theirs, np.arange(len(theirs)))
    return protected if numbered or (places < 0).any() else by_ids(original, protected, original.ids()[places])


def by_ids(original: Table, protected: Table, ids: NDArray[np.int64]) -> Table:
    """Return the protected table with record ids of the original, such as those of a private record."""
    import polars as pl

    if len(ids) != len(protected):
        raise DataError(f"{len(ids)} records are paired, but the protected table has {len(protected)} rows.")
    order = np.argsort(ids, kind="stable")
    data = protected.polars()[order].with_columns(pl.Series(RECORD, ids[order]))
    frame = protected.engine.accept(data)
    rows = replace(protected.rows, frame=frame)
    origin = replace(protected.origin, library=original.origin.library, metadata=original.origin.metadata)
    paired = replace(protected, rows=rows, origin=origin, _cache={})
    return with_provenance(paired, family=original.provenance.family, lineage=None, input=original)
