r"""Fuzzy t-closeness: how far the mixture that describes an individual is from the whole table.

Every distance here is a norm :math:`D[P, Q] = \sum_j |(L(P - Q))_j|` with a linear map L (running sums for
ordered values, flows along the edges of a tree …). As the degrees of an individual sum to one,
:math:`L(P_x - Q) = \sum_i \mu_{Q_i}(x) L(P_i - Q)`: L is applied to the few cells and not to the many individuals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TOLERANCE = 1e-9


def ordered_map(gaps: Floats) -> Floats:
    r"""Values in order, equal steps: :math:`\frac{1}{m-1} \sum_i |\sum_{j \le i} (p_j - q_j)|`."""
    m = gaps.shape[-1]
    return stepped_map(gaps, np.full(m - 1, 1 / max(m - 1, 1)))


def stepped_map(gaps: Floats, steps: Floats) -> Floats:
    """Values on a line, ``steps[i]`` from value i to the next: running sums times the steps."""
    return np.asarray(np.cumsum(gaps, axis=-1)[..., :-1] * steps)


def equal_map(gaps: Floats) -> Floats:
    r"""All values equally far: :math:`\frac12 \sum_i |p_i - q_i|`."""
    return gaps / 2


def tree_map(gaps: Floats, levels: NDArray[np.int64]) -> Floats:
    r"""Values as far as their lowest common ancestor is high, in a tree of height H.

    ``levels`` (values × H+1) names the ancestor of each value at each level, the value itself first, the root last. The
    earth mover's distance on a tree is the flow through each edge times its length, here 1 / (2H).
    """
    height = levels.shape[1] - 1
    flows = []
    for level in range(height):
        nodes, place = np.unique(levels[:, level], return_inverse=True)
        flows.append(gaps @ (place[:, None] == np.arange(len(nodes))).astype(float))
    return np.concatenate(flows, axis=-1) / (2 * max(height, 1)) if flows else np.zeros((*gaps.shape[:-1], 0))


def person_distances(mu: Floats, inside: Floats, whole: Floats, non_missing: NDArray[np.bool_]) -> Floats:
    """Return for each individual the largest difference of the share of persons with a value; 0 if none has several.

    ``inside`` holds the share of the persons of each cell (row) who have each value, ``whole`` that of the table;
    only values in the mask ``known`` are compared.

    >>> inside, mu = np.array([[1.0, 0.75], [1.0, 0.0]]), np.eye(2)
    >>> person_distances(mu, inside, np.array([0.5, 0.5]), np.array([True, True])).tolist()
    [0.5, 0.0]
    """
    block = max(1, 4_000_000 // max(inside.shape[1], 1))
    result, several = np.zeros(len(mu)), whole.sum() > 1 + TOLERANCE
    for start in range(0, len(mu), block):
        mixture = mu[start : start + block] @ inside
        largest = np.abs(mixture - whole)[:, non_missing].max(axis=1, initial=0.0)
        result[start : start + block] = np.where(several | (mixture.sum(axis=1) > 1 + TOLERANCE), largest, 0.0)
    return result


def individual_distances(mu: Floats, mapped: Floats) -> Floats:
    r"""Return the distance :math:`D[P_x, Q]` of each individual, :math:`P_x = \sum_i \mu_{Q_i}(x) P_i`.

    ``mapped`` holds one row per cell: the map of that cell's difference to the table. Works on blocks of individuals.

    >>> P = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> individual_distances(np.array([[1.0, 0.0], [0.5, 0.5]]), equal_map(P - 0.5)).tolist()
    [0.5, 0.0]
    """
    block = max(1, 4_000_000 // max(mapped.shape[1], 1))
    result = np.empty(len(mu))
    for start in range(0, len(mu), block):
        result[start : start + block] = np.abs(mu[start : start + block] @ mapped).sum(axis=1)
    return result
