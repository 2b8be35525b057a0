"""The texts of the report in its languages: words, names of measures for people, what each part is."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from celosia.parts import summary
from celosia.show.look import LANGUAGES, texts

HOME = "celosia.release.report"


@functools.cache
def words(language: str) -> dict[str, Any]:
    """The texts of a language, the names of measures, and what each part is where that is not English."""
    if language not in LANGUAGES:
        from celosia.errors import UnknownName

        raise UnknownName.of("language", language, LANGUAGES)
    meanings = {} if language == "en" else texts(HOME, f"parts.{language}")  # English stands in the docstrings
    names = dict(texts(HOME, "names.en"))  # the texts are cached
    for kind, own in texts(HOME, f"names.{language}").items():
        names[kind] = names.get(kind, {}) | own
    return texts(HOME, language) | {"meanings": meanings, "names": names}


def title(part: Any, w: Mapping[str, Any]) -> str:
    """The name of a measure or a requirement for people; a part of another package goes by its own."""
    return str(w["names"].get(part.kind, {}).get(part.name, part.name))


def meaning(part: Any, w: Mapping[str, Any]) -> str:
    """What a part is, in the language of the report; a part of another package is told in English."""
    translated: str | None = w["meanings"].get(part.kind, {}).get(part.name)
    return translated or summary(part).replace("``", "")
