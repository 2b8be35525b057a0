"""Refusals in the language of the reader, and their status.

They are raised in English, where the reason is known, and are what the interface for programs says. The pages look the
sentence up in ``words/refusals.<language>.toml``, by its English form with ``{}`` for what is filled in; what is filled
in may itself be a sentence. One that has no translation is shown in English, and marked as such for screen readers.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from celosia.data.io.durable import Unavailable
from celosia.errors import BudgetError
from celosia.gateway.databases import NoAnswer
from celosia.gateway.ledger import Damaged
from celosia.show.look import texts


class Said(NamedTuple):
    """A text and the language it is in, empty where that is the language of the page."""

    text: str
    language: str = ""


def translated(sentence: str, language: str) -> Said:
    """A refusal in a language.

    >>> translated("the question has 7 groups; at most 5 are answered at once.", "es").text
    'la pregunta tiene 7 grupos; se responden como máximo 5 a la vez.'
    >>> translated("something else", "es")
    Said(text='something else', language='en')
    """
    if language == "en":
        return Said(sentence)
    text = _looked_up(sentence, language)
    return Said(sentence, "en") if text is None else Said(text)


def _looked_up(sentence: str, language: str) -> str | None:
    for pattern, translation in _patterns(language):
        match = pattern.fullmatch(sentence)
        if match:
            filled = [_looked_up(part, language) or part for part in match.groups()]
            return translation.format(*filled)
    return None


@functools.cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Those with the most words of their own first: the others might take them for what is filled in."""
    pairs = texts("celosia.gateway.site", f"refusals.{language}")["sentences"].items()
    ordered = sorted(pairs, key=lambda pair: -len(pair[0].replace("{}", "")))
    return [
        (re.compile("(.*?)".join(map(re.escape, english.split("{}"))), re.DOTALL), other) for english, other in ordered
    ]


def status(problem: Exception) -> int:
    """The HTTP status of a refusal: 403 for the budget, 503 without an answer of database or ledger, 400 otherwise."""
    if isinstance(problem, BudgetError):
        return 403
    return 503 if isinstance(problem, NoAnswer | Unavailable | Damaged) else 400
