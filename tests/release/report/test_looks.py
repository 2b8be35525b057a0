"""The report looks as it did: pictures of its first page and of its sections, at their own size, with a tolerance.

``CELOSIA_LOOKS=write`` keeps new pictures after a change that was meant; look at them before they are committed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.pixels import TOLERANCE, Looks

from celosia.demo import prepare
from celosia.release.evidence.certificate import Certificate
from celosia.release.report import LANGUAGES, render
from celosia.release.run import run

pytestmark = pytest.mark.xdist_group("report-looks")  # one release and its pictures for all of them
KEPT = Path(__file__).parent / "looks"
SECTIONS = ("changes", "risk", "columns", "dependences", "lattice")
LOOKS = [
    *((f"desktop-{language}", "external", language, 900, "light", "screen", ()) for language in LANGUAGES),
    *((f"phone-{language}", "external", language, 390, "light", "screen", ()) for language in LANGUAGES),
    ("dark", "internal", "en", 900, "dark", "screen", SECTIONS),
    ("phone-whole", "internal", "ca", 390, "light", "screen", SECTIONS),
    ("print", "internal", "es", 794, "dark", "print", SECTIONS),
]
"""Name, edition, language, width, theme, medium, and the sections besides the first page."""
HEIGHT = 900
"""A section is kept to this height: what repeats itself below needs no picture."""
NAMES = [f"{look[0]}{'-' * bool(part)}{part}" for look in LOOKS for part in ("", *look[-1])]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The release of the demonstration, made on a day that never changes."""
    made = run(prepare(tmp_path_factory.mktemp("looks"), persons=1500))
    stated = {**made.certificate["release"], "sha256": "0" * 64}
    fixed = {"created": "2026-01-02T03:04:05Z", "celosia": "1", "commitments": {"input": "0" * 64}, "release": stated}
    return replace(made, public=Certificate.of_file({**made.certificate, **fixed}))


@pytest.fixture(scope="module")
def pictures(release, browser, tmp_path_factory):
    """Every look as PNG, in one session of the browser."""
    place = tmp_path_factory.mktemp("pages")
    taken = {}
    for name, edition, language, width, scheme, media, parts in LOOKS:
        path = place / f"{name}.html"
        path.write_text(render(release, edition=edition, language=language), "utf-8")
        page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
        page.emulate_media(media=media)
        page.goto(path.as_uri())
        end = page.evaluate("document.querySelector('#requirements').getBoundingClientRect().top + scrollY")
        clip = {"x": 0, "y": 0, "width": width, "height": end}
        taken[name] = page.screenshot(full_page=True, clip=clip)
        for part in parts:
            box = page.locator(f"#{part}").bounding_box()
            clip = {"x": 0, "y": box["y"], "width": width, "height": min(HEIGHT, box["height"])}
            taken[f"{name}-{part}"] = page.screenshot(full_page=True, clip=clip)
        page.close()
    if os.environ.get("CELOSIA_LOOKS") == "write":
        for old in KEPT.glob("*.png"):
            old.unlink()
        for name, picture in taken.items():
            (KEPT / f"{name}.png").write_bytes(picture)
    return taken


@pytest.fixture(scope="module")
def looks(browser):
    return Looks(browser)


@pytest.mark.parametrize("name", NAMES)
def test_it_looks_as_it_did(pictures, looks, name):
    kept = (KEPT / f"{name}.png").read_bytes()
    assert looks.differing(kept, pictures[name]) <= TOLERANCE


def test_a_change_would_be_seen(pictures, looks):
    """Another language, another theme, an empty page: more pixels differ than the tolerance allows."""
    assert looks.differing(pictures["desktop-en"], pictures["desktop-es"]) > TOLERANCE
    assert looks.differing(pictures["dark"], pictures["print"]) > 10 * TOLERANCE
    assert looks.differing(pictures["phone-es"], pictures["phone-ca"]) > TOLERANCE
    seen = {name: looks.differing(picture, looks.blank(picture)) for name, picture in pictures.items()}
    assert {name for name, share in seen.items() if share <= TOLERANCE} == set()
    assert sorted(pictures) == sorted(path.stem for path in KEPT.glob("*.png")), "and no picture is left over"
