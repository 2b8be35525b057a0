"""From names in a query to the fields of base tables: scopes, aliases, and which output comes from where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from celosia.consent.elements import ANY, Columns, Constant, Elements, Field, Output, plain_literal, same_table

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

# What Oracle and others let a query name without a table.
PSEUDO = frozenset({"rownum", "rowid", "level", "sysdate", "systimestamp", "user", "uid", "current_user"})
Fields = frozenset[Field]
NONE: Fields = frozenset()


class Reading:
    """One query with its scopes; names are looked up from the inside out."""

    def __init__(self, tree: exp.Query, columns: Columns) -> None:
        from sqlglot.optimizer.scope import traverse_scope

        self._known = {name.casefold(): [c.casefold() for c in fields] for name, fields in columns.items()}
        self._scopes: list[Scope] = list(traverse_scope(tree))
        self._of = {id(scope.expression): scope for scope in self._scopes}
        self._made: dict[int, dict[str, Fields]] = {}
        self._root = self._scopes[-1]

    def elements(self) -> Elements:
        """Everything the query touches."""
        tables = {t for scope in self._scopes for source in scope.sources.values() if (t := _name(source))}
        fields: set[Field] = set()
        for scope in self._scopes:
            for column in self._columns(scope):
                fields |= self._bases(column, scope)
            for one, other in self._using(scope):
                fields |= one | other
            for star in self._stars(scope):
                fields |= star
        constants = {constant for scope in self._rows(self._root) for constant in self._fixed(scope)}
        return Elements(
            frozenset(tables), frozenset(fields), frozenset(constants), tuple(self._outputs(self._root).values())
        )

    # Names.

    def _columns(self, scope: Scope) -> Iterator[exp.Column]:
        """The column names of a scope itself; a name that ORDER BY or HAVING takes from the result is none."""
        from sqlglot import exp

        made: set[str] = set()
        if isinstance(scope.expression, exp.Select):
            made = {p.alias.casefold() for p in scope.expression.selects if isinstance(p, exp.Alias)}
        for column in scope.find_all(exp.Column):
            if isinstance(column.this, exp.Star):
                continue
            late = column.find_ancestor(exp.Order, exp.Having, exp.Group, exp.Qualify, exp.Select, exp.Window)
            if (
                isinstance(late, exp.Order | exp.Having | exp.Group | exp.Qualify)
                and not column.table
                and column.name.casefold() in made
            ):
                continue
            if isinstance(scope.expression, exp.SetOperation):
                continue  # its ORDER BY names columns of the result
            yield column

    def _bases(self, column: exp.Expr, scope: Scope) -> Fields:
        """The fields that a column name may mean."""
        name, prefix = column.name.casefold(), column.text("table")
        at: Scope | None = scope
        while at is not None:
            if prefix:
                source = next((s for a, s in at.sources.items() if a.casefold() == prefix.casefold()), None)
                if source is not None:
                    return self._field(source, name)
            else:
                if name in PSEUDO:
                    return NONE
                found = self._unqualified(name, at)
                if found is not None:
                    return found
            at = at.parent
        return NONE

    def _unqualified(self, name: str, scope: Scope) -> Fields | None:
        """The fields of a name without a table: from the sources that have it, else from all that might."""
        chosen = [s for alias, (_, s) in scope.selected_sources.items() if alias not in scope.lateral_sources]
        for sources in (chosen, list(scope.lateral_sources.values())):
            maybe = [s for s in sources if self._has(s, name) is True] or [
                s for s in sources if self._has(s, name) is None
            ]
            if maybe:
                return frozenset().union(*(self._field(source, name) for source in maybe))
        return None

    def _has(self, source: Any, name: str) -> bool | None:
        """Whether a source has a column; None when that is not known."""
        table = _name(source)
        if table is None:
            made = self._produced(source)
            return True if name in made else None if ANY in made or not made else False
        known = self._described(table)
        return None if known is None else name in known

    def _described(self, table: str) -> list[str] | None:
        return next((fields for name, fields in self._known.items() if same_table(name, table)), None)

    def _field(self, source: Any, name: str) -> Fields:
        """A column of a source as fields of base tables."""
        table = _name(source)
        if table is not None:
            return frozenset({(table, name)})
        made = self._produced(source)
        if name in made:
            return made[name]
        return frozenset((table, name) for table, field in made.get(ANY, NONE) if field == ANY)

    # What a scope produces.

    def _produced(self, scope: Any) -> dict[str, Fields]:
        """The fields behind each output name of a sub-select."""
        if not hasattr(scope, "set_operation_scopes"):
            return {}  # a function that makes rows
        if id(scope) not in self._made:
            self._made[id(scope)] = {}  # a recursive expression meets itself: it adds nothing then
            found: dict[str, Fields] = {}
            for key, output in self._outputs(scope).items():
                found[key] = output.direct
            names = [str(name).casefold() for name in scope.outer_columns or ()]
            if names and len(names) == len(found):
                found = dict(zip(names, found.values(), strict=True))
            self._made[id(scope)] = found
        return self._made[id(scope)]

    def _outputs(self, scope: Scope) -> dict[str, Output]:
        """The columns of the result of a scope, in order."""
        from sqlglot import exp

        if scope.set_operation_scopes:
            branches = [list(self._outputs(one).values()) for one in scope.set_operation_scopes]
            longest = max(branches, key=len, default=[])
            out = {}
            for i, first in enumerate(branches[0] if len(branches[0]) == len(longest) else longest):
                parts = [branch[i] for branch in branches if i < len(branch)]
                out[first.name.casefold()] = Output(
                    first.name,
                    frozenset().union(*(p.direct for p in parts)),
                    frozenset().union(*(p.linked for p in parts)),
                )
            return out
        if not isinstance(scope.expression, exp.Select):
            return {}
        found: dict[str, Output] = {}
        links = list(self._links(scope))
        for i, projection in enumerate(scope.expression.selects):
            for output in self._projected(scope, projection, i, links):
                key = output.name.casefold()
                found[key if key not in found or key == ANY else f"{key}#{i}"] = output
                if key == ANY and key in found:
                    found[ANY] = Output(ANY, found[ANY].direct | output.direct, found[ANY].linked | output.linked)
        return found

    def _projected(
        self, scope: Scope, projection: exp.Expr, place: int, links: list[tuple[Fields, Fields]]
    ) -> Iterator[Output]:
        from sqlglot import exp

        if projection.is_star and not isinstance(projection.unalias(), exp.Count):
            yield from self._spread(scope, projection)
            return
        direct: set[Field] = set()
        for column in projection.find_all(exp.Column):
            inside = column.find_ancestor(exp.Select)
            direct |= self._bases(column, self._of.get(id(inside), scope))
        own = {table for table, _ in direct}
        linked = {f for mine, theirs in links if {t for t, _ in mine} & own for f in theirs} - direct
        yield Output(projection.alias_or_name or f"column_{place + 1}", frozenset(direct), frozenset(linked))

    def _spread(self, scope: Scope, projection: exp.Expr) -> Iterator[Output]:
        """The columns of ``*`` or ``t.*``: all there are, or the table as a whole when it is not described."""
        from sqlglot import exp

        prefix = projection.text("table") if isinstance(projection, exp.Column) else ""
        star = projection.this if isinstance(projection, exp.Column) else projection
        left_out = {e.name.casefold() for e in (star.args.get("except_") or star.args.get("except") or ())}
        for alias, (_, source) in scope.selected_sources.items():
            if prefix and alias.casefold() != prefix.casefold():
                continue
            table = _name(source)
            if table is None:
                made = self._produced(source)
                yield from (Output(name, fields) for name, fields in made.items() if name not in left_out)
                continue
            known = self._described(table)
            for field in [ANY] if known is None else known:
                if field not in left_out:
                    yield Output(field, frozenset({(table, field)}))

    def _stars(self, scope: Scope) -> Iterator[Fields]:
        from sqlglot import exp

        if isinstance(scope.expression, exp.Select):
            for projection in scope.expression.selects:
                if projection.is_star and not isinstance(projection.unalias(), exp.Count):
                    yield from (output.direct for output in self._spread(scope, projection))

    # Conditions.

    def _rows(self, scope: Scope) -> Iterator[Scope]:
        """The scopes whose conditions every row of the result, or of a branch of it, has met."""
        seen: set[int] = set()
        todo: list[Any] = [scope]
        while todo:
            at = todo.pop()
            if id(at) in seen:
                continue
            seen.add(id(at))
            yield at
            todo += at.set_operation_scopes or ()
            todo += [s for _, s in at.selected_sources.values() if hasattr(s, "set_operation_scopes")]
            for condition in self._conditions(at):
                todo += [self._of[id(q)] for q in _required(condition) if id(q) in self._of]

    def _conditions(self, scope: Scope) -> Iterator[exp.Expr]:
        """The conditions of WHERE and of joins, taken apart at AND."""
        from sqlglot import exp

        if not isinstance(scope.expression, exp.Select):
            return
        where = scope.expression.args.get("where")
        roots = [where.this] if where is not None else []
        joins = scope.expression.args.get("joins") or ()
        roots += [join.args["on"] for join in joins if join.args.get("on") and join.side not in ("RIGHT", "FULL")]
        for root in roots:
            yield from (part.unnest() for part in (root.flatten() if isinstance(root, exp.And) else [root]))

    def _fixed(self, scope: Scope) -> Iterator[Constant]:
        """Constants that the conditions fix."""
        for condition in self._conditions(scope):
            for column, literal in _equalities(condition):
                for table, field in self._bases(column, scope):
                    yield Constant(table, field, literal)

    def _links(self, scope: Scope) -> Iterator[tuple[Fields, Fields]]:
        """Fields of one table that are equated with fields of another, both ways."""
        from sqlglot import exp

        for condition in self._conditions(scope):
            if isinstance(condition, exp.EQ) and all(isinstance(s, exp.Column) for s in condition.unnest_operands()):
                one, other = (self._bases(side, scope) for side in condition.unnest_operands())
                yield one, other
                yield other, one
        yield from self._using(scope)

    def _using(self, scope: Scope) -> Iterator[tuple[Fields, Fields]]:
        """The fields of ``USING`` and of natural joins, for the joined table and for those before it."""
        from sqlglot import exp

        if not isinstance(scope.expression, exp.Select):
            return
        for join in scope.expression.args.get("joins") or ():
            joined = scope.sources.get(join.alias_or_name)
            others = [s for alias, (_, s) in scope.selected_sources.items() if alias != join.alias_or_name]
            names = [identifier.name.casefold() for identifier in join.args.get("using") or ()]
            if joined is None:
                continue
            if join.method == "NATURAL":
                known = self._described(_name(joined) or "") or []
                names = [n for n in known if any(self._has(other, n) for other in others)]
            for name in names:
                before = [s for s in others if self._has(s, name) is not False]
                theirs: Fields = frozenset().union(*(self._field(s, name) for s in before))
                yield self._field(joined, name), theirs
                yield theirs, self._field(joined, name)


def _name(source: Any) -> str | None:
    """The name of a base table with its schema, or None for a sub-select."""
    from sqlglot import exp

    if not isinstance(source, exp.Table) or not source.name:
        return None
    return ".".join(part.name.casefold() for part in source.parts)


def _equalities(condition: exp.Expr) -> Iterator[tuple[exp.Column, str]]:
    """Column and constant of ``column = constant`` and of each member of ``column IN (…)``."""
    from sqlglot import exp

    if isinstance(condition, exp.EQ):
        one, other = condition.unnest_operands()
        for column, value in ((one, other), (other, one)):
            literal = _constant(value)
            if isinstance(column, exp.Column) and literal is not None:
                yield column, literal
    elif isinstance(condition, exp.In) and isinstance(condition.this, exp.Column):
        for value in condition.expressions:
            literal = _constant(value)
            if literal is not None:
                yield condition.this, literal


def _constant(value: exp.Expr) -> str | None:
    """The text of a constant, also behind a cast or a minus sign."""
    from sqlglot import exp

    value = value.unnest()
    if isinstance(value, exp.Cast | exp.DateStrToDate | exp.Date | exp.Timestamp) and isinstance(value.this, exp.Expr):
        value = value.this.unnest()
    if isinstance(value, exp.Neg) and isinstance(value.this, exp.Literal):
        return plain_literal("-" + value.this.name)
    if isinstance(value, exp.National | exp.ByteString | exp.RawString):
        return plain_literal(value.name)
    if isinstance(value, exp.Boolean):
        return plain_literal(bool(value.this))
    return plain_literal(value.name) if isinstance(value, exp.Literal) else None


def _required(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The sub-select that a row must be found in: ``EXISTS (…)`` and ``IN (SELECT …)``."""
    from sqlglot import exp

    if isinstance(condition, exp.Exists):
        yield condition.this.unnest()
    elif isinstance(condition, exp.In) and condition.args.get("query") is not None:
        yield condition.args["query"].unnest()
