"""Measure how many small faults the tests catch, on a seeded sample of mutants of the packages behind the promises.

    python tools/reached.py --out build/reached
    python tools/mutate.py --reached build/reached --number 300 --seed 1 --out build/mutants.json
    python tools/mutate.py --faults tools/faults.toml

The last line tries the hand-made faults, each with the tests that must catch it.

Each mutant is one change of one file (a comparison turned round, a constant moved by one, an operator exchanged, a
``not`` removed, two arguments exchanged, a result replaced, a statement dropped) in a copy of the project. The tests
related to the file by name run on it, narrowest first, and stop at the first failure; if the coverage is known, only
tests that cover the line, first these and then all others. Mutants without observable effect are excluded,
each with its reason, in ``tools/equivalent.toml``. Results of earlier runs are kept. Only the copy is written to.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import fnmatch
import functools
import itertools
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from mutants import Mutant, by_hand, equivalent_mutants, sample
from reached import OPTIONS, PACKAGES, ROOT, Reached, load_dependencies, on_spark

KINDS = {"models": "model", "methods": "method", "risk": "risk", "loss": "loss", "mechanisms": "mechanism"}
COPIED = (
    "src",
    "packages",
    "tests",
    "docs",
    "examples",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "tools",
    "changelog.d",
)
KEPT = "tests/parts/test_kept.py"
"""Tests of declared parameters: they inspect the classes, and cover no line of their modules."""
MOST_FILES = 2
"""Related test files that run on a mutant, besides the doctests of its module and those of every part."""


@functools.cache
def test_files() -> dict[Path, str]:
    """Every file of tests with its text."""
    return {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}


@functools.cache
def related_tests(file: str) -> tuple[str, ...]:
    """Return the tests of a module by name: its doctests, its mirror, then the files that mention it most."""
    path = ROOT / file
    names = {path.stem, path.stem.replace("_", "-")} - {"__init__"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = (ast.ClassDef, ast.FunctionDef)
    names |= {node.name for node in tree.body if isinstance(node, defined) and not node.name.startswith("_")}
    mentions = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, sorted(names))) + r")(?![\w-])")
    package = Path(file).relative_to("src/celosia").parent
    scores: Counter[str] = Counter()
    for test, text in test_files().items():
        place = test.relative_to(ROOT / "tests")
        distinct = len(set(mentions.findall(text)))
        shared = sum(a == b for a, b in zip(place.parent.parts, package.parts, strict=False))
        own = test.stem == f"test_{path.stem}"
        if own or distinct or place.parent == package:
            scores[str(test.relative_to(ROOT))] = 100 * own + 10 * shared + distinct
    chosen = [name for name, _ in sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))]
    chosen = [name for name in chosen if "/browser" not in name and "/studio/" not in name][:MOST_FILES]
    kind = KINDS.get(package.parts[0])
    every = f"tests/test_every_{'attack' if 'attacks' in package.parts else kind}.py"
    more = [every] if kind and every not in chosen and (ROOT / every).is_file() else []
    return (file, *chosen, *more)


def covering_tests(mutant: Mutant, reached: Reached, most: float) -> tuple[str, ...]:
    """Return the tests that cover a mutant: those of the related files, then all others, the quick ones first.

    Neither group takes more than ``most`` seconds without the mutant. Code that runs on import (a default, a constant)
    is covered by all tests that use the module; a line that no test covers may run in a process that a test of the
    related files starts.
    """
    near = (*related_tests(mutant.file)[1:], KEPT)  # the doctests of the module itself always run
    lines = reached.lines.get(mutant.file, {})
    span = range(mutant.line, mutant.line + mutant.before.count("\n") + 1)
    by = set().union(*(lines.get(line, set()) for line in span)) or lines.get(_statement(mutant), set())
    if by and _on_import(mutant):  # whichever test came first has imported it
        by = {""}
    found = by - {""} or set().union(*lines.values()) - {""}
    if not by:
        found |= {test for test in reached.seconds if test.split("::")[0] in near}
    if not by - {""}:
        kept = {test for test in reached.seconds if test.startswith(KEPT)}
        name = Path(mutant.file).stem.replace("_", "-")
        found |= {test for test in kept if test.endswith(f" {name}]")} or kept  # all, where a file has several parts
    quick = sorted(found, key=lambda test: (reached.seconds[test], test))
    inner = _select_within_time(most, [test for test in quick if test.split("::")[0] in near], reached)
    inner.sort(key=lambda test: near.index(test.split("::")[0]))
    outer = _select_within_time(most, [test for test in quick if test.split("::")[0] not in near], reached)
    known = {test.split("::")[0] for test in reached.seconds}
    stem = Path(mutant.file).stem
    named = [
        file if file.endswith(f"test_{stem}.py") else f"{file}::*{stem.replace('_', '-')}*"
        for file in near
        if file not in known
    ]
    return (mutant.file, *inner, *outer, *named)


def _select_within_time(most: float, tests: list[str], reached: Reached) -> list[str]:
    spent = itertools.accumulate(reached.seconds[test] for test in tests)
    return [test for test, seconds in zip(tests, spent, strict=True) if seconds < most]


def _statement(mutant: Mutant) -> int:
    """Return the first line of the innermost statement around a mutant, to which coverage assigns its lines."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    around = [
        n.lineno for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= mutant.line <= (n.end_lineno or 0)
    ]
    return max(around, default=mutant.line)


