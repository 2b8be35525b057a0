"""Losses and models as the reference tool defines them, written here a second time for the tests of the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from celosia.classes.counts import ClassCounts
from celosia.parts.model import SearchHints
from celosia.search.lattice.objective import ClassObjective, ColumnObjective, LevelMaps


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


def domain_loss(domain: LevelMaps, aggregate: str = "geometric", gs: float = 0.5) -> ColumnObjective:
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
        tuple(base), AGGREGATES[aggregate], tuple(extra), digits=10, ranked=aggregate == "rank", kept_loss=tuple(held)
    )


def precision(domain: LevelMaps, gs: float = 0.5) -> ColumnObjective:
    base, extra = [], []
    for j in range(len(domain)):
        h = max(1, domain.height(j))
        levels = np.arange(domain.height(j) + 1) / h
        base.append(levels)
        extra.append(tuple(np.full(domain.width(j, lv), (1 - lv / h) / domain.n) for lv in range(domain.height(j) + 1)))
    return ColumnObjective(tuple(base), AGGREGATES["arithmetic"], tuple(extra))


def height(domain: LevelMaps) -> ColumnObjective:
    return ColumnObjective(
        tuple(np.arange(domain.height(j) + 1, dtype=float) for j in range(len(domain))), AGGREGATES["sum"]
    )


def entropy(domain: LevelMaps, normalised: bool = False) -> ColumnObjective:
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


def _information(domain: LevelMaps, j: int, level: int) -> float:
    p = domain.frequency(j, level) / domain.n
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def discernibility(domain: LevelMaps, monotone: bool = False) -> ClassObjective:
    n = float(domain.n)
    # sum p^2 >= 2^-H (Jensen), and the entropy of classes is at most the sum of the columns' entropies
    columns = ColumnObjective(
        tuple(
            -np.array([_information(domain, j, lv) for lv in range(domain.height(j) + 1)]) for j in range(len(domain))
        ),
        lambda x: n * n * np.exp2(x.sum(axis=-1)) * (1 - 1e-9),
    )

    def score(c: ClassCounts, kept):
        squares = c.size.astype(float) ** 2
        return squares.sum() if monotone else squares[kept].sum() + n * c.size[~kept].sum()

    def gap(c, certain):
        lost = c.size[certain].astype(float)
        return (lost * (n - lost)).sum()

    return ClassObjective.of(
        score,
        floor=lambda c: (c.size.astype(float) ** 2).sum(),
        columns=columns,
        gap=(lambda *_: 0.0) if monotone else gap,
    )


def average_class(domain: LevelMaps) -> ClassObjective:
    def score(c, kept):
        return c.total / (kept.sum() + (0 if kept.all() else 1))

    def floor(c):
        # a class kept at a coarser node holds a class that is large enough here, or enough records of small ones
        large = c.size >= c.least
        rest = c.size[~large].sum()
        return c.total / (large.sum() + rest // c.least + (1 if rest else 0))

    return ClassObjective.of(score, floor=floor)


def _areas(domain: LevelMaps):
    return [[domain.share(j, lv) * domain.size(j) for lv in range(domain.height(j) + 1)] for j in range(len(domain))]


def _cells(area, c: ClassCounts, start=1.0):
    out = np.full(len(c), start)
    for j, level in enumerate(c.levels):
        out *= area[j][level][c.codes[:, j]]
    return out


def _log_areas(domain: LevelMaps, weights=None):
    """Per column and level: log2 of the area per value, and its sum over records."""
    bits = [[np.log2(a, where=a > 0, out=np.zeros_like(a)) for a in by_level] for by_level in _areas(domain)]
    weights = weights or [c.astype(float) for c in domain.counts]
    base = tuple(
        np.array([(weights[j] * bits[j][lv][domain.maps[j][lv]]).sum() for lv in range(domain.height(j) + 1)])
        for j in range(len(domain))
    )
    return bits, base


def ambiguity(domain: LevelMaps) -> ClassObjective:
    area = _areas(domain)
    n = float(domain.n)
    largest = float(np.prod([float(domain.size(j)) for j in range(len(domain))]))
    _, base = _log_areas(domain)
    columns = ColumnObjective(base, lambda x: n * np.exp2(x.sum(axis=-1) / n) * (1 - 1e-9))

    def score(c, kept):
        return (c.size * np.where(kept, _cells(area, c), largest)).sum()

    def gap(c, certain):
        lost = c.take(certain)
        return (lost.size * (largest - _cells(area, lost))).sum()

    return ClassObjective.of(score, floor=lambda c: (c.size * _cells(area, c)).sum(), columns=columns, gap=gap)


def divergence(domain: LevelMaps, records: bool, combinations=None, weights=None) -> ClassObjective:
    """KL; with ``records`` each record adds p log(p/q), as the reference tool does, not each combination."""
    bits, base = _log_areas(domain, weights)
    n = domain.n
    largest = sum(np.log2(domain.size(j)) for j in range(len(domain)))
    constant = 0.0
    if combinations is not None:
        p = combinations / n
        constant = ((combinations if records else 1) * p * np.log2(p)).sum()
    columns = ColumnObjective(tuple(b / n for b in base), lambda x: x.sum(axis=-1) + constant - 1e-9)

    def parts(c: ClassCounts):
        held = np.zeros(len(c))
        for j, level in enumerate(c.levels):
            held += bits[j][level][c.codes[:, j]]
        return held, (c.squares if records else c.size) / n

    def score(c, kept):
        held, w = parts(c)
        s = c.size[~kept].sum()
        total = (w[kept] * (held[kept] - np.log2(c.size[kept] / n))).sum()
        if s:
            total += w[~kept].sum() * (largest - np.log2(s / n))
        return total + constant

    def floor(c):
        held, w = parts(c)
        return (w * (held - np.log2(c.size / n))).sum() + constant

    def gap(c, certain):
        held, w = parts(c)
        room = largest - held
        return (w * np.where(certain, room, np.clip(-np.log2(c.size / n), 0, room))).sum()

    below = (lambda _: -np.inf) if records else floor
    return ClassObjective.of(score, floor=below, columns=columns, gap=gap, gap_adds=False, squares=records)


@dataclass(frozen=True)
class Asked(SearchHints):
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

    def smallest_size_in(self, classes):
        return self.k

    def is_size_only(self):
        return self.test is None

    def counted_columns(self):
        return () if self.test is None else (None,)
