"""Who asks for more climbs; those who are left in too small a company join their neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.consent.protection.tree import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.consent.protection.tree import Tree


def coarsened(
    tree: Tree,
    level: NDArray[np.int64],
    need: NDArray[np.int64],
    k: int,
    person: NDArray[np.int64] | None = None,
) -> tuple[Tree, NDArray[np.int64]]:
    r"""Raise records until every node that is shown is shown by as many records (persons) as each of them needs.

    .. math:: n(\text{node of } i) \ge t_i \qquad t_i \ge k, \text{ for every record } i \text{ below the root}

    ``level`` is where records start, ``need`` holds t. One pass from the leaves to the root: at each level those who
    need more than k and lack it climb. Those whom they leave behind in a node of fewer than k join the neighbour under
    the same parent that costs least, and both show ``{this, that}``; without a neighbour they climb too. The tree that
    comes back holds the joined nodes.

    Joining nodes a and b of n records and m leaves costs what records newly cover, :math:`n_a m_b + n_b m_a`.
    """
    level, nodes = level.copy(), tree.nodes.copy()
    for at in range(tree.height):
        here = np.flatnonzero(level == at)
        short = np.ones(1, np.bool_)
        while short.any():  # whoever climbs leaves fewer behind
            node = nodes[at, tree.leaf[here]]
            size = count(node, None if person is None else person[here])
            short = (need[here] > k) & (size[node] < need[here])
            level[here[short]] += 1
            here = here[~short]
        nameless = np.unique(nodes[at, [name is None for name in tree.names[at]]])
        parent = nodes[at + 1, tree.leaf[here]]
        for family in np.unique(parent[size[node] < k]):
            mine = here[parent == family]
            left = _joined(nodes[at], tree.leaf[mine], nameless, k, None if person is None else person[mine])
            whole = np.flatnonzero(np.bincount(nodes[at]) == np.count_nonzero(nodes[at + 1] == family))
            climbs = np.isin(nodes[at, tree.leaf[mine]], [*left, *whole])  # a set of all children is their parent
            level[mine[climbs]] += 1
    return replace(tree, nodes=nodes), level


def _joined(
    nodes: NDArray[np.int64],
    leaf: NDArray[np.int64],
    nameless: NDArray[np.int64],
    k: int,
    person: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Join the small nodes of one family in place; those that found no neighbour (a missing value never does)."""
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
