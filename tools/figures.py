"""Print the figures that a redesign is judged by, and fail where one rises above its recorded ceiling.

    python tools/figures.py [--check]

``make lint`` runs it with ``--check``. The ceilings are in ``tools/figures.toml``; lower them when a figure falls.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from celosia.data.engines.engine import Engine
from celosia.parts import Attack, Loss, Mechanism, Method, Model, Part, Risk
from celosia.table import Table

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
CEILINGS = ROOT / "tools" / "figures.toml"
READABILITY = ROOT.parent / "shared" / "tools" / "readability.py"


@cache
def modules() -> dict[Path, ast.Module]:
    """Syntax tree of every source file."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def source_lines() -> int:
    """Lines of Python in src, without packages/reproduce."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in modules())


def count_inherited(base: type[Any]) -> tuple[int, int]:
    """Count the public names that a part inherits from its base class: methods and properties, class variables."""
    names = [name for name in dir(base) if not name.startswith("_") and name not in dir(BaseModel)]
    methods = sum(callable(getattr(base, name)) or isinstance(getattr(base, name), property) for name in names)
    return methods, len(names) - methods


def annotations() -> Iterator[str]:
    """Every annotation of a parameter or result, as text."""
    for tree in modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                every = [
                    *node.args.posonlyargs,
                    *node.args.args,
                    *node.args.kwonlyargs,
                    node.args.vararg,
                    node.args.kwarg,
                ]
                given = [argument.annotation for argument in every if argument is not None]
                yield from (ast.unparse(each) for each in [*given, node.returns] if each is not None)


def engine_flags() -> int:
    """Return the places outside data/engines that read a variable of an engine's class, such as ``engine.local``."""
    own = {name for name in vars(Engine) if not name.startswith("__") and not callable(getattr(Engine, name))}
    flags = (own | set(Engine.__annotations__)) - {"name"}
    return sum(
        isinstance(node, ast.Attribute) and node.attr in flags and ast.unparse(node.value).endswith("engine")
        for path, tree in modules().items()
        if "engines" not in path.parts
        for node in ast.walk(tree)
    )


def ruff(rule: str) -> int:
    """Violations of a rule that the settings of the project leave out."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", rule]
    done = subprocess.run(
        [*command, "--output-format", "concise", str(SOURCE)], capture_output=True, text=True, check=False
    )
    return done.stdout.count(f" {rule} ")


def readability() -> float | None:
    """Return the findings of the readability tool per 1 000 source lines, or None without the tool."""
    if not READABILITY.is_file():
        return None
    command = [sys.executable, str(READABILITY), "--summary", str(SOURCE)]
    total = re.search(
        r"^total (\d+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout, re.MULTILINE
    )
    return None if total is None else 1000 * int(total[1]) / source_lines()


def figures() -> dict[str, float | None]:
    """Every figure by its name."""
    stated = list(annotations())
    uses_any = sum(bool(re.search(r"\bAny\b", text)) for text in stated)
    return {
        "source_lines": source_lines(),
        "source_files": len(modules()),
        **{
            f"{base.__name__.lower()}_{what}": number
            for base in (Part, Model, Method, Risk, Attack, Loss, Mechanism)
            for what, number in zip(("methods", "class_variables"), count_inherited(base), strict=True)
        },
        **{
            f"{cls.__name__.lower()}_names": sum(not name.startswith("_") for name in dir(cls))
            for cls in (Table, Engine)
        },
        "annotations": len(stated),
        "any_share": round(uses_any / len(stated), 4),
        "dict_str_any": sum(path.read_text("utf-8").count("dict[str, Any]") for path in modules()),
        "engine_flags": engine_flags(),
        "ruff_d401": ruff("D401"),
        "ruff_ann401": ruff("ANN401"),
        "readability": readability(),
    }


def risen(found: dict[str, float | None], ceilings: dict[str, float]) -> list[str]:
    """Return a message for every figure above its ceiling."""
    return [
        f"{name}: {found[name]:,g} is above the ceiling of {ceiling:,g}. "
        f"Lower it, or say in {CEILINGS.name} why it may rise."
        for name, ceiling in ceilings.items()
        if (found[name] or 0) > ceiling
    ]


def main() -> int:
    """Print the figures; with --check return 1 where one is too high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail above the ceilings")
    check = parser.parse_args().check
    found = figures()
    for name, value in found.items():
        print(
            f"{name:24}", "skipped: the readability tool is not beside this clone" if value is None else f"{value:,.6g}"
        )
    messages = risen(found, tomllib.loads(CEILINGS.read_text("utf-8"))) if check else []
    print(*messages, sep="\n", end="\n" if messages else "")
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
