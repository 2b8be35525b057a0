"""Record the lines that each test covers, and print the coverage of the packages.

    python tools/reached.py --out build/reached

Each group of tests runs once, in its own process, under coverage; a group that has its file in the folder is not run
again. ``tools/mutate.py --reached build/reached`` then runs only the tests that cover a mutant. The kernels run as
plain Python, because compiled code is not measured. Processes that a test starts are not measured either.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("models", "methods", "risk", "loss", "kernels/budget", "gateway", "release")
KERNELS = "kernels"
EVERY = ("model", "method", "risk", "attack", "loss", "mechanism", "part_and_persons", "part_and_memory")
WIDER = ("faults", "cli", "mechanisms", "parts", "frontier")
"""Packages of tests that use the others: the commands, and fixed bugs."""
APART = frozenset({"browser", "watch", "spark"})
"""Fixtures whose start takes longer than most tests."""
HEAVY = ("hypothesis", "numpy", "polars", "narwhals", "numba", "scipy.stats", "scipy.optimize", "pydantic")
HEAVY += ("sklearn.tree", "duckdb", "sqlglot", "typer", "rich", "fastapi.testclient", "sqlalchemy", "jinja2", "opendp")
OPTIONS = ("-m", "not long", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header")
OPTIONS += ("-W", "ignore::pytest.PytestWarning")


def groups() -> dict[str, list[str]]:
    """Return the groups of tests by name: of each package, of every part of a kind, of the commands, and doctests."""
    packages = [*PACKAGES, KERNELS, *WIDER]
    paths = {name.replace("/", "-"): [f"tests/{name}"] for name in packages if (ROOT / "tests" / name).is_dir()}
    paths |= {f"every-{name}": [f"tests/test_every_{name}.py"] for name in EVERY}
    return paths | {"doctests": [f"src/celosia/{name}" for name in PACKAGES]}


def on_spark(item: pytest.Item) -> bool:
    """Return whether a test needs Spark."""
    return any("spark" in mark.args for mark in item.iter_markers("xdist_group"))


class TooLong(BaseException):
    """Time limit of a test; not an ``Exception``, so that the test cannot handle it."""


class Watch:
    """Plugin of pytest that records the lines, the time and the result of each test."""

    def __init__(self, coverage: Coverage, longest: float) -> None:
        self.coverage = coverage
        self.longest = longest
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not (on_spark(item) or APART & set(getattr(item, "fixturenames", ())))]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, self.longest)
        done = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[item.nodeid] = round(time.perf_counter() - start, 3)
        self.coverage.switch_context("")
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)


def load_dependencies() -> None:
    """Import the dependencies of Celosia, once for all processes that are forked from this one."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _too_long(*_: object) -> None:
    raise TooLong


def run_group(name: str, paths: list[str], out: Path, longest: float) -> None:
    """Run a group of tests and write the lines that each test covers."""
    from coverage import Coverage

    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(ROOT / "src")  # for the processes that tests start
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    if name == KERNELS.replace("/", "-"):
        import numba

        numba.config.DISABLE_JIT = True
    coverage = Coverage(data_file=None, source=[str(ROOT / "src/celosia")], config_file=False)
    watch = Watch(coverage, longest)
    signal.signal(signal.SIGPROF, _too_long)
    coverage.start()
    pytest.main([*OPTIONS, *paths], plugins=[watch])
    coverage.stop()
    data = coverage.get_data()
    numbers = {test: str(i) for i, test in enumerate(watch.seconds)}
    lines = {
        str(Path(file).relative_to(ROOT)): {
            line: [numbers.get(test, "") for test in tests] for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    tests = [[test, seconds, test not in watch.failed] for test, seconds in watch.seconds.items()]
    out.write_text(json.dumps({"tests": tests, "lines": lines}))


class Reached:
    """Coverage of all groups of tests."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        """Tests that cover a line, by file and line; the empty name stands for the import and for failed tests."""
        for path in sorted(folder.glob("*.json")):
            group = json.loads(path.read_text())
            passed = {str(i): test for i, (test, _, ok) in enumerate(group["tests"]) if ok} | {"": ""}
            self.seconds |= {test: seconds for test, seconds, _ in group["tests"]}
            for file, lines in group["lines"].items():
                for line, tests in lines.items():
                    self.lines[file][int(line)] |= {passed.get(test, "") for test in tests}

    def shares(self, *, verbose: bool = False) -> dict[str, tuple[int, int]]:
        """Return the covered and all lines of each package; ``verbose`` prints the lines that are not covered."""
        from coverage import Coverage
        from coverage.parser import PythonParser

        left_out = "|".join(Coverage(data_file=None, config_file=False).get_exclude_list())  # for type checkers alone
        found = {}
        for package in (*PACKAGES, KERNELS):
            counts = [0, 0]
            for path in sorted((ROOT / "src/celosia" / package).rglob("*.py")):
                file = str(path.relative_to(ROOT))
                parser = PythonParser(filename=str(path), exclude=left_out)
                parser.parse_source()
                missing = parser.statements - parser.translate_lines(n for n, by in self.lines[file].items() if by)
                counts[0] += len(parser.statements) - len(missing)
                counts[1] += len(parser.statements)
                if missing and verbose:
                    print(f"{file}: {len(missing)} of {len(parser.statements)}: {sorted(missing)}")
            found[package] = (counts[0], counts[1])
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/reached")
    parser.add_argument("--only", nargs="+", help="groups to run; all by default")
    parser.add_argument("--longest", type=float, default=0.0, help="processor seconds after which a test is stopped")
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    load_dependencies()
    for name, paths in groups().items():
        if (given.only and name not in given.only) or (out / f"{name}.json").exists():
            continue
        arguments = (name, paths, out / f"{name}.json", given.longest)
        child = multiprocessing.get_context("fork").Process(target=run_group, args=arguments)
        child.start()
        child.join()
    for package, (reached, whole) in Reached(out).shares(verbose=True).items():
        print(f"{package:20} {reached:5} of {whole:5} lines, {reached / whole:6.1%}")


if __name__ == "__main__":
    main()
