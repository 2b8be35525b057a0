"""What a notebook shows, asked of a real kernel of Jupyter."""

from __future__ import annotations

import re
from typing import Any

import pytest

CELLS = [
    """
import polars as pl, celosia, time
from celosia.parts.progress import advance
people = pl.DataFrame({"name": ["Ana", "Pau", "Ona", "Jan"], "age": [31, 31, 47, 47]})
table = celosia.read(people, celosia.Schema.of(identifiers=["name"], quasi=["age"]))
table
""",
    "celosia.suggest(people)",
    "celosia.assess(table, ['k-anonymity(k=2)'])",
    "celosia.assess(table).plot()",
    """
import celosia.methods
from celosia.show import notebook
notebook.PATIENCE = 0.0
safe = celosia.protect(table, "drop", "round(base=10)")
safe
""",
    "print(repr(table))",
]


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def html(cell: list[Any]) -> str:
    return "".join(each["data"].get("text/html", "") for each in cell if "data" in each)


def test_a_table_shows_rows_roles_and_a_few_rows(outputs: list[list[Any]]) -> None:
    page = html(outputs[0])
    assert "4 rows × 2 columns" in page
    assert "identifier" in page
    assert "<td>Ana</td>" in page
    assert "Ana" in outputs[5][0]["text"], "somebody sits before it: the prompt shows rows too"


def test_suggestions_and_an_assessment_are_tables(outputs: list[list[Any]]) -> None:
    assert "Suggested roles" in html(outputs[1])
    assert "k-anonymity" in html(outputs[2])
    assert "yes" in html(outputs[2])


def test_a_plot_is_drawn_without_a_script(outputs: list[list[Any]]) -> None:
    page = html(outputs[3])
    assert "<svg" in page
    assert "<script" not in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_progress_is_shown_unasked_and_taken_away(outputs: list[list[Any]]) -> None:
    shown = [each for each in outputs[4] if each["output_type"] == "display_data"]
    assert shown, "a bar was there"
    assert html(shown) == "", "and is gone when the work is done"
