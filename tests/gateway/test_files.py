"""A CSV file has no types: its columns are read as they are declared, not as they look."""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import closing

import duckdb
import polars as pl
import pytest

from celosia.errors import CelosiaError
from celosia.gateway.databases import open_database
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts


def declared(tmp_path, text, **types):
    path = tmp_path / "person.csv"
    path.write_text(text)
    columns = {name: facts if isinstance(facts, dict) else {"type": facts} for name, facts in types.items()}
    table = {"source": str(path), "columns": columns}
    return DatasetFacts.of({"name": "d", "epsilon": 1e5, "delta": 0.5, "tables": {"person": table}})


def opened(tmp_path, text, **types):
    return closing(Gateway(declared(tmp_path, text, **types), Ledger.create(tmp_path / "ledger.db"), grid=0))


def counts(gateway, column):
    """How many rows have each value, as good as exactly."""
    answer = gateway.ask(f"SELECT {column} AS k, COUNT(*) AS n FROM person GROUP BY {column}", epsilon=2000, delta=0.01)
    return {row["k"]: row["n"]["value"] for row in answer.rows}


@pytest.mark.parametrize(
    "value", ["F", "T", "true", "007", "1", "1.50", "2026-01-01", "12:30", "NaN", "inf", "null", "1e5", "[1]"]
)
def test_a_text_is_what_is_declared_a_text(tmp_path, value):
    with opened(tmp_path, "sex,age\n" + f"{value},30\n" * 50, sex="text", age="integer") as gateway:
        assert counts(gateway, "sex") == {value: 50}


def test_a_declared_category_is_found(tmp_path):
    with opened(tmp_path, "sex\n" + "F\n" * 50, sex={"type": "text", "categories": ["F", "M"]}) as gateway:
        assert counts(gateway, "sex") == {"F": 50, "M": 0}


def test_all_types_as_declared(tmp_path):
    rows = "1,,0,2026-01-01 10:00,0.5,x\n" * 20 + "2,,1,2026-01-02 11:00,,\n" * 30
    types = {"a": "integer", "none": "integer", "ok": "boolean", "seen": "date", "w": "number", "note": "text"}
    with opened(tmp_path, "a,none,ok,seen,w,note,extra\n" + rows.replace("\n", ",zz\n"), **types) as gateway:
        assert counts(gateway, "a") == {1: 20, 2: 30}
        assert counts(gateway, "ok") == {False: 20, True: 30}
        assert counts(gateway, "seen") == {"2026-01-01": 20, "2026-01-02": 30}
        assert counts(gateway, "note") == {"x": 20}
        assert gateway.ask("SELECT COUNT(none) AS n FROM person", epsilon=2000).value("n") == 0
        assert gateway.ask("SELECT COUNT(*) AS n FROM person WHERE w > 0.4", epsilon=2000).value("n") == 20
        # what is not declared is not even loaded
        assert gateway._database.rows("SELECT column_name FROM duckdb_columns() WHERE column_name = 'extra'") == []


