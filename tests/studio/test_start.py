"""The first page and the data page: how a project begins, what the columns are, what is refused."""

from __future__ import annotations

import io

import pytest
from tests.studio.conftest import running, until

pytestmark = pytest.mark.xdist_group("studio-start")
STUDENTS = "name;age;sex;comment;mark\n" + "".join(
    f"{name} Ferrer;{age};{sex};{comment};{mark}\n"
    for i in range(30)
    for name, age, sex, comment, mark in [
        (
            ("Anna", "Pau", "Ona", "Jan")[i % 4] + "abcdefghij"[i % 10],
            18 + i % 9 if i % 7 else 999,
            ("female", "male", "F", "female ")[i % 4],
            f"wrote that the course was {'good' if i % 2 else 'long'} in week {i}, with words of their own",
            i % 11,
        )
    ]
)


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    """A studio on the students' file."""
    from celosia.studio.pages.start import create
    from celosia.studio.project import Project

    folder = tmp_path_factory.mktemp("students") / "clinic"
    create.from_upload(Project(folder), "students.csv", io.BytesIO(STUDENTS.encode()))
    yield from running(folder)


def test_a_wrong_file_is_refused_in_a_sentence_and_a_right_one_begins(studio, visit, tmp_path):
    page = visit(studio)
    wrong = tmp_path / "people.parquet"
    wrong.write_bytes(b"this is no parquet")
    page.get_by_label("Choose a file").set_input_files(wrong)
    page.locator("form", has=page.get_by_label("Choose a file")).get_by_role("button", name="Begin").click()
    page.get_by_role("alert").get_by_text("people.parquet").wait_for()
    assert not studio.project.has_policy
    right = tmp_path / "students.csv"
    right.write_text(STUDENTS)
    page.get_by_label("Choose a file").set_input_files(right)
    page.locator("form", has=page.get_by_label("Choose a file")).get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="Data", level=1, exact=True).wait_for()
    assert page.locator("#said").inner_text().startswith("The data were read")
    assert studio.project.policy().input.path.parent.parent == studio.project.folder / "inputs"
    assert studio.project.policy().run.seed.bit_length() > 64


def test_a_role_is_changed_by_one_click_and_taken_back(students, visit, accessible):
    page = visit(students)
    page.goto(f"{students.address}/data")
    accessible(page)
    before = students.project.text
    card = page.locator("li.column", has=page.get_by_role("heading", name="age"))
    card.get_by_role("button", name="Sensitive").click()
    card.locator("[aria-pressed=true]", has_text="Sensitive").wait_for()
    until(lambda: "age" in students.project.policy().schema.sensitive)  # the button shows it before the server has it
    assert "age" not in students.project.policy().schema.quasi
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last change was taken back.").wait_for()
    assert students.project.text == before
    page.get_by_role("button", name="Redo").click()
    page.get_by_text("The change was made again.").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last change was taken back.").wait_for()


def test_a_role_that_a_column_cannot_have_is_refused(students, visit):
    page = visit(students)
    page.goto(f"{students.address}/data")
    card = page.locator("li.column", has=page.get_by_role("heading", name="comment"))
    card.get_by_role("button", name="Others may know it").click()
    page.get_by_role("alert").get_by_text("is of kind text").wait_for()
    assert "comment" not in students.project.policy().schema.quasi


def test_cleaning_is_proposed_and_done_while_reading(students, visit):
    page = visit(students)
    page.goto(f"{students.address}/data")
    card = page.locator("li.column", has=page.get_by_role("heading", name="age"))
    card.get_by_role("button", name="Read the codes as missing").click()
    page.get_by_text("The data are cleaned while they are read.").wait_for()
    assert students.project.policy().input.cleaning_options["missing"] == {"age": [999]}
    assert students.project.policy().table().column("age").null_count() == 5
    card.get_by_text("5 missing").wait_for()


def test_a_file_with_other_columns_does_not_replace_the_data(students, visit, tmp_path):
    page = visit(students)
    page.goto(f"{students.address}/data")
    before = students.project.text
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    page.get_by_label("Use another file").set_input_files(other)
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("alert").get_by_text("column").wait_for()
    assert students.project.text == before


def test_language_and_look_are_remembered(students, visit):
    page = visit(students, color_scheme="light")
    for language, title in (("Español", "Datos"), ("Català", "Dades"), ("English", "Data")):
        page.goto(f"{students.address}/data")
        page.locator("details.menu summary").click()
        page.get_by_role("button", name=language).click()
        page.get_by_role("heading", name=title, level=1, exact=True).wait_for()
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Dark").click()
    page.locator("html[data-theme=dark]").wait_for()
    page.goto(f"{students.address}/protect")
    assert page.evaluate("getComputedStyle(document.querySelector('.content')).backgroundColor") == "rgb(19, 25, 24)"
