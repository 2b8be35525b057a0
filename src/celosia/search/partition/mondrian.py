"""Partition records into groups by cuts in one column at a time, under any requirement on the groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.parts.progress import advance

if TYPE_CHECKING:
    from celosia.kernels.search.mondrian import Columns

Judge = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""Function from records and the group of each (0, 1, …) to a mask of the groups that may be published."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One quasi-identifier: ``codes`` per record, and the order or hierarchy along which it is cut.

    ``position`` (ordered columns) places each code in [0, 1], rising with the code. ``levels`` (hierarchies)
    gives each code its node at each level, the codes themselves first, one node at the top, and ``shares``
    the share of the domain below that node, 0 for a single value. Neither: labels without order, most
    frequent first.
    """

    codes: NDArray[np.int32]
    size: int
    position: NDArray[np.float64] | None = None
    levels: NDArray[np.int64] | None = None
    shares: NDArray[np.float64] | None = None
    weight: float = 1.0

    @classmethod
    def from_numbers(cls, codes: NDArray[np.int32], values: NDArray[np.float64], weight: float = 1.0) -> Axis:
        """Build an axis of ascending numbers; a missing value (-1) lies one whole range above the largest."""
        span = float(values[-1] - values[0]) if len(values) else 0.0
        position = (values - values[0]) / span if span > 0 else np.zeros(len(values))
        if (codes < 0).any():
            codes, position = _with_missing(codes, len(values)), np.append(position, 2.0)
        return cls(codes, len(position), position, weight=weight)

    @classmethod
    def from_labels(cls, codes: NDArray[np.int32], size: int, weight: float = 1.0) -> Axis:
        """Build an axis of labels: cuts separate frequent from rare ones, which leaves the smallest sets of labels."""
        if (codes < 0).any():
            codes, size = _with_missing(codes, size), size + 1
        rank = np.empty(size, np.int32)
        rank[np.argsort(-np.bincount(codes, minlength=size), kind="stable")] = np.arange(size, dtype=np.int32)
        return cls(rank[codes], size, weight=weight)

    @classmethod
    def from_tree(
        cls,
        codes: NDArray[np.int32],
        levels: NDArray[np.int64],
        shares: NDArray[np.float64] | None = None,
        weight: float = 1.0,
    ) -> Axis:
        """Build an axis of a hierarchy; a missing value (-1) is a leaf of its own below the top."""
        if len(np.unique(levels[-1])) > 1:
            levels = np.vstack([levels, np.zeros((1, levels.shape[1]), np.int64)])
            shares = None if shares is None else np.vstack([shares, np.ones((1, shares.shape[1]))])
        if (codes < 0).any():
            own = np.append(levels[:-1].max(axis=1, initial=-1) + 1, levels[-1, 0] if levels.size else 0)
            codes, levels = _with_missing(codes, levels.shape[1]), np.column_stack([levels, own])
            shares = None if shares is None else np.column_stack([shares, np.append(np.zeros(len(shares) - 1), 1.0)])
        if shares is None:
            below = np.stack([np.bincount(row)[row] for row in levels])
            shares = np.where(below > 1, below / levels.shape[1], 0.0)
        return cls(codes, levels.shape[1], levels=levels, shares=shares, weight=weight)


