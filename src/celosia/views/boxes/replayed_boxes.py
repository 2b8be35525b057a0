"""Assign new records to the boxes of an earlier partition.

A record follows the recorded cuts and gets the recorded cell of its box. Where that cell does not cover the values of
all new records of the box, they get the whole region between the cuts: the cell is true, the box stays one class, and
the end of a range discloses no new value. A value outside the recorded domain fits only a star.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.classes import STAR
from celosia.hierarchy import texts
from celosia.hierarchy.values import parse
from celosia.views.boxes.regions import range_cell, set_cell

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

Ints = NDArray[np.int64]
Cut: TypeAlias = Any
"""Recorded cut: the end of a range, the rank of a label, or level and labels of a tree."""
End: TypeAlias = Any
"""End of a range: a number, or an ISO text."""
Limits: TypeAlias = Any
"""Bounds of a node in a column, by the kind of the column; None where it was not cut."""
Parts = Iterator[tuple[NDArray[np.bool_], Limits]]
UNSEEN, MISSING = -1, -2
NOWHERE = 0
"""Entry of a path where a value has no label; None is the label of a missing value."""


def replayed_boxes(table: Table, record: Mapping[str, Any]) -> tuple[dict[str, pl.Series], NDArray[np.bool_]]:
    """Return the cells of new records under a record of :func:`recorded_boxes`, and the mask of those without one."""
    import polars as pl

    columns = [KINDS[entry["kind"]].of(table, entry) for entry in record["columns"]]
    box_of = {leaf: box for box, leaf in enumerate(record["leaf"])}
    box = np.full(len(table), -1, np.int64)
    bounds = {}
    for leaf, rows, bound in _descend(columns, record["cuts"], len(table)):
        box[rows] = box_of[leaf]
        bounds[box_of[leaf]] = bound
    used, number = np.unique(box[box >= 0], return_inverse=True)
    lost = box < 0
    shown = []
    for column in columns:
        cells = column.cells(used, np.flatnonzero(box >= 0), number, bounds)
        lost[box >= 0] |= ~column.inside[box >= 0] & ~np.array([cell == STAR for cell in cells], np.bool_)[number]
        dtype = table.column(column.name).dtype
        shown.append(_values(cells, dtype) if column.single else pl.Series(cells, dtype=pl.String))
    place = np.zeros(len(table), np.int64)
    place[box >= 0] = number
    index = pl.select(pl.when(~pl.Series(lost)).then(pl.Series(place))).to_series()
    return {column.name: cells.gather(index) for column, cells in zip(columns, shown, strict=True)}, lost


def _descend(columns: list[_Column], cuts: Mapping[str, Any], n: int) -> Iterator[tuple[int, Ints, dict[str, Any]]]:
    """Yield every box of new records: its node, the records, and its bounds in the columns that were cut."""
    where = {node: i for i, node in enumerate(cuts["node"])}
    open_: list[tuple[int, Ints, dict[str, Any]]] = [(0, np.arange(n), {})]
    while open_:
        node, rows, bounds = open_.pop()
        if not len(rows):
            continue
        if node not in where:
            yield node, rows, bounds
            continue
        i = where[node]
        column = columns[cuts["column"][i]]
        for part, (mask, bound) in enumerate(column.parts(rows, cuts["at"][i], bounds.get(column.name))):
            open_.append((cuts["first"][i] + part, rows[mask], {**bounds, column.name: bound}))


@dataclass(frozen=True, eq=False)
class _Column:
    """Boxes of a recorded column, and the mask of the new records whose value is in its recorded domain."""

    name: str
    entry: Mapping[str, Any]
    inside: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, entry: Mapping[str, Any]) -> _Column:
        """Encode the new values like the recorded ones."""
        raise NotImplementedError

    @property
    def single(self) -> bool:
        """Whether a box has one value instead of a region."""
        return "values" in self.entry

    def cells(self, used: Ints, rows: Ints, number: Ints, bounds: Mapping[int, Mapping[str, Any]]) -> list[Any]:
        """Return the cell of each used box: the recorded one if it covers the records, else the region between cuts.

        ``number`` is the position of each record's box among the used ones.
        """
        if self.single:
            return [self.entry["values"][box] for box in used]
        region = np.asarray(self.entry["box"], np.int64)[used]
        wide = np.array([span == [] for span in self.entry["spans"]], np.bool_)[region]
        fits = wide[number] | ~self.inside[rows] | self.contains(rows, region[number])
        too_small = set(number[~fits].tolist())
        return [
            self.between(bounds[int(box)].get(self.name)) if i in too_small else self.entry["cells"][region[i]]
            for i, box in enumerate(used)
        ]

    def parts(self, rows: Ints, at: Cut, bound: Limits) -> Parts:
        """Yield the records of each part of a node with this bound, cut at ``at``, and the bound of the part."""
        raise NotImplementedError

    def contains(self, rows: Ints, region: Ints) -> NDArray[np.bool_]:
        """Return whether the recorded region of each record contains its value."""
        raise NotImplementedError

    def between(self, bound: Limits) -> str | None:
        """Return the cell of the region between the cuts; without a bound the column was not cut."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _Range(_Column):
    """Numbers, or ISO texts of dates; missing values lie above the largest. A bound is the round ends of a region."""

    values: NDArray[Any]
    absent: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, entry: Mapping[str, Any]) -> _Range:
        column = table.column(entry["name"])
        values = _numbers(column) if entry["numeric"] else np.array([t or "" for t in texts(column)], dtype=np.str_)
        absent = column.is_null().to_numpy()
        inside = absent & entry["missing"]
        if entry["low"] is not None:
            low, high = (_end(entry, end) for end in entry.get("outer") or (entry["low"], entry["high"]))
            below = values < high if entry.get("outer") else values <= high
            inside |= ~absent & (values >= low) & (below | (high == np.inf))
        return cls(entry["name"], entry, inside, values, absent)

    def parts(self, rows: Ints, at: Cut, bound: Limits) -> Parts:
        low, high = bound or (None, None)
        value, end = at if isinstance(at, list) else (at, None)  # records of earlier versions have no round ends
        values = self.values[rows]
        below = values <= _end(self.entry, value) if end is None else values < _end(self.entry, end)
        left = ~self.absent[rows] & below
        yield left, (low, end)
        yield ~left, (end, high)

    def contains(self, rows: Ints, region: Ints) -> NDArray[np.bool_]:
        spans = [span or [self.entry["low"]] * 2 for span in self.entry["spans"]]
        gone = np.array([span is None for span in self.entry["spans"]], np.bool_)[region]
        low, high = (np.array([_end(self.entry, span[i]) for span in spans])[region] for i in (0, 1))
        values, absent = self.values[rows], self.absent[rows]
        return np.where(gone, absent, ~absent & (values >= low) & (values <= high))

    def between(self, bound: Limits) -> str:
        low, high = bound or (None, None)
        outer = self.entry.get("outer")
        if outer is None or (high is None and self.entry["missing"]):
            return STAR
        return range_cell(_end(self.entry, low or outer[0]), _end(self.entry, high or outer[1]))


