"""The tables of a query: their joins, whose rows result, and how many of them one person may own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.data.io.statement import quote_name
from celosia.errors import Message, UnknownName, suggestion
from celosia.gateway.databases import MANY_ROWS, equality_key
from celosia.gateway.metadata import DatasetFacts, TableFacts
from celosia.gateway.sql.columns import column, inner_name
from celosia.gateway.sql.expressions import only
from celosia.gateway.sql.parse import Refused
from celosia.gateway.sql.plan import Source
from celosia.gateway.sql.values import Dialect, Value

if TYPE_CHECKING:
    from sqlglot import exp

MOST_TABLES = 6
RANK, JOINED = quote_name("celosia rank"), quote_name("celosia key")
MOST_PAIRED = 100
"""Rows that one person may get where tables with several rows a person are joined."""


def bound_rows(relation: str, person: str, rows: int) -> str:
    """Return the SQL of a relation with at most ``rows`` rows per person, sampled at random.

    Any choice that depends on that person only is private. It is made before the condition of a query is applied:
    otherwise a person with many rows would take more time when the condition is true.
    """
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {person} ORDER BY RANDOM()) AS {RANK} FROM {relation}"  # noqa: S608
    return f"(SELECT * FROM ({ranked}) AS b WHERE {RANK} <= {rows})"  # noqa: S608


@dataclass
class _Table:
    alias: str
    """Name of the table in the query, in lower case."""
    name: str
    facts: TableFacts
    inner: str
    """Name of the table in the SQL that is run."""


class Scope:
    """Resolver of columns; it tracks whose rows result while the tables of a query are joined one after the other.

    ``all_rows`` reads all rows of a person where only one table has persons: for counts that are not released.
    """

    def __init__(
        self, dataset: DatasetFacts, dialect: Dialect, physical: dict[str, str], *, all_rows: bool = False
    ) -> None:
        self._all_rows = all_rows
        self._dataset = dataset
        self._dialect: Dialect = dialect
        self._physical = physical
        self._tables: list[_Table] = []
        self._reads: dict[str, tuple[str, Value]] = {}
        self._joins: list[tuple[str, tuple[_Table, str], tuple[_Table, str]]] = []

    def read(self, select: exp.Select) -> None:
        """Read FROM and all joins."""
        source = select.args.get("from_") or select.args.get("from")
        if source is None:
            raise Refused("the query names no table: write FROM and a table of the data set.")
        only(source, "this")
        self._add(source.this)
        for join in select.args.get("joins") or []:
            self._join(join)
        if len(self._tables) > MOST_TABLES:
            raise Refused("at most {limit} tables are joined in one query.", limit=MOST_TABLES)
        self._refuse_products()
        if not self._private():
            raise Refused("this table is declared public: it holds no personal data, read it directly.")

    @property
    def sources(self) -> tuple[Source, ...]:
        """Tables in the order of their joins, each with at most the declared number of rows per person."""
        first = self._relation(self._tables[0])
        if self._dialect == "sqlite" and self._joins:
            first = f"(SELECT * FROM {first} {MANY_ROWS})"  # noqa: S608
        sources = [Source(first, self._tables[0].inner)]
        for word, (old, old_column), (new, new_column) in self._joins:
            left = self._key(f"{old.inner}.{quote_name(old_column)}", old, old_column)
            right = self._key(f"{new.inner}.{quote_name(new_column)}", new, new_column)
            relation = self._relation(new)
            if self._dialect == "sqlite":  # it makes an index for a column of a sub-select, not for an expression
                key = self._key(quote_name(new_column), new, new_column)
                relation = f"(SELECT *, {key} AS {JOINED} FROM {relation} {MANY_ROWS})"  # noqa: S608
                right = f"{new.inner}.{JOINED}"
                word = "CROSS JOIN" if word == "JOIN" else word  # it keeps the order of the tables
            sources.append(Source(relation, new.inner, word, f"{right} = {left}"))
        return tuple(sources)

    def _relation(self, table: _Table) -> str:
        name, facts = quote_name(self._physical[table.name]), table.facts
        if facts.public or facts.unique or not facts.person or (self._all_rows and len(self._private()) == 1):
            return name
        return bound_rows(name, self._key(quote_name(facts.person), table, facts.person), facts.rows)

    def _key(self, physical: str, table: _Table, name: str) -> str:
        return equality_key(physical, table.facts.columns[name], self._dialect)

    def _refuse_products(self) -> None:
        """Refuse joins that would give one person more rows than a small product of the declared bounds."""
        private = self._private()
        paired = math.prod(table.facts.rows for table in private)
        if len(private) > 1 and paired > MOST_PAIRED and paired > max(table.facts.rows for table in private):
            bounds = " x ".join(str(table.facts.rows) for table in private)
            raise Refused(
                "the joined tables pair up to {product} = {rows} rows of one person; at most {limit} are paired. Join "
                "fewer tables with several rows a person, or ask the data owner to declare fewer 'rows'.",
                product=bounds,
                rows=paired,
                limit=MOST_PAIRED,
            )

    def resolve(self, table: str, name: str) -> Value:
        """Return the value of a column by its name, as declared."""
        source, declared = self._find(table, name)
        key = f"{source.inner}.{declared}"
        if key not in self._reads:
            facts = source.facts.columns[declared]
            physical = f"{source.inner}.{quote_name(declared)}"
            self._reads[key] = column(physical, facts, inner_name(len(self._reads)), self._dialect)
        return self._reads[key][1]

    @property
    def reads(self) -> tuple[tuple[str, str], ...]:
        """SQL that reads each column in use, with its inner name."""
        return tuple((sql, value.sql) for sql, value in self._reads.values())

    def read_values(self) -> list[tuple[str, Value]]:
        """Return the columns in use: the SQL that reads each one, and its value."""
        return list(self._reads.values())

    @property
    def person(self) -> str:
        """SQL of the person column; empty when each row is a person."""
        table = self._private()[0]
        person = table.facts.person
        return self._key(f"{table.inner}.{quote_name(person)}", table, person) if person else ""

    @property
    def truncated(self) -> bool:
        """Whether rows per person are sampled down to the declared number."""
        private = self._private()
        if not private[0].facts.person:
            return False
        return len(private) > 1 or not private[0].facts.unique

    @property
    def rows(self) -> int:
        """Most rows of the result that one person may own."""
        return max(table.facts.rows for table in self._private()) if self.truncated else 1

    @property
    def size(self) -> int:
        """Most rows of the joined tables, by their declarations."""
        first, *others = self._private()
        return first.facts.size * math.prod(table.facts.rows for table in others)

    @property
    def ranked_rows(self) -> int:
        """Most rows that are sorted or hashed before they are grouped: to bound rows per person, and to join tables."""
        private = self._private()
        bounded = sum(table.facts.size for table in private if table.facts.person and not table.facts.unique)
        joined = sum((private[0] if new.facts.public else new).facts.size for _, _, (new, _) in self._joins)
        return bounded + joined + (self.size if self.truncated and self._joins else 0)

    def is_person(self, node: exp.Expr) -> bool:
        """Return whether an expression is the person of every row: not a column that a LEFT JOIN may leave empty."""
        if node.key != "column":
            return False
        table, declared = self._find(node.text("table"), node.name)
        outer = any(new is table and word == "LEFT JOIN" for word, _, (new, _) in self._joins)
        return not table.facts.public and table.facts.person == declared and not outer

    def _private(self) -> list[_Table]:
        return [table for table in self._tables if not table.facts.public]

    def _add(self, node: exp.Expr) -> _Table:
        if node.key != "table":
            raise Refused("FROM is answered with a table of the data set, not with a sub-select or a function.")
        only(node, "this", "alias")
        if node.this.key != "identifier":
            raise Refused("FROM is answered with a table of the data set, not with a function.")
        name, facts = self._dataset.table(node.name)
        alias = (node.alias or node.name).lower()
        if any(table.alias == alias for table in self._tables):
            raise Refused("two tables have the same name in this query: give one an alias.")
        alias_node = node.args.get("alias")
        if alias_node is not None:
            only(alias_node, "this")
        table = _Table(alias, name, facts, f"t{len(self._tables)}")
        self._tables.append(table)
        return table

    def _join(self, node: exp.Expr) -> None:
        only(node, "this", "side", "kind", "on", "using")
        side, kind = node.text("side").upper(), node.text("kind").upper()
        if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
            raise Refused("JOIN and LEFT JOIN are answered, not the other kinds.")
        before = list(self._tables)
        new = self._add(node.this)
        left, right = self._condition(node, before, new)
        if left[0].facts.columns[left[1]].type != right[0].facts.columns[right[1]].type:
            raise Refused("the two columns of the join are declared with different types.")
        if not self._dataset.can_join(f"{left[0].name}.{left[1]}", f"{right[0].name}.{right[1]}"):
            raise Refused(
                "the join of {left_table}.{left_column} with {right_table}.{right_column} is not declared. {declared}",
                left_table=left[0].name,
                left_column=left[1],
                right_table=right[0].name,
                right_column=right[1],
                declared=self._declared_joins(),
            )
        self._check_stability(left, right, side == "LEFT")
        self._joins.append(("LEFT JOIN" if side == "LEFT" else "JOIN", left, right))

    def _check_stability(self, left: tuple[_Table, str], right: tuple[_Table, str], outer: bool) -> None:
        """Refuse a join after which a row could belong to two people, or a person have unboundedly many rows."""
        (old, old_column), (new, new_column) = left, right
        # Also when the new table hangs on a public one: a region would pair one person's rows with another's.
        if not new.facts.public and len(self._private()) > 1:
            if old.facts.public or old.facts.person != old_column or new.facts.person != new_column:
                raise Refused(
                    "two tables with personal data are joined by their person columns only: otherwise a row would "
                    "belong to two people, and their budgets could not be tracked separately."
                )
            return
        if old.facts.public and outer:
            raise Refused("a LEFT JOIN starts from the table with the persons; put the public table second.")
        public, column_name = (new, new_column) if new.facts.public else (old, old_column)
        # Tables before the first one with persons are unique by the keys of the very first only.
        if column_name not in public.facts.keys or not (new.facts.public or old is self._tables[0]):
            raise Refused(
                "{name}.{column_name} is not declared unique, so one row could become many. Join the public table by "
                "one of its keys ({keys}), or ask the data owner to declare the column in 'keys'.",
                name=public.name,
                column_name=column_name,
                keys=", ".join(public.facts.keys) or "none is declared",
            )

    def _condition(
        self, node: exp.Expr, before: list[_Table], new: _Table
    ) -> tuple[tuple[_Table, str], tuple[_Table, str]]:
        using = node.args.get("using")
        if using:
            if len(using) != 1:
                raise Refused("a join is answered along one declared pair of columns.")
            name = using[0].name
            old = [table for table in before if any(c.lower() == name.lower() for c in table.facts.columns)]
            if len(old) != 1:
                raise Refused("USING: the column {name!r} is not in exactly one of the tables before.", name=name)
            return (old[0], self._declared_name(old[0], name)), (new, self._declared_name(new, name))
        on = node.args.get("on")
        while on is not None and on.key == "paren":
            on = on.this
        if on is None or on.key != "eq" or on.this.key != "column" or on.expression.key != "column":
            raise Refused("a join is answered along one declared pair of columns: JOIN b ON a.x = b.y.")
        sides = [self._find(side.text("table"), side.name) for side in (on.this, on.expression)]
        for only_column in (on.this, on.expression):
            only(only_column, "this", "table")
        if (sides[0][0] is new) == (sides[1][0] is new):
            raise Refused("a join compares a column of the new table with one of a table before it.")
        return (sides[1], sides[0]) if sides[0][0] is new else (sides[0], sides[1])

    def _find(self, table: str, name: str) -> tuple[_Table, str]:
        if table:
            named = next((t for t in self._tables if t.alias == table.lower()), None)
            if named is None:
                raise UnknownName.of("table in this query", table, [t.alias for t in self._tables])
            return named, self._declared_name(named, name)
        candidates = [t for t in self._tables if any(c.lower() == name.lower() for c in t.facts.columns)]
        if not candidates:
            columns = [column for t in self._tables for column in t.facts.columns]
            raise Refused(
                "unanswerable: no column {name!r} is declared for queries.{suggestion}",
                name=name,
                suggestion=suggestion(name, columns),
            )
        if len(candidates) > 1:
            raise Refused("several tables have a column {name!r}: write table.column.", name=name)
        return candidates[0], self._declared_name(candidates[0], name)

    def _declared_name(self, table: _Table, name: str) -> str:
        for declared in table.facts.columns:
            if declared.lower() == name.lower():
                return declared
        raise Refused(
            "unanswerable: the table {name!r} has no column {name2!r} that is declared for queries.{suggestion}",
            name=table.name,
            name2=name,
            suggestion=suggestion(name, table.facts.columns),
        )

    def _declared_joins(self) -> str:
        declared = [f"{join.left} = {join.right}" for join in self._dataset.joins]
        return (
            Message("Declared are: {names}.", names=", ".join(declared))
            if declared
            else "No join is declared in this data set."
        )
