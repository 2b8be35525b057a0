"""Agreement of the stored balance with the chain, checked in every transaction by the entries that are new."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping

from celosia.data.io.durable import Unavailable
from celosia.errors import CelosiaError, DataError
from celosia.gateway.ledger.chain import GENESIS, Entry
from celosia.gateway.ledger.tables import LEDGER, Row

_LOG = logging.getLogger(__name__)
_NO_ACCESS = {3, 8, 10, 13, 14, 23}
"""Result codes of SQLite: no permission, read-only, input or output failed, disk full, cannot open, not authorised."""
_READ_ONLY = "25006"  # PostgreSQL: read_only_sql_transaction
Rows = Callable[..., list[Row]]


class Damaged(DataError):
    """Raised when the ledger contradicts itself or cannot be read; no query is charged or answered."""

    def __init__(self) -> None:
        super().__init__(
            "the ledger is damaged: its balance is not the sum of its charges, or it cannot be read. No query is "
            "answered. Ask the data owner to run 'celosia gateway verify' and to restore a copy."
        )


def refusal(problem: BaseException) -> BaseException:
    """Translate an error of reading or writing the ledger; the text of a driver could hold stored values."""
    if isinstance(problem, CelosiaError) or not isinstance(problem, Exception):
        return problem
    unavailable = LEDGER.unavailable(problem)
    if unavailable is not None:
        return unavailable
    _LOG.error("the ledger cannot be used: %s", type(problem).__name__)
    cause = getattr(problem, "orig", None) or problem  # SQLAlchemy wraps the error of the driver
    is_disconnected = type(cause).__module__.startswith("psycopg") and not getattr(cause, "sqlstate", None)
    if (
        is_disconnected
        or getattr(cause, "sqlite_errorcode", 0) & 0xFF in _NO_ACCESS
        or getattr(cause, "sqlstate", "") == _READ_ONLY
    ):
        return Unavailable("the ledger cannot be read or written now. Check its server, or the rights and the disk.")
    return Damaged()


class Agreement:
    """Sums of the chain of one data set up to a line: in all, and by analyst and period."""

    def __init__(self) -> None:
        self.length, self.head = 0, GENESIS
        self.loss = self.delta = 0
        self.declared: dict[str, str | int] = {}
        self.sums: dict[tuple[str, str], tuple[int, int]] = {}

    def check(self, rows: Rows, balance: Row) -> None:
        """Read the lines that are new and raise unless the balance equals the sums.

        The first time, the database adds up the charges and only the last line is hashed: ``verify`` hashes them all.
        """
        dataset = balance["dataset"]
        if self.length == 0 and balance["length"] > 1:
            self._add_sums(rows, dataset, balance["length"])
        for row in rows("lines", dataset=dataset, length=self.length):
            self._add_entry(Entry(**row))
        stored = [balance[name] for name in ("length", "head", "loss_spent", "delta_spent")]
        expected = [self.length, self.head, self.loss, self.delta]
        if stored != expected or any(balance[name] != value for name, value in self.declared.items()):
            raise Damaged

    def _add_sums(self, rows: Rows, dataset: str, length: int) -> None:
        (ends,) = rows("ends", dataset=dataset, length=length - 1)
        if (ends["lines"], ends["last"]) != (length - 1, length - 1):
            raise Damaged
        for row in rows("sums", dataset=dataset, length=length - 1):
            self._charge(row["analyst"], row["day"], int(row["loss"]), int(row["delta"]))
        first, before = (rows("line", dataset=dataset, seq=seq)[0] for seq in (1, length - 1))
        self.declared = json.loads(first["request"])
        self.length, self.head = length - 1, before["hash"]

    def _add_entry(self, entry: Entry) -> None:
        if (entry.seq, entry.previous, entry.digest()) != (self.length + 1, self.head, entry.hash):
            raise Damaged
        if entry.kind == "open":
            self.declared = json.loads(entry.request)
        elif entry.kind == "charge":
            self._charge(entry.analyst, entry.at[:10], entry.loss, entry.delta)
        self.length, self.head = entry.seq, entry.hash

    def _charge(self, analyst: str, day: str, loss: int, delta: int) -> None:
        self.loss, self.delta = self.loss + loss, self.delta + delta
        for label in ("life", day[:4], day[:7], day):
            before = self.sums.get((analyst, label), (0, 0))
            self.sums[analyst, label] = (before[0] + loss, before[1] + delta)

    def check_spent(self, analyst: str, spendings: Mapping[str, tuple[int, int]]) -> None:
        """Raise unless the stored sums of an analyst equal those of the chain."""
        if dict(spendings) != {label: sums for (name, label), sums in self.sums.items() if name == analyst}:
            raise Damaged
