"""Parameters that can hold cell values, keys or places of data are private: no certificate and no report shows them."""

from __future__ import annotations

import json
import types
import typing
from typing import Annotated, Any, get_args, get_origin

import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.parts import (
    ColumnMark,
    Method,
    Part,
    Private,
    build,
    find,
    parts,
    private_fields,
    public_spec,
    withheld_parameters,
)
from celosia.release.run import run
from celosia.release.verify.verify import verify

KINDS = ("method", "model", "risk", "loss")
# Texts that are public by decision: each is in the released cells anyway, or is no value of a record.
PUBLIC = {
    ("method", "recode", "labels"): "names of intervals: the released cells show them",
    ("method", "fuzzy-recode", "labels"): "names of sets: the released cells show them",
    ("method", "fuzzy-table", "labels"): "names of sets: the released cells show them",
    ("method", "top-code", "value"): "the limit: the released cells show it",
    ("method", "bottom-code", "value"): "the limit: the released cells show it",
    ("method", "top-code", "replacement"): "what the released cells show beyond the limit",
    ("method", "bottom-code", "replacement"): "what the released cells show beyond the limit",
    ("method", "mask", "sign"): "the sign that the released cells show",
    ("method", "pseudonymise", "prefix"): "what the released cells begin with",
    ("method", "pseudonymise", "domain"): "a name chosen for the pseudonyms",
    ("method", "shift-dates", "notation"): "how dates are written",
    ("method", "dp-histogram", "values"): "the declared domain, which a formal guarantee takes as public",
    ("method", "dp-marginals", "values"): "the declared domain, which a formal guarantee takes as public",
    ("method", "dp-synthesis", "values"): "the declared domain, which a formal guarantee takes as public",
    ("method", "randomised-response", "categories"): "the declared domain, which estimates need",
    ("method", "dp-marginals", "marginals"): "names of columns",
    ("method", "local-suppress", "subsets"): "names of columns",
    ("method", "local-suppress", "linked"): "names of columns",
    ("model", "t-closeness", "distance"): "the name of a distance, or a function",
}


def text_of(annotation: Any, metadata: tuple[Any, ...] = ()) -> bool:
    """Whether a parameter of this type can hold a text that is no column, no choice from a list and no part."""
    if any(isinstance(mark, ColumnMark) for mark in metadata):
        return False
    origin = get_origin(annotation)
    if origin is Annotated:
        return text_of(get_args(annotation)[0], get_args(annotation)[1:])
    if origin is typing.Literal:
        return False
    if origin is dict:  # the keys are names of columns
        return text_of(get_args(annotation)[1])
    if origin in (typing.Union, types.UnionType, tuple, list):
        return any(text_of(inner) for inner in get_args(annotation) if inner is not Ellipsis)
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return False
    return annotation not in (int, float, bool, type(None))


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in parts(kind)])
def test_every_parameter_that_can_hold_a_value_is_private_or_public_by_decision(kind, name):
    cls = find(kind, name)
    for field, info in cls.model_fields.items():
        if field == "target":  # the name of a column, or an array that is never written down
            continue
        if text_of(info.annotation, tuple(info.metadata)):
            decided = (kind, name, field) in PUBLIC
            assert (field in private_fields(cls)) != decided, (
                f"{field}: mark it Private, or list it here with the reason"
            )


def test_decisions_are_about_parameters_that_exist():
    for kind, name, field in PUBLIC:
        assert field in find(kind, name).model_fields


def test_nested_parts_keep_their_secrets_too():
    knows = {"use": "attacker-knows", "known": {"city": "CANARY"}}
    score = build("loss", {"use": "score", "risk": knows})
    assert "CANARY" in str(score)
    assert "CANARY" not in json.dumps(public_spec(score))
    assert withheld_parameters(score) == ["risk.known"]
    sets = {"use": "q-anonymity", "q": 2, "sets": {"age": {"CANARY": "(-inf;30;36)"}}}
    method: Method = build("method", {"use": "suppress-records", "require": [sets, "k-anonymity(k=2)"]})
    assert "CANARY" not in json.dumps(public_spec(method))
    assert withheld_parameters(method) == ["require.sets"]
    assert withheld_parameters(build("model", "k-anonymity(k=2)")) == []


def test_private_is_found_in_every_way_to_write_it():
    class _Marked(Part):
        """A part."""

        a: Annotated[str, Private()] = ""
        b: Annotated[str, Private()] | None = None
        c: str = ""

    assert private_fields(_Marked) == ("a", "b")


POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age"]
sensitive = ["disease", "city"]
[[require]]
use = "k-anonymity"
k = 2
[[step]]
use = "sequential-trees"
columns = ["age"]
where = "city = 'CANARYWHERE'"
[[step]]
use = "rank-swap"
columns = ["age"]
window = 0.1
impossible = ["city = 'CANARYRULE' AND age < 0"]
[[step]]
use = "recode"
column = "city"
mapping = {CANARYWHERE = "there", elsewhere = "there"}
[measure]
risks = [{use = "attacker-knows", known = {age = "CANARYKNOWN"}}, "prosecutor",
         {use = "journalist", population = "CANARYPLACE/people.csv"}]
losses = ["altered-records"]
[output]
path = "safe.csv"
"""


def test_no_artefact_that_may_be_published_holds_one(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {"age": [30, 31, 40, 41] * 10, "city": ["CANARYWHERE", "elsewhere"] * 20, "disease": ["a", "b"] * 20}
    )
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "CANARYPLACE").mkdir()
    pl.concat([frame] * 9).write_csv(tmp_path / "CANARYPLACE" / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    release = run(tmp_path / "policy.toml")
    for name in ("data", "certificate", "report"):
        assert "CANARY" not in release.paths[name].read_text(), name
    assert "CANARYKNOWN" in release.paths["record"].read_text(), "the owner keeps them"
    told = {c["part"]: c.get("withheld") for c in json.loads(release.paths["certificate"].read_text())["risks"]}
    assert told == {"attacker-knows": ["known"], "prosecutor": None, "journalist": ["population"]}
    checks = {c.claim: c for c in verify(release.paths["certificate"])}
    assert checks["prosecutor"].passed
    assert checks["attacker-knows"].passed is None
    assert "withholds known" in checks["attacker-knows"].note
    assert command(["assess", str(tmp_path / "policy.toml")]) == 0
    assert "CANARY" not in capsys.readouterr().out


def test_verify_opens_nothing_that_a_certificate_names(tmp_path):
    """A certificate comes from elsewhere: a population, a file or a database that it names is not read."""
    pl.DataFrame({"age": [30, 30, 31, 31]}).write_csv(tmp_path / "people.csv")
    policy = POLICY[: POLICY.index("[[step]]")].replace('sensitive = ["disease", "city"]\n', "")
    (tmp_path / "policy.toml").write_text(policy + '[output]\npath = "safe.csv"\nreport = false\n')
    path = run(tmp_path / "policy.toml").paths["certificate"]
    stated = json.loads(path.read_text())
    pl.DataFrame({"age": [30, 31]}).write_csv(tmp_path / "population.csv")
    stated["risks"] = [{"part": f"journalist(population='{tmp_path}/population.csv')", "value": 0.5}]
    path.write_text(json.dumps(stated))
    found = [c for c in verify(path) if c.claim.startswith("journalist")]
    assert [c.passed for c in found] == [None]
    assert "population" in found[0].note
    assert withheld_parameters(celosia.risk.Journalist()) == []
