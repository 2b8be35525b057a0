from __future__ import annotations

import contextlib
import csv
import json
import math
import threading
import time
from contextlib import closing

import numpy as np
import pytest

from celosia.errors import BudgetError, InputError, PolicyError
from celosia.gateway import commands
from celosia.gateway.audit import audit
from celosia.gateway.databases import open_database
from celosia.gateway.gateway import Gateway, NoAnswer
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql.parse import Refused
from celosia.kernels.budget.cost import Cost
from celosia_reproduce.lecture.people import EDUCATION

NAMES = "age workclass fnlwgt education education_num marital occupation relationship race sex gain loss hours country target"
COLUMNS = {
    "name": {"type": "text"},
    "age": {"type": "integer", "bounds": [17, 90]},
    "education": {"type": "text", "categories": EDUCATION},
    "education_num": {"type": "integer", "bounds": [1, 16]},
    "sex": {"type": "text", "categories": ["Female", "Male"]},
    "hours": {"type": "integer", "bounds": [0, 100]},
    "country": {"type": "text"},
    "target": {"type": "text", "categories": ["<=50K", ">50K"]},
}


@pytest.fixture(scope="session")
def adult_csv(tmp_path_factory):
    from pathlib import Path

    source = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.data"
    if not source.exists():
        pytest.skip("needs the reference file adult.data, which is not part of the project")
    path = tmp_path_factory.mktemp("adult") / "person.csv"
    with source.open() as file, path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["name", *NAMES.split()])
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if len(row) == 15]
        for i, row in enumerate(rows):
            writer.writerow(["Alan Brito" if i == 0 else f"Person {i}", *row])
    return path


def declared(path, **more):
    data = {"name": "adult", "epsilon": 10_000.0, "tables": {"person": {"source": str(path), "columns": COLUMNS}}}
    return DatasetFacts.of({**data, **more})


@pytest.fixture
def adult(adult_csv, tmp_path):
    with closing(Gateway(declared(adult_csv), Ledger.create(tmp_path / "ledger.db"), grid=0)) as gateway:
        yield gateway


def value(answer, row=0):
    return answer.value(row=row)


def test_count_of_the_lecture(adult):
    """14 237 people of 40 and more, sensitivity 1, epsilon 0.1: scale 10, within 30 with 95 %."""
    sql = "SELECT COUNT(*) FROM person WHERE age >= 40"
    told = adult.explain(sql, epsilon=0.1).numbers[0]
    assert (told["sensitivity"], told["scale"], told["half width"]) == (1, 10, 30)
    chances = adult.explain(sql, epsilon=0.1).coverage(1)
    assert chances["1. number of rows"] == pytest.approx(1 - 2 * math.exp(-0.2) / (1 + math.exp(-0.1)))
    assert value(adult.ask(sql, epsilon=500.0)) == 14237
    noisy = [value(adult.ask(sql, epsilon=0.1, fresh=True)) - 14237 for _ in range(400)]
    expected = 2 * math.exp(-0.1) / (1 - math.exp(-0.2))
    assert abs(np.abs(noisy).mean() - expected) < 5 * expected / 20
    assert abs(np.abs(noisy).mean() - 0.5 * expected) > 5 * expected / 20


def test_differencing_no_longer_tells_the_age(adult):
    whole = "SELECT SUM(age) FROM person"
    without = "SELECT SUM(age) FROM person WHERE name <> 'Alan Brito'"
    assert value(adult.ask(whole, epsilon=2000.0)) - value(adult.ask(without, epsilon=2000.0)) == 39
    assert value(adult.ask(whole, epsilon=2000.0)) == 1256257
    found = [
        value(adult.ask(whole, epsilon=0.1, fresh=True)) - value(adult.ask(without, epsilon=0.1, fresh=True))
        for _ in range(50)
    ]
    assert np.std(found) > 500  # two noises of scale 900


