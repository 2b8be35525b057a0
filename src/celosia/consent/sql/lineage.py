"""From the names in a query to the fields of base tables: what each query in it shows, needs and fixes.

sqlglot parses the query; its own ``qualify`` and ``lineage`` do not serve here. They follow what a query shows,
while an inference also rests on what it filters, joins and groups by and on the constants there. And they give up
where a query of the past is usual: a name that more than one table could have, when no schema is at hand; rows
named as a whole (``SELECT p FROM person p``); NATURAL JOIN, PIVOT and CONNECT BY. Here such a name means each field
that it can mean: too much is asked of an owner rather than too little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celosia.consent.sql import conditions
from celosia.consent.sql.calls import method, refuse_hidden
from celosia.consent.sql.elements import ANY, Columns, Constant, Elements, Field, Output, parsed, same_table
from celosia.consent.sql.relations import LOST, Fields, Found, Frame, Relation, Source, Trace, merged
from celosia.consent.sql.sources import joined, pivoted, sources, values
from celosia.consent.sql.stars import is_star, spread, starred
from celosia.data.allowed import is_aggregate
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

# A common table expression may name itself there without the word RECURSIVE.
IMPLICIT = frozenset({"oracle", "tsql", "sqlite", "snowflake"})
# Parts of a SELECT that name no data, or that are read in an order of their own.
OWN = {
    *("with_", "expressions", "from_", "joins", "laterals", "windows", "hint", "options", "for_", "kind", "distinct"),
    *("operation_modifiers", "where", "group", "having", "qualify", "order", "connect"),
}
Link = tuple[Fields, Fields]


class Reading:
    """One statement; each query in it becomes a relation, from the inside out."""

    def __init__(self, tree: exp.Query, columns: Columns, dialect: str) -> None:
        self.dialect = dialect
        self.tables: set[str] = set()
        self._tree = _spelled_out(tree) if dialect == "sqlite" else tree
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
        """Everything that the statement touches."""
        refuse_hidden(self._tree, self.dialect)
        try:
            result = self.query(self._tree, {}, None)
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
            frozenset(name for table, name in result.touched if table == LOST),
        )

    def described(self, table: str) -> list[str] | None:
        """The columns of a base table, if they are known."""
        if table in self._columns_of:
            return self._columns_of[table]
        matching = [fields for name, fields in self._columns_of.items() if same_table(name, table)]
        return list(dict.fromkeys(field for fields in matching for field in fields)) if matching else None

    def _check(self) -> None:
        """Refuse a statement with a name that no rule here has read: an element could be missed."""
        from sqlglot import exp

        for node in self._tree.find_all(exp.Column, exp.Table):
            if id(node) not in self._seen:
                place = type(node.find_ancestor(exp.Pivot) or node.parent).__name__
                raise DataError(
                    f"the query holds a construction ({place}) whose fields cannot be traced. Write it plainer."
                )

    def ignore(self, node: Any) -> None:
        """Mark the names below a node as read: they name no data."""
        from sqlglot import exp

        for part in node if isinstance(node, list) else [node]:
            if isinstance(part, exp.Expr):
                self._seen.update(id(name) for name in part.find_all(exp.Column, exp.Table))

    def read(self, node: exp.Expr) -> None:
        """Mark one name as read."""
        self._seen.add(id(node))

    # Queries.

    def query(
        self, node: exp.Expr, ctes: dict[str, Relation], outer: Frame | None, *, exists: bool = False
    ) -> Relation:
        """The relation that a query makes."""
        from sqlglot import exp

        frame = Frame(outer, dict(ctes), self.dialect)
        if node.args.get("with_") is not None:
            self._with(node.args["with_"], frame)
        if isinstance(node, exp.Select):
            relation = self._select(node, frame, exists=exists)
        elif isinstance(node, exp.SetOperation):
            relation = self._united(node, frame)
        elif isinstance(node, exp.Subquery):
            relation = self.query(node.this, frame.ctes, outer, exists=exists)
        elif isinstance(node, exp.Values):
            relation = values(self, node, frame)
        elif isinstance(node, exp.Pivot):
            relation = pivoted(self, node, frame)
        else:
            raise DataError(f"the query holds a construction ({type(node).__name__}) that cannot be traced.")
        if not isinstance(node, exp.Select):
            self._after(node, frame, relation)
        relation = Relation(relation.columns, relation.constants, relation.touched | frame.touched)
        self._relations[id(node)] = relation
        return relation

    def _after(self, node: exp.Expr, frame: Frame, relation: Relation) -> None:
        """ORDER BY, LIMIT and the like after a set operation or parentheses: they see the columns of the result."""
        below = Frame(frame.parent, frame.ctes, self.dialect, [Source((), relation)])
        for key in ("order", "limit", "offset"):
            if node.args.get(key) is not None:
                self.trace(node.args[key], below)
        self._ordinals(node.args.get("order"), below, relation.columns)
        frame.touched |= below.touched
        if node is not self._tree or _is_limited(node):
            self.decisive |= below.touched

    def _ordinals(self, clause: exp.Expr | None, frame: Frame, columns: Sequence[tuple[str, Trace]]) -> None:
        """Note the output columns that ORDER BY, GROUP BY or DISTINCT ON name by their position, or by ALL."""
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
        named = merged(trace for place, (_, trace) in enumerate(columns, 1) if place in places)
        frame.touched |= named.direct
        self.computed |= named.direct

    def _with(self, clause: exp.With, frame: Frame) -> None:
        """Common table expressions, each after those it names."""
        recursive = bool(clause.recursive)
        for cte in _ordered(clause.expressions) if recursive else clause.expressions:
            names = [str(name) for name in cte.alias_column_names]
            relation = self._cte(cte, frame, names, recursive=recursive or self.dialect in IMPLICIT)
            frame.ctes[cte.alias.casefold()] = relation
            frame.touched |= relation.touched

    def _cte(self, cte: exp.CTE, frame: Frame, names: list[str], *, recursive: bool) -> Relation:
        """One of them; a recursive one is read again until it adds nothing."""
        from sqlglot import exp

        body = cte.this
        own = cte.alias.casefold()
        if not (recursive and isinstance(body, exp.SetOperation) and _names(body, own)):
            return self.query(body, frame.ctes, frame.parent).renamed(names)
        first: Any = body
        while isinstance(first, exp.SetOperation | exp.Subquery):
            first = first.this
        relation = self.query(first, frame.ctes, frame.parent).renamed(names)
        while True:
            again = self.query(body, {**frame.ctes, own: relation}, frame.parent).renamed(names)
            if again.columns == relation.columns:
                return again
            relation = again

    def _united(self, node: exp.SetOperation, frame: Frame) -> Relation:
        """A set operation: columns meet by place, or by name; only the left side of EXCEPT reaches the result."""
        from sqlglot import exp

        chain: list[exp.SetOperation] = [node]
        while isinstance(chain[-1].this, exp.SetOperation) and not chain[-1].this.args.get("with_"):
            chain.append(chain[-1].this)
        united = self.query(chain[-1].this, frame.ctes, frame.parent)
        for step in reversed(chain):
            other = self.query(step.expression, frame.ctes, frame.parent)
            touched = united.touched | other.touched
            if isinstance(step, exp.Except | exp.Intersect):  # they compare whole rows
                self.computed |= united.whole().direct | other.whole().direct
            if isinstance(step, exp.Except | exp.Intersect) or (node is not self._tree and step.args.get("distinct")):
                self.decisive |= united.whole().direct | other.whole().direct
            if isinstance(step, exp.Except):
                united = Relation(united.columns, united.constants, touched)
            else:
                columns = _by_name(united, other) if step.args.get("by_name") else _by_place(united, other)
                united = Relation(tuple(columns), united.constants | other.constants, touched)
        return united

    def _select(self, node: exp.Select, frame: Frame, *, exists: bool) -> Relation:

        for key, words in (("match", "MATCH_RECOGNIZE"), ("laterals", "LATERAL VIEW")):
            if node.args.get(key):
                raise DataError(f"the fields of {words} cannot be traced. Write the query without it.")
        constants: set[Constant] = set()
        links: list[Link] = []
        if node.args.get("from_") is not None:
            frame.sources += sources(self, node.args["from_"].this, frame, constants, links)
        for join in node.args.get("joins") or ():
            joined(self, join, frame, constants, links)
        frame.tree = node.args.get("connect") is not None
        self.ignore(node.args.get("hint"))
        self.ignore(node.args.get("options"))
        for window in node.args.get("windows") or ():
            frame.windows[window.name.casefold()] = self.trace(window, frame)
        columns = list(self._projected(node, frame, exists=exists))
        self._clauses(node, frame, constants, links)
        self._decide(node, frame, columns, links)
        for key in ("group", "order"):
            self._ordinals(node.args.get(key), frame, columns)
        if node.args.get("distinct") is not None:
            self._ordinals(node.args["distinct"].args.get("on"), frame, columns)
        for source in frame.sources:
            constants |= source.relation.constants if source.counted else set()
            frame.touched |= source.relation.touched
        return Relation(tuple((name, _linked(trace, links)) for name, trace in columns), frozenset(constants))

    # Which rows there are.

    def _decide(self, node: exp.Select, frame: Frame, columns: Sequence[tuple[str, Trace]], links: list[Link]) -> None:
        """Note the fields that decide which rows there are, and those that are summed up over several rows."""
        from sqlglot import exp

        outermost = node is self._tree
        deciding: set[Field] = set()
        where = node.args.get("where")
        for part, positive in conditions.parts(where.this) if where is not None else ():
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
                deciding |= merged(
                    self.trace(item, frame, _CLAUSES.get(key, key)) for item in clause.iter_expressions()
                ).direct
        grouped = self._grouped(node, frame, columns)
        deciding -= {field for _, trace in columns for field in trace.same} & grouped if outermost else set()
        distinct = node.args.get("distinct")
        if distinct is not None and (not outermost or distinct.args.get("on") is not None):
            deciding |= merged(trace for _, trace in columns).direct
            deciding |= self.trace(distinct.args.get("on"), frame, "order").direct
        self.decisive |= deciding | _linked(Trace(frozenset(deciding)), links).linked
        self.decisive |= _linked(Trace(frozenset(self.filtering)), links).linked if outermost else set()
        for call in node.find_all(exp.Expr):
            window = isinstance(call, exp.Window)
            if (window or is_aggregate(call)) and call.find_ancestor(exp.Window, exp.Select) is node:
                parts = call.args.get("partition_by") or [] if isinstance(call, exp.Window) else []
                divided = merged(self.trace(part, frame) for part in parts).same if window else grouped
                if summed := self.trace(call, frame).direct:
                    self.across.add((summed, divided))

    def _grouped(self, node: exp.Select, frame: Frame, columns: Sequence[tuple[str, Trace]]) -> Fields:
        """The fields by which GROUP BY divides the rows, each by itself."""
        from sqlglot import exp

        clause = node.args.get("group")
        if clause is None or any(clause.args.get(key) for key in ("grouping_sets", "cube", "rollup")):
            return frozenset()
        traces = []
        for item in clause.expressions:
            literal = conditions.bare(item)
            if isinstance(literal, exp.Literal) and literal.is_int and 0 < int(literal.name) <= len(columns):
                traces.append(columns[int(literal.name) - 1][1])
            elif isinstance(item, exp.Column):
                traces.append(self.trace(item, frame, "group"))
        return frozenset().union(*(trace.same for trace in traces if trace.exact))

    def _is_filter(self, part: exp.Expr, frame: Frame) -> bool:
        """Whether a condition is about one row of one base table: no other row can show which rows meet it."""
        from sqlglot import exp

        if part.find(exp.Query, exp.Window) or any(is_aggregate(node) for node in part.find_all(exp.Func)):
            return False
        met = {source for column in part.find_all(exp.Column) for source, _ in self.find(column, frame, "where")}
        return len(met) == 1 and all(source is not None and source.table is not None for source in met)

    def _is_lookup(self, node: exp.Select) -> bool:
        """Whether a sub-select is an output column of the whole query: it decides a value, and no rows."""
        from sqlglot import exp

        output = node.parent.parent if isinstance(node.parent, exp.Subquery) else None
        column = output if isinstance(output, exp.Alias) else node.parent
        return column is not None and column.parent is self._tree and column.arg_key == "expressions"

    def _is_key_join(self, part: exp.Expr, frame: Frame, *, correlated: bool = False) -> bool:
        """Whether a condition equates a field of one base table with a field of another one in the same FROM clause.

        With ``correlated`` the other one may be in the FROM clause of the query around it.
        """
        from sqlglot import exp

        pair = [conditions.bare(side) for side in (part.left, part.right)] if isinstance(part, exp.EQ) else []
        if not pair or not all(isinstance(side, exp.Column) for side in pair):
            return False
        meanings = [self.find(side, frame, "where") for side in pair if isinstance(side, exp.Column)]
        sources = [source for side in meanings for source, _ in side]
        exact = all(len(side) == 1 and side[0][1].exact for side in meanings)
        based = all(source is not None and source.table is not None for source in sources)
        based = based and (any if correlated else all)(source in frame.sources for source in sources)
        return exact and based and sources[0] is not sources[-1]

    def is_outermost(self, join: exp.Join) -> bool:
        """Whether a join belongs to the outermost SELECT itself, whose columns are the result."""
        from sqlglot import exp

        return isinstance(self._tree, exp.Select) and join.parent is self._tree

    def joins(self, join: exp.Join, frame: Frame, links: list[Link]) -> None:
        """Note the fields by which the condition of a join decides which rows meet."""
        outermost = self.is_outermost(join)
        deciding: set[Field] = set()
        for key in ("on", "match_condition"):
            condition = join.args.get(key)
            for part, positive in conditions.parts(condition) if condition is not None else ():
                plain = outermost and positive and key == "on" and join.kind in ("", "INNER", "OUTER", "CROSS")
                if not (plain and not join.method and self._is_key_join(part, frame)):
                    deciding |= self.trace(part, frame).direct
        self.decisive |= deciding | _linked(Trace(frozenset(deciding)), links).linked

    def _clauses(self, node: exp.Select, frame: Frame, constants: set[Constant], links: list[Link]) -> None:
        """Everything after FROM: what it touches, and what it fixes."""
        for key in ("where", "having", "qualify"):
            if node.args.get(key) is not None:
                condition = node.args[key].this
                self.trace(condition, frame, key)
                self.condition(condition, frame, constants, links, key)
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

    def condition(
        self,
        condition: exp.Expr,
        frame: Frame,
        constants: set[Constant],
        links: list[Link],
        clause: str = "",
        among: Iterable[Source] | None = None,
    ) -> None:
        """Note what a condition fixes and equates; under an outer join only for the sources that may be missing."""
        allowed = None if among is None else list(among)
        for column, literals in conditions.fixed(condition).values():
            for source, trace in self.find(column, frame, clause):
                if allowed is None or source in allowed:
                    constants |= {Constant(t, f, literal) for t, f in trace.same for literal in literals}
        if allowed is None:
            for query in conditions.required(condition):
                constants |= self._relations[id(query)].constants
        for left, right in conditions.equated(condition):
            sides = [self.find(side, frame, clause) for side in (left, right)]
            if all(source in frame.sources for side in sides for source, _ in side):
                self.equate(*(merged(t for _, t in side) for side in sides))
            pair = [merged(t for _, t in side).direct for side in sides]
            links += [(pair[0], pair[1]), (pair[1], pair[0])]

    def equate(self, left: Trace, right: Trace) -> None:
        """Note two fields that are equal in the rows of the query; not where a name may mean several fields."""
        if len(left.same) == len(right.same) == 1 and left.same == left.direct and right.same == right.direct:
            self.equal.add(left.same | right.same)

    # Columns of the result.

    def _projected(self, node: exp.Select, frame: Frame, *, exists: bool) -> Iterator[tuple[str, Trace]]:
        from sqlglot import exp

        for place, projection in enumerate(node.expressions, 1):
            if is_star(projection):
                columns = list(spread(self, projection, frame))
                if not exists:  # EXISTS asks for a row, not for its columns
                    frame.touched |= merged(trace for _, trace in columns).direct
                yield from columns
                continue
            trace = self.trace(projection.unalias(), frame, "select")
            name = _label(projection) or f"column_{place}"
            if isinstance(projection, exp.Alias) or name.casefold() not in frame.aliases:
                frame.aliases[name.casefold()] = trace
            yield name, trace

    # Expressions.

    def find(self, column: exp.Column, frame: Frame, clause: str = "") -> Found:
        """What a column may mean."""
        from sqlglot import exp

        self.read(column)
        if not isinstance(column.this, exp.Identifier):  # a column by its number
            return [(source, source.relation.whole()) for source in frame.sources]
        groups = exp.Ordered | exp.Group | exp.Tuple | exp.Paren | exp.Rollup | exp.Cube | exp.GroupingSets
        parts = [part.name.casefold() for part in column.parts]
        quoted = bool(column.this.args.get("quoted"))
        return frame.find(parts, clause, bare=isinstance(column.parent, groups), quoted=quoted)

    def trace(self, node: Any, frame: Frame, clause: str = "") -> Trace:
        """The fields that an expression is made of, with everything that its sub-selects need."""
        from sqlglot import exp

        if not isinstance(node, exp.Expr):
            return Trace()
        alone = conditions.bare(node)
        if isinstance(alone, exp.Column) and not alone.is_star:
            of_column = merged(trace for _, trace in self.find(alone, frame, clause))
            frame.touched |= of_column.direct
            # a cast can cut a value off, and a row as a whole is no value
            shown = clause == "select" and isinstance(node.unnest(), exp.Column)
            self.computed |= of_column.direct - of_column.same if shown else of_column.direct
            return of_column if isinstance(node.unnest(), exp.Column) else replace(of_column, exact=False)
        parts: list[Trace] = []
        todo: list[exp.Expr] = [node]
        while todo:
            at = todo.pop()
            if isinstance(at, exp.Query):
                inside = isinstance(at.parent, exp.Exists)
                if (at_key := (id(at), frame)) not in self._inner:  # once: conditions are also read part by part
                    self._inner[at_key] = self.query(at, frame.ctes, frame, exists=inside)
                parts.append(Trace(self._inner[at_key].touched))
            elif isinstance(at, exp.Column) and not at.is_star:
                parts += [trace for _, trace in self.find(at, frame, clause)]
            elif isinstance(at, exp.Comprehension):
                parts.append(self._comprehended(at, frame, clause))
            elif (found_star := starred(self, at, frame)) is not None:
                parts.append(found_star)
            else:
                called = method(at, frame)
                if called is not None:
                    parts.append(called)
                if isinstance(at, exp.Window) and at.alias.casefold() in frame.windows:
                    parts.append(frame.windows[at.alias.casefold()])
                todo += list(at.iter_expressions())
        whole = merged(parts).changed()
        frame.touched |= whole.direct
        self.computed |= whole.direct
        return whole

    def _comprehended(self, node: exp.Comprehension, frame: Frame, clause: str) -> Trace:
        """``[x + k for x in list]``: the name of the member stands for the list."""
        list_ = self.trace(node.args["iterator"], frame, clause).changed()
        inner = Frame(frame, frame.ctes, self.dialect, [Source((), Relation(((node.expression.name, list_),)))])
        self.ignore(node.expression)
        rest = [self.trace(node.args.get(key), inner, clause) for key in ("this", "condition")]
        return merged([list_, *rest])


_CLAUSES = {"distinct": "order"}


def _is_limited(node: exp.Expr) -> bool:
    """Whether only some rows of a query are kept, so that their order decides."""
    return any(node.args.get(key) is not None for key in ("limit", "offset", "fetch"))


def _of_tables(fields: Iterable[Field]) -> Fields:
    return frozenset(field for field in fields if field[0] != LOST)


def _linked(trace: Trace, links: list[Link]) -> Trace:
    """With the fields of other tables by which the table of a column was looked up."""
    own = {table for table, _ in trace.direct}
    looked_up = {field for mine, theirs in links if {t for t, _ in mine} & own for field in theirs}
    return Trace(trace.direct, trace.linked | frozenset(looked_up), trace.same, trace.exact)


def _label(projection: exp.Expr) -> str:
    """The name of a column of the result; a constant has none."""
    from sqlglot import exp

    inner = conditions.bare(projection)
    if isinstance(projection, exp.Alias):
        return projection.alias
    if isinstance(inner, exp.Column):
        return inner.name
    part = inner.expression if isinstance(inner, exp.Dot) else None
    return part.name if isinstance(part, exp.Identifier) else ""


def _spelled_out(tree: exp.Query) -> exp.Query:
    """SQLite's ``a IN t`` as ``a IN (SELECT * FROM t)``."""
    from sqlglot import exp

    for membership in list(tree.find_all(exp.In)):
        field = membership.args.get("field")
        if isinstance(field, exp.Column):
            membership.set("field", None)
            membership.set("query", exp.select("*").from_(exp.table_(field.name, field.table)).subquery())
    return tree


