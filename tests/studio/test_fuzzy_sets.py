"""Fuzzy sets without a browser: chains that stay partitions, the numbers they give, the edits they make."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import celosia
from celosia.errors import CelosiaError, DataError, InputError, ParameterError
from celosia.kernels.fuzzy import FuzzySet
from celosia.release.policy.policy import Policy
from celosia.studio.pages.fuzzy import edits
from celosia.studio.pages.fuzzy.chain import Chain, suggest
from celosia.studio.pages.fuzzy.pictures import sets_picture
from celosia.studio.pages.fuzzy.view import column_curve, column_view, joint_curve, places, sets_by_column
from celosia.studio.translations import words

AGES = {"Young": "(-inf;30;36)", "Adult": "(30;36;54;60)", "Old": "(54;60;inf)"}
TEXT = """[input]
path = "people.csv"   # mine

[schema]
quasi = ["age", "sex"]

[[require]]
use = "q-anonymity"
q = 2
sets = {age = {Young = "(-inf;30;36)", Adult = "(30;36;54;60)", Old = "(54;60;inf)"}}

[[step]]
use = "fuzzy-recode"
columns = ["age"]
"""


@pytest.fixture
def people():
    ages = [21, 24, 32, 36, 45, 56, 58, 62, 65]
    frame = pl.DataFrame({"age": ages, "sex": ["F"] * 5 + ["M"] * 4})
    return celosia.read(frame, celosia.Schema.of(quasi=["age", "sex"]))


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=12, unique=True).filter(lambda p: len(p) % 2 == 0))
def test_any_chain_is_a_partition_and_reads_back(points):
    chain = Chain(tuple(f"s{i}" for i in range(len(points) // 2 + 1)), tuple(map(float, sorted(points))))
    assert Chain.of(chain.sets()) == chain
    at = np.linspace(-1100, 1100, 501)
    total = sum(FuzzySet.parse(literal)(at) for literal in chain.sets().values())
    assert np.allclose(total, 1)


@given(st.integers(0, 3), st.floats(-100, 100))
def test_a_drag_goes_no_further_than_its_neighbours(position, value):
    chain = Chain(("a", "b", "c"), (10.0, 20.0, 30.0, 40.0))
    after = chain.move_point(position, value, 1.0)
    assert all(p == q for i, (p, q) in enumerate(zip(chain.points, after.points, strict=True)) if i != position)
    assert Chain.of(after.sets()).points == pytest.approx(after.points)  # still a partition


def test_what_is_no_chain_is_kept_as_it_is():
    assert Chain.of({"a": "{x, y}", "b": "{z}"}) is None
    assert Chain.of({"a": "(0;1;2)", "b": "(1;2;3)"}) is None  # nothing holds the values below 0
    assert Chain.of({"a": "(-inf;1;2)", "b": "(1;3;inf)"}) is None  # they do not cross at one half
    shuffled = dict(reversed(AGES.items()))
    assert Chain.of(shuffled).names == ("Young", "Adult", "Old")
    triangle = Chain.of({"l": "(-inf;0;5)", "m": "(0;5;9)", "h": "(5;9;inf)"})
    assert triangle.points == (0.0, 5.0, 5.0, 9.0)


def test_sets_are_split_removed_and_renamed():
    chain = Chain.of(AGES)
    assert chain.rename("Young", " Jung ").names == ("Jung", "Adult", "Old")
    assert chain.remove("Adult").sets() == {"Young": "(-inf;30;60)", "Old": "(30;60;inf)"}
    assert chain.remove("Young").names == ("Adult", "Old")
    split = chain.split("Adult", "Elder", 0, 100)
    assert split.names == ("Young", "Adult", "Elder", "Old")
    assert split.points == (30.0, 36.0, 42.0, 48.0, 54.0, 60.0)
    for name in chain.names:
        assert Chain.of(chain.split(name, "new", 0, 100).sets()) is not None
    tip = Chain(("l", "m", "h"), (0.0, 5.0, 5.0, 9.0)).split("m", "m 2", -5, 20)
    assert Chain.of(tip.sets()) == tip
    with pytest.raises(ParameterError, match="at least two fuzzy sets"):
        chain.remove("Adult").remove("Old")
    with pytest.raises(CelosiaError, match="no fuzzy set named 'Adlt'"):
        chain.rename("Adlt", "x")
    with pytest.raises(ParameterError, match="name of its own"):
        chain.rename("Adult", "Old")
    with pytest.raises(ParameterError, match="point 2 must lie to the right of point 1"):
        Chain(("a", "b"), (5.0, 5.0))


def test_suggested_sets_hold_about_as_many_records_each():
    values = np.random.default_rng(1).normal(50, 10, 3000)
    chain = suggest(values, 4, "ca")
    assert chain.names == ("baix", "mitjà", "alt", "molt alt")
    sizes = [float(shape(values).sum()) for shape in chain.shapes()]
    assert max(sizes) < 1.15 * min(sizes)
    heaped = np.repeat([0.0, 1, 2, 3, 4, 5, 6], [900, 1, 1, 1, 1, 1, 1])
    assert Chain.of(suggest(heaped).sets()) is not None
    with pytest.raises(DataError, match="too few different numbers"):
        suggest(np.array([1.0, 2.0, 1.0]))


def test_the_numbers_of_a_column_are_those_of_its_sets(people):
    view = column_view(people, "age", AGES)
    # degrees of Young over 21 24 32 36 …: 1, 1, 2/3, 0 …
    assert [round(facts.sigma, 4) for facts in view.sets] == [2.6667, 3.3333, 3.0]
    assert [facts.whole for facts in view.sets] == [3, 3, 3]
    assert [facts.core for facts in view.sets] == [2, 2, 2]
    assert (view.low, view.high, view.missing, view.undecided) == (21.0, 65.0, 0, 0.0)
    assert max(view.bins) == 1.0
    assert view.sets[1].outline == ((21.0, 0.0), (30.0, 0.0), (36.0, 1.0), (54.0, 1.0), (60.0, 0.0), (65.0, 0.0))
    with pytest.raises(DataError, match="'sex' holds text"):
        column_view(people, "sex", AGES)


def test_names_are_drawn_as_text(people):
    hostile = {"<b>low</b>": "(-inf;30;36)", '"high"': "(30;36;inf)"}
    svg = ET.fromstring(sets_picture(column_view(people, "age", hostile), words("en", "fuzzy")))
    assert [e.text for e in svg.iter("text") if e.get("class") == "name"] == list(hostile)
    assert not list(svg.iter("b"))
    handles = [e for e in svg.iter("g") if e.get("role") == "slider"]
    assert [e.get("aria-valuenow") for e in handles] == ["30.0", "36.0"]


def test_the_curve_is_that_of_the_requirement(people, tmp_path):
    policy = Policy.parse(TEXT, tmp_path)
    found = places(policy)
    model = policy.require[0]
    together = joint_curve(people, found, sets_by_column(found))
    assert together.reached == model.value(people)
    assert list(together.possibility) == model.curve(people)["possibility"].to_list()
    assert together.wanted == 2
    assert together.holds is model.holds(people)
    only = celosia.read(people.polars(), celosia.Schema.of(quasi=["age"]))
    alone = column_curve(people, found, "age", AGES)
    assert alone.reached == 3.0 == model.value(only)
    assert alone.wanted is None
    gap = joint_curve(people, found, {"age": {"Young": "(-inf;30;36)", "Old": "(54;60;inf)"}})
    assert "the sets are no partition" in gap.problem


def test_an_edit_changes_the_sets_of_every_part_that_codes_the_column(tmp_path):
    policy = Policy.parse(TEXT, tmp_path)
    moved = Chain.of(AGES).move_point(0, 28.0)
    after = edits.set_fuzzy_sets(TEXT, policy, "age", moved.sets())
    assert 'path = "people.csv"   # mine' in after
    now = Policy.parse(after, tmp_path)
    assert now.require[0].sets["age"]["Young"] == "(-inf;28;36)"
    assert now.steps[0].method.sets == now.require[0].sets
    without = Policy.parse(edits.set_fuzzy_sets(after, now, "age", None), tmp_path)
    assert without.require[0].sets == {}
    assert without.require[0].q == 2
    with pytest.raises(InputError, match="codes the column 'sex_'"):
        edits.set_fuzzy_sets(TEXT, policy, "sex_", AGES)


def test_a_requirement_in_short_form_is_written_out(tmp_path):
    text = 'require = ["q-anonymity(q=4, cells=5)"]\n\n[input]\npath = "people.csv"\n\n[schema]\nquasi = ["age"]\n'
    after = Policy.parse(edits.set_fuzzy_sets(text, Policy.parse(text, tmp_path), "age", AGES), tmp_path)
    assert (after.require[0].q, after.require[0].cells) == (4, 5)
    assert after.require[0].sets == {"age": AGES}


def test_a_requirement_and_a_step_begin_with_the_sets(tmp_path):
    bare = '[input]\npath = "people.csv"\n\n[schema]\nquasi = ["age"]\n'
    text = edits.add_labels(edits.add_requirement(bare, "age", AGES), "age", AGES)
    policy = Policy.parse(text, tmp_path)
    assert policy.require[0].sets == policy.steps[0].method.sets == {"age": AGES}
    asked = edits.set_parameters(text, places(policy)[0], q=7, aggregate="min", possibility=None)
    assert (Policy.parse(asked, tmp_path).require[0].q, Policy.parse(asked, tmp_path).require[0].aggregate) == (
        7,
        "min",
    )
