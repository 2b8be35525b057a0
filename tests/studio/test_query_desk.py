"""The desk of questions without a browser: declarations from a form, answers as they are shown."""

from __future__ import annotations

import polars as pl
import pytest

from celosia.errors import CelosiaError, InputError
from celosia.gateway import commands
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.view import answer_view, ideas
from celosia.studio.pages.query.declaration import FILE, declaration_text, declare, drafts
from celosia.studio.pages.query.routes import ANALYST, Desk
from celosia.studio.pages.query.view import desk_view
from celosia.studio.project import Project

POLICY = """[input]
path = "people.csv"

[schema]
identifiers = ["name"]
quasi = ["age", "sex"]
person = "id"

[schema.bounds]
age = [0, 120]
"""
FORM = {
    "name": "people",
    "epsilon": "2",
    "column-0": "id", "type-0": "integer",
    "column-1": "name", "type-1": "text",
    "column-2": "age", "type-2": "integer", "use-2": "yes", "low-2": "0", "high-2": "120",
    "column-3": "sex", "type-3": "text", "use-3": "yes", "categories-3": "F, M",
    "person": "id", "rows": "1",
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    frame = pl.DataFrame(
        {
            "id": range(300),
            "name": [f"Name {i}" for i in range(300)],
            "age": [i % 90 for i in range(300)],
            "sex": ["F", "M"] * 150,
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    return Project(tmp_path)


def made(project, **more):
    declare(project, declaration_text({**FORM, **more}, project.policy(), project.folder))
    return Desk(project)


def test_a_draft_tells_nothing_that_the_policy_does_not(project):
    policy = project.policy()
    offered = {each.name: each for each in drafts(policy, policy.table())}
    assert [name for name, each in offered.items() if each.offered] == ["age", "sex"]
    assert (offered["age"].type, offered["age"].low, offered["age"].high) == ("integer", "0", "120")
    assert offered["sex"].categories == ""  # the values of the data are for the owner to declare


def test_the_form_becomes_a_declaration_that_the_commands_read(project):
    desk = made(project)
    facts = DatasetFacts.load(project.folder / FILE)
    assert (facts.name, facts.epsilon, facts.measure) == ("people", 2.0, "pure")
    assert facts.tables["data"].person == "id"
    assert list(facts.tables["data"].columns) == ["id", "age", "sex"]
    assert facts.tables["data"].columns["sex"].categories == ("F", "M")
    desk.gateway().ask("SELECT COUNT(*) FROM data", epsilon=0.5, analyst=ANALYST)
    # what was spent in the studio is spent for the command, and the other way round
    answer = commands.query("SELECT COUNT(*) FROM data WHERE age > 40", project.folder / FILE, epsilon=0.25)
    assert answer.left.loss == 1.25
    assert desk_view(desk.gateway(), ANALYST).limits[0].left == 1.25
    assert [each.loss for each in desk_view(desk.gateway(), ANALYST).past] == [0.25, 0.5]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"epsilon": "much"}, "epsilon must be a number"),
        ({"epsilon": "-1"}, "wrong at epsilon"),
        ({"low-2": "9", "high-2": "1"}, "the smaller first"),
        ({"low-2": "9", "high-2": ""}, "high must be a number"),
        ({"name": ""}, "wrong at name"),
        ({"type-3": "date"}, None),
        ({"categories-2": "1, two"}, "must be whole numbers"),
        ({"epsilon": "inf"}, "finite"),
        ({"rows": "1.5"}, "whole number"),
        ({"rows": "inf"}, "whole number"),
    ],
)
def test_a_wrong_form_is_a_sentence_and_leaves_nothing(project, more, message):
    with pytest.raises(CelosiaError, match=message):
        made(project, **more)
    assert not (project.folder / FILE).exists()


def test_a_declaration_binds_and_needs_a_file(project):
    made(project)
    with pytest.raises(InputError, match="there is a declaration already"):
        made(project)
    (project.folder / "policy.toml").write_text(POLICY.replace("people.csv", "people.xlsx"))
    with pytest.raises(InputError, match="CSV and Parquet"):
        declaration_text(FORM, project.policy(), project.folder)
    (project.folder / "policy.toml").write_text(POLICY)
    with pytest.raises(InputError, match="at least one column"):
        declaration_text({"name": "n", "epsilon": "1"}, project.policy(), project.folder)


def test_ideas_can_be_asked(project):
    gateway = made(project).gateway()
    assert len(ideas(gateway.facts)) == 3
    for sql in ideas(gateway.facts):
        assert gateway.explain(sql, epsilon=0.1).cost.loss == 0.1


def test_an_answer_is_shown_as_the_ledger_keeps_it(project):
    gateway = made(project).gateway()
    answer = gateway.ask(
        'SELECT "sex", COUNT(*) AS n, MEDIAN(age) AS middle FROM data GROUP BY "sex"', epsilon=1.5, analyst=ANALYST
    )
    view = answer_view(gateway.ledger.stored_answer("people", answer.charge), answer.charge)
    assert view.columns == ("sex", "n", "middle")
    for cells, row in zip(view.rows, answer.rows, strict=True):
        assert (cells[0].value, cells[0].noisy) == (row["sex"], False)
        assert (cells[1].value, cells[1].low, cells[1].high) == (row["n"]["value"], row["n"]["low"], row["n"]["high"])
        assert cells[2].ranks == row["middle"]["ranks"]
    assert list(view.bars) == ["n"]
    assert view.pictures()[0].count("<circle") == 2


def test_the_desk_opens_again_when_the_data_change(project):
    desk = made(project)
    first = desk.gateway()
    assert desk.gateway() is first
    import os

    os.utime(project.folder / "people.csv", (1, 1))
    assert desk.gateway() is not first


OUTSIDE = {
    "source": ("duckdb", "{out}/secret.csv"),
    "empty address and source": ("duckdb:///", "{out}/secret.csv"),
    "path without an address": ("duckdb{out}/s.db", ""),
    "path in the environment": ("env:CELOSIA_OUTSIDE", ""),
    "driver": ("sqlite+pysqlite:///{out}/s.db", ""),
}


@pytest.mark.parametrize(("database", "source"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_declaration_names_no_file_outside_the_folder(tmp_path, monkeypatch, database, source):
    out, folder = tmp_path / "out", tmp_path / "project"
    out.mkdir()
    folder.mkdir()
    (out / "secret.csv").write_text("who,v\n1,2\n")
    monkeypatch.setenv("CELOSIA_OUTSIDE", f"sqlite:///{out}/s.db")
    named = f'source = "{source.format(out=out)}"\n' if source else ""
    (folder / FILE).write_text(
        f'name = "d"\nepsilon = 5.0\ndatabase = "{database.format(out=out)}"\n[tables.data]\n{named}person = "who"\n'
        'unique = true\n[tables.data.columns]\nwho = {type = "integer"}\nv = {type = "integer", bounds = [0, 3]}\n'
    )
    with pytest.raises(InputError, match="outside the project's folder"):
        Desk(Project(folder)).gateway()