def _with_missing(codes: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    return np.where(codes < 0, np.int32(size), codes)


def tree_order(levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a new number for each leaf such that the leaves below any node are consecutive.

    >>> tree_order(np.array([[0, 1, 2], [0, 1, 0], [0, 0, 0]])).tolist()
    [0, 2, 1]
    """
    order = np.lexsort(levels)  # the last row, the top, is the primary key
    rank = np.empty(levels.shape[1], np.int64)
    rank[order] = np.arange(levels.shape[1])
    return rank


def pack(axes: Sequence[Axis]) -> Columns:
    """Arrange the columns as arrays for the kernel."""
    from celosia.kernels.search.mondrian import ORDERED, SET, TREE, Columns

    kinds: list[int] = []
    codes: list[NDArray[np.int32]] = []
    value: list[NDArray[np.float64]] = []
    node: list[NDArray[np.int64]] = []
    share: list[NDArray[np.float64]] = []
    for axis in axes:
        rank = np.arange(axis.size) if axis.levels is None else tree_order(axis.levels)
        kinds.append(TREE if axis.levels is not None else SET if axis.position is None else ORDERED)
        codes.append(rank.astype(np.int32)[axis.codes])
        value.append(np.empty(0) if axis.position is None else axis.position)
        back = np.argsort(rank)
        node.append(np.empty(0, np.int64) if axis.levels is None else axis.levels[:, back].ravel())
        share.append(np.empty(0) if axis.shares is None else axis.shares[:, back].ravel())
    return Columns(
        codes=np.ascontiguousarray(np.stack(codes)),
        kinds=np.array(kinds, np.int64),
        sizes=np.array([a.size for a in axes], np.int64),
        weights=np.array([a.weight for a in axes], np.float64),
        value=np.concatenate(value),
        value_at=np.cumsum([0, *(len(v) for v in value)])[:-1],
        node=np.concatenate(node).astype(np.int32),
        node_at=np.cumsum([0, *(len(v) for v in node)])[:-1],
        share=np.concatenate(share),
    )


@dataclass(frozen=True, eq=False)
class Cuts:
    """The tree of cuts of a partition, one entry per node, the root (all records) first.

    A node is a part of its ``parent``, which was cut in ``column``; its records lie between the ``first`` and the
    ``last`` one in the order of that column. Parts of one parent follow each other in that order.
    """

    parent: NDArray[np.int64]
    column: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    leaf: NDArray[np.int64]
    """The node of each group."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The group of each record, and the cuts that made the groups."""

    label: NDArray[np.int64]
    cuts: Cuts


def partition(
    axes: Sequence[Axis],
    k: int,
    *,
    strict: bool = True,
    nearest: bool = True,
    targets: NDArray[np.int64] | None = None,
    person: NDArray[np.int32] | None = None,
    judge: Judge | None = None,
) -> Partition:
    """Cut the records into groups of at least ``k`` of them that the ``judge`` accepts.

    Each group is cut in its widest column first, behind the median (``nearest``: at the allowed place nearest
    to it); a cut with a part that the judge refuses is undone and the next widest column tried. The
    first group, all records, is not judged. Groups are numbered in the order of their first record.
    """
    from celosia.kernels.search.mondrian import Need, propose

    columns = pack(axes)
    n = columns.codes.shape[1]
    need = Need(
        int(k),
        np.empty(0, np.int64) if targets is None else np.ascontiguousarray(targets, np.int64),
        np.empty(0, np.int32) if person is None else np.ascontiguousarray(person, np.int32),
    )
    perm = np.arange(n, dtype=np.int64)
    open_ = np.array([[0, n]], np.int64)
    node = np.zeros(1, np.int64)
    tried = np.zeros((1, len(axes)), np.bool_)
    closed, leaves = [], []
    nodes = [np.array([[-1, -1, 0, n - 1]], np.int64)]
    count = 1
    # Groups are segments of one permutation. All open ones are cut in one call, and one more judges all their parts:
    # a requirement counts thousands of small groups as fast as one large one.
    while len(open_):
        advance(1 - _work_left(open_, k) / max(1.0, _work_left(np.array([[0, n]]), k)), f"{count:,} groups")
        column, starts, borders = propose(perm, open_, tried, columns, need, strict, nearest)
        closed.append(open_[column < 0])
        leaves.append(node[column < 0])
        cut = np.flatnonzero(column >= 0)
        parents, parts = parts_of(cut, starts, borders)
        accepted = np.ones(len(cut), np.bool_)
        if judge is not None and len(cut):
            sizes = parts[:, 1] - parts[:, 0]
            inside = np.repeat(parts[:, 0] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(
                sizes.sum()
            )
            verdict = judge(perm[inside], np.repeat(np.arange(len(parts)), sizes))
            np.logical_and.at(accepted, parents, verdict)
        kept = accepted[parents]
        parents, parts, again = cut[parents[kept]], parts[kept], cut[~accepted]
        nodes.append(np.column_stack([node[parents], column[parents], perm[parts[:, 0]], perm[parts[:, 1] - 1]]))
        # a part may be cut in any column again; a group whose cut was refused tries its next widest one
        open_ = np.concatenate([parts, open_[again]])
        tried = np.concatenate([np.zeros((len(parts), len(axes)), np.bool_), tried[again]])
        node = np.concatenate([np.arange(count, count + len(parts)), node[again]])
        count += len(parts)
    label, order = number_groups(perm, np.concatenate(closed))
    parent, by, first, last = np.concatenate(nodes).T
    return Partition(label, Cuts(parent, by, first, last, np.concatenate(leaves)[order]))


def _work_left(groups: NDArray[np.int64], k: int) -> float:
    """Estimate the work left: a group of *s* records is halved about log2(s / k) times, and each time all are moved."""
    size = (groups[:, 1] - groups[:, 0]).astype(np.float64)
    return float((size * np.log2(np.maximum(1.0, size / max(1, k)))).sum())


def parts_of(
    cut: NDArray[np.int64], starts: NDArray[np.int64], borders: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parts of the groups that were cut: the position of each part's group in ``cut``, and its segment."""
    count = starts[cut + 1] - starts[cut]
    owner = np.repeat(np.arange(len(cut)), count)
    last = np.zeros(len(owner), np.bool_)
    last[np.cumsum(count) - 1] = True  # the last border of a group begins no part
    begin = np.flatnonzero(~last)
    return owner[begin], np.stack([borders[begin], borders[begin + 1]], axis=1)


def number_groups(perm: NDArray[np.int64], segments: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a group number per record, in the order of the groups' first records, and the segment of each group."""
    order = np.argsort(segments[:, 0])
    segments = segments[order]
    label = np.empty(len(perm), np.int64)
    label[perm] = np.repeat(np.arange(len(segments)), segments[:, 1] - segments[:, 0])
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    by_first = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_first] = np.arange(len(first))
    return rank[inverse], order[by_first]
