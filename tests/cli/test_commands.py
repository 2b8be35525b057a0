"""The command line: exit codes, JSON, bad input in one sentence, and how light it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from celosia.cli.main import run as command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    pl.DataFrame({"age": [30, 30, 41, 41], "zip": ["a", "a", "b", "b"], "ill": ["x", "y", "x", "Canary"]}).write_csv(
        path
    )
    return path


def test_assess_ends_with_0_when_it_holds_and_3_when_not(data, capsys):
    base = ["assess", str(data), "--quasi", "age,zip"]
    assert command([*base, "--require", "k-anonymity(k=2)"]) == 0
    assert command([*base, "--require", "k-anonymity(k=3)"]) == 3
    assert "NO" in capsys.readouterr().out


def test_guessed_roles_never_meet_a_requirement(data, capsys):
    assert command(["assess", str(data), "--require", "k-anonymity(k=1)", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["guessed"] is True


def test_protect_writes_the_file_and_tells_what_it_did(data, capsys):
    out = data.with_name("safe.csv")
    arguments = ["protect", "recode", str(data), "--column", "age", "--breaks", "[40]", "--out", str(out), "--json"]
    assert command(arguments) == 0
    assert json.loads(capsys.readouterr().out)["step"] == "recode"
    assert sorted(pl.read_csv(out)["age"]) == ["<40", "<40", "≥40", "≥40"]
    assert command(arguments) == 2
    assert "there already" in capsys.readouterr().err


def test_square_brackets_in_a_column_name_are_printed_as_they_are(tmp_path, capsys):
    data = tmp_path / "data.csv"
    data.write_text("age,[/x] pay,[red]\n30,1,a\n31,2,b\n")
    assert command(["init", str(data), "--out", str(tmp_path / "policy.toml")]) == 0
    shown = capsys.readouterr().out
    assert "[/x]" in shown
    assert "[red]" in shown


def test_compare_says_what_was_lost_or_why_it_cannot(data, capsys):
    out = data.with_name("safe.csv")
    recode = ["recode", str(data), "--column", "age", "--breaks", "[40]", "--keep-columns", "zip"]
    command(["protect", *recode, "--out", str(out)])
    capsys.readouterr()
    assert command(["compare", str(data), str(out), "--quasi", "age,zip", "--json"]) == 0
    losses = json.loads(capsys.readouterr().out)["losses"]
    assert "key" in losses[0]["reason"]
    assert losses[1]["value"] == 8


def test_parts_are_listed_and_shown(capsys):
    assert command(["parts", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert "k-anonymity" in listing["model"]
    assert "intervals" in listing["hierarchy"]
    assert command(["parts", "model", "k-anonymity"]) == 0
    assert "smallest allowed class size" in capsys.readouterr().out
    assert command(["parts", "model", "k-anonymity", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "KAnonymity"


def _broken(place: Path) -> dict[str, tuple[list[str], str]]:
    """Every kind of bad input: the arguments, and what the message must say."""

    def file(name: str, content: bytes | str) -> str:
        path = place / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def assess(path: str, *more: str) -> list[str]:
        return ["assess", path, "--quasi", "age", *more]

    def infinite(path: Path) -> str:
        pl.DataFrame({"age": [30, 31], "x": [float("inf"), 1.5]}).write_parquet(path)
        return str(path)

    good = file("good.csv", "age,zip\n30,Canary\n31,Canary\n")
    return {
        "missing file": (assess(str(place / "none.csv")), "none.csv"),
        "empty file": (assess(file("empty.csv", "")), "empty"),
        "header only": (assess(file("header.csv", "age,zip\n")), "no rows|no records|header"),
        "unknown column": (["assess", good, "--quasi", "agee"], "Did you mean 'age'"),
        "broken UTF-8": (assess(file("bytes.csv", b"age,zip\n30,Canary\xff\xfe\x80\n" * 5), "--json"), ""),
        "ragged rows": (assess(file("ragged.csv", "age,zip\n30,Canary\n31,Canary,7,8\n")), "1"),
        "no quasi-identifier": (
            ["assess", file("p.toml", '[input]\npath="good.csv"\n[schema]\nsensitive=["zip"]\n')],
            "quasi",
        ),
        "all-null column": (assess(file("null.csv", "age,zip\n,Canary\n,Canary\n")), "'age' has no value"),
        "infinite": (assess(infinite(place / "inf.parquet")), "'x' holds 1"),
        "wrong parameter": (assess(good, "--require", "k-anonymity(k=zero)"), "whole number"),
        "unknown model": (assess(good, "--require", "k-anonimity(k=2)"), "Did you mean 'k-anonymity'"),
        "unwritable output": (
            [
                "protect",
                "drop",
                good,
                "--columns",
                "zip",
                "--quasi",
                "age",
                "--out",
                str(place / "no" / "such" / "x.csv"),
            ],
            "cannot write",
        ),
        "output is the input": (
            ["protect", "drop", good, "--columns", "zip", "--out", good, "--overwrite"],
            "is the input",
        ),
        "wrong type": (
            ["protect", "recode", good, "--column", "zip", "--breaks", "[1]", "--out", str(place / "y.csv")],
            "'zip' is not numeric",
        ),
        "unknown engine": (assess(good, "--engine", "excel"), "no engine named 'excel'"),
        "unknown method": (["protect", "recod", good, "--out", str(place / "z.csv")], "Did you mean 'recode'"),
    }


CASES = [
    "missing file",
    "empty file",
    "header only",
    "unknown column",
    "ragged rows",
    "no quasi-identifier",
    "all-null column",
    "infinite",
    "wrong parameter",
    "unknown model",
    "unwritable output",
    "output is the input",
    "wrong type",
    "unknown engine",
    "unknown method",
]


@pytest.mark.parametrize("case", CASES)
def test_bad_input_ends_with_2_and_one_sentence(tmp_path, capsys, case):
    arguments, message = _broken(tmp_path)[case]
    before = sorted(p.name for p in tmp_path.iterdir())
    assert command(arguments) == 2
    shown = capsys.readouterr()
    lines = shown.err.strip().splitlines()
    assert len(lines) == 1, shown.err
    assert lines[0].startswith("celosia: ")
    import re

    assert re.search(message, lines[0]), lines[0]
    assert "Canary" not in shown.err + shown.out
    assert "Traceback" not in shown.err
    assert sorted(p.name for p in tmp_path.iterdir()) == before, "nothing half-written"


def test_broken_utf8_is_read_or_refused_without_a_value(tmp_path, capsys):
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"age,zip\n30,ok\n31,Canary\xff\xfe\x80\x81\n")
    code = command(["assess", str(path), "--quasi", "age"])
    shown = capsys.readouterr()
    assert code in {0, 2}
    assert "Canary" not in shown.err


def test_two_thousand_columns_are_read(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(2000)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 2000) + "\n" + ",".join(["2"] * 2000) + "\n")
    assert command(["assess", str(path), "--quasi", "c0,c1999", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 2


def test_help_is_light():
    code = (
        "import sys, io, contextlib\nfrom celosia.cli.main import run\n"
        "with contextlib.redirect_stdout(io.StringIO()): run(['--help'])\n"
        "print([m for m in ('numba', 'scipy', 'sklearn', 'polars', 'duckdb', 'pydantic', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_parts_imports_nothing_they_compute_with():
    code = (
        "import sys\nfrom celosia.parts import parts\n"
        "for kind in ('method', 'model', 'risk', 'loss', 'mechanism', 'hierarchy'): parts(kind)\n"
        "print([m for m in ('numba', 'scipy', 'sklearn', 'opendp', 'sqlalchemy', 'sqlglot') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_is_light():
    code = "import sys, celosia\ncelosia.models\nprint([m for m in ('numba', 'polars', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_third_party_part_shows_up_everywhere(tmp_path):
    """A package with an entry point, on the path of a fresh process: in the catalogue, the CLI and a policy."""
    package = tmp_path / "site"
    (package / "veil").mkdir(parents=True)
    (package / "veil" / "__init__.py").write_text(
        "from typing import ClassVar\nfrom celosia.parts import Method, Columns\nfrom celosia.table import Outcome\n"
        "from pydantic import Field\n\nclass Veil(Method):\n    '''Blank a column.\n\n    >>> 1\n    1\n    '''\n"
        "    columns: Columns = Field(description='columns to blank')\n\n    def apply(self, table, stream):\n"
        "        return Outcome(table.replace({c: ['-'] * len(table) for c in self.columns}))\n"
    )
    info = package / "veil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: veil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[celosia.parts]\nveil = veil\n")
    pl.DataFrame({"age": [1, 2], "zip": ["a", "b"]}).write_csv(tmp_path / "d.csv")
    policy = '[input]\npath = "d.csv"\n[schema]\nquasi = ["age", "zip"]\n[[step]]\nuse = "veil"\ncolumns = ["zip"]\n[output]\nreport = false\n'
    (tmp_path / "p.toml").write_text(policy)
    environment = {**os.environ, "PYTHONPATH": str(package)}

    def celosia(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "celosia.cli", *arguments]
        return subprocess.run(words, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    assert "veil" in json.loads(celosia("parts", "--json").stdout)["method"]
    assert "columns to blank" in celosia("protect", "veil", "--help").stdout
    done = celosia("run", "p.toml")
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(tmp_path / "safe.csv")["zip"].to_list() == ["-", "-"]
    reference = subprocess.run(
        [sys.executable, str(Path(__file__).parents[2] / "docs" / "build.py"), "--print", "method"],
        capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    assert "veil" in reference.stdout


def test_it_works_without_a_writable_home_or_cache(tmp_path):
    """Kernels compile without a cache when neither the package nor the home can be written."""
    source = Path(__file__).parents[2] / "src"
    code = (
        "import numba.core.caching as c\n"
        "def no(*a, **k): raise RuntimeError('cannot cache function: no locator available')\n"
        "c.FunctionCache.__init__ = no\n"
        "import numpy as np\nfrom celosia.kernels.grouping.missing_frequencies import frequencies\n"
        "print(frequencies(np.array([[0], [-1]], dtype=np.int32), np.array([2.0, 1.0]), 'wildcard').tolist())"
    )
    environment = {**os.environ, "HOME": "/nonexistent", "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.strip() == "[3.0, 3.0]", done.stderr
