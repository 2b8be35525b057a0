"""Pages of a browser that are watched: what they say on the console, whom they ask, what axe finds on them."""

from __future__ import annotations

from typing import Any

PATIENCE = 60_000
"""Milliseconds that a page may take on a machine that is busy."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FINISH_ANIMATIONS = """document.getAnimations()
  .filter(each => Number.isFinite(each.effect.getComputedTiming().endTime) && each.playbackRate)
  .forEach(each => each.finish())"""
"""Ends transitions of colours at once: their ``finished`` promise may wait for a frame that is never drawn."""
REFUSED = "the server responded with a status of 4"
"""What a browser says of a refusal, which is a page like others here."""


def watched(browser: Any, address: str, first: str = "", *, refusals: bool = False, **look: Any) -> Any:
    """A page of a site, at its ``first`` address; its list ``wrong`` holds errors of the console and foreign requests.

    ``refusals`` says that pages which refuse something, with their status, are part of what is tried.
    """
    context = browser.new_context(**look)
    context.set_default_timeout(PATIENCE)
    context.set_default_navigation_timeout(2 * PATIENCE)  # a first page may have to be compiled
    page = context.new_page()
    wrong: list[str] = []

    def said(message: Any) -> None:
        if message.text.startswith("htmx:sendAbort"):  # the page was left meanwhile: told twice, and no fault
            wrong[:] = wrong[:-1] if wrong and wrong[-1].startswith("htmx:afterRequest") else wrong
        elif message.type in ("error", "warning") and not (refusals and REFUSED in message.text):
            wrong.append(message.text)

    def asked(request: Any) -> None:
        if not request.url.startswith((address, "data:", "about:", "blob:")):
            wrong.append(f"asks {request.url}")

    page.on("console", said)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", asked)
    page.goto(first or address)
    page.wrong = wrong
    return page


def violations(page: Any) -> list[tuple[str, list[str]]]:
    """What axe finds against WCAG 2.2 AA: the rule, and where."""
    from axe_playwright_python.sync_playwright import Axe

    page.wait_for_load_state("load")  # without its style sheet a page has other colours
    page.evaluate(FINISH_ANIMATIONS)
    broken = Axe().run(page, options={"runOnly": RULES}).response["violations"]
    return [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in broken]


def width(page: Any) -> int:
    """How wide a page is, also where it is cut off."""
    return int(page.evaluate("document.documentElement.scrollWidth"))
