"""Tests that are skipped are listed with their reason; in CI none may be, for want of an installation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SKIPPING = """
import pytest
def test_a():
    pytest.skip("needs Debian's chromium")
def test_b():
    pytest.skip("needs the reference file x, which is not part of the project")
def test_c():
    pytest.importorskip("no_such_package_at_all")
@pytest.mark.xfail(reason="needs PySpark")
def test_d():
    assert 0
"""


def carried_out(place: Path, ci: str) -> str:
    (place / "test_skipping.py").write_text(SKIPPING)
    (place / "test_whole_file.py").write_text("import pytest\npytest.importorskip('no_such_package_at_all')\n")
    (place / "conftest.py").write_text((HERE / "conftest.py").read_text())
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=place, env={**os.environ, "CI": ci}, check=False)
    return done.stdout


@pytest.mark.parametrize(
    ("ci", "ended"), [("", "4 skipped, 1 xfailed"), ("true", "2 failed, 1 skipped, 1 xfailed, 1 error")]
)
def test_what_is_skipped(tmp_path, ci, ended):
    said = carried_out(tmp_path, ci)
    assert f"{ended} in" in said, said
    listed = said[said.index("skipped, and why") :]
    assert "    1  needs the reference file x" in listed
    assert ("1  needs Debian's chromium" in listed) == (not ci)
    assert ("2  could not import 'no_such_package_at_all'" in listed) == (not ci)
    assert ("which CI does not allow: needs Debian's chromium" in said) == bool(ci)
