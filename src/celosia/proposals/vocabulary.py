"""Finding what a column name means, whatever its spelling."""

from __future__ import annotations

import re
import unicodedata

from celosia.proposals.meanings import MEANINGS, Meaning


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column name: no accents, no case, split at signs and at capitals.

    >>> words_of("DataNaixement"), words_of("fecha_de_nacimiento"), words_of("HIVStatus2")
    (('data', 'naixement'), ('fecha', 'de', 'nacimiento'), ('hiv', 'status'))
    """
    text = unicodedata.normalize("NFKD", name.replace("ñ", "n").replace("Ñ", "N"))
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    words = re.findall(r"[a-z]+\d*", text.lower())
    trimmed = [
        re.sub(r"\d+$", "", w) if w not in ("icd9", "icd10", "cie9", "cie10", "cim10", "ipv4", "ipv6") else w
        for w in words
    ]
    return tuple(trimmed)


def _phrases() -> list[tuple[tuple[str, ...], Meaning]]:
    """Return every phrase as words with its meaning, longest first, in the order of the meanings."""
    pairs = [(tuple(p.split()), m) for m in MEANINGS for p in m.words.split(",") if p.strip()]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


PHRASES = _phrases()


def meaning_of(name: str) -> Meaning | None:
    """Return what a column name means, or None.

    >>> meaning_of("codi_postal").what, meaning_of("PrimerApellido").what, meaning_of("wagen")
    ('postcode', 'name of a person', None)
    """
    words = words_of(name)
    joined = "".join(words)
    for phrase, meaning in PHRASES:
        if "".join(phrase) == joined:
            return meaning
    found = [(phrase, meaning) for phrase, meaning in PHRASES if _inside(phrase, words)]
    # "city_name" is a city: a bare word for name gives way to what it is the name of, a bare id to anything.
    strong = [m for p, m in found if not m.weak and p not in (("name",), ("nombre",), ("nom",))]
    ranked = [*strong, *(m for _, m in found if not m.weak), *(m for _, m in found)]
    return ranked[0] if ranked else None


def _inside(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Say whether the phrase occurs among the words, one after the other."""
    size = len(phrase)
    return any(words[i : i + size] == phrase for i in range(len(words) - size + 1))
