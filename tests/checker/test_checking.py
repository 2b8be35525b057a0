"""The second implementation, which judges a release before its certificate is sealed."""

from __future__ import annotations

import inspect
import json
import sys

import numpy as np
import polars as pl
import pytest
from tests.reference.tables import STAR

from celosia.checker import released_file
from celosia.checker.check import FUZZY
from celosia.checker.models import MODELS
from celosia.cli.main import run as command
from celosia.data.engines.polars import Polars
from celosia.errors import Contradiction
from celosia.models import KAnonymity, LDiversity
from celosia.parts import Verdict, parts
from celosia.release.run import run
from celosia.release.verify.verify import SECOND_CHECK, verify
from celosia.risk import Prosecutor
from celosia.table.frames import stream_rows

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age", "town"]
sensitive = ["disease"]
{person}
[schema.hierarchies]
age = {{use = "intervals", width = 10}}
[[require]]
use = "k-anonymity"
k = 3
[[require]]
use = "l-diversity"
l = 2
[[require]]
use = "t-closeness"
t = 0.9
[[step]]
use = "generalise"
suppress = 0.5
[measure]
risks = ["prosecutor", "uniqueness", "suda"]
[output]
path = "{out}"
report = false
[run]
seed = 7
testing = true
"""
PARTS = ["k-anonymity(k=3)", "l-diversity(l=2.0)", "t-closeness(t=0.9)", "prosecutor", "uniqueness"]


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(5)
    people = {
        "id": rng.integers(0, 40, 60),
        "age": rng.integers(20, 60, 60),
        "town": rng.choice(["Ur", "Uruk"], 60),
        "disease": rng.choice(["flu", "cold", "gout"], 60),
    }
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    return tmp_path


def written(place, out="safe.csv", person=""):
    (place / "policy.toml").write_text(POLICY.format(out=out, person=person))
    return place / "policy.toml"


@pytest.mark.parametrize("out", ["safe.csv", "safe.parquet", "safe.xlsx", "safe.sav"])
@pytest.mark.parametrize("person", ["", 'person = "id"'], ids=["rows", "persons"])
def test_what_was_confirmed_is_said_in_the_certificate(place, out, person):
    release = run(written(place, out, person))
    assert release.certificate["checked"]["confirmed"] == PARTS
    assert release.certificate["checked"]["sampled"] == []
    assert release.certificate["checked"]["not_checked"] == {"suda": "there is no second implementation of it"}
    (check,) = [
        c for c in verify(release.paths["certificate"], record=release.paths["record"]) if c.claim == SECOND_CHECK
    ]
    assert check.passed
    assert "k-anonymity(k=3)" in check.stated


FAULTS = {
    "k-anonymity(k=3) is stated as 99": (KAnonymity, "verdict", lambda *_: Verdict(99.0, True)),
    "l-diversity(l=2.0) is stated as 7": (LDiversity, "verdict", lambda *_: Verdict(7.0, True)),
    "prosecutor is stated as 0.01": (Prosecutor, "evidence", lambda *_: {"value": 0.01}),
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_number_that_the_file_does_not_have_stops_the_run(place, monkeypatch, message):
    owner, name, wrong = FAULTS[message]
    policy = written(place)
    monkeypatch.setattr(owner, name, wrong)
    before = sorted(path.name for path in place.iterdir())
    with pytest.raises(Contradiction, match="a second implementation contradicts the release") as raised:
        run(policy)
    assert message in str(raised.value)
    assert sorted(path.name for path in place.iterdir()) == before


def test_rows_that_get_lost_on_the_way_to_the_file_stop_the_run(place, monkeypatch):
    policy = written(place)
    monkeypatch.setattr(sys.modules["celosia.release.run"], "stream_rows", lambda table: stream_rows(table).head(50))
    with pytest.raises(Contradiction, match="the written file has 50 rows"):
        run(policy)
    assert not (place / "safe.csv").exists()


def test_classes_that_another_order_of_rows_makes_stop_the_run(place, monkeypatch):
    """A column that is shuffled apart from the others gives classes that nobody has judged."""
    policy = written(place)
    shuffle = Polars.shuffle

    def apart(self, frame, *more):
        moved = shuffle(self, frame, *more)
        return moved.sort("town", "age").with_columns(pl.col("disease").sort())  # so that it goes with the classes

    monkeypatch.setattr(Polars, "shuffle", apart)
    with pytest.raises(Contradiction, match=r"(l-diversity|t-closeness)\(.* is stated as"):
        run(policy)


def test_the_command_line_ends_with_one_sentence(place, monkeypatch, capfd):
    policy = written(place)
    monkeypatch.setattr(KAnonymity, "verdict", lambda *_: Verdict(99.0, True))
    assert command(["run", str(policy)]) == 1
    said = capfd.readouterr().err
    assert "contradicts the release" in said
    assert "Traceback" not in said
    assert not (place / "safe.certificate.json").exists()


def test_verify_asks_the_second_implementation(place, monkeypatch):
    """Were the first one wrong in the same way in both, the second would tell."""
    release = run(written(place))
    stated = json.loads(release.paths["certificate"].read_text())
    stated["requirements"][0]["value"] = 99.0
    release.paths["certificate"].write_text(json.dumps(stated))
    monkeypatch.setattr(KAnonymity, "verdict", lambda *_: Verdict(99.0, True))
    failed = [check.claim for check in verify(release.paths["certificate"]) if check.passed is False]
    assert failed == [SECOND_CHECK]


def test_of_a_long_file_some_classes_are_looked_at(place, monkeypatch):
    monkeypatch.setattr(released_file, "WHOLE", 30)
    monkeypatch.setattr(released_file, "SAMPLED", 40)
    release = run(written(place))
    checked = release.certificate["checked"]
    assert checked["confirmed"] == []
    assert set(checked["sampled"]) <= {*PARTS[:4]}
    assert checked["sampled"]
    assert "some classes were looked at" in checked["not_checked"]["uniqueness"]
    assert all(check.passed is not False for check in verify(release.paths["certificate"]))
    monkeypatch.setattr(KAnonymity, "verdict", lambda *_: Verdict(99.0, True))
    with pytest.raises(Contradiction, match="stated as 99"):
        run(written(place), overwrite=True)


def test_suppressed_records_are_no_class_of_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(released_file, "WHOLE", 5)
    monkeypatch.setattr(released_file, "SAMPLED", 100)
    rows = {"a": ["x"] * 6 + [STAR] * 2, "b": ["y"] * 6 + [STAR] * 2}
    pl.DataFrame(rows).write_csv(tmp_path / "safe.csv")
    file = released_file.read_file(tmp_path / "safe.csv", {"quasi": ["a", "b"]}, released_file.OwnerFacts(), type="csv")
    assert (file.rows, file.suppressed, file.sampled) == (8, 2, True)
    assert {key: len(numbers) for key, numbers in file.plain.classes().items()} == {("x", "y"): 6}
    assert file.plain.total() == 8


def test_every_model_is_judged_or_named():
    from celosia.checker.models import MODELS

    assert set(MODELS) == {name for name, cls in parts("model").items() if cls.__module__.startswith("celosia.")}


FITTED = {"cells", "m", "joint", "coding", "starts", "rho", "tolerance", "stop", "max_iterations"}
FOUND_IN_DATA = FITTED | {"counting", "norm"}
"""Parameters of fuzzy models whose sets are found in the data: the second implementation says that it has none."""


@pytest.mark.parametrize("name", sorted(set(MODELS) & set(parts("model"))))
def test_every_parameter_of_a_model_is_known(name):
    """A claim with another parameter is listed as not checked: a new one must be added here or stated so."""
    known = set(inspect.signature(MODELS[name]).parameters)
    assert set(parts("model")[name].model_fields) - known <= (FOUND_IN_DATA if name in FUZZY else set())
