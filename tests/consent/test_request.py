"""Requests to publish on SQLite, DuckDB and PostgreSQL: matching, owners, marks, protection, report."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from celosia.consent.owners.tables import tables
from celosia.consent.protection.marks import mark, row_owners
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import OWNER, Request, publish, with_owner, write
from celosia.consent.rules.matches import Activations, active, matches
from celosia.consent.sql.lineage import elements
from celosia.errors import DataError, InputError, OutputError, RequirementError, SchemaError, UnknownName

TREE = ("province", "canton", "district")


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request, tmp_path, students):
    if request.param == "sqlite":
        return students.fill(f"sqlite:///{tmp_path / 'u.db'}")
    if request.param == "duckdb":
        return students.fill(f"duckdb:///{tmp_path / 'u.duckdb'}")
    import sqlalchemy as sa

    url = request.getfixturevalue("postgres_url")
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS students")
        connection.exec_driver_sql("CREATE DATABASE students")
    engine.dispose()
    return students.fill(sa.make_url(url).set(database="students").render_as_string(hide_password=False))


def request_of(students, **changes):
    made = Request(
        sql=students.SQL,
        owner="student.card",
        design=Design(k=20, tree=TREE),
        quasi=TREE,
        identifiers=("name",),
        sensitive=("score",),
        measure=False,
    )
    return replace(made, **changes)


def test_a_request_on_every_database(database, students, catalogue, store, tmp_path):
    store.choose("B00001", {"residence": True}, ["residence"])
    store.choose("B00002", {"timetable": True}, ["timetable"])
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(100, 400)], "inference": "residence", "block": True}),
        ["residence"],
    )
    found = publish(request_of(students), database, catalogue, store, seed=1)
    assert found.holds
    assert found.table.names == ("province", "canton", "district", "school", "score")
    assert len(found.table) == 1200
    blocks = {b["inference"]: b for b in found.report["blocks"]}
    assert blocks["residence"]["owners"] == 301
    assert blocks["residence"]["columns"] == ["province", "canton", "district"]
    assert blocks["residence"]["X"] == 10
    assert "grant" not in blocks
    # the timetable rule fires by its table alone (minimum one element); one owner blocks it, with X = 20
    assert blocks["timetable"]["owners"] == 1
    assert found.marks.extra.max() == 20
    text = json.dumps(found.report, default=str)
    assert "B00001" not in text
    assert "Name1" not in text
    paths = write(found, tmp_path / "out")
    assert pl.read_csv(paths["data"]).columns == list(found.table.names)
    assert "Name" not in paths["data"].read_text()
    assert "residence" in paths["page"].read_text()
    with pytest.raises(OutputError, match="exist already"):
        write(found, tmp_path / "out")


def test_a_star_is_read_from_the_catalogue_of_the_database(database, students, catalogue, store):
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(100, 400)], "inference": "residence", "block": True}),
        ["residence"],
    )
    star = request_of(students, sql="SELECT * FROM Personal", owner="personal.card", identifiers=(), sensitive=())
    found = publish(star, database, catalogue, store, seed=1)
    assert found.table.names == ("province", "canton", "district", "benefit"), "the owner was there and is left out"
    block = next(b for b in found.report["blocks"] if b["inference"] == "residence")
    assert (block["owners"], block["columns"]) == (300, ["province", "canton", "district"])


def test_a_column_without_a_name_is_known_by_its_place(database, students, catalogue, store):
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(100, 400)], "inference": "residence", "block": True}),
        ["residence"],
    )
    sql = "SELECT upper(province), canton, district, province FROM personal"
    request = request_of(students, sql=sql, owner="personal.card", identifiers=(), sensitive=())
    with pytest.raises(RequirementError, match=r"would not change .*, by which it can be deduced") as stopped:
        publish(request, database, catalogue, store, seed=1)
    unnamed = re.search("would not change (.*), by which", str(stopped.value)).group(
        1
    )  # each database has its own name
    covered = replace(request, quasi=(*TREE, unnamed), design=Design(k=20, rule="class"))
    found = publish(covered, database, catalogue, store, seed=1)
    block = next(b for b in found.report["blocks"] if b["inference"] == "residence")
    assert block["columns"] == list(found.table.names), "all four tell the province"


def test_a_star_over_a_result_that_is_there(students, catalogue, store):
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(100, 400)], "inference": "residence", "block": True}),
        ["residence"],
    )
    star = request_of(students, sql="SELECT * FROM personal", owner="personal.card", identifiers=(), sensitive=())
    with pytest.raises(RequirementError, match="would not change benefit"):  # without a database any column may be it
        publish(star, students.frames()["personal"], catalogue, store, seed=1)
    found = publish(star, students.frames()["personal"].drop("benefit"), catalogue, store, seed=1)
    assert found.table.names == ("province", "canton", "district")
    assert found.marks.blocked.sum() == 300


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(s.card) FROM student s",
        "SELECT max(s.name) FROM student s",
        "SELECT upper(s.card), count(*) FROM student s GROUP BY 1",
        "SELECT DISTINCT s.name FROM student s",
        "SELECT s.name FROM student s UNION SELECT p.canton FROM personal p",
    ],
)
def test_rows_without_one_owner_are_refused(sql):
    with pytest.raises(DataError, match="no single owner"):
        with_owner(sql, "student.card", "postgres", elements(sql))


def test_a_count_over_a_window_has_an_owner():
    sql = "SELECT count(s.card) OVER (PARTITION BY s.name) AS n FROM student s"
    assert with_owner(sql, "student.card", "postgres", elements(sql))[1] == OWNER


def test_blocks_are_honoured_and_counted(students, catalogue, store):
    frame = students.frames()
    result = frame["student"].join(frame["personal"], on="card").join(frame["enrolment"], on="card")
    result = result.select("name", *TREE, "school", "score", OWNER_="card").rename({"OWNER_": OWNER})
    nobody = publish(request_of(students), result, catalogue, store, seed=1)
    assert nobody.marks.blocked.sum() == 0
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(0, 1200, 4)], "inference": "residence", "block": True}),
        ["residence"],
    )
    some = publish(request_of(students, measure=True), result, catalogue, store, seed=1)
    assert some.marks.blocked.sum() == 300
    measured = some.report["measured"]
    assert set(measured) == {"coarser", "standard", "control"}
    blocking = {name: one["losses"]["blocking"]["gcp"] for name, one in measured.items()}
    others = {name: one["losses"]["others"]["gcp"] for name, one in measured.items()}
    assert blocking["coarser"] == pytest.approx(blocking["control"])
    assert others["standard"] <= others["coarser"] < others["control"]
    for one in measured.values():
        assert set(one["p_reid"]) == {"all", "blocking", "others"}
    store.set_default(block=True)
    everybody = publish(request_of(students), result, catalogue, store, seed=1)
    assert everybody.marks.blocked.sum() == 1200


def test_the_largest_x_decides(students, catalogue, store):
    store.choose("B00000", {"residence": True, "timetable": True}, ["residence", "timetable"])
    query = elements(students.SQL)
    fired = active(matches(catalogue, query))
    marks = mark(pl.Series(["B00000", "B00001", None]), query, fired, catalogue, store)
    assert marks.extra.tolist() == [20, 0, 0]
    assert marks.unknown == 1


def test_table_4_2(thesis, store):
    """Six rows, one owner blocks the timetable: year, term, course and group of one row are marked."""
    from celosia.consent.rules.exchange import read_xml

    catalogue = read_xml(thesis.TIMETABLE_XML)
    query = elements(thesis.ENROLMENT, "oracle")
    owner = pl.Series("owner", ["A1", "A1", "A2", "A3", "A4", "A4"])
    store.choose("A3", {"DEDUCIR_HORARIO".lower(): True}, ["DEDUCIR_HORARIO".lower()])
    marks = mark(owner, query, active(matches(catalogue, query)), catalogue, store, ["CARNE"])
    assert marks.blocked.tolist() == [False, False, False, True, False, False]
    for column in ("ANNO", "PERIODO", "SIGLA", "GRUPO"):
        assert marks.cells(column).tolist() == marks.blocked.tolist()
    for column in ("CARNE", "GENERO", "PROVINCIA"):
        assert not marks.cells(column).any()


def test_values_are_looked_at_only_when_a_rule_asks(students, catalogue, store, monkeypatch):
    from celosia.consent.publication import request as module

    looked = []
    real = module.find_values
    monkeypatch.setattr(module, "find_values", lambda *a: looked.append(1) or real(*a))
    frame = students.frames()
    result = frame["personal"].rename({"card": OWNER})
    store.choose("B00003", {"grant": True}, ["grant"])
    sql = "SELECT province, canton, district, benefit FROM personal"
    wanted = request_of(students, sql=sql, owner="personal.card", identifiers=(), sensitive=("benefit",))
    with pytest.raises(RequirementError, match="'grant', and the rule 'coarser' would not change benefit, by which"):
        publish(wanted, result, catalogue, store, seed=1)  # the value that fired would be released as it is
    assert looked == [1]
    left_out = replace(wanted, design=replace(wanted.design, strengthen=("exclude",)))
    found = publish(left_out, result, catalogue, store, seed=1)
    assert found.report["blocks"][-1]["inference"] == "grant"
    without = publish(wanted, result.with_columns(benefit=pl.lit(3)), catalogue, store, seed=1)
    assert "grant" not in [b["inference"] for b in without.report["blocks"]]
    publish(
        request_of(students, owner=OWNER, sql=students.SQL.replace("SELECT", f"SELECT s.card AS {OWNER},")),
        _result(students),
        catalogue,
        store,
        seed=1,
    )
    assert looked == [1, 1, 1]


def _result(students):
    frame = students.frames()
    result = frame["student"].join(frame["personal"], on="card").join(frame["enrolment"], on="card")
    return result.select("name", *TREE, "school", "score", OWNER_="card").rename({"OWNER_": OWNER})


def test_owners_by_another_key(students, store):
    frame = pl.DataFrame({"national_id": ["1-0001", "1-0002", "9-9999"]})
    store.add_owners(["B00001", "B00002"], {"national_id": {"1-0001": "B00001", "1-0002": "B00002"}})
    assert row_owners(frame, "national_id", store, "national_id").to_list() == ["B00001", "B00002", None]
    with pytest.raises(DataError, match="no owner has a key"):
        row_owners(frame, "national_id", store, "card")
    with pytest.raises(SchemaError, match="no owner column"):
        row_owners(frame, "card", store)
    assert row_owners(pl.DataFrame({"id": [1.0, 2.0]}), "id", store).to_list() == ["1", "2"]


@pytest.mark.parametrize(
    ("sql", "owner", "expected"),
    [
        ("SELECT a FROM t", "t.id", "celosia_owner"),
        ("SELECT a, id FROM t", "t.id", "id"),
        ("SELECT a, x.id AS who FROM t x", "t.id", "who"),
        ("SELECT a, Who FROM t", "who", "Who"),
        ("SELECT u.a FROM u JOIN t AS q ON q.i = u.i", "t.id", "celosia_owner"),
    ],
)
def test_the_owner_is_added_when_absent(sql, owner, expected):
    text, name = with_owner(sql, owner, "postgres", elements(sql))
    assert name == expected
    assert (text == sql) == (expected != OWNER)


@pytest.mark.parametrize(
    ("sql", "owner"),
    [
        ("SELECT a, COUNT(*) FROM t GROUP BY a", "t.id"),
        ("SELECT DISTINCT a FROM t", "t.id"),
        ("SELECT a FROM t UNION SELECT b FROM u", "t.id"),
        ("SELECT a FROM u", "t.id"),
        ("SELECT a FROM u", "who"),
    ],
)
def test_rows_without_a_single_owner_are_refused(sql, owner):
    with pytest.raises((DataError, UnknownName)):
        with_owner(sql, owner, "postgres", elements(sql))


def test_matches_are_remembered_only_of_a_request_that_was_carried_out(students, catalogue, store):
    def remembered():
        with store.engine.connect() as connection:
            return len(list(connection.execute(tables().activations.select())))

    with pytest.raises(InputError):
        publish(request_of(students, quasi=("nowhere",)), _result(students), catalogue, store, seed=1)
    assert remembered() == 0
    publish(request_of(students), _result(students), catalogue, store, seed=1)
    assert remembered() == 1


def test_a_repeated_query_is_not_analysed_again(students, catalogue, store):
    cache = Activations(catalogue)
    for _ in range(2):
        publish(request_of(students), _result(students), catalogue, store, seed=1, cache=cache)
    assert cache.hits == 1


def test_the_same_seed_gives_the_same_release(students, catalogue, store):
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(300)], "inference": "residence", "block": True}),
        ["residence"],
    )
    design = Design(k=20, tree=TREE, camouflage=0.3)
    one, two = (
        publish(request_of(students, design=design), _result(students), catalogue, store, seed=4) for _ in range(2)
    )
    assert one.table.polars().equals(two.table.polars())
    other = publish(request_of(students, design=design), _result(students), catalogue, store, seed=5)
    assert not other.table.polars().equals(one.table.polars())
    assert not np.array_equal(_result(students)["score"], one.table.polars()["score"]), "the order is shuffled"


def test_a_large_result_is_attacked_in_a_sample(students, catalogue, store, monkeypatch):
    from celosia.consent.publication import request as module

    monkeypatch.setattr(module, "ATTACKED", 300)
    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(300)], "inference": "residence", "block": True}),
        ["residence"],
    )
    found = publish(request_of(students, measure=True), _result(students), catalogue, store, seed=1)
    for one in found.report["measured"].values():
        assert one["p_reid"]["all"]["records"] == 300
        assert one["p_reid"]["blocking"]["records"] + one["p_reid"]["others"]["records"] == 300


def test_owner_and_identifiers_never_leave(students, catalogue, store):
    """Whatever the case of the names, and when the owner is a column of the query itself."""
    sql = students.SQL.replace("SELECT s.name", "SELECT s.card AS Card, s.name AS NAME")
    result = _result(students).rename({OWNER: "Card", "name": "NAME"})
    found = publish(request_of(students, sql=sql, owner="card"), result, catalogue, store, seed=1)
    assert set(found.table.names) == {*TREE, "school", "score"}
    assert "card" not in {name.casefold() for name in found.original.names}
    with pytest.raises(DataError, match="'NAME' has another text in every row"):
        publish(request_of(students, sql=sql, owner="card", identifiers=()), result, catalogue, store, seed=1)
