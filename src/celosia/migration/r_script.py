"""Calls of the language R: a script becomes a list of calls with their lines, nothing is executed.

Operators are calls by their sign, as in R itself: ``x <- f(1)`` is a call of ``<-`` with a name and a call.
"""

from __future__ import annotations

from dataclasses import dataclass

from celosia.errors import DataError
from celosia.migration.r_tokens import Token, tokens

DEEPEST = 60
"""How often calls may be nested."""
CONSTANTS: dict[str, bool | float | None] = {
    "TRUE": True,
    "FALSE": False,
    "T": True,
    "F": False,
    "NULL": None,
    "NA": None,
    "Inf": float("inf"),
}
BINDING = {
    "?": (1, 2),
    "=": (4, 3),
    "<-": (6, 5),
    "<<-": (6, 5),
    "->": (7, 8),
    "->>": (7, 8),
    "~": (9, 10),
    "||": (11, 12),
    "|": (11, 12),
    "&&": (13, 14),
    "&": (13, 14),
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), (17, 18)),
    "+": (19, 20),
    "-": (19, 20),
    "*": (21, 22),
    "/": (21, 22),
    "|>": (23, 24),
    ":": (25, 26),
    "^": (30, 29),
    "$": (33, 34),
    "@": (33, 34),
    "::": (35, 36),
    ":::": (35, 36),
}
"""How strongly an operator binds what stands to its left and right."""
PREFIX = {"-": 27, "+": 27, "!": 15, "~": 10, "?": 2}
POSTFIX = 31


@dataclass(frozen=True)
class Constant:
    """A number, a text, a truth value or nothing."""

    value: str | float | bool | None
    line: int


@dataclass(frozen=True)
class Symbol:
    """A name."""

    name: str
    line: int


@dataclass(frozen=True)
class Call:
    """A call of a function or an operator: its name, and its arguments with the names that some have."""

    function: str
    arguments: tuple[tuple[str | None, Node], ...]
    line: int

    def inner(self, at: int = 0) -> Node:
        """Return an argument by position."""
        return self.arguments[at][1]


Node = Constant | Symbol | Call


def statements(script: str, name: str = "the script") -> list[Node]:
    """Parse a script into its statements.

    >>> [statement.function for statement in statements("x <- f(1, k = 2)\\ny |> g()")]
    ['<-', 'g']
    """
    return _Parser(tokens(script, name), name).script()


