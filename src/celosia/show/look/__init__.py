"""The look that all pages share, and the languages they are in."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

LANGUAGES = ("en", "es", "ca")


@functools.cache
def tokens() -> str:
    """The style sheet of colours, type and spacing: light and dark as the system has it, or as ``data-theme`` says."""
    same, day, dark = (_properties(key) for key in ("same", "light", "dark"))
    return (
        f":root{{color-scheme:light dark;{same}{day}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=light]{{color-scheme:light}}\n:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
    )


def light() -> str:
    """The colours of the light theme as properties: what is printed has them in any theme."""
    return _properties("light")


def colours() -> dict[str, str]:
    """The colours of the light theme by name, for what knows no style sheet."""
    return dict(_given()["light"])


@functools.cache
def _given() -> dict[str, dict[str, str]]:
    return tomllib.loads((resources.files("celosia.show.look") / "tokens.toml").read_text("utf-8"))


def _properties(key: str) -> str:
    return "".join(f"--{name}:{value};" for name, value in _given()[key].items())


@functools.cache
def texts(package: str, name: str) -> dict[str, Any]:
    """A file of words of a package."""
    return tomllib.loads((resources.files(package) / "words" / f"{name}.toml").read_text("utf-8"))


def preferred(asked: str | None, cookie: str | None, header: str) -> str:
    """The language to use: asked for, remembered, or the first of the browser's that there is.

    >>> preferred(None, None, "fr, ca;q=0.8, en;q=0.5"), preferred("es", "ca", "en"), preferred(None, None, "")
    ('ca', 'es', 'en')
    """
    listed = [part.split(";")[0].strip().lower()[:2] for part in header.split(",")]
    return next((language for language in (asked, cookie, *listed) if language in LANGUAGES), "en")
