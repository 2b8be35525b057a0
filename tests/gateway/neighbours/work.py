"""Counts what a database does for a query: rows of all operators, or instructions where it has no count of rows."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.gateway.neighbours.clinics import LARGER, others
from tests.gateway.neighbours.questions import DECLARATION

from celosia.gateway.gateway import Gateway

STEP = 20
"""Instructions of SQLite between two counts."""
OWN = 40
"""Most rows that the person has in one table."""


@dataclass(frozen=True)
class Work:
    """What the database did: ``amount`` counts rows (operators with their loops) or instructions of SQLite."""

    amount: int
    operators: int

    def __add__(self, other: Work) -> Work:
        return Work(self.amount + other.amount, self.operators + other.operators)


def work(gateway: Gateway, sql: str) -> Work:
    """Run the statements of an accepted query and count."""
    counts = {"duckdb": _duckdb, "sqlite": _sqlite, "postgres": _postgres}[gateway._database.dialect]
    return sum((counts(gateway, statement) for statement in gateway._queries(gateway.plan(sql))), Work(0, 0))


def _postgres(gateway: Gateway, statement: str) -> Work:
    ((plans,),) = gateway._database.rows(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}")
    nodes = list(_nodes(plans[0]["Plan"], "Plans"))
    counted = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    return Work(sum(node["Actual Loops"] * sum(node.get(name, 0) for name in counted) for node in nodes), len(nodes))


def _duckdb(gateway: Gateway, statement: str) -> Work:
    ((_, text),) = gateway._database.rows(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
    nodes = list(_nodes(json.loads(text), "children"))
    counted = ("operator_cardinality", "operator_rows_scanned")
    return Work(sum(node.get(name, 0) for node in nodes for name in counted), len(nodes))


def _nodes(node: Any, below: str) -> Iterator[Any]:
    yield node
    for child in node.get(below, []):
        yield from _nodes(child, below)


def _sqlite(gateway: Gateway, statement: str) -> Work:
    connection, counted = gateway._database._connection(), []  # type: ignore[attr-defined]
    connection.set_progress_handler(lambda: counted.append(1), STEP)
    connection.execute(statement).fetchall()
    connection.set_progress_handler(None, STEP)
    return Work(STEP * len(counted), 1)


def counts_processes() -> bool:
    """Whether the system counts the seconds that another process had a processor."""
    return Path("/proc/self/schedstat").exists()


def processor_seconds(gateway: Gateway, statements: Iterable[str]) -> float:
    """Seconds of the processor that statements take: other work on the machine changes them little."""
    counted: Path | None = None
    if gateway._database.dialect == "postgres" and counts_processes():
        ((process,),) = gateway._database.rows("SELECT pg_backend_pid()")
        counted = Path(f"/proc/{process}/schedstat")

    def clock() -> float:
        if counted is not None:
            return int(counted.read_text("utf-8").split()[0]) / 1e9
        return time.perf_counter() if gateway._database.dialect == "postgres" else time.thread_time()

    start = clock()
    for statement in statements:
        gateway._database.rows(statement)
    return clock() - start


@cache
def _sizes() -> dict[str, int]:
    return {table: len(rows) for table, rows in others().items()}


def excess(kind: str, sql: str, absent: Work, present: Work, larger: Work) -> Iterator[str]:
    """What shows that intermediate results are not linear in the input, or that one person multiplies them.

    ``P`` is the product of the declared rows per person of the joined tables (at most 100). An operator returns at most
    ``P`` rows for each row of the input; ``LARGER`` times the persons take at most 1.6 ``LARGER`` times the work, since
    sorting adds a logarithm; one person adds at most ``P`` rows and their own ones to each operator.
    """
    tables = re.findall(r"(\w+) AS j\d", sql)
    declared = DECLARATION["tables"]
    paired = math.prod(declared[table].get("rows", 1) for table in tables if "person" in declared[table])
    inputs = sum(_sizes()[table] for table in tables)
    if kind == "sqlite":  # instructions: those of one row, for each row that the person may have anywhere
        own, most = (paired + OWN * len(tables)) * 2 * absent.amount / inputs, math.inf
    else:
        own, most = (paired + OWN) * present.operators, paired * inputs * absent.operators
    if absent.amount > most:
        yield f"{absent.amount} rows of {absent.operators} operators, from {inputs} with a product of {paired}"
    if larger.amount > 1.6 * LARGER * absent.amount + 200 * absent.operators:
        yield f"{larger.amount} for {LARGER} times the persons, {absent.amount} before"
    if abs(present.amount - absent.amount) > own:
        yield f"{present.amount} with the person, {absent.amount} without, at most {own:.0f} more"
