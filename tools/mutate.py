"""How many small faults the tests catch: a seeded sample of mutants over the packages that promises rest on.

    python tools/mutate.py --number 300 --seed 1 --out build/mutants.json
    python tools/mutate.py --faults tools/faults.toml

The second line tries the hand-made faults, each with the tests that must catch it.

Each mutant is one change of one file (a comparison turned round, a constant moved by one, an operator exchanged, a
``not`` removed, two arguments exchanged, a result replaced, a statement dropped) in a copy of the project. The tests
that are related to the file by name run on it, narrowest first, and stop at the first failure. Nothing outside the
copies is written.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import importlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("models", "methods", "risk", "loss", "mathematics/budget", "gateway", "release")
KINDS = {"models": "model", "methods": "method", "risk": "risk", "loss": "loss", "mechanisms": "mechanism"}
COPIED = ("src", "tests", "docs", "examples", "pyproject.toml", "README.md", "CONTRIBUTING.md", "tools", "changelog.d")
SELECTED = (
    "-m",
    "not long",
    "-k",
    "not spark",
    "-x",
    "-q",
    "-n",
    "0",
    "-p",
    "no:cacheprovider",
    "--no-header",
    "-W",
    "ignore::pytest.PytestWarning",
)
MOST_FILES = 2
"""Related test files that run on a mutant, besides the doctests of its module and those of every part."""
HEAVY = ("pytest", "hypothesis", "numpy", "polars", "narwhals", "numba", "scipy.stats", "scipy.optimize", "pydantic")
HEAVY += ("sklearn.tree", "duckdb", "sqlglot", "typer", "rich", "fastapi.testclient", "sqlalchemy", "jinja2", "opendp")
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

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.change}: {self.before!r} -> {self.after!r}"


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
    """Each place where a fault could be, with the text that would be one."""
    for child in _inside(node):
        yield from _change(child)
        yield from _changes(child)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What is run of a node: no annotation, no message of an error, no description, nothing for type checkers alone."""
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
    elif isinstance(node, ast.Call) and len(node.args) > 1 and _ordered(node):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield node, "arguments", _text(ast.Call(node.func, swapped, node.keywords))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield node, "result", "return None"
    elif isinstance(node, ast.AugAssign | ast.Raise) or _is_call(node):
        yield node, "dropped", "pass"


def _is_call(node: ast.AST) -> TypeGuard[ast.Expr]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _ordered(node: ast.Call) -> bool:
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
    """The same number of mutants of each package; a file counts by its places."""
    rng = random.Random(seed)
    chosen = []
    for i, package in enumerate(packages):
        files = [f for f in sorted((ROOT / "src/celosia" / package).rglob("*.py")) if f.name not in DRAWN]
        places = [mutant for file in files for mutant in mutants(file)]
        wanted = number // len(packages) + (i < number % len(packages))
        chosen += [replace(m, tests=related(m.file)) for m in rng.sample(places, min(wanted, len(places)))]
    rng.shuffle(chosen)
    return chosen


@functools.cache
def test_files() -> dict[Path, str]:
    """Every file of tests with its text."""
    return {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}


@functools.cache
def related(file: str) -> tuple[str, ...]:
    """The tests of a module by name: its doctests, its mirror, then the files that speak of it most."""
    path = ROOT / file
    names = {path.stem, path.stem.replace("_", "-")} - {"__init__"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = (ast.ClassDef, ast.FunctionDef)
    names |= {node.name for node in tree.body if isinstance(node, defined) and not node.name.startswith("_")}
    spoken = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, sorted(names))) + r")(?![\w-])")
    room = Path(file).relative_to("src/celosia").parent
    scores: Counter[str] = Counter()
    for test, text in test_files().items():
        place = test.relative_to(ROOT / "tests")
        distinct = len(set(spoken.findall(text)))
        shared = sum(a == b for a, b in zip(place.parent.parts, room.parts, strict=False))
        own = test.stem == f"test_{path.stem}"
        if own or distinct or place.parent == room:
            scores[str(test.relative_to(ROOT))] = 100 * own + 10 * shared + distinct
    chosen = [name for name, _ in sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))]
    chosen = [name for name in chosen if "/browser" not in name and "/studio/" not in name][:MOST_FILES]
    kind = KINDS.get(room.parts[0])
    every = f"tests/test_every_{'attack' if 'attacks' in room.parts else kind}.py"
    more = [every] if kind and every not in chosen and (ROOT / every).is_file() else []
    return (file, *chosen, *more)


