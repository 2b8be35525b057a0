"""The introduction to privacy: every table and exercise comes out or is explained; nothing stands by itself."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from celosia.experiments import experiment
from celosia.experiments.statements import printed_tables
from celosia.experiments.textbook import disclosure, losses, masking
from celosia.risk.attacker_knows import AttackerKnows


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("textbook")
    report = experiment("textbook")(out)
    assert json.loads((out / "textbook.json").read_text())["counts"] == report["counts"]
    html = (out / "textbook.html").read_text()
    assert html.count("<svg") == 6
    assert "http" not in html, "the page opens offline"
    return report


def test_every_table_from_2_to_26(report):
    places = {statement["where"] for statement in report["statements"]}
    tables = {int(n) for place in places for n in re.findall(r"Table (\d+)", place)}
    # 12 and 14 list measures and methods, 15 is the input of 16, 23 and 24 are the first exercise, 25 the input of 26
    assert tables == set(range(2, 27)) - {12, 14, 15, 23, 24, 25}
    assert "Exercise 1" in places


def test_printed_numbers_come_out_or_are_explained(report):
    differing = {(s["where"], s["what"]): s["why"] for s in report["statements"] if not s["agrees"]}
    assert set(differing) == {
        ("Table 3", "chance: a woman"),
        ("Table 6", "entropy of the writers, first place"),
        ("Table 13", "row 3, tree on the original"),
        ("Table 16", "k"),
        ("Table 17", "noise variance for age, p = 0.5"),
    }
    assert all(differing.values())
    assert report["counts"]["printed"] == {"checked": 74, "come out": 69, "differ": 5}


CHANGES = {
    "table02": ("Occupation", "Painter", 3),
    "table03": ("Sex", "F", 0),
    "table04": ("ZIP", "80123", 0),
    "table05": ("Income", "29000", 3),
    "table06": ("Income", "30000", 0),
    "table07": ("age", "52", 0),
    "table08": ("Probability", "0.35", 1),
    "table10": ("y1", "900", 0),
    "table11": ("y3", "0", 0),
    "table13": ("Petal.Width", "2.2", 0),
    "table15": ("ZIP", "97222", 0),
    "table16": ("Age", "[10, 29]", 0),
    "table17": ("age", "99", 0),
    "table20": ("ill", "0", 0),
    "table21": ("swapped", "30", 0),
    "table22": ("value", "12", 0),
    "table23": ("Occupation", "Sports", 1),
    "table25": ("y2", "1", 0),
    "table26": ("X'", "9", 0),
}


def test_every_table_is_changed_once():
    assert set(CHANGES) | {"table24"} == set(printed_tables("textbook"))  # 24 gives the names of exercise 1 only


@pytest.mark.parametrize("name", CHANGES)
def test_no_number_stands_by_itself(name):
    tables = printed_tables("textbook")
    column, value, at = CHANGES[name]
    cells = [value if i == at else cell for i, cell in enumerate(tables[name][column])]
    assert cells != tables[name][column].to_list()
    changed = {**tables, name: tables[name].with_columns(pl.Series(column, cells))}
    parts = [
        disclosure.knowledge, disclosure.anonymity, disclosure.diversity, disclosure.means, disclosure.coins,
        disclosure.linkage, disclosure.emperors, disclosure.exercise_one, masking.generalisation, masking.swapping,
        masking.microaggregation, losses.divergence, losses.exercise_two,
        *((masking.noise,) if name == "table17" else ()), *((losses.iris,) if name == "table13" else ()),
    ]  # fmt: skip

    def results(given):
        return [(s.what, s.stated, s.computed) for part in parts for s in part(given)]

    assert results(changed) != results(tables)


def test_the_interval_of_a_number_is_learnt():
    table = disclosure.read(printed_tables("textbook")["table05"], disclosure.KEYS, "Income")
    writer = AttackerKnows(known={"ZIP": "97222"})
    assert writer.intervals(table) == {"Income": (23000.0, 28000.0)}
    assert writer.evidence(table)["narrowed"] == {"Income": pytest.approx(5 / 18)}
    nobody = AttackerKnows(known={"ZIP": "00000"})
    assert nobody.intervals(table) == {}
    assert nobody.evidence(table)["narrowed"] == {}
