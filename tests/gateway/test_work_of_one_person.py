"""Groups and distinct values that one person adds to a query: no more work, or a coarser grid, and right counts."""

from __future__ import annotations

import csv
import io
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from celosia.errors import InputError, ParameterError
from celosia.gateway.answer import Answer, answer_csv
from celosia.gateway.gateway import GRID, STEP_PER_PERSON_TIME, Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.noise import NumberNoise
from celosia.gateway.sql.build import READ_SECONDS, ROW_SECONDS, TEXT_SECONDS
from celosia.gateway.sql.plan import DISTINCT_SECONDS, GROUP_SECONDS
from celosia.kernels.budget.cost import Cost

SUMS = ", ".join(f"SUM(age + {i})" for i in range(18))
GROUPED = f"SELECT day, COUNT(*), {SUMS} FROM visit WHERE who = 9999 AND income >= {{}} GROUP BY day"


def gateway_over(tmp_path, rows, *, grid=0.0):
    """Open a gateway over visits, one person of which has ``rows`` visits on days of their own."""
    path = tmp_path / "visits.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE visit (who INTEGER, income INTEGER, day TEXT, age INTEGER)")
        others = [(i, 20_000, f"day {i}", 40) for i in range(50)]
        database.executemany("INSERT INTO visit VALUES (?, ?, ?, ?)", others)
        own = [(9999, 70_000, f"own {i}", 44) for i in range(rows)]
        database.executemany("INSERT INTO visit VALUES (?, ?, ?, ?)", own)
        database.commit()
    columns = {
        "who": {"type": "integer"},
        "income": {"type": "integer", "bounds": [0, 1_000_000]},
        "day": {"type": "text"},
        "age": {"type": "integer", "bounds": [0, 110]},
    }
    tables = {"visit": {"person": "who", "rows": rows, "columns": columns}}
    declared = {"name": "d", "epsilon": 1.0, "delta": 1e-5, "database": f"sqlite:///{path}", "tables": tables}
    return Gateway(DatasetFacts.of(declared), Ledger.create(tmp_path / "ledger.db"), grid=grid)


def test_a_hidden_group_gets_one_number_with_noise(tmp_path, monkeypatch):
    drawn = []
    add = NumberNoise.add
    monkeypatch.setattr(NumberNoise, "add", lambda self, values: drawn.append(len(values)) or add(self, values))
    with closing(gateway_over(tmp_path, 100)) as gateway:
        for least, groups in ((1_000_000, 0), (0, 100)):
            drawn.clear()
            assert gateway.ask(GROUPED.format(least), epsilon=1e-4, delta=1e-9).rows == ()
            assert sum(drawn) == groups


def test_the_grid_is_coarser_where_one_person_makes_many_groups(tmp_path):
    with closing(gateway_over(tmp_path, 100, grid=GRID)) as gateway:
        few, many = (gateway.plan(sql) for sql in ("SELECT COUNT(*) FROM visit", GROUPED.format(0)))
        step = gateway._step(many)
        distinct = gateway._step(gateway.plan("SELECT COUNT(DISTINCT age), COUNT(DISTINCT income) FROM visit"))
    assert few.row_seconds == pytest.approx(100 * ROW_SECONDS)
    assert many.person_seconds == pytest.approx(100 * GROUP_SECONDS + many.row_seconds + many.sort_seconds)
    assert many.row_seconds > few.row_seconds
    assert 0 <= step - STEP_PER_PERSON_TIME * many.person_seconds < GRID
    assert distinct >= STEP_PER_PERSON_TIME * 2 * DISTINCT_SECONDS


def test_the_grid_is_coarser_where_one_person_has_many_texts(tmp_path):
    """A person with 100 rows adds 10 ms to four searches, and answers leave on a grid of 50 ms otherwise."""
    searches = " OR ".join(f"day LIKE '%{'z' * 50}{i}%'" for i in range(4))
    with closing(gateway_over(tmp_path, 100, grid=GRID)) as gateway:
        plan = gateway.plan(f"SELECT COUNT(*) FROM visit WHERE {searches}")
        assert plan.row_seconds > 100 * 4 * 6 * TEXT_SECONDS
        assert gateway._step(plan) >= STEP_PER_PERSON_TIME * plan.row_seconds > 4


