"""What lies in the working directory is data: no process of the package runs code or settings from there."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from celosia.data import io as cio

PACKAGE = Path(__file__).parents[2] / "src" / "celosia"
SCRIPT = Path(sys.executable).with_name("celosia")
LIBRARIES = "narwhals polars numpy scipy numba sklearn pydantic typer rich jinja2 duckdb sqlalchemy sqlglot celosia"
STANDARD = "json pickle struct queue threading subprocess hashlib tomllib zlib base64 difflib statistics warnings"
STARTED = [
    pytest.param([str(SCRIPT)], f"{LIBRARIES} {STANDARD}", id="script"),
    # Python itself takes modules of the standard library from there before the package has a say.
    pytest.param([sys.executable, "-m", "celosia"], LIBRARIES.replace(" celosia", ""), id="module"),
    pytest.param([sys.executable, "-m", "celosia.cli"], LIBRARIES.replace(" celosia", ""), id="cli module"),
]
STARTS = {"subprocess", "multiprocessing", "concurrent", "pty", "asyncio.subprocess"}
STARTING = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = "\n".join(f"{i},{i * i % 17}" for i in range(40))
    (tmp_path / "data.csv").write_text(f"a,b\n{rows}\n")
    return tmp_path


def plant(place: Path, names: str) -> Path:
    """Modules that leave a mark when they are imported, and are of no other use."""
    mark = place / "ran"
    for name in names.split():
        (place / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\nraise SystemExit(9)\n")
    return mark


def explore(place: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    tried = ["--candidate", "noise(columns=[a], p=0.1)", "--candidate", "rank-swap(columns=[a], window=0.3)"]
    rest = ["explore", "data.csv", "--quasi", "a,b", *tried, "--seeds", "2", "--workers", "2", "--json"]
    quiet = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
    return subprocess.run([*words, *rest], cwd=place, capture_output=True, text=True, env=quiet, check=False)


@pytest.mark.parametrize(("words", "names"), STARTED)
@pytest.mark.sampled
def test_no_module_of_the_working_directory_is_imported(place, words, names):
    """By the command itself, and by the worker processes that it starts."""
    mark = plant(place, names)
    done = explore(place, words)
    assert not mark.exists(), f"imported: {mark.read_text()}"
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["points"]) == 2
    assert found["evaluated"] == 4


def test_reading_a_spreadsheet_imports_none_either(place):
    cio.write(pl.DataFrame({"a": [1, 1, 2]}), place / "data.xlsx")
    mark = plant(place, f"{LIBRARIES} {STANDARD} fastexcel")
    words = [str(SCRIPT), "assess", "data.xlsx", "--quasi", "a"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    assert not mark.exists(), f"imported: {mark.read_text()}"
    assert done.returncode == 0, done.stderr


def test_printing_a_report_runs_nothing_of_the_working_directory(place, tmp_path_factory):
    """Neither modules nor a program that is named like a browser; the browser itself does not work there."""
    (place / "report.html").write_text("<html><main>All is well.</main></html>")
    mark = plant(place, f"{LIBRARIES} {STANDARD} tempfile shutil")
    browser(place, f"echo planted >> {mark}")
    elsewhere = tmp_path_factory.mktemp("programs")
    browser(
        elsewhere,
        f"pwd > {elsewhere}/place\nfor word; do case $word in --print-to-pdf=*) echo x > ${{word#*=}};; esac; done",
    )
    words = [str(SCRIPT), "report", "report.html", "--out", "report.pdf"]
    variables = {**os.environ, "PATH": os.pathsep.join([".", "", str(elsewhere), os.environ["PATH"]])}
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, env=variables, check=False)
    assert not mark.exists(), f"run: {mark.read_text()}"
    assert done.returncode == 0, done.stderr
    assert (place / "report.pdf").read_text() == "x\n"
    assert not Path((elsewhere / "place").read_text().strip()).is_relative_to(place)


def browser(place: Path, does: str) -> None:
    """A program under the name of a browser."""
    (place / "chromium").write_text(f"#!/bin/sh\n{does}\n")
    (place / "chromium").chmod(0o755)


def test_jobs_of_the_studio_import_nothing_of_the_working_directory(place):
    """The project of a studio lies there."""
    mark = plant(place, f"{LIBRARIES} {STANDARD} sitecustomize usercustomize")
    code = (
        "import os, time\nfrom celosia.studio.jobs import Jobs\nfrom celosia.studio.project import Project\n"
        "from celosia.studio.runs import start_run\n"
        'policy = \'[input]\\npath = "data.csv"\\n[schema]\\nquasi = ["b"]\\n[output]\\nreport = false\\n\'\n'
        f"os.chdir({str(place)!r})\n"
        "project = Project('.')\nproject.change(lambda _: policy)\njobs = Jobs(project)\n"
        "job = start_run(project, jobs)\nlast = time.monotonic() + 300\n"
        "while not jobs.find(job.id).finished and time.monotonic() < last:\n    time.sleep(0.05)\n"
        "print(jobs.find(job.id).state, jobs.find(job.id).result)\n"
    )
    words = [sys.executable, "-I", "-c", code]
    done = subprocess.run(words, cwd=place.parent, capture_output=True, text=True, check=False)
    assert not mark.exists(), f"imported: {mark.read_text()}"
    assert done.stdout.startswith("done {'holds': "), done.stdout + done.stderr


def test_workers_take_no_relative_path_of_their_caller(place):
    """A notebook has the working directory, wherever it moves to, on its path; a worker does not, nor what a variable says."""
    mark = plant(place, f"{LIBRARIES.replace(' celosia', '')} sitecustomize usercustomize")
    code = (
        "import os, sys, celosia\nfrom celosia.parts import build\nfrom celosia.frontier.candidates import candidates_of\n"
        "from celosia.frontier.trial import Task\nfrom celosia.frontier.workers import results\n"
        f"table = celosia.read({str(place / 'data.csv')!r})\n"
        "risk, loss = build('attack', 'distance-linkage(columns=[a])'), build('loss', 'probabilistic-loss(columns=[a])')\n"
        "tried = candidates_of(table, ['noise(columns=[a], p=0.1)', 'noise(columns=[a], p=0.2)'])\n"
        "task = Task(table.polars(), table.schema, risk, loss)\n"
        f"os.chdir({str(place)!r})\nsys.path.insert(0, '')\n"
        "jobs = [(i, c, 1) for i, c in enumerate(tried)]\n"
        "print(['risk' in r for _, r in results(task, jobs, 2, lambda: False)])\n"
    )
    variables = {**os.environ, "PYTHONPATH": "."}
    words = [sys.executable, "-I", "-c", code]
    done = subprocess.run(words, cwd=place.parent, capture_output=True, text=True, env=variables, check=False)
    assert not mark.exists(), f"imported: {mark.read_text()}"
    assert done.stdout == "[True, True]\n", done.stderr


def test_a_part_that_workers_cannot_import_is_told_with_the_reason(place):
    (place / "mine.py").write_text(
        "from celosia.parts import Method\nfrom celosia.table import Outcome\n"
        "class Still(Method):\n    '''Change nothing.'''\n"
        "    def apply(self, table, stream):\n        return Outcome(table)\n"
    )
    code = (
        "import celosia, mine, polars as pl\n"
        "table = celosia.read(pl.DataFrame({'a': [1.0, 2.0, 5.0, 9.0], 'b': [3.0, 1.0, 4.0, 2.0]}))\n"
        "found = celosia.explore(table, [mine.Still(), 'noise(columns=[a])'], seeds=1, seed=1, workers=2)\n"
        "print(len(found.points), found.failed)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True)
    assert done.stdout.startswith("1 {'still': "), done.stdout + done.stderr
    assert "no module 'mine'" in done.stdout


def test_settings_of_the_compiler_are_not_taken_from_the_working_directory(place):
    """A cache of compiled code holds pickles: whoever names its directory runs code."""
    pytest.importorskip("yaml")
    (place / ".numba_config.yaml").write_text("cache_dir: planted\n")
    done = explore(place, [str(SCRIPT)])
    assert done.returncode == 0, done.stderr
    assert not (place / "planted").exists()


def test_only_the_workers_start_processes():
    """A new place that starts a process fails here until the tests above cover it."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name.split(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                threads = {alias.name for alias in node.names} <= {"ThreadPoolExecutor", "wait"}
                names = [] if threads else [(node.module or "").split(".")[0]]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                if node.attr in STARTING or node.attr.startswith(("exec", "spawn")):
                    names = ["subprocess"]
            elif isinstance(node, ast.Attribute) and node.attr.startswith("create_subprocess"):
                names = ["subprocess"]
            if STARTS & set(names):
                found.add(str(path.relative_to(PACKAGE)))
    # the second for the type of a process alone, the third for the browser that prints reports and pictures
    assert found == {"data/subprocesses.py", "frontier/workers.py", "show/browser.py"}
