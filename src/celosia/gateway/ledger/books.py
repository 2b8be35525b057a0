"""Transactions on the ledger, and their group commit.

Requests that arrive while a transaction is being made durable are booked together in the next one (group commit), so a
batch reads each total once, under its lock, and writes all its lines at once.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from celosia.data.io.durable import Unavailable
from celosia.errors import UnknownName
from celosia.gateway.ledger.agreement import Agreement, Damaged, refusal
from celosia.gateway.ledger.chain import Entry, Kind
from celosia.gateway.ledger.tables import Row
from celosia.kernels.budget.cost import Cost

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

T = TypeVar("T")
_BATCH = 64
_BALANCE = ("loss_spent", "delta_spent", "length", "head", "dataset")

_STATEMENTS = {
    "budget": "SELECT * FROM celosia_budgets WHERE dataset = :dataset",
    "datasets": "SELECT dataset FROM celosia_budgets ORDER BY dataset",
    "new budget": """INSERT INTO celosia_budgets (dataset, measure, neighbours, loss_total, delta_total, loss_spent,
        delta_spent, length, head) VALUES (:dataset, :measure, :neighbours, :loss_total, :delta_total, 0, 0, 0,
        :head) ON CONFLICT (dataset) DO NOTHING""",
    "shares": "SELECT * FROM celosia_shares WHERE dataset = :dataset AND analyst IN (:analyst, '*')",
    "drop share": """DELETE FROM celosia_shares WHERE dataset = :dataset AND analyst = :analyst AND period = :period""",
    "new share": """INSERT INTO celosia_shares (dataset, analyst, period, loss, delta)
        VALUES (:dataset, :analyst, :period, :loss, :delta)""",
    "spendings": "SELECT * FROM celosia_spendings WHERE dataset = :dataset AND analyst = :analyst",
    "stored": """SELECT charge, answer FROM celosia_entries
        WHERE dataset = :dataset AND question = :question AND kind = 'answer' ORDER BY seq LIMIT 1""",
    "lines": "SELECT * FROM celosia_entries WHERE dataset = :dataset AND seq > :length ORDER BY seq",
    "line": "SELECT * FROM celosia_entries WHERE dataset = :dataset AND seq = :seq",
    "ends": """SELECT COUNT(*) AS lines, MAX(seq) AS last FROM celosia_entries
        WHERE dataset = :dataset AND seq <= :length""",
    "sums": """SELECT analyst, SUBSTR(at, 1, 10) AS day, SUM(loss) AS loss, SUM(delta) AS delta FROM celosia_entries
        WHERE dataset = :dataset AND kind = 'charge' AND seq <= :length GROUP BY analyst, SUBSTR(at, 1, 10)""",
    "append": """INSERT INTO celosia_entries (dataset, seq, at, kind, analyst, question, request, loss, delta,
    charge, answer,
        previous, hash) VALUES (:dataset, :seq, :at, :kind, :analyst, :question, :request, :loss, :delta,
        :charge, :answer,
        :previous, :hash)""",
    "spend": """INSERT INTO celosia_spendings (dataset, analyst, label, loss, delta)
        VALUES (:dataset, :analyst, :label, :loss, :delta) ON CONFLICT (dataset, analyst, label)
        DO UPDATE SET loss = celosia_spendings.loss + excluded.loss, delta = celosia_spendings.delta +
        excluded.delta""",
    "balance": """UPDATE celosia_budgets SET loss_spent = :loss_spent, delta_spent = :delta_spent, length = :length,
        head = :head WHERE dataset = :dataset""",
}


@lru_cache(maxsize=64)
def statement(name: str, dialect: str, suffix: str = "") -> str:
    """Return a statement with the driver's form of parameters: ``:name`` in SQLite, ``%(name)s`` in PostgreSQL.

    The drivers are called directly: SQLAlchemy's compiler would cost more time than all the rest of a query.
    """
    text = _STATEMENTS[name] + suffix
    return re.sub(r":(\w+)", r"%(\1)s", text) if dialect == "postgresql" else text


class Books:
    """One transaction on the ledger; ``close`` writes what was added.

    ``agreements`` are the sums of the chain from earlier transactions, with which the balance is compared.
    """

    def __init__(
        self, connection: Connection, *, reading: bool = False, agreements: dict[str, Agreement] | None = None
    ) -> None:
        self._agreements = agreements
        self._dialect = connection.dialect.name
        driver = connection.connection.driver_connection
        assert driver is not None
        self._cursor = driver.cursor()
        self._lock = " FOR UPDATE" if self._dialect == "postgresql" and not reading else ""
        self._rows: dict[str, Row] = {}
        self._entries: list[Entry] = []
        self._spent: dict[tuple[str, str, str], list[int]] = {}

    def rows(self, name: str, suffix: str = "", /, **values: str | int) -> list[Row]:
        """Return the rows of a statement, as mappings."""
        self._cursor.execute(statement(name, self._dialect, suffix), values)
        names = [column[0] for column in self._cursor.description]
        return [dict(zip(names, row, strict=True)) for row in self._cursor.fetchall()]

    def run(self, name: str, /, **values: str | int) -> None:
        """Execute a statement that returns nothing."""
        self._cursor.execute(statement(name, self._dialect), values)

    def run_many(self, name: str, values: list[Row]) -> None:
        """Execute a statement once for each set of values."""
        self._cursor.executemany(statement(name, self._dialect), values)

    def find(self, dataset: str) -> Row | None:
        """Return the total and balance of a data set, locked until the transaction ends; None if it is unknown."""
        if dataset not in self._rows:
            budgets = self.rows("budget", self._lock, dataset=dataset)
            if not budgets:
                return None
            if self._agreements is not None:
                self._agreements.setdefault(dataset, Agreement()).check(self.rows, budgets[0])
            self._rows[dataset] = budgets[0]
        return self._rows[dataset]

    def budget(self, dataset: str) -> Row:
        """Return the total and balance of a data set, locked until the transaction ends; refuse an unknown name."""
        row = self.find(dataset)
        if row is None:
            raise UnknownName.of("data set in this ledger", dataset, [r["dataset"] for r in self.rows("datasets")])
        return row

    def spent(self, dataset: str, analyst: str) -> dict[str, tuple[int, int]]:
        """Return what one analyst spent, by period label; lines of this transaction included."""
        spendings = {
            r["label"]: (r["loss"], r["delta"]) for r in self.rows("spendings", dataset=dataset, analyst=analyst)
        }
        if self._agreements is not None:
            self._agreements[dataset].check_spent(analyst, spendings)
        for (where, who, label), (loss, delta) in self._spent.items():
            if (where, who) == (dataset, analyst):
                before = spendings.get(label, (0, 0))
                spendings[label] = (before[0] + loss, before[1] + delta)
        return spendings

    def stored_answer(self, dataset: str, question: str) -> tuple[int, str] | None:
        """Return charge and answer of an earlier query with the fingerprint ``question``; None if there is none."""
        answers = self.rows("stored", dataset=dataset, question=question)
        if answers:
            return answers[0]["charge"], answers[0]["answer"]
        for entry in self._entries:
            if (entry.dataset, entry.question, entry.kind) == (dataset, question, "answer"):
                return entry.charge, entry.answer
        return None

    def append(
        self,
        dataset: str,
        kind: Kind,
        analyst: str = "",
        question: str = "",
        request: str = "",
        cost: Cost | None = None,
        *,
        charge: int = 0,
        answer: str = "",
    ) -> int:
        """Add a line to the chain and, for a charge, to the balance; return its number."""
        row, now = self.budget(dataset), datetime.now(UTC).isoformat(timespec="microseconds")
        seq = int(row["length"]) + 1
        loss, delta = (cost.loss_units, cost.delta_units) if cost is not None else (0, 0)
        entry = Entry(
            dataset, seq, now, kind, analyst, question, request, loss, delta, charge, answer, row["head"]
        ).with_hash()
        self._entries.append(entry)
        row["length"], row["head"] = seq, entry.hash
        if kind == "charge":
            row["loss_spent"] += loss
            row["delta_spent"] += delta
            for label in labels(now).values():
                part = self._spent.setdefault((dataset, analyst, label), [0, 0])
                part[0], part[1] = part[0] + loss, part[1] + delta
        return seq

    def close(self) -> None:
        """Write the lines, the sums per analyst and the balances."""
        if not self._entries:
            return
        self.run_many("append", [vars(entry) for entry in self._entries])
        sums = [
            {"dataset": dataset, "analyst": analyst, "label": label, "loss": loss, "delta": delta}
            for (dataset, analyst, label), (loss, delta) in self._spent.items()
        ]
        if sums:
            self.run_many("spend", sums)
        for dataset in sorted({entry.dataset for entry in self._entries}):
            self.run("balance", **{name: value for name, value in self._rows[dataset].items() if name in _BALANCE})


class _Job(Generic[T]):
    def __init__(self, work: Callable[[Books], T]) -> None:
        self.work = work
        self.done = False
        self.result: T | None = None
        self.error: BaseException | None = None


class Clerk:
    """Books what several threads ask for, in batches, one transaction each."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn = threading.Lock()  # threads queue here: SQLite's busy handler would let them sleep and starve
        self._queue: deque[_Job[Any]] = deque()
        self._connection: Connection | None = None  # used under the lock only
        self._agreements: dict[str, Agreement] = {}

    def book(self, work: Callable[[Books], T]) -> T:
        """Do ``work`` in a transaction and return when it is on disk."""
        mine: _Job[T] = _Job(work)
        self._queue.append(mine)
        with self._turn:
            if not mine.done:  # otherwise the thread before us took our work along
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))]
                self._run(batch)
                while not mine.done:  # more than a batch was waiting before us
                    self._run([self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))])
        if mine.error is not None:
            raise mine.error
        return mine.result  # type: ignore[return-value]

    def _run(self, batch: list[_Job[Any]]) -> None:
        try:
            results = self._commit(batch)
        except Unavailable as error:  # for all of them: each by itself would wait as long again
            for job in batch:
                job.error, job.done = error, True
            return
        except BaseException as error:
            if len(batch) == 1:
                batch[0].error, batch[0].done = error, True
                return
            for job in batch:  # nothing was booked; find out whose work it was
                self._run([job])
            return
        for job, result in zip(batch, results, strict=True):
            job.result, job.done = result, True

    def _commit(self, batch: list[_Job[Any]]) -> list[Any]:
        try:
            if self._connection is None:
                self._connection = self._engine.connect().execution_options(writing=True)
            with self._connection.begin():
                books = Books(self._connection, agreements=self._agreements)
                results = [job.work(books) for job in batch]
                books.close()
        except BaseException as problem:
            self.close()  # it may be broken: the next transaction takes a new connection
            error = refusal(problem)
            if isinstance(error, Damaged):
                self._agreements.clear()  # the data owner may restore a copy
            raise error from None
        return results

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def labels(now: str) -> dict[str, str]:
    """Return the labels of the periods that a moment belongs to.

    >>> labels("2026-11-15T23:00:00+00:00")["month"]
    '2026-11'
    """
    return {"life": "life", "year": now[:4], "month": now[:7], "day": now[:10]}
