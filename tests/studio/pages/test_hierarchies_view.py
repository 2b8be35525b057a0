"""Hierarchies by hand: trees, breaks, counts per level."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import celosia
from celosia.errors import ParameterError
from celosia.hierarchy import Levels, hierarchy
from celosia.studio.pages.hierarchies.editor import apply_action, build_forest, initial_entries, read_form
from celosia.studio.pages.hierarchies.tree import Forest
from celosia.studio.pages.hierarchies.view import Values, breaks_of, histogram, levels_view, starting_point

JOBS = {"arts": ["writer", "dancer"], "law": ["judge"], "smith": []}
COUNTS = {"writer": 5, "dancer": 1, "judge": 3, "smith": 2}


def values(data, name="x"):
    return Values.of(celosia.read(pl.DataFrame({name: data})), name)


def test_a_tree_knows_the_records_under_each_name():
    made = Forest.of(JOBS, {**COUNTS, "cook": 4})
    assert [(b.name, b.place, b.records, b.values) for b in made.children] == [
        ("arts", "0", 6, 2),
        ("law", "1", 3, 1),
        ("smith", "2", 2, 1),
    ]
    assert made.uncovered == ("cook",)
    assert made.cover().spec() == {**JOBS, "cook": []}
    assert made.spec() == JOBS


def test_a_value_moves_to_another_group_and_an_empty_group_goes():
    made = Forest.of(JOBS, COUNTS)
    assert made.move(["0.1"], "1").spec() == {"arts": ["writer"], "law": ["judge", "dancer"], "smith": []}
    assert made.move(["1.0"], "0").spec() == {"arts": ["writer", "dancer", "judge"], "smith": []}
    assert made.move(["0.0"], "").spec() == {"arts": ["dancer"], "law": ["judge"], "smith": [], "writer": []}
    assert made.move(["0.0"], "0").spec() == {"arts": ["dancer", "writer"], "law": ["judge"], "smith": []}
    assert made.move(["1.0"], "1").spec() == JOBS, "the only member stays where it is"


def test_several_move_at_once_whatever_their_order():
    made = Forest.of(JOBS, COUNTS)
    assert made.move(["2", "0.0"], "1").spec() == {"arts": ["dancer"], "law": ["judge", "writer", "smith"]}
    assert made.move(["1", "2"], "0").spec() == {
        "arts": {"writer": [], "dancer": [], "law": ["judge"], "smith": []},
    }


def test_groups_are_made_renamed_and_dissolved():
    made = Forest.of(JOBS, COUNTS)
    both = made.group(["0", "2"], "crafts")
    assert both.spec() == {"crafts": {"arts": ["writer", "dancer"], "smith": []}, "law": ["judge"]}
    assert both.at("0").records == 8
    assert made.group(["0.1", "1.0"], "some").spec() == {
        "arts": {"writer": [], "some": ["dancer", "judge"]},
        "smith": [],
    }
    assert made.rename("1", " legal ").spec() == {"arts": ["writer", "dancer"], "legal": ["judge"], "smith": []}
    assert both.dissolve("0").spec() == {"arts": ["writer", "dancer"], "smith": [], "law": ["judge"]}


@pytest.mark.parametrize(
    ("do", "sentence"),
    [
        (lambda f: f.move(["0"], "0.0"), "into itself"),
        (lambda f: f.move(["1"], "2"), "cannot hold others"),
        (lambda f: f.move(["7"], ""), "no place '7'"),
        (lambda f: f.move(["x"], ""), "numbers with dots"),
        (lambda f: f.move(["0", "0.1"], ""), "both ticked"),
        (lambda f: f.group(["0"], "n"), "at least two"),
        (lambda f: f.group(["0", "1"], " "), "1 to 200"),
        (lambda f: f.group(["0", "1"], "law"), "that name already"),
        (lambda f: f.rename("0", "law"), "that name already"),
        (lambda f: f.rename("0", "smith"), "one parent"),
        (lambda f: f.rename("2", "n"), "keeps its name"),
        (lambda f: f.dissolve("2"), "cannot be dissolved"),
    ],
)
def test_what_a_tree_refuses_it_says(do, sentence):
    with pytest.raises(ParameterError, match=sentence):
        do(Forest.of(JOBS, COUNTS))


def test_no_refusal_tells_a_value():
    secret = Forest.of({"g": ["4111-secret"], "4111-other": []}, {})
    for do in (
        lambda: secret.move(["0"], "1"),
        lambda: secret.rename("0", "4111-other"),
        lambda: secret.rename("1", "x"),
    ):
        with pytest.raises(ParameterError) as refused:
            do()
        assert "4111" not in str(refused.value)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 6)), max_size=8))
def test_whatever_is_moved_every_value_stays_once_and_the_levels_nest(moves):
    made = Forest.of({"a": ["1", "2"], "b": {"c": ["3"], "d": ["4", "5"]}, "6": []}, dict.fromkeys("123456", 1))
    for source, target in moves:
        every = [b.place for b in _all(made.children)]
        try:
            made = made.move([every[source % len(every)]], "" if target < 0 else every[target % len(every)])
        except ParameterError:
            continue
        levels = hierarchy({"use": "tree", "tree": made.spec()}).levels(list("123456"))
        assert set(levels.values) == set("123456")
        assert sum(b.records for b in made.children) == 6


def _all(branches):
    return [b for branch in branches for b in (branch, *_all(branch.children))]


def test_any_hierarchy_becomes_a_tree_with_the_same_labels():
    levels = Levels.of(["a", "b", "c"], [["a", "a", "c"], ["*", "*", "*"]])
    assert Forest.of_levels(levels).spec() == {"a": ["a", "b"], "c": []}, "a group may be named after a member"
    codes = values(["13053", "13068", "14853", "14850"])
    made = build_forest(codes, hierarchy("prefixes(masked=[2, 3])"))
    again = hierarchy({"use": "tree", "tree": made.spec()}).levels(codes.texts)
    before = hierarchy("prefixes(masked=[2, 3])").levels(codes.texts)
    assert [again.labels(level) for level in range(4)] == [before.labels(level) for level in range(4)]


def test_counts_per_level_are_those_of_the_data():
    column = values(["13053"] * 3 + ["13068"] * 2 + ["14853"] + [None])
    found = levels_view(column, hierarchy("prefixes(masked=[2])"))
    assert (found.records, found.missing) == (6, 1)
    assert [(row.labels, row.smallest, row.largest, row.small) for row in found.rows] == [
        (3, 1, 3, 3),
        (2, 1, 5, 1),
        (1, 6, 6, 0),
    ]
    assert [(label.label, label.records) for label in found.rows[1].shown] == [("130**", 5), ("148**", 1)]


def test_a_histogram_holds_every_number_once():
    column = values([float(i % 97) + 0.5 for i in range(5000)])
    found = histogram(column)
    assert sum(found.counts) == 5000
    assert found.low == 0.5
    assert histogram(values(["a", "b"])) is None
    assert histogram(values(["1", "2", "x"])).others == 1


def test_breaks_come_from_widths_quantiles_and_bounds():
    column = values([18, 25, 33, 47, 62, 90])
    assert breaks_of(column, hierarchy("intervals(width=20)")) == (20, 40, 60, 80)
    assert breaks_of(column, hierarchy("intervals(width=20, bottom=30, top=70)")) == (30, 50, 70)
    assert len(breaks_of(column, hierarchy("intervals(quantiles=3)"))) == 2
    assert initial_entries(column, hierarchy("intervals(breaks=[30.5])")) == ["30.5"]
    assert initial_entries(values(["abc", "ab"]), hierarchy("prefixes")) == ["1", "2"]


def test_a_form_becomes_a_hierarchy():
    sent = {"use": "intervals", "breaks": ["50", "30", ""], "width": "5", "fallback": "*", "style": "half-open"}
    assert read_form(sent) == {"use": "intervals", "breaks": [30, 50], "fallback": "*"}
    assert read_form({"use": "dates", "units": ["month", "year"]}) == {"use": "dates", "units": ["month", "year"]}
    with pytest.raises(ParameterError, match="must be a number"):
        read_form({"use": "intervals", "breaks": ["thirty"]})
    with pytest.raises(ParameterError, match="choose an action"):
        apply_action(Forest.of(JOBS, COUNTS), {"do": "explode", "place": "0"})
    with pytest.raises(ParameterError, match="tick one group"):
        apply_action(Forest.of(JOBS, COUNTS), {"do": "rename", "place": ["0", "1"], "name": "n"})


def test_a_first_hierarchy_suits_the_kind():
    assert starting_point(values(["b", "a"]), "nominal") == {"use": "tree", "tree": {"a": [], "b": []}}
    assert starting_point(values(["2020-01-01"]), "date")["use"] == "dates"
