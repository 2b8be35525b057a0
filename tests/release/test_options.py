"""Options of the reader and the writer in a policy: a wrong one is told with its section, before anything is read."""

from __future__ import annotations

import pytest

from celosia.errors import PolicyError
from celosia.release.policy.policy import Policy

WRONG = [
    ("input", {"separator": 7}, "policy: input: separator must be a text, got 7."),
    ("input", {"missing": 7}, "policy: input: missing must be a list, got 7."),
    ("input", {"seperator": ";"}, "policy: [input] has no key 'seperator'. Did you mean 'separator'?"),
    ("input", {"type": []}, "policy: input: no file type named '[]'."),
    ("output", {"decimal": "ab"}, "policy: output: decimal must be '.' or ',', got 'ab'."),
    ("output", {"path": "safe.parquet", "compression": "klingon"}, "policy: output: compression must be 'zstd'"),
    ("output", {"path": "safe.xlsx", "sheet": "a[b]:*"}, "policy: output: sheet must have 1 to 31 characters"),
    ("output", {"path": "safe.jsonl", "separator": ";"}, "policy: [output] has no key 'separator'."),
]


@pytest.mark.parametrize(("section", "options", "said"), WRONG)
def test_a_wrong_option_is_refused(section, options, said):
    sections = {"input": {"path": "people.csv"}, "output": {"path": "safe.csv"}}
    sections[section] |= options
    with pytest.raises(PolicyError) as refusal:
        Policy.of(sections)
    assert str(refusal.value).startswith(said)


def test_right_options_are_kept():
    given = {"path": "people.txt", "type": "csv", "separator": ":", "missing": ["NA"], "dates": {"d": "%d/%m/%Y"}}
    policy = Policy.of({"input": given, "output": {"path": "safe.parquet", "compression": "gzip"}})
    assert policy.input.options == {name: value for name, value in given.items() if name != "path"}
    assert policy.output.options == {"compression": "gzip"}


@pytest.mark.parametrize(
    ("section", "value", "said"),
    [
        ("input", {"clean": {"same": {"city": {"Qx": 7}}}}, "input.clean.same.city: something in it must be a text."),
        ("input", {"clean": {"same": {"city": "Qx"}}}, "[input.clean.same.city] must be a table."),
        ("input", {"clean": {"missing": {"city": "Qx"}}}, "input.clean.missing.city must be a list."),
        ("schema", {"orders": {"city": "Qx"}}, "schema.orders.city must be a list."),
    ],
)
def test_values_of_the_data_in_a_policy_are_not_told(section, value, said):
    sections = {"input": {"path": "people.csv"}, "schema": {}}
    sections[section] |= value
    with pytest.raises(PolicyError) as refusal:
        Policy.of(sections)
    assert str(refusal.value) == f"policy: {said}"
