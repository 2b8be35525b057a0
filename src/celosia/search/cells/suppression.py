"""Choose the fewest cells to blank so that every record is frequent enough, with a lower bound on their cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import MissingExtra
from celosia.search.cells.blank_places import (
    PAIRS,
    Ints,
    Places,
    Reading,
    Task,
    frequencies,
    gathering_places,
    masks,
    person_counts,
    row_ids,
    target_masks,
    wildcard_places,
)

Lack = Callable[[NDArray[np.float64], NDArray[np.float64]], Ints]
"""Number of matches a pattern is short of, from its frequency and the summed weights of its matches."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Moves to make: ``records`` of ``pattern`` are blanked in the columns of ``mask``; with a bound on the cost."""

    pattern: Ints
    mask: NDArray[np.bool_]
    records: Ints
    bound: float = 0.0
    optimal: bool = False


@dataclass(frozen=True, eq=False)
class Blanking:
    """The cells to blank, their cost, and a proven lower bound on the cost of any choice under the same rules."""

    cells: NDArray[np.bool_]
    cost: float
    bound: float
    optimal: bool


@dataclass(frozen=True, eq=False)
class Goal:
    """Requirement on every record: a number of equal rows, a risk, or a number of persons."""

    rows: int
    """Number of equal rows that always suffices."""
    lack: Lack | None = None
    sampling: NDArray[np.float64] | None = None
    k: int = 0
    persons: NDArray[np.int32] | None = None

    def short(self, patterns: NDArray[np.int32], ids: Ints, nothing: NDArray[np.bool_], reading: Reading) -> Ints:
        """Return how many matches each pattern is short of; records that show ``nothing`` are no match."""
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


