"""Choose the cells to blank so that every record is like enough others, and prove how near to the fewest they
are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.search.cells.blank_places import (
    PAIRS,
    Ints,
    Reading,
    Task,
    frequencies,
    gathering_places,
    masks,
    person_counts,
    row_ids,
    targets,
    wildcard_places,
)

Lack = Callable[[NDArray[np.float64], NDArray[np.float64]], Ints]
"""How many matches a pattern is short of, from its frequency and the summed weights of its matches."""


@dataclass(frozen=True, eq=False)
class Choice:
    """So many records of each pattern lose the columns of a mask; with what is proven about the cost."""

    pattern: Ints
    mask: NDArray[np.bool_]
    records: Ints
    bound: float = 0.0
    optimal: bool = False


@dataclass(frozen=True, eq=False)
class Blanking:
    """The cells to blank, their summed weights, and a proven bound on what any choice under the same rules
    costs.
    """

    cells: NDArray[np.bool_]
    cost: float
    bound: float
    optimal: bool


@dataclass(frozen=True, eq=False)
class Goal:
    """What every record must reach: so many rows alike, a risk, or so many persons."""

    rows: int
    """Rows that are surely enough."""
    lack: Lack | None = None
    sampling: NDArray[np.float64] | None = None
    k: int = 0
    persons: NDArray[np.int32] | None = None

    def short(self, patterns: NDArray[np.int32], ids: Ints, nothing: NDArray[np.bool_], reading: Reading) -> Ints:
        """How many matches each pattern is short of; records that show ``nothing`` are no match."""
        if self.persons is not None:
            seen = ~nothing[ids]
            owners = int(self.persons.max(initial=0)) + 1
            pattern, person = np.divmod(np.unique(ids[seen] * owners + self.persons[seen]), owners)
            persons = person_counts(patterns, pattern, person, reading)
            return np.maximum(self.k - persons, 0).astype(np.int64)
        counts = np.bincount(ids, minlength=len(patterns))
        records = frequencies(patterns, counts * ~nothing, reading)
        if self.lack is None:
            return np.maximum(self.rows - records, 0).astype(np.int64)
        held = np.bincount(ids, weights=self.sampling) * ~nothing
        return self.lack(records, frequencies(patterns, held, reading))


def rows_of(persons: NDArray[np.int32], k: int) -> int:
    """So many rows, whichever they are, have ``k`` owners at least.

    >>> rows_of(np.array([0, 0, 0, 1, 1, 2]), 2)
    4
    """
    return int(np.sort(np.bincount(persons))[::-1][: k - 1].sum()) + 1


def blank_cells(
    codes: NDArray[np.int32],
    k: int,
    reading: Reading,
    *,
    weights: Sequence[float],
    blocks: Sequence[Sequence[int]],
    subsets: Sequence[Sequence[int]] | None = None,
    fixed: NDArray[np.int32] | None = None,
    lack: Lack | None = None,
    sampling: NDArray[np.float64] | None = None,
    persons: NDArray[np.int32] | None = None,
    seconds: float | None = None,
) -> Blanking:
    """Blank few cells so that each record has frequency ``k`` on every subset of the columns (all columns,
    unless given).

    ``blocks`` are columns that are blanked together; ``fixed`` is a column that is never blanked and within
    which records are compared (a stratum). ``lack`` replaces the test ``frequency < k`` by another (an
    individual risk), ``k`` is then what is surely enough. With ``persons``, the owner of each record, ``k`` counts
    persons. With ``seconds`` an integer program is solved within that time and its proof returned; persons who own
    several records are not part of the program, so nothing is proven for them.

    Every choice is checked by counting again. Under ``wildcard`` blanking never lowers a frequency; in the
    other readings a subset may have to be visited again. What is enough for all columns is nearly always enough
    for each subset (a record that is empty on a subset is no company there), and can be cheaper than visiting
    the subsets alone: the cheaper of both answers is taken.
    """
    every = [tuple(range(codes.shape[1]))]
    goal = Goal(k, lack, sampling) if persons is None else Goal(rows_of(persons, k), None, None, k, persons)

    def on(wanted: Sequence[Sequence[int]]) -> Blanking:
        return _visit(codes, wanted, _Wish(goal, reading, weights, blocks, fixed, seconds))

    if subsets is None or len(subsets) == 0:
        return on(every)
    parts = on(subsets)
    if len(subsets) == 1 or lack is not None:
        return parts
    whole = on([*every, *subsets])
    return parts if parts.cost <= whole.cost else Blanking(whole.cells, whole.cost, 0.0, optimal=False)


def joined(parts: Sequence[Ints], blankings: Sequence[Blanking]) -> Blanking:
    """The answers for parts of the records that are not compared with each other, as one."""
    cells = np.concatenate([blanking.cells for blanking in blankings])
    back = np.argsort(np.concatenate(parts), kind="stable")
    cost, bound = sum(blanking.cost for blanking in blankings), sum(blanking.bound for blanking in blankings)
    return Blanking(cells[back], cost, bound, all(blanking.optimal for blanking in blankings))


@dataclass(frozen=True, eq=False)
class _Wish:
    """What the blanking of a table must reach, and what it may cost."""

    goal: Goal
    reading: Reading
    weights: Sequence[float]
    blocks: Sequence[Sequence[int]]
    fixed: NDArray[np.int32] | None
    seconds: float | None


def _visit(codes: NDArray[np.int32], subsets: Sequence[Sequence[int]], wish: _Wish) -> Blanking:
    """Visit the subsets in turn until none of them lacks anything."""
    work = np.array(codes, np.int32, order="C")
    todo = [sorted(subset) for subset in subsets]
    bound, optimal = 0.0, True
    again = True
    rounds = 0
    while again:
        again = False
        for subset in todo:
            while (choice := _step(work, subset, wish)) is not None:
                again = len(todo) > 1
                bound = choice.bound if rounds == 0 else bound  # later rounds start from changed records
                rounds += 1
                optimal = optimal and choice.optimal
    cells = (work < 0) & (codes >= 0)
    proven = rounds == 0 or (rounds == 1 and optimal and wish.goal.persons is None)
    bound = bound if wish.goal.persons is None else 0.0
    cost = float((cells @ np.asarray(wish.weights, np.float64)).sum())
    return Blanking(cells, cost, cost if proven else bound, proven)


def _step(work: NDArray[np.int32], subset: Sequence[int], wish: _Wish) -> Choice | None:
    """Blank cells of the records that lack company on one subset; ``None`` when there are none."""
    goal, reading, fixed = wish.goal, wish.reading, wish.fixed
    here = work[:, list(subset)]
    if fixed is not None:
        here = np.column_stack([here, fixed])
    ids = row_ids(here)
    _, first, counts = np.unique(ids, return_index=True, return_counts=True)
    patterns = np.ascontiguousarray(here[first], np.int32)
    # where blanks match anything, a record of nothing but blanks lacks nothing and must help nobody
    nothing = np.zeros(len(first), np.bool_)
    if reading != "category":
        nothing |= (patterns[:, : len(subset)] < 0).all(axis=1)
    short = goal.short(patterns, ids, nothing, reading)
    short[nothing] = 0
    if not short.any():
        return None
    inside = [[subset.index(j) for j in block if j in subset] for block in wish.blocks]
    inside = [block for block in inside if block]
    cost = np.array([*(wish.weights[j] for j in subset), *([0.0] if fixed is not None else [])])
    sets = masks(inside, cost, here.shape[1])
    every = len(sets) == 2 ** len(inside) - 1
    task = Task(patterns, counts, short > 0, short, goal.rows, sets, cost, reading, every)
    choice = choose(task, wish.seconds)
    before = int((work < 0).sum())
    _apply(work, list(subset), wish.blocks, ids, counts, choice)
    if int((work < 0).sum()) == before:
        raise RuntimeError("local suppression: a round blanked nothing although records lack company.")
    return choice


def _apply(
    work: NDArray[np.int32],
    subset: list[int],
    blocks: Sequence[Sequence[int]],
    ids: Ints,
    counts: Ints,
    choice: Choice,
) -> None:
    """Blank the chosen cells; of equal records the first ones. Columns linked to a blanked one follow."""
    order = np.argsort(ids, kind="stable")
    by_pattern = np.argsort(choice.pattern, kind="stable")
    pattern, number = choice.pattern[by_pattern], choice.records[by_pattern]
    before = np.cumsum(number) - number
    same = np.maximum.accumulate(np.where(np.diff(pattern, prepend=-1) != 0, np.arange(len(pattern)), 0))
    offset = (np.cumsum(counts) - counts)[pattern] + before - before[same]
    rows = order[np.repeat(offset - before, number) + np.arange(number.sum())]
    blank = np.zeros((len(choice.pattern), work.shape[1]), np.bool_)
    blank[:, subset] = choice.mask[by_pattern][:, : len(subset)]
    lost = np.repeat(blank, number, axis=0) & (work[rows] >= 0)
    for block in blocks:  # only a cell that is lost here takes others along, not one that was missing before
        lost[:, list(block)] |= lost[:, list(block)].any(axis=1, keepdims=True)
    work[rows] = np.where(lost, np.int32(-1), work[rows])


def choose(task: Task, seconds: float | None = None) -> Choice:
    """Choose moves greedily; with a time limit, solve the integer program and keep its answer when it is
    proven.

    A proof is about all sets of columns, so it is tried only where all of them can be looked at.
    """
    from celosia.kernels.search.gathering import gather
    from celosia.kernels.search.local_suppression import cover

    exact = seconds is not None and task.every and len(task.masks) * int(task.lacking.sum()) <= PAIRS
    base = np.zeros(0, np.int64)
    if task.reading == "wildcard":
        places, able = wildcard_places(task, np.inf) if exact else wildcard_places(task)
        moved = cover(places.moves(), able, task.counts, task.lack)
    else:
        places, base = gathering_places(task, np.inf) if exact else gathering_places(task)
        must = np.where(task.lacking, task.counts, 0)
        moved = gather(places.moves(), base, must, task.spare, task.k)
        able = np.ones(len(moved), np.bool_)
    if not moved.any():
        return replace(choose(company(task), seconds), bound=0.0, optimal=False)
    bound, optimal = 0.0, False
    if exact and seconds is not None:
        from celosia.search.cells.suppression_program import solve

        best, bound, optimal = solve(task, places, able, base, moved, seconds)
        moved = best if optimal else moved
    used = moved > 0
    return Choice(places.pattern[used], targets(task)[places.mask[used]], moved[used], bound, optimal)


def company(task: Task) -> Task:
    """Let the class nearest to each lacking pattern move as a whole: no record can be spared one by one."""
    lacking = task.lacking.copy()
    fixed = ~task.masks.any(axis=0)
    for p in np.flatnonzero(task.lacking):
        gap = ((task.codes != task.codes[p]) @ task.weights).astype(np.float64)
        gap[lacking | (task.codes[:, fixed] != task.codes[p, fixed]).any(axis=1)] = np.inf
        if np.isfinite(gap).any():
            lacking[int(np.argmin(gap))] = True
    if (lacking == task.lacking).all():
        raise AssertionError(
            "no records left to share a place with; the caller must check k against the number of records"
        )
    return replace(task, lacking=lacking)
