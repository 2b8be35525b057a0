"""Why one record is at risk: through which columns, and the cheapest cells to blank."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.errors import ParameterError
from celosia.release.explain_risk import cheapest_blanking
from celosia.table.derive import with_record_ids
from celosia.table.suppression import suppress_records

PEOPLE = pl.DataFrame(
    {
        "age": [30, 30, 30, 30, 61, 61],
        "zip": ["a", "a", "a", "b", "a", "b"],
        "job": ["x", "x", "x", "x", "x", "y"],
        "ill": ["flu", "flu", "flu", "no", "no", "HIV"],
    }
)
SCHEMA = celosia.Schema.of(quasi=["age", "zip", "job"], sensitive=["ill"])


def test_the_columns_and_the_cheapest_change_by_hand():
    table = celosia.read(PEOPLE, SCHEMA)
    found = celosia.explain_risk(table, table, 4, limit=0.5)
    by_class = next(reach for reach in found.reached if reach.attack == "prosecutor")
    # age 61: two people (1/2); zip a and job x: four; age + zip and age + job: one
    assert by_class.chance == 1.0
    assert by_class.through == (("age",),)
    # without age four people share a and x; age costs log2(6/2) = 1.58 bits, zip 0.58, job 0.26: both leave two
    assert found.blank == ("age",)
    assert found.cost == pytest.approx(np.log2(3))
    assert "blank age" in found.advice()
    assert not found.values


def test_a_shared_sensitive_value_is_told_as_learnt():
    table = celosia.read(PEOPLE, SCHEMA)
    found = celosia.explain_risk(table, table, 0, limit=0.3)
    assert next(r for r in found.reached if r.attack == "prosecutor").learns == ("ill",)
    assert "flu" not in json.dumps(found.spec())
    assert celosia.explain_risk(table, table, 0, values=True).spec()["values"]["ill"] == "flu"


@pytest.mark.parametrize("record", [0, 3, 7, 19, 42])
def test_the_cheapest_change_is_the_cheapest_of_all(record):
    rng = np.random.default_rng(4)
    few = {name: rng.choice(["u", "v"], 60, p=[0.8, 0.2]) for name in "bcd"}  # two of these cost less than one of a
    data = pl.DataFrame({"a": rng.integers(0, 9, 60).astype(str), **few, "who": rng.integers(0, 40, 60)})
    table = celosia.read(data, celosia.Schema.of(quasi=list("abcd"), person="who"))
    found = celosia.explain_risk(table, table, record, limit=0.34)
    rows = data.rows(named=True)
    own = rows[record]

    def persons(columns):
        return len({row["who"] for row in rows if all(row[c] == own[c] for c in columns)})

    def bits(columns):
        return sum(-np.log2(np.mean([row[c] == own[c] for row in rows])) for c in columns)

    safe = [t for n in range(4) for t in combinations("abcd", n) if 1 / persons(set("abcd") - set(t)) < 0.34]
    assert found.blank is not None
    assert found.blank in [tuple(sorted(t, key=lambda c: bits([c]))) for t in safe]
    assert found.cost == pytest.approx(min(map(bits, safe)))
    smallest = [t for n in (1, 2, 3) for t in combinations("abcd", n) if 1 / persons(t) >= 0.34]
    minimal = [t for t in smallest if not any(set(s) < set(t) for s in smallest)]
    assert [r.through for r in found.reached if r.attack == "prosecutor"] == ([tuple(minimal)] if minimal else [])


def test_two_cheap_cells_before_a_dear_one_and_every_way_is_closed():
    def both(columns):
        return 1.0 if {"a", "b"} <= columns or {"a", "c"} <= columns else 0.0

    def other(columns):
        return 1.0 if "d" in columns else 0.0

    cost = {"a": 5.0, "b": 1.0, "c": 2.0, "d": 4.0}
    assert cheapest_blanking([(both, "abc")], cost, 0.5) == ("b", "c")
    assert cheapest_blanking([(both, "abc"), (other, "abd")], cost, 0.5) == ("b", "c", "d")
    assert cheapest_blanking([(lambda _: 1.0, "abc")], cost, 0.5) is None
    assert cheapest_blanking([(lambda _: 0.0, "abc")], cost, 0.5) == ()


def test_noise_that_does_not_hide_an_outlier():
    rng = np.random.default_rng(1)
    pay = np.append(rng.normal(100, 10, 200), 900.0)
    table = celosia.read(pl.DataFrame({"pay": pay}), celosia.Schema.of(insensitive=["pay"]))
    noisy = celosia.protect(table, "noise(columns=[pay], p=0.1)", seed=1)
    found = celosia.explain_risk(table, noisy, 200)
    assert {reach.attack for reach in found.reached} >= {"distance-linkage", "noise-linkage"}
    assert next(r for r in found.reached if r.attack == "distance-linkage").through == (("pay",),)


def test_one_record_leads_to_the_others_of_a_household():
    data = pl.DataFrame({"age": [30, 31, 5], "home": [1, 1, 1]})
    table = celosia.read(data, celosia.Schema.of(quasi=["age"], household="home"))
    assert celosia.explain_risk(table, table, 0).together == {"household": 2}
    assert celosia.explain_risk(table, celosia.protect(table, "drop(columns=[home])"), 0).together == {}


def test_suppressed_and_unknown_records():
    table = with_record_ids(celosia.read(PEOPLE, SCHEMA))
    hidden = suppress_records(table, np.arange(6) == 5)
    assert not celosia.explain_risk(table, hidden, 5).reached
    with pytest.raises(ParameterError, match="between 0 and 5"):
        celosia.explain_risk(table, hidden, 6)


def test_the_command(tmp_path, capsys):
    PEOPLE.with_row_index("id").write_csv(tmp_path / "people.csv")
    PEOPLE.with_row_index("id").reverse().write_csv(tmp_path / "safe.csv")
    files = [str(tmp_path / "people.csv"), str(tmp_path / "safe.csv"), "--quasi", "age,zip,job", "--limit", "0.5"]
    assert command(["explain-risk", "5", *files, "--key", "id", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["blank"] == ["age"]
    assert "values" not in told
    assert command(["explain-risk", "1", *files, "--key", "id"]) == 0
    assert command(["explain-risk", "1", *files]) == 2


def test_the_command_with_the_private_record(tmp_path, capsys):
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        '[input]\npath = "people.csv"\n[schema]\nquasi = ["zip", "job"]\nsensitive = ["ill"]\n'
        '[[step]]\nuse = "mask"\ncolumns = ["zip"]\n[guard]\nacknowledge = {job = "a test", ill = "a test", zip = "a test"}\n'
    )
    celosia.run(tmp_path / "policy.toml")
    given = ["explain-risk", "6", str(tmp_path / "people.csv"), str(tmp_path / "safe.csv")]
    assert command([*given, "--private", str(tmp_path / "safe.private.json"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["attacks"][0]["through"] == [["job"]]


@pytest.mark.parametrize("level", [0.1, 0.125])
def test_a_constant_number_tells_nobody_apart(level):
    """Ten times 0.1 has a mean beside 0.1: a deviation of rounding would outweigh every other column."""
    data = pl.DataFrame({"x": [level] * 10, "y": np.arange(10.0)})
    original = celosia.read(data, celosia.Schema.of(sensitive=["x", "y"]))
    protected = original.replace({"x": pl.Series("x", level + np.arange(10)[::-1] / 8)})
    found = celosia.explain_risk(original, protected, 3, limit=0.5)
    nearest = [reach for reach in found.reached if "y" in {name for names in reach.through for name in names}]
    assert [(reach.chance, reach.through) for reach in nearest] == [(1.0, (("y",),))]