def test_education_by_sex_costs_once(adult):
    sql = "SELECT education, sex, COUNT(*) AS n FROM person GROUP BY education, sex"
    told = adult.explain(sql, epsilon=1.0)
    assert told.cells == 32
    assert told.numbers[0]["scale"] == 1
    rows = adult.ask(sql, epsilon=500.0).rows
    assert len(rows) == 32
    found = {(row["education"], row["sex"]): row["n"]["value"] for row in rows}
    assert found["HS-grad", "Male"] == 7111
    assert found["Preschool", "Female"] == 16
    assert sum(found.values()) == 32561


def test_change_one_costs_twice(adult_csv, tmp_path):
    with closing(
        Gateway(declared(adult_csv, neighbours="change-one"), Ledger.create(tmp_path / "l.db"), grid=0)
    ) as gateway:
        sql = "SELECT education, sex, COUNT(*) AS n FROM person GROUP BY education, sex"
        assert gateway.explain(sql, epsilon=1.0).numbers[0]["scale"] == 2
        assert gateway.explain("SELECT COUNT(*) FROM person", epsilon=1.0).numbers[0]["scale"] == 1


def test_repeating_teaches_nothing_and_announcing_shares(adult):
    sql = "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'"
    first = adult.ask(sql, epsilon=0.1)
    for _ in range(20):
        again = adult.ask(sql, epsilon=0.1, analyst="somebody else")
        assert again.stored
        assert again.rows == first.rows
        assert again.cost == Cost.pure(0)
    assert adult.balance().lifetime.spent == Cost.pure(0.1)
    shared = adult.ask(sql, epsilon=0.1, announce=4)
    assert shared.cost == Cost.pure(0.025)
    assert adult.explain(sql, epsilon=0.1, announce=4).numbers[0]["scale"] == 40
    spelled = adult.ask(
        "select count ( * ) from PERSON where (Name = 'Alan Brito') and target='<=50K' -- hm", epsilon=0.1
    )
    assert spelled.stored  # the same question in other words


def test_intervals_hold_what_they_promise(adult):
    sql = "SELECT AVG(age), VAR_POP(age), SUM(hours), COUNT(*) FROM person WHERE education_num > 14"
    exact = adult.ask(sql, epsilon=2000.0).rows[0]
    truth = {name: cell["value"] for name, cell in exact.items()}
    inside = dict.fromkeys(truth, 0)
    tries = 150
    for _ in range(tries):
        row = adult.ask(sql, epsilon=0.5, fresh=True).rows[0]
        for name, cell in row.items():
            inside[name] += cell["low"] <= truth[name] <= cell["high"]
    for count in inside.values():
        assert count / tries > 0.95 - 4 * math.sqrt(0.95 * 0.05 / tries)


def test_standard_errors_hold(adult):
    sql = "SELECT AVG(age) FROM person WHERE education_num > 14"
    rows = [adult.ask(sql, epsilon=0.5, fresh=True).rows[0]["avg"] for _ in range(200)]
    told = np.median([cell["error"] for cell in rows])
    assert np.std([cell["value"] for cell in rows]) == pytest.approx(told, rel=0.35)


def test_a_cost_is_split_over_the_numbers_of_a_question(adult):
    """Four numbers share one epsilon: each has four times the noise it would have alone."""
    sql = "SELECT COUNT(*) AS n, SUM(age), AVG(hours) FROM person"  # the mean needs a sum and a count
    told = adult.explain(sql, epsilon=0.4)
    assert [number["share"] for number in told.numbers] == [0.1] * 4
    assert [number["scale"] for number in told.numbers] == [10, 900, 10, 500]
    noisy = [adult.ask(sql, epsilon=0.4, fresh=True).rows[0]["n"]["value"] - 32561 for _ in range(400)]
    expected = 2 * math.exp(-0.1) / (1 - math.exp(-0.2))  # of the discrete Laplace distribution of scale 10
    assert abs(np.abs(noisy).mean() - expected) < 5 * expected / 20
    assert abs(np.abs(noisy).mean() - expected / 4) > 5 * expected / 20


