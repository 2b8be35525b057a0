"""Text that comes from data or files, as a terminal may show it."""

from __future__ import annotations

import re

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What moves the cursor of a terminal or turns the direction of text, and half characters; not tab and new line."""


def visible(text: str, *, lines: bool = True) -> str:
    r"""Text as a terminal may show it: control characters become symbols, new lines too unless ``lines`` are wanted.

    >>> visible("age\x1b[2J\n", lines=False)
    'age␛[2J␊'
    """
    shown = CONTROL.sub(_symbol, text)
    return shown if lines else shown.replace("\n", "␊")


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"
