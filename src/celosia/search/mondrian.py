"""Partition records into groups by cuts in one column at a time, under any requirement on the groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Judge = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""Given records and the group of each (0, 1, …), say for each group whether it may be published."""


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: ``codes`` per record, and what a cut in it follows.

    ``position`` (ordered columns) gives each code a number that rises with the code. ``levels`` (hierarchies)
    gives each code its node at each level, the codes themselves first, one node at the top. Neither: labels
    without order.
    """

    codes: NDArray[np.int32]
    size: int
    position: NDArray[np.float64] | None = None
    levels: NDArray[np.int64] | None = None
    weight: float = 1.0


def tree_order(levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the leaves so that the leaves below any node are consecutive: the new number of each old code.

    >>> tree_order(np.array([[0, 1, 2], [0, 1, 0], [0, 0, 0]])).tolist()
    [0, 2, 1]
    """
    order = np.lexsort(levels)  # the last row, the top, is the primary key
    rank = np.empty(levels.shape[1], np.int64)
    rank[order] = np.arange(levels.shape[1])
    return rank


def pack(axes: Sequence[Axis]):  # type: ignore[no-untyped-def]  # a NamedTuple of the kernel, which is imported on use
    """Lay the columns out for the kernel."""
    from celosia.kernels.mondrian import ORDERED, SET, TREE, Columns

    kinds, value, node, leaves, codes, levels = [], [], [], [], [], []
    for axis in axes:
        if axis.levels is not None:
            kinds.append(TREE)
            rank = tree_order(axis.levels)
            codes.append(rank[axis.codes])
            rows = axis.levels[:, np.argsort(rank)]
            node.append(rows.ravel())
            leaves.append(np.concatenate([np.bincount(row, minlength=1)[row] for row in rows]))
            levels.append(len(rows))
            value.append(np.empty(0))
            continue
        kinds.append(SET if axis.position is None else ORDERED)
        codes.append(axis.codes.astype(np.int64))
        position = np.zeros(0) if axis.position is None else axis.position
        span = float(np.ptp(position)) if position.size else 0.0
        value.append((position - position[0]) / span if span > 0 else np.zeros(len(position)))
        node.append(np.empty(0, np.int64))
        leaves.append(np.empty(0, np.int64))
        levels.append(0)

    def offsets(parts: list[NDArray[np.float64]] | list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum([len(p) for p in parts])[:-1]]).astype(np.int64)

    return Columns(
        codes=np.ascontiguousarray(np.stack(codes), np.int32),
        kinds=np.array(kinds, np.int64),
        sizes=np.array([a.size for a in axes], np.int64),
        weights=np.array([a.weight for a in axes], np.float64),
        value=np.concatenate(value).astype(np.float64),
        value_at=offsets(value),
        node=np.concatenate(node).astype(np.int32),
        node_at=offsets(node),
        leaves=np.concatenate(leaves).astype(np.int32),
        levels=np.array(levels, np.int64),
    )


def partition(
    axes: Sequence[Axis],
    k: int,
    *,
    strict: bool = True,
    nearest: bool = True,
    targets: NDArray[np.int64] | None = None,
    person: NDArray[np.int32] | None = None,
    judge: Judge | None = None,
) -> NDArray[np.int64]:
    """Cut the records into groups that each hold ``k`` of them and please the ``judge``: the group of each
    record.

    Each group is cut in its widest column first, behind the median (``nearest``: at the allowed place nearest
    to it); a cut that leaves a part the requirement refuses is undone and the next widest column tried. The
    first group, all records, is not questioned here. Groups are numbered in the order of their first record.
    """
    from celosia.kernels.mondrian import Need, propose

    columns = pack(axes)
    n = columns.codes.shape[1]
    need = Need(
        int(k),
        np.empty(0, np.int64) if targets is None else np.ascontiguousarray(targets, np.int64),
        np.empty(0, np.int32) if person is None else np.ascontiguousarray(person, np.int32),
    )
    perm = np.arange(n, dtype=np.int64)
    open_ = np.array([[0, n]], np.int64)
    tried = np.zeros((1, len(axes)), np.bool_)
    closed = []
    while len(open_):
        column, starts, borders = propose(perm, open_, tried, columns, need, strict, nearest)
        closed.append(open_[column < 0])
        cut = np.flatnonzero(column >= 0)
        parents, parts = parts_of(cut, starts, borders)
        accepted = np.ones(len(cut), np.bool_)
        if judge is not None and len(cut):
            sizes = parts[:, 1] - parts[:, 0]
            inside = np.repeat(parts[:, 0] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(
                sizes.sum()
            )
            pleased = judge(perm[inside], np.repeat(np.arange(len(parts)), sizes))
            np.logical_and.at(accepted, parents, pleased)
        kept = accepted[parents]
        open_ = np.concatenate([parts[kept], open_[cut[~accepted]]])
        tried = np.concatenate([np.zeros((int(kept.sum()), len(axes)), np.bool_), tried[cut[~accepted]]])
    return number_groups(perm, np.concatenate(closed))


def parts_of(
    cut: NDArray[np.int64], starts: NDArray[np.int64], borders: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the parts of the groups that were cut: the position of each part's group in ``cut``, and its
    segment.
    """
    count = starts[cut + 1] - starts[cut]
    owner = np.repeat(np.arange(len(cut)), count)
    last = np.zeros(len(owner), np.bool_)
    last[np.cumsum(count) - 1] = True  # the last border of a group begins no part
    begin = np.flatnonzero(~last)
    return owner[begin], np.stack([borders[begin], borders[begin + 1]], axis=1)


def number_groups(perm: NDArray[np.int64], segments: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn segments of a permutation into one group number per record, in the order of the groups' first
    records.
    """
    segments = segments[np.argsort(segments[:, 0])]
    label = np.empty(len(perm), np.int64)
    label[perm] = np.repeat(np.arange(len(segments)), segments[:, 1] - segments[:, 0])
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
