"""A certificate that lies: every way of making a claim unverifiable is refuted from the file, or listed as open."""

from __future__ import annotations

import base64
import json
import zlib

import polars as pl
import pytest

from celosia.cli.main import run as command
from celosia.errors import DataError, PolicyError
from celosia.release.evidence import signature
from celosia.release.evidence.seal import file_hash
from celosia.release.policy.policy import Policy
from celosia.release.run import run
from celosia.release.verify.verify import verify

POLICY = """
require = ["k-anonymity(k=3)"]
[input]
path = "in.csv"
[schema]
quasi = ["sex", "age"]
sensitive = ["ill"]
identifiers = ["name"]
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[output]
path = "out/safe.csv"
report = false
"""


@pytest.fixture
def place(tmp_path):
    rows = [(f"n{i}", "FM"[i % 2], 20 + 10 * (i % 3), "abc"[i // 6 % 3]) for i in range(36)]
    pl.DataFrame(rows, schema=["name", "sex", "age", "ill"], orient="row").write_csv(tmp_path / "in.csv")
    (tmp_path / "out").mkdir()
    run(Policy.parse(POLICY, tmp_path))
    return tmp_path


def forge(place, **changes):
    """Change the certificate; a function changes what is there."""
    path = place / "out" / "safe.certificate.json"
    certificate = json.loads(path.read_text())
    for name, change in changes.items():
        certificate[name] = change(certificate[name]) if callable(change) else change
    path.write_text(json.dumps(certificate))
    return path


def unique_file(place):
    """Replace the release by one in which everybody is unique, and its hash."""
    data = pl.DataFrame({"sex": ["F"] * 36, "age": range(36), "ill": ["a"] * 36})
    data.write_csv(place / "out" / "safe.csv")
    digest = file_hash(place / "out" / "safe.csv")
    return lambda release: {**release, "sha256": digest, "rows": 36, "columns": ["sex", "age", "ill"]}


def require(**changes):
    return lambda claims: [{**claims[0], **changes}]


def by_claim(verification):
    return {check.claim: check for check in verification}


def test_an_honest_release_is_confirmed_and_says_what_was_not_checked(place):
    found = verify(place / "out" / "safe.certificate.json")
    assert found.verdict == "verified in part"
    assert found.confirmed
    assert by_claim(found)["every requirement holds"].passed is True
    assert by_claim(found)["steps"].passed is None
    assert "steps" in found.sentence
    assert command(["verify", str(place / "out" / "safe.certificate.json")]) == 0


def test_a_repetition_confirms_what_was_done(place):
    found = verify(
        place / "out" / "safe.certificate.json",
        record=place / "out" / "safe.private.json",
        original=place / "in.csv",
    )
    assert found.verdict == "verified"


def test_candidates_do_not_hide_unique_records(place):
    claims = require(part="k-anonymity(k=100)", value=100.0, wish="k at least 100", holds=True)
    path = forge(place, release=unique_file(place), counted="candidates", requirements=claims, risks=[])
    found = verify(path)
    assert found.verdict == "contradicted"
    assert by_claim(found)["every requirement holds"].passed is False
    assert command(["verify", str(path)]) == 3


def test_candidates_are_bounded_by_the_records_that_a_blanked_cell_could_be(place):
    data = pl.DataFrame({"sex": ["F", "M", "*"] + ["F"] * 33, "age": ["1", "2", "3"] + ["1"] * 33, "ill": ["a"] * 36})
    data.write_csv(place / "out" / "safe.csv")
    digest = file_hash(place / "out" / "safe.csv")
    release = {"sha256": digest, "rows": 36, "columns": ["sex", "age", "ill"], "suppressed": 0, "file": "safe.csv"}
    claims = require(part="k-anonymity(k=9)", value=9.0, wish="k at least 9", holds=True)
    found = verify(forge(place, release=release, counted="candidates", requirements=claims, risks=[]))
    assert by_claim(found)["k-anonymity(k=9)"].passed is False


@pytest.mark.parametrize(
    "changes",
    [
        {"requirements": require(part="t-closeness(t=0.1)", value=0.05, wish="t at most 0.1", holds=True)},
        {"requirements": require(part="k-map(k=3)", value=9.0, wish="", holds=True, withheld=["population"])},
    ],
)
def test_a_requirement_that_cannot_be_computed_again_is_not_confirmed(place, changes):
    path = forge(place, **changes)
    found = verify(path)
    assert not found.confirmed
    assert by_claim(found)["every requirement holds"].passed is None
    assert "could not be confirmed" in found.sentence
    assert command(["verify", str(path)]) == 3


@pytest.mark.parametrize(
    ("changes", "claim", "passed"),
    [
        ({"formal": "measures are withheld"}, "formal", False),
        ({"steps": [{"name": "x", "use": "no-such-method"}]}, "steps", False),
        ({"steps": [{"name": "x", "use": "dp-histogram"}], "formal": "measures are withheld"}, "formal", None),
        ({"guard": [{"column": "ill", "what": "names", "cells": 0, "of": 36}]}, "guard", None),
        ({"checked": {"confirmed": ["everything"]}}, "checked", None),
        ({"left_out": ["ill"]}, "left_out", False),
        ({"requirements": require(wish="k at least 5000")}, "wording of k-anonymity(k=3)", False),
        ({"requirements": require(value=500.0)}, "k-anonymity(k=3)", False),
        ({"holds": False}, "every requirement holds", False),
    ],
)
def test_every_forged_section_is_refuted_or_open(place, changes, claim, passed):
    found = verify(forge(place, **changes))
    assert by_claim(found)[claim].passed is passed
    assert found.verdict != "verified"
    if passed is None:
        assert claim in found.sentence


def test_a_repetition_contradicts_forged_steps(place):
    path = forge(place, steps=[{"name": "x", "use": "dp-histogram"}])
    found = verify(path, record=place / "out" / "safe.private.json", original=place / "in.csv")
    assert found.verdict == "contradicted"
    assert by_claim(found)["repetition gives the same numbers"].passed is False


def test_a_certificate_with_a_key_twice_is_refused_though_its_signature_holds(place):
    key = place / "k"
    signature.create(key)
    path = place / "out" / "safe.certificate.json"
    certificate = {k: v for k, v in json.loads(path.read_text()).items() if k != "signature"}
    certificate["signature"] = signature.Signer.load(key).signature(certificate)
    forged = '{"requirements": [{"part": "k-anonymity(k=500)"}], ' + json.dumps(certificate)[1:]
    path.write_text(forged)
    with pytest.raises(DataError, match="'requirements' occurs twice"):
        verify(path, signer=place / "k.pub")
    assert command(["verify", str(path), "--signer", str(place / "k.pub")]) == 2


def test_a_private_record_that_unpacks_beyond_its_rows_is_refused(place):
    path = place / "out" / "safe.private.json"
    record = json.loads(path.read_text())
    record["persons"] = base64.b64encode(zlib.compress(bytes(1 << 26), 9)).decode()
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="unpacks to more than the 288 bytes"):
        verify(place / "out")


def test_a_requirement_that_bounds_the_best_class_only_is_refused(tmp_path):
    policy = {"input": {"path": str(tmp_path / "in.csv")}, "output": {"path": str(tmp_path / "out.csv")}}
    with pytest.raises(PolicyError, match="bounds the best class only"):
        Policy.of({**policy, "require": [{"use": "t-closeness", "t": 0.1, "aggregate": "min"}]})


def add_table(place, **changes):
    """Write a further table of unique records beside the release and state it in the certificate."""
    data = pl.DataFrame({"sex": ["F"] * 36, "age": range(36), "ill": ["a"] * 36})
    data.write_csv(place / "out" / "copy.csv")
    table = {"file": "copy.csv", "sha256": file_hash(place / "out" / "copy.csv"), "rows": 36, "columns": data.columns}
    return forge(place, tables=[{**table, **changes}])


WEAKER = {"part": "k-anonymity(k=1)", "value": 1.0, "holds": True}
TABLES = {
    "no requirement": {},
    "a weaker requirement": {"requirements": [WEAKER]},
    "a risk only": {"risks": [{"part": "prosecutor", "value": 1.0}]},
}


@pytest.mark.parametrize("changes", TABLES.values(), ids=TABLES)
def test_a_further_table_must_meet_the_requirements_of_the_main_one(place, changes):
    verification = verify(add_table(place, **changes))
    assert verification.verdict == "contradicted"
    assert "requirements of copy.csv" in verification.sentence


@pytest.mark.parametrize("field", ["rows", "columns"])
def test_a_further_table_of_unstated_shape_is_contradicted(place, field):
    path = add_table(place)
    certificate = json.loads(path.read_text())
    del certificate["tables"][0][field]
    path.write_text(json.dumps(certificate))
    assert "rows and columns of copy.csv" in verify(path).sentence


def test_a_further_table_with_other_columns_is_not_confirmed(place):
    path = add_table(place)
    pl.DataFrame({"age": range(36)}).write_csv(place / "out" / "copy.csv")
    table = {"file": "copy.csv", "sha256": file_hash(place / "out" / "copy.csv"), "rows": 36, "columns": ["age"]}
    verification = verify(forge(place, tables=[table]))
    assert path.is_file()
    assert verification.holds
    assert not verification.confirmed


@pytest.mark.parametrize("section", ["requirements", "risks"])
@pytest.mark.parametrize("number", ["inf", "-inf"])
def test_an_infinite_number_is_contradicted(place, section, number):
    stated = json.loads((place / "out" / "safe.certificate.json").read_text())[section]
    claims = stated or [{"part": "prosecutor", "value": 1.0}]
    assert not verify(forge(place, **{section: [{**claims[0], "value": number}]})).holds


def test_agreement_of_a_file_with_itself_does_not_confirm_closeness(place):
    """Everybody has the same illness: the distance of the file from itself is 0, from the input unknown."""
    claim = {"part": "t-closeness(column=ill, t=0.1)", "value": 0.0, "holds": True}
    data = pl.DataFrame({"sex": ["F", "M"] * 18, "age": [20] * 36, "ill": ["a"] * 36})
    data.write_csv(place / "out" / "safe.csv")
    digest = file_hash(place / "out" / "safe.csv")
    path = forge(place, requirements=[claim], checked=None, risks=[], release=lambda r: {**r, "sha256": digest})
    verification = verify(path)
    assert not verification.confirmed
    assert "needs the original" in verification.sentence


def test_a_released_column_without_a_role_is_not_confirmed(place):
    path = forge(
        place, schema=lambda s: {**s, "quasi": [n for n in s["quasi"] if n != "age"]}, requirements=[], risks=[]
    )
    verification = verify(path)
    assert not verification.confirmed
    assert "columns without a role" in verification.sentence


def test_a_certificate_without_a_requirement_confirms_nothing(place):
    verification = verify(forge(place, requirements=[], risks=[], checked=None))
    assert verification.holds
    assert not verification.confirmed


def test_the_evidence_of_a_requirement_is_listed_as_not_verified(place):
    path = forge(place, requirements=lambda r: [{**r[0], "evidence": {"average": 100.0}}])
    assert "evidence of k-anonymity(k=3)" in verify(path).sentence


# -- columns and sections that nothing counts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"schema": {"quasi": ["sex"], "sensitive": ["ill"], "stratum": "age"}}, "columns stated as stratum"),
        ({"schema": {"quasi": ["sex"], "sensitive": ["ill"], "weight": "age"}}, "columns stated as weight"),
        ({"schema": {"quasi": ["sex"], "sensitive": ["ill"], "identifiers": ["age"]}}, "columns stated as identifier"),
        (
            {
                "schema": {"quasi": ["sex"], "sensitive": ["ill"]},
                "kept": [{"column": "age", "what": "undeclared", "values_of_original": "none"}],
            },
            "columns stated as kept",
        ),
    ],
)
def test_a_role_that_no_requirement_counts_does_not_hide_a_column(place, changes, claim):
    claims = require(value=36.0)
    path = forge(place, release=unique_file(place), requirements=claims, risks=[], **changes)
    found = verify(path)
    assert by_claim(found)["k-anonymity(k=3)"].passed
    assert by_claim(found)[claim].passed is None
    assert not found.confirmed


