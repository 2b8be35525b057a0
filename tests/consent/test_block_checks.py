"""A block that is stored is honoured, or nothing is published: it is never ignored."""

from __future__ import annotations

import re
import unicodedata

import polars as pl
import pytest

from celosia.cli.main import run
from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import OWNER, Request, publish
from celosia.errors import DataError, RequirementError

TREE = ("province", "canton", "district")
PLACES = ",".join(TREE)
REQUEST = ["consent", "request", "sqlite:///u.db", "--sql", "@query.sql", "--catalogue", "inferences.toml", "--k", "10"]
REQUEST += ["--owner", "student.card", "--quasi", PLACES, "--tree", PLACES, "--identifiers", "name", "--no-measure"]
LOAD = ["consent", "load", "choices.csv", "--catalogue", "inferences.toml"]


@pytest.fixture
def place(tmp_path, monkeypatch, students):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inferences.toml").write_text(students.CATALOGUE)
    (tmp_path / "query.sql").write_text(students.SQL)
    students.fill(f"sqlite:///{tmp_path / 'u.db'}", 300)
    assert run(["consent", "init"]) == 0
    return tmp_path


def result(students, n=400):
    frame = students.frames(n)
    joined = frame["student"].join(frame["personal"], on="card").join(frame["enrolment"], on="card")
    return joined.select("name", "national_id", *TREE, "school", "score", pl.col("card").alias(OWNER))


def request_of(students, **more):
    design = Design(k=10, tree=TREE)
    wanted = {"owner": "student.card", "identifiers": ("name", "national_id"), "quasi": TREE, "measure": False} | more
    return Request(sql=students.SQL, design=design, **wanted)


def choices(*rows):
    return pl.DataFrame(rows, schema=["owner", "inference", "block"], orient="row")


# A misspelt inference.


def test_an_import_with_a_misspelt_inference_is_refused(store, catalogue):
    frame = choices(("B00001", "residenc", True), ("B00002", "residenc", True), ("B00003", "residence", True))
    with pytest.raises(DataError, match=r"2 of 3 choices .* 'residenc' \(did you mean 'residence'\?\)"):
        store.load(frame, catalogue.ids())
    assert store.count() == 0, "nothing of it is stored"
    assert store.load(choices(("B00001", "residence", True)), catalogue.ids()) == 1


def test_what_resembles_no_inference_is_counted_and_not_shown(store, catalogue):
    """Columns that were mixed up: the column of inferences holds the keys of people."""
    with pytest.raises(DataError) as refused:
        store.load(choices(("residence", "Zuleika Canary", True), ("residence", "1-0001", True)), catalogue.ids())
    assert "Zuleika" not in str(refused.value)
    assert "2 of 2 choices" in str(refused.value)
    assert "residence" in str(refused.value), "what there is is said"


def test_an_import_on_the_command_line(place, capsys):
    (place / "choices.csv").write_text("owner,inference,block\nB00001,residenc,yes\nB00002,residence,yes\n")
    assert run(LOAD) == 2
    said = capsys.readouterr().err
    assert "1 of 2 choices" in said
    assert "did you mean 'residence'?" in said
    (place / "choices.csv").write_text("owner,inference,block\nB00001,residence,yes\nB00002,residence,yes\n")
    assert run(LOAD) == 0
    assert "2 choices stored, 2 owners are new" in capsys.readouterr().out


def test_the_page_knows_the_inferences(store, catalogue):
    testclient = pytest.importorskip("starlette.testclient")
    from celosia.consent.site.signin import issue
    from celosia.consent.site.web import create

    store.add_owners(["B00001"])
    client = testclient.TestClient(create(catalogue, store), follow_redirects=False)
    client.post("/in", data={"token": issue(store, "B00001")})
    form = re.search(r'name="form" value="([^"]+)"', client.get("/").text).group(1)
    assert client.post("/choices", data={"form": form, "choice:residenc": "block"}).status_code == 403


