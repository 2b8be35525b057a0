"""Names of persons: small dictionaries of common given and family names, and how a text is compared with them."""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: Letters with accents, in lower case, and the letter without: one for one, so that a place in a text stays the same.
PLAIN = {
    letter: bare
    for letter in map(chr, range(0xDF, 0x180))
    if (bare := unicodedata.normalize("NFKD", letter)[0]) != letter and bare.isalpha() and letter == letter.lower()
}
#: What may stand between two words of a name.
BETWEEN = r"(?:,? (?:de la |de los |de las |del |de |dos |da |do |di |i |y |e |van der |van |von |el )?|-)"
#: A column of names has at least so many values, and this share of those that are tried are names.
FEWEST, MOSTLY, TRIED = 8, 0.5, 200
TITLES = r"(?:sr|sra|srta|dr|dra|don|dona|mr|mrs|ms|miss|senyor|senyora|senor|senora|monsieur|madame|herr|frau)"


@functools.cache
def name_words() -> tuple[frozenset[str], frozenset[str]]:
    """All given and family names, and those of them that are no everyday words."""
    lists = tomllib.loads((resources.files("celosia.proposals.recognition") / "names.toml").read_text("utf-8"))
    every = frozenset(word for kind in ("given", "family") for text in lists[kind].values() for word in text.split())
    return every, every - frozenset(lists["ambiguous"]["words"].split())


def fold(texts: pl.Series) -> pl.Series:
    """Return texts in lower case, without accents.

    >>> import polars as pl
    >>> fold(pl.Series(["María MUÑOZ"])).to_list()
    ['maria munoz']
    """
    return texts.str.to_lowercase().str.replace_many(list(PLAIN), list(PLAIN.values()))


@functools.cache
def full_name() -> str:
    """Return a regular expression for a title and a name, or two adjacent names, in folded texts.

    One of the words must be a name only: "Victoria Hill" is a place more often than a person.

    >>> bool(re.search(full_name(), "visita de maria garcia")), bool(re.search(full_name(), "victoria hill"))
    (True, False)
    """
    every, strict = ("|".join(sorted(map(re.escape, words), key=len, reverse=True)) for words in name_words())
    return rf"\b(?:(?:{strict}){BETWEEN}(?:{every})|(?:{every}){BETWEEN}(?:{strict})|{TITLES}\.? (?:{every}))\b"


def only_names(texts: pl.Series) -> pl.Series:
    """Which texts hold nothing but words of names.

    >>> import polars as pl
    >>> only_names(pl.Series(["García", "Ana María", "red"])).to_list()
    [True, True, False]
    """
    every = "|".join(map(re.escape, name_words()[0]))
    form = rf"^\s*(?:{every})(?:[\s,._-]+(?:{every}))*\s*$"
    apart = texts.str.replace_all(r"(\p{Ll})(\p{Lu})", "$1 $2")  # MariaGarcia
    return fold(texts).str.contains(form) | fold(apart).str.contains(form)


def mostly_names(values: Sequence[str]) -> bool:
    """Return whether most values of a column are names of persons; a few values could be names of places or products.

    >>> mostly_names(["García Peña, Lucía", "Ana Ruiz", "Pau Vila", "Marta Gil"] * 2), mostly_names(["red", "blue"] * 4)
    (True, False)
    """
    import polars as pl

    if len(values) < FEWEST:
        return False
    texts = pl.Series(values[:TRIED], dtype=pl.String)
    named = only_names(texts) | fold(texts).str.contains(full_name())
    return int(named.sum()) > MOSTLY * len(texts)
