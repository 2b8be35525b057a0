"""Places as one tree (province, canton, district): which node each record shows, and who could be behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes import STAR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


@dataclass(frozen=True)
class Tree:
    """The leaf of each record and the node of each leaf at each level: level 0 are the leaves, the last the root."""

    columns: tuple[str, ...]
    leaf: NDArray[np.int64]
    nodes: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, columns: Sequence[str]) -> Tree:
        """Read the tree of an original table: one column with a hierarchy, or columns from coarse to fine."""
        if len(columns) == 1:
            levels = table.levels(columns[0])
            nodes = np.stack([np.asarray(levels.codes(v), np.int64) for v in range(levels.height + 1)])
            leaf = table.codes(columns[0])[0].astype(np.int64)
            if (leaf < 0).any():  # a missing value is a leaf of its own below the root
                own = nodes.max(axis=1, keepdims=True) + 1
                own[-1] = nodes[-1, :1]
                nodes = np.hstack([nodes, own])
                leaf = np.where(leaf < 0, nodes.shape[1] - 1, leaf)
            if len(np.unique(nodes[-1])) > 1:
                nodes = np.vstack([nodes, np.zeros(nodes.shape[1], np.int64)])
            return cls(tuple(columns), leaf, nodes)
        codes = np.column_stack([table.codes(name)[0].astype(np.int64) for name in columns])
        path, leaf = np.unique(codes, axis=0, return_inverse=True)
        rows = [
            np.unique(path[:, :depth], axis=0, return_inverse=True)[1].ravel() for depth in range(path.shape[1], 0, -1)
        ]
        nodes = np.stack([*rows, np.zeros(len(path), np.int64)]).astype(np.int64)
        return cls(tuple(columns), leaf.ravel().astype(np.int64), nodes)

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.nodes) - 1

    def shown(self, original: Table, protected: Table) -> NDArray[np.int64]:
        """The level of the node that each record of a protected table shows."""
        if len(self.columns) > 1:
            stars = [(protected.column(c) == STAR).fill_null(value=False).to_numpy() for c in self.columns]
            return np.asarray(np.sum(stars, axis=0), np.int64)
        levels = original.levels(self.columns[0])
        labels = protected.column(self.columns[0])
        values = labels.unique()
        found = [0 if v is None else self.height if v == STAR else levels.level_of(str(v)) for v in values.to_list()]
        known = dict(zip(values.to_list(), found, strict=True))
        return np.array([self.height if known[v] is None else known[v] for v in labels.to_list()], np.int64)

    def penalties(self, level: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the leaves below the node that each record shows, 0 for one leaf (NCP of a category)."""
        leaves = np.stack([np.bincount(row)[row] for row in self.nodes])
        below = leaves[level, self.leaf]
        return np.where(below == 1, 0.0, below / self.nodes.shape[1])

    def classes(self, level: NDArray[np.int64]) -> NDArray[np.int64]:
        """The class of each record: those that show the same node."""
        node = self.nodes[level, self.leaf]
        return np.unique(level * (self.nodes.max() + 1) + node, return_inverse=True)[1].astype(np.int64)

    def candidates(
        self, level: NDArray[np.int64], person: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How many records could be the one behind each record, and whether finer nodes are shown below its node.

        A record that shows a canton could be anybody of the canton's districts; so somebody whose district is known
        could be a record that shows the district or anything above it. With ``person`` persons are counted (a
        person with several labels is counted in the larger part only, so the number is never too high).
        """
        n_nodes = self.nodes.max() + 1
        above = np.zeros(self.nodes.shape, np.int64)  # records that show exactly this node
        within = np.zeros(self.nodes.shape, np.int64)  # records that show this node or one below it
        for v in range(len(self.nodes)):
            here = level == v
            node = self.nodes[v, self.leaf]
            above[v] = _count(node[here], None if person is None else person[here], n_nodes)[self.nodes[v]]
            lower = level <= v
            within[v] = _count(node[lower], None if person is None else person[lower], n_nodes)[self.nodes[v]]
        upper = np.cumsum(above[::-1], axis=0)[::-1] - above
        single = person is None or _one_label(self.classes(level), person)
        total = within + upper if single else np.maximum(within, upper)
        return total[level, self.leaf], (within > above)[level, self.leaf]

    def sizes(self, level: NDArray[np.int64], person: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """How many records (persons) show the same node as each record."""
        label = self.classes(level)
        return _count(label, person, int(label.max(initial=-1)) + 1)[label]


def _count(group: NDArray[np.int64], person: NDArray[np.int64] | None, groups: int) -> NDArray[np.int64]:
    """Records or distinct persons per group."""
    if person is None or not len(group):
        return np.bincount(group, minlength=groups)
    pairs = np.unique(group * (person.max() + 1) + person)
    return np.bincount(pairs // (person.max() + 1), minlength=groups)


def _one_label(label: NDArray[np.int64], person: NDArray[np.int64]) -> bool:
    """Whether all records of a person are in one class."""
    pairs = np.unique(label * (person.max() + 1) + person) if len(label) else label
    return len(pairs) == len(np.unique(person))
