"""Calls that are more than a function of columns: methods of a column, and functions that hide a query in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from celosia.consent.sql.relations import Frame, Trace, merged
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

# Functions that run a query, or read a table, which a text names.
HIDING = frozenset(
    {
        *(
            "openquery",
            "openrowset",
            "opendatasource",
            "dblink",
            "dblink_send_query",
            "crosstab",
            "connectby",
            "ts_stat",
        ),
        *("query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "table_to_xml", "schema_to_xml"),
        *("database_to_xml", "cursor_to_xml", "getxml", "getxmltype", "external_query", "result_scan"),
        *("postgres_query", "postgres_scan", "mysql_query", "mysql_scan", "sqlite_query", "sqlite_scan", "query_table"),
    }
)
# Methods of an XML or place column in T-SQL; otherwise ``a.f()`` is a function of the schema or package ``a``.
METHODS = frozenset({"value", "query", "exist", "nodes"})


def refuse_hidden(tree: exp.Query, dialect: str) -> None:
    """Refuse a query inside a text: its fields would be missed."""
    from sqlglot import exp

    for call in tree.find_all(exp.Anonymous):
        name = call.name.casefold()
        alone = not isinstance(call.parent, exp.Dot)
        if name in HIDING or (name == "query" and dialect == "duckdb" and alone):
            raise DataError(f"{call.name} hides a query or a table in a text, whose fields cannot be traced.")


def method(node: exp.Expr, frame: Frame) -> Trace | None:
    """The column before the name of a method, as in ``t.doc.value('/x', 'int')``; None when there is none."""
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
    word = node.expression.name
    own = frame.dialect == "tsql" and (word.casefold() in METHODS or re.match("ST[A-Z][a-z]", word) is not None)
    is_column = any(source.relation.has(names[0]) for source in frame.sources)
    behind = len(names) > 1 and any(source.answers(names[:1]) for at in frame.around() for source in at.sources)
    if not (own or is_column or behind):
        return None
    return merged(trace for _, trace in frame.find(names)).changed()
