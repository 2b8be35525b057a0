"""Every way in for a choice: what would not be honoured is refused, or told with how many it concerns."""

from __future__ import annotations

import polars as pl
import pytest

from celosia.cli.main import run
from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, publish
from celosia.consent.rules.exchange import read_xml, write_xml
from celosia.consent.rules.rules import read_toml, write_toml
from celosia.errors import DataError, InputError, UnknownName

TREE = ("province", "canton", "district")
PLACES = ",".join(TREE)


def choices(*rows, columns=("owner", "inference", "block")):
    return pl.DataFrame(rows, schema=list(columns), orient="row")


def request_of(students):
    return Request(
        sql=students.SQL,
        owner="student.card",
        design=Design(k=10, tree=TREE),
        quasi=TREE,
        identifiers=("name",),
        measure=False,
    )


@pytest.fixture
def database(tmp_path, students):
    url = f"sqlite:///{tmp_path / 'u.db'}"
    students.fill(url, 300)
    return url


# Importing.


def test_a_column_that_would_be_ignored_is_refused(store, catalogue):
    frame = choices(("B00001", "residence", True, "2027"), columns=("owner", "inference", "block", "until"))
    with pytest.raises(DataError, match="1 more would be ignored"):
        store.load(frame, catalogue.ids())
    assert store.count() == 0


def test_choices_that_contradict_each_other_are_refused(store, catalogue):
    frame = choices(("B00001", "residence", True), ("B00001", "residence", False), ("B00002", "grant", True))
    with pytest.raises(DataError, match="1 choices contradict"):
        store.load(frame, catalogue.ids())
    assert store.count() == 0
    assert store.load(choices(("B1", "grant", True), ("B1", "grant", True)), catalogue.ids()) == 1, "said twice alike"


def test_owners_who_block_and_are_not_in_the_result_are_told_to_the_publisher_alone(
    store, catalogue, students, database
):
    rows = [(f"B{i:05d}", "residence", True) for i in range(20)] + [
        (f"elsewhere{i}", "residence", True) for i in range(3)
    ]
    store.load(choices(*rows), catalogue.ids())
    made = publish(request_of(students), database, catalogue, store, seed=1)
    name = "owners who block and are not in the result"
    assert made.report[name] == 3
    from celosia.consent.publication.edition import public_report

    assert name not in public_report(made)


# The catalogue.


def test_a_rule_that_misspells_a_column_stops_the_publication(store, catalogue, students, database):
    wrong = read_toml(students.CATALOGUE.replace('"district"', '"distrct"'))
    assert wrong != catalogue, "the catalogue names that column"
    made = publish(request_of(students), database, wrong, store, seed=1)
    assert made.holds, "nobody blocks it yet"
    store.choose("B00001", {"residence": True}, ["residence"])
    with pytest.raises(DataError, match=r"name 1 column .*distrct' \(did you mean '.*district'"):
        publish(request_of(students), database, wrong, store, seed=1)
    assert publish(request_of(students), database, catalogue, store, seed=1).marks.owners("residence") == 1


def test_a_catalogue_that_orphans_choices_is_refused_until_they_are_mapped(store, catalogue, students, database):
    store.choose("B00001", {"residence": True}, ["residence"])
    store.choose("B00002", {"residence": False, "home": True}, ["residence", "home"])
    store.choose("B00003", {"residence": True, "home": False}, ["residence", "home"])
    renamed = read_toml(students.CATALOGUE.replace('id = "residence"', 'id = "home"'))
    with pytest.raises(DataError, match=r"2 blocks of 2 owners would be ignored.*celosia consent rename"):
        publish(request_of(students), database, renamed, store, seed=1)
    with pytest.raises(UnknownName, match="no inference named 'hom'"):
        store.rename("residence", "hom", renamed.ids())
    with pytest.raises(DataError, match="still has the inference 'residence'"):
        store.rename("residence", "grant", catalogue.ids())
    assert store.rename("residence", "home", renamed.ids()) == 3
    assert store.blocking_owners(["home", "residence"]) == {"home": ["B00001", "B00002", "B00003"], "residence": []}
    made = publish(request_of(students), database, renamed, store, seed=1)
    assert made.marks.owners("home") == 3, "a block under either name stays a block"
    assert store.trail()[1]["detail"] == "residence is home: 3 choices"


def test_on_the_command_line(tmp_path, monkeypatch, students, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.toml").write_text(students.CATALOGUE.replace('id = "residence"', 'id = "home"'))
    assert run(["consent", "init"]) == 0
    store = Preferences("consent.db")
    store.choose("B00001", {"residence": True}, ["residence"])
    store.close()
    assert run(["consent", "serve", "--catalogue", "new.toml"]) == 2, "pages that would show no such choice"
    assert "1 block of 1 owner would be ignored" in capsys.readouterr().err
    assert run(["consent", "rename", "residence", "home", "--catalogue", "new.toml"]) == 0
    assert "1 choices renamed" in capsys.readouterr().out


def test_an_organisation_has_categories_of_its_own(catalogue, students):
    own = '[taxonomy]\nward = "What happened on the ward"\n\n'
    text = students.CATALOGUE
    for category in ("geographic", "timetable", "socio-economic"):
        text = text.replace(f'category = "{category}"', 'category = "ward"')
    made = read_toml(own + text)
    assert made.taxonomy == {"ward": "What happened on the ward"}
    assert read_toml(write_toml(made)) == made
    assert read_xml(write_xml(made)) == made
    with pytest.raises(InputError, match="which the taxonomy lacks"):
        read_toml(own + students.CATALOGUE)