@pytest.mark.parametrize(
    ("name", "value"),
    [("about", {"title": "k = 500"}), ("baseline", "epsilon 0.1"), ("withheld", ["x"]), ("owners_who_block", 3)],
)
def test_every_section_without_a_check_is_open(place, name, value):
    assert by_claim(verify(forge(place, **{name: value})))[name].passed is None


def test_a_requirement_that_rests_on_wildcards_is_open(place):
    ages = [str(age) for age in range(30)] + [None] * 6
    pl.DataFrame({"sex": ["F"] * 36, "age": ages, "ill": ["a"] * 36}).write_csv(place / "out" / "safe.csv")
    digest = file_hash(place / "out" / "safe.csv")
    release = {"sha256": digest, "rows": 36, "columns": ["sex", "age", "ill"], "suppressed": 0, "file": "safe.csv"}
    schema = {"quasi": ["sex", "age"], "sensitive": ["ill"], "missing": {"age": "wildcard"}}
    found = verify(forge(place, release=release, schema=schema, requirements=require(value=7.0), risks=[]))
    assert by_claim(found)["k-anonymity(k=3)"].passed
    assert by_claim(found)["missing values of age"].passed is None
    assert not found.confirmed


# -- a file in which another program sees more ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "jsonl", "json", "xlsx", "ods", "sav", "dta"])
def test_a_release_of_every_type_of_file_is_confirmed(place, suffix):
    text = POLICY.replace("out/safe.csv", f"out/safe.{suffix}").replace('"age"', '"age", "day"')
    people = pl.read_csv(place / "in.csv").with_columns(
        day=pl.when(pl.col("age") > 20).then(pl.date(2020, 1, 1)), size=pl.col("age") / 7, alive=pl.col("sex") == "F"
    )
    people.write_csv(place / "in.csv")
    for path in (place / "out").iterdir():
        path.unlink()
    text = text.replace(
        "[[step]]", 'insensitive = ["size", "alive"]\n[guard]\nacknowledge = {size = "made up"}\n[[step]]'
    )
    run(Policy.parse(text, place))
    found = verify(place / "out" / "safe.certificate.json")
    assert found.confirmed, found.sentence


def test_a_second_sheet_contradicts_a_release(place):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    released = pl.read_csv(place / "out" / "safe.csv")
    with xlsxwriter.Workbook(place / "out" / "safe.xlsx") as book:
        first, second = book.add_worksheet(), book.add_worksheet()
        for i, row in enumerate([released.columns, *released.rows()]):
            first.write_row(i, 0, row)
            second.write(i, 0, f"Maria Garcia {i}")
    digest = file_hash(place / "out" / "safe.xlsx")
    found = verify(forge(place, release=lambda release: {**release, "file": "safe.xlsx", "sha256": digest}))
    assert [check.claim for check in found if check.passed is False] == ["nothing besides the table in safe.xlsx"]
