"""What is typed as a cost: with a decimal comma too, in the command line and on the page."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from celosia.cli.main import run
from celosia.errors import CelosiaError
from celosia.gateway.site.view import price

DECLARATION = """
name = "small"
epsilon = 1.0
[tables.person]
source = "person.csv"
[tables.person.columns]
age = {type = "integer", bounds = [0, 100]}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "person.csv").write_text("age\n30\n40\n")
    (tmp_path / "dataset.toml").write_text(DECLARATION)
    return tmp_path


def test_the_command_line_reads_a_decimal_comma(place, capsys):
    assert run(["query", "SELECT COUNT(*) FROM person", "--epsilon", "0,2", "--explain", "--json"]) == 0
    assert '"epsilon": 0.2' in capsys.readouterr().out


@pytest.mark.parametrize(("text", "message"), [("1,000", "Write 1.000 or 1000."), ("much", "must be a number")])
def test_the_command_line_says_what_it_cannot_read(place, capsys, text, message):
    assert run(["query", "SELECT COUNT(*) FROM person", "--epsilon", text, "--explain"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


PURE = SimpleNamespace(facts=SimpleNamespace(measure="pure"))
"""Stands for a gateway whose data set counts in epsilon."""


def test_the_page_reads_a_decimal_comma():
    assert price(PURE, "0,2", "") == {"epsilon": 0.2, "delta": 0.0}
    assert price(PURE, "0.2", "1e-6") == {"epsilon": 0.2, "delta": 1e-6}


@pytest.mark.parametrize("text", ["", "0", "-1", "inf", "nan", "1_0", "1,2,3", "٣"])
def test_the_page_refuses_what_is_no_cost(text):
    with pytest.raises(CelosiaError, match=r"epsilon must be a number above 0, such as 0\.1, got"):
        price(PURE, text, "")
