"""Meanings of column names, read from ``meanings.toml``: phrases in the large languages of Europe."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any

from celosia.data.schema import Kind, Role

LANGUAGES = ("en", "es", "ca", "fr", "de", "it", "pt", "pl", "nl", "codes")


@dataclass(frozen=True)
class Meaning:
    """Meaning of a name: a term for people, the role it suggests, its HIPAA type, the kind and bounds it implies."""

    what: str
    role: Role
    hipaa: int | None = None
    kind: Kind | None = None
    bounds: tuple[float, float] | None = None
    #: A bare word such as *id* or *code*: says something only when the content agrees.
    weak: bool = False
    #: Does not change from one row of a person to the next.
    fixed: bool = False
    #: Remarks in somebody's own words.
    free: bool = False
    #: Says something only of a column of dates: *alta* and *ingreso* are a discharge and an admission then.
    date: bool = False
    #: A measurement or an answer: as the last word of a name it decides (*job stress*).
    measure: bool = False
    #: A fact that others know of a person: at either end of a name it decides (*age at diagnosis*).
    firm: bool = False
    #: A general word, such as *level* or *status*: says something only where no other word does.
    vague: bool = False
    #: Describes the study, not the person.
    design: bool = False
    phrases: tuple[str, ...] = ()


@cache
def meanings() -> tuple[Meaning, ...]:
    """All meanings, in the order in which they are preferred.

    >>> next(m.what for m in meanings() if "codi postal" in m.phrases)
    'postcode'
    """
    text = resources.files("celosia.proposals").joinpath("meanings.toml").read_text(encoding="utf-8")
    return tuple(_parse_meaning(entry) for entry in tomllib.loads(text)["meaning"])


def meaning_named(what: str) -> Meaning:
    """Return the meaning of that name."""
    return next(meaning for meaning in meanings() if meaning.what == what)


def _parse_meaning(entry: dict[str, Any]) -> Meaning:
    """Build one meaning from its table."""
    phrases = [phrase.strip() for language in LANGUAGES for phrase in entry.get(language, "").split(",")]
    names = {field.name for field in fields(Meaning)}
    facts = {key: value for key, value in entry.items() if key in names}
    facts["role"] = Role(entry["role"])
    facts["kind"] = Kind(entry["kind"]) if "kind" in entry else None
    facts["bounds"] = tuple(entry["bounds"]) if "bounds" in entry else None
    return Meaning(**facts, phrases=tuple(dict.fromkeys(phrase for phrase in phrases if phrase)))