def test_hidden_groups_need_delta(adult_csv, tmp_path, adult):
    sql = "SELECT country, COUNT(*) AS n FROM person GROUP BY country ORDER BY n DESC"
    with pytest.raises(Refused, match="not public"):
        adult.ask(sql, epsilon=1.0)
    facts = declared(adult_csv, delta=1e-3, epsilon=100.0)
    with closing(Gateway(facts, Ledger.create(tmp_path / "d.db"), grid=0)) as gateway:
        with pytest.raises(Refused, match="delta above 0"):
            gateway.ask(sql, epsilon=1.0)
        answer = gateway.ask(sql, epsilon=1.0, delta=1e-6)
        least = gateway.explain(sql, epsilon=1.0, delta=1e-6).threshold
        assert least == 15
        shown = {row["country"]: row["n"]["value"] for row in answer.rows}
        assert min(shown.values()) >= least
        assert "United-States" in shown
        assert "Holand-Netherlands" not in shown  # one person
        assert answer.left.delta == pytest.approx(1e-3 - 1e-6)
        unneeded = gateway.ask("SELECT COUNT(*) FROM person", epsilon=1.0, delta=1e-6)
        assert unneeded.cost.delta == 0  # nothing needs it here, so it is not charged


def test_gaussian_and_zcdp(adult_csv, tmp_path):
    sql = "SELECT education, COUNT(*) FROM person GROUP BY education"
    with closing(
        Gateway(declared(adult_csv, delta=1e-3, epsilon=10.0), Ledger.create(tmp_path / "a.db"), grid=0)
    ) as gateway:
        told = gateway.explain(sql, epsilon=1.0, delta=1e-5, noise="gaussian").numbers[0]
        assert told["scale"] == pytest.approx(3.7306, abs=1e-3)
        answer = gateway.ask(sql, epsilon=1.0, delta=1e-5, noise="gaussian")
        assert sum(row["count"]["value"] for row in answer.rows) == pytest.approx(32561, abs=150)
    zcdp = declared(adult_csv, epsilon=None, rho=1.0)
    with closing(Gateway(zcdp, Ledger.create(tmp_path / "z.db"), grid=0)) as gateway:
        assert gateway.explain(sql, rho=0.5).numbers[0]["scale"] == 1
        answer = gateway.ask(sql, rho=0.5)
        assert answer.data()["left"] == {"rho": 0.5, "delta": 0.0}
        with pytest.raises(InputError, match="counts its budget in rho"):
            gateway.ask(sql, epsilon=0.1)
        with pytest.raises(BudgetError):
            gateway.ask(sql, rho=0.6)


def test_nothing_is_read_or_spent_by_an_explanation(adult, monkeypatch):
    monkeypatch.setattr(adult, "_noisy_lines", lambda *_: pytest.fail("the data were read"))
    text = adult.explain("SELECT AVG(hours) FROM person GROUP BY sex", epsilon=0.1).text()
    assert "costs epsilon 0.1 under add-remove neighbours" in text
    assert "The answer has 2 rows." in text
    assert "moves it by at most 50 in all" in text
    assert adult.balance().lifetime.spent == Cost.pure(0)


def test_a_failing_database_keeps_the_charge_and_its_silence(adult, monkeypatch):
    monkeypatch.setattr(adult._database, "rows", lambda _: 1 / 0)
    with pytest.raises(NoAnswer, match="reason is not shown") as raised:
        adult.ask("SELECT COUNT(*) FROM person", epsilon=0.1)
    assert raised.value.__cause__ is None
    assert "zero" not in str(raised.value)
    assert adult.balance().lifetime.spent == Cost.pure(0.1)
    assert [entry.kind for entry in adult.ledger.history("adult", limit=2)] == ["failure", "charge"]


