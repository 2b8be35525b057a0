"""Verification of a directory, of claims that were changed, and of files that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.reference.sources import FEW_SUPPRESSED

from celosia.errors import CelosiaError, DataError
from celosia.release.run import run
from celosia.release.verify.verify import ALL_HOLD, STATED, Check, verify

POLICY = f"{FEW_SUPPRESSED}report = false\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(1, 9, 100), "city": rng.choice(["Ur", "Uruk"], 100)})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "out").mkdir()
    return tmp_path


def test_a_directory_is_verified_with_all_that_is_in_it(place):
    run(place / "policy.toml")
    checks = verify(place / "out", original=place / "people.csv")
    assert all(check.passed for check in checks)
    assert checks[-1].claim == "repetition gives the same bytes"
    (place / "out" / "safe.private.json").unlink()
    left = [check.claim for check in verify(place / "out") if check.passed is None]
    assert [claim for claim in left if claim not in STATED] == ["losses and attacks", "commitments"]


def test_a_requirement_that_is_not_met_is_noticed_even_when_its_number_is_right(place):
    path = run(place / "policy.toml").paths["certificate"]
    stated = json.loads(path.read_text())
    stated["requirements"][0] |= {"part": "k-anonymity(k=90)", "wish": "k at least 90"}
    path.write_text(json.dumps(stated))
    assert failing(verify(path)) == ["k-anonymity(k=90)"]


def test_a_release_can_be_repeated_in_another_way(place):
    run(place / "policy.toml")
    seen = []

    def repeat(stated, private):
        seen.append((stated.format, private.format))
        return [Check("made again", 1, 2, False)]

    checks = verify(place / "out", repeat=repeat)
    assert checks[-1].claim == "made again"
    assert seen == [("celosia certificate 1", "celosia private record 1")]


def test_what_is_not_there_is_named(place):
    with pytest.raises(DataError, match="holds 0 certificates"):
        verify(place)
    paths = run(place / "policy.toml").paths
    with pytest.raises(DataError, match=r"no file .*other.csv"):
        verify(paths["certificate"], place / "other.csv")
    with pytest.raises(DataError, match="no original"):
        verify(place / "out", original=place / "other.csv")


# -- claims that cannot be true ---------------------------------------------------------------------------------------

PERSONS = """
[input]
path = "visits.csv"
[schema]
quasi = ["age", "city"]
sensitive = ["ward"]
person = "who"
[[require]]
use = "k-anonymity"
k = 3
[[require]]
use = "alpha-k"
alpha = 1.0
k = 3
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[measure]
risks = ["prosecutor", "uniqueness"]
[output]
path = "safe.csv"
report = false
"""


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A release of 60 visits that counts persons and leaves their column out: the certificate."""
    rng = np.random.default_rng(2)
    who = rng.permutation(np.repeat(np.arange(30), 2))
    pl.DataFrame(
        {
            "who": who,
            "age": rng.integers(1, 4, 60),
            "city": rng.choice(["Ur", "Uruk"], 60),
            "ward": rng.choice(["a", "b"], 60),
        }
    ).write_csv(tmp_path / "visits.csv")
    (tmp_path / "policy.toml").write_text(PERSONS)
    release = run(tmp_path / "policy.toml")
    assert "who" not in release.certificate["release"]["columns"]
    return release.paths["certificate"]


def forged(path: Path, **changes: object) -> list[Check]:
    """The checks of a certificate in which entries were replaced, ``requirements_0_value`` for a nested one."""
    stated = json.loads(path.read_text())
    for key, value in changes.items():
        *steps, last = key.split("_")
        place = stated
        for step in steps:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = value
    path.with_name("forged.certificate.json").write_text(json.dumps(stated))
    return verify(path.with_name("forged.certificate.json"))


def failing(checks: list[Check]) -> list[str]:
    """The claims that do not hold; whether every requirement holds follows from those, and is left out beside them."""
    wrong = [check.claim for check in checks if check.passed is False]
    return [claim for claim in wrong if claim != ALL_HOLD] or wrong


