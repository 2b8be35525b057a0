"""An example of each mechanism: neighbouring inputs, the events that tell them apart best, and a slow second way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.parts import build


@dataclass(frozen=True)
class Example:
    """A mechanism with two inputs that differ in one person.

    ``draw`` makes many answers to an input, each a number; ``chance`` tells by a slow way how likely one is at most the
    cut, and ``moved`` how far the second input lies from the first, in what the noise is added to.
    """

    part: dict[str, Any]
    first: Any
    second: Any
    cut: float
    moved: float
    chance: Callable[[Any, Any, float], float]
    """(mechanism, input, cut) → the probability of an answer of at most the cut."""
    tight: bool = True
    """Whether the two inputs spend the whole cost: a smaller one is then told from it."""

    def mechanism(self) -> Any:
        return build("mechanism", self.part)


def draws(mechanism: Any, data: Any, n: int) -> np.ndarray:
    """Answers as numbers; a mechanism that answers several numbers at once is asked once."""
    if isinstance(data, bool):
        return np.array(mechanism.answer([data] * n), dtype=float)
    if isinstance(data, int | float):
        return np.array(mechanism.answer([data] * n), dtype=float)
    if isinstance(data, dict):  # groups with the same count; one that is not shown counts as 0
        (count,) = data.values()
        shown = mechanism.answer(dict.fromkeys(range(n), count))
        return np.array([shown.get(i, 0) for i in range(n)], dtype=float)
    return np.array([mechanism.answer(data) for _ in range(n)], dtype=float)


def laplace(mechanism: Any, value: float, cut: float) -> float:
    """A Laplace variable at most the cut."""
    t = (cut - value) * mechanism.epsilon / mechanism.sensitivity
    return math.exp(t) / 2 if t < 0 else 1 - math.exp(-t) / 2


def whole(weight: Callable[[int], float]) -> Callable[[int, int], float]:
    """The chance of at most ``cut`` around ``value`` when a whole number z has a weight."""

    def chance(value: int, cut: int) -> float:
        everything = sum(weight(z) for z in range(-2000, 2001))
        return sum(weight(z) for z in range(-2000, cut - value + 1)) / everything

    return chance


def geometric(mechanism: Any, value: int, cut: int) -> float:
    return whole(lambda z: math.exp(-abs(z) * mechanism.epsilon / mechanism.sensitivity))(value, cut)


def discrete_gaussian(mechanism: Any, value: int, cut: int) -> float:
    return whole(lambda z: math.exp(-z * z * mechanism.rho / mechanism.sensitivity**2))(value, cut)


def gaussian(mechanism: Any, value: float, cut: float) -> float:
    return 0.5 * (1 + math.erf((cut - value) / mechanism.scale() / math.sqrt(2)))


def histogram(mechanism: Any, groups: dict[str, int], cut: int) -> float:
    """A count below the threshold is not shown, which is 0."""
    (count,) = groups.values()
    scale = mechanism.groups / mechanism.epsilon
    return whole(lambda z: math.exp(-abs(z) / scale))(count, max(cut, mechanism.threshold() - 1))


def flipped(scores: list[float], rate: float) -> list[float]:
    """Permute-and-flip: options in a random order; each is taken with the chance by which it falls below the best."""
    keep = [math.exp(rate * (score - max(scores))) for score in scores]
    found = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for option in order:
            found[option] += left * keep[option] / len(orders)
            left *= 1 - keep[option]
    return found


def choice(mechanism: Any, scores: list[float], cut: int) -> float:
    return sum(flipped(scores, mechanism.epsilon / (2 * mechanism.sensitivity))[: cut + 1])


def quantile(mechanism: Any, values: list[float], cut: float) -> float:
    """The scores counted value by value."""
    step = (mechanism.upper - mechanism.lower) / mechanism.steps
    grid = [mechanism.lower + step * i for i in range(mechanism.steps + 1)]
    q = mechanism.q
    scores = [-abs((1 - q) * sum(x < c for x in values) - q * sum(x > c for x in values)) for c in grid]
    chances = flipped(scores, mechanism.epsilon / (2 * mechanism.rows * max(q, 1 - q)))
    return sum(p for p, c in zip(chances, grid, strict=True) if c <= cut)


def response(mechanism: Any, value: bool, cut: float) -> float:
    yes = mechanism.truth * value + (1 - mechanism.truth) / 2
    return 1 - yes if cut < 1 else 1.0


EXAMPLES: dict[str, list[Example]] = {
    "laplace": [
        Example({"use": "laplace", "epsilon": 0.5}, 10.0, 11.0, 10.0, 1, laplace),
        Example({"use": "laplace", "epsilon": 2, "sensitivity": 90}, 100.0, 190.0, 100.0, 90, laplace),
    ],
    "geometric": [
        Example({"use": "geometric", "epsilon": 0.5}, 10, 11, 10, 1, geometric),
        Example({"use": "geometric", "epsilon": 1, "sensitivity": 3}, 0, 3, 0, 3, geometric),
    ],
    "gaussian": [
        Example({"use": "gaussian", "epsilon": 1, "delta": 0.1}, 0.0, 1.0, 0.5 - 0.9, 1, gaussian, tight=False)
    ],
    "discrete-gaussian": [
        Example({"use": "discrete-gaussian", "rho": 0.1, "sensitivity": 2}, 0, 2, -1, 2, discrete_gaussian, tight=False)
    ],
    "exponential": [Example({"use": "exponential", "epsilon": 1.5}, [1.0, -1.0], [0.0, 0.0], 0, 1, choice)],
    "quantile": [
        Example(
            {"use": "quantile", "epsilon": 2, "lower": 0, "upper": 4, "steps": 4},
            [0.0, 1.0, 1.5, 3.0],
            [0.0, 1.0, 1.5, 3.0, 4.0],
            1.0,
            0.5,
            quantile,
            tight=False,
        )
    ],
    "noisy-histogram": [
        Example({"use": "noisy-histogram", "epsilon": 1, "delta": 0.05}, {"a": 5}, {"a": 6}, 5, 1, histogram)
    ],
    "randomised-response": [Example({"use": "randomised-response"}, False, True, 0, 1, response)],
}
"""By name of the mechanism; ``tests/test_every_mechanism.py`` says which one lacks an example."""
