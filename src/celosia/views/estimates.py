"""Counts estimated from protected tables: anatomised, permuted or generalised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import ParameterError, SchemaError, UnknownName
from celosia.hierarchy import parse, texts
from celosia.hierarchy.values import Everything, Exact, Interval, OneOf
from celosia.schema import Kind

if TYPE_CHECKING:
    from celosia.table import Table


def estimated_count(table: Table, where: Mapping[str, Any], value: Mapping[str, Any]) -> float:
    r"""Estimate how many records satisfy ``where`` and have a sensitive value.

    ``where`` maps columns to a value or several, ``value`` one sensitive column to its value. From an anatomy
    the estimate is :math:`\sum_g n_g(p)\, c_g(s)/|g|`; from a generalised table, values being spread evenly
    over a cell, :math:`\sum_i 1[s_i = s]\,|p \cap \mathrm{cell}_i| / |\mathrm{cell}_i|` with whole numbers
    counted in a range (``[35-40)`` has five). On exact cells, and so on a permuted table, that is the plain
    count.

    Fails when a star stands for a domain that is not known: declare bounds or a hierarchy.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": ["[35-40)"] * 4, "disease": ["COVID", "COVID", "Heart", "Heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"], kinds={"age": "numeric"}))
    >>> estimated_count(table, {"age": 38}, {"disease": "Heart"})
    0.4
    """
    if len(value) != 1:
        raise ParameterError(f"estimated-count: one sensitive column is needed, got {len(value)}.")
    ((column, wanted),) = value.items()
    several = {name: _several(allowed) for name, allowed in where.items()}
    anatomy = next((s["tables"] for s in reversed(table.secrets) if s.get("step") == "anatomise"), None)
    if anatomy is not None and column not in table.names:
        return _from_anatomy(table, anatomy, several, column, wanted)
    has = (table.column(column) == wanted).fill_null(value=False).to_numpy()
    share = np.ones(len(table))
    for name, allowed in several.items():
        share *= _shares(table, name, allowed)
    return float(share[has].sum())


def _several(allowed: Any) -> list[Any]:
    return list(allowed) if isinstance(allowed, list | tuple | set | range) else [allowed]


def _from_anatomy(
    table: Table, tables: Mapping[str, Table], where: Mapping[str, list[Any]], column: str, wanted: Any
) -> float:
    import polars as pl

    from celosia.statistics.count_estimates import anatomy_count

    second = tables.get("sensitive") or tables.get(f"sensitive_{column}")
    if second is None or column not in second.names:
        raise UnknownName.of("sensitive column", column, [n for t in tables.values() for n in t.names])
    matching = np.ones(len(table), np.bool_)
    for name, allowed in where.items():
        matching &= table.column(name).is_in(allowed).fill_null(value=False).to_numpy()
    group = table.column("group").to_numpy().astype(np.int64) - 1
    own = second.polars().filter(pl.col(column).eq_missing(wanted))
    held = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    held[own["group"].to_numpy() - 1] = own["count"].to_numpy()
    return anatomy_count(matching, group, held)


def _shares(table: Table, name: str, allowed: list[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each record the part of its cell that is allowed."""
    codes, values = table.codes(name)
    spoken = texts(values)
    shares = np.array([_share(table, name, str(cell), [str(a) for a in texts(allowed)]) for cell in spoken] + [0.0])
    return shares[codes]  # a missing cell, -1, takes the last


def _share(table: Table, name: str, cell: str, allowed: list[str]) -> float:
    numeric = table.schema[name].kind == Kind.NUMERIC
    hierarchy = table.schema.hierarchy(name)
    if hierarchy is not None:
        levels = hierarchy.levels(allowed)
        if cell in levels.domain:
            return float(cell in allowed)
        level = levels.level_of(cell)
        if level > 0:
            under = sum(label == cell for label in levels.labels(level))
            return under / (levels.share_of(cell) * len(levels.domain))
    found = parse(cell)
    if isinstance(found, Exact):
        return float(any(found.covers(a) for a in allowed))
    if isinstance(found, OneOf):
        return sum(found.covers(a) for a in allowed) / len(found.members)
    if isinstance(found, Everything) and table.schema[name].bounds is not None:
        low, high = table.schema[name].bounds or (0.0, 0.0)
        found = Interval(float(low), float(high))
    if isinstance(found, Interval) and not found.textual and np.isfinite(found.width):
        low, high = int(np.ceil(float(found.low))), int(np.floor(float(found.high)))
        whole = (
            (high - low + 1)
            - (not found.low_closed and low == found.low)
            - (not found.high_closed and high == found.high)
        )
        return sum(found.covers(a) for a in allowed) / max(whole, 1)
    raise SchemaError(
        f"estimated-count: a cell of column {name!r} stands for values that are not known; declare "
        f"{'bounds' if numeric else 'a hierarchy'} for it."
    )
