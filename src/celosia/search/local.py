r"""Local recoding: every class of records gets levels of its own.

Nodes of the lattice are taken in the order of their loss. At each one the classes that meet the requirements among the
remaining records get its levels, and are removed from the remaining records. Records that no node can place, together
with the coarsest classes, are a *pool* that is split from the top down: a class is split along the column that gains
most, parts that would fail stay in the class they come from, and the remainder must itself meet the requirements. A
remainder that shows only stars is suppressed, so it may hold no more records than the limit allows.

The loss is the mean share of the domain that a cell covers, scaled to [0, 1] (one minus it is called granularity).
References: the iteration over what would be suppressed follows Prasser, Kohlmayer & Kuhn (2016).
"""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.classes.counts import Shares
from celosia.parts.progress import advance
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.lattice import ENUMERATED
from celosia.search.lattice.objective import LevelMaps
from celosia.search.lattice.tables import ClassTable, Levels

Rows = NDArray[np.intp]

POOLS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
"""Sizes of the pools that are tried, as multiples of the records that no node can place."""


@dataclass(frozen=True, eq=False)
class LocalResult:
    """Classes with levels of their own, and the class of each row of the finest class table."""

    levels: NDArray[np.int8]
    """classes × m."""
    place: NDArray[np.int64]
    """For each row of the finest class table: its class, -1 when it has none."""
    hidden: NDArray[np.bool_]
    """For each row of the finest class table: whether it is suppressed (it has no class, or shows only stars)."""
    all_suppressed: bool
    """Whether every record shows only stars: then they are one class, and none is suppressed."""
    loss: float
    """The mean scaled share of the domain; a record without a class counts 1."""
    suppressed: int
    nodes: int
    """Nodes that were tried."""
    finished: bool
    """Whether the search ended before its time limit."""


def scaled_shares(domain: LevelMaps) -> list[list[Shares]]:
    """Return the share of the domain that each generalised value covers, scaled to [0, 1], by column and level."""
    out = []
    for j in range(len(domain)):
        low = 1 / max(1, domain.size(j))
        room = 1 - low if low < 1 else 1.0
        by_level = [domain.share(j, level)[domain.maps[j][level]] for level in range(domain.height(j) + 1)]
        out.append([np.maximum(0.0, (share - low) / room) for share in by_level])
    return out


def nodes_by_loss(
    domain: LevelMaps, costs: list[list[Shares]], lower: Levels, upper: Levels
) -> Iterator[tuple[float, Levels]]:
    """Yield the nodes in the order of their loss over the whole table, the finest first."""
    n = max(1, domain.n)
    base = [[float((cost * domain.counts[j]).sum() / n) for cost in costs[j]] for j in range(len(domain))]
    if math.prod(b - a + 1 for a, b in zip(lower, upper, strict=True)) <= ENUMERATED:
        spans = [np.arange(a, b + 1) for a, b in zip(lower, upper, strict=True)]
        grid = np.stack(np.meshgrid(*spans, indexing="ij"), axis=-1).reshape(-1, len(lower))
        loss = sum(np.array(base[j])[grid[:, j]] for j in range(len(lower)))
        assert isinstance(loss, np.ndarray)
        for i in np.argsort(loss, kind="stable"):
            yield float(loss[i]), tuple(grid[i].tolist())
        return
    heap = [(sum(base[j][level] for j, level in enumerate(lower)), lower, 0)]
    while heap:
        loss_here, levels, first = heapq.heappop(heap)
        yield loss_here, levels
        # columns are raised from left to right only, so that each node is reached on one way
        for j in range(first, len(levels)):
            if levels[j] < upper[j]:
                coarser = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
                heapq.heappush(heap, (loss_here + base[j][levels[j] + 1] - base[j][levels[j]], coarser, j))


