"""Finding what a column name means, whatever its spelling."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from celosia.proposals.meanings import Meaning, meanings

#: Letters that have no accent to be taken off.
LETTERS = str.maketrans({"ß": "ss", "ẞ": "SS", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe"})
#: Words whose digits belong to them.
NUMBERED = frozenset(["icd9", "icd10", "cie9", "cie10", "cim10", "ipv4", "ipv6", "phq9", "gad7", "hba1c", "zip4"])
#: "city_name" is a city: a bare word for name gives way to what it is the name of.
BARE_NAMES = frozenset([("name",), ("nombre",), ("nom",), ("nome",), ("naam",)])
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
def _phrases() -> tuple[tuple[tuple[str, ...], Meaning], ...]:
    """Every phrase as words with its meaning, longest first, in the order of the meanings."""
    pairs = [(tuple(phrase.split()), meaning) for meaning in meanings() for phrase in meaning.phrases]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


def meanings_of(name: str) -> list[Meaning]:
    """Return what a column name can mean, most likely first.

    The whole name before a part of it, longer phrases before shorter ones, bare words for names and codes last.

    >>> [m.what for m in meanings_of("fecha_ingreso")], [m.what for m in meanings_of("wagen")]
    (['date of an event'], [])
    """
    words = words_of(name)
    bare = tuple(word for word in words if word not in JOINING)
    joined = {"".join(words), "".join(bare)}
    whole = [m for phrase, m in _phrases() if "".join(phrase) in joined]
    inside = [(p, m) for p, m in _phrases() if _inside(p, words) or _inside(p, bare)]
    strong = [m for p, m in inside if not m.weak and p not in BARE_NAMES]
    ranked = [*whole, *strong, *(m for _, m in inside if not m.weak), *(m for _, m in inside)]
    return list({meaning.what: meaning for meaning in ranked}.values())


def meaning_of(name: str) -> Meaning | None:
    """Return the likeliest meaning of a column name, or None.

    >>> meaning_of("codi_postal").what, meaning_of("PrimerApellido").what, meaning_of("wagen")
    ('postcode', 'name of a person', None)
    """
    return next(iter(meanings_of(name)), None)


def _inside(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Say whether the phrase occurs among the words, one after the other."""
    size = len(phrase)
    return any(words[i : i + size] == phrase for i in range(len(words) - size + 1))