BASES = {
    "days": ("who,x\n", [f"{i},2026-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(100, 400)], "date"),
    "american days": ("who,x\n", [f"{i},{1 + i % 12:02}/{1 + i % 11:02}/2020" for i in range(100, 400)], "date"),
    "large identifiers": ("who,x\n", [f"{1234567890123456000 + i},{i % 10}" for i in range(300)], "integer"),
    "apostrophes": ("who,x\n", [f"{i},'a b'" for i in range(100, 400)], "text"),
    "quoted": ("who,x\n", [f'{i},"a, ""b"" {i % 3}"' for i in range(100, 400)], "text"),
    "numbers": ("who;x\n", [f"{i};{i % 10}.{i % 100:02}" for i in range(100, 400)], "number"),
    "truth values": ("who\tx\r\n", [f"{i}\t{i % 2}\r" for i in range(100, 400)], "boolean"),
}
DIRTY = [
    "1.5,3",
    "900,02/13/2020",
    "#,x",
    '900,"x, y"',
    "900",
    "900,x",
    "900,3,2",
    '900,"x',
    '"',
    '900,5" pipe',
    '900,""x',
]
DIRTY += [
    "900;1,5",
    "900\t2",
    "",
    ",",
    "\0",
    "900,é",
    "9" * 50 + ",1e999",
    "900,a\rb",
    '900,"' + "x\n" * 9 + '"',
    "900,\ud8ff",
]


READ_AS = {"date": "DATE", "text": "VARCHAR", "integer": "HUGEINT", "number": "DOUBLE", "boolean": "BOOLEAN"}


@pytest.mark.parametrize("base", BASES)
def test_no_line_changes_how_the_others_are_read(tmp_path, base):
    """A line may hold anything, anywhere in the file: the rows of the others stay what they are."""
    header, lines, kind = BASES[base]

    def rows(listed):
        (tmp_path / "person.csv").write_bytes((header + "\n".join(listed) + "\n").encode("utf-8", "surrogatepass"))
        columns = {"who": {"type": "integer"}, "x": {"type": kind}}
        table = {"source": str(tmp_path / "person.csv"), "person": "who", "unique": True, "columns": columns}
        tables = {"person": table}
        with closing(open_database(DatasetFacts.of({"name": "d", "epsilon": 1, "tables": tables}))) as database:
            assert database.types("person")["x"] == READ_AS[kind]
            return database.rows("SELECT who, x FROM person")

    others = rows(lines)
    assert len(others) == 300
    for dirty, place in zip(DIRTY, itertools.cycle((0, 150, 300)), strict=False):
        found = Counter(rows([*lines[:place], dirty, *lines[place:]]))
        assert not Counter(others) - found, dirty
        assert sum(number for (who, _), number in found.items() if who is not None) <= 301


PAIRS = ['900,"x', '900,",y', '900,", flat 5"', '"', '",', '""', '"x', 'x"', ',"', '900,"x""', '900,"\r']
TEXTS = ['901,", flat 5"', '902,"a ""b"""', '903,""', '904,"x, y"', '905,5" pipe', '906,"']


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_no_two_lines_together_change_how_the_others_are_read(tmp_path, end, caplog):
    """A quotation mark in one line and one in another enclosed all persons between them."""
    lines = [f"{i},ab" for i in range(100)]

    def rows(listed):
        columns = {"who": "integer", "note": "text"}
        facts = declared(tmp_path, "", **columns)
        (tmp_path / "person.csv").write_bytes(end.join(["who,note", *listed, ""]).encode())
        with closing(open_database(facts)) as database:
            return Counter(database.rows("SELECT who, note FROM person"))

    others = rows([*lines, *TEXTS])
    assert sum(others.values()) == 106
    for first, second in itertools.product(PAIRS, PAIRS):
        found = rows([first, *lines[:50], second, *lines[50:], *TEXTS])
        assert not others - found, (first, second)
        assert sum(found.values()) <= 108
    assert "open a quotation mark" in caplog.text


def test_a_value_of_another_type_is_missing(tmp_path, caplog):
    with opened(tmp_path, "seen\n" + "31/12/2025\n" * 40 + "2025-12-31\n" * 50, seen="date") as gateway:
        assert counts(gateway, "seen") == {"2025-12-31": 50}
    assert "40 of 90 values of the column 'seen' of 'person' are no date" in caplog.text
    assert "31/12" not in caplog.text


def test_an_identifier_is_not_rounded_to_that_of_another_person(tmp_path):
    with opened(tmp_path, "who\n" + "2\n3.0\n004\n" * 20 + "1.5\n1.9\n2e0\n", who="integer") as gateway:
        assert counts(gateway, "who") == {2: 20, 3: 20, 4: 20}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_long_identifier_is_kept_short(tmp_path, kind):
    """A person with 5 MB as identifier added 1.5 ms to each query; two such persons remain two."""
    long = ["z" * 50_000 + "a", "z" * 50_000 + "b", "é" * 1000]
    path = tmp_path / f"person.{kind}"
    frame = pl.DataFrame({"other": [1, 2, 3], "who": long})
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    table = {"source": str(path), "person": "who", "unique": True, "columns": {"who": {"type": "text"}}}
    with closing(open_database(DatasetFacts.of({"name": "d", "epsilon": 1, "tables": {"p": table}}))) as database:
        found = [who for (who,) in database.rows("SELECT who FROM p")]
    assert len(set(found)) == 3
    assert found[2] == long[2]
    assert max(map(len, found)) == 1032


def test_a_first_line_of_names_needs_no_guess(tmp_path):
    with opened(tmp_path, "name\nAna\nBerta\n", name="text") as gateway:
        assert gateway.ask("SELECT COUNT(*) AS n FROM person", epsilon=2000).value("n") == 2


@pytest.mark.parametrize("own", [False, True])
def test_nothing_but_the_data_is_reachable(tmp_path, own):
    """Only our own SQL goes there; were it not so, it could still not read or write a file."""
    secret, out = tmp_path / "secret.txt", tmp_path / "out.csv"
    secret.write_text("7731")
    columns = {"age": {"type": "integer"}}
    if own:
        with closing(duckdb.connect(str(tmp_path / "own.db"))) as connection:
            connection.execute("CREATE TABLE person AS SELECT 30 AS age")
        facts = {"database": f"duckdb:///{tmp_path / 'own.db'}", "tables": {"person": {"columns": columns}}}
    else:
        (tmp_path / "person.csv").write_text("age\n30\n")
        facts = {"tables": {"person": {"source": str(tmp_path / "person.csv"), "columns": columns}}}
    with closing(open_database(DatasetFacts.of({"name": "d", "epsilon": 1, **facts}))) as database:
        assert database.rows("SELECT age FROM person") == [(30,)]
        for sql in (
            f"SELECT * FROM read_text('{secret}')",
            f"SELECT * FROM read_csv('{secret}')",
            f"COPY person TO '{out}'",
            f"ATTACH '{tmp_path / 'new.db'}' AS new",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET threads = 8",
        ):
            with pytest.raises(
                duckdb.Error, match=r"disabled (by|through) configuration|locked|while database is running"
            ):
                database._rows(sql, 60.0)
    assert not out.exists()


def test_values_that_do_not_fit_are_the_owners_concern(tmp_path, caplog):
    for text, facts, words in (
        ("age\n" + "30\n" * 30_000 + "secret7731\n", "integer", "1 of 30001 values of the column 'age'"),
        ("age\n7731\n2\n", "boolean", "2 of 2 values of the column 'age' of 'person' are no boolean"),
        ("age\n7731\n2\n", "date", "2 of 2 values of the column 'age' of 'person' are no date"),
    ):
        caplog.clear()
        open_database(declared(tmp_path, text, age=facts)).close()
        assert words in caplog.text
        assert "7731" not in caplog.text
    for text, words in (("old\n1\n", "has no column 'age'"), ("", "has no header")):
        with pytest.raises(CelosiaError, match=words):
            open_database(declared(tmp_path, text, age="integer"))
