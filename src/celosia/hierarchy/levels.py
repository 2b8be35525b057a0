"""Level table of a column: every raw value with its label on each level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.errors import ParameterError, SchemaError
from celosia.hierarchy.text import texts
from celosia.hierarchy.values import Everything, Interval, OneOf, number, parse

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.int32]
MOST_LEVELS = 250
"""Largest number of levels above the values, because searches compare all pairs of levels."""


@dataclass(frozen=True, eq=False)
class Level:
    """Level: its distinct labels, the code of each value's label, and the number of domain rows under each label."""

    labels: list[str | None]
    codes: Codes
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Levels:
    """Labels of distinct raw values on the levels 0 (raw) to ``height`` (coarsest).

    The *domain* is every row of the hierarchy, including values that do not occur in the data; the share of a label is
    the share of the domain's rows under it, as in ARX. A missing value stays missing below the top, and has the label
    of the top if there is only one.

    >>> levels = Levels.of(["Writer", "Dancer", "Lawyer"], [["Artist", "Artist", "Legal"], ["*", "*", "*"]])
    >>> levels.height, levels.labels(1), levels.codes(1).tolist(), levels.shares(1).round(3).tolist()
    (2, ['Artist', 'Artist', 'Legal'], [0, 0, 1], [0.667, 0.667, 0.333])
    """

    values: list[str | None]
    table: tuple[Level, ...]
    domain: list[str | None] = field(repr=False)

    @classmethod
    def of(cls, values: Sequence[str | None], labels: Sequence[Iterable[str]]) -> Levels:
        """Build the table of a whole domain from one column of labels per level above the raw values."""
        import polars as pl

        if len(labels) > MOST_LEVELS:
            raise SchemaError(f"a hierarchy has at most {MOST_LEVELS} levels, got {len(labels)}: leave some out.")

        raw = pl.Series("raw", values, dtype=pl.String)
        table = []
        lists = (column if isinstance(column, pl.Series) else list(column) for column in labels)
        for column in [raw, *(pl.Series("label", each, dtype=pl.String) for each in lists)]:
            names = column.unique(maintain_order=True)
            codes = _encode(column, names)
            table.append(Level(names.to_list(), codes, np.bincount(codes, minlength=len(names)).astype(np.int64)))
        domain = raw.to_list()
        built = cls(domain, tuple(table), domain)
        built.check_nesting()
        return built

    @classmethod
    def flat(cls, values: Iterable[object]) -> Levels:
        """Return the levels of a column without a hierarchy: its values, and ``*``; the domain has no missing value.

        >>> levels = Levels.flat(["a", "b", None])
        >>> levels.labels(1), levels.shares(0).tolist(), levels.domain
        (['*', '*', '*'], [0.5, 0.5, 0.5], ['a', 'b'])
        """
        raw = texts(values)
        domain: list[str | None] = [value for value in raw if value is not None]
        own, top = np.arange(len(raw), dtype=np.int32), np.zeros(len(raw), dtype=np.int32)
        star = Level([str(Everything())], top, np.array([max(1, len(domain))]))
        return cls(raw, (Level(raw, own, np.ones(len(raw), dtype=np.int64)), star), domain)

    @property
    def height(self) -> int:
        """Number of levels above the raw values."""
        return len(self.table) - 1

    def labels(self, level: int) -> list[str | None]:
        """Label of each value on a level."""
        at = self._at(level)
        names = np.array([*at.labels, None], dtype=object)[:-1]
        return list(names[at.codes])

    def categories(self, level: int) -> list[str | None]:
        """Return the distinct labels of a level; `codes` are positions in this list."""
        return self._at(level).labels

    def codes(self, level: int) -> Codes:
        """Code of each value's label on a level."""
        return self._at(level).codes

    def shares(self, level: int) -> NDArray[np.float64]:
        """Share of the domain under the label of each value, in (0, 1]."""
        at = self._at(level)
        shares: NDArray[np.float64] = (at.rows / max(len(self.domain), 1))[at.codes]
        return shares

    @cached_property
    def parents(self) -> tuple[Codes, ...]:
        """For each level below the top, the code of the parent of every code."""
        return tuple(
            _parent(low.codes, high.codes, len(low.labels))
            for low, high in zip(self.table, self.table[1:], strict=False)
        )

    def check_nesting(self) -> None:
        """Raise if two values have the same label on a level but different ones on the next."""
        for level, parent in enumerate(self.parents):
            low, high = self.table[level], self.table[level + 1]
            split = np.unique(low.codes[parent[low.codes] != high.codes])
            if len(split):
                raise SchemaError(
                    f"hierarchy: level {level + 1} does not nest level {level}: values that share one of {len(split)} "
                    f"label(s) of level {level} have different labels on level {level + 1}. Give each label one parent."
                )

    def at(self, levels: Sequence[int] | NDArray[np.int_]) -> list[str | None]:
        """Label of each value on a level of its own, for subtrees on different levels.

        Values under one label must have the same level, otherwise the label would generalise only some of them.

        >>> levels = Levels.of(["a", "b", "c"], [["ab", "ab", "c"], ["*", "*", "*"]])
        >>> levels.at([1, 1, 0])
        ['ab', 'ab', 'c']
        """
        wanted = np.asarray(levels, dtype=np.int64)
        if wanted.shape != (len(self.values),):
            raise ParameterError(f"one level per value is needed: {len(self.values)} values, {wanted.size} levels.")
        out = np.empty(len(self.values), dtype=object)
        for level in np.unique(wanted):
            here = wanted == level
            at = self._at(int(level))
            if np.isin(at.codes[~here], at.codes[here]).any():
                raise ParameterError(
                    f"mixed levels: some values under a label of level {level} stand at another level; "
                    "a subtree stands at one level."
                )
            out[here] = np.array([*at.labels, None], dtype=object)[:-1][at.codes[here]]
        return list(out)

    def cut(self, nodes: Iterable[str], rest: int = 0) -> list[str | None]:
        """Label of each value: the given node above it, or its label on the level ``rest``.

        >>> levels = Levels.of(["13053", "13068", "14853"],
        ...                    [["1305*", "1306*", "1485*"], ["130**", "130**", "148**"], ["*", "*", "*"]])
        >>> levels.cut(["130**", "1485*"])
        ['130**', '130**', '1485*']
        """
        wanted = np.full(len(self.values), -1, dtype=np.int64)
        for node in nodes:
            level = self.level_of(node)
            if level < 0:
                raise ParameterError("mixed levels: a node names no label of the hierarchy; use labels of its levels.")
            at = self._at(level)
            under = at.codes == at.labels.index(node)
            wanted[under] = np.maximum(wanted[under], level)
        wanted[wanted < 0] = rest
        return self.at(wanted)

    def level_of(self, label: str | None) -> int:
        """Return the lowest level with this label, or -1."""
        return self._places.get(label, (-1, 0))[0]

    def share_of(self, label: str | None) -> float:
        """Share of the domain under a label of any level; another cell is parsed and matched.

        >>> levels = Levels.of(["1", "2", "3", "4"], [["1-2", "1-2", "3-4", "3-4"], ["*", "*", "*", "*"]])
        >>> levels.share_of("1-2"), levels.share_of("[2-4]"), levels.share_of("*"), levels.share_of("2")
        (0.5, 0.75, 1.0, 0.25)
        >>> levels.share_of("{1-2, 3-4}"), levels.share_of("{1, 4}")
        (1.0, 0.5)
        """
        size = max(len(self.domain), 1)
        place = self._places.get(label)
        if place is not None:
            return float(place[1] / size)
        if label is None:
            return 1.0 / size
        cell = parse(label)
        if isinstance(cell, Everything):
            return 1.0
        if isinstance(cell, OneOf) and all(member in self._places for member in cell.members):
            places = [self._places[member] for member in set(cell.members)]
            if len({level for level, _ in places}) == 1:  # labels of one level are disjoint
                return float(sum(rows for _, rows in places) / size)
        if isinstance(cell, Interval) and not cell.textual:
            x, low, high = self._numbers, float(cell.low), float(cell.high)
            above = (x >= low) if cell.low_closed else (x > low)
            below = (x <= high) if cell.high_closed else (x < high)
            return float((above & below).sum() / size)
        return sum(raw is not None and cell.covers(raw) for raw in self.domain) / size

    def heights_of(self, labels: Sequence[str | None]) -> NDArray[np.int64]:
        """Return the lowest level of each label; for a cell on no level, the lowest level with labels as wide."""
        return np.array([self._height(label) for label in labels], dtype=np.int64)

    def _height(self, label: str | None) -> int:
        own_level = self.level_of(label)
        if own_level >= 0 or label is None:
            return max(own_level, 0)
        share = self.share_of(label)
        for level, at in enumerate(self.table):
            if at.rows.max(initial=0) / max(len(self.domain), 1) >= share:
                return level
        return self.height

    def restrict(self, values: Sequence[str | None], fallback: str | None = None, column: str | None = None) -> Levels:
        """Return the levels of other values; values outside the domain get ``fallback``, or raise with their number."""
        import polars as pl

        wanted = pl.Series("raw", values, dtype=pl.String)
        place = _encode(wanted, pl.Series("raw", self.values, dtype=pl.String), missing=-1)
        null = wanted.is_null().to_numpy()
        lost = (place < 0) & ~null
        if lost.any() and fallback is None:
            where = f"column {column!r}: " if column else ""
            raise SchemaError(
                f"{where}{int(lost.sum())} of {len(wanted) - int(null.sum())} distinct values are not covered by the "
                'hierarchy. Add them to it, or name a label for them with fallback, such as fallback = "*".'
            )
        if not (lost.any() or null.any()):
            return Levels(list(values), tuple(Level(t.labels, t.codes[place], t.rows) for t in self.table), self.domain)
        chain = self._chain(fallback)
        raw_lost = wanted.filter(pl.Series(lost)).to_list()
        table = [_with_uncovered(self.table[0], place, lost, null, raw_lost, None)]
        for level, at in enumerate(self.table[1:], start=1):
            top = at.labels[0] if level == self.height and len(at.labels) == 1 else None
            table.append(_with_uncovered(at, place, lost, null, chain[level - 1], top))
        built = Levels(list(values), tuple(table), self.domain)
        built.check_nesting()
        return built

    def _chain(self, fallback: str | None) -> list[str]:
        """Label of an uncovered value on the levels 1 to height."""
        if fallback is None:
            return [""] * self.height
        lowest = max((level for level in range(1, self.height + 1) if fallback in self.table[level].labels), default=0)
        chain = [fallback] * self.height
        if lowest:
            code = self.table[lowest].labels.index(fallback)
            for level in range(lowest, self.height):
                code = int(self.parents[level][code])
                chain[level] = str(self.table[level + 1].labels[code])
        elif self.height and len(self.table[-1].labels) == 1:
            chain[-1] = str(self.table[-1].labels[0])
        return chain

    def _at(self, level: int) -> Level:
        if not 0 <= level <= self.height:
            raise ParameterError(f"the hierarchy has the levels 0 to {self.height}, got {level}.")
        return self.table[level]

    @cached_property
    def _places(self) -> Mapping[str | None, tuple[int, int]]:
        """Lowest level and largest number of domain rows of every label."""
        places: dict[str | None, tuple[int, int]] = {}
        for level, at in enumerate(self.table):
            for label, rows in zip(at.labels, at.rows, strict=True):
                before = places.get(label)
                places[label] = (level, int(rows)) if before is None else (before[0], max(before[1], int(rows)))
        return places

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return np.array([np.nan if raw is None or (x := number(raw)) is None else x for raw in self.domain])


