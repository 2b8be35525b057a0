"""Refusals of the gateway as its pages show them, and their HTTP status."""

from __future__ import annotations

from typing import NamedTuple

from celosia.data.io.durable import Unavailable
from celosia.errors import BudgetError, CelosiaError
from celosia.gateway.databases import NoAnswer
from celosia.gateway.ledger import Damaged
from celosia.show.messages import translate


class Text(NamedTuple):
    """A text and its language, empty where that is the language of the page."""

    text: str
    language: str = ""


def translate_refusal(refusal: CelosiaError, language: str) -> Text:
    """Return the message of a refusal in a language; in English, marked as such, where it has no translation.

    >>> from celosia.errors import InputError
    >>> translate_refusal(InputError("GROUP BY names a place that the query does not have."), "es").text
    'GROUP BY nombra un lugar que la consulta no tiene.'
    >>> translate_refusal(InputError("something else"), "es")
    Text(text='something else', language='en')
    """
    if language == "en":
        return Text(str(refusal))
    text = translate(refusal.message, language)
    return Text(str(refusal), "en") if text is None else Text(text)


def status(problem: Exception) -> int:
    """Return the HTTP status of a refusal: 403 for the budget, 503 without an answer, 400 otherwise."""
    if isinstance(problem, BudgetError):
        return 403
    return 503 if isinstance(problem, NoAnswer | Unavailable | Damaged) else 400
