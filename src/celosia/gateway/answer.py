"""What an analyst gets: values with standard error and interval, what it cost, and what is left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from celosia.gateway.noising import Noising
from celosia.gateway.sql.after import After, Cell
from celosia.gateway.sql.plan import Number, Output, Plan
from celosia.kernels.budget.cost import Cost

LEVEL = 0.95
_COUNTS = ("rows", "present", "persons", "distinct")


@dataclass(frozen=True)
class Answer:
    """Rows of noisy values; ``cost`` is what this request was charged, nothing when the answer was stored."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    cost: Cost
    left: Cost
    stored: bool = False
    notes: tuple[str, ...] = field(default=())
    charge: int = field(default=0, compare=False)
    """The line of the ledger that paid for it."""

    def value(self, column: str | None = None, row: int = 0) -> Any:
        """One value of the answer: the last column of the first row unless told otherwise."""
        entry = self.rows[row][column or self.columns[-1]]
        return entry["value"] if isinstance(entry, Mapping) else entry

    def body(self) -> dict[str, Any]:
        """What is stored in the ledger and given again to whoever asks the same."""
        return {"columns": list(self.columns), "rows": [dict(row) for row in self.rows], "notes": list(self.notes)}

    def data(self) -> dict[str, Any]:
        """The whole answer as plain data."""
        return {**self.body(), "cost": shown_cost(self.cost), "left": shown_cost(self.left), "stored": self.stored}

    @classmethod
    def again(cls, body: Mapping[str, Any], left: Cost, charge: int = 0) -> Answer:
        """The stored answer to the same question, at no cost."""
        nothing = Cost(left.measure, 0, 0)
        return cls(tuple(body["columns"]), tuple(body["rows"]), nothing, left, True, tuple(body["notes"]), charge)


def cell_text(cell: Any) -> str:
    """One value with its interval for people, with as many digits as its error deserves.

    >>> cell_text({"value": 48.29087262, "error": 1.2, "low": 44.6688, "high": 51.5342})
    '48.29 (44.67 to 51.53)'
    """
    if not isinstance(cell, Mapping):
        return str(cell)
    if cell["value"] is None:
        return "unanswerable"
    if "ranks" in cell:
        return f"{cell['value']:g} (within {cell['ranks']} ranks)"
    if "low" not in cell:
        return f"{cell['value']:.6g}"
    places = decimals(cell)
    return f"{cell['value']:.{places}f} ({cell['low']:.{places}f} to {cell['high']:.{places}f})"


def decimals(cell: Mapping[str, Any]) -> int:
    """How many decimals of a noisy number its error deserves.

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


def error_bars(answer: Answer) -> dict[str, tuple[Bar, ...]]:
    """For each column of noisy numbers, its rows with their intervals; rows without one are left out."""
    keys = [name for name in answer.columns if not any(isinstance(row[name], Mapping) for row in answer.rows)]
    by_column: dict[str, tuple[Bar, ...]] = {}
    for name in answer.columns:
        bars = []
        for row in answer.rows:
            cell = row[name]
            if isinstance(cell, Mapping) and cell["value"] is not None and "low" in cell:
                label = ", ".join(str(row[key]) for key in keys) or name
                bars.append(Bar(label, float(cell["value"]), float(cell["low"]), float(cell["high"])))
        if bars:
            by_column[name] = tuple(bars)
    return by_column


def answer_csv(answer: Answer) -> str:
    """The answer as a CSV file: a noisy number has its standard error and the ends of its interval beside it."""
    import csv
    import io

    extras = ("error", "low", "high", "ranks")
    wide: list[tuple[str, str | None]] = []
    for name in answer.columns:
        cells = [row[name] for row in answer.rows if isinstance(row[name], Mapping)]
        wide += [(name, None), *((name, key) for key in extras if any(key in cell for cell in cells))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_plain_text(name if key is None else f"{name} {key}") for name, key in wide])
    for row in answer.rows:
        writer.writerow([_csv_cell(row[name], key) for name, key in wide])
    return out.getvalue()


def _csv_cell(cell: Any, key: str | None) -> Any:
    if isinstance(cell, Mapping):
        cell = cell.get(key or "value")
    elif key is not None:
        return ""
    return _plain_text(cell) if isinstance(cell, str) else cell


def _plain_text(text: str) -> str:
    """Return the text with an apostrophe before it where a spreadsheet would run it as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def shown_cost(cost: Cost) -> dict[str, float]:
    """A cost as plain data, by the names of its measure."""
    name = "rho" if cost.measure == "zcdp" else "epsilon"
    return {name: cost.loss} | ({"delta": cost.delta} if cost.measure != "pure" else {})


def finish(plan: Plan, noising: Noising, lines: Sequence[tuple[tuple[Any, ...], Sequence[float]]]) -> tuple[Any, ...]:
    """Turn noisy lines into rows of the answer: outputs with errors, HAVING, ORDER BY, LIMIT."""
    cells = [_cell(noising, keys, numbers, 1) for keys, numbers in lines]
    if plan.having is not None:
        cells = [cell for cell in cells if plan.having.value(cell) is True]
    for after, descending in reversed(plan.order):
        cells.sort(key=lambda cell: _sortable(after.value(cell)), reverse=descending)
    cells = cells[: plan.limit]
    return tuple({out.name: _shown(plan, noising, out, cell) for out in plan.outputs} for cell in cells)


def _cell(noising: Noising, keys: tuple[Any, ...], numbers: Sequence[float | None], several: int) -> Cell:
    """A line whose intervals hold together with the stated level when an output reads ``several`` numbers."""
    level = 1 - (1 - LEVEL) / several
    shares = noising.shares
    return Cell(
        keys, tuple(numbers), tuple(share.variance for share in shares), tuple(share.half(level) for share in shares)
    )


def _shown(plan: Plan, noising: Noising, output: Output, cell: Cell) -> Any:
    if output.kind == "key":
        return output.after.value(cell)
    value = output.after.value(cell)
    if isinstance(value, bool | str):
        return value
    entry: dict[str, Any] = {"value": _tidy(value)}
    if value is None:
        return {**entry, "status": "unanswerable", "reason": "too few records for the noise, or a division by zero"}
    indices = output.after.indices()
    ranked = [noising.shares[i] for i in indices if plan.numbers[i].kind == "quantile"]
    if ranked:
        return {**entry, "ranks": math.ceil(max(share.rank_error(LEVEL) for share in ranked))}
    variance = output.after.variance(cell)
    wide = _cell(noising, cell.keys, cell.numbers, max(len(indices), 1))
    interval = output.after.interval(wide)
    if variance is not None:
        entry["error"] = math.sqrt(variance)
    if interval is not None:
        low, high = interval
        if _is_count(output.after, plan.numbers):
            low, high = max(low, 0), max(high, 0)
        # a noisy count may be negative: the interval is widened to the number that it stands beside
        entry |= {"low": _tidy(min(low, value)), "high": _tidy(max(high, value))}
    return entry


def _is_count(after: After, numbers: Sequence[Number]) -> bool:
    return after.op == "number" and numbers[after.constants[0]].kind in _COUNTS


def _tidy(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _sortable(value: Any) -> tuple[int, float, str]:
    if value is None:
        return (2, 0.0, "")
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")
