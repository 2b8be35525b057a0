"""The tables of a question: how they are joined, whose rows result, and how many of them one person may own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.data.io.statement import quoted
from celosia.errors import UnknownName, suggestion
from celosia.gateway.metadata import DatasetFacts, TableFacts
from celosia.gateway.sql.expressions import only
from celosia.gateway.sql.parse import Refused
from celosia.gateway.sql.plan import Source
from celosia.gateway.sql.reading import column, inner_name, joinable
from celosia.gateway.sql.values import Dialect, Value

if TYPE_CHECKING:
    from sqlglot import exp

MOST_TABLES = 6


@dataclass
class _Table:
    called: str
    name: str
    facts: TableFacts
    alias: str


class Scope:
    """Resolves columns and tracks ownership while the tables of a question are joined one after the other."""

    def __init__(self, dataset: DatasetFacts, dialect: Dialect, physical: dict[str, str]) -> None:
        self._dataset = dataset
        self._dialect: Dialect = dialect
        self._physical = physical
        self._tables: list[_Table] = []
        self._reads: dict[str, tuple[str, Value]] = {}
        self._multiplied = False
        self.sources: list[Source] = []

    def read(self, select: exp.Select) -> None:
        """Take in FROM and all joins."""
        source = select.args.get("from_") or select.args.get("from")
        if source is None:
            raise Refused("the question names no table: write FROM and a table of the data set.")
        only(source, "this")
        self._add(source.this)
        for join in select.args.get("joins") or []:
            self._join(join)
        if len(self._tables) > MOST_TABLES:
            raise Refused(f"at most {MOST_TABLES} tables are joined in one question.")
        if not self._private():
            raise Refused("this table is declared public: it holds no personal data, read it directly.")

    def resolve(self, table: str, name: str) -> Value:
        """The value of a column by its name, as declared."""
        owner, declared = self._find(table, name)
        key = f"{owner.alias}.{declared}"
        if key not in self._reads:
            facts = owner.facts.columns[declared]
            physical = f"{owner.alias}.{quoted(declared)}"
            self._reads[key] = column(physical, facts, inner_name(len(self._reads)), self._dialect)
        return self._reads[key][1]

    @property
    def reads(self) -> tuple[tuple[str, str], ...]:
        """SQL that reads each column in use, with its inner name."""
        return tuple((sql, value.sql) for sql, value in self._reads.values())

    def read_values(self) -> list[tuple[str, Value]]:
        """The columns in use: the SQL that reads each one, and its value."""
        return list(self._reads.values())

    @property
    def person(self) -> str:
        """SQL of the column that says whose row it is; empty when each row is a person."""
        owner = self._private()[0]
        return f"{owner.alias}.{quoted(owner.facts.person)}" if owner.facts.person else ""

    @property
    def truncated(self) -> bool:
        """Whether rows per person must be cut to the declared number."""
        owners = self._private()
        if not owners[0].facts.person:
            return False
        return self._multiplied or len(owners) > 1 or not owners[0].facts.unique

    @property
    def rows(self) -> int:
        """How many rows of the result one person may own."""
        return max(table.facts.rows for table in self._private()) if self.truncated else 1

    def is_person(self, node: exp.Expression) -> bool:
        """Tell whether an expression is the person column."""
        if node.key != "column":
            return False
        owner, declared = self._find(node.text("table"), node.name)
        return not owner.facts.public and owner.facts.person == declared

    def _private(self) -> list[_Table]:
        return [table for table in self._tables if not table.facts.public]

    def _add(self, node: Any) -> _Table:
        if node.key != "table":
            raise Refused("FROM is answered with a table of the data set, not with a sub-select or a function.")
        only(node, "this", "alias")
        if node.this.key != "identifier":
            raise Refused("FROM is answered with a table of the data set, not with a function.")
        name, facts = self._dataset.table(node.name)
        called = (node.alias or node.name).lower()
        if any(table.called == called for table in self._tables):
            raise Refused("two tables have the same name in this question: give one an alias.")
        alias_node = node.args.get("alias")
        if alias_node is not None:
            only(alias_node, "this")
        table = _Table(called, name, facts, f"t{len(self._tables)}")
        self._tables.append(table)
        if len(self._tables) == 1:
            self.sources.append(Source(quoted(self._physical[name]), table.alias))
        return table

    def _join(self, node: Any) -> None:
        only(node, "this", "side", "kind", "on", "using")
        side, kind = (node.side or "").upper(), (node.kind or "").upper()
        if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
            raise Refused("JOIN and LEFT JOIN are answered, not the other kinds.")
        before = list(self._tables)
        new = self._add(node.this)
        left, right = self._condition(node, before, new)
        if left[0].facts.columns[left[1]].type != right[0].facts.columns[right[1]].type:
            raise Refused("the two columns of the join are declared with different types.")
        if not self._dataset.joined(f"{left[0].name}.{left[1]}", f"{right[0].name}.{right[1]}"):
            raise Refused(
                f"the join of {left[0].name}.{left[1]} with {right[0].name}.{right[1]} is not declared. "
                f"{self._declared_joins()}"
            )
        self._own(left, right, side == "LEFT")
        sides = [
            joinable(f"{table.alias}.{quoted(name)}", table.facts.columns[name], self._dialect)
            for table, name in (left, right)
        ]
        word = "LEFT JOIN" if side == "LEFT" else "JOIN"
        self.sources.append(Source(quoted(self._physical[new.name]), new.alias, word, " = ".join(sides)))

    def _own(self, left: tuple[_Table, str], right: tuple[_Table, str], outer: bool) -> None:
        """Stability: every row of the join must belong to one person, and how many a person gets must be known."""
        (old, old_column), (new, new_column) = left, right
        # Also when the new table hangs on a public one: a region would pair one person's rows with another's.
        if not new.facts.public and len(self._private()) > 1:
            if old.facts.public or old.facts.person != old_column or new.facts.person != new_column:
                raise Refused(
                    "two tables with personal data are joined by their person columns only: otherwise a row would "
                    "belong to two people, and what one of them may spend could not be told."
                )
            self._multiplied = True
            return
        if old.facts.public and outer:
            raise Refused("a LEFT JOIN starts from the table with the persons; put the public table second.")
        public, column_name = (new, new_column) if new.facts.public else (old, old_column)
        if column_name not in public.facts.keys:
            if not all(table.facts.person for table in self._private()):
                raise Refused(
                    f"{public.name}.{column_name} is not declared unique, so one row could become many. Join by a key."
                )
            self._multiplied = True

    def _condition(self, node: Any, before: list[_Table], new: _Table) -> tuple[tuple[_Table, str], tuple[_Table, str]]:
        using = node.args.get("using")
        if using:
            if len(using) != 1:
                raise Refused("a join is answered along one declared pair of columns.")
            name = using[0].name
            old = [table for table in before if any(c.lower() == name.lower() for c in table.facts.columns)]
            if len(old) != 1:
                raise Refused(f"USING: the column {name!r} is not in exactly one of the tables before.")
            return (old[0], self._named(old[0], name)), (new, self._named(new, name))
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
            owner = next((t for t in self._tables if t.called == table.lower()), None)
            if owner is None:
                raise UnknownName.of("table in this question", table, [t.called for t in self._tables])
            return owner, self._named(owner, name)
        owners = [t for t in self._tables if any(c.lower() == name.lower() for c in t.facts.columns)]
        if not owners:
            columns = [column for t in self._tables for column in t.facts.columns]
            raise Refused(f"unanswerable: no column {name!r} is declared for questions.{suggestion(name, columns)}")
        if len(owners) > 1:
            raise Refused(f"several tables have a column {name!r}: write table.column.")
        return owners[0], self._named(owners[0], name)

    def _named(self, table: _Table, name: str) -> str:
        for declared in table.facts.columns:
            if declared.lower() == name.lower():
                return declared
        raise Refused(
            f"unanswerable: the table {table.name!r} has no column {name!r} that is declared for questions."
            f"{suggestion(name, table.facts.columns)}"
        )

    def _declared_joins(self) -> str:
        declared = [f"{join.left} = {join.right}" for join in self._dataset.joins]
        return f"Declared are: {', '.join(declared)}." if declared else "No join is declared in this data set."