def rows_needed(persons: NDArray[np.int32], k: int) -> int:
    """Return the number of rows that have at least ``k`` persons, whichever rows they are.

    >>> rows_needed(np.array([0, 0, 0, 1, 1, 2]), 2)
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
    """Blank few cells so that each record has frequency ``k`` on every subset of the columns.

    Without ``subsets`` the only one is all columns.

    ``blocks`` are columns that are blanked together; ``fixed`` is a column that is never blanked and within
    which records are compared (a stratum). ``lack`` replaces the test ``frequency < k`` by another (an
    individual risk); ``k`` is then a frequency that always suffices. With ``persons``, the person of each record,
    ``k`` counts persons. With ``seconds`` an integer program is solved within that time and its proof returned;
    persons who own several records are not part of the program, so nothing is proven for them.

    Every choice is checked by counting again. Under ``wildcard`` blanking never lowers a frequency; in the
    other readings a subset may have to be visited again. What is enough for all columns is nearly always enough
    for each subset (a record that is blank on a subset matches nothing there), and can be cheaper than visiting
    the subsets alone: the cheaper of both answers is taken.
    """
    every = [tuple(range(codes.shape[1]))]
    goal = Goal(k, lack, sampling) if persons is None else Goal(rows_needed(persons, k), None, None, k, persons)

    def on(wanted: Sequence[Sequence[int]]) -> Blanking:
        return _visit(codes, wanted, _Setting(goal, reading, weights, blocks, fixed, seconds))

    if subsets is None or len(subsets) == 0:
        return on(every)
    parts = on(subsets)
    if len(subsets) == 1 or lack is not None:
        return parts
    whole = on([*every, *subsets])
    return parts if parts.cost <= whole.cost else Blanking(whole.cells, whole.cost, 0.0, optimal=False)


def concatenate(parts: Sequence[Ints], blankings: Sequence[Blanking]) -> Blanking:
    """Combine the results for parts of the records that are not compared with each other."""
    cells = np.concatenate([blanking.cells for blanking in blankings])
    back = np.argsort(np.concatenate(parts), kind="stable")
    cost, bound = sum(blanking.cost for blanking in blankings), sum(blanking.bound for blanking in blankings)
    return Blanking(cells[back], cost, bound, all(blanking.optimal for blanking in blankings))


@dataclass(frozen=True, eq=False)
class _Setting:
    """Parameters of one call: the requirement, the reading of blanks, and the costs."""

    goal: Goal
    reading: Reading
    weights: Sequence[float]
    blocks: Sequence[Sequence[int]]
    fixed: NDArray[np.int32] | None
    seconds: float | None


def _visit(codes: NDArray[np.int32], subsets: Sequence[Sequence[int]], setting: _Setting) -> Blanking:
    """Visit the subsets in turn until none of them lacks anything."""
    work = np.array(codes, np.int32, order="C")
    todo = [sorted(subset) for subset in subsets]
    bound, optimal = 0.0, True
    again = True
    rounds = 0
    while again:
        again = False
        for subset in todo:
            while (choice := _step(work, subset, setting)) is not None:
                again = len(todo) > 1
                bound = choice.bound if rounds == 0 else bound  # later rounds start from changed records
                rounds += 1
                optimal = optimal and choice.optimal
    cells = (work < 0) & (codes >= 0)
    proven = rounds == 0 or (rounds == 1 and optimal and setting.goal.persons is None)
    bound = bound if setting.goal.persons is None else 0.0
    cost = float((cells @ np.asarray(setting.weights, np.float64)).sum())
    return Blanking(cells, cost, cost if proven else bound, proven)


def _step(work: NDArray[np.int32], subset: Sequence[int], setting: _Setting) -> Choice | None:
    """Blank cells of the records that are too rare on one subset; return ``None`` when there are none."""
    goal, reading, fixed = setting.goal, setting.reading, setting.fixed
    here = work[:, list(subset)]
    if fixed is not None:
        here = np.column_stack([here, fixed])
    ids = row_ids(here)
    _, first, counts = np.unique(ids, return_index=True, return_counts=True)
    patterns = np.ascontiguousarray(here[first], np.int32)
    # where blanks match anything, an all-blank record lacks nothing and must not count as a match of others
    nothing = np.zeros(len(first), np.bool_)
    if reading != "category":
        nothing |= (patterns[:, : len(subset)] < 0).all(axis=1)
    short = goal.short(patterns, ids, nothing, reading)
    short[nothing] = 0
    if not short.any():
        return None
    inside = [[subset.index(j) for j in block if j in subset] for block in setting.blocks]
    inside = [block for block in inside if block]
    cost = np.array([*(setting.weights[j] for j in subset), *([0.0] if fixed is not None else [])])
    sets = masks(inside, cost, here.shape[1])
    every = len(sets) == 2 ** len(inside) - 1
    task = Task(patterns, counts, short > 0, short, goal.rows, sets, cost, reading, every)
    choice = choose(task, setting.seconds)
    before = int((work < 0).sum())
    _apply(work, list(subset), setting.blocks, ids, counts, choice)
    if int((work < 0).sum()) == before:
        raise RuntimeError("local suppression: a round blanked nothing although some records are too rare.")
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
    for block in blocks:  # a cell blanked here blanks the linked ones, a cell that was missing before does not
        lost[:, list(block)] |= lost[:, list(block)].any(axis=1, keepdims=True)
    work[rows] = np.where(lost, np.int32(-1), work[rows])


def choose(task: Task, seconds: float | None = None) -> Choice:
    """Choose moves greedily; with a time limit, solve the integer program and keep its answer when it is proven.

    A proof is about all sets of columns, so it is tried only where all of them can be listed.
    """
    from celosia.kernels.search.gather import gather
    from celosia.kernels.search.local_suppression import cover

    exact = seconds is not None and task.every and len(task.masks) * int(task.lacking.sum()) <= PAIRS
    base = np.zeros(0, np.int64)
    if task.reading == "wildcard":
        places, able = wildcard_places(task, np.inf) if exact else wildcard_places(task)
        moved = cover(places.as_moves(), able, task.counts, task.lack)
    else:
        places, base = gathering_places(task, np.inf) if exact else gathering_places(task)
        must = np.where(task.lacking, task.counts, 0)
        moved = gather(places.as_moves(), base, must, task.spare, task.k)
        able = np.ones(len(moved), np.bool_)
    if not moved.any():
        return replace(choose(move_nearest_classes(task), seconds), bound=0.0, optimal=False)
    bound, optimal = 0.0, False
    if exact and seconds is not None:
        best, bound, optimal = solve(task, places, able, base, moved, seconds)
        moved = best if optimal else moved
    used = moved > 0
    return Choice(places.pattern[used], target_masks(task)[places.mask[used]], moved[used], bound, optimal)


def move_nearest_classes(task: Task) -> Task:
    """Return the task in which the class nearest to each rare pattern may move as a whole.

    It is needed where no class can spare single records.
    """
    lacking = task.lacking.copy()
    fixed = ~task.masks.any(axis=0)
    for p in np.flatnonzero(task.lacking):
        gap = ((task.codes != task.codes[p]) @ task.weights).astype(np.float64)
        gap[lacking | (task.codes[:, fixed] != task.codes[p, fixed]).any(axis=1)] = np.inf
        if np.isfinite(gap).any():
            lacking[int(np.argmin(gap))] = True
    if (lacking == task.lacking).all():
        raise AssertionError(
            "no records are left to share a place with; the caller must check k against the number of records"
        )
    return replace(task, lacking=lacking)


Floats = NDArray[np.float64]


class Rows:
    """Rows of a constraint matrix, collected as index, value and bounds."""

    def __init__(self) -> None:
        self.starts: list[int] = [0]
        self.index: list[Ints] = []
        self.value: list[Floats] = []
        self.lower: list[float] = []
        self.upper: list[float] = []

    def add(self, index: Ints, value: Floats, lower: float, upper: float = np.inf) -> None:
        """Add one row: lower ≤ value · x[index] ≤ upper."""
        self.index.append(index)
        self.value.append(value)
        self.starts.append(self.starts[-1] + len(index))
        self.lower.append(lower)
        self.upper.append(upper)


def solve(
    task: Task, places: Places, able: NDArray[np.bool_], base: Ints, start: Ints, seconds: float
) -> tuple[Ints, float, bool]:
    r"""Minimise the weighted cells over all moves between the given places.

    With :math:`z_e` records moving by entry e, :math:`t_g` their sum at place g, for ``wildcard``
    (:math:`u_p`: pattern p moves wholly)

    .. math::

        \sum_{e \in p} z_e \ge n_p u_p, \qquad
        \sum_{e \in p} (t_{g(e)} - z_e) + \text{lack}_p\, u_p \ge \text{lack}_p

    and for the other readings (:math:`y_g`: place g is used)

    .. math:: \sum_{e \in p} z_e = n_p, \qquad t_g + \text{base}_g \ge k\, y_g, \qquad z_e \le n_{p(e)}\, y_g

    with at most ``spare`` records lent by large classes. Returns the moves, the proven bound on the cost and
    whether the moves reach it.
    """
    try:
        import highspy
    except ImportError:
        raise MissingExtra.of("an exact choice of cells", "solver") from None

    entries, groups = len(places.pattern), len(places.start) - 1
    rows = Rows()
    limit = np.where(task.lacking, task.counts, task.spare)[places.pattern].astype(np.float64)
    if task.reading == "wildcard":
        lower, upper, cost = _cover_rows(task, places, np.where(able, limit, 0.0), rows)
    else:
        lower, upper, cost = _gather_rows(task, places, base, limit, rows)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(rows.lower)
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.row_lower_, program.row_upper_ = np.array(rows.lower), np.array(rows.upper)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.array(rows.starts)
    program.a_matrix_.index_ = np.concatenate(rows.index)
    program.a_matrix_.value_ = np.concatenate(rows.value)
    program.integrality_ = [highspy.HighsVarType.kInteger] * len(cost)
    solver = highspy.Highs()
    for name, option in {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": 0.0,
        "time_limit": seconds,
    }.items():
        solver.setOptionValue(name, option)
    solver.passModel(program)
    # a first solution to improve: the greedy one (HiGHS completes the other variables)
    first = highspy.HighsSolution()
    first.col_value = [*start.astype(float), *np.bincount(places.place, weights=start, minlength=groups)][: len(cost)]
    first.col_value += [0.0] * (len(cost) - len(first.col_value))
    solver.setSolution(first)
    solver.run()
    info = solver.getInfo()
    start_cost = float((start * places.cost).sum())
    bound = max(0.0, float(info.mip_dual_bound)) if np.isfinite(info.mip_dual_bound) else 0.0
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    if not optimal:
        return start, min(bound, start_cost), False
    return (
        np.rint(np.array(solver.getSolution().col_value)[:entries]).astype(np.int64),
        float(info.objective_function_value),
        True,
    )


def _cover_rows(task: Task, places: Places, limit: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
    entries, groups = len(places.pattern), len(places.start) - 1
    lacking = np.flatnonzero(task.lacking)
    for g in range(groups):
        inside = np.arange(places.start[g], places.start[g + 1])
        rows.add(np.append(inside, entries + g), np.append(np.ones(len(inside)), -1.0), 0.0, 0.0)
    for i, p in enumerate(lacking):
        own = places.place_at[places.of_pattern[p] : places.of_pattern[p + 1]]
        wholly, number, lack = entries + groups + i, float(task.counts[p]), float(task.lack[p])
        rows.add(np.append(own, wholly), np.append(np.ones(len(own)), -number), 0.0)
        rows.add(own, np.ones(len(own)), 0.0, number)
        helped = np.concatenate([entries + places.place[own], own, [wholly]])
        rows.add(helped, np.concatenate([np.ones(len(own)), -np.ones(len(own)), [lack]]), lack)
    upper = np.concatenate([limit, np.full(groups, float(limit.sum())), np.ones(len(lacking))])
    return np.zeros(len(upper)), upper, np.concatenate([places.cost, np.zeros(groups + len(lacking))])


def _gather_rows(task: Task, places: Places, base: Ints, limit: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
    entries, groups = len(places.pattern), len(places.start) - 1
    for p in np.unique(places.pattern):
        own = places.place_at[places.of_pattern[p] : places.of_pattern[p + 1]]
        number = float(task.counts[p] if task.lacking[p] else task.spare[p])
        rows.add(own, np.ones(len(own)), number if task.lacking[p] else 0.0, number)
    place = places.place
    for g in np.flatnonzero(base < task.k):
        inside = np.arange(places.start[g], places.start[g + 1])
        rows.add(np.append(inside, entries + g), np.append(np.ones(len(inside)), -float(task.k - base[g])), 0.0)
    for e in np.flatnonzero(base[place] < task.k):
        rows.add(np.array([entries + place[e], e]), np.array([limit[e], -1.0]), 0.0)
    upper = np.concatenate([limit, np.ones(groups)])
    return np.zeros(len(upper)), upper, np.concatenate([places.cost, np.zeros(groups)])
