"""What a part can do is declared on its base class: nobody looks it up by `getattr`, and nobody knows a part by its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import celosia
from celosia.parts import Attack, Loss, Mechanism, Method, Model, Part, Risk, home, loss, method, model, parts, threat

SOURCE = Path(celosia.__file__).parent
ROOMS = ("parts", "models", "search", "views", "release", "show", "frontier", "consent", "sklearn.py", "cli")
KINDS = (Attack, Loss, Mechanism, Method, Model, Risk)
NAMES = {name for kind in KINDS for name in parts(kind.kind)}
CONTRACTS = [
    contract
    for module in (loss, method, model, threat)
    for contract in vars(module).values()
    if isinstance(contract, type) and contract.__module__ == module.__name__
]
DECLARED = {
    name
    for contract in CONTRACTS
    for name in vars(contract) | vars(contract).get("__annotations__", {})
    if not name.startswith("_")
} - {"name"}
CLASSES = {cls.__name__ for kind in KINDS for cls in parts(kind.kind).values()}
PARAMETERS = {name for kind in KINDS for cls in parts(kind.kind).values() for name in cls.model_fields}
FILES = [
    file for room in ROOMS for file in ([SOURCE / room] if room.endswith(".py") else (SOURCE / room).rglob("*.py"))
]


def looked_up(tree: ast.AST) -> list[int]:
    """Lines that look up what a part declares, or one of its parameters, by name."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [
        call.lineno
        for call in calls
        if call.func.id in {"getattr", "hasattr"}
        and isinstance(call.args[1], ast.Constant)
        and call.args[1].value in DECLARED | PARAMETERS
    ]


def compared(tree: ast.AST) -> list[int]:
    """Lines that compare the name of something with the name of a part."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "name"
        and any(isinstance(other, ast.Constant) and other.value in NAMES for other in node.comparators)
    ]


def asked(tree: ast.AST) -> list[int]:
    """Lines that ask whether something is one part, by a class from the packages of parts."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    homes = tuple(home(kind.kind) for kind in KINDS)
    own = {each.name for node in imports if (node.module or "").startswith(homes) for each in node.names} & CLASSES
    return [
        call.lineno
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"isinstance", "issubclass"}
        and any(isinstance(node, ast.Name) and node.id in own for node in ast.walk(call.args[1]))
    ]


@pytest.mark.parametrize("search", [looked_up, compared, asked])
def test_nothing_is_looked_up_behind_the_contract(search):
    hits = [
        f"{file.relative_to(SOURCE)}:{line}" for file in FILES for line in search(ast.parse(file.read_text("utf-8")))
    ]
    assert hits == [], "declare it on the base class of the kind"


def test_the_searches_see_what_they_look_for():
    assert looked_up(ast.parse('getattr(method, "epsilon", 0.0)\nhasattr(part, "watch")\ngetattr(x, name)')) == [1, 2]
    assert compared(ast.parse('part.name == "k-anonymity"\npart.name == "nobody"')) == [1]
    imported = "from celosia.models import KAnonymity\n"
    assert asked(ast.parse(imported + "isinstance(part, KAnonymity)\nisinstance(part, Formal)")) == [2]
    assert Part not in KINDS
