"""One spelling of characters with several encodings: full-width signs, invisible signs, other digits, escapes."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: Signs that are not seen, and words that stand for a sign in an address.
INVISIBLE = [chr(code) for code in (0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF)]
AT = r"(?i) ?[\[({<] ?(?:at|arroba) ?[\])}>] ?"
DOT = r"(?i) ?[\[({<] ?(?:dot|punto|punt) ?[\])}>] ?"
#: Decimal digits of other scripts, and the ones of ASCII.
DIGITS = {chr(zero + digit): str(digit) for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50) for digit in range(10)}
SPACED = r"(?:\b\w[ .]){5,}\w\b"
ENCODED = r"^(?:[A-Za-z0-9+/_-]{16,}={0,2}|(?:[0-9A-Fa-f]{2}){8,})$"


def plain_spelling(text: str) -> str:
    """Return a text in NFKC with ASCII digits, without invisible signs, and with "(at)" as a sign.

    >>> plain_spelling("ana\u200b(at)example.org"), plain_spelling("1 2 3 4 5 6 7 8 Z"), plain_spelling("٦١٢")
    ('ana@example.org', '12345678Z', '612')
    """
    text = unicodedata.normalize("NFKC", text)
    text = "".join(DIGITS.get(sign, sign) for sign in text if sign not in INVISIBLE)
    text = re.sub(DOT, ".", re.sub(AT, "@", text))
    return re.sub(SPACED, lambda hit: re.sub(r"[ .]", "", hit.group()), text).strip()


def fold_text(text: str) -> str:
    """Return a text without accents, case and superfluous blanks.

    >>> fold_text("  Número  DE Hijos")
    'numero de hijos'
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(plain.casefold().split())


def decode(text: str) -> str | None:
    """Return the readable text that base64 or hexadecimal digits stand for, or None.

    >>> decode("YW5hQGV4YW1wbGUub3Jn"), decode("616e61406578616d706c652e6f7267"), decode("internationalisation")
    ('ana@example.org', 'ana@example.org', None)
    """
    if re.fullmatch(ENCODED, text) is None:
        return None
    ways = (
        [bytes.fromhex] if re.fullmatch(r"(?:[0-9A-Fa-f]{2})+", text) else [base64.b64decode, base64.urlsafe_b64decode]
    )
    for way in ways:
        try:
            readable = way(text).decode("utf-8")
        except (ValueError, binascii.Error):
            continue
        if readable.isprintable():
            return readable
    return None


def plain_spellings(texts: pl.Series) -> pl.Series:
    """Return texts in one spelling, encoded ones as what they stand for.

    >>> import polars as pl
    >>> plain_spellings(pl.Series(["ａna@example.org", "YW5hQGV4YW1wbGUub3Jn"])).to_list()
    ['ana@example.org', 'ana@example.org']
    """
    import polars as pl

    plain = texts.str.normalize("NFKC").str.replace_many(
        INVISIBLE + list(DIGITS), [""] * len(INVISIBLE) + list(DIGITS.values())
    )
    plain = plain.str.replace_all(AT, "@").str.replace_all(DOT, ".")
    odd = (plain.str.contains(SPACED) | plain.str.contains(ENCODED)).fill_null(value=False)
    if not odd.any():
        return plain
    held = {text: decode(text) or plain_spelling(text) for text in plain.filter(odd).unique().to_list()}
    return plain.replace(list(held), pl.Series(list(held.values()), dtype=pl.String))
