"""Asks one question of neighbouring databases, and tells whether anything but noise and the stated sensitivity differs."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.errors import CelosiaError
from celosia.gateway.gateway import Gateway
from celosia.gateway.site.refusals import status
from celosia.gateway.sql.plan import Plan

Cells = Mapping[tuple[Any, ...], Any]


class Watched(Gateway):
    """A gateway that remembers what the database said before the noise."""

    counted: Cells
    steps: dict[int, Cells]

    def _exact(self, plan: Plan) -> dict[tuple[Any, ...], list[int]]:
        self.counted = found = super()._exact(plan)
        return found

    def _steps(self, plan: Plan, index: int) -> dict[tuple[Any, ...], Counter[int]]:
        self.steps[index] = found = super()._steps(plan, index)
        return found


@dataclass(frozen=True)
class Outcome:
    """What an analyst sees of a question, what lies below it, and how long it took."""

    status: int
    words: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    counted: Cells = field(default_factory=dict)
    steps: Mapping[int, Cells] = field(default_factory=dict)
    seconds: float = 0.0


def ask(gateway: Watched, sql: str) -> Outcome:
    """Ask, and remember all of it; an exception that is no refusal is a status 500."""
    gateway.counted, gateway.steps = {}, {}
    start = time.perf_counter()
    try:
        delta = 0.0 if gateway.plan(sql).public_keys else 1e-7
        answer = gateway.ask(sql, epsilon=1.0, delta=delta, fresh=True)
        json.dumps(answer.data(), allow_nan=False)
    except CelosiaError as refusal:
        return Outcome(status(refusal), str(refusal))
    except Exception as problem:
        return Outcome(500, repr(problem))
    taken = time.perf_counter() - start
    return Outcome(200, "", answer.columns, answer.rows, gateway.counted, gateway.steps, taken)


def differences(gateway: Watched, sql: str, one: Outcome, other: Outcome, neighbours: str) -> Iterator[str]:
    """What differs between two neighbours, by that relation, and must not."""
    for outcome in (one, other):
        if outcome.status not in (200, 400):
            yield f"failed: {outcome.status} {outcome.words}"
    if (one.status, one.words, one.columns) != (other.status, other.words, other.columns):
        yield f"seen: {one.status} {one.words!r} or {other.status} {other.words!r}"
    elif one.status == 200:
        plan = gateway.plan(sql)
        cells = gateway._cells(plan) if plan.public_keys else None
        yield from _shown(plan, one, other)
        yield from _counted(plan, cells, one.counted, other.counted, neighbours)
        yield from _steps(plan, cells, one.steps, other.steps, neighbours)


def _shown(plan: Plan, one: Outcome, other: Outcome) -> Iterator[str]:
    keys = [output.name for output in plan.outputs if output.kind == "key"]
    if plan.public_keys and plan.having is None and plan.limit is None:
        shown = [sorted(repr([row[key] for key in keys]) for row in outcome.rows) for outcome in (one, other)]
        if shown[0] != shown[1]:
            yield f"groups: {shown[0]} or {shown[1]}"
    for row in (*one.rows, *other.rows):
        for output in plan.outputs:
            if output.kind == "number" and not isinstance(row[output.name], bool | str | Mapping):
                yield f"type: {row[output.name]!r}"


def _counted(plan: Plan, cells: Any, one: Cells, other: Cells, neighbours: str) -> Iterator[str]:
    yield from _declared(cells, one, other)
    wanted = [number for number in plan.numbers if number.kind != "quantile"]
    nothing = [0] * len(wanted)
    for place, number in enumerate(wanted):
        moved = [one.get(key, nothing)[place] - other.get(key, nothing)[place] for key in {*one, *other}]
        most = number.sensitivity(neighbours, plan.rows, len(cells) if cells is not None else None)
        if sum(map(abs, moved)) > most.l1 or math.hypot(*moved) > most.l2 * (1 + 1e-9):
            yield f"{number.kind}: moved by {sum(map(abs, moved))}, at most {most}"


def _steps(
    plan: Plan, cells: Any, one: Mapping[int, Cells], other: Mapping[int, Cells], neighbours: str
) -> Iterator[str]:
    most = plan.rows if neighbours == "add-remove" else 2 * plan.rows
    for index in {*one, *other}:
        first, second = one.get(index, {}), other.get(index, {})
        yield from _declared(cells, first, second)
        number, moved = plan.numbers[index], 0
        for key in {*first, *second}:
            a, b = Counter(first.get(key)), Counter(second.get(key))
            moved += sum(abs(a[step] - b[step]) for step in {*a, *b})
            if not all(0 <= step < len(number.candidates()) for step in {*a, *b}):
                yield f"steps: {sorted({*a, *b})}"
        if moved > most:
            yield f"quantile: moved by {moved} rows, at most {most}"


def _declared(cells: Any, *found: Cells) -> Iterator[str]:
    """Keys of the data must be among the listed ones, where those are public."""
    if cells is not None:
        strange = {key for part in found for key in part} - set(cells)
        if strange:
            yield f"keys that were not declared: {strange}"
