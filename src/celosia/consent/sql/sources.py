"""What stands in a FROM clause: tables, sub-selects, joins, functions that make rows, pivots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from celosia.consent.sql.elements import ANY, Constant
from celosia.consent.sql.relations import Frame, Relation, Source, Trace, merged, plain
from celosia.consent.sql.stars import is_star, spread
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.consent.sql.lineage import Link, Reading

# How the columns of VALUES are called where nobody named them.
UNNAMED = {"mysql": ("column_", 0), "duckdb": ("col", 0)}


def sources(
    reading: Reading, node: exp.Expr, frame: Frame, constants: set[Constant], links: list[Link]
) -> list[Source]:
    """The sources of one item of a FROM clause: one, or those of a join in parentheses."""
    from sqlglot import exp

    wrapped = isinstance(node, exp.Subquery) and _is_join(node.this)
    if wrapped:
        group = Frame(frame, frame.ctes, frame.dialect)
        group.sources += sources(reading, node.this, group, constants, links)
    else:
        group = Frame(frame, frame.ctes, frame.dialect, [_source(reading, node, frame)])
    for join in node.args.get("joins") or ():
        joined(reading, join, group, constants, links)
    frame.touched |= group.touched
    if wrapped and node.alias:
        columns = [column for source in group.sources for column in source.relation.columns]
        return [Source((node.alias.casefold(),), Relation(tuple(columns)).renamed(_column_names(node)))]
    frame.joined.update(group.joined)
    return group.sources


def _is_join(node: exp.Expr) -> bool:
    """Whether parentheses hold a join and not a query."""
    from sqlglot import exp

    return isinstance(node, exp.Table) or (isinstance(node, exp.Subquery) and _is_join(node.this))


def joined(reading: Reading, join: exp.Join, frame: Frame, constants: set[Constant], links: list[Link]) -> None:
    """Add a join to a frame, with what its condition touches, fixes and equates."""
    before = list(frame.sources)
    new = sources(reading, join.this, frame, constants, links)
    frame.sources += new
    # rows that an outer join adds do not meet its condition
    among = {"LEFT": new, "RIGHT": before, "FULL": []}.get(join.side)
    if join.kind == "ANTI":
        among = []
    for key in ("on", "match_condition"):
        condition = join.args.get(key)
        if condition is not None:
            reading.trace(condition, frame)
            inner = among is None or join.kind == "SEMI"
            reading.condition(condition, frame, constants, links, among=None if inner else among)
    reading.joins(join, frame, links)
    names = [column.name.casefold() for column in join.args.get("using") or ()]
    if join.method == "NATURAL":
        names = _common(before, new)
    hidden = join.kind in ("SEMI", "ANTI")
    for name in names:
        sides = [merged(_at(side, name)) for side in (before, new)]
        links += [(sides[0].direct, sides[1].direct), (sides[1].direct, sides[0].direct)]
        if not hidden:
            frame.joined[name] = merged([*sides, *([frame.joined[name]] if name in frame.joined else [])])
        frame.touched |= merged(sides).direct
        reading.computed |= merged(sides).direct
        reading.equate(*sides)
        based = all(source.table is not None for source in (*before, *new)) and all(side.exact for side in sides)
        if not based or hidden or join.method not in ("", "NATURAL") or not reading.is_outermost(join):
            reading.decisive |= merged(sides).direct
    if join.method == "NATURAL" and not names:
        unnamed = merged(s.relation.whole() for s in frame.sources if s.relation.has("") is None).direct
        frame.touched |= unnamed
        reading.computed |= unnamed
        reading.decisive |= unnamed
    for source in new:
        source.shown = not hidden
        source.counted = join.kind != "ANTI"


def _at(side: Iterable[Source], name: str) -> Iterator[Trace]:
    """A column of a natural join on one side: from the sources that have it, else from all that might."""
    side = list(side)
    having = [source for source in side if source.relation.has(name)]
    return (source.column(name) for source in having or [s for s in side if s.relation.has(name) is None])


def _common(before: Sequence[Source], new: Sequence[Source]) -> list[str]:
    """The names that both sides of a natural join have, or may have."""
    named = [
        dict.fromkeys(n.casefold() for source in side for n, _ in source.relation.columns if n != ANY)
        for side in (before, new)
    ]
    both = {**named[0], **named[1]}
    return [n for n in both if all(any(s.relation.has(n) is not False for s in side) for side in (before, new))]


def _source(reading: Reading, node: exp.Expr, frame: Frame) -> Source:
    from sqlglot import exp

    if isinstance(node, exp.Table):
        source = _table(reading, node, frame)
    elif isinstance(node, exp.Subquery):
        seen = frame if frame.dialect == "duckdb" else frame.parent  # DuckDB reads any sub-select as LATERAL
        source = Source((), reading.query(node, frame.ctes, seen))
    elif isinstance(node, exp.Values):
        source = Source((), values(reading, node, frame))
    elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
        source = Source((), reading.query(node.this, frame.ctes, frame))
    elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Unnest):
        source = Source((), _function(reading, node.this, frame))
    elif isinstance(node, exp.UDTF):
        source = Source((), _function(reading, node, frame))
    else:
        raise DataError(f"the query reads from a construction ({type(node).__name__}) that cannot be traced.")
    pivots = node.args.get("pivots") or ()
    alias = node.alias
    names = _column_names(node)
    if alias or names:
        source.names, source.renamed = ((alias.casefold(),) if alias else source.names), True
        source.relation = _ordinal(node, source.relation.renamed(names))
    for pivot in pivots:
        source.relation = _pivot(reading, pivot, source, frame)
        if pivot.alias:
            source.names, source.renamed = (pivot.alias.casefold(),), True
    if pivots:
        source.table = None
    return source


def _column_names(node: exp.Expr) -> list[str]:
    """The column names of an alias."""
    alias = node.args.get("alias")
    return [column.name for column in (alias.args.get("columns") or ())] if alias is not None else []


def _ordinal(node: exp.Expr, relation: Relation) -> Relation:
    """WITH ORDINALITY: the last column counts, and tells nothing else."""
    if not node.args.get("ordinality") or not relation.columns:
        return relation
    *first, (name, _) = relation.columns
    return Relation((*first, (name, Trace())), relation.constants, relation.touched)


def _table(reading: Reading, node: exp.Table, frame: Frame) -> Source:
    """A base table, a common table expression, or a function in the place of a table."""
    from sqlglot import exp

    reading.read(node)
    for key in ("hints", "partition", "indexed"):
        reading.ignore(node.args.get(key))
    for key in ("sample", "version", "when", "changes", "system_time"):
        reading.trace(node.args.get(key), frame)
    rows_from = node.args.get("rows_from") or ()
    if rows_from:
        inner = [_source(reading, call, frame).relation.whole() for call in rows_from]
        return Source((), Relation(((ANY, merged(inner)),)))
    if isinstance(node.this, exp.Func):
        return Source((node.this.name.casefold(),), _function(reading, node, frame))
    parts = [part.name.casefold() for part in node.parts]
    if len(parts) == 1 and parts[0] in frame.ctes:
        cte = frame.ctes[parts[0]]
        return Source((parts[0],), Relation(cte.columns, cte.constants))
    last, _, remote = parts[-1].partition("@")
    name = ".".join([*([remote] if remote and last else []), *parts[:-1], last or parts[-1]])
    reading.tables.add(name)
    fields = ["dummy"] if name == "dual" else reading.described(name)
    columns = [(ANY, Trace(frozenset({(name, ANY)})))] if fields is None else [(c, plain(name, c)) for c in fields]
    return Source((*parts[:-1], last or parts[-1]), Relation(tuple(columns)), name, renamed=False)


def _function(reading: Reading, node: exp.Expr, frame: Frame) -> Relation:
    """A function that makes rows: all its columns are made of its arguments, and so is the number of rows."""
    relation = _rows_of(reading, node, frame)
    reading.decisive |= relation.whole().direct
    return relation


def _rows_of(reading: Reading, node: exp.Expr, frame: Frame) -> Relation:
    from sqlglot import exp

    call = node if isinstance(node, exp.Unnest) else node.this
    if isinstance(node, exp.Unnest):
        traces = [reading.trace(array, frame).changed() for array in node.expressions]
        offset = node.args.get("offset")
        names = _column_names(node)
        columns = [(name, trace) for name, trace in zip(names, traces, strict=False)] if len(traces) > 1 else []
        columns = columns or [(names[0] if names else ANY, merged(traces))]
        if isinstance(offset, exp.Identifier):
            columns.append((offset.name, Trace()))
        return Relation(tuple(columns))
    whole = reading.trace(call, frame).changed()
    defined = [
        column.name
        for column in call.find_all(exp.JSONColumnDef, exp.OpenJSONColumnDef, exp.ColumnDef)
        if column.name and isinstance(call, exp.JSONTable | exp.OpenJSON | exp.XMLTable)
    ]
    return Relation(tuple((name, whole) for name in defined) or ((ANY, whole),))


def values(reading: Reading, node: exp.Values, frame: Frame) -> Relation:
    """Rows that are written out: columns by place."""
    word, first = UNNAMED.get(reading.dialect, ("column", 1))
    columns: list[list[Trace]] = []
    for row in node.expressions:
        members = row.expressions if row.key == "tuple" else [row]
        for place, member in enumerate(members):
            if place == len(columns):
                columns.append([])
            columns[place].append(reading.trace(member, frame))
    named = tuple((f"{word}{place}", merged(traces)) for place, traces in enumerate(columns, first))
    return Relation(named).renamed(_column_names(node))


# Pivots.


def _pivot(reading: Reading, pivot: exp.Pivot, source: Source, frame: Frame) -> Relation:
    """``PIVOT`` and ``UNPIVOT`` behind a table."""
    from sqlglot import exp

    inner = Frame(frame, frame.ctes, frame.dialect, [source])
    relation = source.relation
    if pivot.args.get("unpivot"):
        columns = _unpivoted(reading, pivot, relation, inner)
    else:
        used = [reading.trace(aggregate, inner) for aggregate in pivot.expressions]
        gone = {c.name.casefold() for aggregate in pivot.expressions for c in aggregate.find_all(exp.Column)}
        for field in pivot.args.get("fields") or ():
            used.append(reading.trace(field.this, inner))
            gone |= {c.name.casefold() for c in field.this.find_all(exp.Column)}
            for member in field.expressions:
                if isinstance(member, exp.Query):
                    reading.trace(member, inner)
                reading.ignore(member)
        cells = merged(used).changed()
        kept = _kept(reading, pivot, relation, inner, gone)
        listed = all(not isinstance(m, exp.Query | exp.PivotAny) for f in pivot.args["fields"] for m in f.expressions)
        names = [column.name for column in pivot.args.get("columns") or ()] if listed else [ANY]
        columns = [*kept, *((name, cells) for name in names)]
    frame.touched |= inner.touched
    reading.decisive |= inner.touched
    return Relation(tuple(columns), relation.constants, relation.touched).renamed(_column_names(pivot))


def _kept(
    reading: Reading, pivot: exp.Pivot, relation: Relation, inner: Frame, gone: set[str]
) -> list[tuple[str, Trace]]:
    """The columns that a pivot groups by: those that are named, else all that it does not use."""
    group = pivot.args.get("group")
    if group is not None:
        return [(column.name, reading.trace(column, inner)) for column in group.expressions]
    return [(name, trace) for name, trace in relation.columns if name.casefold() not in gone]


def _unpivoted(reading: Reading, pivot: exp.Pivot, relation: Relation, inner: Frame) -> list[tuple[str, Trace]]:
    """One row per column: the value columns are made of them, the name column of nothing."""
    from sqlglot import exp

    heads = [
        name
        for head_or_row in pivot.expressions
        for name in (head_or_row.expressions if isinstance(head_or_row, exp.Tuple) else [head_or_row])
    ]
    names: list[str] = []
    cells: list[list[Trace]] = [[] for _ in heads]
    gone: set[str] = set()
    for field in pivot.args.get("fields") or ():
        names.append(field.this.name)
        for member in field.expressions:
            member = member.this if isinstance(member, exp.PivotAlias) else member
            for place, column in enumerate(member.expressions if isinstance(member, exp.Tuple) else [member]):
                cells[place].append(reading.trace(column, inner))
                gone.add(column.name.casefold())
    kept = [(name, trace) for name, trace in relation.columns if name.casefold() not in gone]
    value_columns = [(head.name, merged(traces).changed()) for head, traces in zip(heads, cells, strict=True)]
    named = [(name, Trace()) for name in names]
    return [*kept, *value_columns, *named] if pivot.args.get("value_columns_first") else [*kept, *named, *value_columns]


def pivoted(reading: Reading, node: exp.Pivot, frame: Frame) -> Relation:
    """``PIVOT t ON … USING …`` and ``UNPIVOT t ON …`` as queries of their own."""
    from sqlglot import exp

    constants: set[Constant] = set()
    frame.sources += sources(reading, node.this, frame, constants, [])
    relation = Relation(tuple(c for s in frame.sources for c in s.relation.columns))
    used: list[Trace] = []
    gone: set[str] = set()
    for expression in (*node.expressions, *(node.args.get("using") or ())):
        if is_star(expression):
            columns = list(spread(reading, expression, frame))
            used += [trace for _, trace in columns]
            gone |= {name.casefold() for name, _ in columns if name != ANY}
            frame.touched |= merged(used).direct
            reading.computed |= merged(used).direct
        else:
            used.append(reading.trace(expression, frame))
            gone |= {c.name.casefold() for c in expression.find_all(exp.Column)}
    kept = _kept(reading, node, relation, frame, gone)
    cells = merged(used).changed()
    reading.decisive |= cells.direct
    into = node.args.get("into")
    if into is not None:
        reading.ignore(into)
        pivot_columns = [(into.this.name, Trace()), *((head.name, cells) for head in into.expressions)]
    else:
        pivot_columns = [("name", Trace()), ("value", cells)] if node.args.get("unpivot") else [(ANY, cells)]
    touched = frozenset().union(*(source.relation.touched for source in frame.sources))
    constants |= {constant for source in frame.sources for constant in source.relation.constants}
    return Relation((*kept, *pivot_columns), frozenset(constants), touched)
