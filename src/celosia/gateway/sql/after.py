"""Post-processing: arithmetic on noisy numbers, with intervals and standard errors. It costs no budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

Interval = tuple[float, float]
Scalar = bool | int | float | str | None
"""A key, a noisy number, or what is computed from them; None where it is unknown."""


@dataclass(frozen=True)
class Cell:
    """One line of noisy numbers: the keys, the numbers, their variances and the half widths of their intervals."""

    keys: tuple[Scalar, ...]
    numbers: tuple[float | None, ...]
    variances: tuple[float, ...]
    halves: tuple[float, ...]

    def shift(self, index: int, by: float) -> Cell:
        """Return the line with one number changed by ``by``, for derivatives."""
        numbers = list(self.numbers)
        numbers[index] = (numbers[index] or 0.0) + by
        return Cell(self.keys, tuple(numbers), self.variances, self.halves)


@dataclass(frozen=True)
class After:
    """An expression over a line: ``op`` with its arguments (other expressions) and constants."""

    op: str
    args: tuple[After, ...] = ()
    constants: tuple[Scalar, ...] = ()

    @property
    def place(self) -> int:
        """Place of the number or key that it reads, where it reads one."""
        return cast("int", self.constants[0])

    def indices(self) -> frozenset[int]:
        """Return the places of the noisy numbers that it reads."""
        own = frozenset([self.place]) if self.op == "number" else frozenset()
        return own.union(*(arg.indices() for arg in self.args))

    def size(self) -> int:
        """Return the number of operations."""
        return 1 + sum(arg.size() for arg in self.args)

    @property
    def has_steps(self) -> bool:
        """Whether the expression rounds, so that it is constant between steps."""
        return self.op in {"floor", "ceil", "round"} or any(arg.has_steps for arg in self.args)

    def value(self, cell: Cell) -> Scalar:
        """Return the number, text or truth value; None where it is unknown or exceeds what a double holds."""
        if self.op == "constant":
            return self.constants[0]
        if self.op == "key":
            return cell.keys[self.place]
        if self.op == "number":
            return cell.numbers[self.place]
        values = [arg.value(cell) for arg in self.args]
        if self.op in _LOGIC:
            return _LOGIC[self.op](values)
        if any(value is None for value in values):
            return None
        try:
            result = _POINT[self.op](values, self.constants)
        except (ArithmeticError, ValueError, TypeError):
            return None
        return None if isinstance(result, float) and not math.isfinite(result) else result

    def interval(self, cell: Cell) -> Interval | None:
        """Return bounds that hold when every number is inside its own interval; None when there are none."""
        if self.op in ("constant", "key"):
            value = self.value(cell)
            return (value, value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        if self.op == "number":
            number, half = cell.numbers[self.place], cell.halves[self.place]
            return None if number is None or not math.isfinite(half) else (number - half, number + half)
        if self.op not in _RANGE:
            return None
        intervals = [arg.interval(cell) for arg in self.args]
        if any(part is None for part in intervals):
            return None
        try:
            bounds = _RANGE[self.op](intervals, self.constants)
        except (ArithmeticError, ValueError):
            return None
        return bounds if all(math.isfinite(end) for end in bounds) else None

    def variance(self, cell: Cell) -> float | None:
        r"""Return the variance by the delta method.

        .. math:: \sum_j (\partial f / \partial b_j)^2 \operatorname{Var} b_j
        """
        total = 0.0
        for index in self.indices():
            if not math.isfinite(cell.variances[index]):
                return None
            # a step function is flat almost everywhere: its slope is that over one standard error
            step = max(math.sqrt(cell.variances[index]) * (1.0 if self.has_steps else 1e-3), 1e-9)
            up, down = self.value(cell.shift(index, step)), self.value(cell.shift(index, -step))
            if not (isinstance(up, int | float) and isinstance(down, int | float)):
                return None
            slope = (up - down) / (2 * step)
            total += slope * slope * cell.variances[index]
        return total if math.isfinite(total) else None


def number(index: int) -> After:
    """Return an expression that reads the noisy number of that place."""
    return After("number", (), (index,))


def constant(value: Scalar) -> After:
    """Return a constant expression."""
    return After("constant", (), (value,))


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _mean(given: Sequence[float], constants: Sequence[float]) -> float:
    """Return centre + unit * sum / count, clipped to the declared bounds (which are public)."""
    total, count = given
    centre, unit, low, high = constants
    if count <= 0:
        raise ArithmeticError
    return _clip(centre + unit * total / count, low, high)


def _variance(given: Sequence[float], constants: Sequence[float]) -> float:
    r"""Return :math:`E(x-c)^2 - (E(x-c))^2`, times n/(n-1) for a sample, clipped to what the bounds allow."""
    squares, total, count = given
    unit, square_unit, most, sample = constants
    if count <= 1:
        raise ArithmeticError
    variance = square_unit * squares / count - (unit * total / count) ** 2
    return _clip(variance * (count / (count - 1) if sample else 1.0), 0.0, most)


def _mean_range(given: Sequence[Interval], constants: Sequence[float]) -> Interval:
    (s_low, s_high), (n_low, n_high) = given
    centre, unit, low, high = constants
    if n_low <= 0:  # too few records for the noise: only the declared bounds are known
        return low, high
    corners = [centre + unit * s / n for s in (s_low, s_high) for n in (n_low, n_high)]
    return _clip(min(corners), low, high), _clip(max(corners), low, high)


def _variance_range(given: Sequence[Interval], constants: Sequence[float]) -> Interval:
    (q_low, q_high), (s_low, s_high), (n_low, n_high) = given
    unit, square_unit, most, sample = constants
    if n_low <= 1:
        return 0.0, most
    squares = [square_unit * q / n for q in (q_low, q_high) for n in (n_low, n_high)]
    means = [unit * s / n for s in (s_low, s_high) for n in (n_low, n_high)]
    largest = max(abs(m) for m in means) ** 2
    smallest = 0.0 if min(means) <= 0 <= max(means) else min(abs(m) for m in means) ** 2
    factor = n_low / (n_low - 1) if sample else 1.0
    return _clip(min(squares) - largest, 0.0, most), _clip((max(squares) - smallest) * factor, 0.0, most)


def _corners(sign: str, a: Interval, b: Interval) -> Interval:
    if sign == "/" and b[0] <= 0 <= b[1]:
        raise ArithmeticError
    pairs = [(x, y) for x in a for y in b]
    corners = [x * y if sign == "*" else x / y for x, y in pairs]
    return min(corners), max(corners)


def _power_of_ten(constants: Sequence[int]) -> int:
    return int(constants[0]) if constants else 0


_POINT: dict[str, Callable[[Any, Any], Scalar]] = {
    "+": lambda g, _: g[0] + g[1],
    "-": lambda g, _: g[0] - g[1],
    "*": lambda g, _: g[0] * g[1],
    "/": lambda g, _: g[0] / g[1],
    "neg": lambda g, _: -g[0],
    "abs": lambda g, _: abs(g[0]),
    "floor": lambda g, _: float(math.floor(g[0])),
    "ceil": lambda g, _: float(math.ceil(g[0])),
    "round": lambda g, c: float(round(g[0], _power_of_ten(c))),
    "greatest": lambda g, _: max(g),
    "least": lambda g, _: min(g),
    "scale": lambda g, c: g[0] * c[0] + c[1],
    "mean": _mean,
    "spread": _variance,
    "sqrt": lambda g, _: math.sqrt(g[0]),
    "=": lambda g, _: g[0] == g[1],
    "<>": lambda g, _: g[0] != g[1],
    "<": lambda g, _: g[0] < g[1],
    "<=": lambda g, _: g[0] <= g[1],
    ">": lambda g, _: g[0] > g[1],
    ">=": lambda g, _: g[0] >= g[1],
    "in": lambda g, c: g[0] in c,
}

_RANGE: dict[str, Callable[[Any, Any], Interval]] = {
    "+": lambda g, _: (g[0][0] + g[1][0], g[0][1] + g[1][1]),
    "-": lambda g, _: (g[0][0] - g[1][1], g[0][1] - g[1][0]),
    "*": lambda g, _: _corners("*", g[0], g[1]),
    "/": lambda g, _: _corners("/", g[0], g[1]),
    "neg": lambda g, _: (-g[0][1], -g[0][0]),
    "abs": lambda g, _: (0.0 if g[0][0] <= 0 <= g[0][1] else min(map(abs, g[0])), max(map(abs, g[0]))),
    "floor": lambda g, _: (float(math.floor(g[0][0])), float(math.floor(g[0][1]))),
    "ceil": lambda g, _: (float(math.ceil(g[0][0])), float(math.ceil(g[0][1]))),
    "round": lambda g, c: (float(round(g[0][0], _power_of_ten(c))), float(round(g[0][1], _power_of_ten(c)))),
    "greatest": lambda g, _: (max(p[0] for p in g), max(p[1] for p in g)),
    "least": lambda g, _: (min(p[0] for p in g), min(p[1] for p in g)),
    "scale": lambda g, c: tuple(sorted(x * c[0] + c[1] for x in g[0])),
    "mean": _mean_range,
    "spread": _variance_range,
    "sqrt": lambda g, _: (math.sqrt(max(g[0][0], 0.0)), math.sqrt(max(g[0][1], 0.0))),
}

_LOGIC: dict[str, Callable[[list[Scalar]], Scalar]] = {
    "and": lambda g: False if any(x is False for x in g) else None if any(x is None for x in g) else True,
    "or": lambda g: True if any(x is True for x in g) else None if any(x is None for x in g) else False,
    "not": lambda g: None if g[0] is None else not g[0],
    "is null": lambda g: g[0] is None,
    "coalesce": lambda g: next((x for x in g if x is not None), None),
}