def test_a_stored_block_of_an_unknown_inference_stops_the_publication(store, catalogue, students):
    store.choose("B00001", {"residenc": True}, ["residenc"])
    store.choose("B00002", {"residenc": True, "old": True}, ["residenc", "old"])
    with pytest.raises(DataError, match=r"3 blocks of 2 owners .*'residenc' \(did you mean 'residence'\?\)"):
        publish(request_of(students), result(students), catalogue, store, seed=1)
    assert store.trail() == []
    named = catalogue.model_copy(
        update={
            "inferences": (
                *catalogue.inferences,
                catalogue["residence"].model_copy(update={"id": "residenc"}),
                catalogue["grant"].model_copy(update={"id": "old", "rules": ()}),
            )
        }
    )
    made = publish(request_of(students), result(students), named, store, seed=1)
    assert made.marks.owners("residenc") == 2, "named in the catalogue it is honoured"


def test_what_is_allowed_under_an_unknown_name_stops_nothing(store, catalogue, students):
    store.choose("B00001", {"residenc": False}, ["residenc"])
    assert publish(request_of(students), result(students), catalogue, store, seed=1).holds


def test_the_publication_on_the_command_line(place, capsys):
    store = Preferences("consent.db")
    store.choose("B00001", {"residenc": True}, ["residenc"])
    store.close()
    assert run(REQUEST) == 2
    assert "1 block of 1 owner" in capsys.readouterr().err
    assert not (place / "publication").exists()


# Owners who are not found.


@pytest.mark.parametrize("written", ["b00007", " B00007", "B00007.0"])
def test_a_key_that_is_written_otherwise_stops_the_publication(store, catalogue, students, written):
    store.load(choices(*((f"B{i:05d}", "residence", True) for i in range(50, 60))), catalogue.ids())
    with store.transaction() as connection:
        row = {"owner": written, "inference": "residence", "block": True, "at": "2026-01-01T00:00:00.000000Z"}
        connection.execute(tables().owners.insert(), {"owner": written, "since": row["at"]})
        connection.execute(tables().choices.insert(), row)
    with pytest.raises(DataError, match="written otherwise") as refused:
        publish(request_of(students), result(students), catalogue, store, seed=1)
    assert "00007" not in str(refused.value)


WRITTEN = {
    "decomposed": lambda key: unicodedata.normalize("NFD", key),
    "no-break space": lambda key: key.replace("-", "\u00a0"),
    "no hyphen": lambda key: key.replace("-", ""),
    "full-width digits": lambda key: key[:-1] + chr(ord(key[-1]) + 0xFEE0),
    "zero-width space": lambda key: f"{key}\u200b",
    "byte order mark": lambda key: f"\ufeff{key}",
    "combining grapheme joiner": lambda key: f"{key}\u034f",
    "Arabic-Indic digits": lambda key: key[:-1] + chr(ord(key[-1]) - ord("0") + 0x660),
}


@pytest.mark.parametrize("rewrite", WRITTEN.values(), ids=WRITTEN)
def test_a_key_in_other_characters_stops_the_publication(store, catalogue, students, rewrite):
    frame = result(students)
    keys = [f"Jos\u00e9-{i:04d}" for i in range(len(frame))]
    store.add_owners(keys)
    store.load(choices(*((key, "residence", True) for key in keys[:20])), catalogue.ids())
    frame = frame.with_columns(pl.Series(OWNER, [*map(rewrite, keys[:20]), *keys[20:]]))
    with pytest.raises(DataError, match="written otherwise"):
        publish(request_of(students), frame, catalogue, store, seed=1)


def test_leading_zeros_that_a_number_has_lost(store, catalogue, students):
    frame = result(students).with_columns(pl.int_range(pl.len()).alias(OWNER))
    store.add_owners(["12", "13"])
    store.choose("007", {"residence": True}, ["residence"])
    with pytest.raises(DataError, match="written otherwise"):
        publish(request_of(students), frame, catalogue, store, seed=1)
    store.add_owners(["7"])  # then 7 and 007 are two people
    assert publish(request_of(students), frame, catalogue, store, seed=1).holds


