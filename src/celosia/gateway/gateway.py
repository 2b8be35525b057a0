"""The gateway: a query is charged, answered with noise, and the answer is stored before it is shown."""

from __future__ import annotations

import json
import logging
import math
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from celosia.gateway.answer import Answer, Key, Line, finish
from celosia.gateway.databases import NoAnswer, open_database, plain
from celosia.gateway.explain import Explanation, explain
from celosia.gateway.ledger import Balance, Granted, Ledger, Share, Stored
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.noise import NoisePlan, Shape, needed_cost, plan_noise
from celosia.gateway.sql import emit
from celosia.gateway.sql.build import MOST_CELLS, build
from celosia.gateway.sql.parse import Refused, parse
from celosia.gateway.sql.plan import Plan
from celosia.gateway.sql.values import Dialect
from celosia.kernels.budget.cost import Cost
from celosia.mechanisms.additive import Geometric

__all__ = ["Gateway", "NoAnswer"]

MOST_WORK = 3_000_000
"""Microseconds, about: what is computed from the noisy numbers of one query."""
GRID = 0.05
"""Seconds of the time grid on which answers are returned by default."""
STEP_PER_PERSON_TIME = 400
"""A step of the grid is at least this many times longer than what one person may add."""
_STRIPES = 256
_RANDOM = secrets.SystemRandom()
_LOG = logging.getLogger(__name__)


