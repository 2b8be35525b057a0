"""Texts of the report in its languages: phrases, display names of measures, descriptions of parts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from celosia.parts import Part, summary
from celosia.show.look import LANGUAGES, texts

HOME = "celosia.release.report"


@functools.cache
def words(language: str) -> dict[str, Any]:
    """Texts of a language, with the names of measures and, unless English, the descriptions of parts."""
    if language not in LANGUAGES:
        from celosia.errors import UnknownName

        raise UnknownName.of("language", language, LANGUAGES)
    meanings = {} if language == "en" else texts(HOME, f"parts.{language}")  # English descriptions are the docstrings
    names = dict(texts(HOME, "names.en"))  # a copy, because the texts are cached
    for kind, own in texts(HOME, f"names.{language}").items():
        names[kind] = names.get(kind, {}) | own
    return texts(HOME, language) | {"meanings": meanings, "names": names}


def title(part: Part, w: Mapping[str, Any]) -> str:
    """Display name of a measure or a requirement; for a part of another package the name of the part."""
    return str(w["names"].get(part.kind, {}).get(part.name, part.name))


def description(part: Part | type[Part], w: Mapping[str, Any]) -> str:
    """Return the description of a part in the language of the report; in English for a part of another package."""
    translated: str | None = w["meanings"].get(part.kind, {}).get(part.name)
    return translated or summary(part).replace("``", "")
