"""What a publisher, a requester or a reader could learn about the choice of one data subject."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design
from celosia.consent.publication.outlook import outlook
from celosia.consent.publication.request import Request, publish, write
from celosia.consent.rules.rules import read_toml
from celosia.errors import CelosiaError, DataError, ParameterError, RequirementError

PLACE = ("canton", "district")
CATALOGUE = read_toml(
    '[[inference]]\nid = "residence"\ndescription = "Find out where I live"\nextra = 5\n'
    '[[inference.rule]]\ntables = {personal = ["canton", "district"]}\n'
    '[[inference]]\nid = "poor"\ndescription = "Know that my family is poor"\nextra = 5\n'
    '[[inference.rule]]\ntables = {personal = ["benefit"]}\n'
    '[[inference]]\nid = "ill"\ndescription = "Deduce whether I have HIV"\nextra = 5\n'
    '[[inference.rule]]\ntables = {}\nvalues = [{field = "diagnosis", literal = "HIV", scope = "data"}]\n'
)
OWNERS = [f"B{i:04d}" for i in range(300)]
SQL = "SELECT card, canton, district FROM personal"
FRAME = pl.DataFrame(
    {
        "card": OWNERS,
        "canton": [f"C{i % 2}" for i in range(300)],
        "district": [f"D{i % 6}" for i in range(300)],
        "benefit": [["a", "b", "c"][i % 3] for i in range(300)],
        "diagnosis": ["HIV" if i % 8 == 0 else "flu" for i in range(300)],
    }
)


@pytest.fixture
def choices(tmp_path):
    def make(blocking, inference="residence", where=None):
        store = Preferences.create(where or tmp_path / f"{inference}{len(blocking)}{''.join(blocking[:1])}.db")
        store.add_owners(OWNERS)
        frame = pl.DataFrame({"owner": list(blocking), "inference": inference, "block": True})
        store.load(frame, CATALOGUE.ids())
        return store

    return make


def request(sql=SQL, rule="coarser", k=2, **more):
    tree = PLACE if rule == "coarser" else ()
    design = Design(k=k, rule=rule, tree=tree, **more.pop("design", {}))
    return Request(sql=sql, owner="card", quasi=PLACE, design=design, measure=False, **more)


@pytest.mark.parametrize("chosen", [[7], [7, 8], list(range(40))])
@pytest.mark.parametrize("copies", [1, 10])
def test_a_look_is_the_same_whatever_one_person_chose(choices, chosen, copies):
    frame = pl.concat([FRAME.select("card", *PLACE)[chosen]] * copies)
    seen = []
    for blocking in (OWNERS[20:80], [*OWNERS[20:80], "B0007"]):
        store = choices(blocking)
        seen.append(outlook(request(), frame, CATALOGUE, store))
        assert store.trail()[0]["what"] == "look"
    assert seen[0] == seen[1]


def test_a_key_in_lower_case_is_refused_whatever_its_owner_chose(choices):
    for blocking in (OWNERS[20:80], [*OWNERS[20:80], "B0007"]):
        store = choices(blocking)
        frame = FRAME.select("card", *PLACE).with_columns(
            card=pl.when(pl.col("card") == "B0007").then(pl.lit("b0007")).otherwise("card")
        )
        with pytest.raises(DataError, match="written otherwise") as refused:
            publish(request(k=5), frame, CATALOGUE, store)
        assert not any(sign.isdigit() for sign in str(refused.value))
        assert store.trail()[0]["what"] == "stopped"


def test_two_reports_that_differ_by_one_person_count_no_blocks(choices, tmp_path):
    store = choices(OWNERS[:67])
    for left in ("B0016", "B0200"):
        frame = FRAME.select("card", *PLACE).filter(pl.col("card") != left)
        paths = write(publish(request(k=5), frame, CATALOGUE, store), tmp_path / left)
        for name, keys in (
            ("report", ("owners who block", "rows marked")),
            ("certificate", ("owners_who_block", "rows_marked")),
        ):
            shown = json.loads(paths[name].read_text())
            assert [shown[key] for key in keys] == [None, None]
            assert not {"blocked rows", "raised", "joined", "of them blocked"} & set(shown["facts"])
        page = paths["page"].read_text()
        assert "owners with" not in page
        assert "Nobody's choice" not in page


@pytest.mark.parametrize("rule", ["standard", "exchange"])
def test_a_rule_that_misses_the_size_that_was_asked_for_is_not_published(choices, rule):
    places = pl.DataFrame({"canton": [i % 20 for i in range(300)], "district": [i % 60 for i in range(300)]})
    frame = FRAME.select("card").hstack(places)
    with pytest.raises(RequirementError, match="smaller than their data subjects"):
        publish(request(rule=rule, k=3), frame, CATALOGUE, choices(OWNERS[:80]))
    assert publish(request(rule="class", k=3), frame, CATALOGUE, choices(OWNERS[:81])).holds


@pytest.mark.parametrize(("inference", "column"), [("poor", "benefit"), ("ill", "diagnosis")])
def test_an_inference_that_the_rule_does_not_change_is_refused(choices, inference, column):
    sql = f"SELECT card, canton, district, {column} FROM personal"
    frame = FRAME.select("card", *PLACE, column)
    wanted = request(sql, rule="class", k=3, sensitive=(column,))
    with pytest.raises(RequirementError, match=f"would not change {column}, by which"):
        publish(wanted, frame, CATALOGUE, choices(OWNERS[:50], inference))
    assert publish(wanted, frame, CATALOGUE, choices([], inference)).holds, "nobody blocks it"


@pytest.mark.parametrize("rule", ["class", "coarser", "control", "standard"])
def test_a_column_that_fired_is_not_left_as_it_is(choices, rule):
    """Residence fires by place and school; a school left raw shows the place that the rule coarsens."""
    catalogue = read_toml(
        '[[inference]]\nid = "residence"\ndescription = "Find out where I live"\nextra = 5\n'
        '[[inference.rule]]\ntables = {personal = ["canton", "district", "school"]}\n'
    )
    frame = FRAME.select("card", *PLACE).with_columns(school=pl.col("district").str.replace("D", "S"))
    sql = "SELECT card, canton, district, school FROM personal"
    design = Design(k=3, rule=rule, tree=PLACE)
    wanted = Request(sql=sql, owner="card", quasi=PLACE, design=design, measure=False)
    store = choices(OWNERS[:80])
    with pytest.raises(RequirementError, match="would not change school, by which it can be deduced"):
        publish(wanted, frame, catalogue, store)
    assert store.trail()[0]["what"] == "stopped"
    remedies = {
        "left out": Request(sql=SQL, owner="card", quasi=PLACE, design=design, measure=False),
        "covered": replace(wanted, quasi=(*PLACE, "school"), design=Design(k=3, rule="class")),
        "excluded": replace(wanted, design=replace(design, strengthen=("exclude",)), acknowledge={"school": "public"}),
        "blanked": replace(
            wanted,
            design=replace(design, strengthen=("suppress",), camouflage=0.6),
            acknowledge={"school": "blank where it was asked for"},
        ),
    }
    for remedy, request in remedies.items():
        assert publish(request, frame.select(*columns_of(request)), catalogue, store).holds, remedy


def test_the_refusal_of_a_column_does_not_show_who_in_the_result_blocks(choices):
    """A requester who varies the people of the query is refused whether they block or others do."""
    sql = "SELECT card, canton, district, benefit FROM personal"
    frame = FRAME.select("card", *PLACE, "benefit")[100:200]
    messages = set()
    for blocking in (OWNERS[:50], [*OWNERS[:50], "B0107"], OWNERS[100:150]):
        with pytest.raises(RequirementError, match="would not change benefit") as refused:
            publish(request(sql, k=3, sensitive=("benefit",)), frame, CATALOGUE, choices(blocking, "poor"))
        messages.add(str(refused.value))
    assert len(messages) == 1


def columns_of(request):
    return [name.strip() for name in request.sql.removeprefix("SELECT").partition("FROM")[0].split(",")]


@pytest.mark.parametrize("persons", [False, True])
def test_at_most_half_of_those_with_a_blank_cell_block(choices, persons):
    """50 of 300 block: a camouflage of 1e-9 or 0.1 shows who they are; the one that the message names does not."""
    sql = "SELECT card, canton, district, benefit FROM personal"
    frame = FRAME.select("card", *PLACE, "benefit")
    frame = pl.concat([frame, frame]) if persons else frame
    store = choices(OWNERS[:50], "poor")

    def attempt(camouflage):
        design = {"strengthen": ("suppress",), "camouflage": camouflage}
        wanted = request(sql, rule="class", k=3, sensitive=("benefit",), design=design)
        return publish(wanted, frame, CATALOGUE, store)

    for camouflage in (1e-9, 0.1):
        with pytest.raises(RequirementError, match=r"more than 50% .* Use a camouflage of at least 0\.3") as refused:
            attempt(camouflage)
    named = float(str(refused.value).partition("at least ")[2].partition(",")[0])
    for _ in range(5):
        made = attempt(named)
        blank = made.protected.table.polars()["benefit"] == "*"
        owners = frame["card"].filter(blank).n_unique()
        assert 100 <= owners < 300
    everybody = {"strengthen": ("suppress",), "camouflage": 1.0}
    most = request(sql, rule="class", k=3, sensitive=("benefit",), design=everybody)
    assert publish(most, frame, CATALOGUE, choices(OWNERS[:200], "poor")).holds, (
        "all cells are blank: they show nothing"
    )


def test_blank_cells_are_not_those_of_the_blocking_alone(choices):
    with pytest.raises(ParameterError, match="camouflage"):
        Design(k=3, rule="class", strengthen=("suppress",))
    sql = "SELECT card, canton, district, benefit FROM personal"
    design = {"strengthen": ("suppress",), "camouflage": 0.3}
    wanted = request(sql, rule="class", k=3, sensitive=("benefit",), design=design)
    made = publish(wanted, FRAME.select("card", *PLACE, "benefit"), CATALOGUE, choices(OWNERS[:50], "poor"))
    blank = int((made.protected.table.polars()["benefit"] == "*").sum())
    assert 90 < blank < 170, "50 and about 0.3 of 250"


def tables(url):
    """The table and, on PostgreSQL, every other kind of object that shows its columns."""
    columns = "card text, canton text, district text"
    rows = [(o, f"C{i % 2}", f"D{i % 6}") for i, o in enumerate(OWNERS)]
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute(f"CREATE TABLE personal({columns})")
            connection.executemany("INSERT INTO personal VALUES (?, ?, ?)", rows)
            connection.execute("CREATE VIEW v_personal AS SELECT * FROM personal")
        return ["pragma_table_info('personal')"]
    if url.startswith("duckdb"):
        import duckdb

        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            connection.execute(f"CREATE TABLE personal({columns})")
            connection.executemany("INSERT INTO personal VALUES (?, ?, ?)", rows)
            connection.execute("CREATE VIEW v_personal AS SELECT * FROM personal")
            connection.execute("CREATE MACRO f_personal() AS TABLE SELECT * FROM personal")
        return ["v_personal", "f_personal()"]
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE personal({columns})")
        connection.cursor().executemany("INSERT INTO personal VALUES (%s, %s, %s)", rows)
        connection.execute("CREATE VIEW v_personal AS SELECT * FROM personal")
        connection.execute("CREATE MATERIALIZED VIEW m_personal AS SELECT * FROM personal")
        connection.execute(
            "CREATE FUNCTION f_personal() RETURNS SETOF personal LANGUAGE sql AS 'SELECT * FROM personal'"
        )
        connection.execute(f"CREATE TABLE whole({columns}) PARTITION BY LIST (canton)")
        connection.execute("CREATE TABLE part PARTITION OF whole FOR VALUES IN ('C0')")
        connection.execute("CREATE TABLE child() INHERITS (personal)")
    return ["m_personal", "f_personal()", "part", "child"]


def refused(url, store, objects):
    for name in objects:
        for sql in (SQL, f"WITH w AS ({SQL}) SELECT card, canton, district FROM w"):
            with pytest.raises(CelosiaError, match=r"base tables|outside of the query"):
                publish(request(sql.replace("personal", name), k=5), url, CATALOGUE, store)
    views = () if url.startswith("duckdb") else ("v_personal",)  # replaced by their definitions
    for name in ("personal", *views):
        made = publish(request(SQL.replace("personal", name), k=5), url, CATALOGUE, store)
        assert made.report["rows marked"] == 80


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_objects_that_are_no_base_tables_are_refused(choices, tmp_path, kind):
    url = f"{kind}:///{tmp_path}/people.db"
    refused(url, choices(OWNERS[:80]), tables(url))


def test_views_of_the_store_are_refused_on_sqlite(choices, tmp_path):
    url = f"sqlite:///{tmp_path}/people.db"
    store = choices(OWNERS[:80], where=tmp_path / "people.db")
    tables(url)
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute(
            "CREATE VIEW harmless AS SELECT owner AS card, inference AS canton, block FROM consent_choices"
        )
    for name in ("harmless", "consent_choices", '"CONSENT_CHOICES"'):
        sql = f"SELECT p.card, p.canton, p.district, h.block FROM personal p LEFT JOIN {name} h ON h.card = p.card"
        for attempt in (publish, outlook):
            with pytest.raises(DataError, match=r"base tables|never published|acts outside of the query"):
                attempt(request(sql, k=5), url, CATALOGUE, store)


def views_of_the_store(postgres_url, store):
    """Every object that shows the choices under another name is refused."""
    import psycopg

    body = "SELECT owner AS card, block FROM consent_choices"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE VIEW harmless AS {body}")
        connection.execute(f"CREATE MATERIALIZED VIEW stored AS {body}")
        connection.execute("CREATE TABLE inherits() INHERITS (consent_choices)")
        connection.execute(
            "CREATE FUNCTION rows_needed() RETURNS TABLE(card text, block text) LANGUAGE sql "
            "AS 'SELECT owner::text, block::text FROM consent_choices'"
        )
        connection.execute(
            "CREATE FUNCTION choice_of(text) RETURNS text LANGUAGE sql "
            "AS 'SELECT max(block::text) FROM consent_choices WHERE owner = $1'"
        )
    for name in ("harmless", "stored", "rows_needed()", "inherits", "public.consent_choices"):
        sql = f"SELECT p.card, p.canton, p.district, h.block FROM personal p LEFT JOIN {name} h ON h.card = p.card"
        for attempt in (publish, outlook):
            with pytest.raises(DataError, match=r"base tables|never published|acts outside of the query"):
                attempt(request(sql, k=5), postgres_url, CATALOGUE, store)
    with pytest.raises(CelosiaError, match="function"):
        publish(
            request("SELECT card, canton, district, choice_of(card) AS c FROM personal", k=5),
            postgres_url,
            CATALOGUE,
            store,
        )


def test_objects_of_postgresql_and_the_store_itself_are_refused(choices, postgres_url):
    objects = tables(postgres_url)
    store = choices(OWNERS[:80], where=postgres_url)
    refused(postgres_url, store, objects)
    for sql in (
        "SELECT p.card, p.canton, p.district, c.block FROM personal p LEFT JOIN consent_choices c ON c.owner = p.card",
        "SELECT card, canton, district FROM personal WHERE card IN (SELECT owner FROM Consent_Choices)",
    ):
        for attempt in (publish, outlook):
            with pytest.raises(DataError, match="never published"):
                attempt(request(sql, k=5), postgres_url, CATALOGUE, store)
    views_of_the_store(postgres_url, store)
