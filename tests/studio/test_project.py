"""The folder, the edits, undo and redo: what is unknown stays, and what does not hold water changes nothing."""

from __future__ import annotations

import io
import sqlite3
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.demo.prepare import POLICY
from celosia.errors import CelosiaError, InputError, PolicyError
from celosia.studio import lists, settings, toml_edit
from celosia.studio.project import PolicyChanged, Project

HAND = """\
# written by hand
[input]
path = "people.csv" # the register
separator = ";"

[schema]
quasi = [
  "age", # others know it
  "zip",
]
sensitive = ["disease"]
rest = "error"

[schema.hierarchies]
zip = {use = "prefixes", length = 5}

[[require]]
use = "k-anonymity" # at least
k = 2 # so many

[[step]]
use = "generalise"

[[step]]
name = "again"
use = "round"
columns = ["age"]
base = 5

[explore]
seeds = 3

[output]
path = "safe.csv"
"""


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path / "p")
    (made.folder / "people.csv").write_text("age;zip;disease\n34;08001;a\n35;08002;b\n")
    made.change(lambda _: HAND)
    return made


def test_a_file_that_is_kept_can_be_read_by_its_owner_alone(project):
    kept = project.keep_upload("more.csv", io.BytesIO(b"age\n34\n"))
    assert kept.stat().st_mode & 0o777 == 0o600


def test_an_edit_that_does_not_hold_water_changes_nothing(project):
    with pytest.raises(PolicyError, match="k must be at least"):
        project.change(lambda text: toml_edit.set_value(text, ("require", 0, "k"), 0))
    assert project.text == HAND


def test_a_column_of_free_text_is_no_quasi_identifier(project):
    with pytest.raises(CelosiaError, match="of kind text"):
        project.change(lambda text: toml_edit.set_value(text, ("schema", "kinds", "zip"), "text"))
    assert project.text == HAND


def test_undo_and_redo_are_the_history_of_policies_and_outlive_the_process(project):
    texts = [project.text]
    for k in (3, 4, 5):
        project.change(lambda text, k=k: toml_edit.set_value(text, ("require", 0, "k"), k))
        texts.append(project.text)
    again = Project(project.folder)
    for text in texts[-2::-1]:
        again.undo()
        assert again.text == text
    for text in texts[1:3]:
        again.redo()
        assert again.text == text
    again.change(lambda text: toml_edit.set_value(text, ("require", 0, "k"), 9))
    assert not again.history.can_redo, "a new change ends what could be made again"


def test_an_edit_for_another_policy_is_refused(project):
    seen = project.version
    project.change(lambda text: toml_edit.set_value(text, ("require", 0, "k"), 3), seen)
    after = project.text
    with pytest.raises(PolicyChanged):
        project.change(lambda text: toml_edit.set_value(text, ("require", 0, "k"), 4), seen)
    assert project.text == after


def test_a_policy_is_for_its_owner_alone_and_inputs_lie_by_their_hash(project):
    assert project.path.stat().st_mode & 0o077 == 0
    first = project.keep_upload("a.csv", io.BytesIO(b"x\n1\n"))
    assert project.keep_upload("b.csv", io.BytesIO(b"x\n1\n")).parent == first.parent
    assert project.keep_upload("a.csv", io.BytesIO(b"x\n2\n")).parent != first.parent


def test_comments_and_settings_without_a_form_stay(project):
    text = toml_edit.set_role(HAND, "zip", "insensitive")
    text = toml_edit.set_value(text, ("require", 0, "k"), 3)
    text = toml_edit.move(text, "step", 1, 0)
    for kept in (
        "# written by hand",
        "# the register",
        "# others know it",
        "# at least",
        'separator = ";"',
        "seeds = 3",
    ):
        assert kept in text
    assert tomllib.loads(text)["schema"]["quasi"] == ["age"]
    assert [step["use"] for step in tomllib.loads(text)["step"]] == ["round", "generalise"]


def test_the_seed_is_no_reading_matter():
    assert settings.hidden_settings('[run]\nseed = "abc"\n', []) == [("run.seed", "•••")]


def test_a_step_that_is_switched_off_is_left_out_and_comes_back(project):
    project.change(lambda text: lists.toggle_step(text, project.policy(text), 1))
    policy = project.policy()
    assert [step.name for step in policy.steps] == ["generalise", "again"]
    assert [step.name for step in policy.select().steps] == ["generalise"]
    project.change(lambda text: lists.remove_entry(text, project.policy(text), "step", 1))
    assert project.policy().run.without == ()
    project.undo()
    project.change(lambda text: lists.toggle_step(text, project.policy(text), 1))
    assert project.text.rstrip() == HAND.rstrip()


