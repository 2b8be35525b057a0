"""Finding what a column name means, whatever its spelling."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from celosia.data.schema import Role
from celosia.proposals.meanings import Meaning, meaning_named, meanings

#: Letters that have no accent to be taken off.
LETTERS = str.maketrans({"ß": "ss", "ẞ": "SS", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe"})
#: Words whose digits belong to them.
NUMBERED = frozenset(["icd9", "icd10", "cie9", "cie10", "cim10", "ipv4", "ipv6", "phq9", "gad7", "hba1c", "zip4"])
#: "city_name" is a city: a bare word for name gives way to what it is the name of.
BARE_NAMES = frozenset([("name",), ("nombre",), ("nom",), ("nome",), ("naam",)])
#: Words that end like a number of its own and are none.
NO_ID = frozenset(
    ["paid", "unpaid", "prepaid", "covid", "valid", "invalid", "void", "solid", "acid", "lipid", "rapid", "mid"]
)
JOINING = frozenset(["de", "del", "la", "el", "of", "the", "d", "l", "di", "da", "do", "des", "du", "der", "den"])


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column name: no accents, no case, split at signs and at capitals.

    >>> words_of("DataNaixement"), words_of("fecha_de_nacimiento"), words_of("HIVStatus2")
    (('data', 'naixement'), ('fecha', 'de', 'nacimiento'), ('hiv', 'status'))
    """
    text = unicodedata.normalize("NFKD", name.translate(LETTERS))
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    words = re.findall(r"[a-z]+(?:\d+[a-z]*)?", text.lower())
    return tuple(w if w in NUMBERED else re.sub(r"\d+[a-z]*$", "", w) for w in words)


@cache
def _phrases() -> tuple[dict[tuple[str, ...], list[int]], dict[str, list[int]]]:
    """Which meanings (by their places) each phrase has: by its words, and written in one word."""
    by_words: dict[tuple[str, ...], list[int]] = {}
    by_letters: dict[str, list[int]] = {}
    for place, meaning in enumerate(meanings()):
        for phrase in meaning.phrases:
            words = tuple(phrase.split())
            by_words.setdefault(words, []).append(place)
            by_letters.setdefault("".join(words), []).append(place)
    return by_words, by_letters


def meanings_of(name: str) -> list[Meaning]:
    """Return what a column name can mean, most likely first.

    The whole name before a part of it, longer phrases before shorter ones, bare words for names and codes last.

    >>> [m.what for m in meanings_of("fecha_ingreso")], [m.what for m in meanings_of("wagen")]
    (['date of an event'], [])
    """
    words = words_of(name)
    bare = tuple(word for word in words if word not in JOINING)
    by_words, by_letters = _phrases()
    meaning_at = meanings()
    whole = sorted(place for text in {"".join(words), "".join(bare)} for place in by_letters.get(text, []))
    parts = {(-len(part), place, part) for part in _parts(words) | _parts(bare) for place in by_words.get(part, [])}
    inside = [(part, meaning_at[place]) for _, place, part in sorted(parts)]
    strong = [m for part, m in inside if not m.weak and part not in BARE_NAMES and not _bare_person(part, m)]
    ranked = [
        *(meaning_at[place] for place in whole),
        *strong,
        *(m for _, m in inside if not m.weak),
        *(m for _, m in inside),
    ]
    if not ranked and any(word.endswith("id") and word not in NO_ID for word in words):  # userid, patid
        ranked = [meaning_named("number or code of its own")]
    return list({meaning.what: meaning for meaning in ranked}.values())


def meaning_of(name: str) -> Meaning | None:
    """Return the likeliest meaning of a column name, or None.

    >>> meaning_of("codi_postal").what, meaning_of("PrimerApellido").what, meaning_of("wagen")
    ('postcode', 'name of a person', None)
    """
    return next(iter(meanings_of(name)), None)


def _bare_person(part: tuple[str, ...], meaning: Meaning) -> bool:
    """Return whether one word names a person but not the attribute: the sex in "sexe_alumne" is of a pupil."""
    return len(part) == 1 and meaning.role == Role.PERSON


def _parts(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return all runs of words, one after the other."""
    return {words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
