"""View models of the lattice page: checked nodes, their neighbours, and the consequences of choosing one.

All values come from the evaluator of the search, on the full data.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.errors import ParameterError, SchemaError
from celosia.methods.generalisation.generalise import DEFAULT, Generalise, LevelLattice, patience
from celosia.parts import build, describe, grammar
from celosia.search.lattice.lattice import SearchResult, search
from celosia.table.changes import Detail, detail_at

if TYPE_CHECKING:
    from celosia.parts import Model
    from celosia.search.lattice.evaluator import Evaluation
    from celosia.table import Table

State = Literal["best", "safe", "unsafe", "unknown"]
Levels = tuple[int, ...]
LISTED = 50
"""Rows in the table of alternatives."""
DRAWN = 160
"""Most nodes in the picture."""


@dataclass(frozen=True)
class Node:
    """A combination of levels, with its measures if it was checked."""

    levels: Levels
    state: State
    loss: float | None = None
    shade: float | None = None
    """Loss scaled to [0, 1] between the smallest and the largest checked loss."""
    suppressed: int | None = None
    share: float | None = None
    """Share of records that would be suppressed."""
    classes: int | None = None

    @property
    def key(self) -> str:
        """Levels as text, for links and forms.

        >>> Node((2, 0, 1), "safe").key
        '2-0-1'
        """
        return _key(self.levels)


@dataclass(frozen=True)
class Move:
    """A neighbouring node: one column one level finer or coarser."""

    column: str
    node: Node


@dataclass(frozen=True)
class ColumnAt:
    """A column at a level."""

    name: str
    level: int
    height: int
    detail: Detail
    """Description of the level, translated by the template: ``ranges of 10``, ``year``, ``as it is``."""
    labels: int
    """Number of distinct labels."""
    example: str
    """Most frequent label; empty at level 0."""


@dataclass(frozen=True)
class RequirementValue:
    """A requirement and its value over the classes that are not suppressed."""

    text: str
    value: float | None
    holds: bool


@dataclass(frozen=True)
class Consequences:
    """Consequences of choosing a node: columns, requirements, suppression and neighbours."""

    node: Node
    columns: tuple[ColumnAt, ...]
    requirements: tuple[RequirementValue, ...]
    kept: int
    limit: int
    finer: tuple[Move, ...]
    coarser: tuple[Move, ...]


@dataclass(frozen=True)
class Summary:
    """Size of the lattice, number of checked and safe nodes, and the best node."""

    columns: tuple[str, ...]
    lower: Levels
    upper: Levels
    size: int
    judged: int
    safe: int
    optimal: bool
    best: Node | None
    objective: str
    limit: int
    records: int


@dataclass
class Landscape:
    """A searched lattice with a cache of checked nodes."""

    lattice: LevelLattice
    result: SearchResult
    require: tuple[Model, ...]
    objective: str
    _checks: dict[Levels, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, method: Generalise) -> Landscape:
        """Search the lattice of a table for a generalisation, ignoring its fixed levels."""
        free = method.model_copy(update={"levels": {}})
        lattice = free.lattice(table)
        seconds = method.budget_seconds or patience(lattice.lower, lattice.upper)
        lower, upper = lattice.lower, lattice.upper
        result = search(lattice.evaluator, lower, upper, seconds=seconds, most=method.budget_nodes)
        objective = grammar.show(build("loss", DEFAULT if method.objective is None else method.objective).spec())
        judged = {check.levels: check for check in result.evaluations}
        return cls(lattice, result, method.require, "costs" if method.costs else objective, judged)

    def summary(self) -> Summary:
        """Return the summary of the lattice."""
        best = self.result.best
        return Summary(
            self.names,
            self.result.lower,
            self.result.upper,
            self.result.nodes,
            len(self._checks),
            sum(check.holds for check in self._checks.values()),
            self.result.optimal,
            None if best is None else self.node(best.levels),
            self.objective,
            self.lattice.evaluator.limit,
            len(self.lattice.coded.records),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Quasi-identifiers in the order of the levels."""
        return tuple(self.lattice.coded.domain.names)

    @property
    def start(self) -> Levels:
        """Initial node of the page: the best, or the coarsest if none is safe."""
        return self.result.upper if self.result.best is None else self.result.best.levels

    def levels(self, key: str) -> Levels:
        """Parse the key of a node; nodes outside the lattice raise."""
        try:
            levels = tuple(int(part) for part in key.split("-"))
        except ValueError:
            levels = ()
        inside = len(levels) == len(self.names) and all(
            low <= level <= high for low, level, high in zip(self.result.lower, levels, self.result.upper, strict=True)
        )
        if not inside:
            raise ParameterError(
                f"lattice: a node has one level for each of {', '.join(self.names)}, "
                f"from {_key(self.result.lower)} to {_key(self.result.upper)}."
            )
        return levels

    def chosen(self, fixed: Mapping[str, int | Sequence[int]]) -> Levels | None:
        """Return the node fixed by a step, or None unless it fixes one level for every column."""
        if set(fixed) != set(self.names) or not all(isinstance(level, int) for level in fixed.values()):
            return None
        return self.levels("-".join(str(fixed[name]) for name in self.names))

    def check(self, levels: Levels) -> Evaluation:
        """Check a node (cached)."""
        if levels not in self._checks:
            self._checks[levels] = self.lattice.evaluator.evaluate(levels)
        return self._checks[levels]

    def node(self, levels: Levels) -> Node:
        """Return a node with what is known without checking it."""
        check = self._checks.get(levels)
        if check is None:
            return Node(levels, "unsafe" if self._is_ruled_out(levels) else "unknown")
        best = self.result.best
        state: State = "best" if best is not None and levels == best.levels else "safe" if check.holds else "unsafe"
        loss = _first(check.score)
        low, high = self._range()
        shade = 0.0 if high <= low else min(1.0, max(0.0, (loss - low) / (high - low)))
        total = max(1, len(self.lattice.coded.records))
        return Node(levels, state, loss, shade, check.suppressed, check.suppressed / total, check.classes)

    def consequences(self, levels: Levels) -> Consequences:
        """Check a node and return its columns, requirements, suppression and neighbours."""
        check = self.check(levels)
        total = len(self.lattice.coded.records)
        return Consequences(
            self.node(levels),
            tuple(self._column(j, level) for j, level in enumerate(levels)),
            self._requirements(levels),
            total - check.suppressed,
            self.lattice.evaluator.limit,
            self._neighbours(levels, -1),
            self._neighbours(levels, +1),
        )

    def alternatives(self, most: int = LISTED) -> tuple[Node, ...]:
        """Return the checked safe nodes by increasing loss."""
        safe = [check for check in self._checks.values() if check.holds]
        ranked = sorted(safe, key=lambda check: (check.score, check.suppressed, check.levels))
        return tuple(self.node(check.levels) for check in ranked[:most])

    def nodes_around(self, centre: Levels, most: int = DRAWN) -> tuple[Node, ...]:
        """Return the nodes of the picture, finest first: all of a small lattice, or those nearest to ``centre``."""
        spans = [range(low, high + 1) for low, high in zip(self.result.lower, self.result.upper, strict=True)]
        if self.result.nodes <= most:
            grid = np.stack(np.meshgrid(*spans, indexing="ij"), axis=-1).reshape(-1, len(spans)).tolist()
            near = [tuple(levels) for levels in grid]
        else:
            near = _nearest(centre, self.result.lower, self.result.upper, most)
        return tuple(self.node(levels) for levels in sorted(near, key=lambda levels: (sum(levels), levels)))

    def check_around(self, centre: Levels, seconds: float) -> None:
        """Check the unknown nodes of the picture, for at most ``seconds``."""
        end = time.monotonic() + seconds
        for node in self.nodes_around(centre):
            if node.state == "unknown" and time.monotonic() < end:
                self.check(node.levels)

    def _neighbours(self, levels: Levels, step: int) -> tuple[Move, ...]:
        moves = []
        for j, name in enumerate(self.names):
            level = levels[j] + step
            if self.result.lower[j] <= level <= self.result.upper[j]:
                moved = (*levels[:j], level, *levels[j + 1 :])
                self.check(moved)
                moves.append(Move(name, self.node(moved)))
        return tuple(moves)

    def _column(self, j: int, level: int) -> ColumnAt:
        column = self.lattice.coded.columns[j]
        detail, example = Detail("values"), ""
        if level:
            counts = np.bincount(column.maps[level], weights=self.lattice.coded.domain.counts[j])
            value = int(np.flatnonzero(column.maps[level] == int(np.argmax(counts)))[0])
            example = str(column.labels[level - 1][value])
            built = column.hierarchy
            detail = Detail("nothing") if built is None else detail_at(built, column.levels, level)
        labels = int(column.maps[level].max(initial=-1)) + 1
        return ColumnAt(column.name, level, column.height, detail, labels, example)

    def _requirements(self, levels: Levels) -> tuple[RequirementValue, ...]:
        counts = self.lattice.evaluator.kept_counts(levels)
        if not len(counts):
            return tuple(RequirementValue(describe(model), None, False) for model in self.require)
        return tuple(
            RequirementValue(describe(model), float(model.score(counts)), model.measure(counts).holds)
            for model in self.require
        )

    def _is_ruled_out(self, levels: Levels) -> bool:
        """Return whether a checked coarser node proves that this node exceeds the suppression limit."""
        limit = self.lattice.evaluator.limit
        return any(
            check.certain > limit and all(a >= b for a, b in zip(check.levels, levels, strict=True))
            for check in self._checks.values()
        )

    def _range(self) -> tuple[float, float]:
        losses = [_first(check.score) for check in self._checks.values()]
        return min(losses, default=0.0), max(losses, default=0.0)


def generalisation(require: Sequence[Model], steps: Sequence[Any]) -> Generalise:
    """Return the first ``Generalise`` among the methods, or a new one for the requirements; raise without either."""
    for method in steps:
        if isinstance(method, Generalise):
            return method
    if not require:
        raise SchemaError("no requirement is set: add one first, such as k-anonymity with k = 5.")
    return Generalise(require=tuple(require))


def _key(levels: Levels) -> str:
    return "-".join(map(str, levels))


def _first(score: float | tuple[float, ...]) -> float:
    return float(score[0] if isinstance(score, tuple) else score)


def _nearest(centre: Levels, lower: Levels, upper: Levels, most: int) -> list[Levels]:
    """Return up to ``most`` nodes by increasing number of level steps from ``centre``."""
    near = {centre}
    ring = [centre]
    while ring and len(near) < most:
        further: dict[Levels, None] = {}
        for levels in ring:
            for j, level in enumerate(levels):
                for moved in (level - 1, level + 1):
                    if lower[j] <= moved <= upper[j]:
                        further[(*levels[:j], moved, *levels[j + 1 :])] = None
        ring = [levels for levels in further if levels not in near][: most - len(near)]
        near.update(ring)
    return list(near)