def copied(place: Path) -> Path:
    """A copy of the project, with its compiled kernels."""
    place.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, symlinks=True)
        elif source.is_file():
            shutil.copy2(source, place / name)
    return place


def outcome(mutant: Mutant, place: Path, limit: float) -> str:
    """caught, survived or too long: the related tests on a copy with the mutant in it, in a process of their own."""
    target = place / mutant.file
    whole, status = target.read_bytes(), target.stat()
    target.write_bytes(whole[: mutant.start] + mutant.after.encode() + whole[mutant.end :])
    child = multiprocessing.get_context("fork").Process(target=_tested, args=(place, mutant.tests))
    try:
        child.start()
        child.join(limit)
        if child.exitcode is None:
            return "too long"
        return "caught" if child.exitcode else "survived"
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid or 0, signal.SIGKILL)  # with all that the tests have started
        child.join()
        target.write_bytes(whole)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _tested(place: Path, tests: tuple[str, ...]) -> None:
    """Run tests of a copy. What Celosia stands on is loaded already; Celosia itself is not."""
    import pytest

    os.setsid()
    os.chdir(place)
    os.environ["PYTHONPATH"] = str(place / "src")  # for the processes that tests start
    sys.path[:0] = [str(place / "src"), str(place)]
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        for test in tests:  # one file after the other: most mutants are caught by the first
            code = int(pytest.main([*SELECTED, test]))
            if code not in (0, 5):
                os._exit(code)
    os._exit(0)


def _loaded() -> None:
    """Load what Celosia stands on, once for all mutants."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def by_hand(path: Path) -> list[Mutant]:
    """The faults of a file of such: a text of a source file, what stands there instead, the tests that must fail."""
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=300, help="mutants in all, evenly over the packages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES))
    parser.add_argument("--faults", type=Path, help="a file of hand-made faults, instead of a sample")
    parser.add_argument("--only", help="hand-made faults whose name holds this")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for the tests of one mutant")
    parser.add_argument("--out", type=Path, default=ROOT / "build/mutants.json")
    given = parser.parse_args()
    chosen = by_hand(given.faults) if given.faults else sample(given.number, given.seed, given.packages)
    if given.only:
        chosen = [mutant for mutant in chosen if given.only in mutant.change]
    results: list[tuple[Mutant, str]] = []
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        if (ROOT.parent / "shared").is_dir():  # the reference files
            (Path(temporary) / "shared").symlink_to(ROOT.parent / "shared")
        place = copied(Path(temporary) / "copy")
        _loaded()
        for mutant in chosen:
            results.append((mutant, outcome(mutant, place, given.limit)))
            print(f"{len(results)}/{len(chosen)} {results[-1][1]}: {mutant}", flush=True)
            given.out.write_text(json.dumps([{**asdict(m), "outcome": w} for m, w in results], indent=1))
    return _summary(results)


def _summary(results: list[tuple[Mutant, str]]) -> int:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant, what in results:
        counted[mutant.package][what] += 1
        counted["all"][what] += 1
    for package, outcomes in sorted(counted.items()):
        whole = sum(outcomes.values())
        print(f"{package:20} {whole:4} mutants, {outcomes['caught'] / whole:6.1%} caught, {dict(outcomes)}")
    return 0 if all(what == "caught" for _, what in results) else 3


if __name__ == "__main__":
    raise SystemExit(main())
