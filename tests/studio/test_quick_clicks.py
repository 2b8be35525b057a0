"""Clicks that come faster than the server answers, and verdicts that belong to their run."""

from __future__ import annotations

import pytest
from tests.studio.conftest import running, until

from celosia.studio import toml_edit

pytestmark = pytest.mark.xdist_group("studio-clicks")


def wide(folder, columns):
    folder.mkdir()
    names = [f"v{i}" for i in range(columns)]
    rows = [",".join(str((i * j) % 7) for j in range(1, columns + 1)) for i in range(60)]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]))
    (folder / "policy.toml").write_text(
        '[input]\npath = "wide.csv"\n[schema]\nquasi = ["v0"]\n[output]\npath = "out.csv"\n'
    )


@pytest.mark.parametrize("columns", [40, pytest.param(500, marks=pytest.mark.long)])
def test_no_click_on_a_role_is_lost(tmp_path, columns, browser, visit):
    wide(tmp_path / "wide", columns)
    for studio in running(tmp_path / "wide"):
        page = visit(studio)
        page.set_default_timeout(60_000)
        page.goto(f"{studio.address}/data")
        page.locator("#c9-sensitive").wait_for()
        for i in range(2, 10):
            page.evaluate(f"document.getElementById('c{i}-sensitive').click()")
            page.wait_for_timeout(100)
        until(lambda studio=studio: len(toml_edit.get(studio.project.text, ("schema",)).get("sensitive", ())) == 8)
        page.locator(".role.sensitive[aria-pressed=true]").nth(7).wait_for()
        page.wait_for_load_state("networkidle")
        page.goto(f"{studio.address}/data", wait_until="networkidle")
        assert page.locator(".role.sensitive[aria-pressed=true]").count() == 8
        page.context.close()


def roles(studio, role):
    return toml_edit.get(studio.project.text, ("schema",)).get(role, ())


def test_no_click_is_lost_when_the_page_is_left(tmp_path, visit):
    """Eight columns are clicked at once, the last one twice, of which the second click counts."""
    wide(tmp_path / "wide", 40)
    for studio in running(tmp_path / "wide"):
        page = visit(studio)
        page.goto(f"{studio.address}/data")
        page.locator("#c9-sensitive").wait_for()
        clicks = "for (let i = 2; i < 10; i++) document.getElementById(`c${i}-sensitive`).click()"
        page.evaluate(f"() => {{ {clicks}; document.getElementById('c9-insensitive').click() }}")
        page.goto(f"{studio.address}/show")
        until(lambda studio=studio: [len(roles(studio, role)) for role in ("sensitive", "insensitive")] == [7, 1])
        page.context.close()


def test_roles_of_two_tabs_are_merged(tmp_path, desk):
    from celosia.studio.project import Project

    wide(tmp_path / "wide", 5)
    tabs = desk(Project(tmp_path / "wide"))
    before = tabs.project.version
    for name in ("v1", "v2", "v3"):
        assert tabs.post("/data/role", column=name, role="sensitive", version=before).status_code == 303
    assert list(toml_edit.get(tabs.project.text, ("schema", "sensitive"))) == ["v1", "v2", "v3"]
