"""From a fresh start to a release by clicks alone; the same bytes outside; the guard; what it shows of a release."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from tests.studio.conftest import until

from celosia.data.io.atomic import replace_file
from celosia.demo import prepare
from celosia.studio import toml_edit
from celosia.studio.jobs import Jobs
from celosia.studio.pages.start.create import from_demonstration
from celosia.studio.runs import start_run

pytestmark = pytest.mark.xdist_group("studio-release")


@pytest.fixture
def released(studio):
    """A studio on the demonstration whose policy was run, by clicks or here."""
    jobs, project = Jobs(studio.project), studio.project
    if not project.has_policy:
        from_demonstration(project)
    job = jobs.latest("run_policy", project.version)
    if job is None or job.state != "done":
        job = start_run(project, jobs)
        until(lambda: jobs.find(job.id).finished, 120)
    assert jobs.find(job.id).state == "done"
    return studio


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """What a first run has to compile is compiled."""
    policy = prepare(tmp_path_factory.mktemp("warm") / "clinic", 100)
    subprocess.run([sys.executable, "-m", "celosia", "run", str(policy)], capture_output=True, check=False)


def ran(page):
    page.get_by_role("button", name="Run on all records").click()
    page.locator("#job").wait_for()
    page.locator("#job").wait_for(state="detached", timeout=120_000)


@pytest.mark.usefixtures("warm")
def test_from_a_fresh_start_to_a_release_whose_bytes_celosia_run_repeats(studio, visit):
    begun = time.monotonic()
    page = visit(studio)
    page.get_by_role("button", name="Use the demonstration data").click()
    page.get_by_role("heading", name="Data", level=1, exact=True).wait_for()
    page.get_by_role("link", name="Protect").click()
    ran(page)
    page.get_by_text("Every requirement holds.").wait_for()
    page.get_by_role("link", name="Look at the release").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="release.csv").click()
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("checks hold").wait_for(timeout=120_000)
    # by the clock, and many times what it takes: it is what a person waits for
    assert time.monotonic() - begun < 120, "a first release takes less than two minutes"
    assert "Contradicted" not in page.locator("main").inner_text()
    folder = studio.project.folder
    command = [sys.executable, "-m", "celosia", "run", str(folder / "policy.toml")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert (folder / "release.csv").read_bytes() == download.value.path().read_bytes()


def test_both_editions_of_the_report_are_shown_and_nothing_in_them_runs(released, visit):
    page = visit(released)
    page.goto(f"{released.address}/release")
    page.frame_locator("#frame-report").get_by_text("may be published").wait_for()
    page.get_by_role("tab", name="External edition").press("ArrowRight")
    page.frame_locator("#frame-internal").get_by_role("heading", level=1).wait_for()
    assert page.get_by_role("tab", name="Internal edition").get_attribute("aria-selected") == "true"
    answer = page.goto(f"{released.address}/release/report/report")
    assert "sandbox" in answer.headers["content-security-policy"]


def test_the_guard_stops_a_release_until_a_column_is_left_out_or_acknowledged(released, visit):
    before = released.project.text
    page = visit(released)
    page.goto(f"{released.address}/data")
    page.locator("#c2").get_by_role("button", name="Harmless").click()
    until(lambda: released.project.text != before)  # the button shows it before the server has it
    page.goto(f"{released.address}/release")
    page.get_by_text("The policy has changed since this run").wait_for()
    ran(page)
    page.get_by_text("The guard has stopped the release").wait_for()
    seen = page.locator(".sighting", has=page.get_by_text("name", exact=True)).first
    seen.get_by_role("button", name="Let it leave").click()
    page.get_by_text("Give the reason for releasing the column").wait_for()
    seen.get_by_role("button", name="Leave the column out").click()
    page.get_by_text("The column stays behind.").wait_for()
    assert "name" not in released.project.policy().schema
    ran(page)
    page.get_by_text("Every requirement holds.").wait_for()
    released.project.change(lambda _: before)


def test_a_title_is_written_into_the_policy_and_a_wrong_path_refused(released, visit):
    page = visit(released)
    page.goto(f"{released.address}/release")
    page.get_by_text("About the release", exact=True).click()
    page.get_by_label("title").fill("Visits 2025")
    page.locator("form", has=page.get_by_label("title")).get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert released.project.policy().about.title == "Visits 2025"
    page.get_by_text("Where it goes", exact=True).click()
    page.get_by_label("path").fill("../elsewhere.csv")
    page.locator("form", has=page.get_by_label("path")).get_by_role("button", name="Save").click()
    page.get_by_role("alert").get_by_text("lies outside the project's folder").wait_for()
    assert "elsewhere" not in released.project.text


def test_a_policy_that_was_broken_by_hand_is_told_and_can_be_mended(released, visit):
    page = visit(released)
    good = released.project.text
    with replace_file(released.project.path, 0o600) as draft:
        draft.write_text(good.replace("k = 5", "k = 0"), "utf-8")
    page.goto(f"{released.address}/show")
    page.get_by_text("The policy cannot be read").wait_for()
    page.get_by_label("policy.toml").fill(good)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert released.project.text == good


def test_the_verdict_belongs_to_the_release_whatever_the_policy_is_now(released, visit):
    """After an edit of the policy, Verify shows its verdict; after another run, none of the release before it."""
    before = released.project.text
    page = visit(released)
    page.goto(f"{released.address}/release")
    released.project.change(lambda text: toml_edit.set_value(text, ("about", "contact"), "a@example.org"))
    page.goto(f"{released.address}/release")
    page.get_by_text("The policy has changed since this run").wait_for()
    page.get_by_role("button", name="Verify now").click()
    verdict = page.locator(".box", has_text="checks hold")
    verdict.wait_for(timeout=120_000)
    released.project.change(lambda text: toml_edit.set_value(text, ("about", "contact"), "b@example.org"))
    page.goto(f"{released.address}/release")
    assert verdict.count() == 1, "the verdict of this release stays"
    ran(page)
    page.get_by_text("Every requirement holds.").wait_for()
    assert verdict.count() == 0, "the new release was not verified"
    page.get_by_role("button", name="Verify now").click()
    verdict.wait_for(timeout=120_000)
    released.project.change(lambda _: before)