@dataclass(frozen=True, eq=False)
class _Set(_Column):
    """Labels by their rank in the order of cuts. A bound is (above this rank, up to this rank)."""

    codes: Ints
    rank: Ints

    @classmethod
    def of(cls, table: Table, entry: Mapping[str, Any]) -> _Set:
        codes = _positions(table.column(entry["name"]), entry["labels"])
        codes = np.where((codes == MISSING) & entry["missing"], len(entry["labels"]), codes)
        return cls(entry["name"], entry, codes >= 0, codes, np.asarray(entry["rank"], np.int64))

    def parts(self, rows: Ints, at: Cut, bound: Limits) -> Parts:
        above, up_to = bound or (-1, len(self.rank))
        inside, rank = self.inside[rows], self.rank[np.maximum(self.codes[rows], 0)]
        yield inside & (rank <= at), (above, at)
        yield inside & (rank > at), (at, up_to)

    def contains(self, rows: Ints, region: Ints) -> NDArray[np.bool_]:
        size = len(self.entry["labels"])
        spans = [[size] if span is None else span for span in self.entry["spans"]]
        pairs = [i * (size + 1) + code for i, span in enumerate(spans) for code in span]
        return np.isin(region * (size + 1) + self.codes[rows], pairs)

    def between(self, bound: Limits) -> str:
        above, up_to = bound or (-1, len(self.rank))
        members = np.flatnonzero((self.rank > above) & (self.rank <= up_to))
        labels = self.entry["labels"]
        return STAR if members[-1] == len(labels) else set_cell([labels[c] for c in members], len(labels))