def test_persons_that_were_not_released_are_bounded_by_rows(visits):
    honest = {check.claim: check for check in verify(visits)}
    assert failing(list(honest.values())) == []
    assert honest["k-anonymity(k=3)"].passed is None
    assert "persons" in honest["k-anonymity(k=3)"].note
    wild = {"part": "k-anonymity(k=1000)", "value": 1000, "holds": True, "wish": "k at least 1000"}
    assert failing(forged(visits, requirements_0=wild)) == ["k-anonymity(k=1000)"]
    assert failing(forged(visits, requirements_0_value=61.0)) == ["k-anonymity(k=3)"]
    # a share of 1 is always met: only the size of the classes betrays it
    larger = "alpha-k(alpha=1.0, k=59)"
    assert failing(forged(visits, requirements_1_part=larger)) == [larger, f"wording of {larger}"]
    assert failing(forged(visits, risks_0_value=0.001)) == ["prosecutor"]
    assert failing(forged(visits, risks_1_value=0.0)) == [], "no row is alone, so no person need be"


def test_a_value_that_does_not_meet_its_own_requirement_is_noticed(visits):
    assert failing(forged(visits, requirements_0_value=2.0)) == ["k-anonymity(k=3)"]
    assert failing(forged(visits, holds=False)) == ["every requirement holds"]
    assert failing(forged(visits, requirements_0_holds=False)) == ["every requirement holds"]


def test_a_claim_cannot_excuse_itself_from_being_checked(place):
    """Persons, candidates and withheld parameters are reasons only where they can be true."""
    run(place / "policy.toml")
    path = place / "out" / "safe.certificate.json"
    wild = {"part": "k-anonymity(k=1000)", "value": 1000, "holds": True}
    for excuse in ({"counted": "candidates"}, {"counted": "persons"}, {"withheld": ["k"]}, {"withheld": ["sets"]}):
        assert failing(forged(path, requirements_0={**wild, **excuse})) == ["k-anonymity(k=1000)"], excuse
    assert failing(forged(path, counted="persons", requirements_0=wild)) == ["k-anonymity(k=1000)"]
    assert failing(forged(path, schema_quasi=["age", "city", "zip"])) == ["columns"], "a column that nobody could count"
    with pytest.raises(DataError, match="counted must be"):
        forged(path, counted="households")


def test_rows_bound_persons_in_every_part_that_says_so():
    """Random tables: the value that counts persons lies on the declared side of the one that counts rows."""
    import celosia

    rng = np.random.default_rng(5)
    parts = [
        celosia.models.KAnonymity(k=2),
        celosia.models.LDiversity(l=2),
        celosia.models.AverageRisk(risk=0.5),
        celosia.models.SampleUniqueness(share=0.5),
        celosia.risk.Prosecutor(),
        celosia.risk.Uniqueness(),
    ]
    strict = set()
    for _ in range(60):
        n = int(rng.integers(1, 15))
        frame = pl.DataFrame(
            {
                "q": rng.integers(0, 3, n),
                "r": rng.integers(0, 2, n),
                "s": rng.integers(0, 3, n),
                "i": rng.integers(0, 6, n),
            }
        )
        roles = {"quasi": ["q", "r"], "sensitive": ["s"]}
        rows = celosia.read(frame, celosia.Schema.of(**roles))
        persons = celosia.read(frame, celosia.Schema.of(**roles, person="i"))
        for part in parts:
            low, high = part.value(persons), part.value(rows)
            assert part.rows_bound is not None
            assert low <= high + 1e-12 if part.rows_bound == "at most" else low >= high - 1e-12, part
            strict |= {part.name} if abs(low - high) > 1e-9 else set()
    assert strict == {p.name for p in parts}, "persons make a difference to each"


# -- certificates and records that are not whole ----------------------------------------------------------------------


UNREAD = {"evidence", "steps", "kinds", "policy", "before", "after", "comparison", "types", "rows", "transformation"}


