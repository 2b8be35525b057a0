"""How tables, schemas and results look when they are printed; what a log never gets."""

from __future__ import annotations

import logging
import subprocess
import sys

import polars as pl
import pytest

import celosia

PEOPLE = pl.DataFrame({"name": ["Ana", "Pau", "Ona", "Jan"], "age": [31, 31, 47, 47], "note": ["a", "b", "c", "d"]})
SCHEMA = celosia.Schema.of(identifiers=["name"], quasi=["age"])


def table() -> celosia.Table:
    return celosia.read(PEOPLE, SCHEMA)


def declared() -> celosia.Table:
    return celosia.read(PEOPLE, celosia.Schema.of(identifiers=["name"], quasi=["age"], insensitive=["note"]))


def test_a_table_tells_its_size_steps_and_roles() -> None:
    assert repr(table()).splitlines() == [
        "Table: 4 rows × 3 columns on polars",
        "  identifier  name",
        "  quasi       age",
        "  no role     note",
    ]
    assert repr(table().protect("drop")).startswith("Table: 4 rows × 2 columns on polars, after drop")


def test_no_cell_gets_into_a_log_or_a_message(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        logging.getLogger("somebody").info("%s %r", table(), celosia.assess(table()))
    assert "4 rows" in caplog.text
    assert not any(name in caplog.text for name in PEOPLE["name"])


def test_who_sits_at_the_prompt_sees_a_few_rows() -> None:
    code = "import polars as pl, celosia\ncelosia.read(pl.DataFrame({'name': ['Ana'] * 90, 'age': [31] * 90}))\n"
    done = subprocess.run([sys.executable, "-i", "-q"], input=code, capture_output=True, text=True, check=False)
    assert "Table: 90 rows × 2 columns" in done.stdout
    assert done.stdout.count("Ana") == 5


def test_a_notebook_gets_a_few_rows_and_no_markup_of_the_data() -> None:
    page = celosia.read(pl.DataFrame({"x": ["<script>"] * 20}))._repr_html_()
    assert page.count("&lt;script&gt;") == 5
    assert "<script>" not in page


def test_a_schema_is_shown_as_it_is_written() -> None:
    given = celosia.Schema.of(
        identifiers=["name"], quasi=["age"], kinds={"age": "numeric"}, bounds={"age": (0, 120)},
        hierarchies={"age": "intervals(width=10)"},
    )  # fmt: skip
    assert eval(repr(given), {"Schema": celosia.Schema}) == given
    assert "identifier" in given._repr_html_()


def test_results_print_as_tables() -> None:
    safe = declared().protect("round(base=10)")
    assessment = safe.assess(["k-anonymity(k=2)"])
    assert "k at least 2" in str(assessment)
    assert "What was lost" in str(safe.compare())
    assert "NOT a verdict" in str(celosia.assess(PEOPLE))
    assert "Suggested roles" in str(celosia.suggest(PEOPLE))
    frontier = table().explore(["round(columns=age, base=10)"], seeds=1, seed=1)
    assert "The frontier" in str(frontier)


def test_verbs_follow_one_another() -> None:
    safe = declared().protect("drop", "round(base=10)", seed=1)
    assert safe.polars()["age"].to_list() == [30, 30, 50, 50]
    assert safe.assess(["k-anonymity(k=2)"]).holds
    assert safe.compare(["altered-records"]).losses[0].value == 1.0


def test_pictures_show_before_and_after_and_are_saved_as_a_page(tmp_path) -> None:
    safe = table().protect("drop", "round(base=10)", seed=1)
    classes = safe.assess().plot()._repr_html_()
    assert "--s0:#" in classes, "the colours of the report come with it"
    assert "before" in classes
    assert "after" in classes
    columns = safe.compare().plot()
    assert len(columns.figures) == 2, "name is gone"
    assert len(safe.compare().plot("age").figures) == 1
    page = columns.save(tmp_path / "columns.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Ana" not in page
    frontier = table().explore(["round(columns=age, base=10)"], seeds=1, seed=1)
    assert "<svg" in frontier.plot()._repr_html_()


def test_suggestions_are_a_schema_to_begin_with() -> None:
    assert celosia.suggest(PEOPLE.drop("note")).schema.identifiers == ("name",)


def test_what_people_need_is_what_is_listed() -> None:
    listed = dir(celosia)
    assert {"read", "protect", "assess", "compare", "explore", "run", "report", "suggest", "write"} <= set(listed)
    assert all(getattr(celosia, name) is not None for name in listed)
    public = [name for name in dir(table()) if not name.startswith("_")]
    assert {"protect", "assess", "compare", "explore", "write", "report", "frame", "polars"} <= set(public)
    assert all(hasattr(table(), name) for name in public)
    assert "secrets" not in public
