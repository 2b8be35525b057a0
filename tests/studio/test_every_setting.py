"""A policy written by hand: every setting of it stands on a page that says it shows it, or is listed as kept as is."""

from __future__ import annotations

import html
import re
import sqlite3
import tomllib

import pytest

from celosia.release.policy.policy import Policy
from celosia.release.policy.sections import (
    About,
    Cleaning,
    Columns,
    Exploration,
    Guard,
    History,
    Input,
    Measure,
    Output,
    Purpose,
    Run,
)
from celosia.studio import toml_edit
from celosia.studio.pages import pages
from celosia.studio.project import Project

pytestmark = pytest.mark.xdist_group("studio-settings")
PEOPLE = "pid;hid;w;s;name;age;zip;size;disease;note\n" + "".join(
    f"P{i};H{i // 2};1.5;north;Nam{i};{20 + i % 40};0800{i % 4};{'SML'[i % 3]};{'abc'[i % 3]};x\n" for i in range(60)
)
FULL = """\
format = 1

[about]
title = "the title 4701"
organisation = "the house 4702"
purpose = "the purpose 4703"
contact = "the contact 4704"
approver = "the approver 4705"
review = 2031-04-07

[purpose]
keep = ["disease", "size"]

[input]
path = "people4706.csv"
separator = ";"
encoding = "utf-8"
engine = "polars"

[input.clean]
strip = ["note"]
same = {disease = {b4707 = "b"}}
missing = {zip = ["4708"]}

[schema]
identifiers = ["name"]
quasi = ["age", "zip"]
sensitive = ["disease"]
insensitive = ["size", "note"]
person = "pid"
household = "hid"
weight = "w"
stratum = "s"
rest = "error"
kinds = {size = "ordinal", age = "numeric"}
bounds = {age = [-4709.5, 4710.5]}
missing = {zip = "conservative", disease = "wildcard"}
orders = {size = ["S", "M", "L", "XL4711"]}

[schema.hierarchies]
age = {use = "intervals", width = 47.12}
zip = {use = "prefixes", masked = [1, 2]}
disease = {use = "tree", tree = {any4713 = ["a", "b", "c"]}}
size = "sizes4714.csv"

[[require]]
use = "k-anonymity"
k = 2

[[require]]
use = "l-diversity"
column = "disease"
l = 2

[[step]]
use = "generalise"
suppress = 0.4715

[[step]]
name = "again4716"
use = "recode"
column = "zip"
level = 1

[measure]
risks = ["prosecutor", {use = "marketer"}]
losses = ["discernibility"]

[explore]
candidate = ["recode(column=zip, level=1)", {use = "generalise", suppress = 0.4717}]
risk = {use = "prosecutor"}
loss = {use = "score", weight = 0.4718}
seeds = 4719
max_risk = 0.4720
max_loss = 0.4721
budget_seconds = 4722.0
workers = 4723
store = "tried4724.jsonl"

[guard]
acknowledge = {size = "no harm 4725"}

[history]
releases = ["earlier4726.csv"]
k = 4727
acknowledge = "the same people 4728"

[output]
path = "safe4729.csv"
order = "kept"
columns = ["w"]
report = false
language = "ca"
overwrite = true
separator = "|"

[run]
seed = "47300000000000000000000000000000"
testing = true
engine = "polars"
memory = "4731MB"
streams = 1
without = ["again4716"]
"""
SECTIONS = {
    "about": About, "purpose": Purpose, "input": Input, "input.clean": Cleaning, "schema": Columns, "measure": Measure,
    "explore": Exploration, "guard": Guard, "history": History, "output": Output, "run": Run,
}  # fmt: skip
QUERIED = ("input.url", "input.query")


def leaves(value, place=""):
    """Each setting with its value; a part, a mapping from texts and a list are one."""
    for key, inner in value.items():
        here = f"{place}.{key}" if place else key
        if isinstance(inner, dict) and "use" not in inner:
            yield from leaves(inner, here)
        else:
            yield here, inner


