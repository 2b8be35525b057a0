"""The look that all pages share, and the languages they are in."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

LANGUAGES = ("en", "es", "ca")


@functools.cache
def tokens() -> str:
    """Return the style sheet of colours, type and spacing, light and dark by the system or by ``data-theme``."""
    same, day, dark = (_properties(key) for key in ("same", "light", "dark"))
    return (
        f":root{{color-scheme:light dark;{same}{day}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=light]{{color-scheme:light}}\n:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
    )


def light() -> str:
    """Return the colours of the light theme as CSS properties; prints use them in any theme."""
    return _properties("light")


def colours() -> dict[str, str]:
    """Return the colours of the light theme by name, for formats without a style sheet."""
    return dict(_themes()["light"])


@functools.cache
def _themes() -> dict[str, dict[str, str]]:
    return tomllib.loads((resources.files("celosia.show.look") / "tokens.toml").read_text("utf-8"))


def _properties(key: str) -> str:
    return "".join(f"--{name}:{value};" for name, value in _themes()[key].items())


@functools.cache
def texts(package: str, name: str) -> dict[str, Any]:
    """Return the translated texts of a package from ``words/NAME.toml``."""
    return tomllib.loads((resources.files(package) / "words" / f"{name}.toml").read_text("utf-8"))


def choose_language(asked: str | None, cookie: str | None, header: str) -> str:
    """Return the language to use: the requested one, the one in the cookie, or the browser's first that exists.

    >>> choose_language(None, None, "fr, ca;q=0.8, en;q=0.5"), choose_language("es", "ca", "en")
    ('ca', 'es')
    >>> choose_language(None, None, "")
    'en'
    """
    listed = [part.split(";")[0].strip().lower()[:2] for part in header.split(",")]
    return next((language for language in (asked, cookie, *listed) if language in LANGUAGES), "en")
