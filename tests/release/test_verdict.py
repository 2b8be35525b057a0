"""The verdict of a verification: verified, verified in part, contradicted; the same in Python, as JSON and as exit code."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import Verification, verify
from celosia.cli.main import run as command
from celosia.errors import DataError
from celosia.release.evidence import row_map
from celosia.release.evidence.certificate import load_certificate, record_of
from celosia.release.run import run
from celosia.release.verify.claims import _close, parts_by_need
from celosia.release.verify.verify import STATED

POLICY = """
[input]
path = "visits.csv"
[schema]
person = "who"
quasi = ["age", "city"]
sensitive = ["ill"]
[[require]]
use = "k-anonymity"
k = 2
[[require]]
use = "l-diversity"
l = 1
column = "ill"
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=2)"]
[measure]
risks = ["prosecutor", "marketer"]
[output]
path = "safe.csv"
report = false
"""


@pytest.fixture
def place(tmp_path):
    """A release of visits: three per person, some of them of nobody; the column of persons stays behind."""
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(40), 3)
    frame = pl.DataFrame(
        {
            "who": pl.Series([None if i % 20 == 19 else f"p{i}" for i in who]),
            "age": rng.integers(1, 4, 40)[who],
            "city": rng.choice(["Ur", "Uruk"], 40)[who],
            "ill": rng.choice(["x", "y"], 120),
        }
    )
    frame.write_csv(tmp_path / "visits.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    run(tmp_path / "policy.toml")
    return tmp_path


def changed(place, change, name="certificate"):
    """Change the evidence in place."""
    path = place / f"safe.{name}.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def told(found: Verification) -> dict[str, bool | None]:
    return {check.claim: check.passed for check in found}


def test_with_record_and_original_everything_is_verified(place, capsys):
    found = verify(place, original=place / "visits.csv")
    assert isinstance(found, Verification)
    assert found.verdict == "verified"
    assert found.sentence == f"verified: all {len(found)} checks hold."
    assert command(["verify", str(place), "--original", str(place / "visits.csv")]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == found.sentence
    assert said.err == ""


def test_the_private_record_tells_persons(place):
    """Nothing but what compares with the original is left open."""
    found = verify(place)
    unconfirmed = [claim for claim, passed in told(found).items() if passed is None]
    assert {"steps", "left_out", "checked", "order", "losses and attacks"} <= set(unconfirmed)
    assert set(unconfirmed) <= {*STATED, "losses and attacks"}
    stated = {claim["part"]: claim["value"] for claim in found_certificate(place)["requirements"]}
    assert {c.claim: c.found for c in found if c.claim in stated} == stated


def found_certificate(place):
    return json.loads((place / "safe.certificate.json").read_text())


def test_without_the_record_it_is_verified_in_part_and_says_why(place, capsys):
    certificate = str(place / "safe.certificate.json")
    found = verify(certificate)
    assert found.verdict == "verified in part"
    outcome = told(found)
    assert outcome["k-anonymity(k=2)"] is None
    bound = next(check for check in found if check.claim == "k-anonymity(k=2)")
    assert bound.verdict.startswith("possible: counts persons")
    rows = pl.read_csv(place / "safe.csv").group_by("age", "city").len()["len"].min()
    assert bound.found == f"at most {rows}"
    assert command(["verify", certificate]) == 3  # a requirement is not confirmed
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == found.sentence
    assert "k-anonymity(k=2)" in found.sentence
    assert "needs the private record" in found.sentence
    assert said.err.startswith("celosia: warning: ")
    assert repr(found).splitlines()[0] == found.sentence


def test_json_says_the_same(place, capsys):
    for arguments in ([], ["--record", str(place / "safe.private.json")]):
        certificate = str(place / "safe.certificate.json")
        code = command(["verify", certificate, *arguments, "--json"])
        said = json.loads(capsys.readouterr().out)
        found = verify(certificate, record=arguments[1] if arguments else None)
        assert code == (0 if arguments else 3)  # without the record a requirement is not confirmed
        assert said["verdict"] == found.verdict
        assert said["sentence"] == found.sentence
        assert [check["passed"] for check in said["checks"]] == [check.passed for check in found]


def test_a_contradicted_certificate_ends_with_3(place, capsys):
    changed(place, lambda stated: stated["release"].update(rows=7))
    certificate = str(place / "safe.certificate.json")
    assert command(["verify", certificate]) == 3
    assert capsys.readouterr().out.splitlines()[-1].startswith("contradicted: 1 of ")
    assert command(["verify", certificate, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "contradicted"


def test_a_lie_about_persons_is_possible_by_rows_and_contradicted_by_the_record(place):
    """Twice the persons: a file with three rows per person cannot tell."""

    def lie(stated):
        stated["requirements"][0]["value"] *= 2

    changed(place, lie)
    assert told(verify(place / "safe.certificate.json"))["k-anonymity(k=2)"] is None
    with_record = verify(place)
    assert with_record.verdict == "contradicted"
    assert told(with_record)["k-anonymity(k=2)"] is False


def test_persons_that_were_changed_do_not_open_the_commitment(place):
    def lie(private):
        rows = np.sort(row_map.row_map(record_of(private)))
        private["owners"] = row_map.pack_persons(rows, rows)

    changed(place, lie, "private")
    outcome = told(verify(place))
    assert outcome["commitment to the record"] is False
    assert outcome["k-anonymity(k=2)"] is False, "a person for each row is more than was counted"


def test_persons_of_a_record_are_those_of_the_file(place):
    """The numbers are in the order of the written file: persons of equal records, by hand."""
    private = json.loads((place / "safe.private.json").read_text())
    persons = row_map.released_persons(record_of(private))
    original = pl.read_csv(place / "visits.csv")["who"]
    owners = original.gather(row_map.row_map(record_of(private)))
    pairs = {(int(a), b) for a, b in zip(persons, owners, strict=True)}
    assert len(pairs) == original.n_unique() == len({a for a, _ in pairs})
    assert (row_map.NO_PERSON, None) in pairs
    before = {**private, "owners": "", "persons": row_map.pack_rows(persons)}
    assert row_map.released_persons(record_of(before)).tolist() == persons.tolist(), "as earlier versions wrote it"
    assert row_map.released_persons(record_of({**private, "owners": ""})) is None


def test_persons_that_are_too_few_are_told(place):
    def lie(private):
        rows = np.sort(row_map.row_map(record_of(private)))[1:]
        private["owners"] = row_map.pack_persons(rows, rows)

    changed(place, lie, "private")
    with pytest.raises(DataError, match="its persons cannot be read"):
        verify(place)


def test_persons_take_little_space():
    ids = np.arange(60_000)
    persons = np.where(ids % 100 == 7, row_map.NO_PERSON, ids - ids % 3)
    packed = row_map.pack_persons(ids, persons)
    assert row_map.unpack_persons(ids, packed).tolist() == persons.tolist()
    assert len(packed) < 0.05 * len(row_map.pack_rows(np.random.default_rng(1).permutation(persons)))


def test_a_measure_that_needs_a_column_that_stayed_behind_is_not_checked(tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"home": rng.integers(0, 20, 60), "age": rng.integers(0, 2, 60), "w": [2.0] * 60})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        '[input]\npath = "people.csv"\n[schema]\nquasi = ["age"]\nhousehold = "home"\nweight = "w"\n'
        '[measure]\nrisks = ["household-risk"]\n[output]\nreport = false\n'
    )
    run(tmp_path / "policy.toml")
    found = verify(tmp_path)
    assert found.verdict == "verified in part"
    assert told(found)["household-risk"] is None


def test_an_old_report_does_not_stand_beside_new_data(place):
    policy = place / "policy.toml"
    policy.write_text(POLICY.replace("report = false", "report = true"))
    run(policy, overwrite=True)
    assert (place / "safe.report.html").exists()
    policy.write_text(POLICY)
    run(policy, overwrite=True)
    assert not (place / "safe.report.html").exists()
    assert not (place / "safe.internal.html").exists()


def test_an_old_report_alone_is_not_joined_unless_allowed(place):
    policy = place / "policy.toml"
    policy.write_text(POLICY.replace("safe.csv", "new.csv"))
    (place / "new.report.html").write_text("old")
    with pytest.raises(celosia.errors.OutputError, match="there already"):
        run(policy)
    run(policy, overwrite=True)
    assert not (place / "new.report.html").exists()


def test_old_further_tables_do_not_stand_beside_new_data(tmp_path):
    rng = np.random.default_rng(2)
    pl.DataFrame({"q": rng.integers(0, 2, 60), "s": rng.choice(list("xyz"), 60)}).write_csv(tmp_path / "people.csv")
    head = '[input]\npath = "people.csv"\n[schema]\nquasi = ["q"]\nsensitive = ["s"]\n[output]\nreport = false\n'
    policy = tmp_path / "policy.toml"
    policy.write_text(head + '[[step]]\nuse = "anatomise"\nl = 2\n')
    (other,) = run(policy).certificate["tables"]
    assert (tmp_path / other["file"]).exists()
    policy.write_text(head)
    run(policy, overwrite=True)
    assert not (tmp_path / other["file"]).exists()


def test_the_report_says_what_can_be_checked_of_this_release(place, tmp_path):
    """What it promises is what a verification does: with the file alone, and with the private record."""
    policy = place / "policy.toml"
    policy.write_text(POLICY.replace("report = false", "report = true") + 'language = "en"\n')
    report = run(policy, overwrite=True).paths["report"].read_text()
    assert "These count persons, whom the file does not tell: k-anonymity, l-diversity, prosecutor, marketer." in report
    assert "These compare with the original: altered-records, discernibility." in report
    assert "can compute again:" not in report
    takes = parts_by_need(load_certificate(place / "safe.certificate.json"))
    alone, opened = told(verify(place / "safe.certificate.json")), told(verify(place))
    for part in takes["persons"]:
        (claim,) = [claim for claim in alone if claim.startswith(part)]
        assert (alone[claim], opened[claim]) == (None, True)
    policy.write_text(POLICY.replace('person = "who"', 'identifiers = ["who"]').replace("= false", "= true"))
    with pytest.warns(UserWarning, match="repeats"):
        report = run(policy, overwrite=True).paths["report"].read_text()
    assert "Anyone with the released file can compute again: k-anonymity, l-diversity, prosecutor, marketer." in report
    takes, alone = (
        parts_by_need(load_certificate(place / "safe.certificate.json")),
        told(verify(place / "safe.certificate.json")),
    )
    assert all(passed for claim, passed in alone.items() if claim.split("(")[0] in takes["file"])


@pytest.mark.parametrize(("stated", "computed"), [(None, 1.0), (1.0, None), (None, None)])
def test_a_number_that_is_not_there_agrees_with_none(stated, computed):
    assert not _close(stated, computed)
    assert _close(1.0, 1.0)


def test_what_belongs_to_a_number_is_verified_too(place):
    """A risk states its average and its counts besides its value; with a true value and a false average it is a lie."""
    for name, lie in (("average", 0.001), ("classes", 1), ("above", {"1/5": 0.0})):
        before = (place / "safe.certificate.json").read_text()
        changed(place, lambda stated, name=name, lie=lie: stated["risks"][0]["evidence"].update({name: lie}))
        (failed,) = [check for check in verify(place) if check.passed is False and check.claim == "prosecutor"]
        assert failed.note == f"other {name}"
        (place / "safe.certificate.json").write_text(before)
    assert verify(place).holds
