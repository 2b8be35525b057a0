"""Several releases about the same people: what they tell together, and that a run refuses before anything is written."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.errors import DataError, PolicyError, RequirementError
from celosia.release.evidence.history import open_release
from celosia.release.policy.policy import Policy
from celosia.risk import Averaging, Composition, Differencing

QUASI = ("age", "sex", "race", "marital-status")
POLICY = """
[input]
path = "{data}"

[schema]
quasi = ["age", "sex", "race", "marital-status"]
sensitive = ["occupation"]
insensitive = ["education"]

[schema.hierarchies]
age = {{use = "intervals", width = {width}, count = 3, origin = {origin}}}
sex = {{use = "tree", tree = {{"*" = ["Male", "Female"]}}}}
{more}

[[require]]
use = "k-anonymity"
k = 5

[[step]]
use = "generalise"
suppress = 0.02

[output]
path = "{out}.csv"
report = false

{history}
"""


@pytest.fixture
def adult(shared, tmp_path):
    """The policy of a release of adult, by width and origin of the age intervals; the data lie beside it."""
    source = shared("data/adult/adult.csv")
    pl.read_csv(source, separator=";").select(*QUASI, "occupation", "education").write_csv(tmp_path / "adult.csv")
    trees = "\n".join(f'{name} = "{source.parent}/adult_hierarchy_{name}.csv"' for name in QUASI[2:])

    def write(out: str, width: int, origin: int, history: str = "") -> Policy:
        text = POLICY.format(data="adult.csv", out=out, width=width, origin=origin, more=trees, history=history)
        path = tmp_path / f"{out}.toml"
        path.write_text(text)
        return Policy.load(path)

    return write


def brute_force(original: pl.DataFrame, releases: list[pl.DataFrame]) -> tuple[int, int, list[int]]:
    """Singled out, left with fewer than five, and the candidates of everybody: boxes are read from the files."""

    @cache
    def inside(label: str, value: str) -> bool:
        box = re.fullmatch(r"\[(\d+)-(\d+)\)", label)
        return int(box[1]) <= int(value) < int(box[2]) if box else label in ("*", value)

    rows = [
        [tuple(map(str, row)) for row in release.select(*QUASI, "occupation", "education").rows()]
        for release in releases
    ]
    cells: list[dict[tuple[str, ...], list[tuple[str, ...]]]] = []
    for release in rows:
        found = defaultdict(list)
        for row in release:
            if row[:4] != ("*",) * 4:
                found[row[:4]].append(row[4:])
        cells.append(found)
    known: dict[tuple[str, ...], tuple[int, set[tuple[str, ...]]]] = {}
    candidates = []
    singled = fewer = 0
    for row in original.select(*QUASI, "occupation", "education").rows():
        person, own = tuple(map(str, row[:4])), tuple(map(str, row[4:]))
        if person not in known:
            every = [
                [u for labels, members in found.items() if all(map(inside, labels, person)) for u in members]
                for found in cells
            ]
            sets = [members for members in every if members]
            common = set.intersection(*map(set, sets)) if sets else set()
            known[person] = min((sum(u in common for u in members) for members in sets), default=0), common
        left, common = known[person]
        candidates.append(left)
        singled += left == 1 and own in common
        fewer += 0 < left < 5 and own in common
    return singled, fewer, candidates


def test_two_safe_releases_of_adult_single_people_out_together(adult, tmp_path):
    first = celosia.run(adult("first", 5, 0))
    with pytest.raises(RequirementError, match="breaks 1 earlier") as refused:
        celosia.run(adult("second", 7, 3, '[history]\nreleases = ["first.certificate.json"]'))
    assert not list(tmp_path.glob("second*csv")), "nothing was written"
    assert not list(tmp_path.glob("second.*json"))
    second = celosia.run(adult("second", 7, 3))
    assert first.holds
    assert second.holds
    assert min(release.certificate["requirements"][0]["value"] for release in (first, second)) >= 5
    original = pl.read_csv(tmp_path / "adult.csv")
    singled, fewer, candidates = brute_force(
        original, [pl.read_csv(tmp_path / f"{n}.csv") for n in ("first", "second")]
    )
    protected = celosia.protect(second.original, *(step.method for step in adult("x", 7, 3).steps), seed=1)
    attack = Composition(earlier=[open_release(tmp_path / "first.certificate.json")], k=5)
    found = attack.evidence(second.original, protected)
    assert singled >= 1
    assert (found["singled_out"], found["value"]) == (singled, fewer / len(original))
    assert attack.records(second.original, protected)["candidates"].to_list() == candidates
    assert (found["control"], found["smallest_alone"]) == (0.0, 5)
    assert f"for {fewer} of {len(original)}" in str(refused.value)


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(1)
    n = 240
    pl.DataFrame({"age": rng.integers(20, 60, n), "city": rng.choice(["Ur", "Uruk"], n), "ill": rng.integers(0, 400, n)}).write_csv(tmp_path / "people.csv")  # fmt: skip
    return tmp_path


SMALL = """
[input]
path = "people.csv"
[schema]
quasi = ["age", "city"]
sensitive = ["ill"]
[schema.hierarchies]
age = {{use = "intervals", width = {width}, count = 2, origin = 20}}
city = {{use = "tree", tree = {{"*" = ["Ur", "Uruk"]}}}}
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "generalise"
[guard]
acknowledge = {{ill = "rare values link the records of two releases: what this is about"}}
[output]
path = "{out}.csv"
{history}
"""


def small(place, out, width, history=""):
    path = place / f"{out}.toml"
    path.write_text(SMALL.format(out=out, width=width, history=history))
    return path


def test_the_same_recoding_again_breaks_nothing_and_is_committed_to(place):
    celosia.run(small(place, "one", 5))
    policy = small(place, "two", 5, '[history]\nreleases = ["one.certificate.json"]')
    release = celosia.run(policy)
    told = json.loads(release.paths["certificate"].read_text())
    assert told["history"]["checked"] == ["earlier_release_1"]
    assert told["history"]["broken"] is False
    assert len(told["commitments"]["earlier_release_1"]) == 64
    hashed = release.record["committed"]["earlier_release_1"]
    assert hashed not in json.dumps(told), "a reader without the key learns nothing about it"
    checks = celosia.verify(release.paths["certificate"], record=release.paths["record"], original=place / "people.csv")
    assert [check.claim for check in checks if not check.passed] == ["history"], "a repetition leaves it out"
    assert "commitment to the earlier release 1" in [check.claim for check in checks]


def test_the_command_refuses_with_3_and_a_reason_is_written_into_the_certificate(place, capsys):
    assert command(["run", str(small(place, "one", 5))]) == 0
    history = '[history]\nreleases = ["one.certificate.json"]\n'
    assert command(["run", str(small(place, "two", 7, history))]) == 3
    said = capsys.readouterr().err
    assert "nothing was written" in said
    assert "acknowledge" in said
    assert not (place / "two.csv").exists()
    reason = 'acknowledge = "both go to one recipient under contract"'
    assert command(["run", str(small(place, "two", 7, history + reason))]) == 0
    told = json.loads((place / "two.certificate.json").read_text())["history"]
    assert (told["broken"], told["acknowledged"]) == (True, "both go to one recipient under contract")
    exact = json.loads((place / "two.private.json").read_text())["history"][0]
    assert exact["value"] > exact["evidence"]["control"]
    assert "evidence" not in told["attacks"][0]


def test_a_fewer_number_may_be_allowed(place):
    celosia.run(small(place, "one", 5))
    policy = Policy.load(small(place, "two", 5, '[history]\nreleases = ["one.csv"]\nk = 2'))
    assert policy.history.k == 2
    assert celosia.run(policy).holds
    for wrong in ("k = 1", "k = true", "acknowledge = 3", "release = []"):
        with pytest.raises(PolicyError, match="history"):
            Policy.load(small(place, "three", 5, f"[history]\n{wrong}"))


def test_what_cannot_be_compared_is_refused_too(place):
    pl.DataFrame({"other": ["x", "y"]}).write_csv(place / "strange.csv")
    history = '[history]\nreleases = ["strange.csv"]'
    with pytest.raises(RequirementError, match="could not be compared"):
        celosia.run(small(place, "two", 5, history))
    release = celosia.run(small(place, "two", 5, history + '\nacknowledge = "about other people"'))
    assert release.certificate["history"]["acknowledged"] == "about other people"


def test_an_earlier_file_that_was_changed_is_refused(place):
    celosia.run(small(place, "one", 5))
    (place / "one.csv").write_text("age,city,ill\n*,*,1\n")
    with pytest.raises(DataError, match="its hash is another one"):
        open_release(place / "one.certificate.json")


def test_an_assessment_against_earlier_releases():
    people = pl.DataFrame({"age": [30, 34, 38, 42, 46, 50], "ill": ["a", "b", "c", "d", "e", "f"]})

    def protect(width, origin):
        ages = {"use": "intervals", "width": width, "origin": origin}
        table = celosia.read(people, celosia.Schema.of(quasi=["age"], sensitive=["ill"], hierarchies={"age": ages}))
        return celosia.protect(table, "generalise(require=[k-anonymity(k=2)])", seed=1)

    first, second = protect(8, 30), protect(12, 30)
    assessment = celosia.assess(second, ["k-anonymity(k=2)"], against=[first])
    found = {finding.part.name: finding for finding in assessment.risks}
    # 8: {30, 34} {38, 42} {46, 50}; 12: {30, 34, 38} {42, 46, 50}: 38 and 42 are left alone
    assert found["composition"].value == pytest.approx(2 / 6)
    assert found["composition"].evidence["smallest"] == 1
    assert found["differencing"].value == 0
    assert "no noise" in found["averaging"].reason
    assert not celosia.assess(second).risks[1:]


def test_one_person_more_stands_out():
    people = pl.DataFrame({"age": ["20-40"] * 5 + ["40-60"] * 4, "ill": list("aabbc") + list("abcd")})
    schema = celosia.Schema.of(quasi=["age"], sensitive=["ill"])
    before, now = people.filter(pl.arange(0, 9) != 3), people.head(8)
    table = celosia.read(now, schema)
    found = Differencing(earlier=[before]).evidence(table, table)
    # 20-40 has one b more, one of two records; 40-60 lost its d
    assert found["value"] == pytest.approx((0.5 + 0.5) / 8)
    assert found["removed"] == 1
    assert found["rows"] == [[8, 8]]


def test_noise_of_two_seeds_averages_away():
    rng = np.random.default_rng(1)
    people = pl.DataFrame({"id": np.arange(2000).astype(str), "pay": rng.normal(0, 1, 2000)})
    table = celosia.read(people, celosia.Schema.of(quasi=["pay"], insensitive=["id"]))
    releases = [celosia.protect(table, "noise(columns=[pay], p=0.04)", seed=seed) for seed in range(9)]
    attack = Averaging(earlier=releases[1:], known=["pay"])
    found = attack.evidence(table, releases[0])
    # |N(0, 0.2)| <= 0.05 in 19.7 % of cases, |N(0, 0.2 / 3)| in 54.7 %
    assert found["control"] == pytest.approx(0.197, abs=0.03)
    assert found["value"] == pytest.approx(0.547, abs=0.04)
    assert found["better_than_control"]
    assert found["carried"] == ["id"]
    assert attack.value(table, releases[0]) > Averaging(earlier=releases[1:2], known=["pay"]).value(table, releases[0])
