"""A publication as a release: what is written, what a third party can check, and what must not leak."""

from __future__ import annotations

import json
import re
import stat

import numpy as np
import polars as pl
import pytest

from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, publish, write
from celosia.consent.rules.rules import read_toml
from celosia.errors import OutputError, RequirementError
from celosia.release.evidence.row_map import unpack_rows
from celosia.release.evidence.seal import commitment
from celosia.release.verify.verify import verify

TREE = ("province", "canton", "district")
PUBLIC = ("data", "certificate", "report", "page")
LITERAL = "8472613"  # stands in the query and nowhere else


def result(students, rows=1):
    frame = students.frames()
    found = frame["student"].join(frame["personal"], on="card").join(frame["enrolment"], on="card")
    found = found.select("card", "name", *TREE, "school", "score")
    return pl.concat([found] * rows)


def request_of(students, **changes):
    sql = students.SQL.replace("SELECT s.name", "SELECT s.card, s.name") + f" AND e.score <> {LITERAL}"
    given = {
        "sql": sql,
        "owner": "card",
        "design": Design(k=20, tree=TREE),
        "quasi": TREE,
        "identifiers": ("name",),
        "sensitive": ("school",),
        "measure": False,
    }
    return Request(**{**given, **changes})


def block(store, owners, inference="residence"):
    store.load(pl.DataFrame({"owner": owners, "inference": inference, "block": True}), [inference])


def cards(*numbers):
    return [f"B{i:05d}" for i in numbers]


def read_json(path):
    return json.loads(path.read_text())


def test_a_release_has_a_public_and_a_private_part(students, catalogue, store, tmp_path):
    block(store, cards(*range(300)))
    made = publish(request_of(students), result(students), catalogue, store)
    paths = write(made, tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(p.name for p in paths.values())
    for name, path in paths.items():
        assert (stat.S_IMODE(path.stat().st_mode) == 0o600) == (name in ("record", "internal")), name
    certificate, record = read_json(paths["certificate"]), read_json(paths["record"])
    assert certificate["requirements"][0]["part"] == "k-anonymity(k=20)"
    assert certificate["requirements"][0]["value"] >= 20
    # the timetable rule fires too; nobody is told how many block it
    assert {c["inference"]: c["value"] for c in certificate["conditions"]} == {"residence": 30, "timetable": 40}
    assert certificate["inferences"][0]["owners"] is None
    assert certificate["parameters"]["rule"] == "coarser"
    assert set(certificate["commitments"]) == {"how", "input", "query", "catalogue", "preferences", "record"}
    assert len(record["seed"]) == 32
    assert LITERAL in record["committed"]["query"]
    assert record["design"]["k"] == 20
    assert record["report"]["owners who block"] == 300


def test_anybody_can_verify_the_file(students, catalogue, store, tmp_path):
    block(store, cards(*range(300)))
    paths = write(publish(request_of(students), result(students), catalogue, store), tmp_path / "out")
    checks = verify(tmp_path / "out")
    assert all(c.passed is not False for c in checks)
    found = {c.claim: c for c in checks}
    classes = pl.read_csv(paths["data"]).group_by(TREE).len()["len"]
    assert found["k-anonymity(k=20)"].found == classes.min()
    assert found["uniqueness"].passed
    assert found["commitment to the preferences"].passed
    alone = verify(paths["certificate"], paths["data"])
    assert {c.claim for c in alone if c.passed is None} == {
        "class size of owners who block residence, at least",
        "class size of owners who block timetable, at least",
        "commitments",
        "facts",
        "guard",
        "inferences",
        "left_out",
        "made_by",
        "order",
        "owners",
        "parameters",
        "withheld",
    }


def test_a_changed_file_is_noticed(students, catalogue, store, tmp_path):
    paths = write(publish(request_of(students), result(students), catalogue, store), tmp_path / "out")
    frame = pl.read_csv(paths["data"])
    small = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("D9")).otherwise("district").alias("district")
    )
    small.write_csv(paths["data"])
    failed = {c.claim for c in verify(tmp_path / "out") if c.passed is False}
    assert failed == {"SHA-256 of the file", "k-anonymity(k=20)", "uniqueness", "every requirement holds"}


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (lambda r: r.update(seed="0" * 32), "commitment to the record"),
        (lambda r: r["committed"].update(query="SELECT 1"), "commitment to the query"),
        (lambda r: r["committed"].update(preferences="0"), "commitment to the preferences"),
        (lambda r: r["committed"].update(catalogue="0"), "commitment to the catalogue"),
        (lambda r: r["input"].update(sha256="0"), "commitment to the input"),
    ],
)
def test_a_changed_record_is_noticed(students, catalogue, store, tmp_path, change, claim):
    paths = write(publish(request_of(students), result(students), catalogue, store), tmp_path / "out")
    record = read_json(paths["record"])
    change(record)
    paths["record"].write_text(json.dumps(record))
    assert claim in {c.claim for c in verify(tmp_path / "out") if c.passed is False}