class Gateway:
    """Answers queries about one data set, charged to one ledger.

    ``grid`` is a number of seconds: answers are returned at multiples of it after the query arrived, so that their time
    reveals little about the data. 0 returns them at once, for a data owner who asks alone.
    """

    def __init__(self, facts: DatasetFacts, ledger: Ledger, *, grid: float = GRID) -> None:
        self.facts = facts
        self.ledger = ledger
        self._grid = grid
        self._database = open_database(facts)
        self._dialect = cast("Dialect", self._database.dialect)
        self._physical = {name: self._database.name(name, table) for name, table in facts.tables.items()}
        self._locks = [threading.Lock() for _ in range(_STRIPES)]
        self.plan = lru_cache(maxsize=512)(self._plan)
        self._cells = lru_cache(maxsize=128)(self._list_cells)
        _load_libraries()
        ledger.open(facts.name, facts.budget, facts.neighbours)
        for share in facts.shares:
            budget = facts.cost(share.epsilon, share.rho, share.delta)
            ledger.share(facts.name, Share(share.analyst, share.period, budget))

    @classmethod
    def load(cls, declaration: str | Path, ledger: str | Path, *, grid: float = GRID) -> Gateway:
        """Open the data set that a TOML file declares, with a ledger (a path or a URL)."""
        return cls(DatasetFacts.load(declaration), Ledger(ledger), grid=grid)

    def close(self) -> None:
        """Close the database and the ledger."""
        self._database.close()
        self.ledger.close()

    def ask(
        self,
        sql: str,
        *,
        analyst: str = "owner",
        epsilon: float | None = None,
        rho: float | None = None,
        delta: float = 0.0,
        announce: int = 1,
        fresh: bool = False,
        noise: Shape | None = None,
    ) -> Answer:
        """Answer a query; the cost is charged before the database is read and before noise is drawn.

        ``announce`` splits the cost evenly over so many announced queries; ``fresh`` draws new noise (and is charged)
        where the same query was answered before.
        """
        start = time.monotonic()
        plan = self.plan(sql)
        cost = needed_cost(plan, self._price(epsilon, rho, delta, announce), noise)
        noise_plan = plan_noise(plan, cost, self._cell_count(plan), noise)
        question = plan.fingerprint(self.facts.name, cost.measure, cost.loss_units, cost.delta_units, noise_plan.shape)
        # locked until the answer is returned: otherwise a second query would be charged when the first one ended
        with self._locks[int(question[:8], 16) % _STRIPES]:
            with self._on_grid(start, self._step(plan)):
                charged = self.ledger.charge(self.facts.name, analyst, question, _request(sql), cost, fresh=fresh)
                if isinstance(charged, Stored):
                    return Answer.of_stored(charged.answer, charged.left, charged.seq)
                answer = self._answer(plan, noise_plan, charged)
            # written after the delay: what is in the ledger can be read, and its order shows when it was written
            if answer is None:
                self.ledger.fail(charged)
                raise NoAnswer(
                    "the database gave no answer. The cost stays charged; the reason is not shown, because it could "
                    "depend on the data. Ask the data owner."
                )
            self.ledger.answer(charged, answer.body())
            return answer

    def explain(
        self,
        sql: str,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        delta: float = 0.0,
        announce: int = 1,
        noise: Shape | None = None,
    ) -> Explanation:
        """Return sensitivity, noise and expected error; the data are not read and nothing is spent."""
        plan = self.plan(sql)
        cost = needed_cost(plan, self._price(epsilon, rho, delta, announce), noise)
        cells = self._cell_count(plan)
        return explain(plan, plan_noise(plan, cost, cells, noise), cost, cells, tuple(self._queries(plan)))

    def balance(self, analyst: str = "") -> Balance:
        """Return what was spent and what is left."""
        return self.ledger.balance(self.facts.name, analyst)

    def _price(self, epsilon: float | None, rho: float | None, delta: float, announce: int) -> Cost:
        cost, least = self.facts.cost(epsilon, rho, delta, announce), self.facts.least_cost
        if cost.loss < least * (1 - 1e-9):
            name = "rho" if cost.measure == "zcdp" else "epsilon"
            raise Refused(
                "a query costs at least {name} {least:g} in this data set, got {cost:g}. Ask with a larger {name}, or "
                "ask the data owner to declare another 'minimum_cost'.",
                name=name,
                least=least,
                cost=cost.loss,
            )
        return cost

    def _plan(self, sql: str) -> Plan:
        return build(sql, self.facts, self._dialect, self._physical)

    def _cell_count(self, plan: Plan) -> int | None:
        return len(self._cells(plan)) if plan.public_keys else None

    def _list_cells(self, plan: Plan) -> tuple[Key, ...]:
        """Return all cells of public keys; the query reads no table."""
        if not plan.keys:
            return ((),)
        listed = [self._key(plan, row) for row in self._database.rows(emit.domain(plan, self._dialect))]
        if len(listed) > MOST_CELLS:
            raise Refused(
                "the query has {number} groups; at most {limit} are answered at once.",
                number=len(listed),
                limit=MOST_CELLS,
            )
        if not listed:
            raise Refused("the query has no group at all by its declared values.")
        if len(listed) * plan.work > MOST_WORK:
            raise Refused(
                "the answer is too large for {number} groups. Ask for fewer groups or fewer columns.",
                number=len(listed),
            )
        return tuple(listed)

    def _queries(self, plan: Plan) -> list[str]:
        plain_numbers = [number for number in plan.numbers if number.kind != "quantile"]
        first = [emit.aggregate(plan, self._dialect)] if plain_numbers else []
        return first + [emit.histogram(plan, x, self._dialect) for x in plan.numbers if x.kind == "quantile"]

    def _answer(self, plan: Plan, noise_plan: NoisePlan, granted: Granted) -> Answer | None:
        """Compute the answer to a charged query; None if that failed."""
        names = tuple(output.name for output in plan.outputs)
        try:
            rows = finish(plan, noise_plan, self._noisy_lines(plan, noise_plan))
        except Exception as problem:  # what went wrong must not reach the analyst: it could depend on the data
            _LOG.error("a charged query got no answer: %s", type(problem).__name__)
            return None
        return Answer(names, rows, granted.cost, granted.left, notes=plan.notes, charge=granted.seq)

    def _noisy_lines(self, plan: Plan, noise_plan: NoisePlan) -> list[Line]:
        """Return the noisy numbers of each cell. Exact numbers exist here only."""
        counted = [i for i, number in enumerate(plan.numbers) if number.kind != "quantile"]
        exact = self._exact(plan) if counted else {}
        cells = self._cells(plan) if plan.public_keys else tuple(exact)
        threshold_numbers: dict[int, list[float]] = {}
        if noise_plan.threshold is not None:
            # first what decides which groups are shown: hidden ones, which one person may have made, take no more work
            index = cast("int", plan.threshold_number)
            place = counted.index(index)
            noisy = noise_plan.numbers[index].add([numbers[place] for numbers in exact.values()])
            pairs = [(cell, value) for cell, value in zip(cells, noisy, strict=True) if value >= noise_plan.threshold]
            pairs.sort(key=lambda pair: repr(pair[0]))  # the order of the database could reveal something
            cells, threshold_numbers[index] = tuple(cell for cell, _ in pairs), [value for _, value in pairs]
        table: list[list[float]] = [[0.0] * len(plan.numbers) for _ in cells]
        for place, index in enumerate(counted):
            values = [exact[cell][place] if cell in exact else 0 for cell in cells]
            noisy = threshold_numbers[index] if index in threshold_numbers else noise_plan.numbers[index].add(values)
            for line, value in zip(table, noisy, strict=True):
                line[index] = value
        for index, number in enumerate(plan.numbers):
            if number.kind == "quantile":
                steps = self._steps(plan, index)
                length = len(number.candidates()) - (0 if number.value and number.value.whole else 1)
                for line, cell in zip(table, cells, strict=True):
                    histogram = steps.get(cell, Counter())
                    line[index] = noise_plan.numbers[index].choose([histogram[i] for i in range(length)])
        return list(zip(cells, table, strict=True))

    def _exact(self, plan: Plan) -> dict[Key, list[int]]:
        """Return the exact numbers of each cell; keys that are shown alike are one cell, and their numbers add up."""
        by_cell: dict[Key, list[int]] = {}
        for key, numbers in self._read(plan, emit.aggregate(plan, self._dialect)):
            by_cell[key] = [a + b for a, b in zip(by_cell[key], numbers, strict=True)] if key in by_cell else numbers
        return by_cell

    def _steps(self, plan: Plan, index: int) -> dict[Key, Counter[int]]:
        """Return the histogram of each cell behind one quantile."""
        histograms: dict[Key, Counter[int]] = {}
        for key, (step, count) in self._read(plan, emit.histogram(plan, plan.numbers[index], self._dialect)):
            if step is not None:  # rows without a value, and those that do not meet the condition
                histograms.setdefault(key, Counter())[step] += count
        return histograms

    def _read(self, plan: Plan, sql: str) -> Iterator[tuple[Key, list[Any]]]:
        """Yield key and whole numbers of each group but the one without a key: its rows do not meet the condition."""
        # a sharp time limit would show which of two nearly equal times a query took
        for row in self._database.rows(sql, random_delay(self._step(plan))):
            key = self._key(plan, row)
            if None not in key:
                yield key, [value if value is None else int(value) for value in row[len(plan.keys) :]]

    def _key(self, plan: Plan, row: tuple[Any, ...]) -> Key:
        values = plain(row[: len(plan.keys)])
        return tuple(emit.decode_key(key, value) for key, value in zip(plan.keys, values, strict=True))

    def _step(self, plan: Plan) -> float:
        """Return the seconds between times at which an answer is returned: whole steps of the grid, many times longer
        than what one person may add.
        """
        if self._grid <= 0:
            return 0.0
        return self._grid * max(1, math.ceil(STEP_PER_PERSON_TIME * plan.person_seconds / self._grid))

    @contextmanager
    def _on_grid(self, start: float, step: float) -> Iterator[None]:
        """Return an answer or a failure at a multiple of ``step`` seconds, after a random delay."""
        try:
            yield
        finally:
            if step > 0:
                delay, elapsed = random_delay(step), time.monotonic() - start
                time.sleep(max(math.ceil((elapsed + delay) / step) * step - elapsed, 0))


def random_delay(grid: float) -> float:
    """Draw a delay of up to two steps of the grid, with a triangular density.

    An analyst may add work until an answer just fits into a step. A density that begins and ends at 0 has no edge that
    one row could cross: ``w`` seconds more change the distribution over the steps by less than ``6 (w / grid)^2`` in
    chi-square, where a uniform delay of one step changes it by ``w / grid``.
    """
    return grid * (_RANDOM.random() + _RANDOM.random())


def _load_libraries() -> None:
    """Import in one thread what the first query needs: these imports are circular, and two threads may not race."""
    parse("SELECT COUNT(*) FROM t")
    Geometric(epsilon=1.0).answer([0])


def _request(sql: str) -> str:
    return json.dumps({"sql": sql}, ensure_ascii=True)
