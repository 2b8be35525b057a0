"""Sources of a FROM clause: tables, sub-selects, joins, table functions and pivots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from celosia.consent.sql.elements import ANY, Constant
from celosia.consent.sql.relations import Frame, Relation, Source, Trace, base_field, merge
from celosia.consent.sql.stars import is_star, star_columns
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.consent.sql.lineage import Link, Tracer

# Prefix and first number of the default column names of VALUES, where it is not ("column", 1).
UNNAMED = {"mysql": ("column_", 0), "duckdb": ("col", 0)}


def sources(tracer: Tracer, node: exp.Expr, frame: Frame, constants: set[Constant], links: list[Link]) -> list[Source]:
    """Return the sources of one item of a FROM clause: one, or those of a join in parentheses."""
    from sqlglot import exp

    wrapped = isinstance(node, exp.Subquery) and _is_join(node.this)
    if wrapped:
        group = Frame(frame, frame.ctes, frame.dialect)
        group.sources += sources(tracer, node.this, group, constants, links)
    else:
        group = Frame(frame, frame.ctes, frame.dialect, [_source(tracer, node, frame)])
    for join in node.args.get("joins") or ():
        add_join(tracer, join, group, constants, links)
    frame.touched |= group.touched
    if wrapped and node.alias:
        columns = [column for source in group.sources for column in source.relation.columns]
        return [Source((node.alias.casefold(),), Relation(tuple(columns)).rename(_column_names(node)))]
    frame.using_columns.update(group.using_columns)
    return group.sources


def _is_join(node: exp.Expr) -> bool:
    """Return whether parentheses hold a join, not a query."""
    from sqlglot import exp

    return isinstance(node, exp.Table) or (isinstance(node, exp.Subquery) and _is_join(node.this))


def add_join(tracer: Tracer, join: exp.Join, frame: Frame, constants: set[Constant], links: list[Link]) -> None:
    """Add the sources of a join to a frame, and record the fields, constants and equalities of its condition."""
    before = list(frame.sources)
    new = sources(tracer, join.this, frame, constants, links)
    frame.sources += new
    # the rows that an outer join adds need not meet its condition
    among = {"LEFT": new, "RIGHT": before, "FULL": []}.get(join.side)
    if join.kind == "ANTI":
        among = []
    for key in ("on", "match_condition"):
        condition = join.args.get(key)
        if condition is not None:
            tracer.trace(condition, frame)
            inner = among is None or join.kind == "SEMI"
            tracer.note_condition(condition, frame, constants, links, among=None if inner else among)
    tracer.note_join(join, frame, links)
    names = [column.name.casefold() for column in join.args.get("using") or ()]
    if join.method == "NATURAL":
        names = _common_names(before, new)
    hidden = join.kind in ("SEMI", "ANTI")
    for name in names:
        sides = [merge(_side_traces(side, name)) for side in (before, new)]
        links += [(sides[0].direct, sides[1].direct), (sides[1].direct, sides[0].direct)]
        if not hidden:
            earlier = [frame.using_columns[name]] if name in frame.using_columns else []
            frame.using_columns[name] = merge([*sides, *earlier])
        frame.touched |= merge(sides).direct
        tracer.computed |= merge(sides).direct
        tracer.equate(*sides)
        based = all(source.table is not None for source in (*before, *new)) and all(side.exact for side in sides)
        if not based or hidden or join.method not in ("", "NATURAL") or not tracer.is_outermost(join):
            tracer.decisive |= merge(sides).direct
    if join.method == "NATURAL" and not names:
        unnamed = merge(s.relation.whole() for s in frame.sources if s.relation.has("") is None).direct
        frame.touched |= unnamed
        tracer.computed |= unnamed
        tracer.decisive |= unnamed
    for source in new:
        source.visible = not hidden
        source.in_result = join.kind != "ANTI"


def _side_traces(side: Iterable[Source], name: str) -> Iterator[Trace]:
    """Iterate over the traces of a column on one side of a join: in the sources that have it, else in all that may."""
    side = list(side)
    owning = [source for source in side if source.relation.has(name)]
    return (source.column(name) for source in owning or [s for s in side if s.relation.has(name) is None])


def _common_names(before: Sequence[Source], new: Sequence[Source]) -> list[str]:
    """Return the names that both sides of a natural join have, or may have."""
    named = [
        dict.fromkeys(n.casefold() for source in side for n, _ in source.relation.columns if n != ANY)
        for side in (before, new)
    ]
    both = {**named[0], **named[1]}
    return [n for n in both if all(any(s.relation.has(n) is not False for s in side) for side in (before, new))]


def _source(tracer: Tracer, node: exp.Expr, frame: Frame) -> Source:
    from sqlglot import exp

    if isinstance(node, exp.Table):
        source = _table(tracer, node, frame)
    elif isinstance(node, exp.Subquery):
        scope = frame if frame.dialect == "duckdb" else frame.parent  # DuckDB reads any sub-select as LATERAL
        source = Source((), tracer.trace_query(node, frame.ctes, scope))
    elif isinstance(node, exp.Values):
        source = Source((), values(tracer, node, frame))
    elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
        source = Source((), tracer.trace_query(node.this, frame.ctes, frame))
    elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Unnest):
        source = Source((), _function(tracer, node.this, frame))
    elif isinstance(node, exp.UDTF):
        source = Source((), _function(tracer, node, frame))
    else:
        raise DataError(f"the query reads from a construction ({type(node).__name__}) that cannot be traced.")
    pivots = node.args.get("pivots") or ()
    alias = node.alias
    names = _column_names(node)
    if alias or names:
        source.names, source.has_alias = ((alias.casefold(),) if alias else source.names), True
        source.relation = _ordinal(node, source.relation.rename(names))
    for pivot in pivots:
        source.relation = _pivot(tracer, pivot, source, frame)
        if pivot.alias:
            source.names, source.has_alias = (pivot.alias.casefold(),), True
    if pivots:
        source.table = None
    return source


def _column_names(node: exp.Expr) -> list[str]:
    """Return the column names of an alias."""
    alias = node.args.get("alias")
    return [column.name for column in (alias.args.get("columns") or ())] if alias is not None else []


def _ordinal(node: exp.Expr, relation: Relation) -> Relation:
    """Clear the trace of the last column of WITH ORDINALITY, which only numbers the rows."""
    if not node.args.get("ordinality") or not relation.columns:
        return relation
    *first, (name, _) = relation.columns
    return Relation((*first, (name, Trace())), relation.constants, relation.touched)


def _table(tracer: Tracer, node: exp.Table, frame: Frame) -> Source:
    """Return the source of a base table, a common table expression or a table function."""
    from sqlglot import exp

    tracer.mark_read(node)
    for key in ("hints", "partition", "indexed"):
        tracer.ignore(node.args.get(key))
    for key in ("sample", "version", "when", "changes", "system_time"):
        tracer.trace(node.args.get(key), frame)
    rows_from = node.args.get("rows_from") or ()
    if rows_from:
        inner = [_source(tracer, call, frame).relation.whole() for call in rows_from]
        return Source((), Relation(((ANY, merge(inner)),)))
    if isinstance(node.this, exp.Func):
        return Source((node.this.name.casefold(),), _function(tracer, node, frame))
    parts = [part.name.casefold() for part in node.parts]
    if len(parts) == 1 and parts[0] in frame.ctes:
        cte = frame.ctes[parts[0]]
        return Source((parts[0],), Relation(cte.columns, cte.constants))
    last, _, remote = parts[-1].partition("@")
    name = ".".join([*([remote] if remote and last else []), *parts[:-1], last or parts[-1]])
    tracer.tables.add(name)
    fields = ["dummy"] if name == "dual" else tracer.table_columns(name)
    columns = [(ANY, Trace(frozenset({(name, ANY)})))] if fields is None else [(c, base_field(name, c)) for c in fields]
    return Source((*parts[:-1], last or parts[-1]), Relation(tuple(columns)), name, has_alias=False)


def _function(tracer: Tracer, node: exp.Expr, frame: Frame) -> Relation:
    """Return the relation of a table function: its columns and its number of rows depend on all arguments."""
    relation = _rows_of(tracer, node, frame)
    tracer.decisive |= relation.whole().direct
    return relation


def _rows_of(tracer: Tracer, node: exp.Expr, frame: Frame) -> Relation:
    from sqlglot import exp

    call = node if isinstance(node, exp.Unnest) else node.this
    if isinstance(node, exp.Unnest):
        traces = [tracer.trace(array, frame).derivation() for array in node.expressions]
        offset = node.args.get("offset")
        names = _column_names(node)
        columns = [(name, trace) for name, trace in zip(names, traces, strict=False)] if len(traces) > 1 else []
        columns = columns or [(names[0] if names else ANY, merge(traces))]
        if isinstance(offset, exp.Identifier):
            columns.append((offset.name, Trace()))
        return Relation(tuple(columns))
    whole = tracer.trace(call, frame).derivation()
    defined = [
        column.name
        for column in call.find_all(exp.JSONColumnDef, exp.OpenJSONColumnDef, exp.ColumnDef)
        if column.name and isinstance(call, exp.JSONTable | exp.OpenJSON | exp.XMLTable)
    ]
    return Relation(tuple((name, whole) for name in defined) or ((ANY, whole),))


def values(tracer: Tracer, node: exp.Values, frame: Frame) -> Relation:
    """Return the relation of VALUES; columns are matched by position."""
    word, first = UNNAMED.get(tracer.dialect, ("column", 1))
    columns: list[list[Trace]] = []
    for row in node.expressions:
        members = row.expressions if row.key == "tuple" else [row]
        for place, member in enumerate(members):
            if place == len(columns):
                columns.append([])
            columns[place].append(tracer.trace(member, frame))
    named = tuple((f"{word}{place}", merge(traces)) for place, traces in enumerate(columns, first))
    return Relation(named).rename(_column_names(node))


# Pivots.


def _pivot(tracer: Tracer, pivot: exp.Pivot, source: Source, frame: Frame) -> Relation:
    """Return the relation of ``PIVOT`` or ``UNPIVOT`` behind a table."""
    from sqlglot import exp

    inner = Frame(frame, frame.ctes, frame.dialect, [source])
    relation = source.relation
    if pivot.args.get("unpivot"):
        columns = _unpivot(tracer, pivot, relation, inner)
    else:
        used = [tracer.trace(aggregate, inner) for aggregate in pivot.expressions]
        used_names = {c.name.casefold() for aggregate in pivot.expressions for c in aggregate.find_all(exp.Column)}
        for field in pivot.args.get("fields") or ():
            used.append(tracer.trace(field.this, inner))
            used_names |= {c.name.casefold() for c in field.this.find_all(exp.Column)}
            for member in field.expressions:
                if isinstance(member, exp.Query):
                    tracer.trace(member, inner)
                tracer.ignore(member)
        cells = merge(used).derivation()
        group_columns = _group_columns(tracer, pivot, relation, inner, used_names)
        listed = all(not isinstance(m, exp.Query | exp.PivotAny) for f in pivot.args["fields"] for m in f.expressions)
        names = [column.name for column in pivot.args.get("columns") or ()] if listed else [ANY]
        columns = [*group_columns, *((name, cells) for name in names)]
    frame.touched |= inner.touched
    tracer.decisive |= inner.touched
    return Relation(tuple(columns), relation.constants, relation.touched).rename(_column_names(pivot))


def _group_columns(
    tracer: Tracer, pivot: exp.Pivot, relation: Relation, inner: Frame, used_names: set[str]
) -> list[tuple[str, Trace]]:
    """Return the columns by which a pivot groups: those of GROUP BY, else all that it does not use."""
    group = pivot.args.get("group")
    if group is not None:
        return [(column.name, tracer.trace(column, inner)) for column in group.expressions]
    return [(name, trace) for name, trace in relation.columns if name.casefold() not in used_names]


def _unpivot(tracer: Tracer, pivot: exp.Pivot, relation: Relation, inner: Frame) -> list[tuple[str, Trace]]:
    """Return the columns of UNPIVOT: the value columns depend on all of them, the name columns on none."""
    from sqlglot import exp

    heads = [
        name
        for head_or_row in pivot.expressions
        for name in (head_or_row.expressions if isinstance(head_or_row, exp.Tuple) else [head_or_row])
    ]
    names: list[str] = []
    cells: list[list[Trace]] = [[] for _ in heads]
    used_names: set[str] = set()
    for field in pivot.args.get("fields") or ():
        names.append(field.this.name)
        for member in field.expressions:
            member = member.this if isinstance(member, exp.PivotAlias) else member
            for place, column in enumerate(member.expressions if isinstance(member, exp.Tuple) else [member]):
                cells[place].append(tracer.trace(column, inner))
                used_names.add(column.name.casefold())
    group_columns = [(name, trace) for name, trace in relation.columns if name.casefold() not in used_names]
    value_columns = [(head.name, merge(traces).derivation()) for head, traces in zip(heads, cells, strict=True)]
    named = [(name, Trace()) for name in names]
    first, second = (value_columns, named) if pivot.args.get("value_columns_first") else (named, value_columns)
    return [*group_columns, *first, *second]


def pivot_query(tracer: Tracer, node: exp.Pivot, frame: Frame) -> Relation:
    """Return the relation of the statements ``PIVOT t ON … USING …`` and ``UNPIVOT t ON …``."""
    from sqlglot import exp

    constants: set[Constant] = set()
    frame.sources += sources(tracer, node.this, frame, constants, [])
    relation = Relation(tuple(c for s in frame.sources for c in s.relation.columns))
    used: list[Trace] = []
    used_names: set[str] = set()
    for expression in (*node.expressions, *(node.args.get("using") or ())):
        if is_star(expression):
            columns = list(star_columns(tracer, expression, frame))
            used += [trace for _, trace in columns]
            used_names |= {name.casefold() for name, _ in columns if name != ANY}
            frame.touched |= merge(used).direct
            tracer.computed |= merge(used).direct
        else:
            used.append(tracer.trace(expression, frame))
            used_names |= {c.name.casefold() for c in expression.find_all(exp.Column)}
    group_columns = _group_columns(tracer, node, relation, frame, used_names)
    cells = merge(used).derivation()
    tracer.decisive |= cells.direct
    into = node.args.get("into")
    if into is not None:
        tracer.ignore(into)
        pivot_columns = [(into.this.name, Trace()), *((head.name, cells) for head in into.expressions)]
    else:
        pivot_columns = [("name", Trace()), ("value", cells)] if node.args.get("unpivot") else [(ANY, cells)]
    touched = frozenset().union(*(source.relation.touched for source in frame.sources))
    constants |= {constant for source in frame.sources for constant in source.relation.constants}
    return Relation((*group_columns, *pivot_columns), frozenset(constants), touched)
