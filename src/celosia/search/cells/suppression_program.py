"""The choice of cells to blank as an integer program, solved by HiGHS: an optimum with proof, or a bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.errors import MissingExtra
from celosia.search.cells.blank_places import Ints, Places, Task

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