def test_an_owner_column_in_which_nobody_is_known_stops_the_publication(store, catalogue, students):
    store.choose("B00001", {"residence": True}, ["residence"])
    frame = result(students).with_columns(pl.col("name").alias(OWNER))
    with pytest.raises(DataError, match="none of the 400 owners in the result is registered") as refused:
        publish(request_of(students), frame, catalogue, store, seed=1)
    assert "1 owner" not in str(refused.value)
    store.add_owners(["Name3"])
    assert publish(request_of(students), frame, catalogue, store, seed=1).holds, "somebody of them is registered"


def test_a_store_in_which_nobody_blocks_stops_nothing(store, catalogue, students):
    store.choose(
        "somebody else", {"residence": False, "timetable": False, "grant": True}, ["residence", "timetable", "grant"]
    )
    assert publish(request_of(students), result(students), catalogue, store, seed=1).holds


def test_a_blocking_owner_without_the_key_of_the_result_stops_the_publication(store, catalogue, students):
    store.add_owners(["B00001", "B00002"], {"national_id": {"1-0001": "B00001"}})
    for owner in ("B00001", "B00002"):
        store.choose(owner, {"residence": True}, ["residence"])
    frame = result(students).with_columns(pl.col("national_id").alias(OWNER))
    wanted = request_of(students, key="national_id")
    with pytest.raises(DataError, match="without a key of the kind 'national_id'"):
        publish(wanted, frame, catalogue, store, seed=1)
    known = frame.filter(pl.col(OWNER) == "1-0001")
    many = pl.concat([known] * 40)
    with pytest.raises(RequirementError, match="smallest class is 1"):  # every row has its owner, one person in all
        publish(wanted, many, catalogue, store, seed=1)
    store.add_owners(["B00002"], {"national_id": {"1-0002": "B00002"}})
    made = publish(wanted, frame, catalogue, store, seed=1)
    assert made.marks.owners("residence") == 2, "the key of the first is still there"


# Owners are registered by a command of their own.


def test_owners_and_their_keys_from_a_file(place, capsys):
    (place / "owners.csv").write_text("owner,national_id,card\nB00001,1-0001,A1\nB00002,1-0002,\nB00003,,A3\n")
    assert run(["consent", "owners", "owners.csv"]) == 0
    assert "3 owners registered" in capsys.readouterr().out
    store = Preferences("consent.db")
    assert store.aliases("national_id") == {"1-0001": "B00001", "1-0002": "B00002"}
    assert store.aliases("card") == {"A1": "B00001", "A3": "B00003"}
    (place / "owners.csv").write_text("owner,card\nB00002,A2\nB00003,A9\n")
    assert run(["consent", "owners", "owners.csv"]) == 0
    assert store.aliases("card") == {"A1": "B00001", "A2": "B00002", "A9": "B00003"}
    store.close()
    for wrong in ("nobody\nB1\n", "owner\n\n", "owner,card\nB1,X\nB2,X\n", "owner\nB1\nB1\n", "owner\nB\x071\n"):
        (place / "owners.csv").write_text(wrong)
        assert run(["consent", "owners", "owners.csv"]) == 2, wrong
        assert "B1" not in capsys.readouterr().err
    assert run(["consent", "owners", "nowhere.csv"]) == 2


def test_a_link_for_somebody_who_is_not_registered_is_refused(place, capsys):
    assert run(["consent", "link", "B00009"]) == 2
    assert "no owner of that name is registered" in capsys.readouterr().err
    store = Preferences("consent.db")
    assert store.count() == 0
    store.add_owners(["B00009"])
    store.close()
    assert run(["consent", "link", "B00009"]) == 0
