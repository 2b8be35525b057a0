from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from celosia.errors import BudgetError, InputError, UnknownName
from celosia.gateway.ledger import Granted, Ledger, Share, Stored
from celosia.kernels.budget.cost import Cost
from celosia.kernels.budget.noise import laplace_for


def tenth(ledger: Ledger, question: str, analyst: str = "ana", **more: object):
    return ledger.charge("d", analyst, question, "SELECT …", Cost.pure(0.1), **more)  # type: ignore[arg-type]


def test_ten_tenths_fit_and_the_eleventh_does_not(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    for i in range(10):
        granted = tenth(ledger, f"q{i}")
        assert isinstance(granted, Granted)
        ledger.answer(granted, {"value": i})
    assert ledger.balance("d").remaining == Cost.pure(0)
    with pytest.raises(BudgetError, match=r"costs epsilon 0.1, epsilon 0 of epsilon 1 is left"):
        tenth(ledger, "one more")
    report = ledger.verify("d")
    assert report.holds, report.problem
    assert (report.charges, report.answers) == (10, 10)
    assert [entry.kind for entry in ledger.history("d", limit=2)] == ["refusal", "answer"]


def test_a_share_of_a_period_that_there_is_not_is_refused(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    with pytest.raises(InputError, match=r"life.*year.*month.*day.*'week'"):
        ledger.share("d", Share("ana", "week", Cost.pure(0.5)))  # type: ignore[arg-type]
    assert isinstance(tenth(ledger, "q"), Granted)


def test_the_same_question_costs_nothing_again_unless_fresh(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    first = tenth(ledger, "same")
    ledger.answer(first, {"value": 42})
    again = tenth(ledger, "same", analyst="berta")
    assert again == Stored({"value": 42}, Cost.pure(0.9), first.seq)
    assert ledger.stored_answer("d", first.seq) == {"value": 42}
    with pytest.raises(InputError, match="no answer to the charge number 99"):
        ledger.stored_answer("d", 99)
    assert isinstance(tenth(ledger, "same", fresh=True), Granted)
    assert ledger.balance("d").remaining == Cost.pure(0.8)


def test_a_charge_without_an_answer_stays_charged(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    granted = tenth(ledger, "q")
    assert isinstance(granted, Granted)
    ledger.fail(granted)
    assert isinstance(tenth(ledger, "q"), Granted)  # no answer was stored: asking again is a new charge
    assert ledger.balance("d").lifetime.spent == Cost.pure(0.2)
    assert ledger.verify("d").holds


def test_a_share_that_is_set_anew_takes_the_place_of_the_old_one(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    for most in (0.1, 0.3, 0.2):
        ledger.share("d", Share("ana", "life", Cost.pure(most)))
    assert ledger.balance("d", "ana").remaining == Cost.pure(0.2)
    tenth(ledger, "1")
    tenth(ledger, "2")
    with pytest.raises(BudgetError, match="share of 'ana'"):
        tenth(ledger, "3")


def test_shares_bind_inside_the_total(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    ledger.share("d", Share("*", "day", Cost.pure(0.2)))
    ledger.share("d", Share("ana", "life", Cost.pure(0.3)))
    tenth(ledger, "1")
    tenth(ledger, "2")
    with pytest.raises(BudgetError, match="share of 'ana'"):
        tenth(ledger, "3")
    tenth(ledger, "3", analyst="berta")
    assert ledger.balance("d", "berta").remaining == Cost.pure(0.1)
    assert ledger.balance("d", "ana").remaining == Cost.pure(0)
    assert ledger.balance("d").lifetime.remaining == Cost.pure(0.7)
    ledger.share("d", Share("ana", "day", Cost.pure(5)))  # her own daily share wins over everyone's
    tenth(ledger, "4")
    with pytest.raises(BudgetError, match="life"):
        tenth(ledger, "5")
    assert ledger.verify("d").holds


def test_the_total_binds_colluding_analysts(ledger: Ledger):
    ledger.open("d", Cost.pure(0.3))
    ledger.share("d", Share("*", "life", Cost.pure(0.2)))
    for analyst in ("ana", "berta", "carla"):
        tenth(ledger, analyst, analyst=analyst)
    with pytest.raises(BudgetError, match="lifetime total"):
        tenth(ledger, "dora", analyst="dora")


def test_delta_is_counted_too(ledger: Ledger):
    ledger.open("d", Cost.of("approximate", 10, 1e-6))
    cost = Cost.of("approximate", 0.1, 6e-7)
    ledger.charge("d", "a", "1", "", cost)
    with pytest.raises(BudgetError, match="delta"):
        ledger.charge("d", "a", "2", "", cost)


def test_a_total_cannot_be_changed(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    ledger.open("d", Cost.pure(1.0))
    with pytest.raises(BudgetError, match="cannot be changed"):
        ledger.open("d", Cost.pure(2.0))
    with pytest.raises(BudgetError, match="cannot be changed"):
        ledger.open("d", Cost.pure(1.0), "change-one")


def test_unknown_names_and_places(ledger: Ledger, tmp_path: Path):
    ledger.open("adult", Cost.pure(1.0))
    with pytest.raises(UnknownName, match="Did you mean 'adult'"):
        ledger.charge("adlut", "a", "q", "", Cost.pure(0.1))
    with pytest.raises(InputError, match="durable"):
        Ledger("sqlite:///:memory:")
    with pytest.raises(InputError, match="there is no ledger"):
        Ledger(tmp_path / "nowhere" / "ledger.db")
    with pytest.raises(InputError, match="mysql"):
        Ledger("mysql://localhost/x")


def test_the_database_itself_refuses_changes(ledger: Ledger):
    ledger.open("d", Cost.pure(1.0))
    tenth(ledger, "q")
    for statement in (
        "UPDATE celosia_entries SET loss = 0",
        "DELETE FROM celosia_entries",
        "UPDATE celosia_budgets SET loss_spent = loss_total + 1",
    ):
        with pytest.raises(sa.exc.DBAPIError), ledger._engine.begin() as connection:
            connection.exec_driver_sql(statement)
    assert ledger.verify("d").holds


@pytest.mark.parametrize(
    ("tampering", "problem"),
    [
        ("UPDATE celosia_entries SET loss = 1 WHERE kind = 'charge'", "altered"),
        ("UPDATE celosia_entries SET answer = '{}' WHERE kind = 'answer'", "altered"),
        ("DELETE FROM celosia_entries WHERE seq = 3", "missing"),
        ("DELETE FROM celosia_entries WHERE seq = 5", "balance does not equal|missing"),
        ("UPDATE celosia_budgets SET loss_spent = 0", "balance does not equal"),
        ("UPDATE celosia_budgets SET loss_total = 2 * loss_total", "total was changed"),
        ("UPDATE celosia_spendings SET loss = 0", "per analyst"),
    ],
)
def test_tampering_is_found(tmp_path: Path, tampering: str, problem: str):
    import re

    ledger = Ledger.create(tmp_path / "ledger.db")
    ledger.open("d", Cost.pure(1.0))
    for i in range(2):
        ledger.answer(tenth(ledger, f"q{i}"), {"value": i})  # type: ignore[arg-type]
    anchor = ledger.verify("d").head
    with ledger._engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER celosia_no_update")
        connection.exec_driver_sql("DROP TRIGGER celosia_no_delete")
        connection.exec_driver_sql(tampering)
    report = ledger.verify("d", anchor)
    assert not report.holds
    assert re.search(problem, report.problem)
    ledger.close()


def test_a_cut_off_chain_is_found_by_its_anchor(tmp_path: Path):
    ledger = Ledger.create(tmp_path / "ledger.db")
    ledger.open("d", Cost.pure(1.0))
    before = ledger.verify("d").head
    tenth(ledger, "q")
    after = ledger.verify("d", before).head
    with ledger._engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER celosia_no_delete")
        connection.exec_driver_sql("DELETE FROM celosia_entries WHERE seq > 1")
        connection.exec_driver_sql("DELETE FROM celosia_spendings")
        connection.exec_driver_sql(f"UPDATE celosia_budgets SET loss_spent = 0, length = 1, head = '{before}'")
    assert ledger.verify("d").holds  # a careful forger
    assert "anchor" in ledger.verify("d", after).problem
    ledger.close()


def test_the_file_is_private(tmp_path: Path):
    Ledger.create(tmp_path / "ledger.db").close()
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_full_synchronisation(tmp_path: Path):
    ledger = Ledger.create(tmp_path / "ledger.db")
    with ledger._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    ledger.close()


@pytest.mark.sampled
def test_64_clients_with_50_questions_each_never_overspend(ledger: Ledger, ledger_url: str):
    """Half of what is asked for can be paid: exactly that much is charged, and every answer is in the ledger."""
    clients, each = 64, 50 if ledger_url.startswith("sqlite") else 16
    budget = Cost.pure(0.001).times(clients * each // 2)
    ledger.open("d", budget)
    noise = laplace_for(1, 0.001)
    given: list[str] = []
    refused = [0] * clients
    problems: list[BaseException] = []

    def client(number: int) -> None:
        try:
            for i in range(each):
                question = f"{number}-{i}"
                try:
                    granted = ledger.charge("d", f"analyst{number}", question, "", Cost.pure(0.001))
                except BudgetError:
                    refused[number] += 1
                    continue
                assert isinstance(granted, Granted)
                ledger.answer(granted, {"value": noise.add([100])[0]})
                given.append(question)
        except BaseException as problem:  # a thread must hand its failure over
            problems.append(problem)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[:1]
    assert len(given) == clients * each // 2
    assert sum(refused) == clients * each // 2
    assert ledger.balance("d").lifetime.spent == budget
    stored = {entry.question: json.loads(entry.answer) for entry in ledger.history("d") if entry.kind == "answer"}
    assert set(stored) == set(given)
    report = ledger.verify("d")
    assert report.holds, report.problem
    assert report.charges == report.answers == clients * each // 2


def test_two_gateways_may_open_the_same_budget_at_once(ledger_url: str):
    Ledger.create(ledger_url).close()
    ledgers = [Ledger(ledger_url) for _ in range(6)]
    problems: list[BaseException] = []

    def start(ledger: Ledger) -> None:
        try:
            ledger.open("d", Cost.pure(1.0))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=start, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    report = ledgers[0].verify("d")
    assert report.holds
    assert report.entries == 1
    for ledger in ledgers:
        ledger.close()