def test_no_word_of_the_database_reaches_the_analyst(adult, monkeypatch, caplog):
    def fail(_sql):
        raise ValueError("secret 7731")

    waited = []

    @contextlib.contextmanager
    def on_grid(start, _step):
        try:
            yield
        finally:
            waited.append(start)

    monkeypatch.setattr(adult._database, "_rows", fail)
    monkeypatch.setattr(adult, "_on_grid", on_grid)
    by_sex = "SELECT sex, COUNT(*) FROM person GROUP BY sex"
    for ask in (adult.explain, adult.ask):  # the cells are listed by the database before anything is charged
        with pytest.raises(NoAnswer) as raised:
            ask(by_sex, epsilon=0.1)
        assert str(raised.value) == "the database gave no answer. Ask the data owner."
    assert adult.balance().lifetime.spent == Cost.pure(0)
    with pytest.raises(NoAnswer, match="stays charged"):
        adult.ask("SELECT COUNT(*) FROM person", epsilon=0.1)
    assert len(waited) == 1  # the charged failure leaves on the grid as an answer does
    assert caplog.records
    assert all("7731" not in record.getMessage() and record.exc_info is None for record in caplog.records)


def test_answers_leave_on_a_grid(adult_csv, tmp_path):
    with closing(Gateway(declared(adult_csv), Ledger.create(tmp_path / "g.db"), grid=0.1)) as gateway:
        for epsilon in (0.1, 0.2):
            start = time.monotonic()
            gateway.ask("SELECT COUNT(*) FROM person", epsilon=epsilon)
            taken = time.monotonic() - start
            assert taken >= 0.1


def test_64_clients_cannot_overspend_through_the_gateway(adult_csv, tmp_path):
    with closing(Gateway(declared(adult_csv, epsilon=3.2), Ledger.create(tmp_path / "c.db"), grid=0)) as gateway:
        given, refused, problems = [], [], []

        def client(number: int) -> None:
            try:
                for i in range(10):
                    try:
                        given.append(
                            gateway.ask(
                                f"SELECT COUNT(*) FROM person WHERE age > {number % 32 + i}", epsilon=0.01, fresh=True
                            )
                        )
                    except BudgetError:
                        refused.append(number)
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=client, args=(i,)) for i in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert len(given) == 320
        assert len(refused) == 320
        assert gateway.balance().remaining == Cost.pure(0)
        report = gateway.ledger.verify("adult")
        assert report.holds
        assert report.answers == 320


