"""Every part, by its definition alone: documented, with an example, written and read back, refused when wrong."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from pydantic.fields import FieldInfo
from typer.testing import CliRunner

from celosia.errors import ParameterError, UnknownName
from celosia.models.k_anonymity import KAnonymity
from celosia.parts import Part, build, find, grammar, kinds, named_columns, parts, summary

EVERY = [(kind, name) for kind in kinds() for name in parts(kind)]
EXAMPLES: dict[str, Any] = {
    "k": 5,
    "l": 2,
    "t": 0.2,
    "q": 3,
    "alpha": 0.5,
    "beta": 1.0,
    "risk": 0.05,
    "share": 0.1,
    "size": 900,
    "highest": 0.5,
    "epsilon": 0.3,
    "delta": 1e-6,
    "rho": 0.1,
    "lower": -1.5,
    "upper": 9,
    "base": 5,
    "column": "a",
    "columns": ["a"],
    "target": "a",
    "geography": ["a", "b c"],
    "marginals": [["a", "b c"], ["d"]],
    "require": ["k-anonymity(k=2)"],
    "method": "microaggregate(columns=[a], k=3)",
    "population": "people.csv",
    "external": "people.csv",
    "earlier": ["release.csv"],
    "tree": {"*": {"north": ["a", "b, c"], "south": ["d"]}},
}
"""What a required parameter may be set to so that the part can be built."""
CHOSEN: dict[tuple[str, str], dict[str, Any]] = {
    ("method", "bottom-code"): {"value": 3},
    ("method", "top-code"): {"quantile": 0.9},
    ("method", "local-suppress"): {"k": 3},
    ("method", "mondrian"): {"require": ["k-anonymity(k=2)", "l-diversity(l=2, variant=entropy)"]},
    ("method", "random-perturbation"): {"jitter": ["a"]},
    ("method", "randomised-response"): {"q": 0.8, "categories": {"a": ["x", "y"], "b": ["x", "y"]}},
    ("method", "recode"): {"breaks": [1, 2.5]},
    ("method", "sample"): {"share": 0.25},
    ("method", "subset"): {"size": 7},
    ("method", "suppress-cells"): {"fewer_than": 3},
    ("model", "k-map"): {"size": 900},
    ("risk", "attacker-knows"): {"known": {"a": "x, 'y'", "b": 3}},
    ("attack", "scoreboard"): {"item": "a"},
    ("hierarchy", "intervals"): {"breaks": [0, 10, 20.5]},
    ("hierarchy", "levels"): {"rows": [["a", "b, c", "*"]]},
    ("hierarchy", "order"): {"order": ["low", "not so high", "high"]},
    ("method", "in-blocks"): {"size": 40},
}
"""Of parts that need one of several parameters, one of them."""


def limit_of(field: FieldInfo) -> object:
    """A number that a field allows: its lower or upper limit. The bound of a model is in none of its examples."""
    limits = [getattr(mark, name, None) for name in ("ge", "le") for mark in field.metadata]
    return next((limit for limit in limits if limit is not None), None)


def test_the_kinds_are_the_documented_ones():
    assert set(kinds()) == {"method", "model", "risk", "attack", "loss", "mechanism", "hierarchy"}


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_part_is_documented_with_an_example(kind, name):
    cls = find(kind, name)
    text = inspect.cleandoc(cls.__doc__ or "")
    assert summary(cls).endswith("."), "the first sentence says what it is"
    assert len(summary(cls)) < 200
    assert ">>>" in text, "the docstring has an example that runs"
    for field, info in cls.model_fields.items():
        assert info.description, f"{field} has no description"


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_part_has_a_json_schema(kind, name):
    schema = find(kind, name).model_json_schema()
    assert schema["type"] == "object"
    assert json.dumps(schema)


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_an_unknown_parameter_is_refused_with_the_name_of_the_part(kind, name):
    with pytest.raises(ParameterError, match=name):
        find(kind, name)(no_such_parameter=1)


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_part_is_written_and_read_back(kind, name):
    cls = find(kind, name)
    required = [field for field, info in cls.model_fields.items() if info.is_required()]
    bounds = {
        field: limit
        for field in required
        if kind == "model" and (limit := limit_of(cls.model_fields[field])) is not None
    }
    chosen = bounds | dict(cls.examples[0]) | CHOSEN.get((kind, name), {})
    unknown = [field for field in required if field not in EXAMPLES and field not in chosen]
    assert not unknown, f"{name}: give {', '.join(unknown)} in `examples`, so that it can be built."
    given = {field: EXAMPLES[field] if field in EXAMPLES else chosen[field] for field in required}
    part = cls(**given | CHOSEN.get((kind, name), {}))
    assert build(kind, part.spec()) == part
    assert build(kind, str(part)) == part


def test_every_method_has_a_command_with_help():
    from celosia.cli.main import app

    runner = CliRunner()
    for name in parts("method"):
        result = runner.invoke(app, ["protect", name, "--help"], env={"COLUMNS": "300", "TERMINAL_WIDTH": "300"})
        assert result.exit_code == 0, result.output
        for field in find("method", name).model_fields:
            assert "--" + field.replace("_", "-") in result.output.replace("\n", "")[:100_000]


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'k-anonymity'"):
        find("model", "k-anonimity")
    with pytest.raises(UnknownName, match="is a risk"):
        find("model", "prosecutor")


def test_a_wrong_value_is_answered_with_rule_and_value():
    with pytest.raises(ParameterError, match=r"k-anonymity: k must be at least 1, got 0\."):
        KAnonymity(k=0)
    with pytest.raises(ParameterError, match="k is required"):
        KAnonymity()
    with pytest.raises(ParameterError, match="whole number"):
        KAnonymity(k="many")


def test_parts_are_frozen():
    part = KAnonymity(k=2)
    with pytest.raises(Exception, match="frozen"):
        part.k = 3


def test_nested_parts_and_columns_are_found():
    method = build("method", {"use": "suppress-records", "require": [{"use": "k-anonymity", "k": 3}]})
    assert method.require == (KAnonymity(k=3),)
    recode = build("method", "recode(column=age, breaks=[30])")
    assert list(named_columns(recode)) == [("column", "age")]


def test_one_part_where_several_are_wanted_is_a_list_of_one():
    wanted = (KAnonymity(k=3),)
    for given in ("k-anonymity(k=3)", "[k-anonymity(k=3)]", {"use": "k-anonymity", "k": 3}, KAnonymity(k=3)):
        assert find("method", "suppress-records")(require=given).require == wanted


def test_a_part_of_another_kind_is_refused():
    with pytest.raises(ParameterError, match="is a model, but a loss is needed"):
        build("loss", KAnonymity(k=2))


def test_two_parts_of_one_name_are_refused():
    from celosia.parts import Model

    with pytest.raises(ParameterError, match="two model parts are named 'k-anonymity'"):
        type("KAnonymity", (Model,), {"__module__": "elsewhere", "__doc__": "Another."})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("none", None),
        ("entropy", "entropy"),
        ("'a, b'", "a, b"),
        ("[a, 'b c', 3]", ["a", "b c", 3]),
        ("{a=1, 'b c'=[2, 3]}", {"a": 1, "b c": [2, 3]}),
        ("f(x=g(y=1), z=[h])", {"use": "f", "x": {"use": "g", "y": 1}, "z": ["h"]}),
        ("marital-status", "marital-status"),
        ("[]", []),
    ],
)
def test_the_grammar_reads_and_writes(text, value):
    assert grammar.parse(text) == value
    assert grammar.parse(grammar.show(value)) == value


@pytest.mark.parametrize("text", ["f(", "[1, 2", "f(x)", "'open", "", "f(x=1) y", "{a}"])
def test_the_grammar_says_where_a_text_is_wrong(text):
    with pytest.raises(ParameterError, match="cannot read"):
        grammar.parse(text)


def test_a_class_without_a_kind_is_not_registered():
    assert Part not in {cls for kind in kinds() for cls in parts(kind).values()}


@pytest.mark.parametrize("name", ["*", "n*", "../__init__", "[a-z]*", "x" * 300, "a\0b", "/", "noise/noise", ""])
def test_a_name_is_no_pattern_and_no_path(name: str) -> None:
    with pytest.raises(UnknownName):
        find("method", name)
