"""No test without an assertion: a test that cannot fail shows nothing."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent
FAILING = {"raises", "warns", "fail", "fail_with"}
"""Calls that fail by themselves; so does what begins with ``assert``."""


@dataclass(frozen=True)
class Function:
    """A function of the tests: whether it asserts, and what it calls or hands on."""

    place: str
    name: str
    asserts: bool
    calls: frozenset[str]


def functions(text: str, place: str = "") -> list[Function]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = list(ast.walk(node))
            calls = [each for each in inner if isinstance(each, ast.Call)]
            names = {ast.unparse(call.func).rsplit(".", 1)[-1] for call in calls}
            names |= {argument.id for call in calls for argument in call.args if isinstance(argument, ast.Name)}
            asserts = any(isinstance(each, ast.Assert) for each in inner)
            asserts = asserts or any(name in FAILING or name.startswith("assert") for name in names)
            found.append(Function(place, node.name, asserts, frozenset(names)))
    return found


def silent(all_functions: list[Function]) -> list[str]:
    """Tests that assert nothing, neither themselves nor through a function of the tests."""
    asserting = {each.name for each in all_functions if each.asserts}
    while more := {each.name for each in all_functions if each.name not in asserting and each.calls & asserting}:
        asserting |= more
    tests = [each for each in all_functions if each.name.startswith("test_")]
    return [f"{each.place}::{each.name}" for each in tests if not each.asserts and not each.calls & asserting]


def test_every_test_asserts_something():
    files = sorted(ROOT.rglob("*.py"))
    everything = [f for file in files for f in functions(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))]
    assert len(everything) > 1000
    assert silent(everything) == []


def test_a_test_without_an_assertion_is_noticed():
    text = "def checked(x):\n    assert x\n\ndef test_a():\n    checked(1)\n\ndef test_b():\n    print(1)\n"
    assert silent(functions(text)) == ["::test_b"]
