"""What happened to the columns: from, to, an example that is no cell, and the share of cells that changed."""

from __future__ import annotations

import tomllib
from importlib import resources

import polars as pl
import pytest

import celosia
from celosia.table.changes import ENGLISH, column_changes

ROWS = 12


@pytest.fixture
def table(tmp_path):
    levels = tmp_path / "job.csv"
    levels.write_text("abbot;church;*\nnurse;health;*\ndoctor;health;*\n")
    frame = pl.DataFrame(
        {
            "born": [f"19{60 + i}-05-14" for i in range(ROWS)],
            "age": [30 + i for i in range(ROWS)],
            "zip": ["13053", "13068"] * (ROWS // 2),
            "job": ["nurse", "doctor"] * (ROWS // 2),
            "flag": ["secret"] * ROWS,
            "pay": list(range(ROWS)),
        }
    ).with_columns(pl.col("born").str.to_date())
    schema = celosia.Schema.of(
        quasi=["born", "age", "zip", "job"],
        hierarchies={
            "born": "dates(units=[year, decade])",
            "age": "intervals(width=5, count=2)",
            "zip": "prefixes",
            "job": str(levels),
        },
    )
    return celosia.read(frame, schema)


def told(original, protected):
    return {
        c.name: (c.before.sentence(ENGLISH), c.after.sentence(ENGLISH), c.shown_example(), c.altered)
        for c in column_changes(original, protected)
    }


def test_by_hand(table):
    levels = {"born": 2, "age": 2, "zip": 2, "job": 1}
    safe = celosia.protect(
        table,
        celosia.methods.Generalise(require=["k-anonymity(k=1)"], levels=levels),
        celosia.methods.TopCode(columns=["pay"], value=9),
        celosia.methods.Drop(columns=["flag"]),
        seed=1,
    )
    found = told(safe.first, safe)
    assert found["born"] == ("day", "decade", "… → 1960s", 1.0)  # ten of twelve: the label that most records have
    assert found["age"][:2] == ("as it is", "ranges of 10")
    assert found["zip"] == ("as it is", "2 characters hidden", "… → 130**", 1.0)
    assert found["job"] == ("as it is", "level 1 of 2", "abbot → church", 1.0)  # of the declared table, in no record
    assert found["pay"][1] == "changed by top-code"
    assert found["pay"][3] == pytest.approx(2 / 12)
    assert found["flag"][1] == "left out"


def test_no_example_is_a_cell_of_the_data(table):
    safe = celosia.protect(table, celosia.methods.Generalise(require=["k-anonymity(k=3)"]), seed=1)
    cells = {str(value) for name in safe.first.names for value in safe.first.polars()[name].to_list()}
    for change in column_changes(safe.first, safe):
        assert change.example is None or not cells & {change.example[0], change.example[1]}


def test_an_unchanged_a_starred_and_a_mixed_column():
    rows = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]
    schema = celosia.Schema.of(quasi=["p", "q", "r"], hierarchies={"p": rows, "q": rows, "r": rows})
    original = celosia.read(pl.DataFrame({"p": [*"abc"], "q": [*"abc"], "r": [*"abc"]}), schema)
    safe = celosia.read(pl.DataFrame({"p": [*"abc"], "q": [*"***"], "r": ["x", "x", "c"]}), schema)
    found = told(original, safe)
    assert found["p"] == ("as it is", "as it is", "", 0.0)
    assert found["q"] == ("as it is", "nothing left (*)", "", 1.0)
    assert found["r"] == ("as it is", "levels 0 to 1", "", pytest.approx(2 / 3))


def test_cells_of_suppressed_records_alone_leave_a_column_as_it_is():
    frame = pl.DataFrame({"a": [*"aaaab"], "b": [*"xxxxx"]})
    table = celosia.read(frame, celosia.Schema.of(quasi=["a", "b"]))
    safe = celosia.protect(table, celosia.methods.Generalise(require=["k-anonymity(k=2)"], suppress=0.2), seed=1)
    assert told(safe.first, safe)["a"] == ("as it is", "as it is", "", pytest.approx(1 / 5))


def test_values_that_moved_between_records_were_changed_by_their_step():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    table = celosia.read(frame, celosia.Schema.of(quasi=["a"], kinds={"a": "numeric"}))
    safe = celosia.protect(table, celosia.methods.RankSwap(columns=["a"], window=0.5), seed=2)
    assert told(safe.first, safe)["a"][1] == "changed by rank-swap"


def test_the_notebook_shows_it_too(table):
    safe = celosia.protect(table, celosia.methods.Generalise(require=["k-anonymity(k=3)"]), seed=1)
    assert "What happened to the columns" in safe._repr_html_()
    assert "What happened" not in table._repr_html_()


def test_the_report_tells_english_as_the_terminal_does():
    words = resources.files("celosia.release.report") / "words"
    texts = {code: tomllib.loads((words / f"{code}.toml").read_text("utf-8")) for code in ("en", "es", "ca")}
    assert texts["en"]["detail"] == ENGLISH
    for code in ("es", "ca"):
        assert texts[code]["detail"].keys() == ENGLISH.keys()
        assert all(ENGLISH[form].count("{") == text.count("{") for form, text in texts[code]["detail"].items())