def test_measures_that_hold_without_being_said_are_written_down_before_they_change(project):
    text = lists.save_entry(HAND, project.policy(), "risks", None, {"use": "marketer"})
    assert tomllib.loads(text)["measure"]["risks"] == ["prosecutor", {"use": "marketer"}]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["name", "age", "x y", "é"]),
            st.sampled_from(["quasi", "sensitive", "person", "", "weight"]),
        ),
        max_size=8,
    )
)
def test_a_column_has_the_role_that_it_was_given_last(changes):
    text = '[input]\npath = "a.csv"\n'
    for column, role in changes:
        text = toml_edit.set_role(text, column, role)
    schema, last = tomllib.loads(text).get("schema", {}), dict(changes)
    for role in ("quasi", "sensitive"):
        wanted = [c for c, r in last.items() if r == role]
        assert sorted(schema.get(role, [])) == sorted(wanted)
    for role in ("person", "weight"):
        holders = [c for c, r in changes if r == role]
        if holders and last[holders[-1]] == role:
            assert schema[role] == holders[-1]


@given(st.permutations(range(3)))
def test_any_order_of_steps_can_be_had(order):
    text = toml_edit.reorder(POLICY, "step", order)
    uses = [step["use"] for step in tomllib.loads(POLICY)["step"]]
    assert [step["use"] for step in tomllib.loads(text)["step"]] == [uses[i] for i in order]
    assert {k: v for k, v in tomllib.loads(text).items() if k != "step"} == {
        k: v for k, v in tomllib.loads(POLICY).items() if k != "step"
    }


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///../outside.db",
        "sqlite:///%2e%2e/outside.db",
        "sqlite:///..%2foutside.db",
        "sqlite+pysqlite:///%2E./outside.db?mode=ro",
        "duckdb:///x?/../../outside.db",
        "file:address.txt",
    ],
)
def test_no_spelling_of_an_address_leads_out_of_the_folder(tmp_path, url):
    project = Project(tmp_path / "p")
    (project.folder / "x?").mkdir()
    (project.folder / "address.txt").write_text(f"sqlite:///{tmp_path}/outside.db")
    (tmp_path / "outside.db").write_bytes(b"")
    with pytest.raises(InputError, match="outside the project's folder"):
        project.change(lambda _: f'[input]\nurl = "{url}"\ntable = "t"\n[schema]\n[output]\npath = "o.csv"\n')


def test_a_path_that_looks_like_an_address_is_checked(tmp_path):
    project = Project(tmp_path / "p")
    (project.folder / "foo:").mkdir()
    with pytest.raises(InputError, match="outside the project's folder"):
        project.change(lambda _: HAND.replace("safe.csv", "foo://../../safe.csv"))


@pytest.mark.parametrize("place", ["input", "env", "population"])
def test_a_policy_names_a_database_server_only_where_the_user_allows_it(tmp_path, place, monkeypatch):
    monkeypatch.setenv("CLINIC", "postgresql://ana:secret@host/clinic")
    url = "env:CLINIC" if place == "env" else "postgresql:///clinic?passfile=/root/.pgpass"
    text = f'[input]\nurl = "{url}"\nquery = "SELECT 1"\n[schema]\n[output]\npath = "o.csv"\n'
    if place == "population":
        text = HAND + f'[measure]\nrisks = [{{use = "journalist", population = {{url = "{url}", table = "t"}}}}]\n'
    with pytest.raises(InputError, match="--servers") as refused:
        Project(tmp_path / "p").change(lambda _: text)
    assert "secret" not in str(refused.value)
    Project(tmp_path / "q", servers=True).change(lambda _: text)


@pytest.mark.parametrize("source", ['query = "SELECT * FROM t"', 'table = "t"'])
def test_the_data_page_shows_a_query_or_a_table(tmp_path, desk, source):
    project = Project(tmp_path / "p")
    base = sqlite3.connect(project.folder / "people.db")
    base.executescript("CREATE TABLE t (age, sex); INSERT INTO t VALUES (30, 'F'), (40, 'M'), (50, 'F')")
    base.close()
    project.change(
        lambda _: (
            f'[input]\nurl = "sqlite:///people.db"\n{source}\n[schema]\nquasi = ["age"]\n[output]\npath = "o.csv"\n'
        )
    )
    page = desk(project).get("/data")
    assert page.status_code == 200
    assert "SELECT * FROM t" in page.text or "<code>t</code>" in page.text
