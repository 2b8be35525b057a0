"""Small attacks with background knowledge, each as one function: what is left in doubt, and what is disclosed.

They work on values that somebody with the data handed in; nothing here is logged or published.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from celosia.errors import ParameterError

V = TypeVar("V", bound=Hashable)


def homogeneous(values: Iterable[V]) -> V | None:
    """Return the one sensitive value of a class, when all of its records share it: k-anonymity does not hide it.

    >>> homogeneous(["cancer", "cancer", "cancer"]), homogeneous(["flu", "heart"])
    ('cancer', None)
    """
    kinds = set(values)
    return next(iter(kinds)) if len(kinds) == 1 else None


def candidates(values: Iterable[V], excluded: Iterable[V] = ()) -> dict[V, int]:
    """Sensitive values of a class that remain once some are ruled out (negative facts), with their counts.

    A class with d different values is disclosed once d − 1 of them are ruled out; with d − 2 two remain. So an
    l-diverse table withstands at most l − 2 negative facts.

    >>> candidates(["heart", "heart", "flu", "flu"], ["heart"])
    {'flu': 2}
    """
    out = set(excluded)
    return {value: count for value, count in Counter(values).items() if value not in out}


def facts_needed(values: Iterable[V]) -> int:
    """How many negative facts disclose a sensitive value of the class with certainty.

    >>> facts_needed(["heart", "diabetes", "cancer", "flu"])
    3
    """
    return max(len(set(values)) - 1, 0)


def similarity(values: Sequence[float], everybody: Sequence[float]) -> tuple[tuple[float, float], float]:
    """Interval of a class's sensitive numbers, and its width as a share of everybody's: different may still be close.

    >>> similarity([3, 4, 5], [3, 4, 5, 6, 7, 8, 9, 10, 11])
    ((3, 5), 0.25)
    """
    if not values or not everybody:
        raise ParameterError("similarity: needs at least one value of the class and one of the table.")
    low, high = min(values), max(values)
    width = max(everybody) - min(everybody)
    return (low, high), (high - low) / width if width else 0.0


def skewness(values: Iterable[V], everybody: Iterable[V]) -> dict[V, float]:
    """How many times more likely each sensitive value is in the class than in the whole table.

    >>> skewness(["hiv", "no"], ["hiv"] + ["no"] * 99)["hiv"]
    50.0
    """
    inside, outside = Counter(values), Counter(everybody)
    n, total = sum(inside.values()), sum(outside.values())
    return {value: (count / n) / (outside[value] / total) for value, count in inside.items() if outside[value]}


def difference_sums(with_target: float, without_target: float) -> float:
    """Return the target's value, from two sums over large groups that differ by her alone.

    >>> difference_sums(1256257, 1256218)
    39
    """
    return with_target - without_target


def difference_means(n: int, mean_with: float, mean_without: float) -> float:
    r"""Return the target's value from two means: :math:`N \bar x - (N-1) \bar x_{-t}`.

    >>> round(difference_means(10, 41.7, 375 / 9), 6)
    42.0
    """
    if n < 2:
        raise ParameterError(f"differencing: at least two records are needed, got {n}.")
    return n * mean_with - (n - 1) * mean_without


def repetitions(scale: float, error: float = 0.5, confidence: float = 0.95) -> int:
    r"""How often a noisy answer must be asked until the mean is within ``error`` of the truth.

    The mean of n answers with Laplace noise of scale b has the standard deviation :math:`b\sqrt{2/n}`; an integer is
    found once half a unit is z of those. A budget that charges each answer stops it.

    >>> repetitions(10)
    3074
    """
    from scipy.stats import norm

    if scale <= 0 or error <= 0 or not 0 < confidence < 1:
        raise ParameterError(
            f"repetitions: scale and error must be positive and confidence inside (0, 1), "
            f"got {scale}, {error} and {confidence}."
        )
    z = float(norm.ppf((1 + confidence) / 2))
    return math.ceil(2 * (z * scale / error) ** 2)


def average_answers(answers: Sequence[float], scale: float) -> tuple[float, float]:
    """Return the mean of repeated noisy answers, and the standard deviation that the noise leaves in it.

    >>> mean, spread = average_answers([18.475044, 15.158466, -0.688716, -2.115105, -0.203654, 13.167499], 10)
    >>> round(mean, 6), round(spread, 2)
    (7.298922, 5.77)
    """
    if not answers:
        raise ParameterError("averaging: needs at least one answer.")
    return sum(answers) / len(answers), scale * math.sqrt(2 / len(answers))


@dataclass(frozen=True)
class Belief:
    """Probabilities of each sensitive value before and after the release."""

    prior: Mapping[Hashable, float]
    posterior: Mapping[Hashable, float]

    def positive(self, sure: float = 0.9) -> list[Hashable]:
        """Values that the attacker now takes as true, and did not before."""
        return [s for s, p in self.posterior.items() if p >= sure > self.prior.get(s, 0.0)]

    def negative(self, ruled_out: float = 0.01) -> list[Hashable]:
        """Values that the attacker now rules out, and did not before."""
        return [s for s, p in self.posterior.items() if p <= ruled_out < self.prior.get(s, 0.0)]

    @property
    def change(self) -> float:
        """Largest change of probability of one value: near 0 the release reveals nothing."""
        keys = {*self.prior, *self.posterior}
        return max((abs(self.posterior.get(s, 0.0) - self.prior.get(s, 0.0)) for s in keys), default=0.0)


def belief(
    block: Mapping[Hashable, int], given_person: Mapping[Hashable, float], given_block: Mapping[Hashable, float]
) -> Belief:
    r"""Posterior belief about a person whose quasi-identifiers q fall into a published block q*.

    .. math:: \beta(q, s, T^*) = \frac{n(q^*, s)\, f(s|q) / f(s|q^*)}{\sum_{s'} n(q^*, s')\, f(s'|q) / f(s'|q^*)}

    ``block`` counts the sensitive values of the block, ``given_person`` is f(s|q), what the attacker believes of
    people like the target before the release (the prior), ``given_block`` is f(s|q*) in the population. With
    f(·|q*) taken from the block itself the posterior is the prior: the formula tells something only when it comes
    from elsewhere. A value with f(s|q*) = 0 adds nothing.

    References: Machanavajjhala et al. (2007), theorem 3.1.

    >>> learnt = belief({"flu": 2, "heart": 2}, {"flu": 0.99, "heart": 0.01}, {"flu": 0.5, "heart": 0.5})
    >>> round(learnt.posterior["flu"], 2), learnt.positive(0.9)
    (0.99, [])
    """
    weight = {
        s: n * given_person.get(s, 0.0) / given_block[s] if given_block.get(s, 0.0) > 0 else 0.0
        for s, n in block.items()
    }
    total = sum(weight.values())
    if total <= 0:
        raise ParameterError("belief: no sensitive value of the block is possible for this person.")
    posterior = {s: w / total for s, w in weight.items()}
    for s in given_person:
        posterior.setdefault(s, 0.0)
    return Belief(dict(given_person), posterior)
