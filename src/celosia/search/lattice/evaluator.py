"""Evaluation of one node of the lattice: suppressed records, loss, and the bounds it implies for other nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from celosia.classes.counts import ClassCounts, Counts, Shares, Verdict
from celosia.parts import Model, search_hints
from celosia.search.lattice.objective import ClassObjective, ColumnObjective, LevelMaps, Objective, Score
from celosia.search.lattice.tables import ClassTable, ClassTables, Levels, Records


class Evaluation(NamedTuple):
    """Result of evaluating a node, with the bounds that it implies for finer and coarser nodes."""

    levels: Levels
    suppressed: int
    """Records that would be suppressed."""
    certain: int
    """Records that this and every finer node must suppress at least."""
    holds: bool
    """Whether the suppressed records are within the limit, and some record is left."""
    score: Score
    """The loss, also where the node does not hold."""
    measure: Score
    """The score on the scale on which bounds add up: the score itself for most losses."""
    classes: int
    """Classes that are kept."""
    penalty: Shares | None = None
    """m × levels: least addition of the certain records to each column's sum, here and at every finer node."""
    floor: float = -np.inf
    """No coarser node scores less."""
    ceiling: float = -np.inf
    """No finer node scores less."""
    gap: float = 0.0
    """Amount by which the other bounds rise here and at every finer node."""
    sums: Shares | None = None
    """The columns' sums that the score combines, for a loss that adds up over columns."""


