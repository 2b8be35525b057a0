"""Lineage of a query: the fields of base tables that it shows, reads and fixes to constants.

sqlglot parses the query; its own ``qualify`` and ``lineage`` follow only the output columns, while an inference also
rests on the filters, joins, groups and constants. They also fail on usual queries: an ambiguous name without a
schema, whole rows (``SELECT p FROM person p``), NATURAL JOIN, PIVOT and CONNECT BY. Here an ambiguous name means every
field that it can mean: too many elements are safe, too few are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celosia.consent.sql import conditions
from celosia.consent.sql.calls import method_column, refuse_hidden
from celosia.consent.sql.elements import ANY, Columns, Constant, Elements, Field, Output, parse_query, same_table
from celosia.consent.sql.relations import UNRESOLVED, Fields, Frame, Meanings, Relation, Source, Trace, merge
from celosia.consent.sql.sources import add_join, pivot_query, sources, values
from celosia.consent.sql.stars import is_star, star_columns, star_trace
from celosia.data.pure_functions import is_aggregate
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

# Dialects in which a common table expression may name itself without RECURSIVE.
IMPLICIT = frozenset({"oracle", "tsql", "sqlite", "snowflake"})
# Parts of a SELECT that name no data, or that are traced separately.
OWN = {
    *("with_", "expressions", "from_", "joins", "laterals", "windows", "hint", "options", "for_", "kind", "distinct"),
    *("operation_modifiers", "where", "group", "having", "qualify", "order", "connect"),
}
Link = tuple[Fields, Fields]


class Tracer:
    """Trace of one statement: each query in it becomes a relation, from the innermost outwards."""

    def __init__(self, tree: exp.Query, columns: Columns, dialect: str) -> None:
        self.dialect = dialect
        self.tables: set[str] = set()
        self._tree = _expand_in_table(tree) if dialect == "sqlite" else tree
        self._columns_of = {name.casefold(): [c.casefold() for c in fields] for name, fields in columns.items()}
        self._relations: dict[int, Relation] = {}
        self._inner: dict[tuple[int, Frame], Relation] = {}
        self._seen: set[int] = set()
        self.computed: set[Field] = set()
        self.equal: set[frozenset[Field]] = set()
        self.decisive: set[Field] = set()
        self.filtering: set[Field] = set()
        self.across: set[tuple[Fields, Fields]] = set()

    def elements(self) -> Elements:
        """Trace the statement and return its elements."""
        refuse_hidden(self._tree, self.dialect)
        try:
            result = self.trace_query(self._tree, {}, None)
        except RecursionError:
            raise DataError("the query is nested too deep to be traced. Write it flatter.") from None
        self._check()
        return Elements(
            frozenset(self.tables),
            _of_tables(result.touched),
            result.constants,
            tuple(
                Output(name, _of_tables(trace.direct), trace.linked - trace.direct, trace.same, trace.exact)
                for name, trace in result.columns
            ),
            _of_tables(self.computed),
            frozenset(self.equal),
            _of_tables(self.decisive),
            _of_tables(self.filtering),
            frozenset(self.across),
            frozenset(name for table, name in result.touched if table == UNRESOLVED),
        )

    def table_columns(self, table: str) -> list[str] | None:
        """Return the known columns of a base table, or None."""
        if table in self._columns_of:
            return self._columns_of[table]
        matching = [fields for name, fields in self._columns_of.items() if same_table(name, table)]
        return list(dict.fromkeys(field for fields in matching for field in fields)) if matching else None

    def _check(self) -> None:
        """Raise if a name has not been read: an element could be missed."""
        from sqlglot import exp

        for node in self._tree.find_all(exp.Column, exp.Table):
            if id(node) not in self._seen:
                place = type(node.find_ancestor(exp.Pivot) or node.parent).__name__
                raise DataError(
                    f"the query holds a construction ({place}) whose fields cannot be traced. Write it plainer."
                )

    def ignore(self, node: object) -> None:
        """Mark all names below a node as read, since they name no data."""
        from sqlglot import exp

        for part in node if isinstance(node, list) else [node]:
            if isinstance(part, exp.Expr):
                self._seen.update(id(name) for name in part.find_all(exp.Column, exp.Table))

    def mark_read(self, node: exp.Expr) -> None:
        """Mark one name as read."""
        self._seen.add(id(node))

    # Queries.

    def trace_query(
        self, node: exp.Expr, ctes: dict[str, Relation], outer: Frame | None, *, exists: bool = False
    ) -> Relation:
        """Return the relation that a query gives."""
        from sqlglot import exp

        frame = Frame(outer, dict(ctes), self.dialect)
        if node.args.get("with_") is not None:
            self._with(node.args["with_"], frame)
        if isinstance(node, exp.Select):
            relation = self._select(node, frame, exists=exists)
        elif isinstance(node, exp.SetOperation):
            relation = self._set_operation(node, frame)
        elif isinstance(node, exp.Subquery):
            relation = self.trace_query(node.this, frame.ctes, outer, exists=exists)
        elif isinstance(node, exp.Values):
            relation = values(self, node, frame)
        elif isinstance(node, exp.Pivot):
            relation = pivot_query(self, node, frame)
        else:
            raise DataError(f"the query holds a construction ({type(node).__name__}) that cannot be traced.")
        if not isinstance(node, exp.Select):
            self._trailing_clauses(node, frame, relation)
        relation = Relation(relation.columns, relation.constants, relation.touched | frame.touched)
        self._relations[id(node)] = relation
        return relation

    def _trailing_clauses(self, node: exp.Expr, frame: Frame, relation: Relation) -> None:
        """Trace ORDER BY, LIMIT and OFFSET behind a set operation or parentheses, where names mean result columns."""
        below = Frame(frame.parent, frame.ctes, self.dialect, [Source((), relation)])
        for key in ("order", "limit", "offset"):
            if node.args.get(key) is not None:
                self.trace(node.args[key], below)
        self._ordinals(node.args.get("order"), below, relation.columns)
        frame.touched |= below.touched
        if node is not self._tree or _is_limited(node):
            self.decisive |= below.touched

    def _ordinals(self, clause: exp.Expr | None, frame: Frame, columns: Sequence[tuple[str, Trace]]) -> None:
        """Record the output columns that ORDER BY, GROUP BY or DISTINCT ON name by position, or by ALL."""
        from sqlglot import exp

        if clause is None:
            return
        places: set[int] = set()
        for item in clause.iter_expressions():
            names = list(item.find_all(exp.Column))
            if not names:  # databases accept (3), +3 and 3 COLLATE "C" as a position too
                places |= {int(literal.name) for literal in item.find_all(exp.Literal) if literal.is_int}
            elif all(name.name.casefold() == "all" for name in names):
                places |= set(range(1, len(columns) + 1))
        named = merge(trace for place, (_, trace) in enumerate(columns, 1) if place in places)
        frame.touched |= named.direct
        self.computed |= named.direct

    def _with(self, clause: exp.With, frame: Frame) -> None:
        """Add the common table expressions to a frame, each after those it names."""
        recursive = bool(clause.recursive)
        for cte in _sort_by_dependency(clause.expressions) if recursive else clause.expressions:
            names = [str(name) for name in cte.alias_column_names]
            relation = self._cte(cte, frame, names, recursive=recursive or self.dialect in IMPLICIT)
            frame.ctes[cte.alias.casefold()] = relation
            frame.touched |= relation.touched

    def _cte(self, cte: exp.CTE, frame: Frame, names: list[str], *, recursive: bool) -> Relation:
        """Return the relation of a common table expression; a recursive one is traced again until nothing changes."""
        from sqlglot import exp

        body = cte.this
        own = cte.alias.casefold()
        if not (recursive and isinstance(body, exp.SetOperation) and _reads_table(body, own)):
            return self.trace_query(body, frame.ctes, frame.parent).rename(names)
        first: Any = body
        while isinstance(first, exp.SetOperation | exp.Subquery):
            first = first.this
        relation = self.trace_query(first, frame.ctes, frame.parent).rename(names)
        while True:
            again = self.trace_query(body, {**frame.ctes, own: relation}, frame.parent).rename(names)
            if again.columns == relation.columns:
                return again
            relation = again

    def _set_operation(self, node: exp.SetOperation, frame: Frame) -> Relation:
        """Return the relation of a set operation; of EXCEPT only the left side is in the result."""
        from sqlglot import exp

        chain: list[exp.SetOperation] = [node]
        while isinstance(chain[-1].this, exp.SetOperation) and not chain[-1].this.args.get("with_"):
            chain.append(chain[-1].this)
        combined = self.trace_query(chain[-1].this, frame.ctes, frame.parent)
        for step in reversed(chain):
            other = self.trace_query(step.expression, frame.ctes, frame.parent)
            touched = combined.touched | other.touched
            if isinstance(step, exp.Except | exp.Intersect):  # they compare whole rows
                self.computed |= combined.whole().direct | other.whole().direct
            if isinstance(step, exp.Except | exp.Intersect) or (node is not self._tree and step.args.get("distinct")):
                self.decisive |= combined.whole().direct | other.whole().direct
            if isinstance(step, exp.Except):
                combined = Relation(combined.columns, combined.constants, touched)
            else:
                columns = _by_name(combined, other) if step.args.get("by_name") else _by_place(combined, other)
                combined = Relation(tuple(columns), combined.constants | other.constants, touched)
        return combined

    def _select(self, node: exp.Select, frame: Frame, *, exists: bool) -> Relation:
        for key, name in (("match", "MATCH_RECOGNIZE"), ("laterals", "LATERAL VIEW")):
            if node.args.get(key):
                raise DataError(f"the fields of {name} cannot be traced. Write the query without it.")
        constants: set[Constant] = set()
        links: list[Link] = []
        if node.args.get("from_") is not None:
            frame.sources += sources(self, node.args["from_"].this, frame, constants, links)
        for join in node.args.get("joins") or ():
            add_join(self, join, frame, constants, links)
        frame.is_hierarchical = node.args.get("connect") is not None
        self.ignore(node.args.get("hint"))
        self.ignore(node.args.get("options"))
        for window in node.args.get("windows") or ():
            frame.windows[window.name.casefold()] = self.trace(window, frame)
        columns = list(self._projections(node, frame, exists=exists))
        self._clauses(node, frame, constants, links)
        self._decide(node, frame, columns, links)
        for key in ("group", "order"):
            self._ordinals(node.args.get(key), frame, columns)
        if node.args.get("distinct") is not None:
            self._ordinals(node.args["distinct"].args.get("on"), frame, columns)
        for source in frame.sources:
            constants |= source.relation.constants if source.in_result else set()
            frame.touched |= source.relation.touched
        return Relation(tuple((name, _with_links(trace, links)) for name, trace in columns), frozenset(constants))

    # Fields that decide which rows there are.

    def _decide(self, node: exp.Select, frame: Frame, columns: Sequence[tuple[str, Trace]], links: list[Link]) -> None:
        """Record the fields that decide which rows there are, and those aggregated over several rows."""
        from sqlglot import exp

        outermost = node is self._tree
        deciding: set[Field] = set()
        where = node.args.get("where")
        for part, positive in conditions.conjuncts(where.this) if where is not None else ():
            fields = self.trace(part, frame, "where").direct
            lookup = self._is_lookup(node)
            if positive and (outermost or lookup) and self._is_key_join(part, frame, correlated=lookup):
                continue
            if outermost and self._is_filter(part, frame):
                self.filtering |= fields
            else:
                deciding |= fields
        keys = ["having", "qualify", "connect", "limit", "offset", "fetch", "sample"]
        keys += ["group", "distinct", "order"] if not outermost or _is_limited(node) else ["group"]
        for key in keys:
            clause = node.args.get(key)
            if clause is not None:
                deciding |= merge(
                    self.trace(item, frame, _CLAUSES.get(key, key)) for item in clause.iter_expressions()
                ).direct
        grouped = self._grouping_fields(node, frame, columns)
        deciding -= {field for _, trace in columns for field in trace.same} & grouped if outermost else set()
        distinct = node.args.get("distinct")
        if distinct is not None and (not outermost or distinct.args.get("on") is not None):
            deciding |= merge(trace for _, trace in columns).direct
            deciding |= self.trace(distinct.args.get("on"), frame, "order").direct
        self.decisive |= deciding | _with_links(Trace(frozenset(deciding)), links).linked
        self.decisive |= _with_links(Trace(frozenset(self.filtering)), links).linked if outermost else set()
        for call in node.find_all(exp.Expr):
            window = isinstance(call, exp.Window)
            if (window or is_aggregate(call)) and call.find_ancestor(exp.Window, exp.Select) is node:
                parts = call.args.get("partition_by") or [] if isinstance(call, exp.Window) else []
                grouping = merge(self.trace(part, frame) for part in parts).same if window else grouped
                if aggregated := self.trace(call, frame).direct:
                    self.across.add((aggregated, grouping))

    def _grouping_fields(self, node: exp.Select, frame: Frame, columns: Sequence[tuple[str, Trace]]) -> Fields:
        """Return the fields that GROUP BY uses as plain columns."""
        from sqlglot import exp

        clause = node.args.get("group")
        if clause is None or any(clause.args.get(key) for key in ("grouping_sets", "cube", "rollup")):
            return frozenset()
        traces = []
        for item in clause.expressions:
            literal = conditions.unwrap(item)
            if isinstance(literal, exp.Literal) and literal.is_int and 0 < int(literal.name) <= len(columns):
                traces.append(columns[int(literal.name) - 1][1])
            elif isinstance(item, exp.Column):
                traces.append(self.trace(item, frame, "group"))
        return frozenset().union(*(trace.same for trace in traces if trace.exact))

    def _is_filter(self, part: exp.Expr, frame: Frame) -> bool:
        """Return whether a condition depends on one row of one base table only."""
        from sqlglot import exp

        if part.find(exp.Query, exp.Window) or any(is_aggregate(node) for node in part.find_all(exp.Func)):
            return False
        read = {source for column in part.find_all(exp.Column) for source, _ in self.resolve(column, frame, "where")}
        return len(read) == 1 and all(source is not None and source.table is not None for source in read)

    def _is_lookup(self, node: exp.Select) -> bool:
        """Return whether a sub-select is an output column of the whole query, so that it decides no rows."""
        from sqlglot import exp

        output = node.parent.parent if isinstance(node.parent, exp.Subquery) else None
        column = output if isinstance(output, exp.Alias) else node.parent
        return column is not None and column.parent is self._tree and column.arg_key == "expressions"

    def _is_key_join(self, part: exp.Expr, frame: Frame, *, correlated: bool = False) -> bool:
        """Return whether a condition equates fields of two base tables of the same FROM clause.

        With ``correlated`` one of them may be in the FROM clause of the enclosing query.
        """
        from sqlglot import exp

        pair = [conditions.unwrap(side) for side in (part.left, part.right)] if isinstance(part, exp.EQ) else []
        if not pair or not all(isinstance(side, exp.Column) for side in pair):
            return False
        meanings = [self.resolve(side, frame, "where") for side in pair if isinstance(side, exp.Column)]
        sources = [source for side in meanings for source, _ in side]
        exact = all(len(side) == 1 and side[0][1].exact for side in meanings)
        based = all(source is not None and source.table is not None for source in sources)
        based = based and (any if correlated else all)(source in frame.sources for source in sources)
        return exact and based and sources[0] is not sources[-1]

    def is_outermost(self, join: exp.Join) -> bool:
        """Return whether a join belongs to the outermost SELECT."""
        from sqlglot import exp

        return isinstance(self._tree, exp.Select) and join.parent is self._tree

    def note_join(self, join: exp.Join, frame: Frame, links: list[Link]) -> None:
        """Record the fields by which the condition of a join decides which rows are joined."""
        outermost = self.is_outermost(join)
        deciding: set[Field] = set()
        for key in ("on", "match_condition"):
            condition = join.args.get(key)
            for part, positive in conditions.conjuncts(condition) if condition is not None else ():
                plain = outermost and positive and key == "on" and join.kind in ("", "INNER", "OUTER", "CROSS")
                if not (plain and not join.method and self._is_key_join(part, frame)):
                    deciding |= self.trace(part, frame).direct
        self.decisive |= deciding | _with_links(Trace(frozenset(deciding)), links).linked

    def _clauses(self, node: exp.Select, frame: Frame, constants: set[Constant], links: list[Link]) -> None:
        """Trace all clauses after FROM, and record the constants that they fix."""
        for key in ("where", "having", "qualify"):
            if node.args.get(key) is not None:
                condition = node.args[key].this
                self.trace(condition, frame, key)
                self.note_condition(condition, frame, constants, links, key)
        for key in ("group", "order", "distinct"):
            clause = node.args.get(key)
            if clause is not None:
                inner = clause.args.get("on") if key == "distinct" else clause
                for item in inner.iter_expressions() if inner is not None else ():
                    self.trace(item, frame, "group" if key == "group" else "order")
        for key, value in node.args.items():
            if key not in OWN:
                for item in value if isinstance(value, list) else [value]:
                    self.trace(item, frame)
        if node.args.get("connect") is not None:
            self.trace(node.args["connect"], frame, "where")

    def note_condition(
        self,
        condition: exp.Expr,
        frame: Frame,
        constants: set[Constant],
        links: list[Link],
        clause: str = "",
        among: Iterable[Source] | None = None,
    ) -> None:
        """Record constants and equalities of a condition; of an outer join only those of the sources in ``among``."""
        allowed = None if among is None else list(among)
        for column, literals in conditions.fixed_columns(condition).values():
            for source, trace in self.resolve(column, frame, clause):
                if allowed is None or source in allowed:
                    constants |= {Constant(t, f, literal) for t, f in trace.same for literal in literals}
        if allowed is None:
            for query in conditions.required_queries(condition):
                constants |= self._relations[id(query)].constants
        for left, right in conditions.equal_columns(condition):
            sides = [self.resolve(side, frame, clause) for side in (left, right)]
            if all(source in frame.sources for side in sides for source, _ in side):
                self.equate(*(merge(t for _, t in side) for side in sides))
            pair = [merge(t for _, t in side).direct for side in sides]
            links += [(pair[0], pair[1]), (pair[1], pair[0])]

    def equate(self, left: Trace, right: Trace) -> None:
        """Record two fields as equal in the rows of the query, unless a name is ambiguous."""
        if len(left.same) == len(right.same) == 1 and left.same == left.direct and right.same == right.direct:
            self.equal.add(left.same | right.same)

    # Columns of the result.

    def _projections(self, node: exp.Select, frame: Frame, *, exists: bool) -> Iterator[tuple[str, Trace]]:
        from sqlglot import exp

        for place, projection in enumerate(node.expressions, 1):
            if is_star(projection):
                columns = list(star_columns(self, projection, frame))
                if not exists:  # EXISTS does not read the columns
                    frame.touched |= merge(trace for _, trace in columns).direct
                yield from columns
                continue
            trace = self.trace(projection.unalias(), frame, "select")
            name = _label(projection) or f"column_{place}"
            if isinstance(projection, exp.Alias) or name.casefold() not in frame.aliases:
                frame.aliases[name.casefold()] = trace
            yield name, trace

    # Expressions.

    def resolve(self, column: exp.Column, frame: Frame, clause: str = "") -> Meanings:
        """Resolve a column to pairs of source and trace: several if its name is ambiguous."""
        from sqlglot import exp

        self.mark_read(column)
        if not isinstance(column.this, exp.Identifier):  # a column by its number
            return [(source, source.relation.whole()) for source in frame.sources]
        groups = exp.Ordered | exp.Group | exp.Tuple | exp.Paren | exp.Rollup | exp.Cube | exp.GroupingSets
        parts = [part.name.casefold() for part in column.parts]
        quoted = bool(column.this.args.get("quoted"))
        return frame.resolve(parts, clause, bare=isinstance(column.parent, groups), quoted=quoted)

    def trace(self, node: object, frame: Frame, clause: str = "") -> Trace:
        """Return the fields from which an expression is computed, including all that its sub-selects read."""
        from sqlglot import exp

        if not isinstance(node, exp.Expr):
            return Trace()
        core = conditions.unwrap(node)
        if isinstance(core, exp.Column) and not core.is_star:
            of_column = merge(trace for _, trace in self.resolve(core, frame, clause))
            frame.touched |= of_column.direct
            # a cast can truncate a value, and a whole row is no value
            shown = clause == "select" and isinstance(node.unnest(), exp.Column)
            self.computed |= of_column.direct - of_column.same if shown else of_column.direct
            return of_column if isinstance(node.unnest(), exp.Column) else replace(of_column, exact=False)
        parts: list[Trace] = []
        todo: list[exp.Expr] = [node]
        while todo:
            at = todo.pop()
            if isinstance(at, exp.Query):
                inside = isinstance(at.parent, exp.Exists)
                if (at_key := (id(at), frame)) not in self._inner:  # conditions are also traced part by part
                    self._inner[at_key] = self.trace_query(at, frame.ctes, frame, exists=inside)
                parts.append(Trace(self._inner[at_key].touched))
            elif isinstance(at, exp.Column) and not at.is_star:
                parts += [trace for _, trace in self.resolve(at, frame, clause)]
            elif isinstance(at, exp.Comprehension):
                parts.append(self._comprehension(at, frame, clause))
            elif (star := star_trace(self, at, frame)) is not None:
                parts.append(star)
            else:
                column = method_column(at, frame)
                if column is not None:
                    parts.append(column)
                if isinstance(at, exp.Window) and at.alias.casefold() in frame.windows:
                    parts.append(frame.windows[at.alias.casefold()])
                todo += list(at.iter_expressions())
        whole = merge(parts).derivation()
        frame.touched |= whole.direct
        self.computed |= whole.direct
        return whole

    def _comprehension(self, node: exp.Comprehension, frame: Frame, clause: str) -> Trace:
        """Trace ``[x + k for x in list]``, where the name ``x`` means a member of the list."""
        list_ = self.trace(node.args["iterator"], frame, clause).derivation()
        inner = Frame(frame, frame.ctes, self.dialect, [Source((), Relation(((node.expression.name, list_),)))])
        self.ignore(node.expression)
        rest = [self.trace(node.args.get(key), inner, clause) for key in ("this", "condition")]
        return merge([list_, *rest])


_CLAUSES = {"distinct": "order"}


def _is_limited(node: exp.Expr) -> bool:
    """Return whether LIMIT, OFFSET or FETCH keeps only some rows, so that their order matters."""
    return any(node.args.get(key) is not None for key in ("limit", "offset", "fetch"))


def _of_tables(fields: Iterable[Field]) -> Fields:
    return frozenset(field for field in fields if field[0] != UNRESOLVED)


def _with_links(trace: Trace, links: list[Link]) -> Trace:
    """Add the fields of other tables to which the table of a column is joined."""
    own = {table for table, _ in trace.direct}
    looked_up = {field for mine, theirs in links if {t for t, _ in mine} & own for field in theirs}
    return Trace(trace.direct, trace.linked | frozenset(looked_up), trace.same, trace.exact)


def _label(projection: exp.Expr) -> str:
    """Return the name of a result column; it is empty for a constant."""
    from sqlglot import exp

    inner = conditions.unwrap(projection)
    if isinstance(projection, exp.Alias):
        return projection.alias
    if isinstance(inner, exp.Column):
        return inner.name
    part = inner.expression if isinstance(inner, exp.Dot) else None
    return part.name if isinstance(part, exp.Identifier) else ""


def _expand_in_table(tree: exp.Query) -> exp.Query:
    """Rewrite SQLite's ``a IN t`` as ``a IN (SELECT * FROM t)``."""
    from sqlglot import exp

    for membership in list(tree.find_all(exp.In)):
        field = membership.args.get("field")
        if isinstance(field, exp.Column):
            membership.set("field", None)
            membership.set("query", exp.select("*").from_(exp.table_(field.name, field.table)).subquery())
    return tree


