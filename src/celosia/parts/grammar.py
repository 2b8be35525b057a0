"""Text grammar of parameters: ``k-anonymity(k=5)``, ``[age, zip]``, ``{age=2}``, ``0.5``, ``entropy``.

::

    value  = number | true | false | none | "text" | 'text' | list | table | call | word
    list   = [ value, … ]
    table  = { key = value, … }
    call   = name(key = value, …)          a nested part
    word   = anything else up to a comma or a closing bracket
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from celosia.errors import ParameterError

Value: TypeAlias = "str | float | list[Value] | dict[str, Value] | None"
"""A parsed value; ``float`` includes whole numbers, true and false."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NUMBER = re.compile(r"[+-]?(\d[\d_]*)(\.\d*)?([eE][+-]?\d+)?")
DEEPEST = 100
_STOPS = ",)]}"
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def parse(text: str) -> Value:
    """Parse one value of the grammar; a call becomes a mapping with the key ``use``.

    >>> parse("k-anonymity(k=5)")
    {'use': 'k-anonymity', 'k': 5}
    >>> parse("[age, marital-status]")
    ['age', 'marital-status']
    >>> parse("{age=2, zip=1}")
    {'age': 2, 'zip': 1}
    """
    reader = _Reader(text)
    value = reader.value()
    if reader.rest():
        raise reader.error("unexpected text after the value")
    return value


def parse_list(text: str) -> list[Value]:
    """Parse a list of the grammar.

    >>> parse_list("[age, 3]")
    ['age', 3]
    """
    value = parse(text)
    if not isinstance(value, list):
        raise ParameterError(f"cannot read a list from {text!r}: write [value, …].")
    return value


def part(text: str) -> dict[str, Any]:
    """Parse a part: a name, or a name with parameters in parentheses.

    >>> part("k-anonymity")
    {'use': 'k-anonymity'}
    """
    value = parse(text)
    if isinstance(value, dict) and "use" in value:
        return value
    if isinstance(value, str) and _NAME.fullmatch(value):
        return {"use": value}
    raise ParameterError(f"cannot read a part from {text!r}: write a name such as k-anonymity(k=5).")


def show(value: object) -> str:
    """Write a value so that :func:`parse` reads it back.

    >>> show({"use": "k-anonymity", "k": 5})
    'k-anonymity(k=5)'
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(k)}={show(v)}" for k, v in value.items() if k != "use")
        if "use" in value:
            return f"{value['use']}({pairs})" if pairs else str(value["use"])
        return "{" + pairs + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(show(v) for v in value) + "]"
    if isinstance(value, str):
        return value if _is_plain(value) else _quote(value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(value)


def _is_plain(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and text.lower() not in {"true", "false", "none", "null", "inf", "nan"}


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _key(key: object) -> str:
    return show(key) if isinstance(key, str) else str(key)


class _Reader:
    """Recursive-descent parser."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def rest(self) -> str:
        self._skip()
        return self.text[self.at :]

    def error(self, what: str) -> ParameterError:
        return ParameterError(f"cannot read {self.text!r}: {what} at character {self.at + 1}.")

    def value(self) -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} brackets within each other")
        value = self._value()
        self.depth -= 1
        return value

    def _value(self) -> Value:
        self._skip()
        if self.at >= len(self.text):
            raise self.error("a value is missing")
        head = self.text[self.at]
        if head in "\"'":
            return self._quoted_text()
        if head == "[":
            return self._list()
        if head == "{":
            return self._pairs("{")
        name = _NAME.match(self.text, self.at)
        if name and self.text[name.end() : name.end() + 1] == "(":
            self.at = name.end()
            return {"use": name.group(), **self._pairs("(")}
        return self._word()

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _quoted_text(self) -> str:
        quote = self.text[self.at]
        out = []
        i = self.at + 1
        while i < len(self.text):
            c = self.text[i]
            if c == "\\" and i + 1 < len(self.text):
                out.append(self.text[i + 1])
                i += 2
                continue
            if c == quote:
                self.at = i + 1
                return "".join(out)
            out.append(c)
            i += 1
        raise self.error("a quote is not closed")

    def _word(self) -> Value:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _STOPS:
            self.at += 1
        return scalar(self.text[start : self.at].strip())

    def _list(self) -> list[Value]:
        self.at += 1
        items: list[Value] = []
        while not self._closes("]"):
            items.append(self.value())
            self._separator("]")
        return items

    def _pairs(self, opening: str) -> dict[str, Value]:
        closing = _CLOSING[opening]
        self.at += 1
        pairs: dict[str, Value] = {}
        while not self._closes(closing):
            self._skip()
            key = self._quoted_text() if self.text[self.at : self.at + 1] in {'"', "'"} else self._bare_key()
            self._skip()
            if self.text[self.at : self.at + 1] != "=":
                raise self.error("expected name=value")
            self.at += 1
            if key in pairs:
                raise self.error(f"{key!r} is given twice")
            pairs[key] = self.value()
            self._separator(closing)
        return pairs

    def _bare_key(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in "=" + _STOPS:
            self.at += 1
        return self.text[start : self.at].strip()

    def _closes(self, closing: str) -> bool:
        self._skip()
        if self.text[self.at : self.at + 1] == closing:
            self.at += 1
            return True
        if self.at >= len(self.text):
            raise self.error(f"{closing!r} is missing")
        return False

    def _separator(self, closing: str) -> None:
        self._skip()
        here = self.text[self.at : self.at + 1]
        if here == ",":
            self.at += 1
        elif here != closing:
            raise self.error(f"expected ',' or {closing!r}")


def scalar(word: str) -> float | str | None:
    """Read a bare word: number, true, false, none, or the word itself."""
    lower = word.lower()
    if lower in {"true", "false"}:
        return lower == "true"
    if lower in {"none", "null"}:
        return None
    if lower in {"inf", "+inf", "-inf"}:
        return float(lower)
    number = _NUMBER.fullmatch(word)
    if number:
        with contextlib.suppress(ValueError):  # 1__0, or thousands of digits
            return float(word) if number.group(2) or number.group(3) else int(word)
    return word
