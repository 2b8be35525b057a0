"""Mutants of a source file, a seeded sample of them, and hand-made faults."""

from __future__ import annotations

import ast
import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from reached import PACKAGES, ROOT

DRAWN = {"plots.py", "charts.py", "ru_map.py"}
"""Drawings: most of their numbers are places on paper."""

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
EXCHANGED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the tests that should notice."""

    file: str
    line: int
    change: str
    before: str
    after: str
    start: int
    end: int
    tests: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        inside = self.file.removeprefix("src/celosia/")
        return next((name for name in PACKAGES if inside.startswith(f"{name}/")), inside.split("/")[0])

    def lines(self) -> tuple[str, str]:
        """Return the whole lines that it changes, before and after."""
        text = (ROOT / self.file).read_bytes()
        first, last = text.rfind(b"\n", 0, self.start) + 1, text.find(b"\n", self.end)
        changed = text[first : self.start] + self.after.encode() + text[self.end : last]
        return text[first:last].decode().strip(), changed.decode().strip()

    def __str__(self) -> str:
        before, after = self.lines()
        return f"{self.file}:{self.line} {self.change}: {before} -> {after}"


def mutants(path: Path) -> list[Mutant]:
    """All mutants of a file."""
    text = path.read_text(encoding="utf-8")
    lines = [0]
    for line in text.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    for node, change, after in _changes(ast.parse(text)):
        start, end = (
            lines[node.lineno - 1] + node.col_offset,
            lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
        )
        before = text.encode()[start:end].decode()
        if before != after:
            found.append(Mutant(str(path.relative_to(ROOT)), node.lineno, change, before, after, start, end))
    return found


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Yield each node that can be mutated, with the kind of change and the new text."""
    for child in _executed_children(node):
        yield from _change(child)
        yield from _changes(child)


def _executed_children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the executed children of a node: no annotations, error messages, descriptions or code for type checkers."""
    if isinstance(node, ast.AnnAssign):
        yield from [node.value] if node.value else []
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body]
    elif isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or _for_checkers(node):
        return
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.keyword) and node.arg in {"description", "strict", "stacklevel", "encoding"}:
        return
    else:
        yield from ast.iter_child_nodes(node)


def _for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _change(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        ops = [COMPARED[type(node.ops[0])](), *node.ops[1:]]
        yield node, "comparison", _text(ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, "constant", str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, "constant", f"({node.value!r} + 1)"
        yield node, "constant", f"({node.value!r} - 1)"
    elif isinstance(node, ast.BinOp) and type(node.op) in EXCHANGED and not _words(node):
        yield node, "operator", _text(ast.BinOp(node.left, EXCHANGED[type(node.op)](), node.right))
    elif isinstance(node, ast.BoolOp):
        yield node, "operator", _text(ast.BoolOp(EXCHANGED[type(node.op)](), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, "not removed", _text(node.operand)
    elif isinstance(node, ast.Call) and len(node.args) > 1 and _order_matters(node):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield node, "arguments", _text(ast.Call(node.func, swapped, node.keywords))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield node, "result", "return None"
    elif isinstance(node, ast.AugAssign | ast.Raise) or _is_call(node):
        yield node, "dropped", "pass"


def _is_call(node: ast.AST) -> TypeGuard[ast.Expr]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _order_matters(node: ast.Call) -> bool:
    """Whether the order of the first two arguments matters."""
    name = ast.unparse(node.func).rsplit(".")[-1]
    either = name in {"max", "min", "maximum", "minimum", "logical_and", "logical_or", "gcd"}
    return not either and not any(isinstance(argument, ast.Starred) for argument in node.args)


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _words(node: ast.BinOp) -> bool:
    """Whether texts or types are joined: X | None, "a" + "b"."""
    return isinstance(node.op, ast.BitOr | ast.Add) and any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | None))
        for side in (node.left, node.right)
    )


def sample(number: int, seed: int, packages: list[str]) -> list[Mutant]:
    """Draw the same number of mutants from each package, uniformly over its places."""
    chosen = []
    for i, package in enumerate(packages):
        files = [f for f in sorted((ROOT / "src/celosia" / package).rglob("*.py")) if f.name not in DRAWN]
        places = [mutant for file in files for mutant in mutants(file)]
        wanted = number // len(packages) + (i < number % len(packages))
        chosen += random.Random(f"{seed} {package}").sample(places, min(wanted, len(places)))
    return chosen


def by_hand(path: Path) -> list[Mutant]:
    """Read the faults in a file: a text of a source file, its replacement, and the tests that must fail."""
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]:
        whole = (ROOT / entry["file"]).read_bytes()
        before = entry["before"].encode()
        if whole.count(before) != 1:
            raise SystemExit(f"{entry['name']}: {entry['file']} holds the text {whole.count(before)} times, not once.")
        start = whole.index(before)
        line = whole[:start].count(b"\n") + 1
        texts = (entry["before"], entry["after"], start, start + len(before))
        found.append(Mutant(entry["file"], line, entry["name"], *texts, tuple(entry["tests"])))
    return found


def equivalent_mutants(path: Path) -> dict[tuple[str, str, str], str]:
    """Read the mutants without observable effect, with the reason, by file and whole lines before and after."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return {(entry["file"], entry["before"], entry["after"]): entry["because"] for entry in entries}