class LocalSearch:
    """Find classes with levels of their own under the requirements of a evaluator."""

    def __init__(
        self,
        evaluator: NodeEvaluator,
        lower: Levels,
        upper: Levels,
        weights: Shares | None = None,
        stars: Sequence[NDArray[np.bool_]] | None = None,
    ) -> None:
        """``stars`` has a mask per column (levels × values): the values whose label at a level is ``*``."""
        from celosia.kernels.search.lattice import unpack

        self.evaluator = evaluator
        self.lower, self.upper = lower, upper
        tables = evaluator.tables
        self.base = tables.base
        lay = tables.layout
        self.codes = unpack(self.base.keys, lay.word, lay.shift, lay.mask)
        domain = evaluator.records.domain
        importance = np.ones(len(domain)) if weights is None else weights * len(domain) / weights.sum()
        self.costs = [[cost * importance[j] for cost in by] for j, by in enumerate(scaled_shares(domain))]
        self.records = self.base.sums[:, 0]
        self.stars = stars
        self.limit = 0
        self.deadline = math.inf
        self.finished = True

    def run(self, seconds: float | None = None, limit: int = 0) -> LocalResult:
        """Place records by nodes, then by pools; the others are suppressed.

        Records that show only stars are suppressed too. Where that would be more than ``limit`` records, larger pools
        are tried, in the end the whole table. The nodes get half of the time, so that some is left for the pools.
        """
        start = time.monotonic()
        self.limit, self.finished = limit, True
        self.deadline = math.inf if seconds is None else start + seconds / 2
        levels, place, nodes = self._greedy()
        self.deadline = math.inf if seconds is None else start + seconds
        best = self._result(levels, place, nodes)
        if best.suppressed == 0 or (best.suppressed <= limit and (place[self.records > 0] >= 0).all()):
            return best
        place = np.where(best.hidden, -1, place)
        loss = self._row_loss(levels, place)
        tried = set()
        for turn, factor in enumerate((*POOLS, math.inf)):
            advance(0.5 + 0.5 * turn / len(POOLS), "records left over")
            pool = self._pool(loss, place, factor)
            if len(pool) in tried or (factor == math.inf and best.suppressed <= limit):
                continue
            if self._is_late():
                break
            tried.add(len(pool))
            candidate = self._merge_pool(levels, place, pool, self._top_down(pool), nodes)
            if self._rank(candidate) < self._rank(best):
                best = candidate
        return replace(best, finished=self.finished)

    def _rank(self, result: LocalResult) -> tuple[float, ...]:
        """Return the sort key of a result: limit exceeded, all stars, records without a class, loss."""
        left = int(self.records[result.place < 0].sum())
        return max(0, result.suppressed - self.limit), result.all_suppressed, left, result.loss

    def _is_late(self) -> bool:
        late = time.monotonic() > self.deadline
        self.finished = self.finished and not late
        return late

    def _only_stars(self, rows: Rows, levels: NDArray[np.int8] | Levels) -> NDArray[np.bool_]:
        """Return a mask of the rows that show only stars, each at its own levels or all at the same."""
        if self.stars is None:
            return np.zeros(len(rows), dtype=np.bool_)
        at = np.broadcast_to(np.asarray(levels), (len(rows), len(self.lower)))
        bare: NDArray[np.bool_] = np.logical_and.reduce(
            [stars[at[:, j], self.codes[rows, j]] for j, stars in enumerate(self.stars)]
        )
        return bare

    def _result(self, levels: NDArray[np.int8], place: NDArray[np.int64], nodes: int) -> LocalResult:
        hidden = place < 0
        placed = np.flatnonzero(~hidden)
        hidden[placed] = self._only_stars(placed, levels[place[placed]])
        # where every record shows only stars they are one class, and none is suppressed
        some_kept = bool((~hidden & (self.records > 0)).any()) or bool((place[self.records > 0] < 0).any())
        if not some_kept:
            hidden[:] = False
        suppressed = int(self.records[hidden].sum())
        loss = self._mean(self._row_loss(levels, place))
        return LocalResult(levels, place, hidden, not some_kept, loss, suppressed, nodes, self.finished)

    def _greedy(self) -> tuple[NDArray[np.int8], NDArray[np.int64], int]:
        tables = self.evaluator.tables
        place = np.full(len(self.base), -1, dtype=np.int64)
        rows: Rows = np.flatnonzero(self.records > 0)
        rest = take_rows(self.base, rows)
        total = max(1, len(rows))
        released: list[Levels] = []
        nodes = 0
        domain = self.evaluator.records.domain
        for _, levels in nodes_by_loss(domain, self.costs, self.lower, self.upper):
            if not len(rows) or self._is_late():
                break
            nodes += 1
            advance(0.5 * (1 - len(rows) / total), f"{nodes:,} nodes, {len(rows):,} combinations left")
            table, group = tables.coarsen(rest, levels)
            kept, _ = self.evaluator.judge(table)
            if not kept.any():
                continue
            numbers = np.cumsum(kept) - 1 + len(released)
            # later nodes judge the remaining records alone
            hit = kept[group]
            place[rows[hit]] = numbers[group[hit]]
            released.extend([levels] * int(kept.sum()))
            rows = rows[~hit]
            rest = take_rows(rest, np.flatnonzero(~hit))
        return np.array(released, dtype=np.int8).reshape(len(released), len(self.lower)), place, nodes

    def _row_loss(self, levels: NDArray[np.int8], place: NDArray[np.int64]) -> Shares:
        """Return the loss of each row, the sum over its columns."""
        m = len(self.lower)
        total = np.zeros(len(place))
        kept = place >= 0
        for j in range(m):
            stacked = np.stack(self.costs[j])
            total[kept] += stacked[levels[place[kept], j], self.codes[kept, j]]
        total[~kept] = m
        return total

    def _mean(self, loss: Shares) -> float:
        n = max(1, int(self.records.sum()))
        return float((loss * self.records).sum() / n / len(self.lower))

    def _pool(self, loss: Shares, place: NDArray[np.int64], factor: float) -> Rows:
        """Return the rows without a class and those of the coarsest classes, up to ``factor`` times the former.

        At least one class is included.
        """
        left = (place < 0) & (self.records > 0)
        kept = place >= 0
        if factor <= 1 or not kept.any():
            return np.flatnonzero(left)
        size = np.bincount(place[kept], self.records[kept])
        coarse = np.zeros(len(size))
        coarse[place[kept]] = loss[kept]  # the rows of a class have one loss: they share their cells
        order = np.argsort(-coarse, kind="stable")
        count = self.records[left].sum()
        taken = int(np.searchsorted(np.cumsum(size[order]), (factor - 1) * count, side="right"))
        chosen = np.zeros(len(size), dtype=bool)
        chosen[order[: max(1, taken)]] = True
        return np.flatnonzero(left | (kept & chosen[np.maximum(place, 0)]))

    def _merge_pool(
        self,
        levels: NDArray[np.int8],
        place: NDArray[np.int64],
        pool: Rows,
        parts: list[tuple[Rows, Levels]],
        nodes: int,
    ) -> LocalResult:
        new = place.copy()
        new[pool] = -1
        for i, (rows, _) in enumerate(parts):
            new[rows] = len(levels) + i
        tops = np.array([part[1] for part in parts], dtype=np.int8).reshape(len(parts), levels.shape[1])
        stacked = np.concatenate([levels, tops])
        used, compact = np.unique(new[new >= 0], return_inverse=True)
        new[new >= 0] = compact
        return self._result(stacked[used], new, nodes)

    def _top_down(self, pool: Rows) -> list[tuple[Rows, Levels]]:
        """Split a pool into classes, starting from the highest levels; parts that fail there get no class."""
        domain = self.evaluator.records.domain
        cells = np.stack([domain.maps[j][level][self.codes[pool, j]] for j, level in enumerate(self.upper)], axis=1)
        group = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)
        holds, _ = self.evaluator.judge(self._table(pool, group, int(group.max()) + 1))
        done = []
        # breadth first: when time is up all classes have been split about as often
        waiting = deque((pool[group == i], self.upper) for i in np.flatnonzero(holds))
        while waiting:
            rows, levels = waiting.popleft()
            gain, column, level, parts, rest = self._best_split(rows, levels)
            if gain <= 0:
                done.append((rows, levels))
                continue
            finer = (*levels[:column], level, *levels[column + 1 :])
            waiting.extend((part, finer) for part in parts)
            if len(rest):
                waiting.append((rest, levels))
        return done

    def _best_split(self, rows: Rows, levels: Levels) -> tuple[float, int, int, list[Rows], Rows]:
        best: tuple[float, int, int, list[Rows], Rows] = (0.0, 0, 0, [], rows[:0])
        domain = self.evaluator.records.domain
        weight = self.records[rows]
        bare = bool(self._only_stars(rows, levels).all())
        for j, here in enumerate(levels):
            if self._is_late():
                break
            now = self.costs[j][here][self.codes[rows, j]]
            for level in range(self.lower[j], here):
                gains = (now - self.costs[j][level][self.codes[rows, j]]) * weight
                if gains.sum() <= best[0]:  # even if every child were split off
                    continue
                child = np.unique(domain.maps[j][level][self.codes[rows, j]], return_inverse=True)[1]
                accepted = self._split(rows, child)
                if bare and weight[~accepted[child]].sum() > self.limit:
                    continue  # the remainder would be suppressed
                gain = float(gains[accepted[child]].sum())
                if gain > best[0] * (1 + 1e-12):  # rounding must not decide between columns of equal gain
                    parts = [rows[child == i] for i in np.flatnonzero(accepted)]
                    best = (gain, j, level, parts, rows[~accepted[child]])
        return best

    def _split(self, rows: Rows, child: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the children that can be split off so that they and the remainder all hold."""
        groups = int(child.max()) + 1
        parts = self._table(rows, child, groups)
        accepted, _ = self.evaluator.judge(parts)
        size = parts.sums[:, 0]
        while accepted.any() and not accepted.all():
            behind = np.flatnonzero(~accepted)
            if self._judge_merged(parts, [behind])[0]:
                break
            # keep the smallest child that makes the remainder hold; if none does alone, the smallest one. Of at most 32
            # candidates: one call judges them all, and a larger child costs more than it can save
            candidates = np.flatnonzero(accepted)
            candidates = candidates[np.argsort(size[candidates], kind="stable")][:32]
            helps = self._judge_merged(parts, [np.append(behind, i) for i in candidates])
            accepted[candidates[np.argmax(helps)]] = False
        return accepted

    def _judge_merged(self, parts: ClassTable, unions: list[NDArray[np.intp]]) -> NDArray[np.bool_]:
        """Return a mask of the unions of classes that meet the requirements."""
        rows = np.concatenate(unions)
        group = np.repeat(np.arange(len(unions), dtype=np.int32), [len(union) for union in unions])
        return self.evaluator.judge(
            merge_rows(take_rows(parts, rows), group, len(unions), self.evaluator.tables.widths)
        )[0]

    def _table(self, rows: Rows, group: NDArray[np.intp], groups: int) -> ClassTable:
        return merge_rows(take_rows(self.base, rows), group.astype(np.int32), groups, self.evaluator.tables.widths)


def take_rows(table: ClassTable, rows: Rows) -> ClassTable:
    """Return some rows of a class table."""
    values = {}
    for name, (start, value, count) in table.values.items():
        lengths = np.diff(start)[rows]
        begin = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=begin[1:])
        entry = np.arange(begin[-1]) + np.repeat(start[rows] - begin[:-1], lengths)
        values[name] = (begin, value[entry], count[entry])
    peak = table.peak[rows] if len(table.peak) else table.peak
    return ClassTable(table.levels, table.keys[rows], table.sums[rows], peak, values)


def merge_rows(table: ClassTable, group: NDArray[np.int32], groups: int, widths: dict[str, int]) -> ClassTable:
    """Merge the rows of a class table by given groups, whatever their keys."""
    from celosia.kernels.search.lattice import merge_values

    sums = np.stack(
        [np.bincount(group, table.sums[:, a], groups).astype(np.int64) for a in range(table.sums.shape[1])], axis=1
    )
    peak = table.peak
    if len(peak):
        peak = np.zeros(groups, dtype=np.int64)
        np.maximum.at(peak, group, table.peak)
    values = {name: merge_values(*counts, group, groups, max(1, widths[name])) for name, counts in table.values.items()}
    keys = np.zeros((groups, table.keys.shape[1]), dtype=np.uint64)
    return ClassTable(table.levels, keys, sums, peak, values)
