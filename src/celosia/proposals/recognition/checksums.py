"""Check digits of official numbers, which distinguish an identity number from any other number.

The rules are those of ``python-stdnum``. It has no Spanish social security number, no vehicle number and no Catalan
health card: the first two stand here, the third has no check digit. Every function takes the text of one cell and
ignores blanks, points and dashes. The modules of the library are imported when the first cell is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", [*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)], strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def bare(text: str) -> str:
    """Return the letters and digits of a number, in capitals.

    >>> bare("12.345.678-z")
    '12345678Z'
    """
    return re.sub(r"[\s.\-/·]", "", text).upper()


@cache
def valid(module: str) -> Callable[[str], bool]:
    """Return the test of one kind of number in ``stdnum``.

    >>> valid("fr.nir")("2 95 10 99 126 111 93"), valid("pl.pesel")("44051401358")
    (True, False)
    """
    test: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return test


def dni(text: str) -> bool:
    """Spanish DNI or NIE: the letter is the number modulo 23.

    >>> dni("12345678Z"), dni("X1234567L"), dni("12345678A")
    (True, True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"[\dXYZ]\d{6,7}[A-Z]", number):
        return False
    return valid("es.nie" if number[0] in "XYZ" else "es.dni")(number.zfill(9))


def rut(text: str) -> bool:
    """Chilean RUT: weighted sum modulo 11, with K for ten.

    >>> rut("12.345.678-5"), rut("12.345.678-6")
    (True, False)
    """
    return valid("cl.rut")(bare(text))


def iban(text: str) -> bool:
    """Bank account by ISO 13616: the rearranged number is 1 modulo 97, and the country's own rule holds.

    >>> iban("ES91 2100 0418 4502 0005 1332"), iban("ES91 2100 0418 4502 0005 1333")
    (True, False)
    """
    return re.match(r"\s*[A-Za-z]{2}", text) is not None and valid("iban")(bare(text))


def luhn(text: str) -> bool:
    """Luhn's check digit over all digits.

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    return valid("luhn")(bare(text))


def card(text: str) -> bool:
    """Payment card: 13 to 19 digits that start like a card and pass Luhn's check."""
    return re.fullmatch(r"[2-6]\d{12,18}", bare(text)) is not None and luhn(text)


def imei(text: str) -> bool:
    """Return whether a number is an IMEI: 15 digits that pass Luhn's check and do not look like a card."""
    return re.fullmatch(r"[013589]\d{14}", bare(text)) is not None and valid("imei")(bare(text))


def ssn(text: str) -> bool:
    """United States social security number, written with its dashes; numbers that are never issued are refused.

    >>> ssn("123-45-6789"), ssn("666-45-6789")
    (True, False)
    """
    return re.fullmatch(r"\d{3}-\d{2}-\d{4}", text.strip()) is not None and valid("us.ssn")(text.strip())


def nhs(text: str) -> bool:
    """English NHS number: ten digits, the last one by weights modulo 11.

    >>> nhs("943 476 5919"), nhs("943 476 5918")
    (True, False)
    """
    number = bare(text)
    return len(set(number)) > 1 and valid("gb.nhs")(number)


def cpf(text: str) -> bool:
    """Brazilian CPF: two check digits modulo 11.

    >>> cpf("529.982.247-25"), cpf("529.982.247-26")
    (True, False)
    """
    number = bare(text)
    return len(set(number)) > 1 and valid("br.cpf")(number)


def nss(text: str) -> bool:
    """Spanish social security number: the last two of twelve digits are the rest modulo 97.

    >>> nss("28/12345678/40"), nss("28/12345678/41")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"\d{12}", number):
        return False
    province, serial, check = int(number[:2]), int(number[2:10]), int(number[10:])
    base = province * 10**7 + serial if serial < 10**7 else int(number[:10])
    return base % 97 == check


def vin(text: str) -> bool:
    """Vehicle identification number of 17 signs, with its North American check digit.

    >>> vin("1M8GDM9AXKP042788"), vin("1M8GDM9A1KP042788")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}", number):
        return False
    total = sum(w * (int(c) if c.isdigit() else VIN_VALUES[c]) for w, c in zip(VIN_WEIGHTS, number, strict=True))
    return "0123456789X"[total % 11] == number[8]
