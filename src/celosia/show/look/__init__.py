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
    given = tomllib.loads((resources.files("celosia.show.look") / "tokens.toml").read_text("utf-8"))
    same, light, dark = ("".join(f"--{name}:{value};" for name, value in given[key].items()) for key in given)
    return (
        f":root{{color-scheme:light dark;{same}{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=light]{{color-scheme:light}}\n:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
    )


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
