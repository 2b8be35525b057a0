"""Words of the language R: a script is cut into them, nothing is executed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from celosia.errors import DataError

Kind = Literal["number", "text", "name", "operator", "end"]
PATTERN = re.compile(
    r"""
      (?P<blank>[ \t\f\r\u00a0]+|\#[^\n]*)
    | (?P<end>\n|;)
    | (?P<raw>[rR](?P<mark>["'])(?P<dashes>-{0,20})(?P<open>[\[({]))
    | (?P<number>0[xX][0-9a-fA-F]+L?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[Li]?)
    | (?P<name>(?:[^\W\d_]|\.(?![0-9]))[\w.]*)
    | (?P<quote>["'`])
    | (?P<operator><<-|->>|\|>|<-|->|<=|>=|==|!=|&&|\|\||:::|::|\[\[|%[^%\n]*%|[-+*/^<>=!&|~?:$@(){}\[\],\\])
    """,
    re.VERBOSE,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
MOST = 200_000
"""Words of a script."""


@dataclass(frozen=True)
class Token:
    """A token of a script: its kind, text and line."""

    kind: Kind
    text: str
    line: int


def tokens(script: str, name: str) -> list[Token]:
    """Split a script into tokens; the end of a line is one of them.

    >>> [token.text for token in tokens("x <- c('a', 1.5) # so", "s.R")]
    ['x', '<-', 'c', '(', 'a', ',', '1.5', ')', '']
    """
    words: list[Token] = []
    at, line = 0, 1
    while at < len(script):
        match = PATTERN.match(script, at)
        if match is None:
            raise DataError(f"{name}, line {line}: there is a character that no word of R begins with.")
        kind = str(match.lastgroup)
        end = match.end()
        if kind == "raw":
            text, end = _raw_text(script, match, name, line)
            words.append(Token("text", text, line))
        elif kind == "quote":
            text, end = _quoted_text(script, match.end(), match.group(), name, line)
            words.append(Token("name" if match.group() == "`" else "text", text, line))
        elif kind == "end":
            words.append(Token("end", match.group(), line))
        elif kind in ("number", "name", "operator"):
            words.append(Token(kind, match.group(), line))  # type: ignore[arg-type]
        if len(words) > MOST:
            raise DataError(f"{name} has more than {MOST} words.")
        line += script.count("\n", at, end)
        at = end
    return [*words, Token("end", "", line)]


def _quoted_text(script: str, at: int, mark: str, name: str, line: int) -> tuple[str, int]:
    """Return a quoted text, and where it ends."""
    pieces: list[str] = []
    for match in re.compile(r"\\(.)|([^\\])", re.DOTALL).finditer(script, at):
        escaped, plain = match.groups()
        if plain == mark:
            return "".join(pieces), match.end()
        pieces.append(plain if escaped is None else ESCAPES.get(escaped, escaped))
    raise DataError(f"{name}, line {line}: a text begins and does not end.")


def _raw_text(script: str, match: re.Match[str], name: str, line: int) -> tuple[str, int]:
    """Return a raw text such as ``r"(a\\b)"``, and where it ends."""
    closing = f"{CLOSING[match['open']]}{match['dashes']}{match['mark']}"
    end = script.find(closing, match.end())
    if end < 0:
        raise DataError(f"{name}, line {line}: a text begins and does not end.")
    return script[match.end() : end], end + len(closing)
