"""The publisher makes a release again: same database, catalogue and choices of the day, same bytes."""

from __future__ import annotations

import json

import duckdb
import polars as pl
import pytest

from celosia.cli.main import run
from celosia.consent.owners.store import Preferences, now
from celosia.consent.protection.protection import Design
from celosia.consent.publication.replay import Past, repetition
from celosia.consent.publication.request import Request, publish, write
from celosia.consent.rules.rules import read_toml
from celosia.errors import ParameterError
from celosia.hierarchy import hierarchy
from celosia.release.verify.verify import verify

TREE = ("province", "canton", "district")
BYTES = "repetition gives the same bytes"


@pytest.fixture
def store(store):
    store.load(pl.DataFrame({"owner": cards(*range(300)), "inference": "residence", "block": True}), ["residence"])
    return store


@pytest.fixture
def database(tmp_path, students):
    return students.fill(f"sqlite:///{tmp_path / 'u.db'}", 600)


def cards(*numbers):
    return [f"B{i:05d}" for i in numbers]


def request_of(students, **changes):
    given = {
        "sql": students.SQL,
        "owner": "student.card",
        "design": Design(k=10, tree=TREE),
        "quasi": TREE,
        "identifiers": ("name",),
        "sensitive": ("score",),
        "measure": False,
        "acknowledge": {"school": "the ministry publishes where schools are"},
    }
    return Request(**{**given, **changes})


def verdicts(place, source, catalogue, store, **options):
    return {c.claim: c for c in verify(place, repeat=repetition(source, catalogue, store, **options))}


def failed(checks):
    return {claim for claim, check in checks.items() if check.passed is False}


@pytest.mark.parametrize(
    "design",
    [
        Design(k=10, tree=TREE, camouflage=0.2),
        Design(k=10, rule="class"),
        Design(k=10, tree=TREE, rule="class", strengthen=("suppress", "exclude")),
    ],
    ids=str,
)
def test_every_rule_can_be_repeated(students, database, catalogue, store, tmp_path, design):
    write(publish(request_of(students, design=design), database, catalogue, store), tmp_path / "out")
    checks = verdicts(tmp_path / "out", database, catalogue, store)
    assert not failed(checks)
    assert checks[BYTES].passed
    assert checks["repetition gives the same certificate"].passed


def test_the_classes_of_those_who_block_are_counted(students, database, catalogue, store, tmp_path):
    """k + X is a claim about owners whom the file does not name: the repetition finds them and counts."""
    store.load(pl.DataFrame({"owner": cards(400), "inference": "timetable", "block": True}), ["timetable"])
    made = publish(request_of(students), database, catalogue, store)
    paths = write(made, tmp_path / "out")
    checks = verdicts(tmp_path / "out", database, catalogue, store)
    claims = {one["inference"]: one["claim"] for one in json.loads(paths["certificate"].read_text())["conditions"]}
    # by hand: the classes of the file, and in them the rows of those who block
    frame = made.protected.table.polars()
    size = frame.select(pl.len().over(TREE)).to_series()
    for inference, least in (("residence", 20), ("timetable", 30)):
        blocked = pl.Series(made.marks.rows[inference]) & (frame["province"] != "*")
        assert checks[claims[inference]].passed
        assert checks[claims[inference]].stated == least
        assert checks[claims[inference]].found == size.filter(blocked).min()
    certificate = json.loads(paths["certificate"].read_text())
    certificate["conditions"][0]["value"] = 9999
    paths["certificate"].write_text(json.dumps(certificate))
    found = failed(verdicts(tmp_path / "out", database, catalogue, store))
    assert {claims["residence"], "repetition gives the same certificate"} <= found