def texts(value):
    """What must be read somewhere to know a setting."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() if key not in ("width", "masked") for text in texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [] if isinstance(value, bool) else [f"{value:g}" if isinstance(value, float) else str(value)]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("settings") / "clinic")
    (project.folder / "people4706.csv").write_text(PEOPLE)
    (project.folder / "sizes4714.csv").write_text("S;any\nM;any\nL;any\n")
    (project.folder / "earlier4726.csv").write_text("age\n1\n")
    project.change(lambda _: FULL)
    return project


def test_the_policy_of_this_test_has_every_setting_that_there_is():
    written = dict.fromkeys(place for place, _ in leaves(tomllib.loads(FULL)))
    for section, form in SECTIONS.items():
        for name, info in form.model_fields.items():
            place = f"{section}.{info.alias or name}"
            assert place in QUERIED or any(f"{each}.".startswith(f"{place}.") for each in written), place
    for name, info in Policy.model_fields.items():
        assert any(f"{each}.".startswith(f"{info.alias or name}.") for each in written), name


@pytest.fixture(scope="module")
def read(project):
    """The pages as a person reads them, by name; and the list of what is kept as is."""
    from tests.studio.conftest import Desk

    client = Desk(project)
    shown = {name: html.unescape(client.get(page.address).text) for name, page in pages().items()}
    for column in ("zip", "disease", "size"):
        shown["hierarchies"] += html.unescape(client.get(f"/hierarchies?column={column}").text)
    for change in ("require.0", "require.1", "step.0", "step.1"):
        shown["protect"] += html.unescape(client.get(f"/protect?change={change}").text)
    rows = re.findall(r'<tr><th scope="row" class="mono">(.*?)</th><td class="mono">(.*?)</td></tr>', shown["start"])
    return shown, dict(rows)


@pytest.mark.parametrize(("place", "value"), list(leaves(tomllib.loads(FULL))), ids=lambda given: str(given)[:30])
def test_every_setting_is_read_on_a_page_or_listed(read, place, value):
    shown, kept = read
    owners = [
        page.name for page in pages().values() for each in page.shows if place == each or place.startswith(f"{each}.")
    ]
    assert bool(owners) != (place in kept), "shown, or listed as kept as is: one of the two"
    if not owners:
        assert all(text in kept[place] for text in texts(value))
        named = rf'name="({re.escape(place)}|{re.escape(place.rpartition(".")[2])})"'
        assert not [name for name, page in shown.items() if re.search(named, page)], "it has a form"
        return
    page = shown[owners[0]]
    for text in texts(value):
        assert text in page, f"{text} is not on the page {owners[0]}"
    if isinstance(value, bool):
        assert re.search(rf'name="{re.escape(place)}"', page)
    if place.startswith(("schema.kinds.", "schema.missing.", "schema.rest", "output.order", "output.language")):
        assert re.search(rf'<option value="{value}" selected>', page)


def test_a_query_is_shown_with_its_address(tmp_path, desk):
    project = Project(tmp_path / "asked")
    with sqlite3.connect(project.folder / "people.db") as base:
        base.execute("CREATE TABLE people (age INT)")
        base.executemany("INSERT INTO people VALUES (?)", [(i,) for i in range(9)])
    base.close()
    address = f"sqlite:///{project.folder / 'people.db'}"
    policy = f'[input]\nurl = "{address}"\nquery = "SELECT age FROM people"\n[schema]\nquasi = ["age"]\n'
    project.change(lambda _: policy)
    page = html.unescape(desk(project).get("/data").text)
    for key in ("url", "query"):
        assert toml_edit.get(policy, ("input", key)) in page


def test_a_reason_is_seen_before_any_run_and_can_be_taken_back(project, desk):
    client, before = desk(project), project.text
    assert "no harm 4725" in client.get("/release").text
    assert client.post("/release/take-back", column="size").status_code == 303
    assert project.policy().guard.acknowledge == {}
    client.post("/undo")
    assert project.text == before
