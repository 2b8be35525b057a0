"""A run that is killed while it replaces a release: whatever command comes next finds the old release or the new one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.reference.sources import FEW_SUPPRESSED

from celosia.cli.main import run as command
from celosia.release.evidence.seal import file_hash
from celosia.release.run import run
from celosia.release.verify.verify import verify

POLICY = FEW_SUPPRESSED
# `celosia run --overwrite`, dead before the n-th file of its release gets its name.
KILLED = """
import os, signal, sys
real, names = os.replace, []
def replace(source, target, **named):
    if os.path.basename(target).startswith((".safe", "safe")):
        names.append(target)
        if len(names) == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
    return real(source, target, **named)
os.replace = replace
from celosia.cli.main import run
sys.exit(run(["run", "policy.toml", "--overwrite"]))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(1, 9, 100), "city": rng.choice(["Ur", "Uruk"], 100)})
    frame.write_csv(tmp_path / "people.csv")
    frame.head(20).write_csv(tmp_path / "new.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hashes(place: Path) -> dict[str, str]:
    return {path.name: file_hash(path) for path in (place / "out").iterdir()}


@pytest.mark.parametrize(
    ("killed", "then"),
    [
        (1, ["verify", "out"]),  # before its journal: nothing happened
        (2, ["verify", "out"]),  # the journal is there, no file has its name
        (3, ["verify", "out/safe.certificate.json", "--record", "out/safe.private.json"]),
        (4, ["apply", "out/safe.private.json", "new.csv", "--out", "more.csv"]),  # refuses the step, after it finished
        (6, ["run", "policy.toml"]),  # refuses to overwrite, after it finished
    ],
)
@pytest.mark.sampled(2)
def test_the_next_command_finds_one_release(place, killed, then, capsys):
    run("policy.toml")
    before = hashes(place)
    done = subprocess.run([sys.executable, "-c", KILLED, str(killed)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert command(then) == (0 if then[0] == "verify" else 2), capsys.readouterr().err
    after = {name: digest for name, digest in hashes(place).items() if not name.startswith(".part-")}
    assert set(after) == set(before), "the journal is gone"
    changed = [name for name in before if after[name] != before[name]]
    assert sorted(changed) == (sorted(before) if killed > 1 else []), "all of the files or none"
    assert all(check.passed for check in verify("out", original="people.csv"))
    run("policy.toml", overwrite=True)
    assert set(hashes(place)) == set(before), "nothing is left over"


def test_a_first_release_that_was_killed_is_there_afterwards(place):
    done = subprocess.run([sys.executable, "-c", KILLED, "3"], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len([path for path in (place / "out").iterdir() if path.name.startswith("safe")]) == 1
    assert all(check.passed for check in verify("out", original="people.csv"))


def test_drafts_that_were_left_do_not_hide_a_certificate(place):
    paths = run("policy.toml").paths
    (place / "out" / ".part-abc-safe.certificate.json").write_text("{}")
    assert json.loads(paths["certificate"].read_text())["holds"]
    assert command(["verify", "out"]) == 0
