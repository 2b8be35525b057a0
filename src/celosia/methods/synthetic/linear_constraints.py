"""Linear equations and inequalities between columns: parse them, and move records to the nearest feasible points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from celosia.errors import ParameterError, RequirementError, UnknownName
from celosia.kernels.statistics.deviation import deviations
from celosia.table.columns import column_types

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SWEEPS = 5000
_TOLERANCE = 1e-11
_DIGITS = 44  # binary digits that sums of columns may use: with whole-number coefficients they are then exact


@dataclass(frozen=True)
class Constraint:
    """``sum of coefficient × column + constant`` is zero (an equation) or at most zero."""

    text: str
    coefficients: Mapping[str, float]
    constant: float
    equation: bool

    def residual(self, columns: Mapping[str, Floats]) -> Floats | float:
        """Value of the left side, which must be zero or at most zero."""
        total: Floats | float = self.constant
        for name, factor in self.coefficients.items():
            total = total + factor * columns[name]
        return total


def parse_constraint(text: str, names: Sequence[str]) -> Constraint:
    """Parse ``total = a + 2 * b``, ``a <= b`` or ``a >= 0``; names with spaces or signs need no quotes.

    >>> parse_constraint("2 * a - b >= 3", ["a", "b"])
    Constraint(text='2 * a - b >= 3', coefficients={'a': -2.0, 'b': 1.0}, constant=3.0, equation=False)
    """
    parts = re.split(r"(<=|>=|==|=|≤|≥)", text)
    if len(parts) != 3:
        raise ParameterError(f"constraint {text!r} needs one of =, <= and >=, as in: total = wage + other.")
    left, sign, right = parts
    factors: dict[str, float] = {}
    constant = 0.0
    flip = -1.0 if sign in (">=", "≥") else 1.0
    for side, way in ((left, flip), (right, -flip)):
        for name, value in _terms(side, text, names):
            if name is None:
                constant += way * value
            else:
                factors[name] = factors.get(name, 0.0) + way * value
    factors = {name: value for name, value in factors.items() if value != 0.0}
    if not factors:
        raise ParameterError(f"constraint {text!r} names no column.")
    return Constraint(text, factors, constant, sign in ("=", "=="))


def _terms(side: str, text: str, names: Sequence[str]) -> list[tuple[str | None, float]]:
    """Parse one side to terms: (column or None, factor)."""
    columns = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
    number = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+"
    term = re.compile(
        rf"\s*(?P<sign>[+-]?)\s*(?:(?P<factor>{number})\s*\*\s*(?P<a>{columns})|(?P<b>{columns})|(?P<constant>{number}))\s*"
    )
    if not side.strip():
        raise ParameterError(f"constraint {text!r} has an empty side; write 0.")
    terms: list[tuple[str | None, float]] = []
    at = 0
    while at < len(side):
        match = term.match(side, at)
        if match is None or (terms and not match["sign"]):
            word = re.match(r"[\s+-]*([^\s+*=<>-]*)", side[at:])
            raise UnknownName.of("column", word[1] if word else side, names, f"(in the constraint {text!r})")
        value = -1.0 if match["sign"] == "-" else 1.0
        name = match["a"] or match["b"]
        value *= float(match["factor"] or match["constant"] or 1.0)
        terms.append((name, value))
        at = match.end()
    return terms


@dataclass(frozen=True)
class System:
    """Constraints on the columns that may move: ``a y = b`` and ``g y <= h`` for each record."""

    a: Floats
    b: Floats
    g: Floats
    h: Floats
    pivots: Ints
    """The column that each equation is solved for; none of them occurs in another equation."""


def system(constraints: Sequence[Constraint], free: Sequence[str], columns: Mapping[str, Floats]) -> System:
    """Build the matrices of the constraints; the terms of fixed columns go to the right side.

    An equation is solved for a column with a coefficient of one, preferably the only one on its side.
    """
    n = len(next(iter(columns.values())))
    rows: list[tuple[Floats, Floats, bool]] = []
    for constraint in constraints:
        left = np.array([constraint.coefficients.get(name, 0.0) for name in free])
        right = np.full(n, -constraint.constant)
        for name, factor in constraint.coefficients.items():
            if name not in free:
                right = right - factor * columns[name]
        size = np.abs(right).max(initial=1.0)
        if not left.any():
            broken = np.abs(right) > _TOLERANCE * size if constraint.equation else right < -_TOLERANCE * size
            if broken.any():
                raise RequirementError(
                    f"constraint {constraint.text!r} has no column that may change, "
                    f"and {int(broken.sum())} records break it."
                )
            continue
        rows.append((left, right, constraint.equation))
    t = len(free)
    a = np.array([left for left, _, equation in rows if equation]).reshape(-1, t)
    b = np.array([right for _, right, equation in rows if equation]).reshape(-1, n).T
    g = np.array([left for left, _, equation in rows if not equation]).reshape(-1, t)
    h = np.array([right for _, right, equation in rows if not equation]).reshape(-1, n).T
    a, b, pivots = _solve_for_pivots(a.copy(), b.copy())
    return System(a, b, g, h, pivots)


def _solve_for_pivots(a: Floats, b: Floats) -> tuple[Floats, Floats, Ints]:
    """Eliminate by Gauss–Jordan: each equation gets a column of its own with coefficient 1."""
    pivots: list[int] = []
    keep: list[int] = []
    for i in range(len(a)):
        open_columns = [j for j in np.flatnonzero(np.abs(a[i]) > 1e-12) if j not in pivots]
        if not open_columns:
            if (np.abs(b[:, i]) > 1e-9 * np.abs(b).max(initial=1.0)).any():
                raise RequirementError("the equations among the constraints contradict each other.")
            continue
        ones = [j for j in open_columns if abs(a[i, j]) == 1.0] or open_columns
        # the only column on its side has a sign that no other has
        alone = [j for j in ones if (np.sign(a[i]) == np.sign(a[i, j])).sum() == 1]
        p = (alone or ones)[0]
        factor = a[i, p]
        a[i], b[:, i] = a[i] / factor, b[:, i] / factor
        for k in range(len(a)):
            if k != i and a[k, p] != 0:
                b[:, k] -= a[k, p] * b[:, i]
                a[k] -= a[k, p] * a[i]
        pivots.append(int(p))
        keep.append(i)
    return a[keep], b[:, keep], np.array(pivots, dtype=np.int64)


def nearest_feasible(y: Floats, limits: System, scale: Floats, step: Floats) -> Floats:
    r"""Project records on the constraints: :math:`\min \sum_j ((y_j - y^0_j) / s_j)^2` where all of them hold.

    By Dykstra's alternating projections; then all columns but the pivots are rounded to whole multiples of
    ``step`` (a power of two, or 1), and the equations are solved for the pivots, so that they hold to the last digit.

    >>> c = [parse_constraint(s, ["a", "b", "t"]) for s in ("t = a + b", "a >= 0", "b >= 0")]
    >>> limits = system(c, ["a", "b", "t"], {"a": np.zeros(1)})
    >>> nearest_feasible(np.array([[-1.0, 2.0, 2.0]]), limits, np.ones(3), np.full(3, 2.0**-30)).round(6).tolist()
    [[0.0, 2.0, 2.0]]
    """
    single = (limits.g != 0).sum(axis=1) == 1
    on_pivot = np.isin(np.abs(limits.g).argmax(axis=1) if len(limits.g) else np.zeros(0), limits.pivots)
    # a bound of one free column survives rounding; inequalities of several columns need a margin
    margin = np.where(single & ~on_pivot, 0.0, 2 * (np.abs(limits.g) @ step) * (1 + len(limits.a)))
    feasible = y.copy()
    open_rows = np.arange(len(y))
    # first without a margin; at last without a margin again, and inequalities up to rounding
    for factor, slack in ((0.0, 0.0), (1.0, 0.0), (4.0, 0.0), (0.0, _TOLERANCE)):
        part = System(limits.a, limits.b[open_rows], limits.g, limits.h[open_rows], limits.pivots)
        moved = _dykstra(y[open_rows], part, part.h - factor * margin, scale)
        feasible[open_rows] = _round_to_step(moved, part, step, single)
        open_rows = open_rows[broken(feasible[open_rows], part, scale, slack).any(axis=1)]
        if not len(open_rows):
            return feasible
    count = len(open_rows)
    raise RequirementError(
        f"the constraints cannot be met in {count} of {len(y)} records by changing the dependent columns: "
        "they contradict each other or the columns that stay."
    )


def broken(y: Floats, limits: System, scale: Floats, slack: float = 0.0) -> npt.NDArray[np.bool_]:
    """Mask of the equations (up to rounding) and inequalities (up to ``slack``) that do not hold, by record."""
    size = float(scale.max(initial=1.0))
    equations = np.abs(y @ limits.a.T - limits.b) > 1e-9 * size
    return np.hstack([equations, y @ limits.g.T - limits.h > slack * size])


def _dykstra(y: Floats, limits: System, h: Floats, scale: Floats) -> Floats:
    weight = scale**2
    a, b = limits.a, limits.b
    lift = (weight[:, None] * a.T) @ np.linalg.pinv(a @ (weight[:, None] * a.T)) if len(a) else None
    current = y.copy()
    corrections = [np.zeros_like(y) for _ in range(len(limits.g))]
    for _ in range(_SWEEPS):
        before = current.copy()
        if lift is not None:
            current = current - (current @ a.T - b) @ lift.T
        for j, row in enumerate(limits.g):
            moved = current + corrections[j]
            over = np.maximum(moved @ row - h[:, j], 0.0) / float(row @ (weight * row))
            current = moved - over[:, None] * (weight * row)
            corrections[j] = moved - current
        if np.abs((current - before) / scale).max(initial=0.0) < _TOLERANCE:
            break
    return current


def _round_to_step(y: Floats, limits: System, step: Floats, single: npt.NDArray[np.bool_]) -> Floats:
    """Round all but the pivots, clip them to their own bounds, and solve the equations for the pivots."""
    rounded = np.rint(y / step) * step
    for j in np.flatnonzero(single):
        column = int(np.flatnonzero(limits.g[j])[0])
        bound = limits.h[:, j] / limits.g[j, column]
        # the next multiple of the step on the right side of the bound
        if limits.g[j, column] > 0:
            rounded[:, column] = np.minimum(rounded[:, column], np.floor(bound / step[column]) * step[column])
        else:
            rounded[:, column] = np.maximum(rounded[:, column], np.ceil(bound / step[column]) * step[column])
    for i, p in enumerate(limits.pivots):
        others = limits.a[i].copy()
        others[p] = 0.0
        rounded[:, p] = limits.b[:, i] - rounded @ others
    return rounded


def keep_constraints(
    who: str, table: Table, dependent: Sequence[str], constraints: Sequence[str], *, whole: bool
) -> tuple[Table, int]:
    """Move the dependent columns of each record to the nearest feasible values; also count the records that move."""
    from celosia.methods.bases.cells import as_column, refuse_missing

    numeric = [name for name in table.names if column_types(table)[name].is_numeric()]
    read = [parse_constraint(text, numeric) for text in constraints]
    used = list(dict.fromkeys(name for constraint in read for name in constraint.coefficients))
    free = [name for name in dependent if name in used]
    if not free:
        raise RequirementError(f"{who}: no constraint names a dependent column.")
    columns = {name: table.numeric([name])[:, 0] for name in used}
    refuse_missing(who, np.column_stack(list(columns.values())), "a constraint needs all of them; fill them in first.")
    y = np.column_stack([columns[name] for name in free])
    limits = system(read, free, columns)
    spread = deviations(y)
    scale = np.where(spread > 0, spread, 1.0)
    largest = max(float(np.abs(values).max(initial=1.0)) for values in columns.values())
    fine = 2.0 ** (np.floor(np.log2(max(largest, 1.0))) - _DIGITS)
    whole_columns = [whole and table.column(name).dtype.is_integer() for name in free]
    moved_values = nearest_feasible(y, limits, scale, np.where(whole_columns, 1.0, fine))
    moved = int((np.abs(moved_values - y) > 1e-9 * scale).any(axis=1).sum())
    new: dict[str, pl.Series | Floats] = {}
    for j, name in enumerate(free):
        new[name] = as_column(table.column(name), moved_values[:, j]) if whole_columns[j] else moved_values[:, j]
    return table.replace(new), moved
