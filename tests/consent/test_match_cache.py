"""Matches that outlive the process that made them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from celosia.consent.owners import match_cache
from celosia.consent.owners.match_cache import MatchCache
from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.consent.rules import matches as module
from celosia.consent.rules.matches import Activations, complete, matches
from celosia.consent.rules.rules import read_toml

VALUES = """
[[inference]]
id = "grant"
description = "Find out that I have a grant"
[[inference.rule]]
tables = {personal = ["benefit", "town"]}
values = [{field = "benefit", literal = "11", scope = "data"}, {field = "town", literal = "Zanzibar"}]
threshold = 0.9
"""
SQL = "SELECT benefit FROM personal WHERE town = 'Zanzibar' AND name = 'Jane Roe'"


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    return tmp_path / "choices.db" if request.param == "sqlite" else request.getfixturevalue("fresh_postgres")


@pytest.fixture
def store(where):
    opened = Preferences.create(where)
    yield opened
    opened.close()


def of(store, catalogue, sql=SQL, columns=None):
    cache = Activations(catalogue, columns, MatchCache(store, catalogue.digest()))
    matched = cache.of(sql)
    cache.remember()
    return matched, cache


def rows(store):
    with store.engine.connect() as connection:
        return list(connection.execute(tables().activations.select()))


def test_another_process_does_not_match_again(store, monkeypatch):
    catalogue = read_toml(VALUES)
    (query, first), cache = of(store, catalogue)
    assert cache.hits == 0
    assert first == matches(catalogue, query)
    monkeypatch.setattr(module, "match", None)  # whoever matches again fails
    (again, second), cache = of(store, catalogue)
    assert cache.hits == 1
    assert second == first
    assert again == query
    assert second[0].fired == (1,)
    assert second[0].values == ("town",)


def test_a_process_of_its_own(tmp_path, students):
    """The same request twice from the shell: the second finds the first one's matches."""
    (tmp_path / "c.toml").write_text(students.CATALOGUE)
    Preferences.create(tmp_path / "s.db").close()
    code = f"""
import sys
from celosia.consent.rules.matches import Activations
from celosia.consent.owners.match_cache import MatchCache
from celosia.consent.rules.exchange import load
from celosia.consent.owners.store import Preferences
catalogue = load({str(tmp_path / "c.toml")!r})
cache = Activations(catalogue, memory=MatchCache(Preferences({str(tmp_path / "s.db")!r}), catalogue.digest()))
cache.of({students.SQL!r})
cache.remember()
print(cache.hits)
"""
    found = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in "12"]
    assert [one.stdout.strip() for one in found] == ["0", "1"]


def test_a_changed_catalogue_forgets(store):
    old, new = read_toml(VALUES), read_toml(VALUES.replace("0.9", "0.5"))
    of(store, old)
    (_, found), cache = of(store, new)
    assert cache.hits == 0
    assert found[0].active != of(store, old)[0][1][0].active
    assert [row.catalogue for row in rows(store)] == [old.digest()], "the other catalogue's are gone"


def test_what_decides_a_match_is_in_the_key(store):
    catalogue = read_toml(VALUES)
    of(store, catalogue)
    assert (
        of(store, catalogue, SQL.lower().replace("zanzibar", "Zanzibar").replace("jane roe", "Jane Roe"))[1].hits == 1
    )
    assert of(store, catalogue, SQL.replace("Zanzibar", "Lima"))[1].hits == 0
    assert of(store, catalogue, SQL, {"personal": ["benefit"]})[1].hits == 0


def test_no_constant_is_kept(store, where, tmp_path):
    of(store, read_toml(VALUES))
    (row,) = rows(store)
    assert "personal" in row.found
    for text in ("Jane", "Zanzibar", "11"):
        assert text not in row.found
    store.close()
    for file in tmp_path.glob("choices.db*"):
        content = file.read_bytes()
        assert b"personal" in content or not content
        assert b"Jane" not in content
        assert b"Zanzibar" not in content


def test_the_oldest_go_when_there_are_too_many(store, monkeypatch):
    monkeypatch.setattr(match_cache, "MOST", 3)
    catalogue = read_toml(VALUES)
    queries = [SQL.replace("Zanzibar", f"T{i}") for i in range(5)]
    for sql in queries:
        of(store, catalogue, sql)
    assert len(rows(store)) == 3
    assert of(store, catalogue, queries[-1])[1].hits == 1
    assert of(store, catalogue, queries[0])[1].hits == 0


@pytest.mark.parametrize("hit", [True, False])
def test_what_waits_is_completed_as_if_matched_with_the_result(hit):
    catalogue = read_toml(VALUES)
    query, found = Activations(catalogue).of(SQL)
    assert found[0].waiting == (0,)
    seen = {("grant", 0, 0): hit}
    assert complete(found, catalogue, seen) == matches(catalogue, query, seen)
    assert complete(found, catalogue, seen)[0].matched == 4 + hit
