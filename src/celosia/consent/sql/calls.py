"""Calls that are not plain functions of columns: methods of a column, and functions whose argument is a query text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from celosia.consent.sql.relations import Frame, Trace, merge
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

# Functions that run a query, or read a table, named in a text argument.
HIDING = frozenset(
    {
        *("openquery", "openrowset", "opendatasource", "dblink", "dblink_send_query", "crosstab", "connectby"),
        *("ts_stat", "query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "table_to_xml"),
        *("schema_to_xml", "database_to_xml", "cursor_to_xml", "getxml", "getxmltype", "external_query", "result_scan"),
        *("postgres_query", "postgres_scan", "mysql_query", "mysql_scan", "sqlite_query", "sqlite_scan", "query_table"),
    }
)
# Methods of an XML or place column in T-SQL; otherwise ``a.f()`` is a function of the schema or package ``a``.
METHODS = frozenset({"value", "query", "exist", "nodes"})


def refuse_hidden(tree: exp.Query, dialect: str) -> None:
    """Raise if a text argument holds a query or a table name: its fields cannot be traced."""
    from sqlglot import exp

    for call in tree.find_all(exp.Anonymous):
        name = call.name.casefold()
        is_unqualified = not isinstance(call.parent, exp.Dot)
        if name in HIDING or (name == "query" and dialect == "duckdb" and is_unqualified):
            raise DataError(f"{call.name} hides a query or a table in a text, whose fields cannot be traced.")


def method_column(node: exp.Expr, frame: Frame) -> Trace | None:
    """Return the trace of the column in a method call such as ``t.doc.value('/x', 'int')``; None for others."""
    from sqlglot import exp

    if not (isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func)):
        return None
    names: list[str] = []
    left = node.this
    while isinstance(left, exp.Dot) and isinstance(left.expression, exp.Identifier):
        names.insert(0, left.expression.name.casefold())
        left = left.this
    if not isinstance(left, exp.Identifier):
        return None
    names.insert(0, left.name.casefold())
    called = node.expression.name
    is_known_method = frame.dialect == "tsql" and (
        called.casefold() in METHODS or re.match("ST[A-Z][a-z]", called) is not None
    )
    is_column = any(source.relation.has(names[0]) for source in frame.sources)
    has_table = len(names) > 1 and any(
        source.is_named(names[:1]) for scope in frame.scopes() for source in scope.sources
    )
    if not (is_known_method or is_column or has_table):
        return None
    return merge(trace for _, trace in frame.resolve(names)).derivation()
