"""Names say what they hold, and no function takes a row of arguments that only their places tell apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import celosia
import celosia_reproduce

PACKAGES = (Path(celosia.__file__).parent, Path(celosia_reproduce.__file__).parent)
EMPTY = frozenset({"found", "known", "made", "one", "thing", "told"})
NAMELESS = frozenset({"_text", "_number", "_plain", "_domain", *(f"_{name}" for name in EMPTY)})
#: What users write in policies and read in results: what an intruder knows or a store holds already, and what was
#: found where a certificate states something.
PUBLIC = {"known", "found"}
MOST = 9


def _modules() -> dict[str, Path]:
    """Every module by its path below ``celosia``; those of the other package by their path with its name."""
    return {
        path.relative_to(package if package.name == "celosia" else package.parent).as_posix(): path
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
    }


def _empty_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    fields = {
        statement.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in EMPTY:
            if not (node in fields and node.id in PUBLIC):
                yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr.lstrip("_") in EMPTY:
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg) and node.arg in EMPTY:
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in EMPTY | NAMELESS:
            yield node.lineno, node.name


@pytest.mark.parametrize("room", sorted({place.split("/")[0] for place in _modules()}))
def test_no_name_is_empty(room):
    empty = [
        f"{place}:{line}: {name}"
        for place, path in _modules().items()
        if place.split("/")[0] == room
        for line, name in _empty_names(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not empty, "say what these hold:\n" + "\n".join(empty)


def test_the_check_sees_an_empty_name():
    text = "def _text(known):\n    for one in known:\n        found = one\nclass A:\n    known: int = 0\n    told: int = 0\n"
    text += "def f(self):\n    self._made = 1\n"
    names = [name for _, name in sorted(_empty_names(ast.parse(text)))]
    assert names == ["_text", "known", "one", "found", "told", "_made"]


def test_no_function_takes_nine_arguments_by_their_place():
    """Options of commands are named by whoever writes them; two kernels say why theirs come one by one."""
    long = []
    for place, path in _modules().items():
        if place.startswith("cli/") or place == "kernels/search/lattice.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = [*node.args.posonlyargs, *node.args.args]
                long += [f"{place}:{node.lineno}: {node.name}"] * (len(given) >= MOST)
    assert not long, "group the arguments, or take them by name:\n" + "\n".join(long)