def _reads_table(body: exp.Expr, name: str) -> bool:
    """Return whether a query reads a table of this name."""
    from sqlglot import exp

    return any(not table.db and table.name.casefold() == name for table in body.find_all(exp.Table))


def _sort_by_dependency(expressions: Iterable[exp.CTE]) -> list[exp.CTE]:
    """Sort common table expressions so that each follows those it names, unless they name each other."""
    todo, order = list(expressions), []
    while todo:
        blocked = (any(o is not cte and _reads_table(cte.this, o.alias.casefold()) for o in todo) for cte in todo)
        ready = next((cte for cte, waits in zip(todo, blocked, strict=True) if not waits), todo[0])
        todo = [cte for cte in todo if cte is not ready]
        order.append(ready)
    return order


def _by_place(left: Relation, right: Relation) -> Iterator[tuple[str, Trace]]:
    """Combine the columns of two relations by position; unknown positions match any."""
    if any(name == ANY for name, _ in (*left.columns, *right.columns)):
        whole = right.whole() if all(n != ANY for n, _ in right.columns) else merge(t for _, t in right.columns)
        yield from ((name, merge([trace, whole])) for name, trace in left.columns)
        return
    for place in range(max(len(left.columns), len(right.columns))):
        pair = [side.columns[place] for side in (left, right) if place < len(side.columns)]
        yield pair[0][0], merge(trace for _, trace in pair)