@dataclass(frozen=True, eq=False)
class _Tree(_Column):
    """Nodes of a hierarchy, by the label of each record on each level. A bound is (level, label)."""

    labels: NDArray[Any]

    @classmethod
    def of(cls, table: Table, entry: Mapping[str, Any]) -> _Tree:
        column = table.column(entry["name"])
        values = texts(column.drop_nulls().unique())
        paths = [_path(str(text), entry["parents"]) for text in values]
        top = next(iter(entry["parents"][-1].values()), STAR)
        gone = [None] * len(entry["parents"]) + [top]
        inside = [any(label != NOWHERE for label in path[:-1]) for path in paths]
        place = _positions(column, values)  # a missing value has the last path
        return cls(
            entry["name"],
            entry,
            np.array([*inside, entry["missing"]], np.bool_)[np.maximum(place, -1)],
            np.array([*paths, gone], dtype=object).T[:, np.maximum(place, -1)],
        )

    def parts(self, rows: Ints, at: Cut, bound: Limits) -> Parts:  # noqa: ARG002
        level, children = at
        for label in children:
            yield np.asarray(self.labels[level, rows] == label, np.bool_), (level, label)

    def contains(self, rows: Ints, region: Ints) -> NDArray[np.bool_]:
        spans = [span or [0, None] for span in self.entry["spans"]]
        level = np.array([level for level, _ in spans], np.int64)[region]
        label = np.array([label for _, label in spans], dtype=object)[region]
        return np.asarray(self.labels[level, rows] == label, np.bool_)

    def between(self, bound: Limits) -> str | None:
        if bound is None:
            return STAR if self.entry["missing"] else next(iter(self.entry["parents"][-1].values()))
        label: str | None = bound[1]
        return label


KINDS: Mapping[str, type[_Column]] = {"range": _Range, "set": _Set, "tree": _Tree}


def _path(text: str, parents: list[dict[str, str]]) -> list[Any]:
    """List the labels above a value; one that is not in the record begins at the lowest label that covers it."""
    path: list[Any] = [text if text in parents[0] else NOWHERE]
    for level, above in enumerate(parents):
        label = above.get(path[level], NOWHERE)
        if label == NOWHERE:
            label = next((name for name in dict.fromkeys(above.values()) if parse(name).covers(text)), NOWHERE)
        path.append(label)
    return path


def _positions(column: pl.Series, labels: list[str | None]) -> Ints:
    """Return the position of each value among the labels."""
    import polars as pl

    raw = pl.Series("v", texts(column), dtype=pl.String)
    place_of = pl.DataFrame({"v": pl.Series(labels, dtype=pl.String), "c": np.arange(len(labels))})
    places = raw.to_frame().join(place_of, on="v", how="left", maintain_order="left")["c"].fill_null(UNSEEN).to_numpy()
    return np.where(raw.is_null().to_numpy(), MISSING, places).astype(np.int64)


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """Convert a column to numbers, NaN where it has none; single-precision floats by their shortest decimals."""
    import polars as pl

    if not column.dtype.is_integer() and column.dtype != pl.Float64:
        column = pl.Series(column.name, texts(column), dtype=pl.String)
    return column.cast(pl.Float64, strict=False).to_numpy()


def _values(cells: list[Any], dtype: pl.DataType) -> pl.Series:
    """Convert recorded values to a column: dates, which the record has as text, become dates again."""
    import polars as pl

    if dtype == pl.Date or dtype == pl.Datetime:
        read = date.fromisoformat if dtype == pl.Date else datetime.fromisoformat
        return pl.Series([None if cell is None else read(cell) for cell in cells], dtype=dtype)
    return pl.Series(cells, strict=False)


def _end(entry: Mapping[str, Any], text: str | None) -> End:
    """Convert a recorded end for comparison; a column without values has none."""
    if text is None:
        return np.nan if entry["numeric"] else ""
    return float(text) if entry["numeric"] else text
