"""The page of the risk: its numbers are those of the library; an intruder finds people while somebody types."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.studio.pages.risk.view import candidates, column_risks, link, overview

pytestmark = pytest.mark.xdist_group("studio-risk")

PEOPLE = pl.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"],
        "sex": ["F", "M", "M", "F", "F", "F"],
        "age": [30, 30, 30, 41, 41, 52],
        "ill": ["flu", "flu", "no", "no", "no", "flu"],
    }
)


@pytest.fixture
def people():
    return celosia.read(PEOPLE, celosia.Schema.of(identifiers=["name"], quasi=["sex", "age"], sensitive=["ill"]))


def test_the_overview_counts_classes_and_thresholds(people):
    seen = overview(people)  # classes: F30 1, M30 2, F41 2, F52 1
    assert (seen.records, seen.classes, seen.unique, seen.smallest) == (6, 4, 2, 1)
    assert [(size.low, size.records) for size in seen.sizes if size.records] == [(1, 2), (2, 4)]
    assert {rule.k: rule.violated for rule in seen.thresholds} == {3: 6, 5: 6, 11: 6, 20: 6}
    assert all(rule.source for rule in seen.thresholds)
    assert {risk.name: risk.value for risk in seen.risks}["prosecutor"] == 1.0


def test_columns_and_sets_that_make_the_risk(people):
    making = column_risks(people)
    assert {subset.columns: subset.unique for subset in making.subsets} == {
        ("sex", "age"): pytest.approx(2 / 6),
        ("age",): pytest.approx(1 / 6),
        ("sex",): 0.0,
    }
    age = next(column for column in making.columns if column.name == "age")
    assert age.alone == pytest.approx(1 / 6)
    assert age.added == pytest.approx(2 / 6)
    assert making.columns[0].name == "age"


def test_columns_whose_names_hold_commas_stay_apart():
    data = pl.DataFrame({"a": [1, 1, 2], "b, c": [1, 2, 2], "c": [1, 1, 1]})
    making = column_risks(celosia.read(data, celosia.Schema.of(quasi=["a", "b, c", "c"])))
    assert {subset.columns for subset in making.subsets} >= {("a", "b, c"), ("b, c", "c"), ("a", "c")}


def test_many_columns_are_looked_at_in_small_sets():
    data = pl.DataFrame({f"c{i}": [0, 1, i] for i in range(30)})
    making = column_risks(celosia.read(data, celosia.Schema.of(quasi=data.columns)))
    assert making.largest == 1
    assert len(making.columns) == 30
    assert making.columns[0].added is None


def test_what_an_intruder_finds_and_learns(people):
    fitting = candidates(people, {"sex": "F", "age": "41"})
    assert (fitting.count, fitting.chance, fitting.of) == (2, 0.5, 6)
    ill = next(each for each in fitting.learned if each.name == "ill")
    assert ill.disclosed
    assert ill.values == (("no", 2),)
    assert "name" not in {each.name for each in fitting.learned}
    assert candidates(people, {"age": "[30-45)"}, {"ill": ["no"]}).count == 2
    nobody = candidates(people, {"age": "99"})
    assert (nobody.count, nobody.learned) == (0, ())


def test_linkage_with_a_file(people, tmp_path):
    file = tmp_path / "roll.csv"
    file.write_text("name,sex,age\nAnn,F,30\nBob,M,30\nZoe,F,52\n", "utf-8")
    joined = link(people, file, "name")
    assert (joined.people, joined.claimed, joined.ambiguous, joined.right) == (3, 2, 1, 1)
    assert joined.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert link(people, file).right == 1, "an identifier that both have is taken for the truth"
    file.write_text("town\nA\n", "utf-8")
    with pytest.raises(NotApplicable, match="shares no quasi-identifier"):
        link(people, file)


def test_the_page_from_thresholds_to_candidates(begun, visit, accessible):
    page = visit(begun)
    page.goto(f"{begun.address}/risk")
    page.get_by_role("heading", name="By sets of columns").wait_for()
    page.get_by_role("heading", name="Thresholds").wait_for()
    accessible(page)
    page.get_by_role("button", name="Require k = 11").click()
    page.get_by_text("The requirement stands in the policy now.").wait_for()
    assert begun.project.policy().require[0].k == 11
    page.get_by_label("sex", exact=True).fill("female")
    page.locator("#known").get_by_text("candidates are left").wait_for()
    page.get_by_label("occupation", exact=True).fill("nurse")
    page.get_by_label("municipality", exact=True).fill("Nowhere")
    page.locator("#known").get_by_text("Nobody in the data fits.").wait_for()
    accessible(page)
    assert "Nowhere" not in page.url
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("taken back").wait_for()
    assert begun.project.policy().require[0].k == 5


def test_a_file_is_joined_kept_as_a_measure_or_refused(begun, visit, tmp_path):
    page = visit(begun)
    page.goto(f"{begun.address}/risk")
    whole = pl.read_csv(begun.project.folder / "original.csv", infer_schema=False)
    roll = tmp_path / "roll.csv"
    whole.select("name", "sex", "birth_date").head(20).write_csv(roll)
    page.get_by_label("The other file").set_input_files(roll)
    page.get_by_role("button", name="Join the files").click()
    page.get_by_text("people in the file").wait_for()
    page.get_by_role("button", name="Measure it in every run").click()
    page.get_by_text("measured in every run from now on").wait_for()
    attack = begun.project.policy().risks[-1]
    assert attack.name == "join-attack"
    assert "inputs/" in str(attack.external)
    other = tmp_path / "other.csv"
    other.write_text("town\nA\n", "utf-8")
    page.get_by_label("The other file").set_input_files(other)
    page.get_by_role("button", name="Join the files").click()
    page.locator("#problem").get_by_text("shares no quasi-identifier").wait_for()
    wrong = tmp_path / "wrong.exe"
    wrong.write_bytes(b"MZ")
    page.get_by_label("The other file").set_input_files(wrong)
    page.get_by_role("button", name="Join the files").click()
    page.locator("#problem").get_by_text("wrong").wait_for()


def test_an_empty_project_teaches(studio, visit, accessible):
    page = visit(studio, color_scheme="dark", locale="es")
    page.goto(f"{studio.address}/risk")
    page.get_by_text("Aquí verá a cuántas personas").wait_for()
    accessible(page)
