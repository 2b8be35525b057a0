"""Answers: noisy values with standard error and interval, their cost, and what is left of the budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from celosia.gateway.noise import NoisePlan
from celosia.gateway.sql.after import After, Cell, Scalar
from celosia.gateway.sql.plan import Number, Output, Plan
from celosia.kernels.budget.cost import Cost

Key = tuple[Scalar, ...]
"""Values of the columns of GROUP BY, which identify a cell."""
Line = tuple[Key, Sequence[float]]
"""A cell and its noisy numbers, in the order of the plan."""
LEVEL = 0.95
Value = Any
"""Scalar whose type follows from the query."""
_COUNTS = ("rows", "present", "persons", "distinct")


class Noisy(TypedDict):
    """A noisy value: with standard error and interval, with a rank error (a quantile), or unanswerable (None)."""

    value: Scalar
    error: NotRequired[float]
    low: NotRequired[float]
    high: NotRequired[float]
    ranks: NotRequired[int]
    status: NotRequired[str]
    reason: NotRequired[str]


Entry = Scalar | Noisy
"""One value of an answer; a key and a truth value are exact."""


class Body(TypedDict):
    """An answer as the ledger stores it."""

    columns: list[str]
    rows: list[dict[str, Entry]]
    notes: list[str]


class AnswerData(Body):
    """An answer as plain data, with its cost."""

    cost: dict[str, float]
    left: dict[str, float]
    stored: bool


@dataclass(frozen=True)
class Answer:
    """Rows of noisy values; ``cost`` is what this request was charged, nothing when the answer was stored."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Entry], ...]
    cost: Cost
    left: Cost
    stored: bool = False
    notes: tuple[str, ...] = field(default=())
    charge: int = field(default=0, compare=False)
    """The line of the ledger that paid for it."""

    def value(self, column: str | None = None, row: int = 0) -> Value:
        """Return one value of the answer, by default of the last column and the first row."""
        entry = self.rows[row][column or self.columns[-1]]
        return entry["value"] if isinstance(entry, dict) else entry

    def body(self) -> Body:
        """Return the answer as the ledger stores it, to return it when the same query is asked again."""
        return {"columns": list(self.columns), "rows": [dict(row) for row in self.rows], "notes": list(self.notes)}

    def data(self) -> AnswerData:
        """Return the answer with its cost as plain data."""
        return {**self.body(), "cost": cost_data(self.cost), "left": cost_data(self.left), "stored": self.stored}

    @classmethod
    def of_stored(cls, body: Body, left: Cost, charge: int = 0) -> Answer:
        """Return the stored answer to the same query, at no cost."""
        nothing = Cost(left.measure, 0, 0)
        return cls(tuple(body["columns"]), tuple(body["rows"]), nothing, left, True, tuple(body["notes"]), charge)


def cell_text(cell: Entry) -> str:
    """Return one value with its interval as text, with as many digits as its error deserves.

    >>> cell_text({"value": 48.29087262, "error": 1.2, "low": 44.6688, "high": 51.5342})
    '48.29 (44.67 to 51.53)'
    """
    if not isinstance(cell, dict):
        return str(cell)
    if cell["value"] is None:
        return "unanswerable"
    if "ranks" in cell:
        return f"{cell['value']:g} (within {cell['ranks']} ranks)"
    if "low" not in cell:
        return f"{cell['value']:.6g}"
    places = decimals(cell)
    return f"{cell['value']:.{places}f} ({cell['low']:.{places}f} to {cell['high']:.{places}f})"


def decimals(cell: Noisy) -> int:
    """Return how many decimals of a noisy number its error deserves.

    >>> decimals({"value": 48.29087262, "error": 1.2}), decimals({"value": 3, "error": 0.5})
    (2, 0)
    """
    error = cell.get("error") or 0.0
    if isinstance(cell["value"], int):
        return 0
    return min(max(0, 2 - math.floor(math.log10(error))), 12) if 0 < error < 100 else 0


@dataclass(frozen=True)
class Bar:
    """One noisy number with its interval, for a picture."""

    label: str
    value: float
    low: float
    high: float


def error_bars(columns: Sequence[str], rows: Sequence[Mapping[str, Entry]]) -> dict[str, tuple[Bar, ...]]:
    """Return the intervals of each column of noisy numbers; rows without an interval are left out."""
    keys = [name for name in columns if not any(isinstance(row[name], dict) for row in rows)]
    by_column: dict[str, tuple[Bar, ...]] = {}
    for name in columns:
        bars = []
        for row in rows:
            cell = row[name]
            if isinstance(cell, dict) and cell["value"] is not None and "low" in cell:
                label = ", ".join(str(row[key]) for key in keys) or name
                bars.append(Bar(label, float(cell["value"]), float(cell["low"]), float(cell["high"])))
        if bars:
            by_column[name] = tuple(bars)
    return by_column


