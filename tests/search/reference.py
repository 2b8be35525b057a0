"""Losses and models as the reference tool defines them, written here a second time for the tests of the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from celosia.search.classes import ClassCounts
from celosia.search.objective import ClassObjective, ColumnObjective, Domain


def geometric(x):
    return np.prod(1 + x, axis=-1) ** (1 / x.shape[-1]) - 1


def rank(x):
    return -np.sort(-x, axis=-1)


AGGREGATES = {
    "geometric": geometric,
    "arithmetic": lambda x: x.mean(axis=-1),
    "max": lambda x: x.max(axis=-1),
    "sum": lambda x: x.sum(axis=-1),
    "rank": rank,
}


def domain_loss(domain: Domain, aggregate: str = "geometric", gs: float = 0.5) -> ColumnObjective:
    s = 2 * gs if gs < 0.5 else 1.0
    g = 1.0 if gs <= 0.5 else 1 - 2 * (gs - 0.5)
    base, extra, held = [], [], []
    for j in range(len(domain)):
        low = g / domain.size(j)
        scale = 1.0 if low == 1 else 1 - low
        base_j, extra_j, held_j = [], [], []
        for level in range(domain.height(j) + 1):
            share = domain.share(j, level)
            mean = (share * domain.frequency(j, level)).sum() / domain.n
            base_j.append(max(0.0, (g * mean - low) / scale))
            extra_j.append((share + s * (1 - share) - g * share) / scale / domain.n)
            held_j.append(share)
        base.append(np.array(base_j))
        extra.append(tuple(extra_j))
        held.append(tuple(held_j))
    return ColumnObjective(
        tuple(base), AGGREGATES[aggregate], tuple(extra), digits=10, ranked=aggregate == "rank", held=tuple(held)
    )


def precision(domain: Domain, gs: float = 0.5) -> ColumnObjective:
    base, extra = [], []
    for j in range(len(domain)):
        h = max(1, domain.height(j))
        levels = np.arange(domain.height(j) + 1) / h
        base.append(levels)
        extra.append(tuple(np.full(domain.width(j, lv), (1 - lv / h) / domain.n) for lv in range(domain.height(j) + 1)))
    return ColumnObjective(tuple(base), AGGREGATES["arithmetic"], tuple(extra))


def height(domain: Domain) -> ColumnObjective:
    return ColumnObjective(
        tuple(np.arange(domain.height(j) + 1, dtype=float) for j in range(len(domain))), AGGREGATES["sum"]
    )


def entropy(domain: Domain, normalised: bool = False) -> ColumnObjective:
    base, spread = [], []
    for j in range(len(domain)):
        a = domain.counts[j].astype(float)
        present = a > 0
        full = -(a[present] * np.log2(a[present] / domain.n)).sum()
        by_level = []
        for level in range(domain.height(j) + 1):
            b = domain.frequency(j, level)[domain.maps[j][level]]
            by_level.append(-(a[present] * np.log2(a[present] / b[present])).sum())
        scale = 1.0 if not normalised else 1 / full if full else 0.0
        base.append(np.array(by_level) * scale)
        spread.append(scale)
    return ColumnObjective(tuple(base), AGGREGATES["sum"], spread=np.array(spread))


def discernibility(domain: Domain, monotone: bool = False) -> ClassObjective:
    n = domain.n

    def score(c: ClassCounts, kept):
        squares = c.size.astype(float) ** 2
        return squares.sum() if monotone else squares[kept].sum() + float(n) * c.size[~kept].sum()

    return ClassObjective(
        score, floor=lambda c: (c.size.astype(float) ** 2).sum(), ceiling=None if monotone else lambda s: float(n) * s
    )


def average_class(domain: Domain) -> ClassObjective:
    def score(c, kept):
        return c.total / (kept.sum() + (0 if kept.all() else 1))

    return ClassObjective(score, floor=lambda c: c.total / (len(c) + 1))


def _areas(domain: Domain):
    return [
        [domain.share(j, lv) * domain.size(j) for lv in range(domain.height(j) + 1)] for j in range(len(domain))
    ]


def ambiguity(domain: Domain) -> ClassObjective:
    area = _areas(domain)
    largest = float(np.prod([float(domain.size(j)) for j in range(len(domain))]))

    def cells(c: ClassCounts):
        out = np.ones(len(c))
        for j, level in enumerate(c.levels):
            out *= area[j][level][c.codes[:, j]]
        return out

    def score(c, kept):
        return (c.size * np.where(kept, cells(c), largest)).sum()

    return ClassObjective(score, floor=lambda c: (c.size * cells(c)).sum(), ceiling=lambda s: largest * s)


def divergence(domain: Domain, records: bool, combinations=None) -> ClassObjective:
    """KL; with ``records`` each record adds p log(p/q), as the reference tool does, not each combination."""
    area = [[np.log2(a, where=a > 0, out=np.zeros_like(a)) for a in by_level] for by_level in _areas(domain)]
    largest = sum(np.log2(domain.size(j)) for j in range(len(domain)))
    n = domain.n
    constant = 0.0
    if combinations is not None:
        p = combinations / n
        constant = ((combinations if records else 1) * p * np.log2(p)).sum()

    def parts(c: ClassCounts):
        bits = np.zeros(len(c))
        for j, level in enumerate(c.levels):
            bits += area[j][level][c.codes[:, j]]
        w = c.squares / n if records else c.size / n
        return bits, w

    def score(c, kept):
        bits, w = parts(c)
        s = c.size[~kept].sum()
        total = (w[kept] * (bits[kept] - np.log2(c.size[kept] / n))).sum()
        if s:
            total += w[~kept].sum() * (largest - np.log2(s / n))
        return total + constant

    def floor(c):
        bits, w = parts(c)
        return (w * (bits - np.log2(c.size / n))).sum() + constant

    return ClassObjective(score, floor=None if records else floor)


@dataclass(frozen=True)
class Asked:
    """A requirement for tests: class sizes, and a function of the classes."""

    k: int = 1
    test: object = None
    scope: Literal["class", "file"] = "class"
    monotone_generalisation: bool = True
    monotone_suppression: bool = True

    def judge(self, classes):
        holds = classes.size >= self.k
        return holds & self.test(classes) if self.test else holds

    def accepts(self, classes):
        return bool(self.test(classes))

    def least_size(self, classes):
        return self.k

    def size_only(self):
        return self.test is None

    def sensitive(self):
        return () if self.test is None else (None,)
