"""What commands print: short by default and ending in what to open, all with --details, nothing in LaTeX."""

from __future__ import annotations

import inspect
import re

import pytest

from celosia.cli.main import run
from celosia.parts import kinds, parts
from celosia.show.formulas import plain_docs, unicode_formula


@pytest.fixture
def demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--persons", "1500"]) == 0
    return capsys.readouterr().out


def test_a_release_is_told_in_short_and_ends_in_what_to_open(demo, capsys):
    lines = demo.splitlines()
    assert lines[0] == "Every requirement holds. Nothing is left of: birth_date (every cell is suppressed)."
    assert lines[-1] == "open demo/release.report.html"
    assert len(lines) < 30
    heading = next(line for line in lines if "measure" in line)
    assert heading.index("before") < heading.index("after")
    assert re.search(r"prosecutor .* 100 % .* 20 %", demo), "shares are percentages"
    assert re.search(r"domain-loss .* 0 % ", demo), "what was lost stands beside what an unchanged file has"
    assert run(["run", "demo/policy.toml"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert run(["run", "demo/policy.toml", "--overwrite", "--details"]) == 0
    details = capsys.readouterr().out
    assert details.splitlines()[-1] == "open demo/release.report.html"
    for text in ("What happened to the columns", "prosecutor in detail", "what it means"):
        assert text in details
        assert text not in demo


def test_an_assessment_and_a_comparison_are_told_in_short(demo, capsys):
    assert run(["assess", "demo/policy.toml"]) == 3
    assert "in detail" not in capsys.readouterr().out
    assert run(["assess", "demo/policy.toml", "--details"]) == 3
    assert "prosecutor in detail" in capsys.readouterr().out
    assert run(["compare", "demo/policy.toml", "demo/release.csv"]) == 0
    assert "what it means" not in capsys.readouterr().out
    assert run(["compare", "demo/policy.toml", "demo/release.csv", "--details"]) == 0
    assert "what it means" in capsys.readouterr().out


def test_the_internal_report_shows_the_map_of_an_exploration(tmp_path, capsys):
    rows = "".join(f"{20 + i % 40},{1000 + 13 * i}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("age,income\n" + rows)
    (tmp_path / "policy.toml").write_text(
        "[input]\npath = 'people.csv'\n[schema]\nquasi = ['age', 'income']\n"
        "[schema.kinds]\nage = 'numeric'\nincome = 'numeric'\n"
        "[[step]]\nuse = 'microaggregate'\ncolumns = ['age', 'income']\nk = 5\n"
        "[explore]\nstore = 'tried.jsonl'\nseeds = 1\ncandidate = ['microaggregate(columns=[age, income], k=3)', "
        "'microaggregate(columns=[age, income], k=10)']\n[output]\npath = 'safe.csv'\n"
    )
    assert run(["run", str(tmp_path / "policy.toml")]) == 0
    assert "What else was tried" not in (tmp_path / "safe.internal.html").read_text(), "nothing was tried"
    assert run(["explore", str(tmp_path / "policy.toml"), "--workers", "1"]) in {0, 3}
    assert run(["run", str(tmp_path / "policy.toml"), "--overwrite"]) == 0
    inside = (tmp_path / "safe.internal.html").read_text()
    assert inside.count("What else was tried") == 2, "in the contents and above the map"
    assert "k=10" in inside
    assert "What else was tried" not in (tmp_path / "safe.report.html").read_text()
    capsys.readouterr()


def test_a_part_is_shown_with_defaults_bounds_and_units(capsys):
    assert run(["parts", "method", "microaggregate"]) == 0
    page = capsys.readouterr().out
    assert "|Gᵢ| ≥ k" in page
    assert "k: smallest group size (default 3, at least 2)" in page
    assert run(["parts", "model", "l-diversity"]) == 0
    assert "counted (default distinct, one of distinct, entropy, recursive)" in capsys.readouterr().out
    assert run(["parts", "loss", "precision"]) == 0
    assert "value: a share of 1, shown as a percentage" in capsys.readouterr().out


@pytest.mark.parametrize("kind", list(kinds()))
def test_no_page_of_a_part_has_latex(kind):
    for name, part in parts(kind).items():
        page = plain_docs(inspect.cleandoc(part.__doc__ or "").partition(">>>")[0])
        assert not re.search(r"\\[a-zA-Z{]|:math:|\.\. math|``|%s", page), name


def test_a_fraction_keeps_its_meaning_in_one_line():
    assert unicode_formula(r"\frac{a + b}{c}") == "(a + b)/c"
    assert unicode_formula(r"\frac{1}{n m}") == "1/(n m)"
    assert unicode_formula(r"\tfrac12 x^{n+1}_{ij}") == "1/2 xⁿ⁺¹ᵢⱼ"
    assert unicode_formula(r"\{1, \dots, k\}") == "{1, …, k}"