def answer_csv(answer: Answer) -> str:
    """Return the answer as CSV, with the standard error and interval of each noisy number in columns of their own."""
    import csv
    import io

    extras = ("error", "low", "high", "ranks")
    wide: list[tuple[str, str | None]] = []
    for name in answer.columns:
        cells = [cell for cell in (row[name] for row in answer.rows) if isinstance(cell, dict)]
        wide += [(name, None), *((name, key) for key in extras if any(key in cell for cell in cells))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_plain_text(name if key is None else f"{name} {key}") for name, key in wide])
    for row in answer.rows:
        writer.writerow([_csv_cell(row[name], key) for name, key in wide])
    return out.getvalue()


def _csv_cell(cell: Entry, key: str | None) -> object:
    if not isinstance(cell, dict):
        value: object = cell if key is None else ""
    else:
        value = cell.get(key or "value")
    return _plain_text(value) if isinstance(value, str) else value


def _plain_text(text: str) -> str:
    """Return the text with an apostrophe before it where a spreadsheet would run it as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def cost_data(cost: Cost) -> dict[str, float]:
    """Return a cost as plain data, by the names of its measure."""
    name = "rho" if cost.measure == "zcdp" else "epsilon"
    return {name: cost.loss} | ({"delta": cost.delta} if cost.measure != "pure" else {})


def finish(plan: Plan, noise_plan: NoisePlan, lines: Sequence[Line]) -> tuple[dict[str, Entry], ...]:
    """Turn noisy lines into rows of the answer: outputs with errors, HAVING, ORDER BY, LIMIT."""
    cells = [_cell(noise_plan, keys, numbers, 1) for keys, numbers in lines]
    if plan.having is not None:
        cells = [cell for cell in cells if plan.having.value(cell) is True]
    for after, descending in reversed(plan.order):
        cells.sort(key=lambda cell: _sortable(after.value(cell)), reverse=descending)
    cells = cells[: plan.limit]
    return tuple({out.name: _entry(plan, noise_plan, out, cell) for out in plan.outputs} for cell in cells)


def _cell(noise_plan: NoisePlan, keys: Key, numbers: Sequence[float | None], several: int) -> Cell:
    """Return a line whose intervals hold jointly with the stated level when an output reads ``several`` numbers."""
    level = 1 - (1 - LEVEL) / several
    variances = tuple(number.variance for number in noise_plan.numbers)
    return Cell(keys, tuple(numbers), variances, tuple(number.half_width(level) for number in noise_plan.numbers))


def _entry(plan: Plan, noise_plan: NoisePlan, output: Output, cell: Cell) -> Entry:
    value = output.after.value(cell)
    if output.kind == "key" or isinstance(value, bool | str):
        return value
    if value is None:
        reason = "too few records for the noise, or a division by zero"
        return {"value": None, "status": "unanswerable", "reason": reason}
    entry: Noisy = {"value": _tidy(value)}
    indices = output.after.indices()
    quantiles = [noise_plan.numbers[i] for i in indices if plan.numbers[i].kind == "quantile"]
    if quantiles:
        return {**entry, "ranks": math.ceil(max(quantile.rank_error(LEVEL) for quantile in quantiles))}
    variance = output.after.variance(cell)
    wide = _cell(noise_plan, cell.keys, cell.numbers, max(len(indices), 1))
    interval = output.after.interval(wide)
    if variance is not None:
        entry["error"] = math.sqrt(variance)
    if interval is not None:
        low, high = interval
        if _is_count(output.after, plan.numbers):
            low, high = max(low, 0), max(high, 0)
        # a noisy count may be negative: the interval is widened until it covers the number
        entry |= {"low": _tidy(min(low, value)), "high": _tidy(max(high, value))}
    return entry


def _is_count(after: After, numbers: Sequence[Number]) -> bool:
    return after.op == "number" and numbers[after.place].kind in _COUNTS


def _tidy(value: float) -> float:
    return int(value) if abs(value) < 2**53 and float(value).is_integer() else value


def _sortable(value: Scalar) -> tuple[int, float, str]:
    if value is None:
        return (2, 0.0, "")
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")
