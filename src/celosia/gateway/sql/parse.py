"""Parsing: from text to one plain SELECT, with limits on size and depth."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from celosia.errors import InputError

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST = 10_000
MOST_TOKENS = 1_500
DEEPEST = 25
DEEPEST_TREE = 60


class Refused(InputError):
    """Raised for a query that the gateway does not answer; the message has the reason and what to ask instead."""


def parse(text: str) -> exp.Select:
    """Read one SELECT statement.

    >>> parse("SELECT COUNT(*) FROM person").key
    'select'
    >>> parse("DROP TABLE person")
    Traceback (most recent call last):
    celosia.gateway.sql.parse.Refused: a query starts with SELECT. ...
    """
    if len(text) > LONGEST:
        raise Refused(
            "the query has {number} characters; at most {limit} are read. Ask a shorter one.",
            number=len(text),
            limit=LONGEST,
        )
    if any((ord(c) < 32 and c not in "\t\n\r") or 0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise Refused("the query holds a control character or half a character. Write plain text.")
    select = _select(text, _tokens(text))
    _flat(select)
    return select


def _tokens(text: str) -> list[Any]:
    """Cut the text into tokens; refuse before parsing what would make the parser recurse too deeply."""
    from sqlglot import Dialect
    from sqlglot.errors import TokenError
    from sqlglot.tokenizer_core import TokenType

    try:
        tokens = Dialect.get_or_raise("postgres").tokenize(text)
    except (TokenError, ValueError):
        raise Refused("the query cannot be read: a quotation mark or comment is not closed.") from None
    if not tokens or tokens[0].token_type != TokenType.SELECT:
        raise Refused("a query starts with SELECT. Only queries are answered: no WITH, no changes, no commands.")
    if len(tokens) > MOST_TOKENS:
        raise Refused(
            "the query has {number} words and signs; at most {limit} are read.",
            number=len(tokens),
            limit=MOST_TOKENS,
        )
    depth = run = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.CASE, TokenType.L_BRACKET):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.END, TokenType.R_BRACKET):
            depth -= 1
        run = run + 1 if token.token_type in (TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE) else 0
        if depth > DEEPEST or run > DEEPEST:
            raise Refused("the query is nested deeper than {limit} levels. Ask a flatter one.", limit=DEEPEST)
    _refuse_doubling(tokens)
    return list(tokens)


def _refuse_doubling(tokens: list[Any]) -> None:
    """Refuse what the parser tries in two ways at each level, so that its work would double with each level."""
    from sqlglot import Dialect
    from sqlglot.tokenizer_core import TokenType

    types = Dialect.get_or_raise("postgres").parser_class.TYPE_TOKENS
    brackets = {TokenType.L_BRACKET, TokenType.R_BRACKET, TokenType.L_BRACE, TokenType.R_BRACE}
    for token, following in pairwise([*tokens, None]):
        if token.token_type in brackets:
            raise Refused("the query holds {text!r}: lists and structures are not answered.", text=token.text)
        if token.token_type in types and following is not None and following.token_type == TokenType.L_PAREN:
            raise Refused(
                "{name} is a type, not a function. Columns already have their declared type.",
                name=token.text[:40].upper(),
            )


def _flat(select: exp.Select) -> None:
    """Refuse a tree that is too deep to walk down; conditions joined by the same word are on one level."""
    waiting: list[tuple[Any, int]] = [(select, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST_TREE:
            raise Refused(
                "an expression has more than {limit} levels. Use brackets to halve a long sum.", limit=DEEPEST_TREE
            )
        for child in node.iter_expressions():
            same = child.key == node.key and node.key in ("and", "or")
            waiting.append((child, depth + (not same)))


def _select(text: str, tokens: list[Any]) -> exp.Select:
    from sqlglot import Dialect, exp
    from sqlglot.errors import SqlglotError

    try:
        statements = Dialect.get_or_raise("postgres").parser().parse(tokens, text)
    except (SqlglotError, ValueError, RecursionError):
        # the parser's own message repeats the text, literals included
        raise Refused("the query is not a SELECT statement that can be read. Check the spelling.") from None
    read = [statement for statement in statements if statement is not None]
    if len(read) != 1:
        raise Refused("one query at a time, please: {number} statements were given.", number=len(read))
    select = read[0]
    if not isinstance(select, exp.Select):
        raise Refused(
            "only a plain SELECT is answered, not {statement}. Ask each part on its own.", statement=select.key.upper()
        )
    return select
