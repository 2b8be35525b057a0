"""Parts of other packages: the template works, and one that is broken is named and breaks nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[2] / "examples" / "plugin"


def installed(folder: Path, name: str, entry: str) -> None:
    """What an installer leaves beside the modules of a package."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[celosia.parts]\n{entry}\n")


def python(*words: str, path: list[Path]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=False)


def with_template(site: Path) -> list[Path]:
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["project"]
    ((entry, module),) = project["entry-points"]["celosia.parts"].items()
    installed(site, project["name"], f"{entry} = {module}")
    return [site, TEMPLATE / "src"]


def test_the_template_is_a_plug_in_that_passes_its_own_tests(tmp_path: Path) -> None:
    path = with_template(tmp_path / "site")
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-c", os.devnull, "--doctest-modules"]
    done = python("-m", "pytest", *options, str(TEMPLATE), path=path)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


BROKEN = """
from celosia.parts import Method
from celosia.models.k_anonymity import KAnonymity

class HalfDone(Method):
    '''A part that is defined before the rest fails.'''

raise RuntimeError("wrong version of something")
"""
ASKED = """
import warnings
warnings.simplefilter("always")
import celosia
from celosia.parts import parts
print(sorted({"veil", "half-done", "noise"} & set(parts("method"))), "k-anonymity" in parts("model"))
print(celosia.methods.Veil.name, celosia.models.KAnonymity.name)
"""


def test_a_broken_plug_in_is_left_out_with_its_name(tmp_path: Path) -> None:
    path = with_template(tmp_path / "site")
    (tmp_path / "site" / "torn.py").write_text(BROKEN)
    installed(tmp_path / "site", "celosia-torn", "torn = torn")
    done = python("-c", ASKED, path=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['noise', 'veil'] True", "veil k-anonymity"]
    assert done.stderr.count("the plug-in 'torn' of the package celosia-torn 1.0 is left out") == 1
    assert "RuntimeError: wrong version of something" in done.stderr
    told = python("-m", "celosia.cli", "parts", "method", path=path)
    assert told.returncode == 0
    assert "veil" in told.stdout
    assert "'torn'" in told.stderr


def test_a_plug_in_with_a_name_that_is_taken_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "again.py").write_text(
        "from celosia.parts import Method\n\nclass Noise(Method):\n    '''Another noise.'''\n"
    )
    installed(tmp_path, "celosia-again", "again = again")
    done = python("-c", "import celosia; print(celosia.methods.Noise.__module__)", path=[tmp_path])
    assert done.stdout.strip() == "celosia.methods.noise.noise"
    assert "two method parts are named 'noise'" in done.stderr


LOUD = "print('the code of the plug-in runs')\n"


def test_a_plug_in_is_named_before_its_code_runs(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    installed(tmp_path, "celosia-loud", "loud = loud")
    asked = "import sys; sys.stderr = sys.stdout; from celosia.parts import parts; parts('method')"
    lines = python("-c", asked, path=[tmp_path]).stdout.splitlines()
    assert lines == [
        "celosia: loading the plug-in 'loud' of the package celosia-loud 1.0",
        "the code of the plug-in runs",
    ]


def test_plug_ins_can_be_looked_at_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    installed(tmp_path, "celosia-loud", "loud = loud")
    seen = python("-m", "celosia.cli", "doctor", path=[tmp_path]).stdout
    assert "'loud' of the package celosia-loud 1.0" in seen
    assert "the code of the plug-in runs" not in seen
    monkeypatch.setenv("CELOSIA_PLUG_INS", "off")
    assert "runs" not in python("-m", "celosia.cli", "parts", "method", path=[tmp_path]).stdout
