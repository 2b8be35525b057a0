"""The ledger: one binding total per data set, shares per analyst and period, every request with its cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

from celosia.data.io.durable import PATIENCE
from celosia.errors import BudgetError, InputError, Message, UnknownName
from celosia.gateway.ledger.agreement import refusal
from celosia.gateway.ledger.books import Books, Clerk, labels
from celosia.gateway.ledger.chain import GENESIS, Audit, Entry, Verification
from celosia.gateway.ledger.tables import LEDGER, Row, tables
from celosia.kernels.budget.cost import Cost, Measure
from celosia.kernels.budget.neighbours import check_neighbours

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from celosia.gateway.answer import Body

Period = Literal["life", "year", "month", "day"]


@dataclass(frozen=True)
class Share:
    """A part of the total that one analyst (or each analyst, ``"*"``) may spend in each period."""

    analyst: str
    period: Period
    budget: Cost


@dataclass(frozen=True)
class Allowance:
    """One limit, the data set's total or a share, and what was spent of it."""

    name: str
    total: Cost
    spent: Cost
    period: str = ""
    """Of a share: life, year, month or day; empty for the data set's total."""
    label: str = ""
    """Of a share: the period that is running, such as 2026-11."""

    @property
    def remaining(self) -> Cost:
        """Budget that may still be spent under this limit."""
        return self.total.minus(self.spent)


@dataclass(frozen=True)
class Balance:
    """The data set's total and the shares that bind one analyst."""

    dataset: str
    neighbours: str
    lifetime: Allowance
    shares: tuple[Allowance, ...] = ()

    @property
    def remaining(self) -> Cost:
        """Budget that the analyst may still spend: the tightest of all limits."""
        limits = [allowance.remaining for allowance in (self.lifetime, *self.shares)]
        loss, delta = min(c.loss_units for c in limits), min(c.delta_units for c in limits)
        return Cost(self.lifetime.total.measure, loss, delta)


@dataclass(frozen=True)
class Granted:
    """A charge that was booked: its place in the chain and what is left."""

    dataset: str
    analyst: str
    question: str
    seq: int
    cost: Cost
    left: Cost


@dataclass(frozen=True)
class Stored:
    """The stored answer to a query that was answered before; it costs nothing."""

    answer: Body
    left: Cost
    seq: int
    """The charge that paid for it."""


