"""What a query touches: tables, fields and constants, read from its text. Nothing is ever run.

Names are compared without regard to case, and a table with or without its schema is the same table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from celosia.data.quiet import silence
from celosia.errors import DataError, ParameterError

if TYPE_CHECKING:
    from sqlglot import exp

ANY = "*"
"""A field name that stands for every field of its table: ``SELECT *`` from a table that is not described."""
LONGEST = 100_000
MOST_WILDCARDS = 4
"""Of a pattern, one after the other counted once: a database tries every way to place them."""
DIALECTS = ("oracle", "postgres", "mysql", "sqlite", "tsql", "duckdb", "snowflake", "bigquery")

Field = tuple[str, str]
"""A table and one of its fields, in lower case."""
Columns = Mapping[str, Sequence[str]]
"""The columns of each table of a database, as far as they are known."""


@dataclass(frozen=True)
class Constant:
    """A field that a query fixes to a constant: all rows of the result, or of a branch of it, share it."""

    table: str
    field: str
    literal: str


@dataclass(frozen=True)
class Output:
    """A column of the result and the fields that it is made of.

    ``linked`` are fields of other tables by which the table of the column was looked up: the name of a province
    comes from the table of provinces, but tells the province code of the enrolment it was joined to.
    """

    name: str
    direct: frozenset[Field]
    linked: frozenset[Field] = frozenset()
    same: frozenset[Field] = frozenset()
    """The fields that the column shows unchanged."""
    exact: bool = False
    """Whether it shows one of these fields in every row: it is nowhere computed or constant."""


@dataclass(frozen=True)
class Elements:
    """Tables, fields and constants of a query, and what each column of its result is made of."""

    tables: frozenset[str]
    fields: frozenset[Field]
    constants: frozenset[Constant]
    outputs: tuple[Output, ...]
    computed: frozenset[Field] = frozenset()
    """Fields used in a condition, a join, an order or an expression: their values are not in the result."""
    equal: frozenset[frozenset[Field]] = frozenset()
    """Pairs of fields that an equality of the query joins."""
    decisive: frozenset[Field] = frozenset()
    """Fields that decide which rows, or how many, are in the result or meet each other, other than by a key join.

    Any column may show their values, even a constant: ``SELECT card, 'D1' FROM person WHERE district = 'D1'``.
    """
    filtering: frozenset[Field] = frozenset()
    """Fields that decide only by a condition on one row of their table, in the outermost WHERE clause."""
    across: frozenset[tuple[frozenset[Field], frozenset[Field]]] = frozenset()
    """Fields of window functions and aggregates, each with the fields by which the rows are divided."""
    lost: frozenset[str] = frozenset()
    """Names of columns that no table of the query is known to have."""


def parsed(sql: str, dialect: str = "postgres") -> exp.Query:
    """Parse one query; refuse anything that is not a question."""
    try:
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import SqlglotError
    except ImportError:  # pragma: no cover - the test environment has it
        from celosia.errors import MissingExtra

        raise MissingExtra.of("reading SQL", "db") from None
    if dialect not in DIALECTS:
        raise ParameterError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}.")
    if len(sql) > LONGEST:
        raise DataError(f"the query has {len(sql)} characters; at most {LONGEST} are read.")
    try:
        with silence():
            trees = sqlglot.parse(sql, read=dialect)
    except (SqlglotError, ValueError, RecursionError):
        # the parser's own message repeats the text, literals included
        raise DataError(f"the query cannot be read as {dialect} SQL. Check its spelling and the dialect.") from None
    statements = [s for s in trees if s is not None and not isinstance(s, exp.Semicolon)]
    if len(statements) != 1:
        raise DataError(f"one query at a time: {len(statements)} statements were given.")
    tree = statements[0]
    while isinstance(tree, exp.Subquery) and not any(value for key, value in tree.args.items() if key != "this"):
        tree = tree.this
    if not isinstance(tree, exp.Query):
        word = tree.name if isinstance(tree, exp.Command) else tree.key
        raise DataError(f"only a SELECT can be published, not {word.upper()}. Give the question by itself.")
    if tree.find(exp.Into, exp.DML, exp.DDL, exp.Drop, exp.Lock) is not None:
        raise DataError("the query changes or locks data. Only a plain SELECT can be published.")
    if any(len(re.findall("%+", like.expression.name)) > MOST_WILDCARDS for like in tree.find_all(exp.Like, exp.ILike)):
        raise DataError(
            f"a pattern of LIKE has more than {MOST_WILDCARDS} wildcards: for some texts it would take for ever. "
            "Write it with fewer, or as several patterns with AND."
        )
    return tree


def normalised(sql: str, dialect: str = "postgres") -> str:
    """The query in one spelling: spaces, comments and the case of names do not matter, constants and quotes do.

    >>> normalised("select A from T -- note") == normalised("SELECT a FROM t")
    True
    """
    from sqlglot import exp

    tree = parsed(sql, dialect)
    for name in tree.find_all(exp.Identifier):
        name.set("this", name.name.casefold())
    return f"{dialect}: {tree.sql(dialect=dialect, comments=False)}"


def plain_literal(value: object) -> str:
    """A constant as text, so that ``'1'``, ``1`` and ``1.0`` are equal.

    >>> plain_literal("1"), plain_literal(1.0), plain_literal("A"), plain_literal(True)
    ('1', '1', 'A', '1')
    """
    if isinstance(value, bool):
        return str(int(value))
    text = str(value).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return format(number.normalize(), "f") if number.is_finite() else text


def same_table(name: str, other: str) -> bool:
    """Whether two table names mean the same table, one of them perhaps without its schema.

    >>> same_table("ucr.MA_MATRICULA", "ma_matricula"), same_table("a.t", "b.t")
    (True, False)
    """
    name, other = name.casefold(), other.casefold()
    return name == other or name.endswith("." + other) or other.endswith("." + name)
