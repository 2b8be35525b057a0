"""A ledger that was changed or damaged answers nothing more, and says so in one sentence."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from celosia.errors import CelosiaError
from celosia.gateway.ledger import Damaged, Ledger, Share, Stored
from celosia.kernels.budget.cost import Cost

TENTH = Cost.pure(0.1)


def charge(ledger: Ledger, question: str, analyst: str = "eve"):
    return ledger.charge("d", analyst, question, '{"sql": "SELECT"}', TENTH)


def filled(ledger: Ledger, charges: int = 4) -> Ledger:
    ledger.open("d", Cost.pure(5.0))
    ledger.share("d", Share("eve", "life", Cost.pure(2.0)))
    for i in range(charges):
        ledger.answer(charge(ledger, f"q{i}"), {"value": i})
    return ledger


TAMPERED = {
    "balance lowered": "UPDATE celosia_budgets SET loss_spent = 0",
    "balance raised": "UPDATE celosia_budgets SET loss_spent = loss_spent + 1",
    "total raised": "UPDATE celosia_budgets SET loss_total = 2 * loss_total",
    "length": "UPDATE celosia_budgets SET length = length - 1",
    "head": "UPDATE celosia_budgets SET head = 'x'",
    "sums of an analyst": "UPDATE celosia_spendings SET loss = 0 WHERE label = 'life'",
    "charges forgotten": "DELETE FROM celosia_entries WHERE seq > 6",
    "a charge altered": "UPDATE celosia_entries SET loss = 1 WHERE seq = 3",
    "the last line altered": "UPDATE celosia_entries SET answer = '{}' WHERE seq = 10",
    "a line inserted": "INSERT INTO celosia_entries SELECT dataset, 11, at, kind, analyst, question, request, loss, delta,"
    " charge, answer, previous, hash FROM celosia_entries WHERE seq = 3",
}


def tamper(url: str, statement: str) -> None:
    """Change the ledger behind its back, as its owner could."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        table = " ON celosia_entries" if engine.dialect.name == "postgresql" else ""
        for verb in ("update", "delete"):
            connection.exec_driver_sql(f"DROP TRIGGER celosia_no_{verb}{table}")
        connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.mark.parametrize("change", TAMPERED)
def test_nothing_is_charged_when_the_balance_and_the_chain_disagree(ledger_url: str, change: str):
    """Found when a ledger is opened; while it is open, by every charge, except in a line that was checked before."""
    with closing(filled(Ledger.create(ledger_url))) as before:
        tamper(ledger_url, TAMPERED[change])
        if change not in ("a charge altered", "the last line altered", "charges forgotten"):
            with pytest.raises(Damaged, match="ledger is damaged"):
                charge(before, "next")
            with pytest.raises(Damaged):
                charge(before, "once more")
        with closing(Ledger(ledger_url)) as after, pytest.raises(Damaged, match="gateway verify"):
            charge(after, "next")
        assert not before.verify("d").holds


def test_what_another_process_charged_is_no_damage(ledger_url: str):
    with closing(filled(Ledger.create(ledger_url))) as one, closing(Ledger(ledger_url)) as other:
        for i in range(3):
            charge(one, f"one {i}")
            charge(other, f"other {i}", "bob")
        assert isinstance(charge(other, "q1"), Stored)
        assert one.balance("d").lifetime.spent == Cost.pure(1.0)
        assert one.verify("d").holds


def test_a_restored_ledger_goes_on(tmp_path: Path):
    with closing(filled(Ledger.create(tmp_path / "l.db"))) as ledger:
        tamper(f"sqlite:///{tmp_path / 'l.db'}", "UPDATE celosia_budgets SET loss_spent = loss_spent + 1")
        with pytest.raises(Damaged):
            charge(ledger, "next")
        with closing(sqlite3.connect(tmp_path / "l.db")) as connection:
            connection.execute("UPDATE celosia_budgets SET loss_spent = loss_spent - 1")
            connection.commit()
        charge(ledger, "next")


def use(path: Path) -> list[str]:
    """Do everything that a gateway does with a ledger; returns the messages of what was refused."""
    messages: list[str] = []

    def attempt(work):
        try:
            return work()
        except CelosiaError as refusal:
            messages.append(str(refusal))

    ledger = attempt(lambda: Ledger(path))
    if ledger is None:
        return messages
    attempt(lambda: ledger.open("d", Cost.pure(5.0)))
    granted = attempt(lambda: charge(ledger, "flipped"))
    if granted is not None:
        attempt(lambda: ledger.answer(granted, {"value": 1}))
    attempt(lambda: charge(ledger, "q1"))
    attempt(lambda: ledger.balance("d", "eve"))
    attempt(lambda: ledger.history("d", "eve", 20))
    attempt(lambda: ledger.stored_answer("d", 3))
    attempt(lambda: ledger.paid_for("d", "eve", 3))
    attempt(ledger.datasets)
    attempt(lambda: ledger.spenders("d"))
    attempt(lambda: ledger.verify("d"))
    attempt(ledger.close)
    return messages


def flips(tmp_path: Path, seed: int, count: int) -> int:
    """Flip one bit of a ledger at a time and use it; returns how many flips were noticed."""
    with closing(filled(Ledger.create(tmp_path / "l.db"), 12)):
        pass
    whole, rng, noticed = (tmp_path / "l.db").read_bytes(), random.Random(seed), 0
    used = [at for at, byte in enumerate(whole) if byte]  # rows and headers: most of a page is empty
    for i in range(count):
        content = bytearray(whole)
        at = rng.choice(used) if i % 2 else rng.randrange(len(content))
        content[at] ^= 1 << rng.randrange(8)
        path = tmp_path / f"flip{i}.db"
        path.write_bytes(content)
        messages = use(path)
        assert not any("celosia_" in message or "sqlite" in message for message in messages), messages
        noticed += bool(messages)
    return noticed


def test_a_flipped_bit_raises_no_error_of_the_database(tmp_path: Path):
    assert flips(tmp_path, 5, 60) > 10


@pytest.mark.long
def test_many_flipped_bits_raise_no_error_of_the_database(tmp_path: Path):
    assert flips(tmp_path, 14, 600) > 100
