"""What parts share by itself: how a refusal is told, where a part is found, what a kind does unless told otherwise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import polars as pl
import pytest
from pydantic import BaseModel, Field, ValidationError

import celosia
from celosia.errors import ParameterError, UnknownName
from celosia.parts import (
    Attack,
    CombinesAttacks,
    ComparesReleases,
    Credential,
    Loss,
    Mechanism,
    NarrowsValues,
    Risk,
    SearchObjective,
    attacks_reading,
    deciding_attacks,
    evidence_against,
    value_against,
)
from celosia.parts.parameter_errors import phrase, sentence, shorten
from celosia.parts.places import from_directory, paths_in, resolve_paths
from celosia.parts.registry import covered_kinds, find, lazy_package


class Asked(BaseModel):
    """One field per rule."""

    whole: int = Field(default=3, ge=2, le=9)
    open: float = Field(default=0.5, gt=0, lt=1, allow_inf_nan=False)
    word: str = Field(default="abc", min_length=2, max_length=4, pattern="^[a-z]+$")
    several: tuple[int, ...] = Field(default=(1,), min_length=1, max_length=2)
    yes: bool = True
    table: dict[str, int] = Field(default_factory=dict)
    secret: Annotated[str, Credential()] = Field(default="", max_length=3)
    needed: int = Field(description="how many there are")


def told(**given):
    with pytest.raises(ValidationError) as caught:
        Asked(**{"needed": 1, **given})
    (finding,) = caught.value.errors()
    return sentence("part", Asked.model_fields, finding)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"whole": 1}, "part: whole must be at least 2, got 1."),
        ({"whole": 10}, "part: whole must be at most 9, got 10."),
        ({"whole": 2.5}, "part: whole must be a whole number, got 2.5."),
        ({"whole": "x"}, "part: whole must be a whole number, got 'x'."),
        ({"open": 0}, "part: open must be more than 0.0, got 0."),
        ({"open": 1}, "part: open must be less than 1.0, got 1."),
        ({"open": math.inf}, "part: open must be a finite number, got inf."),
        ({"word": "a"}, "part: word must have at least 2 characters, got 'a'."),
        ({"word": "abcde"}, "part: word must have at most 4 characters, got 'abcde'."),
        ({"word": "A1"}, "part: word must match ^[a-z]+$, got 'A1'."),
        ({"word": 7}, "part: word must be a text, got 7."),
        ({"several": ()}, "part: several must have at least 1 items, got ()."),
        ({"several": (1, 2, 3)}, "part: several must have at most 2 items, got (1, 2, 3)."),
        ({"several": 5}, "part: several must be a list, got 5."),
        ({"several": (1, "x")}, "part: several.1 must be a whole number, got 'x'."),
        ({"yes": "perhaps"}, "part: yes must be true or false, got 'perhaps'."),
        ({"table": [1]}, "part: table must be a table of names and values, got [1]."),
        ({"secret": "my password"}, "part: secret must have at most 3 characters."),
    ],
)
def test_a_refused_value_is_told_with_its_rule(given, expected):
    assert told(**given) == expected


def test_what_is_missing_is_told_with_its_meaning_and_what_is_strange_with_the_nearest():
    with pytest.raises(ValidationError) as caught:
        Asked()
    assert sentence("part", Asked.model_fields, caught.value.errors()[0]) == (
        "part: needed is required (how many there are)."
    )
    strange = {"type": "extra_forbidden", "loc": ("hole",), "msg": ""}
    assert sentence("part", Asked.model_fields, strange) == "part has no parameter 'hole'. Did you mean 'whole'?"


def test_rules_without_a_phrase_and_long_values():
    assert phrase({"type": "something_new", "msg": "Input should be odd"}) == "input should be odd"
    assert shorten("x" * 58) == repr("x" * 58)
    assert shorten("x" * 59) == "'" + "x" * 56 + "…"


def test_several_refusals_are_one_sentence_each():
    with pytest.raises(ParameterError, match=r"^noise: p must be .*, got -1\. noise has no parameter 'q'\."):
        celosia.methods.Noise(columns=["a"], p=-1, q=2)


def test_a_part_is_found_by_kind_and_name():
    assert find("risk or attack", "suda").kind == "risk"
    assert find("risk or attack", "membership").kind == "attack"
    assert covered_kinds("risk or attack") == ("risk", "attack")
    assert covered_kinds("model") == ("model",)
    with pytest.raises(UnknownName, match=r"no loss named 'k-anonymity'.*\('k-anonymity' is a model\.\)"):
        find("loss", "k-anonymity")
    with pytest.raises(UnknownName, match="no kind of part named 'modle'"):
        find("modle", "k-anonymity")
    with pytest.raises(UnknownName, match="Did you mean 'membership'"):
        find("risk or attack", "membershp")


def test_a_package_gives_its_classes_and_nothing_hidden():
    get, names = lazy_package("risk", "attack")
    assert get("Suda").name == "suda"
    assert {"Suda", "Membership"} <= set(names())
    assert names() == sorted(names())
    with pytest.raises(AttributeError, match=r"no risk or attack named 'Sudda'\. Did you mean 'Suda'"):
        get("Sudda")
    with pytest.raises(AttributeError):
        get("_Suda")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("people.csv", "data/people.csv"),
        ("/abs/people.csv", "/abs/people.csv"),
        ("file:key", "file:data/key"),
        ("env:KEY", "env:KEY"),
        ("postgresql://host/x", "postgresql://host/x"),
        ({"path": "p.csv", "sep": ";"}, {"path": "data/p.csv", "sep": ";"}),
        (5, 5),
    ],
)
def test_paths_start_in_a_directory(value, expected):
    assert from_directory(value, Path("data")) == expected


def test_paths_are_found_in_nested_parts_steps_and_variations():
    nested = {"use": "generalise", "require": ["k-map(k=3, population=a.csv)", "k-anonymity(k=2)"]}
    steps = {"steps": [nested, {"use": "pseudonymise", "columns": ["id"], "key_file": "k", "key": "file:s"}]}
    assert [str(path) for path in paths_in("method", steps)] == ["a.csv", "k", "s"]
    made = resolve_paths("method", steps, Path("d"))["steps"]
    assert made[0]["require"][0]["population"] == "d/a.csv"
    assert (made[1]["key_file"], made[1]["key"]) == ("d/k", "file:d/s")
    varied = {"use": "subset", "vary": {"matching": ["a.csv", "b.csv"], "share": [0.1]}}
    assert resolve_paths("method", varied, Path("d"))["vary"] == {"matching": ["d/a.csv", "d/b.csv"], "share": [0.1]}
    secret = {"use": "pseudonymise", "columns": ["id"], "key": "people.csv is my key"}
    assert paths_in("method", secret) == []  # a secret is no path


@pytest.mark.parametrize(
    ("base", "methods"),
    [
        (Risk, {"value", "records", "evidence"}),
        (Attack, {"value", "records", "evidence"}),
        (Loss, {"value"}),
        (Mechanism, {"answer", "cost", "global_sensitivity", "half_width"}),
        (SearchObjective, {"objective"}),
        (ComparesReleases, {"blocking_reasons"}),
        (NarrowsValues, {"intervals"}),
        (CombinesAttacks, {"deciding_attacks"}),
    ],
)
def test_a_kind_declares_what_its_parts_must_define(base, methods):
    assert {name for name in dir(base) if getattr(getattr(base, name), "__isabstractmethod__", False)} == methods


def test_a_part_without_what_its_kind_asks_for_cannot_be_made():
    class _Half(Loss):
        """A loss without a value."""

    with pytest.raises(TypeError, match="abstract"):
        _Half()


def test_a_risk_looks_at_the_protected_table_and_an_attack_at_both():
    class Told(Risk):
        """How many rows the table has that it was given."""

        name = "told-for-a-test"

        def value(self, table):
            return float(len(table))

        def records(self, table):
            return table.polars()

        def evidence(self, table):
            return {"value": self.value(table)}

    try:
        protected = celosia.read(pl.DataFrame({"a": [1]}), celosia.Schema.of(quasi=["a"]))
        assert value_against(Told(), "original", protected) == 1
        assert evidence_against(Told(), "original", protected) == {"value": 1}
        assert deciding_attacks(Told(), None, None) == []
    finally:
        from celosia.parts import registry

        registry._REGISTRY["risk"].pop("told-for-a-test")
    assert "rank-intersection" in attacks_reading("rank-swap")
    assert attacks_reading("drop") == ()
