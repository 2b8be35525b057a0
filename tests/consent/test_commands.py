"""The commands of consent, through the command line."""

from __future__ import annotations

import json

import polars as pl
import pytest

from celosia.cli.main import run


@pytest.fixture
def place(tmp_path, monkeypatch, students):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inferences.toml").write_text(students.CATALOGUE)
    (tmp_path / "query.sql").write_text(students.SQL)
    students.fill(f"sqlite:///{tmp_path / 'u.db'}", 500)
    assert run(["consent", "init"]) == 0
    return tmp_path


def test_a_request_from_start_to_end(place, capsys):
    pl.DataFrame({"owner": ["B00001", "B00002"], "inference": "residence", "block": ["yes", "no"]}).write_csv(
        "choices.csv"
    )
    assert run(["consent", "load", "choices.csv", "--catalogue", "inferences.toml"]) == 0
    assert run(["consent", "default", "allow"]) == 0
    assert run(["consent", "match", "--sql", "@query.sql", "--catalogue", "inferences.toml"]) == 0
    assert "residence, rule 1: 5 of 7 elements (active)" in capsys.readouterr().out
    command = [
        "consent",
        "request",
        "sqlite:///u.db",
        "--sql",
        "@query.sql",
        "--catalogue",
        "inferences.toml",
        "--k",
        "10",
    ]
    places = "province,canton,district"
    command += ["--owner", "student.card", "--quasi", places, "--tree", places, "--identifiers", "name", "--json"]
    assert run(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows marked"] == 1
    assert (place / "publication" / "report.html").exists()
    assert run(command) == 2, "nothing is overwritten"
    assert "exist already" in capsys.readouterr().err
    assert run([*command, "--overwrite", "--rule", "nonsense"]) == 2
    assert run(["consent", "record", "B00001"]) == 0
    assert json.loads(capsys.readouterr().out)["choices"]["residence"]["block"] is True
    assert run(["consent", "record", "B00001", "--forget"]) == 0
    capsys.readouterr()
    assert run(["consent", "record", "B00001"]) == 2


def test_small_commands(place, capsys, thesis):
    (place / "rule.xml").write_text(thesis.TIMETABLE_XML)
    assert run(["consent", "convert", "rule.xml", "rule.toml"]) == 0
    assert run(["consent", "convert", "rule.toml", "again.xml"]) == 0
    assert run(["consent", "convert", "rule.toml", "again.xml"]) == 2
    assert run(["consent", "elements", "--sql", thesis.ENROLMENT, "--dialect", "oracle", "--json"]) == 0
    text = capsys.readouterr().out
    assert "ma_matricula.sigla" in text
    assert run(["consent", "elements", "--sql", "SELECT a + b AS s, 1 AS n FROM t"]) == 0
    assert "outputs: s: t.a + t.b, n: nothing" in capsys.readouterr().out
    assert (
        run(["consent", "derive", "x", "--sentence", "y", "--sql", "SELECT a FROM t", "--sql", "SELECT b FROM t"]) == 0
    )
    assert 't = ["a", "b"]' in capsys.readouterr().out
    (place / "log.sql").write_text("SELECT a FROM t;\nSELECT b FROM t;\n")
    assert run(["consent", "log", "log.sql", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"] == [{"table": "t", "queries": 2}]
    assert (
        run(["consent", "suggest", "sqlite:///u.db", "--query", "SELECT province, canton, district FROM personal"]) == 0
    )
    assert "district → canton: 100%" in capsys.readouterr().out
    (place / "owners.csv").write_text("owner\nB00009\n")
    assert run(["consent", "owners", "owners.csv"]) == 0
    capsys.readouterr()
    assert run(["consent", "link", "B00009", "--hours", "1"]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:8100/in/")
    assert run(["consent", "link"]) == 0
    assert run(["consent", "default", "maybe"]) == 2
    assert run(["consent", "elements", "--sql", "@nowhere.sql"]) == 2
    assert run(["consent", "elements", "--sql", "DROP TABLE t"]) == 2


def test_every_command_answers_in_json(place, capsys, thesis):
    """Whatever is printed for a program: one document, the facts by name."""

    def said(*words):
        capsys.readouterr()
        assert run(["consent", *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    (place / "rule.xml").write_text(thesis.TIMETABLE_XML)
    (place / "some.csv").write_text("owner,card\nB70001,7\nB70002,8\n")
    (place / "wishes.csv").write_text("owner,inference,block\nB70001,residence,true\n")
    assert said("init", "--store", "other.db") == {"store": "other.db"}
    assert said("owners", "some.csv", "--store", "other.db") == {"owners_registered": 2}
    wishes = ("wishes.csv", "--catalogue", "inferences.toml", "--store", "other.db")
    assert said("load", *wishes) == {"choices_stored": 1, "new_owners": 0}
    assert said("default", "block", "--store", "other.db") == {"unanswered_means": "block"}
    link = said("link", "B70001", "--store", "other.db", "--hours", "2")
    assert (link["hours"], link["link"].count("/in/")) == (2.0, 1)
    assert said("convert", "rule.xml", "rule.toml") == {"inferences": 1, "file": "rule.toml"}
    rule = said("derive", "x", "--sentence", "y", "--sql", "SELECT a FROM t")
    assert rule["inferences"][0]["rules"][0]["tables"] == {"t": ["a"]}
    (place / "old.csv").write_text("owner,inference,block\nB70002,residence,true\n")
    renamed = (place / "inferences.toml").read_text().replace('id = "residence"', 'id = "home"')
    (place / "new.toml").write_text(renamed)
    rename = ("rename", "residence", "home", "--catalogue", "new.toml", "--store", "other.db")
    assert said(*rename) == {"choices_renamed": 1}


def test_a_log_as_table_and_chart(place, capsys):
    lines = [
        "SELECT a FROM t;",
        "SELECT a, b FROM t WHERE c = 1;",
        "SELECT x.d FROM x JOIN t ON t.a = x.a;",
        "nonsense (",
    ]
    (place / "log.sql").write_text("\n".join(lines))
    assert run(["consent", "log", "log.sql", "--page", "log.html"]) == 0
    text = capsys.readouterr().out
    assert "4 queries, 1 of them could not be read" in text
    rows = [line.split("│") for line in text.splitlines() if "│" in line]
    shown = {row[1].strip(): [cell.strip() for cell in row[2:5]] for row in rows}
    assert shown["t"] == ["3", "100 %", "█" * 24]
    assert shown["x"] == ["1", "33 %", "█" * 8]
    assert shown["t.a"][:2] == ["3", "100 %"]
    assert shown["t.a + t.b"][:2] == ["1", "33 %"]
    assert "{" not in text, "no raw data"
    page = (place / "log.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "t, share of the queries: 100 %" in page


def test_choices_that_cannot_be_read(place, capsys):
    (place / "bad.csv").write_text("owner,inference,block\nB1,residence,perhaps\n")
    assert run(["consent", "load", "bad.csv", "--catalogue", "inferences.toml"]) == 2
    assert "perhaps" not in capsys.readouterr().err
    assert run(["consent", "load", "nowhere.csv", "--catalogue", "inferences.toml"]) == 2


def test_the_database_tells_what_a_star_means(tmp_path, students, capsys):
    database = students.fill(f"sqlite:///{tmp_path / 'u.db'}", n=3)
    (tmp_path / "i.toml").write_text(students.CATALOGUE)
    base = ["consent", "match", "--sql", "SELECT * FROM personal", "--catalogue", str(tmp_path / "i.toml")]
    assert run([*base, "--database", database]) == 0
    # tables personal; province, canton and district of the five fields (street is not in this database)
    assert "residence, rule 1: 4 of 7 elements" in capsys.readouterr().out
    assert run(["consent", "elements", "--sql", "SELECT * FROM personal", "--database", database, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["outputs"]
    assert list(shown) == ["card", "province", "canton", "district", "benefit"]