class NodeEvaluator:
    """Evaluate nodes under a set of requirements, an objective and a suppression limit (a number of records)."""

    def __init__(
        self,
        records: Records,
        requirements: Sequence[Model],
        objective: Objective,
        limit: int,
        counted: Sequence[str] = (),
        keep_rows: int = 4_000_000,
    ) -> None:
        self.records = records
        self.limit = limit
        self._by_class = [r for r in requirements if r.scope == "class" and not search_hints(r).is_size_only()]
        self._by_file = [r for r in requirements if r.scope == "file"]
        needs = objective.needs if isinstance(objective, ClassObjective) else ()
        self._judged = _counted_names(records, requirements)
        columns = tuple(dict.fromkeys((*self._judged, *needs, *counted)))
        squares = isinstance(objective, ClassObjective) and objective.squares
        self.tables = ClassTables(records, columns, keep_rows, squares)
        if isinstance(objective, ClassObjective) and objective.fit_scale is not None:
            finest = self.tables.counts(self.tables.base, self.tables.base.sums[:, 0] > 0, columns=(), by_record=True)
            objective = replace(objective, scale=objective.fit_scale(finest))
        self.objective = objective
        self._convex = [r for r in requirements if self._survives_merging(r)]
        totals = self.tables.counts(self.tables.base, np.zeros(len(self.tables.base), dtype=bool))
        self._least = max(
            (
                search_hints(r).smallest_size_in(totals)
                for r in requirements
                if r.scope == "class" or search_hints(r).monotone_suppression
            ),
            default=1,
        )
        self._columns = objective if isinstance(objective, ColumnObjective) else objective.columns
        own = self._columns
        self._forcing = own is not None and (own.extra is not None or own.spread is not None)
        """Whether what must be suppressed raises the columns' sums."""
        sized = all(r.scope == "class" and search_hints(r).is_size_only() for r in requirements)
        self._by_size = sized and not records.repeated and records.target is None and records.population is None
        """Whether the size of a class in records decides alone."""
        self._stars = _star_masks(records.domain)
        self._flatten()

    def _survives_merging(self, requirement: Model) -> bool:
        """Return whether classes that hold still hold when they are merged.

        When persons have several records, a person in both classes counts once in their union, so that shares change
        in ways that convexity does not cover. Sizes still never fall.
        """
        hints = search_hints(requirement)
        return self._survives_joining(requirement) or (hints.monotone_generalisation and not self.records.repeated)

    def _survives_joining(self, requirement: Model) -> bool:
        """Return whether a class that holds still holds when other records join it.

        Where persons have several records, further ones can give a value to everybody in the class.
        """
        shares = self.records.repeated and bool(requirement.counted_columns())
        return search_hints(requirement).monotone_suppression and not shares

    def _flatten(self) -> None:
        """Store the least cost of a suppressed record, from each level down to each finer one, in one array."""
        domain = self.records.domain
        widest = max((domain.values(j) for j in range(len(domain))), default=1)
        deepest = max((len(maps) for maps in domain.maps), default=1)
        self._count = np.zeros((len(domain), widest), dtype=np.int64)
        self._cost_at = np.zeros((len(domain), deepest), dtype=np.float64)
        self._extra = np.zeros(0)
        self._spread = np.zeros(0)
        self._offset = np.zeros((len(domain), deepest, deepest), dtype=np.int64)
        columns = self._columns
        if columns is None:
            return
        if columns.spread is not None:
            self._spread = np.asarray(columns.spread, dtype=np.float64)
        if columns.extra is None:
            return
        flat: list[Shares] = []
        length = 0
        for j, by_level in enumerate(columns.extra):
            for a in range(len(by_level)):
                for b in range(a + 1):
                    least = np.full(domain.width(j, a), np.inf)
                    np.minimum.at(least, domain.maps[j][a], by_level[b][domain.maps[j][b]])
                    self._offset[j, a, b] = length
                    flat.append(least)
                    length += len(least)
        self._extra = np.concatenate(flat)

    def judge(self, table: ClassTable, hidden: Verdict | None = None) -> tuple[Verdict, Verdict]:
        """Return masks of the classes that are kept, and of those that fail at every finer node too.

        Classes in ``hidden`` show only stars, so their records count as suppressed.
        """
        size = self.tables.size(table)
        here = table.sums[:, 0] > 0  # combinations of the population alone are no classes
        large = size >= self._least
        certain = here & ~large
        kept = here & large if hidden is None else here & large & ~hidden
        if len(table.peak):
            enough = size >= table.peak
            kept &= enough
            if self.limit == 0:
                certain |= here & ~enough
        if self._by_class:
            kept, failed = self._judge_classes(table, kept)
            certain |= failed
        if self._by_file and kept.any():
            kept, refused = self._judge_file(table, kept)
            if refused and hidden is None:  # records hidden here may be visible at finer levels, and lower the risk
                certain |= here
        return kept, certain

    def _judge_classes(self, table: ClassTable, candidates: Verdict) -> tuple[Verdict, Verdict]:
        # judging a few classes in vain costs less than copying the others
        most = 2 * np.count_nonzero(candidates) > len(candidates) and self.records.population is None
        index = np.arange(len(candidates)) if most else np.flatnonzero(candidates)
        counts = self.tables.counts(table, None if most else candidates, columns=self._judged)
        holds = candidates[index]
        failed = np.zeros(len(candidates), dtype=bool)
        for requirement in self._by_class:
            verdict = requirement.judge(counts)
            if self._survives_joining(requirement) or (self.limit == 0 and self._survives_merging(requirement)):
                failed[index[~verdict]] = True
            holds = holds & verdict
        kept = np.zeros(len(candidates), dtype=bool)
        kept[index[holds]] = True
        return kept, failed & candidates

    def _judge_file(self, table: ClassTable, kept: Verdict) -> tuple[Verdict, bool]:
        """Suppress the cheapest classes while a requirement on the file fails.

        Returns the kept classes, and whether every finer node fails too.
        """
        counts = self.tables.counts(table, columns=self._judged)
        index = np.flatnonzero(kept)
        if all(requirement.measure(counts.take(index)).holds for requirement in self._by_file):
            return kept, False
        if self.limit == 0:
            refused = any(self._survives_merging(r) and not r.measure(counts.take(index)).holds for r in self._by_file)
            return np.zeros_like(kept), refused
        codes = isinstance(self.objective, ColumnObjective)
        costs = self._cost(self.tables.counts(table, codes=codes, columns=()))
        # ties go by key, so that the result does not depend on the way to the node
        order = index[np.lexsort((*table.keys[index].T, costs[index]))]
        low, high = 1, len(order)  # classes to suppress: ``low - 1`` are too few, all are enough
        while low < high:
            middle = (low + high) // 2
            rest = np.sort(order[middle:])
            if all(requirement.measure(counts.take(rest)).holds for requirement in self._by_file):
                high = middle
            else:
                low = middle + 1
        fewer = kept.copy()
        fewer[order[:high]] = False
        return fewer, False

    def _cost(self, counts: ClassCounts) -> Shares:
        """Return the cost of suppressing each class; the cheapest is suppressed first."""
        columns = self.objective
        cost = counts.size.astype(np.float64)
        if isinstance(columns, ColumnObjective) and columns.kept_loss is not None:
            codes, levels = counts.codes, counts.levels
            assert codes is not None
            assert levels is not None
            held = [cost * columns.kept_loss[j][level][codes[:, j]] for j, level in enumerate(levels)]
            cost = np.log1p(np.stack(held, axis=1)).sum(axis=1)
        return cost

    def evaluate(self, levels: Levels) -> Evaluation:
        """Evaluate one node."""
        from celosia.kernels.search.lattice import large_classes

        table = self.tables.at(levels)
        records = table.sums[:, 0]
        total = len(self.records)
        hidden = self._suppressed_classes(table)
        if self._by_size and hidden is None:
            kept, forced = np.empty(len(table), dtype=bool), np.empty(len(table), dtype=np.int64)
            classes, suppressed = large_classes(table.sums, self._least, kept, forced)
            certain, sure = ~kept, suppressed
        else:
            kept, certain = self.judge(table, hidden)
            classes, suppressed = int(np.count_nonzero(kept)), total - int(records @ kept)
            forced = self._forced_counts(table, kept, certain)
            sure = int(forced.sum())
        penalty = self._penalty(table, forced) if sure and self._forcing else None
        sums: Shares | None = None
        floor, gap, ceiling = -np.inf, 0.0, -np.inf
        score: Score
        measure: Score
        if isinstance(self.objective, ColumnObjective):
            added = penalty if sure == suppressed else self._penalty(table, np.where(kept, 0, records))
            sums = column_sums(self.objective, levels, added)
            combined = self.objective.value(sums)
            score = measure = tuple(combined.tolist()) if self.objective.ranked else float(combined[0])
        else:
            here = None
            if self.records.population is not None:  # combinations that only the population has are no classes
                here = records > 0
                kept, certain = kept[here], certain[here]
            counts = self.tables.counts(table, here, codes=self.objective.codes, least=self._least, by_record=True)
            measure, floor, gap, ceiling = self.objective.measure(counts, kept, certain)
            score = self.objective.loss(measure)
        holds = suppressed <= self.limit and suppressed < total
        return Evaluation(levels, suppressed, sure, holds, score, measure, classes, penalty, floor, ceiling, gap, sums)

    def loss(self, measured: float) -> float:
        """Return the loss of a measured score or bound."""
        return self.objective.loss(measured) if isinstance(self.objective, ClassObjective) else measured

    def _suppressed_classes(self, table: ClassTable) -> Verdict | None:
        """Return a mask of the classes that show only stars; None where none does, or all do (they are one class)."""
        from celosia.kernels.search.lattice import unpack_columns

        if self._stars is None:
            return None
        here = [by_level[level] for by_level, level in zip(self._stars, table.levels, strict=True)]
        if not all(stars.any() for stars in here):
            return None
        lay = self.tables.layout
        codes = unpack_columns(table.keys, lay.word, lay.shift, lay.mask)
        hidden: Verdict = np.logical_and.reduce([stars[code] for stars, code in zip(here, codes, strict=True)])
        return hidden if hidden.any() and not hidden[table.sums[:, 0] > 0].all() else None

    def _forced_counts(self, table: ClassTable, kept: Verdict, certain: Verdict) -> Counts:
        """Return how many records of each class this and every finer node must suppress at least."""
        forced = np.where(certain, table.sums[:, 0], 0)
        if not self._convex:
            return forced
        open_classes = np.flatnonzero(~kept & ~certain & (table.sums[:, 0] > 0))
        if len(open_classes):
            counts = self.tables.counts(table, columns=self._judged).take(open_classes)
            for requirement in self._convex:
                removed = search_hints(requirement).least_removed(counts)
                if removed is not None:
                    forced[open_classes] = np.maximum(forced[open_classes], removed)
        return forced

    def _penalty(self, table: ClassTable, lost: Counts) -> Shares:
        """Return what ``lost`` records of each class add to each column, at each level up to the node's."""
        from celosia.kernels.search.lattice import suppressed_cost, suppressed_counts

        lay = self.tables.layout
        suppressed_counts(table.keys, lost, lay.word, lay.shift, lay.mask, self._count)
        levels = np.array(table.levels, dtype=np.int32)
        suppressed_cost(self._count, levels, self._extra, self._offset, self._spread, self._cost_at)
        return self._cost_at.copy()

    def kept_counts(self, levels: Levels) -> ClassCounts:
        """Return the counts of the classes that a node keeps."""
        table = self.tables.at(levels)
        return self.tables.counts(table, self.judge(table, self._suppressed_classes(table))[0])

    def kept_records(self, levels: Levels) -> tuple[Verdict, Counts]:
        """Return a mask of the records that a node keeps, and the class of each."""
        table, group = self.tables.from_base(levels)
        kept, _ = self.judge(table, self._suppressed_classes(table))
        label = group[self.tables.group].astype(np.int64)
        return kept[label], label


def _star_masks(domain: LevelMaps) -> list[list[Verdict]] | None:
    """Return for each column and level which values read as stars; None where a level has them for all values or none.

    Then classes of nothing but stars are the only class of their node.
    """
    stars = [[domain.is_star(j, level) for level in range(domain.height(j) + 1)] for j in range(len(domain))]
    partly = any(each.any() and not each.all() for by_level in stars for each in by_level)
    return stars if partly else None


def column_sums(objective: ColumnObjective, levels: Levels, added: Shares | None) -> Shares:
    """Return the columns' sums of a node, with what the suppressed records add."""
    x = np.array([base[level] for base, level in zip(objective.base, levels, strict=True)], dtype=np.float64)
    if added is not None:
        x += added[np.arange(len(levels)), list(levels)]
    return x


def _counted_names(records: Records, requirements: Sequence[Model]) -> tuple[str, ...]:
    """List the columns whose values must be counted per class."""
    names: list[str] = []
    for requirement in requirements:
        if search_hints(requirement).is_size_only():
            continue
        for name in requirement.counted_columns():
            meant = records.sensitive if records.judged is None else records.judged
            names.extend([name] if name is not None else list(meant))
    return tuple(dict.fromkeys(names))