def test_persons_are_counted_again(students, catalogue, store, tmp_path):
    frame = students.frames()["personal"].select("card", *TREE)
    sql = "SELECT card, province, canton, district FROM personal"
    wanted = request_of(students, sql=sql, owner="card", identifiers=(), sensitive=(), acknowledge={})
    source = pl.concat([frame] * 2)
    write(publish(wanted, source, catalogue, store), tmp_path / "out")
    checks = verify(tmp_path / "out", repeat=repetition(source, catalogue, store))
    records, persons = [c for c in checks if c.claim == "k-anonymity(k=10)"]
    assert records.passed
    assert persons.passed
    assert records.found == 2 * persons.found


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_the_order_of_the_database_does_not_matter(request, students, catalogue, store, tmp_path, kind):
    """Rows are stored again in another order: the result is the same, and so is the release."""
    from celosia.data.io.database import write as fill

    urls = []
    for i in range(2):
        if kind == "postgresql":
            import sqlalchemy as sa

            url = sa.make_url(request.getfixturevalue("postgres_url"))
            engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql(f"DROP DATABASE IF EXISTS replay{i}")
                connection.exec_driver_sql(f"CREATE DATABASE replay{i}")
            engine.dispose()
            urls.append(url.set(database=f"replay{i}").render_as_string(hide_password=False))
        else:
            if kind == "sqlite":
                (tmp_path / f"{i}.sqlite").touch()
            else:
                duckdb.connect(str(tmp_path / f"{i}.duckdb")).close()
            urls.append(f"{kind}:///{tmp_path}/{i}.{kind}")
        for name, frame in students.frames(600).items():
            fill((frame if i == 0 else frame[::-1]).lazy(), urls[-1], table=name)
    write(publish(request_of(students, measure=True), urls[0], catalogue, store), tmp_path / "out")
    checks = verdicts(tmp_path / "out", urls[1], catalogue, store)
    assert not failed(checks)
    assert checks[BYTES].passed


def test_the_choices_of_that_day_are_used(students, database, catalogue, store, tmp_path):
    write(publish(request_of(students), database, catalogue, store), tmp_path / "out")
    store.load(
        pl.DataFrame({"owner": cards(*range(200, 500)), "inference": "residence", "block": False}), ["residence"]
    )
    store.choose("B00550", {"timetable": True}, ["timetable"])
    store.set_default(block=True)
    checks = verdicts(tmp_path / "out", database, catalogue, store)
    assert not failed(checks)
    assert checks[BYTES].passed


def test_who_deleted_their_record_is_not_brought_back(students, database, catalogue, store, tmp_path):
    paths = write(publish(request_of(students), database, catalogue, store), tmp_path / "out")
    store.forget("B00007")
    checks = verdicts(tmp_path / "out", database, catalogue, store)
    assert not failed(checks)
    assert checks["SHA-256 of the choices of that day"].passed is None
    assert BYTES not in checks
    record = paths["record"].read_text()
    assert "B00007" not in record, "no choice of a person is kept outside the store"


@pytest.mark.parametrize("what", ["data", "catalogue", "query", "seed"])
def test_what_differs_is_named(students, database, catalogue, store, tmp_path, what):
    paths = write(publish(request_of(students), database, catalogue, store), tmp_path / "out")
    expected = {BYTES}
    if what == "data":
        import sqlite3

        with sqlite3.connect(database.removeprefix("sqlite:///")) as connection:
            connection.execute("UPDATE enrolment SET score = score + 1 WHERE card = 'B00003'")
        expected |= {"SHA-256 of the result of the query"}
    elif what == "catalogue":
        catalogue = read_toml(students.CATALOGUE.replace("extra = 10", "extra = 80"))
        expected |= {"SHA-256 of the catalogue of inferences", "repetition gives the same certificate"}
    else:
        record = json.loads(paths["record"].read_text())
        record.update(seed="0" * 31 + "1") if what == "seed" else record["request"].update(
            sql=students.SQL.replace("e.school,", "e.school || 'x' AS school,")
        )
        paths["record"].write_text(json.dumps(record))
        expected |= {"commitment to the record"}
        expected |= {"SHA-256 of the result of the query"} if what == "query" else set()
    found = failed(verdicts(tmp_path / "out", database, catalogue, store))
    assert expected <= found