def _encode(column: pl.Series, names: pl.Series, missing: int = 0) -> Codes:
    import polars as pl

    codes = pl.int_range(0, len(names), dtype=pl.Int32, eager=True)
    codes_of_rows = column.replace_strict(names, codes, default=None, return_dtype=pl.Int32) if len(names) else None
    if codes_of_rows is None:
        return np.full(len(column), missing, dtype=np.int32)
    return np.ascontiguousarray(codes_of_rows.fill_null(missing).to_numpy(), dtype=np.int32)


def _parent(low: Codes, high: Codes, size: int) -> Codes:
    parent = np.zeros(size, dtype=np.int32)
    parent[low[::-1]] = high[::-1]  # the first value of each code decides
    return parent


def _with_uncovered(
    at: Level, place: Codes, lost: NDArray[np.bool_], null: NDArray[np.bool_], labels: str | list[str], top: str | None
) -> Level:
    """Return a level with codes for uncovered values (one label, or one each) and for the missing value."""
    names = list(at.labels)
    rows = at.rows.tolist()
    codes = np.where(place >= 0, at.codes[np.maximum(place, 0)] if len(at.codes) else 0, 0).astype(np.int32)
    if lost.any():
        if isinstance(labels, str):
            codes[lost] = _code_of(labels, names, rows, 1)
        else:
            codes[lost] = np.arange(len(names), len(names) + len(labels), dtype=np.int32)
            names.extend(labels)
            rows.extend([1] * len(labels))
    if null.any():
        codes[null] = _code_of(top, names, rows, 1)
    return Level(names, codes, np.array(rows, dtype=np.int64))


def _code_of(label: str | None, names: list[str | None], rows: list[int], count: int) -> int:
    if label in names:
        return names.index(label)
    names.append(label)
    rows.append(count)
    return len(names) - 1