def _on_import(mutant: Mutant) -> bool:
    """Return whether a mutant is outside of all functions."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return not any(n.body[0].lineno <= mutant.line <= (n.end_lineno or 0) for n in functions)


def copy_project(place: Path) -> Path:
    """Copy the project, with its compiled kernels."""
    place.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, symlinks=True)
        elif source.is_file():
            shutil.copy2(source, place / name)
    return place


def outcome(mutant: Mutant, place: Path, usual: dict[str, float], when: int) -> str:
    """caught, survived or overdue (far longer than without it): the tests on a copy with the mutant in it."""
    target = place / mutant.file
    whole, status = target.read_bytes(), target.stat()
    target.write_bytes(whole[: mutant.start] + mutant.after.encode() + whole[mutant.end :])
    os.utime(target, (when, when))  # a time of its own: what Python compiled of another mutant is not taken for it
    chosen = Chosen(mutant.tests, usual, place / "failed.txt")
    child = multiprocessing.get_context("fork").Process(target=_run_tests, args=(place, mutant.tests, chosen))
    try:
        child.start()
        child.join(900)
        if child.exitcode in (None, -signal.SIGPROF, -signal.SIGALRM):
            return "overdue"
        return f"caught {chosen.failure.read_text()}" if child.exitcode else "survived"
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid or 0, signal.SIGKILL)  # with all that the tests have started
        child.join()
        target.write_bytes(whole)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
        shutil.rmtree(place / ".hypothesis/examples", ignore_errors=True)  # what failed for one is no hint for another


class Chosen:
    """Plugin of pytest that runs the chosen tests in their order, records a failure, and stops tests that hang."""

    def __init__(self, tests: tuple[str, ...], usual: dict[str, float], failure: Path) -> None:
        self.order = {test: i for i, test in reversed(list(enumerate(tests)))}
        self.patterns = {test: i for test, i in self.order.items() if "*" in test}
        self.usual = usual
        self.failure = failure
        failure.write_text("")

    def _place(self, item: pytest.Item) -> int | None:
        fitting = (i for pattern, i in self.patterns.items() if fnmatch.fnmatch(item.nodeid, pattern))
        whole = self.order.get(item.nodeid.split("::")[0], next(fitting, None))
        return self.order.get(item.nodeid, whole)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = (i for i in items if self._place(i) is not None and not on_spark(i))
        items[:] = sorted(chosen, key=lambda i: self._place(i) or 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Set time limits; without a handler the signals end the process, even in compiled code."""
        usual = self.usual.get(item.nodeid, 2.0 if self.usual else 30.0)  # what was not timed is a doctest or new
        signal.setitimer(signal.ITIMER_PROF, 10 + 10 * usual)
        signal.setitimer(signal.ITIMER_REAL, 300 + 20 * usual)  # for what waits instead of working

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failure.write_text(report.nodeid)


