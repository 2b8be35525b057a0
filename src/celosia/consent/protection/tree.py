"""Places as one tree (province, canton, district): the node that each record shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes import STAR
from celosia.hierarchy.values import OneOf
from celosia.histogram import group, number
from celosia.table.columns import hierarchy_levels

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


@dataclass(frozen=True)
class Tree:
    """Leaf of each record and node of each leaf by level: level 0 has the leaves, the last level the root."""

    columns: tuple[str, ...]
    leaf: NDArray[np.int64]
    nodes: NDArray[np.int64]
    names: tuple[tuple[str | None, ...], ...]
    """Name of each leaf on each level; the root is ``*``."""

    @classmethod
    def of(cls, table: Table, columns: Sequence[str]) -> Tree:
        """Read the tree of an original table: one column with a hierarchy, or columns from coarse to fine."""
        return table.compute_once(("places", tuple(columns)), lambda: cls._read(table, tuple(columns)))

    @classmethod
    def _read(cls, table: Table, columns: tuple[str, ...]) -> Tree:
        from celosia.hierarchy import texts
        from celosia.search.cells.blank_places import first_positions, row_ids

        if len(columns) == 1:
            levels = hierarchy_levels(table, columns[0])
            nodes = np.stack([np.asarray(levels.codes(v), np.int64) for v in range(levels.height + 1)])
            names = [list(levels.labels(v)) for v in range(levels.height + 1)]
            leaf = table.codes(columns[0])[0].astype(np.int64)
            if (leaf < 0).any():  # a missing value is a leaf of its own below the root
                own = nodes.max(axis=1, keepdims=True) + 1
                own[-1] = nodes[-1, :1]
                nodes = np.hstack([nodes, own])
                names = [[*row, None] for row in names]
                leaf = np.where(leaf < 0, nodes.shape[1] - 1, leaf)
            if len(np.unique(nodes[-1])) == 1:
                return cls(columns, leaf, nodes, _frozen([*names[:-1], [STAR] * nodes.shape[1]]))
        else:
            coded = [table.codes(name) for name in columns]
            codes = np.column_stack([column for column, _ in coded])
            leaf = row_ids(codes)
            path = codes[first_positions(leaf)]
            depths = range(path.shape[1], 0, -1)
            nodes = np.stack([row_ids(path[:, :d]) for d in depths])
            text = [[*texts(values), None] for _, values in coded]  # the code of a missing value is -1
            names = [[text[d - 1][c] for c in path[:, d - 1]] for d in depths]
        nodes = np.vstack([nodes, np.zeros(nodes.shape[1], np.int64)]).astype(np.int64)
        return cls(columns, leaf, nodes, _frozen([*names, [STAR] * nodes.shape[1]]))

    @property
    def height(self) -> int:
        """Level of the root."""
        return len(self.nodes) - 1

    def levels_shown(self, original: Table, protected: Table) -> NDArray[np.int64]:
        """Return the level of the node that each record of a protected table shows."""
        if len(self.columns) > 1:
            stars = [(protected.column(c) == STAR).fill_null(value=False).to_numpy() for c in self.columns]
            return np.asarray(np.sum(stars, axis=0), np.int64)
        levels = hierarchy_levels(original, self.columns[0])
        labels = protected.column(self.columns[0])
        values = labels.unique()
        value_levels = [
            0 if v is None else self.height if v == STAR else levels.level_of(str(v)) for v in values.to_list()
        ]
        level_by_label = dict(zip(values.to_list(), value_levels, strict=True))
        return np.array(
            [self.height if level_by_label[v] is None else level_by_label[v] for v in labels.to_list()], np.int64
        )

    def cells(self, level: NDArray[np.int64]) -> dict[str, pl.Series]:
        """Return the columns that records show at given levels; joined nodes show the set of their names."""
        import polars as pl

        at = level * self.nodes.shape[1] + self.leaf
        sets = [_sets(nodes, names) for nodes, names in zip(self.nodes, self.names, strict=True)]
        if len(self.columns) == 1:
            return {self.columns[0]: pl.Series(self.columns[0], [x for row in sets for x in row], pl.String).gather(at)}
        series = {}
        for depth, name in enumerate(self.columns):
            own = len(self.columns) - 1 - depth  # the level of this column
            stars = [STAR] * self.nodes.shape[1]
            rows = [self.names[own] if v < own else sets[own] if v == own else stars for v in range(self.height + 1)]
            series[name] = pl.Series(name, [x for row in rows for x in row], pl.String).gather(at)
        return series

    def penalties(self, level: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the leaves below the node that each record shows, 0 for one leaf (NCP of a category)."""
        leaves = np.stack([np.bincount(row)[row] for row in self.nodes])
        below = leaves[level, self.leaf]
        return np.where(below == 1, 0.0, below / self.nodes.shape[1])

    def classes(self, level: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class number of each record: records of a class show the same node."""
        return number([level, self.nodes[level, self.leaf]])

    def shows_several(self, level: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each record shows a set of several nodes."""
        rows = zip(self.nodes, self.names, strict=True)
        several = np.array([[a != b for a, b in zip(_sets(n, own), own, strict=True)] for n, own in rows])
        return np.asarray(several[level, self.leaf], np.bool_)

    def has_finer(self, level: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether finer nodes are shown below the node of each record."""
        finer = np.zeros(self.nodes.shape, np.bool_)
        for v, nodes in enumerate(self.nodes):
            finer[v] = (count(nodes[self.leaf[level < v]], None, int(nodes.max()) + 1) > 0)[nodes]
        return np.asarray(finer[level, self.leaf], np.bool_)


def count(node: NDArray[np.int64], person: NDArray[np.int64] | None, nodes: int = 0) -> NDArray[np.int64]:
    """Count the records, or distinct persons, of each node."""
    if person is None or not len(node):
        return np.bincount(node, minlength=nodes)
    return np.bincount(node[group([node, person])[0]], minlength=nodes)


def _sets(nodes: NDArray[np.int64], names: Sequence[str | None]) -> list[str | None]:
    """Return the name of the node of each leaf; for joined nodes the set of their names."""
    members: dict[int, dict[str | None, None]] = {}
    for node, name in zip(nodes.tolist(), names, strict=True):
        members.setdefault(node, {})[name] = None
    text = {n: next(iter(m)) if len(m) == 1 else str(OneOf(tuple(map(str, m)))) for n, m in members.items()}
    return [text[node] for node in nodes.tolist()]


def _frozen(names: Sequence[Sequence[str | None]]) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(row) for row in names)
