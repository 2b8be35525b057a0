"""The page of the lattice: what it says of a node is what a run with those levels gives."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import ParameterError, SchemaError
from celosia.methods import Generalise
from celosia.studio.pages.lattice.view import Landscape, generalisation
from celosia.table.columns import hierarchy_levels

pytestmark = pytest.mark.xdist_group("studio-lattice")


def table(n=200):
    rng = np.random.default_rng(3)
    data = pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "zip": [f"{code:04}" for code in rng.integers(1000, 1100, n)],
            "sex": rng.choice(["F", "M"], n),
        }
    )
    hierarchies = {"age": "intervals(width=10, count=2)", "zip": "prefixes(masked=[1, 2])"}
    return celosia.read(data, celosia.Schema.of(quasi=data.columns, hierarchies=hierarchies))


@pytest.fixture(scope="module")
def landscape():
    return Landscape.of(table(), Generalise(require=["k-anonymity(k=3)"], suppress=0.05, levels={"age": 1}))


def test_every_node_says_what_a_run_with_its_levels_gives(landscape):
    data = table()
    upper = landscape.result.upper
    assert upper == (3, 3, 1), "levels that are fixed do not narrow the lattice"
    for levels in itertools.product(*(range(high + 1) for high in upper)):
        here = landscape.consequences(levels)
        fixed = dict(zip(landscape.names, levels, strict=True))
        method = Generalise(require=["k-anonymity(k=3)"], suppress=1.0, levels=fixed)
        if here.node.suppressed == len(data):
            continue
        safe = celosia.protect(data, method, seed=1)
        assert safe.suppressed() == here.node.suppressed
        assert safe.history[-1]["classes"] == here.node.classes
        assert here.kept == len(data) - here.node.suppressed
        assert (
            here.node.state in ("best", "safe") if here.node.suppressed <= here.limit else here.node.state == "unsafe"
        )
        assert [requirement.holds for requirement in here.requirements] == [True]
        shown = {column.name: column.labels for column in here.columns}
        for name in shown:
            level = fixed[name]
            recoded = hierarchy_levels(data, name).labels(level) if name != "sex" else (["*"] if level else ["F", "M"])
            assert shown[name] == len(set(recoded))


def test_the_best_is_the_least_loss_of_all_that_is_safe(landscape):
    landscape.check_around(landscape.start, 60)
    alternatives = landscape.alternatives()
    assert alternatives[0].state == "best"
    assert [node.loss for node in alternatives] == sorted(node.loss for node in alternatives)
    everything = landscape.nodes_around(landscape.start)
    assert len(everything) == landscape.result.nodes == 32
    assert "unknown" not in {node.state for node in everything}
    assert {node.levels for node in everything if node.state in ("best", "safe")} == {n.levels for n in alternatives}
    assert all(0 <= node.shade <= 1 for node in alternatives)


def test_a_node_that_was_not_judged_is_unknown_unless_a_coarser_one_refuses_it():
    fresh = Landscape.of(table(), Generalise(require=["k-anonymity(k=3)"]))
    states = {node.levels: node.state for node in fresh.nodes_around(fresh.start)}
    judged = {evaluation.levels for evaluation in fresh.result.evaluations}
    assert "unknown" in states.values() or judged == set(states)
    for levels, state in states.items():
        if levels not in judged and state == "unsafe":
            assert not fresh.check(levels).holds, "what is said without judging must be true"


def test_a_large_lattice_is_drawn_around_a_node(landscape):
    near = landscape.nodes_around((1, 1, 0), most=9)
    assert len(near) == 9
    assert max(sum(abs(a - b) for a, b in zip(node.levels, (1, 1, 0), strict=True)) for node in near) <= 2


@pytest.mark.parametrize("key", ["", "1-1", "9-0-0", "a-b-c", "-1-0-0", "1-1-0-0"])
def test_a_node_outside_the_lattice_is_refused(landscape, key):
    with pytest.raises(ParameterError, match="one level for each of age, zip, sex"):
        landscape.levels(key)


def test_what_is_fixed_is_read_back(landscape):
    assert landscape.chosen({"age": 1, "zip": 2, "sex": 0}) == (1, 2, 0)
    assert landscape.chosen({"age": 1}) is None
    assert landscape.chosen({"age": (0, 1), "zip": 2, "sex": 0}) is None


def test_without_a_requirement_there_is_nothing_to_be_safe_for():
    with pytest.raises(SchemaError, match="no requirement is set"):
        generalisation((), ())
    assert generalisation((), (Generalise(require=["k-anonymity(k=2)"]),)).require[0].k == 2


def test_the_page_looks_around_and_chooses(begun, visit, accessible):
    page = visit(begun)
    page.goto(f"{begun.address}/lattice")
    page.get_by_role("heading", name="Alternatives").wait_for()
    accessible(page)
    best = page.locator(".node.best").inner_text()
    page.locator(".node.safe").first.click()
    page.locator(".node.safe[aria-current]").wait_for()
    chosen = page.locator("#chosen").inner_text()
    assert chosen not in best
    assert page.url.endswith(chosen.replace("·", "-"))
    page.get_by_role("button", name="Choose these levels").click()
    page.get_by_text("The levels are fixed in the policy now.").wait_for()
    step = begun.project.policy().steps[0].method
    assert "·".join(str(step.levels[name]) for name in ("birth_date", "sex", "municipality", "occupation")) == chosen
    page.get_by_role("button", name="Let the search choose").click()
    page.get_by_text("The search chooses the levels again.").wait_for()
    assert begun.project.policy().steps[0].method.levels == {}


def test_an_unsafe_node_cannot_be_chosen_and_judging_leaves_nothing_unknown(begun, visit, accessible):
    page = visit(begun, color_scheme="dark", viewport={"width": 390, "height": 800})
    page.goto(f"{begun.address}/lattice?node=0-0-0-0")
    page.get_by_text("Only a safe combination can be chosen.").wait_for()
    assert page.get_by_role("button", name="Choose these levels").is_disabled()
    page.locator("#judge").click()
    page.locator(".node.unknown").first.wait_for(state="detached")
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "fits a phone"


def test_requirements_that_cannot_be_met_are_said(begun, visit):
    from celosia.studio import toml_edit

    begun.project.change(lambda text: toml_edit.set_value(text, ("require", 0, "k"), 290))
    begun.project.change(lambda text: toml_edit.set_value(text, ("require", 1, "l"), 100))
    page = visit(begun)
    page.goto(f"{begun.address}/lattice")
    trouble = page.locator("#look .box.bad")
    trouble.wait_for()
    assert "cannot be met" in trouble.inner_text()
    begun.project.undo()
    begun.project.undo()


def test_an_empty_project_teaches(studio, visit, accessible):
    page = visit(studio)
    page.goto(f"{studio.address}/lattice")
    assert "all ways to make the columns coarser" in page.locator("main").inner_text()
    accessible(page)