def _names(body: exp.Expr, name: str) -> bool:
    """Whether a query reads a table of this name."""
    from sqlglot import exp

    return any(not table.db and table.name.casefold() == name for table in body.find_all(exp.Table))


def _ordered(expressions: Iterable[exp.CTE]) -> list[exp.CTE]:
    """Common table expressions after those that they name, as far as that can be."""
    todo, done = list(expressions), []
    while todo:
        waiting = {cte: [o for o in todo if o is not cte and _names(cte.this, o.alias.casefold())] for cte in todo}
        ready = next((cte for cte in todo if not waiting[cte]), todo[0])
        todo = [cte for cte in todo if cte is not ready]
        done.append(ready)
    return done


def _by_place(left: Relation, right: Relation) -> Iterator[tuple[str, Trace]]:
    """Columns that meet by their place; where the places are not known, any may meet any."""
    if any(name == ANY for name, _ in (*left.columns, *right.columns)):
        whole = right.whole() if all(n != ANY for n, _ in right.columns) else merged(t for _, t in right.columns)
        yield from ((name, merged([trace, whole])) for name, trace in left.columns)
        return
    for place in range(max(len(left.columns), len(right.columns))):
        met = [side.columns[place] for side in (left, right) if place < len(side.columns)]
        yield met[0][0], merged(trace for _, trace in met)