def test_nothing_private_is_in_what_is_published(students, catalogue, store, tmp_path):
    block(store, cards(7), "timetable")
    block(store, cards(*range(300)))
    made = publish(request_of(students, measure=True), result(students), catalogue, store)
    paths = write(made, tmp_path / "out")
    record = read_json(paths["record"])
    secrets = [record["seed"], str(int(record["seed"], 16)), record["key"], record["rows"], LITERAL]
    secrets += [record["committed"][name] for name in ("query", "catalogue", "preferences")]
    secrets += [record["input"]["sha256"], "B00007", "Name7", str(tmp_path)]
    for name in PUBLIC:
        text = paths[name].read_text()
        assert not [secret for secret in secrets if secret in text], name
    assert LITERAL in paths["record"].read_text()
    # exactly one owner blocks the timetable: the count is the choice
    inference = read_json(paths["certificate"])["inferences"][1]
    assert inference == {
        "inference": "timetable",
        "owners": None,
        "rows": None,
        "columns": [],
        "X": 20,
        "rows whose X it decides": None,
    }
    assert "1 owners" not in paths["page"].read_text()
    assert "1 owners with 1 rows block it" in paths["internal"].read_text()


def test_one_block_more_changes_no_public_number(students, catalogue, store, tmp_path):
    """Few block: the certificates with and without one of them differ in hashes and in nothing that counts blocks."""
    block(store, cards(0, 1))
    texts, tables = [], []
    for i, more in enumerate(((), cards(2))):
        if more:
            block(store, more)
        design = Design(k=20, tree=TREE, rule="control")
        made = publish(request_of(students, design=design), result(students), catalogue, store, seed=1 << 70)
        certificate = read_json(write(made, tmp_path / f"out{i}")["certificate"])
        certificate["release"].pop("sha256")  # of records in another order
        texts.append({k: v for k, v in certificate.items() if k not in ("created", "commitments")})
        tables.append(made.table.polars().sort(pl.all()))
        assert made.report["owners who block"] == 2 + i
    assert texts[0] == texts[1]
    assert tables[0].equals(tables[1])


