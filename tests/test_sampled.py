"""Of a sampled test a few cases run among the short ones, always the same; the others are long."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SAMPLED = """
import pytest
@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", "abcdefgh")
def test_a(case):
    pass
class TestB:
    @pytest.mark.sampled
    @pytest.mark.parametrize("case", [1, 2, 3])
    def test_b(self, case):
        pass
@pytest.mark.parametrize("case", [1, 2, 3])
def test_c(case):
    pass
"""


@pytest.fixture
def chosen(tmp_path):
    """The tests that are chosen by a mark, and perhaps by a word."""
    (tmp_path / "test_sampling.py").write_text(SAMPLED)
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text())

    def choose(mark: str, word: str = "") -> set[str]:
        words = ["-q", "-p", "no:cacheprovider", "--collect-only", "-m", mark, "-k", word]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        return set(re.findall(r"::(test_\w+\[\w+\])$", done.stdout, re.MULTILINE))

    return choose


def test_a_few_are_short_and_none_is_lost(chosen):
    short, long = chosen("not long"), chosen("long")
    assert [sum(name.startswith(test) for name in short) for test in ("test_a", "test_b", "test_c")] == [2, 1, 3]
    assert not short & long
    assert len(short | long) == 8 + 3 + 3


def test_the_same_ones_are_drawn_whatever_else_runs(chosen):
    short = chosen("not long")
    assert chosen("not long", "test_a") == {name for name in short if name.startswith("test_a")}
    assert short == chosen("not long")
