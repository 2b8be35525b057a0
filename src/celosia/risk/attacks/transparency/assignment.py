"""Assignment of the values of a group to its records, learnt from all groups at once (deFinetti attack)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LEARN = 30  # rounds of learning and assigning: later changes are below a thousandth
BALANCE = 20  # rounds of proportional fitting of a group to its counts


@dataclass(frozen=True, eq=False)
class Assignment:
    """The chance of each possible pair of a record and a value of its group."""

    record: Ints
    value: Ints
    chance: Floats
    share: Floats
    """Share of the value in the group: its chance without learning."""


def assign_values(features: Sequence[Ints], group: Ints, truth: Ints, rounds: int = LEARN) -> Assignment:
    r"""Learn how values follow from the features when only the counts of values in groups are known.

    Every record starts with the shares of its group. A naive Bayes learner takes these as weights,

    .. math:: P(s) \propto \sum_i w_{is}, \qquad
              P(q_j = v \mid s) = \frac{1 + \sum_i w_{is} [q_{ij} = v]}{V_j + \sum_i w_{is}}

    and gives each record new ones, which are fitted to the rows (one value per record) and columns (the counts of the
    group) by proportional fitting; then again. Only the counts of ``truth`` in each group are used.

    References: Kifer (2009), *Attacks on privacy and deFinetti's theorem*.

    >>> sex = np.tile([0, 1, 0, 0], 10)  # groups of two: a man and a woman, or two men; all women are ill
    >>> pairs = assign_values([sex], np.arange(40) // 2, sex)
    >>> bool((pairs.chance[(pairs.record == 0) & (pairs.value == 0)] > 0.8).all())
    True
    """
    width = int(truth.max(initial=0)) + 1
    cell, place = np.unique(group * width + truth, return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    size = np.bincount(group).astype(np.float64)
    start = np.searchsorted(cell // width, np.arange(len(size)))
    many = np.searchsorted(cell // width, np.arange(len(size)), side="right") - start
    record = np.repeat(np.arange(len(group)), many[group])
    offset = np.arange(len(record)) - np.repeat(np.cumsum(many[group]) - many[group], many[group])
    pair_cell = start[group[record]] + offset
    value = cell[pair_cell] % width
    share = count[pair_cell] / size[group[record]]
    chance = share.copy()
    for _ in range(rounds):
        total = np.bincount(value, chance, width)[value]
        likely = np.log(total)
        for feature in features:
            kinds = int(feature.max(initial=0)) + 1
            seen = np.bincount(feature[record] * width + value, chance, kinds * width)
            likely += np.log((1 + seen[feature[record] * width + value]) / (kinds + total))
        peak = np.full(len(group), -np.inf)
        np.maximum.at(peak, record, likely)
        chance = np.exp(likely - peak[record])
        for _ in range(BALANCE):
            chance *= count[pair_cell] / np.maximum(np.bincount(pair_cell, chance, len(cell)), 1e-300)[pair_cell]
            chance /= np.maximum(np.bincount(record, chance, len(group)), 1e-300)[record]
    return Assignment(record, value, chance, share)


def credit(pairs: Assignment, chance: Floats, truth: Ints) -> Floats:
    """Return for each record whether its likeliest value is the true one; equally likely values share the credit.

    >>> pairs = Assignment(np.array([0, 0]), np.array([3, 4]), np.array([0.5, 0.5]), np.array([0.9, 0.1]))
    >>> credit(pairs, pairs.chance, np.array([3])).tolist(), credit(pairs, pairs.share, np.array([3])).tolist()
    ([0.5], [1.0])
    """
    n = len(truth)
    best = np.zeros(n)
    np.maximum.at(best, pairs.record, chance)
    top = chance >= best[pairs.record] - 1e-9
    ties = np.bincount(pairs.record[top], minlength=n)
    hit = np.bincount(pairs.record[top & (pairs.value == truth[pairs.record])], minlength=n)
    return np.asarray(hit / np.maximum(ties, 1), dtype=np.float64)
