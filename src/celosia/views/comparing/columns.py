"""Columns of two tables side by side: shares of the records by range, period or label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Kind
from celosia.errors import SchemaError
from celosia.hierarchy import parse, texts
from celosia.hierarchy.dates import Dates
from celosia.hierarchy.values import Everything, Exact, Interval, OneOf, number
from celosia.kernels.statistics.distribution_distance import total_variation
from celosia.table.columns import can_read_columns, column_types, count_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

BINS = 30
LABELS = 10


@dataclass(frozen=True)
class ColumnPair:
    """One column before and after: shares of the records by range or by label."""

    name: str
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    edges: tuple[float, ...] = ()
    """Edges of the ranges of a numeric column; empty for labels."""
    hidden: float = 0.0
    """Share of the records without a value afterwards (missing or suppressed)."""
    distance: float = 0.0
    """Total variation distance of the two distributions."""


def column_pairs(original: Table, protected: Table, names: Sequence[str] = ()) -> tuple[ColumnPair, ...]:
    """Compare every column of both tables before and after, without identifiers.

    >>> import polars as pl, celosia
    >>> before = celosia.read(pl.DataFrame({"sex": ["F", "F", "M", "M"]}))
    >>> after = celosia.read(pl.DataFrame({"sex": ["F", "F", "F", "M"]}))
    >>> pair, = column_pairs(before, after)
    >>> pair.labels, pair.before, pair.after, pair.distance
    (('F', 'M'), (0.5, 0.5), (0.75, 0.25), 0.25)
    """
    skipped = {*original.schema.naming, original.schema.weight}
    shared = [name for name in original.names if name in protected.names and name not in skipped]
    return tuple(_pair(original, protected, name) for name in names or shared)


def _pair(original: Table, protected: Table, name: str) -> ColumnPair:
    if _plain_numbers(original, protected, name):
        return _array_pair(original, protected, name)
    before, after = _counts(original, name), _counts(protected, name)
    info = original.schema[name]
    numbers = {text: value for text in before if (value := _finite(text)) is not None}
    if info.kind == Kind.NUMERIC and len(numbers) > LABELS:
        return _number_pair(name, before, after, numbers)
    return _label_pair(original, name, before, after)


def _plain_numbers(original: Table, protected: Table, name: str) -> bool:
    """Whether a column is numeric before and after, has many values, and is in memory."""
    sides = (original, protected)
    if original.schema[name].kind != Kind.NUMERIC or not all(map(can_read_columns, sides)):
        return False
    numeric = all(column_types(table)[name].is_numeric() for table in sides)
    return numeric and len(count_values(original, name)) > LABELS


def _array_pair(original: Table, protected: Table, name: str) -> ColumnPair:
    """Two histograms over the same ranges, of the numbers themselves."""
    before, after = (table.numeric([name])[:, 0] for table in (original, protected))
    filled = before[np.isfinite(before)]
    edges = np.linspace(float(filled.min()), float(filled.max()), BINS + 1)
    heights = []
    for x in (before, after):
        inside = np.clip(x[np.isfinite(x)], edges[0], edges[-1])
        heights.append(np.histogram(inside, edges)[0] / max(1, len(x)))
    first, second = heights
    hidden = float(1 - second.sum())
    distance = total_variation(np.append(first, 1 - first.sum()), np.append(second, hidden))
    return ColumnPair(name, (), tuple(first.tolist()), tuple(second.tolist()), tuple(edges.tolist()), hidden, distance)


def _counts(table: Table, name: str) -> dict[str, int]:
    """Count the cells of a column by their text; missing ones have an empty text."""
    cells = table.counts.histogram([name], rows_only=True)
    counts: dict[str, int] = {}
    for text, rows_ in zip(texts(cells.cells[name]), cells.rows.tolist(), strict=True):
        counts[text or ""] = counts.get(text or "", 0) + int(rows_)
    return counts


def _number_pair(
    name: str, before: Mapping[str, int], after: Mapping[str, int], numbers: Mapping[str, float]
) -> ColumnPair:
    """Two histograms over the same ranges; a generalised cell counts evenly in all that it covers."""
    low, high = min(numbers.values()), max(numbers.values())
    edges = np.linspace(low, high, BINS + 1)
    first, _ = _range_shares(before, edges)
    second, hidden = _range_shares(after, edges)
    return ColumnPair(
        name,
        (),
        tuple(first.tolist()),
        tuple(second.tolist()),
        tuple(edges.tolist()),
        hidden,
        total_variation(np.append(first, 1 - first.sum()), np.append(second, 1 - second.sum())),
    )


def _range_shares(counts: Mapping[str, int], edges: Floats) -> tuple[Floats, float]:
    """Shares of the records per range, and the share without a value (missing or suppressed)."""
    heights = np.zeros(len(edges) - 1)
    hidden = 0
    for text, records in counts.items():
        cell = parse(text) if text else Everything()
        named = cell.members if isinstance(cell, OneOf) else (text,) if isinstance(cell, Exact) else ()
        values = [value for each in named if (value := number(each)) is not None]
        if values:
            for value in values:
                heights[_range_of(value, edges)] += records / len(values)
        elif isinstance(cell, Interval) and not cell.textual:
            low = max(float(cell.low), edges[0])
            high = min(float(cell.high), edges[-1])
            over = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0.0, None)
            if over.sum() > 0:
                heights += records * over / over.sum()
            else:  # beyond the ends, or one number written as a range
                heights[_range_of(low, edges)] += records
        else:
            hidden += records
    total = max(1, sum(counts.values()))
    return heights / total, hidden / total


def _range_of(value: float, edges: Floats) -> int:
    return int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(edges) - 2))


def _label_pair(original: Table, name: str, before: Mapping[str, int], after: Mapping[str, int]) -> ColumnPair:
    """Shares by label; where values were generalised, the original is counted by the labels of the release."""
    mapped = _at_released_level(original, name, before, after)
    if original.schema[name].kind == Kind.DATE:
        mapped, after = _by_time(mapped, after)
    totals = [max(1, sum(counts.values())) for counts in (mapped, after)]
    shown = {"", "*"}
    names = [n for n in {**mapped, **after} if n not in shown]
    names.sort(key=lambda n: (-(mapped.get(n, 0) / totals[0] + after.get(n, 0) / totals[1]), n))
    listed, rest = names[:LABELS], names[LABELS:]
    if original.schema[name].kind in (Kind.NUMERIC, Kind.ORDINAL, Kind.DATE):
        listed = in_order(listed, original.schema[name].order)
    first = [mapped.get(n, 0) / totals[0] for n in listed]
    second = [after.get(n, 0) / totals[1] for n in listed]
    labels = list(listed)
    if rest:
        labels.append("…")
        first.append(sum(mapped.get(n, 0) for n in rest) / totals[0])
        second.append(sum(after.get(n, 0) for n in rest) / totals[1])
    hidden = sum(after.get(n, 0) for n in shown) / totals[1]
    every = [*names, *shown]
    distance = total_variation(
        np.array([mapped.get(n, 0) / totals[0] for n in every]), np.array([after.get(n, 0) / totals[1] for n in every])
    )
    return ColumnPair(name, tuple(labels), tuple(first), tuple(second), (), hidden, distance)


def in_order(labels: Sequence[str], order: Sequence[str] = ()) -> list[str]:
    """Sort labels: by the declared order, else by number or lower end, else by text.

    >>> in_order(["high", "low", "mid"], ["low", "mid", "high"]), in_order(["[20, 30)", "[3, 20)", "*"])
    (['low', 'mid', 'high'], ['[3, 20)', '[20, 30)', '*'])
    """
    places = {label: place for place, label in enumerate(order)}

    def key(label: str) -> tuple[int, float, str]:
        if label in places:
            return 0, places[label], ""
        cell = parse(label)
        low = float(cell.low) if isinstance(cell, Interval) and not cell.textual else _finite(label)
        return (2, 0.0, label) if low is None else (1, low, "")

    return sorted(labels, key=key)


def _at_released_level(
    original: Table, name: str, before: Mapping[str, int], after: Mapping[str, int]
) -> Mapping[str, int]:
    """Map the original counts to the labels of the level that is released; unchanged where there is no such level."""
    hierarchy = original.schema.hierarchy(name)
    released = [text for text in after if text not in ("", "*")]
    if hierarchy is None or all(text in before for text in released):
        return before
    values = [text for text in before if text]
    try:
        levels = hierarchy.levels(values, [before[text] for text in values])
    except SchemaError:  # the values are labels already
        return before
    here = [level for level in range(1, levels.height + 1) if set(released) <= set(levels.categories(level))]
    if not here:
        return before
    counts: dict[str, int] = {"": before[""]} if "" in before else {}
    for value, label in zip(values, levels.labels(here[0]), strict=True):
        counts[str(label)] = counts.get(str(label), 0) + before[value]
    return counts


def _by_time(*sides: Mapping[str, int]) -> tuple[Mapping[str, int], ...]:
    """Group many different dates by year or by decade; other cells stay as they are."""
    grouped = sides
    for unit in ("year", "decade"):
        if max(len(side) for side in grouped) > 2 * LABELS:
            hierarchy = Dates(units=(unit,), fallback="*")
            grouped = tuple(_count_labels(side, hierarchy) for side in sides)
    return grouped


def _count_labels(counts: Mapping[str, int], hierarchy: Dates) -> Mapping[str, int]:
    grouped: dict[str, int] = {}
    texts_ = list(counts)
    for text, label in zip(texts_, hierarchy.levels(texts_).labels(1), strict=True):
        kept = text if label in (None, "*") else str(label)
        grouped[kept] = grouped.get(kept, 0) + counts[text]
    return grouped


def _finite(text: str) -> float | None:
    value = number(text)
    return None if value is None or not math.isfinite(value) else value
