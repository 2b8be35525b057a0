"""Tables, fields and constants that a query uses, read from its text. The query is never run.

Names are case-insensitive, and a table name matches with or without its schema.
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
"""Field name for all fields of a table whose columns are not known, as in ``SELECT *``."""
MAX_CHARACTERS = 100_000
MAX_WILDCARDS = 4
"""Wildcards of a LIKE pattern (a run counts once): the time of a match is exponential in them."""
DIALECTS = ("oracle", "postgres", "mysql", "sqlite", "tsql", "duckdb", "snowflake", "bigquery")

Field = tuple[str, str]
"""A table and one of its fields, in lower case."""
Columns = Mapping[str, Sequence[str]]
"""Known columns of each table of a database."""


@dataclass(frozen=True)
class Constant:
    """Constant to which a query fixes a field, in all rows of the result or in those of one branch (UNION, OR)."""

    table: str
    field: str
    literal: str


@dataclass(frozen=True)
class Output:
    """Column of the result and the fields from which it is computed.

    ``linked`` are fields of other tables by which the table of the column was joined: the name of a province
    comes from the table of provinces, but discloses the province code of the enrolment it was add_join to.
    """

    name: str
    direct: frozenset[Field]
    linked: frozenset[Field] = frozenset()
    same: frozenset[Field] = frozenset()
    """Fields that the column may show unchanged."""
    exact: bool = False
    """Whether every row shows one of the fields in ``same``, never a computed or constant value."""


@dataclass(frozen=True)
class Elements:
    """Tables, fields and constants of a query, and the origin of each column of its result."""

    tables: frozenset[str]
    fields: frozenset[Field]
    constants: frozenset[Constant]
    outputs: tuple[Output, ...]
    computed: frozenset[Field] = frozenset()
    """Fields used in a condition, a join, an order or an expression: their values are not in the result."""
    equal: frozenset[frozenset[Field]] = frozenset()
    """Pairs of fields that an equality of the query joins."""
    decisive: frozenset[Field] = frozenset()
    """Fields that decide which rows, or how many, are in the result or are joined, other than by a key join.

    Any column may disclose their values, even a constant: ``SELECT card, 'D1' FROM person WHERE district = 'D1'``.
    """
    filtering: frozenset[Field] = frozenset()
    """Fields that decide rows only by a condition on one row of their table, in the outermost WHERE clause."""
    across: frozenset[tuple[frozenset[Field], frozenset[Field]]] = frozenset()
    """Fields of each window function or aggregate, with the fields by which it groups the rows."""
    unresolved: frozenset[str] = frozenset()
    """Names of columns that cannot be resolved to a table of the query."""


def parse_query(sql: str, dialect: str = "postgres") -> exp.Query:
    """Parse one query; raise for anything but a plain SELECT."""
    try:
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import SqlglotError
    except ImportError:  # pragma: no cover - the test environment has it
        from celosia.errors import MissingExtra

        raise MissingExtra.of("reading SQL", "db") from None
    if dialect not in DIALECTS:
        raise ParameterError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}.")
    if len(sql) > MAX_CHARACTERS:
        raise DataError(f"the query has {len(sql)} characters; at most {MAX_CHARACTERS} are read.")
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
        statement = tree.name if isinstance(tree, exp.Command) else tree.key
        raise DataError(f"only a SELECT can be published, not {statement.upper()}. Give the question by itself.")
    if tree.find(exp.Into, exp.DML, exp.DDL, exp.Drop, exp.Lock) is not None:
        raise DataError("the query changes or locks data. Only a plain SELECT can be published.")
    if any(len(re.findall("%+", like.expression.name)) > MAX_WILDCARDS for like in tree.find_all(exp.Like, exp.ILike)):
        raise DataError(
            f"a pattern of LIKE has more than {MAX_WILDCARDS} wildcards: for some texts it would take for ever. "
            "Write it with fewer, or as several patterns with AND."
        )
    return tree


def normalise(sql: str, dialect: str = "postgres") -> str:
    """Return the query in canonical spelling: spaces, comments and the case of names are unified, constants are not.

    >>> normalise("select A from T -- note") == normalise("SELECT a FROM t")
    True
    """
    from sqlglot import exp

    tree = parse_query(sql, dialect)
    for name in tree.find_all(exp.Identifier):
        name.set("this", name.name.casefold())
    return f"{dialect}: {tree.sql(dialect=dialect, comments=False)}"


def plain_literal(value: object) -> str:
    """Return a constant as text, so that ``'1'``, ``1`` and ``1.0`` are equal.

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
    """Return whether two names denote the same table; one of them may lack its schema.

    >>> same_table("ucr.MA_MATRICULA", "ma_matricula"), same_table("a.t", "b.t")
    (True, False)
    """
    name, other = name.casefold(), other.casefold()
    return name == other or name.endswith("." + other) or other.endswith("." + name)
