"""Forms that identify a person inside a text: e-mail addresses, telephone and official numbers, names.

The patterns of :mod:`celosia.proposals.recognition.patterns` ask what a whole column is; a trace is looked for in
every cell, also in the middle of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.proposals.recognition import checksums
from celosia.proposals.recognition.names import fold, full_name
from celosia.proposals.recognition.normal_form import plain_spellings
from celosia.proposals.recognition.patterns import address

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Trace:
    """A form of text that identifies a person, with its context and a further test of the match."""

    what: str
    form: str
    """A regular expression that Polars and Python read alike: no look-around."""
    test: Callable[[str], bool] | None = None
    code: bool = False
    """Whether a pseudonym that a step made can have this form too."""


def _has_digits_and_letters(text: str) -> bool:
    """Return whether a text has digits and letters: a row of sixteen digits is a number."""
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _begins_with_iban(text: str) -> bool:
    """Return whether a text begins with an IBAN: words in capitals may follow it."""
    number = checksums.bare(text)
    return any(checksums.iban(number[:length]) for length in range(15, min(34, len(number)) + 1))


STREET = "street and number"
TRACES = (
    Trace(
        "e-mail address",
        r"[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}"
        r"|(?i:\b[\w+-]*[.\d_][\w.+-]* (?:at|arroba) [\w-]+(?:(?:\.| dot | punto | punt )[\w-]+)*"
        r"(?:\.| dot | punto | punt )[a-z]{2,}\b)",
    ),
    Trace("Spanish DNI or NIE", r"(?i)\b(?:\d{1,2}\.\d{3}\.\d{3}|\d{7,8}|[XYZ][ -]?\d{7})[ -]?[A-Z]\b", checksums.dni),
    Trace("IBAN", r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b", _begins_with_iban),
    Trace("United States social security number", r"\b\d{3}-\d{2}-\d{4}\b", checksums.ssn),
    Trace("Spanish social security number", r"\b\d{2}[ /-]?\d{8}[ /-]?\d{2}\b", checksums.nss),
    Trace("Brazilian CPF", r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", checksums.cpf),
    Trace("Chilean RUT", r"\b\d{1,2}\.\d{3}\.\d{3}-[\dkK]\b", checksums.rut),
    Trace("NHS number", r"\b\d{3} \d{3} \d{4}\b", checksums.nhs),
    Trace("payment card", r"\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}\b", checksums.card),
    Trace("Catalan health card (CIP)", r"\b[A-Z]{4} ?[01] ?\d{6} ?\d{3}\b"),
    Trace("IP address", r"\b(?:(?:\d{1,3}\.){3}\d{1,3}|(?i:(?:[0-9a-f]{1,4}::?){2,7}[0-9a-f]{1,4}))\b", address),
    Trace("device address (MAC)", r"\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b", code=True),
    Trace("universally unique id", r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", code=True),
    Trace("hash of an identifier", r"\b(?:[0-9a-fA-F]{8}){2,16}\b", _has_digits_and_letters, code=True),
    Trace(
        "telephone number",
        r"\+\d{1,3}(?:[ .-]?\(?\d{2,4}\)?){2,5}\b"  # international
        r"|\b[6789]\d{2}(?:[ .-]\d{3}){2}\b|\b[6789]\d{2}(?:[ .-]\d{2}){3}\b|\b[67]\d{8}\b"  # Spain
        r"|\b93 ?\d{3} ?\d{2} ?\d{2}\b|\b91 ?\d{3} ?\d{2} ?\d{2}\b"
        r"|\(\d{3}\) ?\d{3}[ .-]\d{4}\b|\b\d{3}[.-]\d{3}[.-]\d{4}\b"  # North America
        r"|\b0\d{2,4} \d{3,4} ?\d{3,4}\b"  # United Kingdom
        r"|\b0[1-9](?:[ .]\d{2}){4}\b|\b0\d{2,4}/\d{6,8}\b",  # France, Germany
    ),
    Trace(
        STREET,
        r"\b(?:C/|Calle|Avenida|Avda\.|Avda|Paseo|Carrer|Avinguda|Passeig)"
        r" ?(?:(?:de|del|de la|de las|de los) )?[A-ZÀ-Þ][\w'’.-]+(?: [A-ZÀ-Þ][\w'’.-]+)*,? \d{1,4}\b",
    ),
)
NAMES = "name of a person"


def traces_in(texts: pl.Series, *, codes: bool = True) -> Iterator[tuple[str, pl.Series]]:
    """Go through what is found in texts: what it is, and which of the texts hold it.

    ``codes=False`` passes over the forms that pseudonyms can have.

    >>> import polars as pl
    >>> [(what, at.to_list()) for what, at in traces_in(pl.Series(["a@b.org", "call Maria Garcia", "none"]))]
    [('e-mail address', [True, False, False]), ('name of a person', [False, True, False])]
    """
    texts = plain_spellings(texts)
    for trace in TRACES:
        if codes or not trace.code:
            held = _contains_trace(texts, trace)
            if held.any():
                yield trace.what, held
    named = fold(texts).str.contains(full_name()).fill_null(value=False)
    if named.any():
        yield NAMES, named


def _contains_trace(texts: pl.Series, trace: Trace) -> pl.Series:
    """Return which texts contain a trace; the further test runs on those that match the form only."""
    import polars as pl

    formed = texts.str.contains(trace.form).fill_null(value=False)
    if trace.test is None or not formed.any():
        return formed
    form, test = re.compile(trace.form), trace.test
    passed = [any(test(hit.group()) for hit in form.finditer(text)) for text in texts.filter(formed).to_list()]
    places = formed.arg_true().filter(pl.Series(passed, dtype=pl.Boolean))
    return pl.Series(range(len(texts))).is_in(places.implode())
