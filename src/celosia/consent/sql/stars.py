"""Columns of ``*``, ``t.*`` and ``COLUMNS(…)``, with EXCEPT, REPLACE and RENAME applied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from celosia.consent.sql.elements import ANY
from celosia.consent.sql.relations import Frame, Relation, Source, Trace, merge
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.consent.sql.lineage import Tracer

Named = tuple[str, Trace]


def is_star(projection: exp.Expr) -> bool:
    """Return whether a projection stands for several columns."""
    from sqlglot import exp

    inner = projection.unalias()
    if isinstance(inner, exp.Like):
        inner = inner.this
    return isinstance(inner, exp.Columns) or (isinstance(inner, exp.Star | exp.Column | exp.Dot) and inner.is_star)


def star_trace(tracer: Tracer, node: exp.Expr, frame: Frame) -> Trace | None:
    """Return the trace of a star in an expression, as in ``row_to_json(t.*)``; None if the node is no star."""
    from sqlglot import exp

    if isinstance(node, exp.DynamicIdentifier):
        raise DataError("the query names a table or column by an expression. Write the name itself.")
    if isinstance(node, exp.Star) and isinstance(node.parent, exp.Count):
        return Trace()  # it counts rows
    numbered = frame.dialect == "snowflake" and isinstance(node, exp.Parameter) and isinstance(node.this, exp.Literal)
    if isinstance(node, exp.PositionalColumn) or numbered:
        return merge(source.relation.whole() for source in frame.sources)
    if isinstance(node, exp.Columns | exp.Star | exp.Column | exp.Dot) and (
        node.is_star or isinstance(node, exp.Columns)
    ):
        return merge(trace for _, trace in star_columns(tracer, node, frame)).derivation()
    return None


def star_columns(tracer: Tracer, projection: exp.Expr, frame: Frame) -> Iterator[Named]:
    """Yield name and trace of each column that ``*``, ``t.*`` or ``COLUMNS(…)`` expands to.

    A table whose columns are unknown yields one column named ``*``.
    """
    from sqlglot import exp

    node = projection.unalias()
    pattern = ""
    if isinstance(node, exp.Like):
        node = node.this
    if isinstance(node, exp.Columns):
        pattern = node.this.name if isinstance(node.this, exp.Literal) else ""
        node = node.this
    tracer.mark_read(node)
    if isinstance(node, exp.Dot):
        yield ANY, tracer.trace(node.this, frame).derivation()
        return
    columns = _qualified_columns(node, frame) if isinstance(node, exp.Column) else _all(frame)
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        columns = _edit(tracer, star, frame, columns)
    else:
        tracer.ignore(star)
    yield from ((name, trace) for name, trace in columns if name == ANY or _fits(pattern, name))


def _fits(pattern: str, name: str) -> bool:
    """Return whether a name matches the pattern of ``COLUMNS``; an invalid pattern matches all names."""
    try:
        return re.search(pattern, name, re.IGNORECASE) is not None
    except re.error:
        return True


def _all(frame: Frame) -> list[Named]:
    """Return the columns of all sources; those merged by USING come first and once."""
    rest = [
        (name, trace)
        for source in frame.sources
        if source.visible
        for name, trace in source.relation.columns
        if name.casefold() not in frame.using_columns
    ]
    return [*frame.using_columns.items(), *rest]


def _qualified_columns(node: exp.Column, frame: Frame) -> list[Named]:
    """Return the columns of ``t.*``, or the parts of a record ``r.*``."""
    prefix = [part.name.casefold() for part in node.parts[:-1]]
    for scope in frame.scopes():
        named: list[Source] = [source for source in scope.sources if source.is_named(prefix)]
        if named:
            return [column for source in named for column in source.relation.columns]
    return [(ANY, merge(trace for _, trace in frame.resolve(prefix)).derivation())]


def _edit(tracer: Tracer, star: exp.Star, frame: Frame, columns: Iterable[Named]) -> list[Named]:
    """Return the columns after EXCEPT or EXCLUDE, REPLACE and RENAME."""
    excluded: list[Any] = star.args.get("except_") or []
    tracer.ignore(excluded)
    excluded_names = {column.name.casefold() for column in excluded}
    replaced = {}
    for replacement in star.args.get("replace") or ():
        replaced[replacement.alias.casefold()] = (replacement.alias, tracer.trace(replacement.this, frame, "select"))
    renamed = {}
    for alias in star.args.get("rename") or ():
        tracer.ignore(alias)
        renamed[alias.this.name.casefold()] = alias.alias
    edited: list[Named] = []
    for name, trace in columns:
        key = name.casefold()
        if key not in excluded_names:
            edited.append(replaced.pop(key, (renamed.pop(key, name), trace)))
    if any(name == ANY for name, _ in edited):
        edited += replaced.values()
        everything = Relation(tuple(columns))
        edited += [(new, everything.column(old)) for old, new in renamed.items()]
    return edited