def _by_name(left: Relation, right: Relation) -> Iterator[tuple[str, Trace]]:
    """Combine the columns of two relations by name."""
    names = {name.casefold(): name for name, _ in (*right.columns, *left.columns)}
    order = dict.fromkeys(name.casefold() for name, _ in (*left.columns, *right.columns))
    for key in order:
        if key == ANY:
            yield ANY, merge(trace for side in (left, right) for n, trace in side.columns if n == ANY)
        else:
            yield names[key], merge(side.column(key) for side in (left, right) if side.has(key) is not False)


def elements(sql: str, dialect: str = "postgres", columns: Columns | None = None) -> Elements:
    """Return the tables, fields and constants that one query uses.

    Aliases, comma joins, sub-selects, common table expressions, set operations and Oracle's ``(+)`` are resolved.
    A column without a table name counts for every table of its query that could have it, unless ``columns`` shows
    shows which one does: an element too many is safe, one too few is not. A view counts as a table. Raises if the
    text is not one SELECT of the dialect, or if a name in it cannot be traced.

    >>> found = elements("SELECT e.name FROM student AS e WHERE e.year = 2019 AND e.term = '1'")
    >>> sorted(found.fields)
    [('student', 'name'), ('student', 'term'), ('student', 'year')]
    >>> sorted((c.field, c.literal) for c in found.constants)
    [('term', '1'), ('year', '2019')]
    """
    return Tracer(parse_query(sql, dialect), columns or {}, dialect).elements()
