"""Values that give an identifier away by their form, whatever the column is called."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from celosia.proposals.recognising import checksums

#: Share of the values that must have the form. Below it a few coincidences would decide.
ENOUGH = 0.8
#: With fewer values than this a check digit can fit all of them by chance.
FEWEST = 3
#: A short row of digits fits one of many check digits easily: so many values rule a coincidence out.
FEWEST_DIGITS, SHORT = 6, 12
#: No form is shorter than this.
SHORTEST = 5
#: Values that are tried first; a form that hardly any of them has is not tried on the others.
FIRST = 40


@dataclass(frozen=True)
class Pattern:
    """A form of value: what it is, the number of its HIPAA Safe Harbor type, and the test of one cell."""

    name: str
    hipaa: int
    test: Callable[[str], bool]
    checked: bool = False


def matching(expression: str, flags: int = 0) -> Callable[[str], bool]:
    """Return the test of a whole cell against a regular expression."""
    compiled = re.compile(expression, flags)
    return lambda text: compiled.fullmatch(text.strip()) is not None


def shaped(expression: str, module: str) -> Callable[[str], bool]:
    """Return the test of a cell against a form and the check digits of a number in ``stdnum``."""
    compiled = re.compile(expression, re.IGNORECASE)

    def test(text: str) -> bool:
        return compiled.fullmatch(text.strip()) is not None and checksums.valid(module)(text)

    return test


def address(text: str) -> bool:
    """Say whether a cell is an IP address, version 4 or 6.

    >>> address("192.168.1.20"), address("2001:db8::1"), address("1.2.3")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(text.strip())
    except ValueError:
        return False
    # A bare number is an address to the library ("1" is not, but "::" forms are); want the usual notations.
    return "." in text or ":" in text


STREET = (
    r"(?:c/|calle|cl\.?|avda?\.?|avenida|plaza|pza\.?|paseo|ronda|camino|travesía|carrer|avinguda|plaça|passeig|rua|via|viale"
    r"|piazza)\s*\S.*\d.*"
    r"|\d+[a-z]?,?\s+(?:(?:rue|avenue|boulevard|bd|allée|place)\s.+"
    r"|.+\s(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|close)\b.*)"
    r"|.*(?:stra(?:ß|ss)e|str\.|weg|platz|allee)\s*\d+\s*[a-z]?|.*(?:straat|laan)\s+\d+.*|ul\.\s.+\d.*"
)
#: Most telling first: a DNI also fits the form of a code, a card that of a long number.
PATTERNS = (
    Pattern("e-mail address", 6, matching(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    Pattern("web address", 14, matching(r"(?:https?://|ftp://|www\.)\S+", re.IGNORECASE)),
    Pattern("IP address", 15, address),
    Pattern("Spanish DNI or NIE", 18, checksums.dni, checked=True),
    Pattern("IBAN", 10, checksums.iban, checked=True),
    Pattern("United States social security number", 7, checksums.ssn),
    Pattern("vehicle identification number", 12, checksums.vin, checked=True),
    Pattern("Chilean RUT", 18, checksums.rut, checked=True),
    Pattern("Brazilian CPF", 18, checksums.cpf, checked=True),
    Pattern("French social security number", 7, shaped(r"[12][\d ab]{14,20}", "fr.nir"), checked=True),
    Pattern("Italian codice fiscale", 18, shaped(r"[a-z]{6}\d.{9,12}", "it.codicefiscale"), checked=True),
    Pattern("Portuguese citizen card", 18, shaped(r"\d{8} ?\d ?[a-z]{2}\d", "pt.cc"), checked=True),
    Pattern("German tax number", 18, shaped(r"[1-9][\d ]{10,13}", "de.idnr"), checked=True),
    Pattern("Polish PESEL", 18, shaped(r"\d{11}", "pl.pesel"), checked=True),
    Pattern("Romanian CNP", 18, shaped(r"\d{13}", "ro.cnp"), checked=True),
    Pattern(
        "Belgian national number", 18, shaped(r"\d{2}[. ]?\d{2}[. ]?\d{2}[-. ]?\d{3}[. ]?\d{2}", "be.nn"), checked=True
    ),
    Pattern("Swedish personal number", 18, shaped(r"(?:\d{2})?\d{6}[-+]?\d{4}", "se.personnummer"), checked=True),
    Pattern("Finnish personal number", 18, shaped(r"\d{6}[-+a]\d{3}[a-z0-9]", "fi.hetu"), checked=True),
    Pattern("Spanish social security number", 7, checksums.nss, checked=True),
    Pattern("NHS number", 9, checksums.nhs, checked=True),
    Pattern("Spanish cadastral reference", 2, shaped(r"[0-9a-z]{20}", "es.referenciacatastral"), checked=True),
    Pattern("payment card", 10, checksums.card, checked=True),
    Pattern("device number (IMEI)", 13, checksums.imei, checked=True),
    Pattern("device address (MAC)", 13, matching(r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}")),
    Pattern("Catalan health card (CIP)", 9, matching(r"[A-Z]{4}\s?[01]\s?\d{6}\s?\d{3}")),
    Pattern("licence plate", 12, matching(r"\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}|[A-Z]{1,2}[ -]\d{4}[ -][A-Z]{1,2}")),
    Pattern("universally unique id", 18, matching(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)),
    Pattern("hash", 18, matching(r"(?=.*\d)(?=.*[a-f])(?:[0-9a-f]{8}){2,16}", re.IGNORECASE)),
    Pattern(
        "telephone number",
        4,
        matching(
            r"\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"  # international
            r"|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}"  # North America
            r"|[6789]\d{2}[ .-]?\d{2,3}[ .-]?\d{2,3}(?:[ .-]?\d{2})?"  # Spain
            r"|9\d[ .-]\d{3}[ .-]\d{2}[ .-]\d{2}"  # Spain, from a fixed line
            r"|0[1-9](?:[ .-]?\d{2}){4}"  # France
        ),
    ),
    Pattern("picture file", 17, matching(r"\S+\.(?:jpe?g|png|tiff?|bmp|heic|dcm)", re.IGNORECASE)),
    Pattern("street and number", 2, matching(STREET, re.IGNORECASE)),
    Pattern(
        "person's name",
        1,
        matching(r"[A-ZÀ-Þ][A-Za-zÀ-ÿ'’ -]+,\s+[A-ZÀ-Þ][A-Za-zÀ-ÿ'’.-]+(?:\s+[A-ZÀ-Þ][A-Za-zÀ-ÿ'’.-]*)*"),
    ),
)


def recognised(values: Sequence[str], distinct: int) -> tuple[Pattern, float] | None:
    """Return the first pattern that most of the values have, with the share that has it.

    ``distinct`` is the number of different values of the column: a coincidence needs few of them.

    >>> recognised(["a@b.org", "c@d.com", "e@f.net"], 3)[0].name
    'e-mail address'
    """
    if not values or distinct < FEWEST:
        return None
    first = values[:FIRST]
    if max(map(len, first)) < SHORTEST:
        return None
    digits = distinct < FEWEST_DIGITS and all(v.strip().isdigit() and len(v.strip()) <= SHORT for v in first)
    for pattern in PATTERNS:
        if (digits and pattern.checked) or sum(map(pattern.test, first)) < (ENOUGH - 0.2) * len(first):
            continue
        share = sum(map(pattern.test, values)) / len(values)
        if share >= ENOUGH:
            return pattern, share
    return None
