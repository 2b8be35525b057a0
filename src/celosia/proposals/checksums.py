"""Check digits of official numbers: what tells an identity number from any other number.

Every function takes the text of one cell and ignores blanks, points and dashes.
"""

from __future__ import annotations

import re

DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
IBAN_LENGTHS = {
    "AD": 24, "AT": 20, "BE": 16, "BR": 29, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24,
    "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IT": 27, "LT": 20, "LU": 20, "LV": 21,
    "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SE": 24, "SI": 19, "SK": 24, "TR": 26,
}  # fmt: skip
VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", [*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)], strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def bare(text: str) -> str:
    """Return the letters and digits of a number, in capitals.

    >>> bare("12.345.678-z")
    '12345678Z'
    """
    return re.sub(r"[\s.\-/·]", "", text).upper()


def dni(text: str) -> bool:
    """Spanish DNI or NIE: the letter is the number modulo 23.

    >>> dni("12345678Z"), dni("X1234567L"), dni("12345678A")
    (True, True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"[\dXYZ]\d{6,7}[A-Z]", number):
        return False
    digits = number[:-1].translate(str.maketrans("XYZ", "012"))
    return DNI_LETTERS[int(digits) % 23] == number[-1]


def rut(text: str) -> bool:
    """Chilean RUT: weighted sum modulo 11, with K for ten.

    >>> rut("12.345.678-5"), rut("12.345.678-6")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"\d{7,8}[\dK]", number):
        return False
    total = sum(int(d) * (2 + i % 6) for i, d in enumerate(reversed(number[:-1])))
    return "0123456789K"[(11 - total % 11) % 11] == number[-1]


def iban(text: str) -> bool:
    """Bank account by ISO 13616: the rearranged number is 1 modulo 97.

    >>> iban("ES91 2100 0418 4502 0005 1332"), iban("ES91 2100 0418 4502 0005 1333")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", number):
        return False
    if IBAN_LENGTHS.get(number[:2], len(number)) != len(number):
        return False
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


def luhn(text: str) -> bool:
    """Luhn's check digit over all digits.

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(d) for d in bare(text) if d.isdigit()]
    doubled = [d * 2 - 9 * (d > 4) if i % 2 else d for i, d in enumerate(reversed(digits))]
    return bool(digits) and sum(doubled) % 10 == 0


def card(text: str) -> bool:
    """Payment card: 13 to 19 digits that start like a card and pass Luhn's check."""
    return re.fullmatch(r"[2-6]\d{12,18}", bare(text)) is not None and luhn(text)


def imei(text: str) -> bool:
    """Serial number of a telephone: 15 digits that pass Luhn's check and do not look like a card."""
    return re.fullmatch(r"[013589]\d{14}", bare(text)) is not None and luhn(text)


def ssn(text: str) -> bool:
    """United States social security number, written with its dashes; numbers that are never issued are refused.

    >>> ssn("123-45-6789"), ssn("666-45-6789")
    (True, False)
    """
    return re.fullmatch(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}", text.strip()) is not None


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


def nhs(text: str) -> bool:
    """English NHS number: ten digits, the last one by weights modulo 11.

    >>> nhs("943 476 5919"), nhs("943 476 5918")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"\d{10}", number) or len(set(number)) == 1:
        return False
    rest = 11 - sum(int(d) * (10 - i) for i, d in enumerate(number[:9])) % 11
    return rest % 11 == int(number[9]) and rest != 10


def cpf(text: str) -> bool:
    """Brazilian CPF: two check digits modulo 11.

    >>> cpf("529.982.247-25"), cpf("529.982.247-26")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"\d{11}", number) or len(set(number)) == 1:
        return False
    for length in (9, 10):
        total = sum(int(d) * (length + 1 - i) for i, d in enumerate(number[:length]))
        if total * 10 % 11 % 10 != int(number[length]):
            return False
    return True


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