def test_a_request_that_fails_now_says_why(students, database, catalogue, store, tmp_path):
    write(publish(request_of(students), database, catalogue, store), tmp_path / "out")
    empty = read_toml(students.CATALOGUE.replace("extra = 10", "extra = 5000"))
    (check,) = [
        c for c in verify(tmp_path / "out", repeat=repetition(f"sqlite:///{tmp_path}/no.db", empty, store)) if c.note
    ][-1:]
    assert check.claim == "repetition"
    assert check.passed is False


def test_a_repetition_leaves_no_trace_in_the_store(students, database, catalogue, store, tmp_path):
    write(publish(request_of(students), database, catalogue, store), tmp_path / "out")
    before = store.trail()
    assert before[0]["what"] == "publication"
    verdicts(tmp_path / "out", database, catalogue, store)
    assert store.trail() == before


def test_a_frame_and_its_hierarchy_are_given_again(students, catalogue, store, tmp_path):
    frame = students.frames()["personal"].select("card", "district")
    tree = _collect_places(frame)
    wanted = Request(
        sql="SELECT card, district FROM personal",
        owner="card",
        design=Design(k=10, rule="class", tree=("district",)),
        quasi=("district",),
        hierarchies={"district": tree},
        measure=False,
    )
    write(publish(wanted, frame, catalogue, store), tmp_path / "out")
    with pytest.raises(ParameterError, match="hierarchy of 'district' is no file"):
        verdicts(tmp_path / "out", frame, catalogue, store)
    checks = verdicts(tmp_path / "out", frame, catalogue, store, hierarchies={"district": tree})
    assert checks[BYTES].passed


def _collect_places(frame):
    rows = sorted({(d, d[:3], d[:2], "*") for d in frame["district"].to_list()})
    return hierarchy(rows)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_past_of_a_store(request, tmp_path, kind):
    """Blocked, then allowed, then blocked again; another owner's first choice comes later."""
    store = Preferences.create(tmp_path / "past.db" if kind == "sqlite" else request.getfixturevalue("fresh_postgres"))
    moments = [now()]
    for block in (True, False, True):
        store.choose("a", {"x": block, "y": True}, ["x", "y"])
        moments.append(now())
    store.choose("b", {"x": True}, ["x"])
    assert [Past(store, at, default=False).exceptions("x") for at in moments] == [set(), {"a"}, set(), {"a"}]
    assert Past(store, now(), default=False).exceptions("x") == store.exceptions("x") == {"a", "b"}
    assert Past(store, moments[2], default=True).exceptions("x") == {"a"}, "who allows is the exception then"
    store.close()


def test_verify_on_the_command_line(students, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inferences.toml").write_text(students.CATALOGUE)
    students.fill(f"sqlite:///{tmp_path / 'u.db'}", 500)
    places = ",".join(TREE)
    command = ["consent", "request", "sqlite:///u.db", "--sql", students.SQL, "--catalogue", "inferences.toml"]
    command += ["--k", "10", "--owner", "student.card", "--quasi", places, "--tree", places, "--identifiers", "name"]
    assert run(["consent", "init"]) == 0
    assert run([*command, "--no-measure"]) == 0
    assert "celosia verify publication" in capsys.readouterr().out
    again = ["verify", "publication", "--original", "sqlite:///u.db", "--catalogue", "inferences.toml", "--json"]
    assert run(again) == 0
    checks = {c["claim"]: c["passed"] for c in json.loads(capsys.readouterr().out)["checks"]}
    assert checks[BYTES]
    assert run(["verify", "publication", "--json"]) == 3, "only a repetition confirms the classes of those who block"
    alone = json.loads(capsys.readouterr().out)
    assert alone["verdict"] == "verified in part"
    assert not [c for c in alone["checks"] if c["passed"] is False]
    assert run(["verify", "publication", "--original", "sqlite:///u.db", "--json"]) == 3
    last = json.loads(capsys.readouterr().out)["checks"][-1]
    assert last["claim"] == "repetition"
    assert "needs the catalogue" in last["note"]
    assert run([*again, "--store", "nowhere.db"]) == 2
    assert not (tmp_path / "nowhere.db").exists()
    data = tmp_path / "publication" / "data.csv"
    data.write_text(data.read_text().replace("P0", "P1", 1))
    assert run(["verify", "publication"]) == 3
