"""Scores of people by the rare items that they share with what an intruder knows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Held(NamedTuple):
    """Item ``i`` is held by ``holder[begin[i]:begin[i + 1]]`` (ascending) with ``values``, and weighs ``weight[i]``."""

    begin: Ints
    holder: Ints
    values: Floats
    weight: Floats
    scales: Floats
    """How far apart two values count as different."""


class Knowledge(NamedTuple):
    """Knowledge ``t`` is the items and values from ``begin[t]`` to ``begin[t + 1]``, about person ``target[t]``."""

    begin: Ints
    item: Ints
    values: Floats
    target: Ints


@jit()
def scoreboard(held: Held, knowledge: Knowledge, persons: int) -> tuple[Ints, Floats]:
    """Return the best-scoring person for each piece of knowledge, and how far she stands out, with and without the
    target.

    A missing value is nan and says nothing, an item without any value counts 1. The eccentricity is the gap between
    the best and the second score in standard deviations of all scores; the second one is that of a release without
    the target.
    """
    begin, holder, values, weight, scales = held
    known_begin, known_item, known_values, target = knowledge
    tried = known_begin.size - 1
    best_person = np.full(tried, -1, np.int64)
    eccentricity = np.zeros((tried, 2))
    score = np.zeros(persons)
    last = np.zeros(persons)
    for t in range(tried):
        score[:] = 0.0
        for at in range(known_begin[t], known_begin[t + 1]):
            item = known_item[at]
            if item < 0:
                continue
            for row in range(begin[item], begin[item + 1]):
                p = holder[row]
                alike, compared = 0.0, False
                for v in range(values.shape[1]):
                    gap = abs(values[row, v] - known_values[at, v])
                    if not np.isnan(gap):
                        alike += np.exp(-gap / scales[v])
                        compared = True
                if not compared:
                    alike = 1.0
                if row > begin[item] and holder[row - 1] == p:  # the same item again: the better one counts
                    if alike > last[p]:
                        score[p] += weight[item] * (alike - last[p])
                        last[p] = alike
                else:
                    score[p] += weight[item] * alike
                    last[p] = alike
        for without in range(2):
            first, second, total, square, n, who = -1.0, -1.0, 0.0, 0.0, 0, -1
            for p in range(persons):
                if without == 1 and p == target[t]:
                    continue
                n += 1
                total += score[p]
                square += score[p] * score[p]
                if score[p] > first:
                    second = first
                    first = score[p]
                    who = p
                elif score[p] > second:
                    second = score[p]
            if n > 1:
                spread = square / n - (total / n) ** 2
                if spread > 1e-18:
                    eccentricity[t, without] = (first - second) / np.sqrt(spread)
            if without == 0:
                best_person[t] = who
    return best_person, eccentricity
