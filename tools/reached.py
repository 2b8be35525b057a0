"""Which tests reach which lines, and how much of the packages they reach at all.

    python tools/reached.py --out build/reached

Each group of tests runs once, in a process of its own, under coverage; a group that has its file in the folder is not
run again. ``tools/mutate.py --reached build/reached`` then tries a fault only on the tests that come by it. The kernels
run as plain Python, since what is compiled is not seen. Neither is what a test does in a process that it starts.
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
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("models", "methods", "risk", "loss", "kernels/budget", "gateway", "release")
KERNELS = "kernels"
EVERY = ("model", "method", "risk", "attack", "loss", "mechanism", "part_and_persons", "part_and_memory")
WIDER = ("faults", "cli", "mechanisms", "parts", "frontier")
"""Rooms of tests that use the packages: the verbs, and faults that were mended."""
APART = frozenset({"browser", "watch", "spark"})
"""Fixtures whose start takes longer than most tests."""
HEAVY = ("hypothesis", "numpy", "polars", "narwhals", "numba", "scipy.stats", "scipy.optimize", "pydantic")
HEAVY += ("sklearn.tree", "duckdb", "sqlglot", "typer", "rich", "fastapi.testclient", "sqlalchemy", "jinja2", "opendp")
OPTIONS = ("-m", "not long", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header")
OPTIONS += ("-W", "ignore::pytest.PytestWarning")


def groups() -> dict[str, list[str]]:
    """Tests that run together: those of a package, its doctests, those of every part, those of the verbs."""
    rooms = [*PACKAGES, KERNELS, *WIDER]
    found = {name.replace("/", "-"): [f"tests/{name}"] for name in rooms if (ROOT / "tests" / name).is_dir()}
    found |= {f"every-{name}": [f"tests/test_every_{name}.py"] for name in EVERY}
    return found | {"doctests": [f"src/celosia/{name}" for name in PACKAGES]}


def on_spark(item: pytest.Item) -> bool:
    """Whether a test needs Spark: all that do run on one worker."""
    return any("spark" in mark.args for mark in item.iter_markers("xdist_group"))


class TooLong(BaseException):
    """A test works longer than wanted; no part of it may take this for a failure of its own."""


class Watch:
    """A plugin of pytest: what each test reaches, how long it takes, whether it passes in time."""

    def __init__(self, coverage: Any, longest: float) -> None:
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


def loaded() -> None:
    """Load what Celosia stands on, once for all processes that are forked from this one."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _too_long(*_: Any) -> None:
    raise TooLong


def watched(name: str, paths: list[str], out: Path, longest: float) -> None:
    """Run a group and write down what each of its tests reaches."""
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
    """What all groups reached."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        """By file and line the tests that reach it; the empty name stands for what is done on import, or by a test that
        failed or was broken off."""
        for path in sorted(folder.glob("*.json")):
            told = json.loads(path.read_text())
            passed = {str(i): test for i, (test, _, well) in enumerate(told["tests"]) if well} | {"": ""}
            self.seconds |= {test: seconds for test, seconds, _ in told["tests"]}
            for file, lines in told["lines"].items():
                for line, tests in lines.items():
                    self.lines[file][int(line)] |= {passed.get(test, "") for test in tests}

    def shares(self, *, told: bool = False) -> dict[str, tuple[int, int]]:
        """Of each package the lines that tests reach, and all lines; those that none reaches are told if wanted."""
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
                if missing and told:
                    print(f"{file}: {len(missing)} of {len(parser.statements)}: {sorted(missing)}")
            found[package] = (counts[0], counts[1])
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/reached")
    parser.add_argument("--only", nargs="+", help="groups to run; all when not told")
    parser.add_argument("--longest", type=float, default=0.0, help="seconds of work after which a test is broken off")
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    loaded()
    for name, paths in groups().items():
        if (given.only and name not in given.only) or (out / f"{name}.json").exists():
            continue
        given_to = (name, paths, out / f"{name}.json", given.longest)
        child = multiprocessing.get_context("fork").Process(target=watched, args=given_to)
        child.start()
        child.join()
    for package, (reached, whole) in Reached(out).shares(told=True).items():
        print(f"{package:20} {reached:5} of {whole:5} lines, {reached / whole:6.1%}")


if __name__ == "__main__":
    main()