class Ledger:
    """Durable record of spent privacy budget in SQLite (a path) or PostgreSQL (a URL).

    A request is charged, or refused, in one transaction that holds the write lock of its data set; only then may
    noise be drawn. What is charged stays charged, whatever happens next: there is no refund, and no call that raises
    a total. :meth:`create` makes a ledger; opening one that does not exist is refused, since an empty ledger would be
    an unspent budget.
    """

    def __init__(self, where: str | Path, *, reading: bool = False, patience: float = PATIENCE) -> None:
        self._engine = LEDGER.open(where, reading=reading, patience=patience)
        self._clerk = Clerk(self._engine)

    @classmethod
    def create(cls, where: str | Path) -> Ledger:
        """Make an empty ledger and open it; an existing one is refused."""
        LEDGER.create(where)
        return cls(where)

    def close(self) -> None:
        """Close the connections."""
        self._clerk.close()
        self._engine.dispose()

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except Exception as problem:
            raise refusal(problem) from None

    def open(self, dataset: str, budget: Cost, neighbours: str = "add-remove") -> None:
        """Open a data set; its budget must equal the one declared first.

        The first data set of an empty ledger is added. A further one must be added by name: a data set that was
        renamed by mistake would get a second budget.
        """

        def work(books: Books) -> None:
            datasets = [row["dataset"] for row in books.rows("datasets")]
            if datasets and dataset not in datasets:
                hint = "A further data set is added with 'celosia gateway init'."
                raise UnknownName.of("data set in this ledger", dataset, datasets, hint)
            _declare(books, dataset, budget, neighbours)

        self._clerk.book(work)

    def add(self, dataset: str, budget: Cost, neighbours: str = "add-remove") -> None:
        """Declare a data set with its binding lifetime total; a second call must state the same total."""
        self._clerk.book(lambda books: _declare(books, dataset, budget, neighbours))

    def share(self, dataset: str, share: Share) -> None:
        """Limit what one analyst (or each, ``"*"``) may spend in each day, month, year or in all (``life``)."""
        if share.period not in get_args(Period):
            raise InputError(f"a period is one of {', '.join(get_args(Period))}, got {share.period!r}.")
        row: Row = {"dataset": dataset, "analyst": share.analyst, "period": share.period}
        row |= {"loss": share.budget.loss_units, "delta": share.budget.delta_units}

        def work(books: Books) -> None:
            _total(books.budget(dataset)).same_measure(share.budget)
            if row in books.rows("shares", dataset=dataset, analyst=share.analyst):
                return
            books.run("drop share", dataset=dataset, analyst=share.analyst, period=share.period)
            books.run("new share", **row)
            books.append(dataset, "share", request=json.dumps(asdict(share), sort_keys=True))

        self._clerk.book(work)

    def charge(
        self, dataset: str, analyst: str, question: str, request: str, cost: Cost, *, fresh: bool = False
    ) -> Granted | Stored:
        """Book a cost before any noise is drawn, or return the stored answer to the same query.

        Raises :class:`~celosia.errors.BudgetError` when a limit does not allow it; the refusal is recorded too.
        """
        _check_analyst(analyst)

        def work(books: Books) -> Granted | Stored | str:
            balance = _balance(books, dataset, analyst)
            stored = None if fresh else books.stored_answer(dataset, question)
            if stored is not None:
                books.append(dataset, "repeat", analyst, question, request, charge=stored[0])
                return Stored(json.loads(stored[1]), balance.remaining, stored[0])
            refusal = _refusal(balance, cost)
            if refusal:
                books.append(dataset, "refusal", analyst, question, request, cost)
                return refusal
            seq = books.append(dataset, "charge", analyst, question, request, cost)
            return Granted(dataset, analyst, question, seq, cost, balance.remaining.minus(cost))

        outcome = self._clerk.book(work)
        if isinstance(outcome, str):
            raise BudgetError(outcome)
        return outcome

    def answer(self, granted: Granted, answer: Body) -> None:
        """Store the answer that belongs to a charge, before it is cost_text."""
        text = json.dumps(answer, allow_nan=False)
        at = granted
        self._clerk.book(
            lambda books: books.append(at.dataset, "answer", at.analyst, at.question, charge=at.seq, answer=text)
        )

    def fail(self, granted: Granted) -> None:
        """Record that a charged request got no answer; the charge stays."""
        at = granted
        self._clerk.book(lambda books: books.append(at.dataset, "failure", at.analyst, at.question, charge=at.seq))

    def balance(self, dataset: str, analyst: str = "") -> Balance:
        """Return what was spent and what is left, for the data set and for one analyst."""
        with self._connect() as connection:
            return _balance(Books(connection, reading=True), dataset, analyst)

    def datasets(self) -> list[str]:
        """Return the names of the data sets that have a budget here."""
        with self._connect() as connection:
            return [row["dataset"] for row in Books(connection, reading=True).rows("datasets")]

    def history(self, dataset: str, analyst: str = "", limit: int | None = None) -> list[Entry]:
        """Return the entries of the chain, newest first; of one analyst when named."""
        t = tables().entries
        query = t.select().where(t.c.dataset == dataset).order_by(t.c.seq.desc())
        if analyst:
            query = query.where(t.c.analyst == analyst)
        if limit is not None:
            query = query.limit(limit)
        with self._connect() as connection:
            return [Entry(**row) for row in connection.execute(query).mappings()]

    def stored_answer(self, dataset: str, charge: int) -> Body:
        """Return the answer that a charge paid for."""
        t = tables().entries
        query = t.select().where(t.c.dataset == dataset, t.c.kind == "answer", t.c.charge == charge)
        with self._connect() as connection:
            entry = connection.execute(query).mappings().first()
            if entry is None:
                raise InputError("the ledger has no answer to the charge number {charge}.", charge=charge)
            answer: Body = json.loads(entry["answer"])
        return answer

    def paid_for(self, dataset: str, analyst: str, charge: int) -> bool:
        """Return whether an analyst received the answer that a charge paid for."""
        t = tables().entries
        theirs = (t.c.seq == charge) & (t.c.kind == "charge") | (t.c.charge == charge) & (t.c.kind == "repeat")
        query = t.select().where(t.c.dataset == dataset, t.c.analyst == analyst, theirs).limit(1)
        with self._connect() as connection:
            return connection.execute(query).first() is not None

    def spenders(self, dataset: str) -> dict[str, Cost]:
        """Return what each analyst who was ever charged spent in all."""
        s = tables().spendings
        query = s.select().where(s.c.dataset == dataset, s.c.label == "life").order_by(s.c.analyst)
        with self._connect() as connection:
            measure = Books(connection, reading=True).budget(dataset)["measure"]
            return {row.analyst: Cost(measure, row.loss, row.delta) for row in connection.execute(query)}

    def verify(self, dataset: str, anchor: str = "") -> Verification:
        """Walk the whole chain: every hash, every sum, and that the total was never passed.

        An intruder who can write to the database could cut off the end of the chain and recompute it: keep the ``head``
        of an earlier verification elsewhere and give it as ``anchor``; it must still be part of the chain.
        """
        t, s = tables().entries, tables().spendings
        with self._connect() as connection:
            balance = Books(connection, reading=True).budget(dataset)
            rows = connection.execute(t.select().where(t.c.dataset == dataset).order_by(t.c.seq)).mappings()
            audit = Audit(Entry(**row) for row in rows)
            booked = {
                (row.analyst, row.label): (row.loss, row.delta)
                for row in connection.execute(s.select().where(s.c.dataset == dataset))
            }
            return audit.verdict(balance, booked, anchor)


