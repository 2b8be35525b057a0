"""Finding what a column name means, whatever its spelling."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from celosia.data.schema import Role
from celosia.proposals.meanings import Meaning, meaning_named, meanings

#: Letters that have no accent to be taken off.
LETTERS = str.maketrans({"ß": "ss", "ẞ": "SS", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe"})
#: "city_name" is a city: a bare word for name gives way to what it is the name of.
BARE_NAMES = frozenset([("name",), ("nombre",), ("nom",), ("nome",), ("naam",)])
#: Words that end like a number of its own and are none.
NO_ID = frozenset(
    ["paid", "unpaid", "prepaid", "covid", "valid", "invalid", "void", "solid", "acid", "lipid", "rapid", "mid"]
)
JOINING = frozenset(["de", "del", "la", "el", "of", "the", "d", "l", "di", "da", "do", "des", "du", "der", "den"])
#: What follows one of these words is not the attribute: the age in "age at diagnosis" is an age.
PREPOSITIONS = frozenset(
    ("at", "of", "in", "for", "by", "when", "since", "with", "on", "from", "to", "per", "de", "del", "da", "do", "du",
     "des", "en", "al", "aan", "bei", "von", "im")
)  # fmt: skip
#: Parts of fused words that mean nothing by themselves: "agegrp" is an age, "hhsize" a size.
BEFORE = ("hh", "num", "tot", "avg", "max", "min", "log", "ln")
AFTER = (
    "group", "grp", "gr", "grps", "category", "categ", "catg", "cat", "class", "code", "cod", "cd", "num", "nr", "no",
    "years", "yrs", "yr", "type", "typ", "status", "stat", "level", "lev", "lvl", "flag", "fl", "yn", "bin", "dum",
    "dummy", "cont", "raw", "rec", "recode", "new", "orig", "adj", "std", "sq", "pct", "perc", "rate", "id", "date",
    "dt", "score", "ratio", "size", "cm", "kg", "mm",
)  # fmt: skip
#: Codes of two letters before the names of CDISC variables (AESTDTC, LBORRES).
DOMAINS = (
    "ae", "ce", "cm", "dm", "ds", "eg", "ex", "ie", "lb", "mh", "pc", "pe", "pr", "qs", "rs", "su", "sv", "tr",
    "tu", "vs",
)  # fmt: skip
#: Shortest beginning of a word that stands for it.
SHORTENED = 5
#: A text of more words than this is a description, not a name.
NAME_WORDS = 6


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column name: no accents, no case, split at signs and at capitals.

    >>> words_of("DataNaixement"), words_of("fecha_de_nacimiento"), words_of("HIVStatus2")
    (('data', 'naixement'), ('fecha', 'de', 'nacimiento'), ('hiv', 'status'))
    """
    return tuple(word for token in _tokens(name) for word in _without_number(token))


def _without_number(token: str) -> tuple[str, ...]:
    """Return a word without the digits at its end, unless they belong to it: ``cd4count`` is of ``cd4``."""
    letters, digits, rest = re.fullmatch(r"([a-z]+)(\d*)([a-z]*)", token).groups()  # type: ignore[union-attr]
    if token in _numbered():
        return (token,)
    if digits and letters + digits in _numbered() and rest:
        return (letters + digits, rest)
    return (letters,)


def _tokens(name: str) -> list[str]:
    """Return the words of a name with the digits that follow each."""
    text = unicodedata.normalize("NFKD", name.translate(LETTERS))
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return re.findall(r"[a-z]+(?:\d+[a-z]*)?", text.lower())


@cache
def _numbered() -> frozenset[str]:
    """Words of the vocabulary whose digits belong to them: ``icd10``, ``cd4``, ``t3``."""
    words = (word for meaning in meanings() for phrase in meaning.phrases for word in phrase.split())
    return frozenset(word for word in words if re.fullmatch(r"[a-z]+\d+[a-z]*", word))


@cache
def _phrases() -> tuple[dict[tuple[str, ...], list[int]], dict[str, list[int]]]:
    """Which meanings (by their places) each phrase has: by its words, and written in one word."""
    by_words: dict[tuple[str, ...], list[int]] = {}
    by_letters: dict[str, list[int]] = {}
    for place, meaning in enumerate(meanings()):
        for phrase in meaning.phrases:
            words = words_of(phrase)
            by_words.setdefault(words, []).append(place)
            bare = tuple(word for word in words if word not in JOINING)
            if bare and bare != words:
                by_words.setdefault(bare, []).append(place)
            by_letters.setdefault("".join(words), []).append(place)
    return by_words, by_letters


@cache
def _words() -> frozenset[str]:
    """Words of all phrases."""
    return frozenset(word for words in _phrases()[0] for word in words)


