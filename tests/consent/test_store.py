"""The preference store, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import stat
import threading

import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.errors import DataError, InputError


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    where = tmp_path / "choices.db" if request.param == "sqlite" else request.getfixturevalue("fresh_postgres")
    opened = Preferences.create(where)
    yield opened
    opened.close()


def test_choices_have_a_history(store):
    store.choose("A1", {"residence": True, "timetable": False}, ["residence", "timetable"])
    store.choose("A1", {"residence": False}, ["residence"])
    store.choose("A1", {"residence": False}, ["residence"])  # no change, no trace
    assert [(h["inference"], h["block"]) for h in store.history("A1")] == [
        ("residence", True),
        ("timetable", False),
        ("residence", False),
    ]
    assert [c.block for c in store.choices("A1", ["residence", "timetable", "grades"])] == [False, False, False]
    assert store.choices("A1", ["grades"])[0].at == ""


def test_the_default_is_stated_and_traced(store):
    store.choose("A1", {"residence": False}, ["residence"])
    assert store.default is False
    assert store.exceptions("residence") == set()
    store.set_default(block=True)
    assert store.default is True
    assert store.exceptions("residence") == {"A1"}
    assert store.choices("B2", ["residence"])[0].block is True
    assert store.trail()[0]["what"] == "default"


def test_counts_never_name_anybody(store):
    store.add_owners(["A1", "A2", "A3", "A4"])
    store.choose("A1", {"residence": True}, ["residence"])
    store.choose("A2", {"residence": False}, ["residence"])
    assert store.counts(["residence"]) == {"residence": {"block": 1, "allow": 1, "unanswered": 2}}


def test_an_owner_sees_and_deletes_everything(store):
    store.add_owners(["101"], {"card": {"A1": "101"}})
    store.choose("101", {"residence": True}, ["residence"])
    record = store.export("101")
    assert record["keys"] == {"card": "A1"}
    assert record["choices"]["residence"]["block"] is True
    assert len(record["history"]) == 1
    store.forget("101")
    assert not store.has("101")
    assert store.history("101") == []
    assert store.aliases("card") == {}
    assert "101" not in str(store.trail())
    with pytest.raises(DataError):
        store.export("101")


def test_many_choices_at_once(store):
    frame = pl.DataFrame(
        {"owner": [f"o{i}" for i in range(3000)], "inference": "residence", "block": [True, False, True] * 1000}
    )
    assert store.load(frame, ["residence"]) == 3000
    assert store.load(frame, ["residence"]) == 3000  # again: replaced, not doubled
    assert len(store.blocking_owners(["residence"])["residence"]) == 2000
    assert store.count() == 3000
    with pytest.raises(DataError, match="columns owner, inference and block"):
        store.load(pl.DataFrame({"owner": ["x"]}), ["residence"])
    with pytest.raises(DataError, match="missing values"):
        store.load(frame.with_columns(block=pl.lit(None, dtype=pl.Boolean)), ["residence"])


def test_choices_at_the_same_time_are_all_kept(store):
    def work(i):
        for j in range(5):
            store.choose(f"o{i}", {f"inference{j}": True}, [f"inference{j}"])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(store.history(f"o{i}")) == 5 for i in range(6))


def test_bad_keys_and_places_are_refused(store, tmp_path):
    for bad in ("", " ", "x" * 201, "a\nb"):
        with pytest.raises(DataError):
            store.choose(bad, {"residence": True}, ["residence"])
    with pytest.raises(InputError, match="durable"):
        Preferences("sqlite://")
    with pytest.raises(InputError, match="there is no store of choices"):
        Preferences(tmp_path / "nowhere" / "x.db")
    with pytest.raises(InputError, match="not in 'mysql'"):
        Preferences("mysql://host/x")


def test_the_file_is_private(tmp_path):
    store = Preferences.create(tmp_path / "choices.db")
    store.close()
    assert stat.S_IMODE((tmp_path / "choices.db").stat().st_mode) == 0o600


def test_a_choice_of_an_unknown_inference_is_refused(store):
    """A block under a misspelt name would never be honoured."""
    with pytest.raises(
        DataError, match=r"1 of 2 choices .*'residenc' \(did you mean 'residence'\?\).*Nothing was stored"
    ):
        store.choose("A1", {"residenc": True, "timetable": True}, ["residence", "timetable"])
    assert not store.has("A1")
    assert store.blocked_inferences() == []
