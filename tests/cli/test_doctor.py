"""What the machine offers, as a page and as JSON."""

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from celosia.data import surroundings as module
from celosia.data.surroundings import surroundings


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "celosia.cli", "doctor", *words], capture_output=True, text=True, check=True
    ).stdout


def test_versions_are_those_that_are_installed():
    facts = json.loads(command("--json"))
    assert facts["celosia"] == metadata.version("celosia")
    assert facts["libraries"]["polars"] == metadata.version("polars")
    assert facts["extras"]["duckdb"]["duckdb"] == metadata.version("duckdb")
    assert facts["engines"]["polars"] is True
    assert 0 < facts["memory"]["free"] <= facts["memory"]["total"]
    assert not {"dev", "docs", "all"} & set(facts["extras"])


def test_every_library_of_the_package_is_listed():
    declared = {
        re.match(r"[A-Za-z0-9._-]+", line)[0] for line in metadata.requires("celosia") if "extra ==" not in line
    }
    assert set(surroundings()["libraries"]) == declared


def test_what_is_absent_is_named_with_its_extra(monkeypatch, capsys):
    from celosia.cli.doctor import doctor

    installed = module._version
    monkeypatch.setattr(module, "_version", lambda name: None if name == "scikit-learn" else installed(name))
    doctor()
    page = capsys.readouterr().out
    assert "Not installed: scikit-learn. To add: pip install 'celosia[learn]'." in page
    assert f"polars {metadata.version('polars')}" in page


def test_the_page_names_no_path(tmp_path):
    assert "/" not in command().replace("celosia[", "")


def test_a_shell_completes_the_names_of_commands():
    asked = {"_CELOSIA_COMPLETE": "complete_bash", "COMP_WORDS": "celosia do", "COMP_CWORD": "1"}
    answer = subprocess.run(
        [Path(sys.executable).with_name("celosia")], env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["doctor"]


def test_kernels_are_compiled_before_they_are_used():
    done = subprocess.run(
        [sys.executable, "-m", "celosia.cli", "doctor", "--compile", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line.split(" s  ")[1] for line in done.stderr.splitlines() if " s  " in line]
    assert {"run with generalise", "mondrian", "microaggregate", "rank-swap", "suda", "distance-linkage"} <= set(told)
    facts = json.loads(done.stdout)  # what is counted is the number of kernels that are kept
    assert facts["kernels"]["compiled"] > 0 or not facts["kernels"]["cached"]
