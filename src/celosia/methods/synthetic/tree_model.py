r"""A tree of two-way tables: the joint distribution in which each column depends on one other.

.. math:: p(x) = p(x_r) \prod_{(a \to b)} p(x_b \mid x_a)

References: Chow & Liu (1968); McKenna, Miklau & Sheldon (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from celosia.methods.bases.trees import evenly

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Pair = tuple[int, int]


def table_of(codes: Sequence[Ints], sizes: Sequence[int]) -> Floats:
    """Count combinations of codes; records with a code below 0 are left out.

    >>> table_of([np.array([0, 1, 1]), np.array([0, 0, -1])], [2, 1]).tolist()
    [[1.0], [1.0]]
    """
    complete = np.logical_and.reduce([c >= 0 for c in codes])
    flat = np.ravel_multi_index([c[complete] for c in codes], tuple(sizes))
    return np.bincount(flat, minlength=int(np.prod(sizes))).reshape(tuple(sizes)).astype(np.float64)


def independence_gap(counts: Floats, first: Floats, second: Floats) -> float:
    r"""Distance of a two-way table from independence of given margins: :math:`\lVert c - a b^T / n \rVert_1`.

    With fixed margins a record moves it by at most 1.

    >>> independence_gap(np.array([[2.0, 0], [0, 2]]), np.array([2.0, 2]), np.array([2.0, 2]))
    4.0
    """
    total = float(first.sum())
    expected = np.outer(first, second) / total if total > 0 else np.zeros_like(counts)
    return float(np.abs(counts - expected).sum())


def spanning_pairs(columns: int, scores: Mapping[Pair, float], choose: Callable[[Sequence[float]], int]) -> list[Pair]:
    """Pairs that connect the columns without a cycle, each chosen by its score among those that close none.

    >>> spanning_pairs(3, {(0, 1): 5.0, (0, 2): 1.0, (1, 2): 3.0}, lambda s: int(np.argmax(s)))
    [(0, 1), (1, 2)]
    """
    group = list(range(columns))
    chosen: list[Pair] = []
    while True:
        open_pairs = [pair for pair in scores if group[pair[0]] != group[pair[1]]]
        if not open_pairs:
            return chosen
        a, b = open_pairs[choose([scores[pair] for pair in open_pairs])]
        chosen.append((a, b))
        old, new = group[b], group[a]
        group = [new if g == old else g for g in group]


def sample_tree(
    margins: Sequence[Floats], pairs: Mapping[Pair, Floats], size: int, rng: np.random.Generator
) -> list[Ints]:
    """Draw records: a root by its margin, then each column given its neighbour, each by stratified draws.

    >>> drawn = sample_tree([np.ones(2), np.ones(2)], {(0, 1): np.eye(2)}, 10, np.random.default_rng(0))
    >>> bool((drawn[0] == drawn[1]).all()), int(drawn[0].sum())
    (True, 5)
    """
    codes: dict[int, Ints] = {}
    left = dict(pairs)
    for root in range(len(margins)):
        if root in codes:
            continue
        codes[root] = _pick(margins[root][None], np.zeros(size, np.int64), margins[root], rng)
        grown = True
        while grown:
            grown = False
            for pair in list(left):
                for parent, child in (pair, pair[::-1]):
                    if parent in codes and child not in codes:
                        counts = left.pop(pair)
                        counts = counts if pair == (parent, child) else counts.T
                        codes[child] = _pick(counts, codes[parent], margins[child], rng)
                        grown = True
                        break
    return [codes[j] for j in range(len(margins))]


def _pick(counts: Floats, parent: Ints, margin: Floats, rng: np.random.Generator) -> Ints:
    """Draw a code for each record from the row of its parent; an empty row falls back on the margin."""
    u = evenly(parent, rng)
    out = np.zeros(len(parent), dtype=np.int64)
    safe = margin if margin.sum() > 0 else np.ones_like(margin)
    for value in np.unique(parent):
        row = counts[value] if counts[value].sum() > 0 else safe
        edges = np.cumsum(row)
        hit = parent == value
        out[hit] = np.minimum(np.searchsorted(edges, u[hit] * edges[-1], side="right"), len(row) - 1)
    return out
