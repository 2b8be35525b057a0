"""A release that holds because a column, or everything, is suppressed: the terminal and the first page say so."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.release.report import render
from celosia.show.blocks import short_release_blocks

STEPS = {
    "one column": {"use": "recode", "column": "age", "level": 2},
    "everything": {"use": "generalise", "levels": {"age": 2, "sex": 1}, "require": ["k-anonymity(k=12)"]},
}


@pytest.mark.parametrize("language", ["en", "es", "ca"])
@pytest.mark.parametrize("what", STEPS)
def test_columns_with_nothing_left_are_named(tmp_path, what, language):
    pl.DataFrame({"sex": ["f", "m"] * 6, "age": range(12)}).write_parquet(tmp_path / "in.parquet")
    policy = {
        "input": {"path": str(tmp_path / "in.parquet")},
        "schema": {"quasi": ["sex", "age"], "hierarchies": {"age": "intervals(width=5)"}},
        "require": ["k-anonymity(k=6)"],
        "step": [STEPS[what]],
        "output": {"path": str(tmp_path / "out.csv"), "report": False},
    }
    release = celosia.run(celosia.Policy.of(policy))
    assert release.holds
    verdict = short_release_blocks(release)[0].title
    page = render(release, edition="external", language=language)
    first = page[: page.index('id="requirements"')]
    nothing = {"en": "Nothing left of", "es": "No queda nada de", "ca": "No queda res de"}[language]
    names = "age" if what == "one column" else "sex, age"
    assert f"{nothing}: {names}." in first
    if what == "one column":
        assert verdict == "Every requirement holds. Nothing is left of: age (every cell is suppressed)."
    else:
        assert verdict.startswith("The requirements hold only because nothing is left")
        assert "(sex, age)" in verdict


def first_page(release, edition="external"):
    page = render(release, edition=edition, language="en")
    return page[: page.index('id="requirements"')]


def made(tmp_path, **sections):
    rows = {"sex": ["f", "m"] * 20, "age": range(40), "ill": ["a", "b", "b", "c"] * 10, "pay": range(100, 140)}
    pl.DataFrame(rows).write_parquet(tmp_path / "in.parquet")
    hierarchies = {"age": "intervals(width=20)"}
    policy = {
        "input": {"path": str(tmp_path / "in.parquet")},
        "schema": {"quasi": ["sex", "age"], "sensitive": ["ill"], "hierarchies": hierarchies},
        "require": ["k-anonymity(k=10)"],
        "step": [{"use": "recode", "column": "age", "level": 1}],
        "output": {"path": str(tmp_path / "out.csv"), "report": False},
    }
    return celosia.run(celosia.Policy.of({**policy, **sections}))


def test_losses_are_counted_over_the_original(tmp_path):
    release = made(tmp_path)
    left = release.remaining
    # four columns: sex and ill as they were, every age changed, pay left out
    assert (left.columns, left.dropped, left.empty) == (4, ("pay",), ())
    assert (left.changed, left.unchanged) == (0.25, 0.5)
    page = first_page(release, "internal")
    numbers = [page.index(f"<dt>{value}</dt><dd>{label}") for value, label in (
        ("1", "columns left out, of 4"),
        ("0", "columns with nothing left"),
        ("25 %".replace(" ", "\u00a0"), "of all cells changed"),
        ("50 %".replace(" ", "\u00a0"), "of all cells as they were"),
    )]  # fmt: skip
    assert numbers == sorted(numbers)
    assert "Of 4 columns 1 left out (pay), 0 with nothing left; of all cells 25 % changed, 50 % as they were." in [
        block.title.partition(". ")[2] for block in short_release_blocks(release)
    ]


def test_a_column_whose_cells_were_all_blanked_is_empty(tmp_path):
    blanked = {"use": "suppress-cells", "columns": ["age"], "where": "age >= 0"}
    assert made(tmp_path, step=[blanked]).remaining.empty == ("age",)


def test_columns_to_keep_are_named_by_what_became_of_them(tmp_path):
    release = made(tmp_path, purpose={"keep": ["age", "ill", "pay"]})
    for edition, lost in (("internal", "pay"), ("external", "1 that are left out")):
        page = first_page(release, edition)
        assert "To be kept, and as they were: ill." in page
        assert "To be kept, and coarser or changed: age." in page
        assert f"To be kept, and LOST: {lost}." in page
    assert "pay" not in first_page(release), "a column header may be a person's name"
    assert "Columns to keep, as they were: ill; coarser or changed: age; LOST: pay." in [
        block.title for block in short_release_blocks(release)
    ]


def test_a_sensitive_column_without_requirement_stands_beside_the_verdict(tmp_path):
    release = made(tmp_path)
    add = '[[require]] use = "l-diversity", l = 2, column = "ill"'
    sentence = short_release_blocks(release)[1].title
    assert sentence == f"No requirement limits what a class discloses about: ill. Add: {add}"
    assert "ill: sensitive, and no requirement" in first_page(release)
    protected = made(
        tmp_path,
        require=["k-anonymity(k=10)", {"use": "l-diversity", "l": 2, "column": "ill"}],
        output={"path": str(tmp_path / "other.csv"), "report": False},
    )
    assert protected.unprotected == ()
    assert "no requirement limits" not in first_page(protected)


def test_a_release_of_which_nothing_is_left_ends_with_exit_code_3(tmp_path, capsys):
    pl.DataFrame({"sex": ["f", "m"] * 6, "age": range(12)}).write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(
        '[input]\npath = "in.csv"\n[schema]\nquasi = ["sex", "age"]\n[[require]]\nuse = "k-anonymity"\nk = 12\n'
        '[[step]]\nuse = "local-generalise"\n[output]\npath = "out.csv"\n'
    )
    assert command(["run", str(tmp_path / "policy.toml")]) == 3
    assert capsys.readouterr().out.startswith("The requirements hold only because nothing is left")