def test_a_seed_that_is_used_again_gives_the_same_order_for_the_same_data_only(students, catalogue, store):
    design = Design(k=20, tree=TREE, rule="standard")
    frame = result(students)
    changed = frame.with_columns(score=pl.when(pl.int_range(pl.len()) == 7).then(0).otherwise("score"))
    first, again, other = (
        publish(request_of(students, design=design, measure=False), one, catalogue, store, seed=1 << 70).origin.rows
        for one in (frame, frame, changed)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_commitments_open_with_the_key_alone(students, catalogue, store, tmp_path):
    paths = write(publish(request_of(students), result(students), catalogue, store), tmp_path / "out")
    stated, record = read_json(paths["certificate"])["commitments"], read_json(paths["record"])
    for name, content in record["committed"].items():
        assert stated[name] == commitment(bytes.fromhex(record["key"]), content.encode())
        for key in (b"", b"\0" * 32, content.encode()):
            assert stated[name] != commitment(key, content.encode())


def test_the_row_map_leads_back_to_the_result(students, catalogue, store, tmp_path):
    frame = result(students)
    block(store, cards(*range(300)))
    for strengthen in ((), ("exclude",)):
        design = Design(k=20, tree=TREE, strengthen=strengthen)
        made = publish(request_of(students, design=design), frame, catalogue, store)
        paths = write(made, tmp_path / f"out{len(strengthen)}")
        rows = unpack_rows(read_json(paths["record"])["rows"])
        data = pl.read_csv(paths["data"])
        assert len(data) == (900 if strengthen else 1200)
        assert data["score"].to_list() == frame["score"].gather(rows).to_list()
        assert not np.array_equal(np.sort(rows), rows)


def test_it_is_written_whole_or_not_at_all(students, catalogue, store, tmp_path, monkeypatch):
    from celosia.consent.publication import report_page

    made = publish(request_of(students), result(students), catalogue, store)

    def fail(*_, **__):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(report_page, "_file", fail)
        with pytest.raises((OSError, OutputError)):
            write(made, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    before = {name: path.read_bytes() for name, path in write(made, tmp_path / "out").items()}
    with pytest.raises(OutputError, match=r"certificate.json.* exist already"):
        write(made, tmp_path / "out")
    again = publish(request_of(students), result(students), catalogue, store)
    paths = write(again, tmp_path / "out", overwrite=True)
    assert paths["certificate"].read_bytes() != before["certificate"]
    assert all(c.passed is not False for c in verify(tmp_path / "out"))


def test_persons_are_counted_where_owners_have_several_rows(students, catalogue, store, tmp_path):
    """Every owner has three rows: a class of 60 rows holds 20 persons, and the file alone cannot tell."""
    made = publish(request_of(students), result(students, rows=3), catalogue, store)
    paths = write(made, tmp_path / "out")
    records, persons = read_json(paths["certificate"])["requirements"]
    assert records["value"] == 3 * persons["value"]
    assert persons["value"] >= 20
    checks = [c for c in verify(tmp_path / "out") if c.claim == "k-anonymity(k=20)"]
    assert [c.passed for c in checks] == [True, None]
    assert "counts persons" in checks[1].note


def test_cm_counts_records_also_where_owners_have_several(catalogue, store):
    """Twenty owners in one place, each with labels x, x, y and y: half of the records are not the commonest."""
    frame = pl.DataFrame({"card": cards(*range(20)), "province": "p", "canton": "c", "district": "d"})
    source = pl.concat([frame.with_columns(label=pl.lit(label)) for label in "xxyy"])
    sql = "SELECT card, province, canton, district, label FROM personal"
    design = Design(k=10, rule="standard", tree=TREE)
    wanted = Request(sql=sql, owner="card", design=design, quasi=TREE, sensitive=("label",))
    report = publish(wanted, source, catalogue, store).report
    assert report["before"]["cm"]["label"] == report["measured"]["standard"]["cm"]["label"] == 40 / 80


@pytest.mark.parametrize("rule", ["class", "coarser"])
def test_k_holds_over_classes_with_blank_cells(students, catalogue, store, tmp_path, rule):
    block(store, cards(*range(0, 1200, 4)))
    design = Design(k=20, rule=rule, tree=TREE, camouflage=0.4, strengthen=("suppress",))
    wanted = request_of(students, design=design, acknowledge={"school": "the ministry publishes where schools are"})
    paths = write(publish(wanted, result(students), catalogue, store), tmp_path / "out")
    (stated,) = read_json(paths["certificate"])["requirements"]
    classes = pl.read_csv(paths["data"]).filter(pl.col("province") != "*").group_by(TREE).len()["len"]
    assert stated["value"] == classes.min() >= 20
    (check,) = [c for c in verify(tmp_path / "out") if c.claim == "k-anonymity(k=20)"]
    assert check.passed


def test_quasi_identifiers_outside_the_tree_are_not_forgotten(students, catalogue, store):
    """k would hold for places and fail for places with schools: such a file is no release."""
    with pytest.raises(RequirementError, match="school are outside the tree"):
        publish(request_of(students, quasi=(*TREE, "school"), sensitive=()), result(students), catalogue, store)
    halves = result(students).with_columns(school=pl.Series(["S", "T"] * 600))
    block(store, cards(*range(0, 1200, 3)))
    for rule in ("class", "control"):  # both halves of a place have k, and not k + X
        design = Design(k=5, rule=rule, tree=TREE)
        wanted = request_of(students, quasi=(*TREE, "school"), sensitive=(), design=design)
        with pytest.raises(RequirementError, match=r"asked for \(k \+ X\), because .* school are outside the tree"):
            publish(wanted, halves, catalogue, store)
    constant = result(students).with_columns(school=pl.lit("S"))
    assert publish(request_of(students, quasi=(*TREE, "school"), sensitive=()), constant, catalogue, store).holds


def test_a_small_seed_is_for_tests(students, catalogue, store, tmp_path):
    for seed, warned in ((5, True), (1 << 100, False)):
        made = publish(request_of(students), result(students), catalogue, store, seed=seed)
        paths = write(made, tmp_path / str(seed))
        assert ("test" in read_json(paths["certificate"])) == warned
        assert ("can be guessed" in paths["page"].read_text()) == warned


def test_the_page_shows_alpha_cm_and_the_certificate(students, catalogue, store, tmp_path):
    """Forty rows by hand: four places of ten; one place lost its only neighbour, so one record is alone before."""
    place = ["a"] * 10 + ["b"] * 10 + ["c"] * 19 + ["d"]
    frame = pl.DataFrame(
        {"card": cards(*range(40)), "province": "p", "canton": "c", "district": place, "label": ["x"] * 25 + ["y"] * 15}
    )
    sql = "SELECT card, province, canton, district, label FROM personal"
    request = Request(
        sql=sql, owner="card", design=Design(k=10, rule="standard", tree=TREE), quasi=TREE, sensitive=("label",)
    )
    made = publish(request, frame, catalogue, store)
    assert made.report["before"]["alpha"] == 1 / 40
    assert made.report["before"]["cm"]["label"] == 5 / 40  # c has 5 x and 14 y
    assert made.report["measured"]["standard"]["alpha"] == 0.0
    # d is too small, so all show the canton alone (25 x, 15 y) or d joins c (6 of 20): counted from the file
    shown = made.table.polars().group_by(TREE).agg(n=pl.len(), most=pl.col("label").value_counts().struct[1].max())
    assert made.report["measured"]["standard"]["cm"]["label"] == (shown["n"] - shown["most"]).sum() / 40
    paths = write(made, tmp_path / "out")
    public, text = paths["page"].read_text(), paths["internal"].read_text()
    assert '<a href="certificate.json">' in public
    assert "α (Lodha and Thomas)" not in public
    assert "2.50%" not in public
    assert "α (Lodha and Thomas)" in text
    assert "CM of label" in text
    assert "2.50%" in text
    assert "12.5%" in text
    bare = Request(sql=sql, owner="card", design=Design(k=10, rule="standard", tree=TREE), quasi=TREE)
    text = write(publish(bare, frame, catalogue, store), tmp_path / "bare")["internal"].read_text()
    assert "Iyengar" not in text
    assert "α (Lodha and Thomas)" in text


def test_lists_in_a_result_are_refused(students, catalogue, store):
    from celosia.errors import DataError

    frame = result(students).with_columns(courses=pl.Series([[1, 2]] * 1200))
    with pytest.raises(DataError, match="'courses' holds lists or bytes"):
        publish(request_of(students), frame, catalogue, store)
    left_out = request_of(students, identifiers=("name", "courses"))
    assert publish(left_out, frame, catalogue, store).holds


def test_a_record_of_a_request_is_not_applied_to_new_records(students, catalogue, store, tmp_path):
    from celosia.errors import DataError
    from celosia.release.apply import apply

    paths = write(publish(request_of(students), result(students), catalogue, store), tmp_path / "out")
    with pytest.raises(DataError, match="Make a new request"):
        apply(paths["record"], result(students))


def test_an_inference_that_is_described_in_one_language_only(students, store, tmp_path):
    """The thesis describes its inferences in Spanish alone."""
    spanish = read_toml(re.sub(r"\{en = .*?, (es = .*?), ca = .*?\}", r"{\1}", students.CATALOGUE))
    assert list(spanish["residence"].description) == ["es"]
    made = publish(request_of(students), result(students), spanish, store, seed=1)
    assert "Deducir dónde vivo" in write(made, tmp_path / "out")["page"].read_text("utf-8")
