"""Counts estimated from protected tables: anatomised, permuted or generalised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Kind
from celosia.errors import ParameterError, SchemaError, UnknownName
from celosia.hierarchy import parse, plain, texts
from celosia.hierarchy.dates import Dates
from celosia.hierarchy.match import matches
from celosia.hierarchy.values import Everything, Generalised, Interval, Mask, OneOf

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Column
    from celosia.hierarchy import Hierarchy, Levels
    from celosia.table import Table


def estimated_count(
    table: Table, where: Mapping[str, object], value: Mapping[str, object], counts: object = None
) -> float:
    r"""Estimate how many records satisfy ``where`` and have a sensitive value.

    ``where`` maps columns to a value or several, ``value`` one sensitive column to its value. A cell satisfies the
    predicate by the share of its values that were asked for, values being spread evenly over it:
    :math:`p_i = |p \cap \mathrm{cell}_i| / |\mathrm{cell}_i|`. From a generalised table the estimate is
    :math:`\sum_i 1[s_i = s]\,p_i`, from an anatomy :math:`\sum_g \sum_{i \in g} p_i\, c_g(s)/|g|`. On exact cells, and
    so on a permuted table, that is the plain count.

    A cell of a hierarchy with a list of values covers those under it. Other cells define them: the whole numbers of a
    range (``[35-40)`` has five), the days of a period (``2021-06`` has thirty), ten digits at each hidden place
    (``1305*``), the members of a set. Bounds cut a range. ``counts`` is the second table of an anatomy that was read
    from its files: group, value, count.

    Fails when a cell stands for values that are not known, a star or an open range: declare bounds or a hierarchy.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": ["[35-40)"] * 4, "disease": ["COVID", "COVID", "Heart", "Heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"], kinds={"age": "numeric"}))
    >>> estimated_count(table, {"age": 38}, {"disease": "Heart"})
    0.4
    """
    if len(value) != 1:
        raise ParameterError(f"estimated-count: one sensitive column is needed, got {len(value)}.")
    ((column, wanted),) = value.items()
    share = np.ones(len(table))
    for name, allowed in where.items():
        share *= _shares(table, name, *_allowed_values(allowed))
    if column in table.names:
        return float(share[_equal(table.column(column), wanted)].sum())
    return _from_anatomy(table, share, _count_table(table, column, counts), column, wanted)


def _allowed_values(allowed: object) -> tuple[list[str], bool]:
    """Return the distinct allowed values as text, and whether they are dates."""
    several = list(allowed) if isinstance(allowed, list | tuple | set | range) else [allowed]
    days = any(isinstance(value, date) for value in several)
    return list(dict.fromkeys(str(text) for text in texts(several) if text is not None)), days


def _equal(series: pl.Series, wanted: object) -> NDArray[np.bool_]:
    """Return which cells equal a value, whatever their type."""
    return np.array([text == plain(wanted) for text in texts(series)], dtype=np.bool_)


def _count_table(table: Table, column: str, counts: object) -> Table:
    """Return the table of an anatomy that has the sensitive column."""
    from celosia.table.source import open_source

    if counts is not None:
        tables = {"counts": open_source(counts)}
    else:
        tables = next((s["tables"] for s in reversed(table.private_history) if s.get("step") == "anatomise"), {})
    listed = [name for second in tables.values() for name in second.names]
    if not tables and "group" in table.names:
        raise ParameterError(
            f"estimated-count: the table has no column {column!r}; give the second table of the anatomy as `counts`."
        )
    if column not in listed:
        raise UnknownName.of("sensitive column", column, listed or table.names)
    return next(second for second in tables.values() if column in second.names)


def _from_anatomy(table: Table, share: NDArray[np.float64], second: Table, column: str, wanted: object) -> float:
    from celosia.kernels.disclosure.count_estimates import anatomy_count

    group = table.column("group").to_numpy().astype(np.int64)
    own = _equal(second.column(column), wanted)
    groups, counts = second.column("group").to_numpy()[own], second.column("count").to_numpy()[own]
    with_value = np.zeros(int(max(group.max(initial=0), groups.max(initial=0))) + 1, np.int64)
    np.add.at(with_value, groups, counts)
    return anatomy_count(share, group, with_value)


def _shares(table: Table, name: str, allowed: list[str], days: bool) -> NDArray[np.float64]:
    """Return the allowed share of each record's cell; 0 for a missing cell."""
    codes, values = table.codes(name)
    column = _Column.of(table, name, days)
    cells = [_labels(str(cell)) for cell in texts(values)]
    labels = list(dict.fromkeys(label for own in cells for label in own))
    hits = dict(zip(labels, matches(labels, allowed, column.hierarchy), strict=True))
    shares = np.zeros(len(cells) + 1)  # a missing cell, -1, takes the last
    for at, own in enumerate(cells):
        inside = np.any([hits[label] for label in own], axis=0)
        if inside.any():
            size = sum(column.size(label, [a for a, h in zip(allowed, hits[label], strict=True) if h]) for label in own)
            shares[at] = min(1.0, inside.sum() / max(size, 1.0))
    return shares[codes]


def _labels(cell: str) -> list[str]:
    """List the labels of a cell: the members of a set, else the cell itself."""
    cell_set = parse(cell)
    return list(cell_set.members) if isinstance(cell_set, OneOf) else [cell]


@dataclass(frozen=True)
class _Column:
    """Size of the labels of a column, from its hierarchy, bounds or notation."""

    info: Column
    hierarchy: Hierarchy | None
    listed: Levels | None
    """Levels of a hierarchy that lists its values; None when its labels are computed from any value."""

    @classmethod
    def of(cls, table: Table, name: str, days: bool) -> _Column:
        """Take the column of a table; where dates are asked for, a number such as 2021 is a period."""
        info, declared = table.schema[name], table.schema.hierarchy(name)
        hierarchy = Dates() if declared is None and (days or info.kind == Kind.DATE) else declared
        listed = None if hierarchy is None else hierarchy.levels([])
        return cls(info, hierarchy, listed if listed is not None and listed.domain else None)

    def size(self, label: str, asked: list[str]) -> float:
        """Count the values that a label covers; ``asked`` are some of them."""
        if self.listed is not None:
            return self.listed.share_of(label) * len(self.listed.domain)
        values = parse(label, "date" if isinstance(self.hierarchy, Dates) else None)
        if self.info.bounds is not None:
            values = _clip(values, self.info.bounds)
        letters = isinstance(values, Mask) and any(
            not value[at].isdigit() for value in asked for at, sign in enumerate(values.pattern) if sign == "*"
        )
        if letters or not np.isfinite(values.size):
            wish = "bounds" if self.info.kind == Kind.NUMERIC else "a hierarchy"
            raise SchemaError(
                f"estimated-count: a cell of column {self.info.name!r} stands for values that are not known; "
                f"declare {wish} for it."
            )
        return values.size


def _clip(cell: Generalised, bounds: tuple[float, float]) -> Generalised:
    """Clip a range of numbers to the bounds of its column."""
    low, high = bounds
    if isinstance(cell, Everything):
        return Interval(low, high)
    if not isinstance(cell, Interval) or cell.textual:
        return cell
    cuts = float(cell.low) < low, float(cell.high) > high
    return Interval(
        low if cuts[0] else cell.low,
        high if cuts[1] else cell.high,
        cuts[0] or cell.low_closed,
        cuts[1] or cell.high_closed,
    )