def _by_name(left: Relation, right: Relation) -> Iterator[tuple[str, Trace]]:
    names = {name.casefold(): name for name, _ in (*right.columns, *left.columns)}
    order = dict.fromkeys(name.casefold() for name, _ in (*left.columns, *right.columns))
    for key in order:
        if key == ANY:
            yield ANY, merged(trace for side in (left, right) for n, trace in side.columns if n == ANY)
        else:
            yield names[key], merged(side.column(key) for side in (left, right) if side.has(key) is not False)


def elements(sql: str, dialect: str = "postgres", columns: Columns | None = None) -> Elements:
    """Read the elements of one query.

    Aliases, comma joins, sub-selects, common table expressions, set operations and Oracle's ``(+)`` are resolved.
    A column without a table name belongs to every table of its query that it could come from, unless ``columns``
    tells which has it: it is safer to see one element too many. A view is a table by its own name. Fails when the
    text is not one SELECT that the dialect can read, or when a name in it cannot be traced.

    >>> found = elements("SELECT e.name FROM student AS e WHERE e.year = 2019 AND e.term = '1'")
    >>> sorted(found.fields)
    [('student', 'name'), ('student', 'term'), ('student', 'year')]
    >>> sorted((c.field, c.literal) for c in found.constants)
    [('term', '1'), ('year', '2019')]
    """
    return Reading(parsed(sql, dialect), columns or {}, dialect).elements()