class NoLedger(Ledger):
    """Ledger of a gateway that only explains queries: nothing is read from it, nothing can be charged."""

    def __init__(self) -> None:
        """Open nothing."""

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what needs the connection that other ledgers have."""
        if name not in ("_engine", "_clerk"):
            raise AttributeError(name)
        raise InputError("this gateway has no ledger: it explains queries, but answers none. Open it with a ledger.")

    def close(self) -> None:
        """Do nothing."""

    def open(self, dataset: str, budget: Cost, neighbours: str = "add-remove") -> None:
        """Do nothing."""

    def share(self, dataset: str, share: Share) -> None:
        """Do nothing."""


def _declare(books: Books, dataset: str, budget: Cost, neighbours: str) -> None:
    row: Row = {"measure": budget.measure, "neighbours": check_neighbours(neighbours)}
    row |= {"loss_total": budget.loss_units, "delta_total": budget.delta_units}
    if books.find(dataset) is None:  # another gateway may do the same now: the second one finds the first's row
        books.run("new budget", dataset=dataset, head=GENESIS, **row)
    declared = books.budget(dataset)
    if declared["length"] == 0:
        books.append(dataset, "open", request=json.dumps(row, sort_keys=True))
    elif any(declared[key] != value for key, value in row.items()):
        raise BudgetError(
            f"the data set {dataset!r} has a lifetime total of {cost_text(_total(declared))} under "
            f"{declared['neighbours']} neighbours; it cannot be changed to {cost_text(budget)} under {neighbours}. "
            "What was promised when the first answer was given binds for good."
        )


def _check_analyst(name: object) -> None:
    """Raise unless the name can be hashed and stored as it is."""
    if not isinstance(name, str) or any("\ud800" <= character <= "\udfff" for character in name):
        raise InputError(f"the name of an analyst must be a text in Unicode, got {name!r}.")


def _balance(books: Books, dataset: str, analyst: str) -> Balance:
    budget = books.budget(dataset)
    measure = budget["measure"]
    spent = Cost(measure, budget["loss_spent"], budget["delta_spent"])
    lifetime = Allowance(Message("lifetime total of {dataset!r}", dataset=dataset), _total(budget), spent)
    shares = tuple(_shares(books, dataset, analyst, measure)) if analyst else ()
    return Balance(dataset, budget["neighbours"], lifetime, shares)


def _shares(books: Books, dataset: str, analyst: str, measure: Measure) -> Iterator[Allowance]:
    rows = books.rows("shares", dataset=dataset, analyst=analyst)
    shares = {row["period"]: row for row in rows if row["analyst"] == "*"}
    shares |= {row["period"]: row for row in rows if row["analyst"] == analyst}
    if not shares:
        return
    spent = books.spent(dataset, analyst)
    now = labels(datetime.now(UTC).isoformat())
    for period, row in shares.items():
        used = Cost(measure, *spent.get(now[period], (0, 0)))
        total, name = (
            Cost(measure, row["loss"], row["delta"]),
            Message("share of {analyst!r} ({period})", analyst=analyst, period=now[period]),
        )
        yield Allowance(name, total, used, period, now[period])


def _total(row: Row) -> Cost:
    return Cost(row["measure"], row["loss_total"], row["delta_total"])


def _refusal(balance: Balance, cost: Cost) -> str:
    for limit in (balance.lifetime, *balance.shares):
        if not (limit.spent + cost).fits(limit.total):
            return Message(
                "the {limit} does not allow this request: it costs {cost}, {left} of {total} is left. Ask with a "
                "smaller epsilon, or ask nothing more about these people.",
                limit=limit.name,
                cost=cost_text(cost),
                left=cost_text(limit.remaining),
                total=cost_text(limit.total),
            )
    return ""


def cost_text(cost: Cost) -> Message:
    """Return a cost as text.

    >>> cost_text(Cost.pure(0.1))
    'epsilon 0.1'
    """
    if cost.measure == "pure":
        return Message("epsilon {epsilon:.12g}", epsilon=cost.loss)
    if cost.measure == "zcdp":
        return Message("rho {rho:.12g}, delta {delta:.12g}", rho=cost.loss, delta=cost.delta)
    return Message("epsilon {epsilon:.12g}, delta {delta:.12g}", epsilon=cost.loss, delta=cost.delta)
