"""The report looks as it did: pictures of it, with a tolerance, on a desktop and a phone, dark and printed.

``CELOSIA_LOOKS=write`` keeps new pictures after a change that was meant; look at them before they are committed.
"""

from __future__ import annotations

import base64
import os
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.demo import prepare
from celosia.release.report import LANGUAGES, render
from celosia.release.running import run

KEPT = Path(__file__).parent / "looks"
TOLERANCE = 0.02
"""Share of the pixels that may differ: fonts are drawn a little differently from one version to the next."""
FIRST, WHOLE = "first page", "whole"
LOOKS = [
    *((f"desktop-{language}", "external", language, 900, "light", "screen", FIRST) for language in LANGUAGES),
    *((f"phone-{language}", "external", language, 390, "light", "screen", FIRST) for language in LANGUAGES),
    ("dark", "internal", "en", 900, "dark", "screen", WHOLE),
    ("phone-whole", "external", "en", 390, "light", "screen", WHOLE),
    ("print", "internal", "en", 794, "dark", "print", WHOLE),
]
DIFFERENCE = """async ([before, after]) => {
  const [a, b] = await Promise.all([before, after].map(async data => {
    const image = new Image(); image.src = "data:image/png;base64," + data; await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }));
  const width = Math.min(a.width, b.width), height = Math.min(a.height, b.height);
  let differing = Math.max(a.width, b.width) * Math.max(a.height, b.height) - width * height;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const i = 4 * (y * a.width + x), j = 4 * (y * b.width + x);
    if ([0, 1, 2].some(k => Math.abs(a.data[i + k] - b.data[j + k]) > 64)) differing++;
  }
  return differing / (Math.max(a.width, b.width) * Math.max(a.height, b.height));
}"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The release of the demonstration, made on a day that never changes."""
    policy = prepare(tmp_path_factory.mktemp("looks"), persons=1500)
    policy.write_text(f'[about]\ntitle = "Visits of 2025"\norganisation = "Hospital"\n{policy.read_text()}')
    made = run(policy)
    stated = {**made.certificate["release"], "sha256": "0" * 64}
    fixed = {"created": "2026-01-02T03:04:05Z", "celosia": "1", "commitments": {"input": "0" * 64}, "release": stated}
    return replace(made, certificate={**made.certificate, **fixed})


@pytest.fixture(scope="module")
def pictures(release, browser, tmp_path_factory):
    """Every look as PNG, in one session of the browser."""
    place = tmp_path_factory.mktemp("pages")
    taken = {}
    for name, edition, language, width, scheme, media, extent in LOOKS:
        path = place / f"{name}.html"
        path.write_text(render(release, edition=edition, language=language), "utf-8")
        scale = 0.5 if extent == FIRST else 0.3
        page = browser.new_page(
            viewport={"width": width, "height": 900}, device_scale_factor=scale, color_scheme=scheme
        )
        page.emulate_media(media=media)
        page.goto(path.as_uri())
        end = "document.querySelector('nav.contents').getBoundingClientRect().bottom"
        height = page.evaluate(end if extent == FIRST else "document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": height}
        taken[name] = page.screenshot(full_page=True, clip=clip)
        page.close()
    if os.environ.get("CELOSIA_LOOKS") == "write":
        KEPT.mkdir(exist_ok=True)
        for name, picture in taken.items():
            (KEPT / f"{name}.png").write_bytes(picture)
    return taken


@pytest.fixture(scope="module")
def difference(browser):
    """The share of the pixels in which two pictures differ, counted by the browser."""
    page = browser.new_page()
    yield lambda a, b: page.evaluate(DIFFERENCE, [base64.b64encode(picture).decode() for picture in (a, b)])
    page.close()


@pytest.mark.parametrize("name", [look[0] for look in LOOKS])
def test_it_looks_as_it_did(pictures, difference, name):
    kept = (KEPT / f"{name}.png").read_bytes()
    assert difference(kept, pictures[name]) <= TOLERANCE


def test_a_change_would_be_seen(pictures, difference):
    """Another language, another theme: more pixels differ than the tolerance allows."""
    assert difference(pictures["desktop-en"], pictures["desktop-es"]) > TOLERANCE
    assert difference(pictures["dark"], pictures["print"]) > 10 * TOLERANCE
    assert difference(pictures["phone-es"], pictures["phone-ca"]) > TOLERANCE
