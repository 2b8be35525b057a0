"""What a shell offers after a tab, asked as a shell asks; and what the help shows."""

from __future__ import annotations

import re

import pytest

from celosia.cli.main import app, run


def offered(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The words that bash gets for a line that ends where the cursor is."""
    given = f"celosia {words}".split(" ")
    monkeypatch.setenv("_CELOSIA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(given))
    monkeypatch.setenv("COMP_CWORD", str(len(given) - 1))
    with pytest.raises(SystemExit):
        app(args=[], prog_name="celosia")
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("ini", {"init"}),
        ("protect mic", {"microaggregate"}),
        ("protect microaggregate --agg", {"--aggregate"}),
        ("protect microaggregate --aggregate me", {"mean", "median", "medoid"}),
        ("protect no-such-method --", set()),
        ("parts me", {"mechanism", "method"}),
        ("parts method mic", {"microaggregate"}),
        ("parts nothing mic", set()),
        ("run policy.toml --engine d", {"duckdb"}),
        ("gateway se", {"serve"}),
    ],
)
def test_a_tab_offers_what_fits(words, wanted, monkeypatch, capsys):
    listed = offered(words, monkeypatch, capsys)
    assert wanted <= set(listed), listed
    assert len(listed) <= len(wanted) + 1, "and little else"


def test_a_tab_after_two_hyphens_offers_all_options_of_the_method(monkeypatch, capsys):
    assert {"--k", "--columns", "--distance", "--out", "--quasi"} <= set(
        offered("protect microaggregate --", monkeypatch, capsys)
    )


@pytest.mark.parametrize("words", [[], ["run"], ["protect", "microaggregate"], ["consent"], ["gateway", "serve"]])
def test_the_help_shows_no_type_after_a_flag(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run([*words, "--help"]) == 0
    printed = capsys.readouterr().out
    assert "bool" not in printed
    assert re.search(r"--help +-h +Show this message", printed)


def test_the_help_of_a_method_groups_its_options_and_tells_defaults(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["protect", "microaggregate", "--help"]) == 0
    printed = capsys.readouterr().out
    for heading in ("Parameters of microaggregate", "What the columns are", "How it is read", "What is written"):
        assert f"─ {heading} ─" in printed
    assert "smallest group size (default 3)" in printed
    assert "``" not in printed
    assert run(["--help"]) == 0
    assert "─ The main job ─" in capsys.readouterr().out