def every_damage(whole: dict) -> list[tuple[str, dict]]:
    """The file without each of its entries, and with each of another type; what nobody reads is left whole."""
    found = []

    def walk(at: object, path: tuple) -> None:
        entries = at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
        for key, value in list(entries):
            if key in UNREAD and path:
                continue
            for new in (..., None, 7, [{"a": 1}], "../x"):
                copy = json.loads(json.dumps(whole))
                place = copy
                for step in path:
                    place = place[step]
                if new is ...:
                    del place[key]
                else:
                    place[key] = new
                if copy != whole:
                    found.append((f"{'.'.join(map(str, (*path, key)))} = {new!r}", copy))
            if key not in UNREAD:
                walk(value, (*path, key))

    walk(whole, ())
    return found


@pytest.mark.parametrize("kind", ["certificate", "record"])
def test_whatever_is_missing_or_wrong_is_told_in_one_sentence(place, kind):
    """Never an internal error: the file is refused in one line, or a check fails."""
    paths = run(place / "policy.toml").paths
    whole = json.loads(paths[kind].read_text())
    damaged = paths[kind].with_name("damaged.json")
    refused = {}
    for what, content in every_damage(whole):
        damaged.write_text(json.dumps(content))
        try:
            checks = verify(
                *([damaged] if kind == "certificate" else [paths["certificate"]]),
                record=damaged if kind == "record" else paths["record"],
            )
        except CelosiaError as error:
            refused[what] = str(error)
        else:
            assert failing(checks), f"{what} passes"
    assert len(refused) > 30
    assert [what for what, said in refused.items() if len(said.splitlines()) != 1] == []


def test_on_the_command_line_damage_is_bad_input(place, capfd):
    from celosia.cli.main import run as command

    path = run(place / "policy.toml").paths["certificate"]
    stated = json.loads(path.read_text())
    del stated["release"]["rows"]
    path.write_text(json.dumps(stated))
    assert command(["verify", str(path)]) == 2
    assert (
        capfd.readouterr().err == "celosia: safe.certificate.json is damaged: certificate: release.rows is required.\n"
    )


@pytest.mark.parametrize("text", ["", "[", "[]", "null", "7", "[" * 100_000, '{"a": ' + "9" * 5000 + "}", "\ud800"])
def test_a_file_that_is_no_certificate_is_told(tmp_path, text, capfd):
    from celosia.cli.main import run as command

    (tmp_path / "c.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert command(["verify", str(tmp_path / "c.json")]) == 2
    assert command(["apply", str(tmp_path / "c.json"), "new.csv", "--out", str(tmp_path / "out.csv")]) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 2
    assert "c.json" in said


def test_a_path_through_a_file_is_no_certificate(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"cannot read .*Not a directory"):
        verify(tmp_path / "a.csv" / "c.certificate.json")


def test_the_hash_of_the_file_is_compared(place):
    """A cell changes within its class: every number of the certificate stays true, the bytes do not."""
    paths = run(place / "policy.toml").paths
    lines = paths["data"].read_text().splitlines(keepends=True)
    paths["data"].write_text("".join([lines[0], *reversed(lines[1:])]))
    assert failing(verify(paths["certificate"])) == ["SHA-256 of the file"]


def test_a_repetition_compares_what_only_the_original_tells(place):
    """Losses cannot be seen in the file; with the original they are measured again."""
    paths = run(place / "policy.toml").paths
    stated = json.loads(paths["certificate"].read_text())
    stated["losses"][0]["value"] = 0.0
    paths["certificate"].write_text(json.dumps(stated))
    checks = verify(place / "out", original=place / "people.csv")
    assert "repetition gives the same numbers" in failing(checks)


def test_noise_with_a_formal_guarantee_is_not_repeated_but_its_input_is_compared(place):
    step = 'use = "randomised-response"\ncolumns = ["city"]\nepsilon = 1.0\ncategories = {city = ["Ur", "Uruk"]}\n'
    policy = '[input]\npath = "people.csv"\n[schema]\nquasi = ["city"]\nrest = "insensitive"\n'
    (place / "formal.toml").write_text(f'{policy}[[step]]\n{step}[output]\npath = "out/safe.csv"\nreport = false\n')
    run(place / "formal.toml")
    *_, source, repeated = verify(place / "out", original=place / "people.csv")
    assert (source.claim, source.passed) == ("SHA-256 of the input", True)
    assert (repeated.claim, repeated.passed) == ("repetition", None)
