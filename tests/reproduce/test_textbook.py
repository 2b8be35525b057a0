"""The introduction to privacy: every table and exercise comes out or is explained; nothing stands by itself."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from celosia.risk.attacker_knows import AttackerKnows
from celosia_reproduce import experiment
from celosia_reproduce.statements import printed_tables
from celosia_reproduce.textbook import disclosure, exercises, figures, losses, masking


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("textbook")
    report = experiment("textbook")(out)
    assert json.loads((out / "textbook.json").read_text())["counts"] == report["counts"]
    html = (out / "textbook.html").read_text()
    assert html.count("<svg") == 6
    assert "http" not in html, "the page opens offline"
    return report


def test_every_table_from_2_to_26_and_every_exercise(report):
    places = {statement["where"] for statement in report["statements"]}
    tables = {int(n) for place in places if "Table" in place for n in re.findall(r"\d+", place.partition("Table")[2])}
    assert tables == set(range(2, 27)) - {15, 25}  # the inputs of 16 and of 26
    exercises = {place.partition(" (")[0] for place in places if place.startswith("Exercise")}
    assert exercises == {"Exercise 1", "Exercise 3", "Exercise 4"}  # the second is Table 26


def test_printed_numbers_come_out_or_are_explained(report):
    differing = {(s["where"], s["what"]): s["why"] for s in report["statements"] if not s["agrees"]}
    assert set(differing) == {
        ("Table 3", "chance: a woman"),
        ("Table 6", "entropy of the writers, first place"),
        ("Table 13", "row 3, tree on the original"),
        ("Table 16", "k"),
        ("Table 17", "noise variance for age, p = 0.5"),
        ("Exercise 1 (Tables 23 and 24)", "his marital status"),
    }
    assert all(differing.values())
    assert report["counts"]["printed"] == {"checked": 82, "come out": 76, "differ": 6}
    assert report["counts"]["derived"] == {"checked": 35, "come out": 35, "differ": 0}
    assert report["counts"]["consistency"] == {"checked": 5, "come out": 5, "differ": 0}


def test_the_documentation_has_these_counts(report, as_documented):
    as_documented("textbook", report)


def test_the_steps_of_mdav_are_drawn_in_their_order():
    """Ten records in groups of three: {1, 2, 3}, then {8, 9, 10}, then what is left; each a bracket, higher each time."""
    two, three = figures.steps(printed_tables("textbook")).figures
    paths = re.findall(r'<path class="step" d="(.*?)"', three)
    legs = [sorted({float(x) for x in re.findall(r"M([\d.]+) ", path)}) for path in paths]
    place = {round(54 + i * 372 / 9, 1): i + 1 for i in range(10)}
    assert [[place[x] for x in leg] for leg in legs] == [[1, 2, 3], [8, 9, 10], [4, 5, 6, 7]]
    tops = [float(re.findall(r"V([\d.]+)", path)[0]) for path in paths]
    assert tops == sorted(tops, reverse=True)
    assert "squared error 783" in three
    assert "squared error 203" in two
    assert two.count('class="step"') == 5


def test_what_is_disclosed_of_a_person():
    frame = pl.DataFrame({"Income": ["1", "2", "2", "3"]})
    assert exercises.disclosed(frame, [1]) == "identity"
    assert exercises.disclosed(frame, [1, 2]) == "attribute"
    assert exercises.disclosed(frame, [0, 1, 3]) == "nothing"
    assert exercises.disclosed(frame, []) == "nothing"


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
    "table24": ("City", "Louisville (Kentucky)", 0),
    "table25": ("y2", "1", 0),
    "table26": ("X'", "9", 0),
}


def test_every_table_is_changed_once():
    assert set(CHANGES) == set(printed_tables("textbook"))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.sampled(8)
def test_no_number_stands_by_itself(name):
    tables = printed_tables("textbook")
    column, value, at = CHANGES[name]
    cells = [value if i == at else cell for i, cell in enumerate(tables[name][column])]
    assert cells != tables[name][column].to_list()
    changed = {**tables, name: tables[name].with_columns(pl.Series(column, cells))}
    parts = [
        disclosure.knowledge, disclosure.anonymity, disclosure.diversity, disclosure.means, disclosure.coins,
        disclosure.linkage, disclosure.emperors, exercises.teachers, exercises.covariances, exercises.categories, masking.generalisation, masking.swapping,
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