def test_two_people_asking_the_same_at_once_pay_once(adult):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(adult.ask("SELECT SUM(hours) FROM person", epsilon=0.1)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({json.dumps(answer.rows) for answer in answers}) == 1
    assert adult.balance().lifetime.spent == Cost.pure(0.1)


def test_audit_finds_the_pair_that_differs_by_one_person(adult_csv):
    facts = declared(adult_csv)
    log = [
        "SELECT SUM(age) FROM person",
        "SELECT SUM(age) FROM person WHERE name <> 'Alan Brito'",
        "SELECT COUNT(*) FROM person WHERE age >= 40",
        "SELECT COUNT(*) FROM person WHERE name = 'Alan Brito' AND target = '<=50K'",
        "SELECT COUNT(*) FROM person WHERE age >= 40 AND NOT (age = 90 AND education = 'Doctorate')",
        "SELECT * FROM person WHERE CAST(name AS INTEGER) = 1",
    ]
    with closing(open_database(facts)) as database:
        found = audit(log, facts, database)
    assert [(pair.first, pair.second, pair.persons) for pair in found.pairs] == [(0, 1, 1)]
    assert found.small == ((3, 1),)
    assert [place for place, _ in found.skipped] == [5]


def test_audit_leaves_texts_of_a_question_alone(tmp_path):
    (tmp_path / "visit.csv").write_text('who,ward\n1,A\n2,"""c0"""\n3,B\n4,"O\'""c0"""\n')
    table = {"source": str(tmp_path / "visit.csv"), "person": "who", "rows": 5}
    table["columns"] = {"who": {"type": "integer"}, "ward": {"type": "text"}}
    facts = DatasetFacts.of({"name": "v", "epsilon": 1, "tables": {"visit": table}})
    log = [f"SELECT COUNT(*) FROM visit WHERE ward = '{text}'" for text in ('"c0"', "O''\"c0\"", "X")]
    with closing(open_database(facts)) as database:
        assert audit(log, facts, database).small == ((0, 1), (1, 1))


def test_audit_counts_persons_not_rows(tmp_path):
    (tmp_path / "visit.csv").write_text("who,ward\n" + "1,A\n" * 5000 + "1,C\n2,A\n3,B\n4,B\n")
    table = {"source": str(tmp_path / "visit.csv"), "person": "who", "rows": 5}
    table["columns"] = {"who": {"type": "integer"}, "ward": {"type": "text"}}
    facts = DatasetFacts.of({"name": "v", "epsilon": 1, "tables": {"visit": table}})
    log = [
        "SELECT COUNT(*) FROM visit",
        "SELECT COUNT(*) FROM visit WHERE who <> 1",
        "SELECT COUNT(*) FROM visit WHERE ward = 'B'",
        "SELECT COUNT(*) FROM visit WHERE ward = 'C'",
    ]
    with closing(open_database(facts)) as database:
        found = audit(log, facts, database)
    assert [(pair.first, pair.second, pair.persons) for pair in found.pairs] == [(0, 1, 1), (1, 2, 1)]
    assert found.small == ((3, 1),)  # one of the 5001 rows of the first person is in ward C


def test_commands(tmp_path):
    (tmp_path / "person.csv").write_text("age\n" + "\n".join(str(20 + i % 50) for i in range(300)))
    declaration = tmp_path / "people.toml"
    declaration.write_text(
        'name = "people"\nepsilon = 1.0\n[tables.person]\nsource = "person.csv"\n'
        '[tables.person.columns]\nage = {type = "integer", bounds = [0, 100]}\n'
    )
    assert len(commands.init(declaration)) == 3
    answer = commands.query("SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM person", declaration, epsilon=0.5)
    text = commands.answer_text(answer)
    assert " ranks)" in text
    assert "In brackets: 95 % interval." in text
    assert "(left: epsilon 0.5)" in text
    told = commands.query("SELECT COUNT(*) FROM person", declaration, epsilon=0.1, explain=True)
    assert "±30" in told.text()
    checked = commands.verify(declaration)
    assert checked.holds
    assert commands.verify(declaration, anchor="0" * 64).problem
    log = tmp_path / "log.sql"
    log.write_text(
        "SELECT SUM(age) FROM person; SELECT SUM(age) FROM person WHERE age <> 200\nSELECT COUNT(*) FROM person"
    )
    assert commands.audit_log(log, declaration).pairs == ()
    with pytest.raises(InputError, match="no analyst has a key"):
        commands.serve(declaration)
    assert len(commands.add_key(declaration, "ana")) > 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": None}, "epsilon or as rho"),
        ({"rho": 1.0}, "epsilon or as rho"),
        ({"tables": {}}, "at least one table"),
        ({"neighbours": "bounded"}, "neighbours"),
        ({"joins": [{"left": "person.x", "right": "person.y"}]}, "not a declared table.column"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_declarations_are_refused(change, words):
    data = {"name": "d", "epsilon": 1.0, "tables": {"person": {"columns": COLUMNS}}}
    with pytest.raises(PolicyError, match=words):
        DatasetFacts.of({**data, **change})


def test_the_declaration_is_checked_against_the_data(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("who,age,name\n1,30,a\n1,40,b\n")

    def opened(**table):
        columns = {"who": {"type": "integer"}, "age": {"type": "integer", "bounds": [0, 100]}, "name": {"type": "text"}}
        columns |= table.pop("columns", {})
        facts = {"name": "d", "epsilon": 1.0, "tables": {"p": {"source": str(path), "columns": columns, **table}}}
        open_database(DatasetFacts.of(facts)).close()

    opened()
    with pytest.raises(InputError, match="has no column 'weight'"):
        opened(columns={"weight": {"type": "number"}})
    with pytest.raises(InputError, match="declared unique"):
        opened(person="who", unique=True)
