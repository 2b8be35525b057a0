"""Names of people: common given names, by which a column of names is known whatever it is called.

The commonest given names in the statistics of Spain, Catalonia, the United States, the United Kingdom, France, Germany,
Italy, Portugal, Poland and the Netherlands, without accents. A list of names proves nothing about one cell; half of the
cells of a column do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from importlib import resources

#: Share of the values that must hold a given name.
ENOUGH = 0.5
#: Fewer different values could be the name of a place or a product each.
FEWEST = 8

GIVEN = frozenset(resources.files("celosia.proposals").joinpath("given_names.txt").read_text("utf-8").split())
WORD = re.compile(r"[^\W\d_]+")
#: A name: two to five words of letters, perhaps with a comma, a full stop after an initial, an apostrophe or a hyphen.
SHAPE = re.compile(r"[^\W\d_]+(?:[ ,.'’-]+[^\W\d_]+){0,4}\.?")


def holds_given_name(text: str) -> bool:
    """Say whether a cell looks like a person's name and holds a common given name.

    >>> holds_given_name("GARCÍA PEÑA, LUCÍA"), holds_given_name("Calle Mayor 3"), holds_given_name("heart failure")
    (True, False, False)
    """
    text = text.strip()
    if not SHAPE.fullmatch(text) or not text[:1].isupper():
        return False
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return any(word in GIVEN for word in WORD.findall(plain.lower()))


def mostly_names(values: Sequence[str]) -> bool:
    """Say whether most of the values hold a given name; a few values could be names of places or products."""
    return len(values) >= FEWEST and sum(map(holds_given_name, values)) >= ENOUGH * len(values)
