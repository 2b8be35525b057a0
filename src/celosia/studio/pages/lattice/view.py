"""The lattice of hierarchy levels, to look around in: judged nodes, their neighbours, what choosing one means.

Every answer comes from the evaluator of the search itself, on the full data.
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
"""Alternatives in the table."""
DRAWN = 160
"""Nodes in the picture: with more of them nothing can be seen or clicked."""


@dataclass(frozen=True)
class Node:
    """One combination of levels and what is known about it."""

    levels: Levels
    state: State
    loss: float | None = None
    shade: float | None = None
    """Where its loss lies between the least (0) and the greatest (1) that was found."""
    suppressed: int | None = None
    share: float | None = None
    """The share of the records that would be suppressed."""
    classes: int | None = None

    @property
    def key(self) -> str:
        """The levels as a text, for links and forms.

        >>> Node((2, 0, 1), "safe").key
        '2-0-1'
        """
        return _key(self.levels)


@dataclass(frozen=True)
class Move:
    """A neighbour: one level of one column up or down."""

    column: str
    node: Node


@dataclass(frozen=True)
class ColumnAt:
    """What a column shows at a level."""

    name: str
    level: int
    height: int
    detail: Detail
    """The level, to be told in a language: ``ranges of 10``, ``year``, ``as it is``."""
    labels: int
    """Different labels that are left."""
    example: str
    """The label that most records have; empty where the level shows the cells themselves."""


@dataclass(frozen=True)
class Wish:
    """A requirement and the value that the classes which are kept reach."""

    text: str
    value: float | None
    holds: bool


@dataclass(frozen=True)
class Consequences:
    """What choosing a node means."""

    node: Node
    columns: tuple[ColumnAt, ...]
    wishes: tuple[Wish, ...]
    kept: int
    limit: int
    finer: tuple[Move, ...]
    coarser: tuple[Move, ...]


@dataclass(frozen=True)
class Summary:
    """The whole lattice in a few numbers."""

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
    """A searched lattice that answers questions about its nodes; remembers every node that it judged."""

    lattice: LevelLattice
    result: SearchResult
    require: tuple[Model, ...]
    objective: str
    _checks: dict[Levels, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, method: Generalise) -> Landscape:
        """Search all levels of a table for a generalisation, whatever levels it has fixed."""
        free = method.model_copy(update={"levels": {}})
        lattice = free.lattice(table)
        seconds = method.budget_seconds or patience(lattice.lower, lattice.upper)
        lower, upper = lattice.lower, lattice.upper
        result = search(lattice.evaluator, lower, upper, seconds=seconds, most=method.budget_nodes)
        objective = grammar.show(build("loss", DEFAULT if method.objective is None else method.objective).spec())
        judged = {check.levels: check for check in result.evaluations}
        return cls(lattice, result, method.require, "costs" if method.costs else objective, judged)

    def summary(self) -> Summary:
        """The size of the lattice, what was judged, and the best node."""
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
        """The quasi-identifiers in the order of the levels."""
        return tuple(self.lattice.coded.domain.names)

    @property
    def start(self) -> Levels:
        """Where to begin to look: the best node, or the coarsest."""
        return self.result.upper if self.result.best is None else self.result.best.levels

    def levels(self, key: str) -> Levels:
        """Read the text of a node; one that is not in the lattice is refused."""
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
        """The node that a step has fixed, where it fixes one level for every column."""
        if set(fixed) != set(self.names) or not all(isinstance(level, int) for level in fixed.values()):
            return None
        return self.levels("-".join(str(fixed[name]) for name in self.names))

    def look(self, levels: Levels) -> Evaluation:
        """Judge a node, once."""
        if levels not in self._checks:
            self._checks[levels] = self.lattice.evaluator.evaluate(levels)
        return self._checks[levels]

    def node(self, levels: Levels) -> Node:
        """What is known about a node without judging it."""
        check = self._checks.get(levels)
        if check is None:
            return Node(levels, "unsafe" if self._refused(levels) else "unknown")
        best = self.result.best
        state: State = "best" if best is not None and levels == best.levels else "safe" if check.holds else "unsafe"
        loss = _first(check.score)
        low, high = self._range()
        shade = 0.0 if high <= low else min(1.0, max(0.0, (loss - low) / (high - low)))
        total = max(1, len(self.lattice.coded.records))
        return Node(levels, state, loss, shade, check.suppressed, check.suppressed / total, check.classes)

    def consequences(self, levels: Levels) -> Consequences:
        """Judge a node and tell what each column shows there, what is suppressed, and where one can go from it."""
        check = self.look(levels)
        total = len(self.lattice.coded.records)
        return Consequences(
            self.node(levels),
            tuple(self._column(j, level) for j, level in enumerate(levels)),
            self._wishes(levels),
            total - check.suppressed,
            self.lattice.evaluator.limit,
            self._moves(levels, -1),
            self._moves(levels, +1),
        )

    def alternatives(self, most: int = LISTED) -> tuple[Node, ...]:
        """The judged nodes that hold, least loss first."""
        safe = [check for check in self._checks.values() if check.holds]
        ranked = sorted(safe, key=lambda check: (check.score, check.suppressed, check.levels))
        return tuple(self.node(check.levels) for check in ranked[:most])

    def drawn(self, centre: Levels, most: int = DRAWN) -> tuple[Node, ...]:
        """The nodes of the picture: all of a small lattice, else those nearest to a node; finest first."""
        spans = [range(low, high + 1) for low, high in zip(self.result.lower, self.result.upper, strict=True)]
        if self.result.nodes <= most:
            grid = np.stack(np.meshgrid(*spans, indexing="ij"), axis=-1).reshape(-1, len(spans)).tolist()
            near = [tuple(levels) for levels in grid]
        else:
            near = _nearest(centre, self.result.lower, self.result.upper, most)
        return tuple(self.node(levels) for levels in sorted(near, key=lambda levels: (sum(levels), levels)))

    def judge(self, centre: Levels, seconds: float) -> None:
        """Judge what is drawn around a node and not known yet, for so many seconds at most."""
        end = time.monotonic() + seconds
        for node in self.drawn(centre):
            if node.state == "unknown" and time.monotonic() < end:
                self.look(node.levels)

    def _moves(self, levels: Levels, step: int) -> tuple[Move, ...]:
        moves = []
        for j, name in enumerate(self.names):
            level = levels[j] + step
            if self.result.lower[j] <= level <= self.result.upper[j]:
                moved = (*levels[:j], level, *levels[j + 1 :])
                self.look(moved)
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

    def _wishes(self, levels: Levels) -> tuple[Wish, ...]:
        counts = self.lattice.evaluator.kept_counts(levels)
        if not len(counts):
            return tuple(Wish(describe(model), None, False) for model in self.require)
        return tuple(
            Wish(describe(model), float(model.score(counts)), model.measure(counts).holds) for model in self.require
        )

    def _refused(self, levels: Levels) -> bool:
        """Whether a coarser node that was judged shows that this one must suppress more than is allowed."""
        limit = self.lattice.evaluator.limit
        return any(
            check.certain > limit and all(a >= b for a, b in zip(check.levels, levels, strict=True))
            for check in self._checks.values()
        )

    def _range(self) -> tuple[float, float]:
        losses = [_first(check.score) for check in self._checks.values()]
        return min(losses, default=0.0), max(losses, default=0.0)


def generalisation(require: Sequence[Model], steps: Sequence[Any]) -> Generalise:
    """The first step that generalises, or the one that the requirements ask for; refused where nothing is required.

    ``steps`` are methods; those of other kinds are passed over.
    """
    for method in steps:
        if isinstance(method, Generalise):
            return method
    if not require:
        raise SchemaError("no requirement is set: say first what must hold, such as k-anonymity with k = 5.")
    return Generalise(require=tuple(require))


def _key(levels: Levels) -> str:
    return "-".join(map(str, levels))


def _first(score: Any) -> float:
    return float(score[0] if isinstance(score, tuple) else score)


def _nearest(centre: Levels, lower: Levels, upper: Levels, most: int) -> list[Levels]:
    """The nodes that differ least from a node, in rings of one more level."""
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