class _Parser:
    """Reads words one after the other, and calls by how strongly their operators bind."""

    def __init__(self, words: list[Token], name: str) -> None:
        self._words, self._name = words, name
        self._at = 0
        self._depth = 0
        self._inside = 0
        """Open parentheses: in them the end of a line says nothing."""

    def script(self) -> list[Node]:
        listed: list[Node] = []
        while self._skip_ends():
            listed.append(self._expression(0))
            if self._peek().kind != "end":
                raise self._refusal()
        return listed

    def _skip_ends(self) -> bool:
        """Skip the ends of statements; return whether another statement follows."""
        while self._at < len(self._words) and self._words[self._at].kind == "end":
            self._at += 1
        return self._at < len(self._words)

    def _peek(self) -> Token:
        while self._inside and self._words[self._at].text == "\n" and self._words[self._at].kind == "end":
            self._at += 1
        return self._words[self._at]

    def _next(self) -> Token:
        token = self._peek()
        if token.kind == "end" and token.text == "":
            raise DataError(f"{self._name}, line {token.line}: the script ends in the middle of a call.")
        self._at += 1
        return token

    def _is(self, sign: str) -> bool:
        token = self._peek()
        return token.kind == "operator" and token.text == sign

    def _take(self, sign: str) -> None:
        if not self._is(sign):
            raise self._refusal(f", where {sign} was expected")
        self._at += 1

    def _refusal(self, more: str = "") -> DataError:
        return DataError(f"{self._name}, line {self._peek().line}: this is not understood as R{more}.")

    def _lines(self) -> None:
        """Skip ends of lines where something must follow."""
        while self._words[self._at].text == "\n" and self._words[self._at].kind == "end":
            self._at += 1

    def _expression(self, least: int) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise DataError(f"{self._name}, line {self._peek().line}: calls are nested more than {DEEPEST} times.")
        left = self._start()
        while True:
            token = self._peek()
            if token.kind != "operator":
                break
            if token.text in ("(", "[", "[[") and least <= POSTFIX:
                left = self._after(left, token)
                continue
            strengths = BINDING.get(token.text, (23, 24) if token.text.startswith("%") else None)
            if strengths is None or strengths[0] < least:
                break
            self._at += 1
            self._lines()
            left = _binary(token, left, self._expression(strengths[1]))
        self._depth -= 1
        return left

    def _start(self) -> Node:
        token = self._next()
        if token.kind == "text":
            return Constant(token.text, token.line)
        if token.kind == "number":
            return Constant(self._value(token), token.line)
        if token.kind == "name":
            return self._name_or_constant(token)
        if token.text in PREFIX:
            self._lines()
            return Call(token.text, ((None, self._expression(PREFIX[token.text])),), token.line)
        if token.text == "(":
            self._inside += 1
            self._peek()
            inner = self._expression(0)
            self._take(")")
            self._inside -= 1
            return inner
        if token.text == "{":
            return self._block(token)
        if token.text == "\\":
            return self._function(token)
        self._at -= 1
        raise self._refusal()

    def _value(self, token: Token) -> float:
        text = token.text.rstrip("Li")
        try:
            value = float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
        except (ValueError, OverflowError):
            raise self._refusal() from None
        return int(value) if value.is_integer() and abs(value) < 1e15 else value

    def _name_or_constant(self, token: Token) -> Node:
        name = token.text
        if name == "function":
            return self._function(token)
        if name in ("if", "while", "for"):
            self._take("(")
            self._inside += 1
            condition = self._expression(0)
            if name == "for" and self._peek().text == "in":
                self._at += 1
                self._expression(0)
            self._take(")")
            self._inside -= 1
            self._lines()
            return self._otherwise(Call(name, ((None, condition), (None, self._expression(5))), token.line))
        if name == "repeat":
            self._lines()
            return Call(name, ((None, self._expression(5)),), token.line)
        if name in CONSTANTS or name.startswith("NA_"):
            return Constant(CONSTANTS.get(name), token.line)
        return Symbol(name, token.line)

    def _otherwise(self, call: Call) -> Call:
        """Return a condition with its ``else`` branch, which may begin on the next line inside braces."""
        before = self._at
        if self._depth > 1 or self._inside:
            self._lines()
        if self._peek().kind == "name" and self._peek().text == "else" and call.function == "if":
            self._at += 1
            self._lines()
            return Call(call.function, (*call.arguments, (None, self._expression(5))), call.line)
        self._at = before
        return call

    def _function(self, token: Token) -> Node:
        self._take("(")
        self._arguments(")")
        self._lines()
        return Call("function", ((None, self._expression(5)),), token.line)

    def _block(self, token: Token) -> Node:
        before, self._inside = self._inside, 0
        listed: list[tuple[str | None, Node]] = []
        while self._skip_ends() and not self._is("}"):
            listed.append((None, self._expression(0)))
            if self._peek().kind != "end" and not self._is("}"):
                raise self._refusal()
        if self._at >= len(self._words):
            raise DataError(f"{self._name}, line {token.line}: a brace is opened and never closed.")
        self._take("}")
        self._inside = before
        return Call("{", tuple(listed), token.line)

    def _after(self, left: Node, token: Token) -> Node:
        """Parse what follows an expression: a call or a subscript."""
        self._at += 1
        arguments = self._arguments({"(": ")", "[": "]", "[[": "]]"}[token.text])
        if token.text != "(":
            return Call(token.text, ((None, left), *arguments), token.line)
        name = left.name if isinstance(left, Symbol) else left.value if isinstance(left, Constant) else ""
        line = left.line
        if isinstance(left, Call) and left.function in ("::", ":::") and isinstance(left.inner(1), Symbol):
            name = left.inner(1).name  # type: ignore[union-attr]
        return Call(str(name or ""), arguments, line)

    def _arguments(self, closing: str) -> tuple[tuple[str | None, Node], ...]:
        """Parse the arguments of a call or index up to its closing bracket: ``)``, ``]`` or ``]]``."""
        self._inside += 1
        listed: list[tuple[str | None, Node]] = []
        while not self._is(closing[0]):
            if self._is(","):
                self._at += 1
                continue
            listed.append(self._argument())
            if not self._is(",") and not self._is(closing[0]):
                raise self._refusal(f", where a comma or {closing} was expected")
        for sign in closing:
            self._take(sign)
        self._inside -= 1
        return tuple(listed)

    def _argument(self) -> tuple[str | None, Node]:
        token = self._peek()
        following = self._words[self._at + 1] if self._at + 1 < len(self._words) else token
        if token.kind in ("name", "text") and following.kind == "operator" and following.text == "=":
            self._at += 2
            if self._is(",") or self._is(")"):
                return token.text, Constant(None, token.line)
            return token.text, self._expression(5)
        return None, self._expression(5)


def _binary(token: Token, left: Node, right: Node) -> Node:
    """Return a binary operation; an arrow to the right becomes one to the left, and a pipe becomes a call."""
    if token.text in ("->", "->>"):
        return Call("<-", ((None, right), (None, left)), token.line)
    if token.text in ("=", "<<-"):
        return Call("<-", ((None, left), (None, right)), token.line)
    if token.text in ("|>", "%>%") and isinstance(right, Call):
        return Call(right.function, ((None, left), *right.arguments), right.line)
    return Call(token.text, ((None, left), (None, right)), token.line)