@cache
def _beginnings() -> dict[str, str | None]:
    """Return the word that a beginning stands for; None where it begins words of several meanings."""
    by_words, _ = _phrases()
    full_words: dict[str, str | None] = {}
    singles = {words[0]: places[0] for words, places in by_words.items() if len(words) == 1}
    for word, place in singles.items():
        for length in range(SHORTENED, len(word)):
            short = word[:length]
            other = full_words.setdefault(short, word)
            if other is not None and singles[other] != place:
                full_words[short] = None
    return full_words


@cache
def _vocabulary_words(word: str) -> tuple[str, ...]:
    """Return the words of the vocabulary that a written word is made of; the word itself if there are none.

    >>> [_vocabulary_words(word) for word in ("wagegrp", "nationalit", "kids", "wagen")]
    [('wage', 'grp'), ('nationality',), ('kids',), ('wagen',)]
    """
    by_words, by_letters = _phrases()
    if word in _words() or word in by_letters or len(word) < 4:
        return (word,)
    for end in AFTER:
        stem = word.removesuffix(end)
        if stem != word and len(stem) >= 3 and (stem,) in by_words:
            return (stem, end)
    for start in (*BEFORE, *DOMAINS):
        stem = word.removeprefix(start)
        if stem != word and len(stem) >= 3 and (stem,) in by_words:
            return (start, stem)
    plural = word.removesuffix("s")
    if (plural,) in by_words or (word + "s",) in by_words:
        return (plural,) if (plural,) in by_words else (word + "s",)
    full = _beginnings().get(word)
    return (full,) if full else (word,)


@cache
def meanings_of(name: str) -> list[Meaning]:
    """Return what a column name, or the description of a column, can mean, most likely first.

    The whole name before a part of it, longer phrases before shorter ones, bare words for names and codes last. Of
    words that mean different things the measurement at the end decides (*job stress*), then a fact that others know
    at either end (*age at diagnosis*).

    >>> [m.what for m in meanings_of("fecha_nacimiento")], [m.what for m in meanings_of("wagen")]
    (['birth date', 'date of an event'], [])
    >>> meanings_of("age_at_diagnosis")[0].what, meanings_of("jobStress")[0].what, meanings_of("ID_MUNICIP")[0].what
    ('age', 'wellbeing or mental state', 'place')
    """
    written = words_of(name)
    by_words, by_letters = _phrases()
    meaning_at = meanings()
    bare_letters = "".join(word for word in written if word not in JOINING)
    whole = sorted({place for text in ("".join(written), bare_letters) for place in by_letters.get(text, [])})
    words = tuple(part for word in written for part in _vocabulary_words(word))
    bare = tuple(word for word in words if word not in JOINING)
    head = next((i for i, word in enumerate(words) if i and word in PREPOSITIONS), len(words))
    ends = len([word for word in words[:head] if word not in JOINING])
    parts = {
        (*_rank(meaning_at[place], start, start + len(part), ends, len(bare)), place, part)
        for run, text in ((words, False), (bare, True))
        for start, part in _parts(run)
        if text or len(part) > 1
        for place in by_words.get(part, [])
    }
    inside = [(key[-1], meaning_at[key[-2]]) for key in sorted(parts)]
    strong = [m for part, m in inside if not m.weak and part not in BARE_NAMES and not _bare_person(part, m)]
    ranked = [
        *(meaning_at[place] for place in whole if not meaning_at[place].vague),
        *(m for m in strong if not m.vague),
        *(m for _, m in inside if not m.weak and not m.vague),
        *(m for _, m in inside if not m.vague),
        *(meaning_at[place] for place in whole),
        *strong,
    ]
    if not ranked and any(word.endswith("id") and word not in NO_ID for word in words):  # userid, patid
        ranked = [meaning_named("number or code of its own")]
    return list({meaning.what: meaning for meaning in ranked}.values())


def _rank(meaning: Meaning, start: int, end: int, head: int, words: int) -> tuple[int, int, int]:
    """Return how likely a phrase decides what a name means: its length, its place, how much it says."""
    described = words > NAME_WORDS
    if meaning.measure and (end == head or described):
        decisive = 0
    elif meaning.firm and (start == 0 or end == head):
        decisive = 1
    else:
        decisive = 2
    if described and meaning.firm and start <= 1:
        decisive = 0
    return -(end - start), int(start >= head), decisive


def meaning_of(name: str) -> Meaning | None:
    """Return the likeliest meaning of a column name, or None.

    >>> meaning_of("codi_postal").what, meaning_of("PrimerApellido").what, meaning_of("wagen")
    ('postcode', 'name of a person', None)
    """
    return next(iter(meanings_of(name)), None)


def _bare_person(part: tuple[str, ...], meaning: Meaning) -> bool:
    """Return whether one word names a person but not the attribute: the sex in "sexe_alumne" is of a pupil."""
    return len(part) == 1 and meaning.role == Role.PERSON


def _parts(words: tuple[str, ...]) -> set[tuple[int, tuple[str, ...]]]:
    """Return all runs of up to six words, one after the other, with the place of the first."""
    return {(i, words[i:j]) for i in range(len(words)) for j in range(i + 1, min(i + 6, len(words)) + 1)}
