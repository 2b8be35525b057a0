"""Generalisation of single records along one tree, up to the class size that each record requires."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.consent.protection.tree import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.consent.protection.tree import Tree


def coarsen(
    tree: Tree,
    level: NDArray[np.int64],
    need: NDArray[np.int64],
    k: int,
    person: NDArray[np.int64] | None = None,
) -> tuple[Tree, NDArray[np.int64]]:
    r"""Generalise records until each shown node has as many records (persons) as they require.

    .. math:: n(\text{node of } i) \ge t_i \qquad t_i \ge k, \text{ for every record } i \text{ below the root}

    ``level`` holds the initial levels, ``need`` holds t. One pass from the leaves to the root: at each level, records
    that require more than k and lack it go up. A remaining node of fewer than k is joined with its cheapest sibling,
    and both show ``{this, that}``; without a sibling its records go up too. Return the tree with the joined nodes,
    and the new levels.

    Joining nodes a and b of n records and m leaves costs the newly covered leaves, :math:`n_a m_b + n_b m_a`.
    """
    level, nodes = level.copy(), tree.nodes.copy()
    for height in range(tree.height):
        here = np.flatnonzero(level == height)
        short = np.ones(1, np.bool_)
        while short.any():  # each record that goes up leaves fewer behind
            node = nodes[height, tree.leaf[here]]
            size = count(node, None if person is None else person[here])
            short = (need[here] > k) & (size[node] < need[here])
            level[here[short]] += 1
            here = here[~short]
        nameless = np.unique(nodes[height, [name is None for name in tree.names[height]]])
        parent = nodes[height + 1, tree.leaf[here]]
        for family in np.unique(parent[size[node] < k]):
            members = here[parent == family]
            alone = _join_small(
                nodes[height], tree.leaf[members], nameless, k, None if person is None else person[members]
            )
            whole = np.flatnonzero(np.bincount(nodes[height]) == np.count_nonzero(nodes[height + 1] == family))
            rises = np.isin(nodes[height, tree.leaf[members]], [*alone, *whole])  # a set of all children is the parent
            level[members[rises]] += 1
    return replace(tree, nodes=nodes), level


def _join_small(
    nodes: NDArray[np.int64],
    leaf: NDArray[np.int64],
    nameless: NDArray[np.int64],
    k: int,
    person: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Join the small nodes of one parent in place; return those without a partner, such as a missing value."""
    while True:
        node = nodes[leaf]
        size, leaves = count(node, person), np.bincount(nodes)
        shown = np.unique(node)
        small = shown[size[shown] < k]
        a = small[~np.isin(small, nameless)]
        b = np.setdiff1d(shown, nameless)
        if not len(a) or len(b) < 2:
            return small
        a = a[np.argmin(size[a])]
        b = b[b != a]
        nodes[nodes == b[np.argmin(size[a] * leaves[b] + size[b] * leaves[a])]] = a