def test_the_grid_is_coarser_where_texts_of_one_person_are_read(tmp_path):
    """Ten texts of 4 000 bytes in each of 20 rows of a person add 2 ms in PostgreSQL, whatever is asked of them."""
    with closing(gateway_over(tmp_path, 100)) as gateway:
        number, text = (gateway.plan(f"SELECT COUNT({column}) FROM visit") for column in ("age", "day"))
    assert text.row_seconds - number.row_seconds == pytest.approx(100 * READ_SECONDS["sqlite"], rel=0.1)


def test_answers_on_no_grid_leave_at_once(tmp_path):
    with closing(gateway_over(tmp_path, 100)) as gateway:
        assert gateway._step(gateway.plan(GROUPED.format(0))) == 0


def test_persons_of_the_second_table_of_a_left_join_are_counted_there(tmp_path):
    path = tmp_path / "two.db"
    with closing(sqlite3.connect(path)) as database:
        for table, count in (("a", 400), ("b", 100)):
            database.execute(f"CREATE TABLE {table} (who INTEGER PRIMARY KEY, x INTEGER)")
            database.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(i, i % 10) for i in range(count)])
        database.commit()
    columns = {"who": {"type": "integer", "bounds": [0, 1000]}, "x": {"type": "integer", "bounds": [0, 9]}}
    table = {"person": "who", "unique": True, "columns": columns}
    declared = {
        "name": "two", "epsilon": 10_000.0, "database": f"sqlite:///{path}", "tables": {"a": table, "b": table},
        "joins": [{"left": "a.who", "right": "b.who"}],
    }  # fmt: skip
    facts = DatasetFacts.of(declared)
    with closing(Gateway(facts, Ledger.create(tmp_path / "ledger.db"), grid=0)) as gateway:
        for word, expected in (("JOIN", 100), ("LEFT JOIN", 100)):
            sql = f"SELECT COUNT(DISTINCT b.who) AS n FROM a {word} b ON a.who = b.who"
            (row,) = gateway.ask(sql, epsilon=1_000.0).rows
            assert row["n"]["value"] == expected, word


@pytest.mark.parametrize("shares", [2.0, 1.5, "2"])
def test_a_cost_is_divided_into_whole_shares(shares):
    with pytest.raises(ParameterError, match="whole number of shares"):
        Cost.of("pure", 1.0, shares=shares)


def test_numpy_integers_are_whole_shares():
    assert Cost.of("pure", 1.0, shares=np.int64(2)) == Cost.of("pure", 1.0, shares=2)


@pytest.mark.parametrize("analyst", [None, "a\ud800"])
def test_an_analyst_without_a_name_is_refused_before_the_ledger_is_read(analyst, tmp_path):
    with closing(gateway_over(tmp_path, 1)) as gateway, pytest.raises(InputError, match="name of an analyst"):
        gateway.ask("SELECT COUNT(*) FROM visit", analyst=analyst, epsilon=0.1)


def test_the_header_of_a_csv_answer_is_no_formula():
    answer = Answer(("=1+1",), ({"=1+1": 3},), Cost.pure(0.1), Cost.pure(1.0))
    assert next(csv.reader(io.StringIO(answer_csv(answer)))) == ["'=1+1"]


@pytest.mark.parametrize(("expression", "scale"), [("FLOOR(COUNT(*) / 10)", 10), ("ROUND(COUNT(*) / 4, 1)", 4)])
def test_a_rounded_number_has_the_standard_error_of_its_noise(expression, scale, tmp_path):
    with closing(gateway_over(tmp_path, 1)) as gateway:
        sql = f"SELECT COUNT(*) AS n, {expression} AS r FROM visit"
        # so that a step of the rounding is small beside the noise
        (row,) = gateway.ask(sql, epsilon=0.001).rows
    assert row["r"]["error"] == pytest.approx(row["n"]["error"] / scale, rel=0.02)
