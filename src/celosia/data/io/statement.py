"""Validation of queries: one statement that only reads.

The connection that runs a query is read-only as well. This check states *why* a query is refused, and refuses what a
read-only connection allows: functions that read or write files, control the server or run another query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.data.pure_functions import refuse_calls, refuse_escaped
from celosia.data.quiet import silence
from celosia.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from sqlglot import exp

#: DuckDB's table functions that a query may call. Others read files, write logs or change settings.
TABLES = frozenset({"json_each", "json_tree", "repeat", "repeat_row"})
#: The names that the parser gives to the dialects of database URLs.
DIALECTS = {"postgresql": "postgres", "mariadb": "mysql", "mssql": "tsql"}

KEEP_JOIN_ORDER = {"disabled_optimizers": "build_side_probe_side,join_order"}
"""Settings of a connection with which a join keeps the order of its left side.

Otherwise DuckDB exchanges the sides if it expects the right one to be longer, which changes the order of the rows.
"""


def quote_name(name: str) -> str:
    """Quote a name for SQL.

    >>> quote_name('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def check_reads(query: str, dialect: str) -> None:
    """Raise unless a query is a single SELECT, WITH … SELECT or VALUES; the message does not quote it.

    >>> check_reads("SELECT age FROM people", "sqlite")
    >>> check_reads("DROP TABLE people", "sqlite")
    Traceback (most recent call last):
    celosia.errors.DataError: the query does not only read: only a SELECT (or WITH … SELECT, or VALUES) can be read.
    """
    from sqlglot import exp

    tree = _parse(query, DIALECTS.get(dialect, dialect))
    inner = [tree, *(cte.this for cte in tree.find_all(exp.CTE))]
    if not all(isinstance(part, exp.Query | exp.Values) for part in inner) or tree.find(exp.Into):
        raise DataError("the query does not only read: only a SELECT (or WITH … SELECT, or VALUES) can be read.")
    refuse_escaped(query)
    refuse_calls(tree)
    if any(table.name.casefold() == "pragma_database_list" for table in tree.find_all(exp.Table)):
        raise DataError("the query reads pragma_database_list, which names files of this computer. Leave it out.")
    for node in tree.find_all(exp.Anonymous):
        if dialect == "duckdb" and isinstance(node.parent, exp.Table | exp.Lateral) and node.name.lower() not in TABLES:
            raise DataError(f"the query calls {node.name}, which acts outside of the query. Leave it out.")


def _parse(query: str, dialect: str) -> exp.Expr:
    """Parse a query, which must be one statement."""
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError as error:
        raise MissingExtra.of("reading databases", "db") from error
    allowed = dialect if dialect in sqlglot.Dialect.classes else None
    try:
        with silence():
            statements = [tree for tree in sqlglot.parse(query, read=allowed) if tree is not None]
    except (SqlglotError, RecursionError, ValueError):
        raise DataError("the query cannot be read (syntax error): write one SELECT statement.") from None
    if len(statements) != 1:
        raise DataError(f"the query has {len(statements)} statements: only a SELECT on its own can be read.")
    return statements[0]
