"""``*``, ``t.*`` and their kin: all columns, less those left out, with those replaced or renamed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from celosia.consent.sql.elements import ANY
from celosia.consent.sql.relations import Frame, Relation, Source, Trace, merged
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.consent.sql.lineage import Reading

Named = tuple[str, Trace]


def is_star(projection: exp.Expr) -> bool:
    """Whether a projection stands for several columns."""
    from sqlglot import exp

    inner = projection.unalias()
    if isinstance(inner, exp.Like):
        inner = inner.this
    return isinstance(inner, exp.Columns) or (isinstance(inner, exp.Star | exp.Column | exp.Dot) and inner.is_star)


def starred(reading: Reading, node: exp.Expr, frame: Frame) -> Trace | None:
    """All columns inside an expression, as in ``row_to_json(t.*)``; None when the node is nothing of the kind."""
    from sqlglot import exp

    if isinstance(node, exp.DynamicIdentifier):
        raise DataError("the query names a table or column by an expression. Write the name itself.")
    if isinstance(node, exp.Star) and isinstance(node.parent, exp.Count):
        return Trace()  # it counts rows
    numbered = frame.dialect == "snowflake" and isinstance(node, exp.Parameter) and isinstance(node.this, exp.Literal)
    if isinstance(node, exp.PositionalColumn) or numbered:
        return merged(source.relation.whole() for source in frame.sources)
    if isinstance(node, exp.Columns | exp.Star | exp.Column | exp.Dot) and (
        node.is_star or isinstance(node, exp.Columns)
    ):
        return merged(trace for _, trace in spread(reading, node, frame)).changed()
    return None


def spread(reading: Reading, projection: exp.Expr, frame: Frame) -> Iterator[Named]:
    """The columns that a star stands for: all there are, or ``*`` for a table that is not described."""
    from sqlglot import exp

    node = projection.unalias()
    pattern = ""
    if isinstance(node, exp.Like):
        node = node.this
    if isinstance(node, exp.Columns):
        pattern = node.this.name if isinstance(node.this, exp.Literal) else ""
        node = node.this
    reading.read(node)
    if isinstance(node, exp.Dot):
        yield ANY, reading.trace(node.this, frame).changed()
        return
    columns = _behind(node, frame) if isinstance(node, exp.Column) else _all(frame)
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        columns = _edited(reading, star, frame, columns)
    else:
        reading.ignore(star)
    yield from ((name, trace) for name, trace in columns if name == ANY or _fits(pattern, name))


def _fits(pattern: str, name: str) -> bool:
    """Whether a name fits the pattern of ``COLUMNS``; one that cannot be read fits all."""
    try:
        return re.search(pattern, name, re.IGNORECASE) is not None
    except re.error:
        return True


def _all(frame: Frame) -> list[Named]:
    """The columns of every source; those that USING made one come first and once."""
    rest = [
        (name, trace)
        for source in frame.sources
        if source.shown
        for name, trace in source.relation.columns
        if name.casefold() not in frame.joined
    ]
    return [*frame.joined.items(), *rest]


def _behind(node: exp.Column, frame: Frame) -> list[Named]:
    """The columns of ``t.*``, or the parts of a record ``r.*``."""
    prefix = [part.name.casefold() for part in node.parts[:-1]]
    for at in frame.around():
        answering: list[Source] = [source for source in at.sources if source.answers(prefix)]
        if answering:
            return [column for source in answering for column in source.relation.columns]
    return [(ANY, merged(trace for _, trace in frame.find(prefix)).changed())]


def _edited(reading: Reading, star: exp.Star, frame: Frame, columns: Iterable[Named]) -> list[Named]:
    """After EXCEPT or EXCLUDE, REPLACE and RENAME."""
    left_out: list[Any] = star.args.get("except_") or []
    reading.ignore(left_out)
    gone = {column.name.casefold() for column in left_out}
    replaced = {}
    for replacement in star.args.get("replace") or ():
        replaced[replacement.alias.casefold()] = (replacement.alias, reading.trace(replacement.this, frame, "select"))
    renamed = {}
    for alias in star.args.get("rename") or ():
        reading.ignore(alias)
        renamed[alias.this.name.casefold()] = alias.alias
    edited: list[Named] = []
    for name, trace in columns:
        key = name.casefold()
        if key not in gone:
            edited.append(replaced.pop(key, (renamed.pop(key, name), trace)))
    if any(name == ANY for name, _ in edited):
        edited += replaced.values()
        edited += [(new, merged(_under(columns, old))) for old, new in renamed.items()]
    return edited


def _under(columns: Iterable[Named], name: str) -> Iterator[Trace]:

    yield Relation(tuple(columns)).column(name)
