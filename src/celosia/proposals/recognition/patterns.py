"""Values that give an identifier away by their form, whatever the column is called."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from celosia.proposals.recognition import checksums
from celosia.proposals.recognition.normal_form import decode, plain_spelling

#: Share of the values that must have the form. Below it a few coincidences would decide.
ENOUGH = 0.8
#: Share of many values that must have the form in a column of mixed content.
HALF = 0.5
#: With fewer values than this a check digit can fit all of them by chance.
FEWEST = 3
#: A short row of digits fits one of many check digits easily: so many values rule a coincidence out.
FEWEST_DIGITS, SHORT = 6, 12
#: No form is shorter than this, in bytes: a name of two Chinese signs has six.
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
    fewest: int = 0
    """Different values that a column must have at least: a loose form fits a few of them by chance."""
    code: bool = False
    """Whether a pseudonym that a step made can have this form too."""


def regex(expression: str, flags: int = 0) -> Callable[[str], bool]:
    """Return the test of a whole cell against a regular expression."""
    compiled = re.compile(expression, flags)
    return lambda text: compiled.fullmatch(text.strip()) is not None


def number_form(expression: str, module: str) -> Callable[[str], bool]:
    """Return the test of a cell against a form and the check digits of a number in ``stdnum``."""
    compiled = re.compile(expression, re.IGNORECASE)

    def test(text: str) -> bool:
        return compiled.fullmatch(text.strip()) is not None and checksums.valid(module)(text)

    return test


def address(text: str) -> bool:
    """Return whether a cell is an IP address, version 4 or 6.

    >>> address("192.168.1.20"), address("2001:db8::1"), address("1.2.3")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(text.strip())
    except ValueError:
        return False
    # A bare number is an address to the library ("1" is not, but "::" forms are); want the usual notations.
    return "." in text or ":" in text


EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^\W\d_]{2,}")


def email(text: str) -> bool:
    """Return whether a cell is an e-mail address, also one written backwards, in hexadecimal digits or in base64.

    >>> email("ana@example.org"), email("gro.elpmaxe@ana"), email("YW5hQGV4YW1wbGUub3Jn"), email("ana")
    (True, True, True, False)
    """
    return any(EMAIL.fullmatch(form.strip()) for form in (text, text[::-1], decode(text.strip()) or ""))


SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文劉陳楊趙黃吳"
)
#: Full names in other scripts: two or three capitalised words, or a surname and one or two signs.
CAPITALISED_NAMES = (
    r"[А-ЯЁІЇЄ][а-яёіїє'-]+(?: [А-ЯЁІЇЄ][а-яёіїє'-]+){1,2}"
    r"|[Α-ΩΆΈΉΊΌΎΏ][α-ωςάέήίόύώϊϋΐΰ-]+(?: [Α-ΩΆΈΉΊΌΎΏ][α-ωςάέήίόύώϊϋΐΰ-]+){1,2}"
)
OTHER_NAMES = (
    rf"{CAPITALISED_NAMES}"
    r"|[\u0621-\u064a]{2,}(?: [\u0621-\u064a]{2,}){1,3}"
    rf"|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}"
)
#: Different values that a loose form needs.
MANY = 20
STREET = (
    r"(?:c/|calle|cl\.?|avda?\.?|avenida|plaza|pza\.?|paseo|ronda|camino|travesía|carrer|avinguda|plaça|passeig|rua|via|viale"
    r"|piazza)\s*\S.*\d.*"
    r"|\d+[a-z]?,?\s+(?:(?:rue|avenue|boulevard|bd|allée|place)\s.+"
    r"|.+\s(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|close)\b.*)"
    r"|.*(?:stra(?:ß|ss)e|str\.|weg|platz|allee)\s*\d+\s*[a-z]?|.*(?:straat|laan)\s+\d+.*|ul\.\s.+\d.*"
)
#: Most telling first: a DNI also fits the form of a code, a card that of a long number.
PATTERNS = (
    Pattern("e-mail address", 6, email),
    Pattern("web address", 14, regex(r"(?:https?://|ftp://|www\.)\S+", re.IGNORECASE)),
    Pattern("IP address", 15, address),
    Pattern("Spanish DNI or NIE", 18, checksums.dni, checked=True),
    Pattern("IBAN", 10, checksums.iban, checked=True),
    Pattern("United States social security number", 7, checksums.ssn),
    Pattern("vehicle identification number", 12, checksums.vin, checked=True),
    Pattern("Chilean RUT", 18, checksums.rut, checked=True),
    Pattern("Brazilian CPF", 18, checksums.cpf, checked=True),
    Pattern("French social security number", 7, number_form(r"[12][\d ab]{14,20}", "fr.nir"), checked=True),
    Pattern("Italian codice fiscale", 18, number_form(r"[a-z]{6}\d.{9,12}", "it.codicefiscale"), checked=True),
    Pattern("Portuguese citizen card", 18, number_form(r"\d{8} ?\d ?[a-z]{2}\d", "pt.cc"), checked=True),
    Pattern("German tax number", 18, number_form(r"[1-9][\d ]{10,13}", "de.idnr"), checked=True),
    Pattern("Polish PESEL", 18, number_form(r"\d{11}", "pl.pesel"), checked=True),
    Pattern("Romanian CNP", 18, number_form(r"\d{13}", "ro.cnp"), checked=True),
    Pattern(
        "Belgian national number",
        18,
        number_form(r"\d{2}[. ]?\d{2}[. ]?\d{2}[-. ]?\d{3}[. ]?\d{2}", "be.nn"),
        checked=True,
    ),
    Pattern(
        "Swedish personal number",
        18,
        number_form(r"(?:\d{2})?\d{6}[-+]?\d{4}", "se.personnummer"),
        checked=True,
    ),
    Pattern("Finnish personal number", 18, number_form(r"\d{6}[-+a]\d{3}[a-z0-9]", "fi.hetu"), checked=True),
    Pattern("Spanish social security number", 7, checksums.nss, checked=True),
    Pattern("NHS number", 9, checksums.nhs, checked=True),
    Pattern(
        "Spanish cadastral reference",
        2,
        number_form(r"[0-9a-z]{20}", "es.referenciacatastral"),
        checked=True,
    ),
    Pattern("payment card", 10, checksums.card, checked=True),
    Pattern("device number (IMEI)", 13, checksums.imei, checked=True),
    Pattern("device address (MAC)", 13, regex(r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"), code=True),
    Pattern("Catalan health card (CIP)", 9, regex(r"[A-Z]{4}\s?[01]\s?\d{6}\s?\d{3}")),
    Pattern("licence plate", 12, regex(r"\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}|[A-Z]{1,2}[ -]\d{4}[ -][A-Z]{1,2}")),
    Pattern(
        "universally unique id",
        18,
        regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE),
        code=True,
    ),
    Pattern("hash", 18, regex(r"(?=.*\d)(?=.*[a-f])(?:[0-9a-f]{8}){2,16}", re.IGNORECASE), code=True),
    Pattern(
        "telephone number",
        4,
        regex(
            r"\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"  # international
            r"|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}"  # North America
            r"|[6789]\d{2}[ .-]?\d{2,3}[ .-]?\d{2,3}(?:[ .-]?\d{2})?"  # Spain
            r"|9\d[ .-]\d{3}[ .-]\d{2}[ .-]\d{2}"  # Spain, from a fixed line
            r"|0[1-9](?:[ .-]?\d{2}){4}"  # France
            r"|00\d{10,13}|0\d{2,4}[ /-]\d{6,8}"  # with the sign of a country, Germany
        ),
    ),
    Pattern("picture file", 17, regex(r"\S+\.(?:jpe?g|png|tiff?|bmp|heic|dcm)", re.IGNORECASE)),
    Pattern("street and number", 2, regex(STREET, re.IGNORECASE)),
    Pattern(
        "person's name",
        1,
        regex(r"[A-ZÀ-Þ][A-Za-zÀ-ÿ'’ -]+,\s+[A-ZÀ-Þ][A-Za-zÀ-ÿ'’.-]+(?:\s+[A-ZÀ-Þ][A-Za-zÀ-ÿ'’.-]*)*"),
    ),
    Pattern("person's name", 1, regex(OTHER_NAMES), fewest=MANY),
    Pattern("user name", 18, regex(r"@[\w.-]{3,}"), fewest=MANY),
    Pattern("place on the map", 2, regex(r"[-+]?\d{1,2}\.\d{3,}\s*[,;]\s*[-+]?\d{1,3}\.\d{3,}"), fewest=MANY),
    Pattern("date with initials", 3, regex(r"\d{4}-\d{2}-\d{2}\W+(?:[A-Z]\.? ?){2,3}"), fewest=MANY),
    Pattern("Italian codice fiscale", 18, regex(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", re.IGNORECASE), fewest=MANY),
    Pattern("number of a record or document", 18, regex(r"[A-Za-z]{1,4}[ -]?\d{6,}|\d{10,}"), fewest=MANY),
)


def recognise(
    values: Sequence[str], distinct: int, *, codes: bool = True, mixed: int | None = None
) -> tuple[Pattern, float] | None:
    """Return the first pattern that most of the values have, with the share that has it.

    ``distinct`` is the number of different values of the column: a coincidence needs few of them. ``codes=False``
    passes over the forms that pseudonyms can have. From ``mixed`` values of one form on, half of the values suffice.

    >>> recognise(["a@b.org", "c@d.com", "e@f.net"], 3)[0].name
    'e-mail address'
    """
    if not values or distinct < FEWEST:
        return None
    values = [plain_spelling(value) for value in values]
    first = values[:: -(-len(values) // FIRST)]  # values may be sorted
    enough = ENOUGH if mixed is None else HALF
    if max(len(value.encode()) for value in first) < SHORTEST:
        return None
    digits = distinct < FEWEST_DIGITS and all(v.strip().isdigit() and len(v.strip()) <= SHORT for v in first)
    for pattern in PATTERNS:
        if distinct < pattern.fewest or (pattern.code and not codes):
            continue
        if (digits and pattern.checked) or sum(map(pattern.test, first)) < (enough - 0.2) * len(first):
            continue
        alike = sum(map(pattern.test, values))
        if alike >= (ENOUGH if mixed is None or alike < mixed else HALF) * len(values):
            return pattern, alike / len(values)
    return None


_STREET_NAME = r"(?:(?:de|del|de la|de las|de los|du|des|di|da|do) )?[A-ZÀ-Þ][\w'’.-]+(?: [\w'’.-]+)*"
_ROADS = "Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd"
#: Forms of which one text is enough, without a column of others like it: the name of a column, a label.
ALONE = (
    *(pattern for pattern in PATTERNS if pattern.checked),
    Pattern("e-mail address", 6, email),
    Pattern("IP address", 15, address),
    Pattern(
        "profile on the web",
        14,
        regex(
            r"(?:https?://)?(?:www\.)?(?:\S+/(?:in|u|user|users|profile|profiles|people)/|\S*/[~@]"
            r"|(?:facebook|instagram|twitter|x|tiktok|github)\.com/)[\w.@-]+/?",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "telephone number",
        4,
        regex(r"0[1-9](?:[ .-]\d{2}){4}|00\d{10,13}|0\d{2,4}[ /-]\d{6,8}|9\d[ .-]\d{3}[ .-]\d{2}[ .-]\d{2}"),
    ),
    Pattern(
        "street and number",
        2,
        regex(
            r"(?:C/|Calle|Cl\.|Avda?\.?|Avenida|Plaza|Pza\.?|Paseo|Ronda|Carrer|Avinguda|Plaça|Passeig|Rua|Via|Viale|Piazza)"
            rf" ?{_STREET_NAME},? \d+.*"
            rf"|\d+[a-z]?,? {_STREET_NAME} (?:{_ROADS})\b.*|\d+,? (?:rue|avenue|boulevard|bd|allée) {_STREET_NAME}.*"
            r"|[A-ZÄÖÜ][\w -]*(?:stra(?:ß|ss)e|str\.) ?\d+ ?[a-z]?|[A-Z]\w+(?:straat|laan) \d+.*"
        ),
    ),
    Pattern("number of a passport or record", 18, regex(r"[A-Z]{2,3}[ -]?\d{6,7}")),
    Pattern("person's name", 1, regex(rf"(?:{CAPITALISED_NAMES})")),
)


def recognise_alone(texts: Sequence[str]) -> dict[str, list[bool]]:
    """Return the forms that some texts have by themselves, and which of the texts have each.

    >>> recognise_alone(["Calle Mayor 3, 2 B", "Via internet 3", "Иван Петров"])
    {'street and number': [True, False, False], "person's name": [False, False, True]}
    """
    plain = [plain_spelling(text) for text in texts]
    tested = {pattern.name: [pattern.test(text) for text in plain] for pattern in ALONE}
    return {name: held for name, held in tested.items() if any(held)}
