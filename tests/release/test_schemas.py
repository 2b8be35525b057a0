"""The JSON Schemas fit what is written, and refuse what was changed."""

from __future__ import annotations

import copy
import json
import tomllib

import pytest
from jsonschema import Draft202012Validator as Validator

from celosia import Policy
from celosia.demo import prepare
from celosia.parts import parts
from celosia.proposals import policy_text, safe_harbor, suggest
from celosia.release.evidence.schemas import SCHEMAS
from celosia.release.run import run


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """The policy, the certificate and the record of a small demonstration, as plain data."""
    place = prepare(tmp_path_factory.mktemp("demo"), persons=2000)
    paths = run(place).paths
    policy = tomllib.loads(place.read_text("utf-8"))
    return {
        "policy": json.loads(json.dumps(policy, default=str)),  # a date is a text in JSON, and to an editor's schema
        "certificate": json.loads(paths["certificate"].read_text("utf-8")),
        "record": json.loads(paths["record"].read_text("utf-8")),
    }


@pytest.fixture(scope="module")
def validators() -> dict[str, Validator]:
    made = {name: make() for name, make in SCHEMAS.items()}
    for schema in made.values():
        Validator.check_schema(schema)
    return {name: Validator(schema) for name, schema in made.items()}


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_written_fits_its_schema(name, written, validators):
    assert [error.message for error in validators[name].iter_errors(written[name])] == []


def fields(data: dict, depth: int = 2):
    """The places of the fields of a document, as deep as its form goes."""
    for key, value in data.items():
        yield (key,)
        if depth > 1 and isinstance(value, dict):
            yield from ((key, *rest) for rest in fields(value, depth - 1))


FREE = ("commitments", "before", "after", "comparison", "types", "kinds", "hierarchies", "left_out")
"""Tables whose keys are names of columns or parts."""


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_changed_field_name_fails(name, written, validators):
    for place in fields(written[name]):
        if len(place) > 1 and place[-2] in FREE:
            continue
        changed = copy.deepcopy(written[name])
        table = changed
        for key in place[:-1]:
            table = table[key]
        table[place[-1] + "x"] = table.pop(place[-1])
        if place == ("input", "path") and name == "policy":
            continue  # further keys of [input] are options of its reader, which the ending of the file decides
        if place == ("output", "path") and name == "policy":
            continue
        assert not validators[name].is_valid(changed), place


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({"step": [{"use": "noise", "columns": ["income"], "p": 0.2, "name": "n"}]}, True),
        ({"step": [{"use": "noise", "columns": "income, age", "p": 0.2}]}, True),
        ({"step": [{"use": "nois", "columns": ["income"]}]}, False),
        ({"step": [{"use": "noise", "columns": ["income"], "q": 0.2}]}, False),
        ({"step": [{"use": "generalise", "require": "k-anonymity(k=5)"}]}, True),
        ({"step": [{"use": "generalise", "require": [{"use": "k-anonymity", "k": 5}]}]}, True),
        ({"step": [{"use": "generalise", "require": [{"use": "k-anonymity", "kk": 5}]}]}, False),
        ({"require": ["k-anonymity(k=5)"]}, True),
        ({"require": [{"use": "k-anonymity", "k": 0}]}, False),
        ({"require": [{"use": "k-map", "k": 3, "population": {"path": "p.csv", "separator": ";"}}]}, True),
        ({"measure": {"risks": ["prosecutor", {"use": "distance-linkage"}]}}, True),
        ({"explore": {"candidate": [{"use": "noise", "vary": {"p": [0.1, 0.2]}}, "noise(p=0.1)"]}}, True),
        ({"explore": {"candidate": [{"steps": [{"use": "noise"}, {"use": "rank-swap"}]}, [{"use": "noise"}]]}}, True),
        ({"explore": {"candidate": [{"use": "noisy", "vary": {"p": [0.1]}}]}}, False),
        ({"schema": {"quasi": ["a"], "hierarchies": {"a": {"Europe": ["Spain", "France"]}}}}, True),
        ({"schema": {"quasi": ["a"], "hierarchies": {"a": {"use": "intervals", "width": 5}}}}, True),
        ({"schema": {"quasi": ["a"], "hierarchies": {"a": {"use": "interval"}}}}, False),
        ({"output": {"overwrite": True, "order": "kept"}}, True),
        ({"output": {"order": "sorted"}}, False),
        ({"run": {"seed": "0f" * 16}}, True),
        ({"format": 2}, False),
    ],
)  # fmt: skip
def test_the_schema_of_a_policy_agrees_with_its_form(change, good, written, validators):
    policy = {**written["policy"], **change}
    assert validators["policy"].is_valid(policy) == good
    if good:
        Policy.of(policy)
    else:
        with pytest.raises(ValueError, match=r"."):
            Policy.of(policy)


def test_suggested_policies_fit_the_schema(tmp_path, validators):
    from celosia.demo.prepare import population

    frame = population(200, 1)
    for proposals in (suggest(frame), safe_harbor(suggest(frame))):
        data = tomllib.loads(policy_text(proposals, "people.csv"))
        assert [error.message for error in validators["policy"].iter_errors(data)] == []


def test_the_schema_of_a_policy_knows_every_part(validators):
    known = validators["policy"].schema["$defs"]
    for kind in ("method", "model", "risk", "attack", "loss", "hierarchy"):
        assert {f"{kind}-{name}" for name in parts(kind)} <= set(known)