def _run_tests(place: Path, tests: tuple[str, ...], plugin: Chosen) -> None:
    """Run tests of a copy, in a process that has imported the dependencies of Celosia but not Celosia."""
    os.setsid()
    os.chdir(place)
    os.environ["PYTHONPATH"] = str(place / "src")  # for the processes that tests start
    sys.path[:0] = [str(place / "src"), str(place)]
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        files = list(dict.fromkeys(test.split("::")[0] for test in tests))
        near, far = files[: MOST_FILES + 2], files[MOST_FILES + 2 :]
        for some in [*([file] for file in near), far]:  # one file after the other: most are caught by the first
            code = int(pytest.main([*OPTIONS, "-x", *some], plugins=[plugin])) if some else 0
            if code not in (0, 5):
                os._exit(code)
    os._exit(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=300, help="mutants in all, evenly over the packages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES))
    parser.add_argument("--reached", type=Path, help="what tools/reached.py wrote: only tests that reach a mutant run")
    parser.add_argument("--faults", type=Path, help="a file of hand-made faults, instead of a sample")
    parser.add_argument("--only", help="hand-made faults whose name holds this")
    parser.add_argument("--most", type=float, default=40.0, help="seconds of tests near a mutant, and of all others")
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    parser.add_argument("--also", nargs="+", default=[], help="files of tests that run first, on every mutant")
    parser.add_argument("--keep", type=Path, help="where the shares go that the documentation shows")
    parser.add_argument("--out", type=Path, default=ROOT / "build/mutants.json")
    given = parser.parse_args()
    chosen = by_hand(given.faults) if given.faults else sample(given.number, given.seed, given.packages)
    if given.only:
        chosen = [mutant for mutant in chosen if given.only in mutant.change]
    reached = Reached(given.reached) if given.reached else None
    equivalent = equivalent_mutants(ROOT / "tools/equivalent.toml")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    done: dict[str, dict[str, str | float]] = json.loads(given.out.read_text()) if given.out.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        if (ROOT.parent / "shared").is_dir():  # the reference files
            (Path(temporary) / "shared").symlink_to(ROOT.parent / "shared")
        place = copy_project(Path(temporary) / "copy")
        load_dependencies()
        for number, mutant in enumerate(chosen):
            before = done.get(str(mutant), {}).get("outcome")
            reason = equivalent.get((mutant.file, *mutant.lines()))
            if reason:
                done[str(mutant)] = {"outcome": "set aside", "because": reason}
            elif before is None or (given.again and before == "survived"):
                tests = mutant.tests or (
                    covering_tests(mutant, reached, given.most) if reached else related_tests(mutant.file)
                )
                mutant = replace(mutant, tests=(*given.also, *tests))
                start = _spent()
                what = outcome(mutant, place, reached.seconds if reached else {}, 10**9 + number)
                done[str(mutant)] = {
                    "outcome": what.split()[0],
                    "by": what.partition(" ")[2],
                    "cpu": round(_spent() - start, 1),
                }
            done[str(mutant)]["package"] = mutant.package
            print(f"{number + 1}/{len(chosen)} {done[str(mutant)]['outcome']}: {mutant}", flush=True)
            given.out.write_text(json.dumps(done, indent=1, ensure_ascii=False))
    return _summary([done[str(mutant)] for mutant in chosen], reached, given.keep)


def _spent() -> float:
    """Return the processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _summary(results: list[dict[str, str | float]], reached: Reached | None, kept: Path | None) -> int:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        for name in (str(result["package"]), "all"):
            counted[name][str(result["outcome"])] += 1
    lines = reached.shares() if reached else {}
    rows = []
    for package, outcomes in sorted(counted.items()):
        whole = outcomes.total() - outcomes["set aside"]
        noticed = outcomes["caught"] + outcomes["overdue"]
        print(f"{package:20} {whole:4} mutants, {noticed / max(whole, 1):6.1%} caught, {dict(outcomes)}")
        row = {"package": package, "faults": whole, "noticed": noticed, "set aside": outcomes["set aside"]}
        rows.append(row | {"lines": lines.get(package)})
    if kept:
        kept.write_text(json.dumps(rows, indent=1) + "\n")
    return 3 if counted["all"]["survived"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
