"""Steps that are switched off: they stay off whatever is done to the list, and no page counts them in."""

from __future__ import annotations

import pytest

from celosia.errors import CelosiaError
from celosia.studio import lists, toml_edit
from celosia.studio.pages.compare import exploration
from celosia.studio.project import Project

pytestmark = pytest.mark.xdist_group("studio-switched-off")
PEOPLE = "age;zip;disease\n" + "".join(f"{20 + i % 40};0800{i % 4};{'abc'[i % 3]}\n" for i in range(80))
POLICY = """\
[input]
path = "people.csv"
separator = ";"

[schema]
quasi = ["age", "zip"]
sensitive = ["disease"]

[schema.hierarchies]
age = {use = "intervals", width = 10}
zip = {use = "prefixes", masked = [1]}

[[require]]
use = "k-anonymity"
k = 2

[[step]]
use = "generalise"
levels = {age = 1, zip = 0}

[[step]]
name = "again"
use = "recode"
column = "age"
level = 2

[[step]]
use = "recode"
column = "zip"
level = 1

[explore]
seeds = 1
workers = 1
candidate = ["recode(column=age, level=2)"]

[run]
without = ["again"]
testing = true
seed = 1
"""


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path / "p")
    (project.folder / "people.csv").write_text(PEOPLE)
    project.change(lambda _: POLICY)
    return project


def left(project):
    return [step.name for step in project.policy().select().steps]


def test_a_candidate_is_applied_though_a_step_is_switched_off(project, desk):
    text = project.text
    place = exploration.folder_of(project)
    place.mkdir(parents=True)
    (place / "policy.toml").write_text(text)
    exploration.explore_policy(project, lambda what, share: None, place.name)
    answer = desk(project).post("/compare/apply", index="0")
    assert answer.status_code == 303, answer.text
    assert [step.method.name for step in project.policy().select().steps] == ["recode"]
    assert project.policy().run.without == ()


def test_a_step_that_is_off_stays_off_under_another_name(project, desk):
    sent = {"list": "step", "position": "1", "use": "recode", "column": "age", "level": "2", "name": "coarser"}
    answer = desk(project).post("/protect/save", **sent)
    assert answer.status_code == 303, answer.text
    assert project.policy().run.without == ("coarser",)
    assert left(project) == ["generalise", "recode"]


def test_a_step_that_is_off_by_the_name_of_its_method_stays_the_one_that_is_off(project):
    text = toml_edit.drop(POLICY, ("step", 1, "name"))
    text = toml_edit.set_value(text, ("run", "without"), ["recode"])
    project.change(lambda _: text)
    assert [step.name for step in project.policy().steps] == ["generalise", "recode", "recode-3"]
    project.change(lambda now: lists.move_entry(now, project.policy(now), "step", 2, 0))
    assert [step.method.spec().get("column") for step in project.policy().select().steps] == ["zip", None]
    project.change(lambda now: lists.remove_entry(now, project.policy(now), "step", 1))
    assert [step.method.spec().get("column") for step in project.policy().select().steps] == ["zip"]
    project.change(lambda now: lists.remove_entry(now, project.policy(now), "step", 1))
    assert project.policy().run.without == ()


FORMS = {
    "another step": ("step", None, {"use": "recode", "column": "zip", "level": "1"}),
    "a step that is off": ("step", 1, {"use": "recode", "column": "age", "level": "1", "name": "coarser"}),
    "a step": ("step", 0, {"use": "generalise", "suppress": "0.1"}),
    "a requirement": ("require", 0, {"use": "k-anonymity", "k": "3"}),
    "a risk": ("risks", None, {"use": "marketer"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_looked_at_is_what_would_be_saved(project, form):
    name, position, sent = FORMS[form]
    looked = project.draft(lists.draft_sections(project.policy(), name, position, sent), project.text)
    saved = project.policy(lists.save_entry(project.text, project.policy(), name, position, sent))
    assert [(step.name, step.method) for step in looked.steps] == [(step.name, step.method) for step in saved.steps]
    for section in ("require", "measure", "run", "columns", "explore"):
        assert getattr(looked, section) == getattr(saved, section)


def test_a_look_reads_no_file_outside_the_folder(project):
    sent = {"use": "join-attack", "external": "/etc/passwd.csv"}
    with pytest.raises(CelosiaError, match="lies outside"):
        project.draft(lists.draft_sections(project.policy(), "risks", None, sent), project.text)


def test_an_entry_that_is_not_there_is_refused_in_a_sentence(project):
    for change in (lists.toggle_step, lambda text, policy, at: lists.remove_entry(text, policy, "step", at)):
        with pytest.raises(CelosiaError, match="no step 10"):
            change(project.text, project.policy(), 9)


def test_the_comparison_leaves_it_out(project, desk):
    from celosia.studio.pages.compare.routes import _Comparison
    from celosia.studio.pages.compare.view import comparison_options
    from celosia.studio.studio import Studio

    safe = _Comparison(Studio(project, {}), project.policy()).protect("policy")
    assert safe.column("age").n_unique() > 1, "the step that hides all ages is off"
    assert safe.column("zip").n_unique() == 1
    for i in (0, 2):
        project.change(lambda text, i=i: lists.toggle_step(text, project.policy(text), i))
    assert comparison_options(project.policy(), None) == (("original", "original"),), (
        "nothing is done: nothing to compare"
    )


def test_the_lattice_is_that_of_the_generalisation_that_is_on(project, desk):
    project.change(lambda text: lists.toggle_step(text, project.policy(text), 0))
    client = desk(project)
    shown = client.get("/lattice/look").text
    assert 'id="free"' not in shown, "the levels of a step that is off are not chosen"
    node = shown.split('data-node="')[1].split('"')[0]
    answer = client.post("/lattice/choose", node=node)
    assert answer.status_code == 303, answer.text
    policy = project.policy()
    assert policy.steps[0].method.levels == {"age": 1, "zip": 0}, "the step that is off stays as it was"
    assert policy.select().steps[-1].method.name == "generalise"
