"""Planning: from a SELECT to the numbers that are needed, the cells, and the post-processing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.errors import suggestion
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql import after as a
from celosia.gateway.sql.expressions import RowExpressions, only, whole_number
from celosia.gateway.sql.parse import Refused, parse
from celosia.gateway.sql.plan import MOST_STEPS, Number, Output, Plan, quantile_of, square_of, sum_of
from celosia.gateway.sql.scope import Scope
from celosia.gateway.sql.steps import Steps, select_lists
from celosia.gateway.sql.values import Dialect, Value

if TYPE_CHECKING:
    from sqlglot import exp

MOST_CELLS = 20_000
MOST_VALUES = 10_000
MOST_LISTING = 10**8
"""Declared values times length of the keys: what listing the groups costs, about a second. It is free to ask for."""
MOST_NUMBERS = 20
MOST_OUTPUTS = 50
MOST_KEYS = 10
LONGEST_ROW = 20_000
"""Characters of all expressions over one row."""
MOST_TEXT_WORK = 25
"""Work on texts in one row, in units of ``TEXT_SECONDS``."""
ROW_SECONDS, CHARACTER_SECONDS, TEXT_SECONDS = 2e-6, 1.25e-9, 5e-6
"""Time of a row, of a character of its expressions (SQLite, PostgreSQL) and of a unit of work on texts (PostgreSQL)."""
READ_SECONDS: dict[Dialect, float] = {"duckdb": 6e-6, "sqlite": 8e-6, "postgres": 2e-5}
"""Time to read a text of a row, of up to 4 000 bytes, and to carry it to a sort."""
VECTOR, VECTOR_NUMBER_SECONDS, VECTOR_CHARACTER_SECONDS = 2048, 4.5e-5, 2.5e-7
"""Rows that DuckDB computes together, and what they take for each number and each character of the expressions. It
computes them once where they are equal, so that one row with another value adds the time of all.
"""
RANK_SECONDS = 5e-8
"""Time that one row adds for each row of a table when a database ranks or joins them: where all others are in order or
just fit into a table of hashes, it takes another pass over them (20 ns measured on PostgreSQL).
"""
SORT_SECONDS = 1e-7
"""The same for each row that is sorted or hashed by the keys of GROUP BY or for distinct values (60 ns on SQLite)."""
SORT_TEXT_SECONDS: dict[Dialect, float] = {"duckdb": 0.0, "sqlite": 3e-7, "postgres": 3e-7}
"""Time to compare two such rows by a text that is long (130 ns for 900 bytes on SQLite); DuckDB compares hashes."""
_CASE_WORK = 3
_TEXT_WORK = re.compile(r"(?:LIKE |RIGHT\(|SUBSTR\(|(?:INSTR|STRPOS)\(\"\w+\", )(?:'((?:[^']|'')*)')?")
MOST_OPERATIONS = 3_000
"""Steps that all columns take after the noise: a column that names another by its alias has its steps as well."""
DEEPEST_SQL = 45
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARE = {"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_COLUMN_PARTS = {"column", "identifier"}
_KEY_PARTS = _COLUMN_PARTS | {"literal", "paren", "neg", "mod", "abs", "floor", "ceil", "round", "lower", "upper"}
_KEY_PARTS |= set(_ARITHMETIC)
_SIMPLE = {"abs": "abs", "floor": "floor", "ceil": "ceil"}
_VARIANCES = {"variance": (True, False), "variancepop": (False, False)}
_VARIANCES |= {"stddev": (True, True), "stddevsamp": (True, True), "stddevpop": (False, True)}
_AGGREGATES = {"count", "sum", "avg", "min", "max", "median", "quantile", "withingroup", *_VARIANCES}


def build(sql: str, dataset: DatasetFacts, dialect: Dialect, physical: dict[str, str]) -> Plan:
    """Plan a query over the declared data set; nothing is read and nothing is spent."""
    return _Builder(parse(sql), dataset, dialect, physical).plan()


class _Builder:
    def __init__(self, select: exp.Select, dataset: DatasetFacts, dialect: Dialect, physical: dict[str, str]) -> None:
        only(select, "expressions", "from_", "from", "joins", "where", "group", "having", "order", "limit")
        self._select = select
        self._neighbours = dataset.neighbours
        self._dialect = dialect
        self._scope = Scope(dataset, dialect, physical)
        self._scope.read(select)
        self._steps = Steps()
        self._rows = RowExpressions(self._scope.resolve, dialect, self._steps.column)
        self._numbers: list[Number] = []
        self._keys: list[tuple[str, Value]] = []
        self._outputs: list[Output] = []
        self._operations = 0

    def plan(self) -> Plan:
        where = self._select.args.get("where")
        condition = self._rows.condition(where.this).sql if where is not None else ""
        self._read_keys()
        _limit_length(self._select.expressions, MOST_OUTPUTS, "SELECT")
        for item in self._select.expressions:
            self._read_output(item)
        if not self._numbers:
            raise Refused(
                "the query asks for no aggregate. Rows are never shown: ask for COUNT, SUM, AVG, VARIANCE, MIN, "
                "MAX, MEDIAN or a QUANTILE."
            )
        having, order, limit = self._read_tail()
        domains = self._domains()
        person, truncated = self._scope.person, self._scope.truncated
        if domains is None:
            if any(number.kind == "quantile" for number in self._numbers):
                raise Refused("a quantile is answered in groups whose keys are declared (categories or bounds).")
            self._index_of(Number("persons" if person and truncated else "rows"))
        steps = [sql for layer in self._steps.layers for sql, _ in layer]
        for sql in steps:
            _refuse_deep(sql)
        _refuse_work(steps)
        return Plan(
            sources=self._scope.sources,
            reads=self._scope.reads,
            steps=self._steps.layers,
            where=condition,
            keys=tuple(value for _, value in self._keys),
            domains=domains,
            numbers=tuple(self._numbers),
            outputs=tuple(self._outputs),
            having=having,
            order=order,
            limit=limit,
            person=person,
            truncated=truncated,
            rows=self._scope.rows,
            row_seconds=self._row_seconds(steps),
            sort_seconds=self._sort_seconds(domains),
            neighbours=self._neighbours,
        )

    def _row_seconds(self, steps: list[str]) -> float:
        """Return an upper bound of the seconds that a database takes for the values of one person's rows."""
        length, texts = _measure_work(steps)
        rows, read = self._scope.rows, sum(len(sql) for sql, _ in self._scope.reads)
        each = ROW_SECONDS + (length + read) * CHARACTER_SECONDS + texts * TEXT_SECONDS
        stored = [value for _, value in self._scope.read_values() if value.type == "text"]
        each += (
            sum(2 if value.facts and value.facts.categories else 1 for value in stored) * READ_SECONDS[self._dialect]
        )
        if self._dialect != "duckdb":
            return rows * each
        vectors = 2 + rows // VECTOR if self._scope.truncated else 1  # rows of a person are ranked side by side
        vector = len(self._numbers) * VECTOR_NUMBER_SECONDS + length * VECTOR_CHARACTER_SECONDS
        return rows * each + vectors * vector

    def _sort_seconds(self, domains: tuple[tuple[str, tuple[object, ...]], ...] | None) -> float:
        """Return an upper bound of the seconds that one row adds by its place among those that are sorted or hashed.

        A table of hashes grows with the groups, a sort with the rows: SQLite sorts for each GROUP BY, PostgreSQL for
        distinct values.
        """
        size = self._scope.size
        distinct = [number for number in self._numbers if number.kind in ("distinct", "persons")]
        quantiles = sum(number.kind == "quantile" for number in self._numbers)
        cells = size if domains is None else math.prod(len(values) + 1 for _, values in domains)
        sorts = self._dialect == "sqlite" or (self._dialect == "postgres" and bool(distinct))
        groups = size if sorts else min(size, cells)
        by_keys = self._seconds_to_compare([value for _, value in self._keys])
        seconds = RANK_SECONDS * self._scope.ranked_rows
        if self._keys and len(self._numbers) > quantiles:
            seconds += groups * by_keys
        if quantiles:
            buckets = size if sorts else min(size, cells * MOST_STEPS)
            seconds += quantiles * buckets * by_keys
        return seconds + size * sum(
            self._seconds_to_compare([number.value] if number.value else []) for number in distinct
        )

    def _seconds_to_compare(self, values: list[Value]) -> float:
        texts = sum(value.type == "text" and not (value.facts and value.facts.categories) for value in values)
        return SORT_SECONDS + texts * SORT_TEXT_SECONDS[self._dialect]

    # Keys ---------------------------------------------------------------------------------------------------------

    def _read_keys(self) -> None:
        group = self._select.args.get("group")
        if group is None:
            return
        only(group, "expressions")
        if not group.expressions:
            raise Refused("GROUP BY is answered with columns or expressions of columns.")
        _limit_length(group.expressions, MOST_KEYS, "GROUP BY")
        aliases = {item.alias.lower(): item.this for item in self._select.expressions if item.key == "alias"}
        for node in group.expressions:
            if node.key == "literal" and not node.is_string:
                node = self._by_position(node)
            elif node.key == "column" and not node.text("table") and node.name.lower() in aliases:
                node = aliases[node.name.lower()]
            value = self._rows.column(_strip_brackets(node))
            if value.type == "null" or value.literal is not None:
                raise Refused("GROUP BY is answered with columns or expressions of columns.")
            if value.type == "number" and not value.whole:
                raise Refused(
                    "GROUP BY a number that is not whole would make a group of each value. Use FLOOR(x / 10) * 10."
                )
            _refuse_choice(node, _KEY_PARTS)
            self._keys.append((_canonical_sql(node), value))

    def _by_position(self, node: exp.Expr) -> exp.Expr:
        place = whole_number(node, "GROUP BY")
        if not 1 <= place <= len(self._select.expressions):
            raise Refused("GROUP BY names a place that the query does not have.")
        item = self._select.expressions[place - 1]
        return _without_alias(item)

    def _domains(self) -> tuple[tuple[str, tuple[str | int | bool, ...]], ...] | None:
        """Return all values of the columns behind the keys when they are public and few enough, otherwise None."""
        if not self._keys:
            return ()
        inner = {value.sql: value for _, value in self._scope.read_values()}
        listed = []
        cells = 1
        for name in self._key_columns():
            facts = inner[name].facts
            values = facts.values(MOST_VALUES) if facts is not None else None
            if values is None:
                return None
            cells *= len(values) + 1
            listed.append((name, values))
        if cells > 10 * MOST_CELLS:
            raise Refused(
                "the groups are {cells} by their declared values; at most {limit} are answered at once.",
                cells=cells,
                limit=MOST_CELLS,
            )
        keys = [value.sql for _, value in self._keys]
        length = sum(len(sql) for listed in [*select_lists(self._steps.layers, keys), keys] for sql in listed)
        if cells * length > MOST_LISTING:
            raise Refused(
                "GROUP BY is too large for the {cells} values of its columns. Use a simpler expression.", cells=cells
            )
        return tuple(listed)

    def _key_columns(self) -> list[str]:
        return sorted(frozenset().union(*(value.columns for _, value in self._keys)))

    # Outputs ------------------------------------------------------------------------------------------------------

    def _read_output(self, item: exp.Expr) -> None:
        node = _without_alias(item)
        if item.key == "star":
            raise Refused("rows are never shown: ask for COUNT(*) or another aggregate instead of *.")
        after = self._check_operations(self._after(node))
        name = item.alias if item.key == "alias" else self._column_name(node)
        while name in [output.name for output in self._outputs]:
            name += "_"
        self._outputs.append(Output(name, after, "key" if after.op == "key" else "number"))

    def _check_operations(self, after: a.After) -> a.After:
        self._operations += after.size()
        if self._operations > MOST_OPERATIONS:
            raise Refused(
                "the columns take more than {limit} steps together. Ask for some of them alone.", limit=MOST_OPERATIONS
            )
        return after

    def _column_name(self, node: exp.Expr) -> str:
        if node.key == "column":
            return node.name
        return node.key if node.key in _AGGREGATES else f"column{len(self._outputs) + 1}"

    def _read_tail(self) -> tuple[a.After | None, tuple[tuple[a.After, bool], ...], int | None]:
        having = self._select.args.get("having")
        condition = self._check_operations(self._after(having.this)) if having is not None else None
        order = self._select.args.get("order")
        items = order.expressions if order is not None else []
        _limit_length(items, MOST_KEYS, "ORDER BY")
        sort_keys = []
        for item in items:
            only(item, "this", "desc", "nulls_first")
            sort_keys.append((self._check_operations(self._sort_key(item.this)), bool(item.args.get("desc"))))
        limit = self._select.args.get("limit")
        if limit is not None:
            only(limit, "expression")
        return condition, tuple(sort_keys), whole_number(limit.expression, "LIMIT") if limit is not None else None

    def _sort_key(self, node: exp.Expr) -> a.After:
        if node.key == "literal" and not node.is_string:
            place = whole_number(node, "ORDER BY")
            if not 1 <= place <= len(self._outputs):
                raise Refused("ORDER BY names a place that the query does not have.")
            return self._outputs[place - 1].after
        return self._after(node)

    # After the noise ----------------------------------------------------------------------------------------------

    def _after(self, node: exp.Expr) -> a.After:
        node = _strip_brackets(node)
        for index, (canonical, _) in enumerate(self._keys):
            if _canonical_sql(node) == canonical:
                return a.After("key", (), (index,))
        key = node.key
        if key in _AGGREGATES:
            return self._aggregate(node)
        if key in ("literal", "boolean", "null"):
            return a.constant(self._rows.compile(node).literal)
        if key in _ARITHMETIC or key in _COMPARE:
            only(node, "this", "expression", "typed", "safe")
            sign = _ARITHMETIC.get(key) or _COMPARE[key]
            return a.After(sign, (self._after(node.this), self._after(node.expression)))
        if key == "column":
            return self._output_by_alias(node)
        return self._function(node)

    def _function(self, node: exp.Expr) -> a.After:
        key = node.key
        if key in _SIMPLE or key in ("neg", "not"):
            only(node, "this")
            return a.After(_SIMPLE.get(key, key), (self._after(node.this),))
        if key == "round":
            only(node, "this", "decimals", "casts_non_integer_decimals")
            places = node.args.get("decimals")
            constants = (min(whole_number(places, "ROUND"), 15),) if places is not None else ()
            return a.After("round", (self._after(node.this),), constants)
        if key in ("and", "or"):
            only(node, "this", "expression")
            return a.After(key, tuple(self._after(part) for part in node.flatten()))
        if key == "between":
            only(node, "this", "low", "high")
            inner, low, high = (self._after(node.args[name]) for name in ("this", "low", "high"))
            return a.After("and", (a.After(">=", (inner, low)), a.After("<=", (inner, high))))
        if key == "in":
            only(node, "this", "expressions")
            options = [self._after(option) for option in node.expressions]
            if any(option.op != "constant" for option in options):
                raise Refused("IN is answered with a list of plain values.")
            return a.After("in", (self._after(node.this),), tuple(option.constants[0] for option in options))
        if key in ("greatest", "least", "coalesce"):
            only(node, "this", "expressions", "ignore_nulls", "is_nvl", "is_null")
            return a.After(key, tuple(self._after(part) for part in (node.this, *node.expressions)))
        self._rows.compile(node)  # raises the reason, when the expression itself is not answered
        raise Refused("columns and expressions outside aggregates must be listed in GROUP BY.")

    def _output_by_alias(self, node: exp.Expr) -> a.After:
        if not node.text("table"):
            for output in self._outputs:
                if output.name.lower() == node.name.lower():
                    return output.after
        self._scope.resolve(node.text("table"), node.name)
        hint = suggestion(node.name, [output.name for output in self._outputs]) if self._outputs else ""
        raise Refused(
            "the column {name!r} is outside an aggregate and not in GROUP BY: rows are never shown.{hint}",
            name=node.name,
            hint=hint,
        )

    # Aggregates ---------------------------------------------------------------------------------------------------

    def _aggregate(self, node: exp.Expr) -> a.After:
        key = node.key
        if key == "count":
            return self._count(node)
        if key in _VARIANCES:
            only(node, "this")
            return self._variance(self._argument(node.this), *_VARIANCES[key])
        if key in ("sum", "avg"):
            only(node, "this")
            value = self._argument(node.this)
            return self._sum(value) if key == "sum" else self._mean(value)
        if key in ("min", "max", "median"):
            only(node, "this")
            rank = {"min": 0.0, "max": 1.0, "median": 0.5}[key]
            return self._quantile(self._argument(node.this), rank)
        if key == "quantile":
            only(node, "this", "quantile")
            return self._quantile(self._argument(node.this), _share(node.args["quantile"]))
        return self._within_group(node)

    def _within_group(self, node: exp.Expr) -> a.After:
        only(node, "this", "expression")
        if node.this.key not in ("percentilecont", "percentiledisc"):
            raise Refused("WITHIN GROUP is answered for PERCENTILE_CONT and PERCENTILE_DISC.")
        only(node.this, "this")
        order = node.expression
        if order is None or order.key != "order" or len(order.expressions) != 1:
            raise Refused("WITHIN GROUP is answered with one value: (ORDER BY column).")
        value = order.expressions[0]
        only(value, "this", "nulls_first")
        return self._quantile(self._argument(value.this), _share(node.this.this))

    def _argument(self, node: exp.Expr) -> Value:
        if node.key == "distinct":
            raise Refused("DISTINCT is answered in COUNT only.")
        return self._rows.column(_strip_brackets(node)).need_bounds()

    def _count(self, node: exp.Expr) -> a.After:
        only(node, "this", "big_int")
        inner = node.this
        if inner is None:
            raise Refused("COUNT counts rows, COUNT(*), or the known values of a column.")
        if inner.key == "star" or (inner.key == "literal"):
            return a.number(self._index_of(Number("rows")))
        if inner.key != "distinct":
            return a.number(self._index_of(Number("present", self._rows.column(_strip_brackets(inner)))))
        only(inner, "expressions")
        if len(inner.expressions) != 1:
            raise Refused("COUNT(DISTINCT …) is answered for one column.")
        column = _strip_brackets(inner.expressions[0])
        if self._scope.is_person(column):
            return a.number(self._index_of(Number("persons")))
        value = self._rows.column(column)
        _refuse_choice(column, _COLUMN_PARTS)
        return a.number(self._index_of(Number("distinct", value)))

    def _sum(self, value: Value) -> a.After:
        number = sum_of(value, centred=False)
        return a.After("scale", (a.number(self._index_of(number)),), (number.unit, 0.0))

    def _mean(self, value: Value) -> a.After:
        number = sum_of(value, centred=True)
        count = a.number(self._index_of(Number("present", value)))
        total = a.number(self._index_of(number))
        return a.After("mean", (total, count), (number.centre, number.unit, value.low, value.high))

    def _variance(self, value: Value, sample: bool, root: bool) -> a.After:
        number = sum_of(value, centred=True)
        squares = square_of(value, number.centre)
        indices = [self._index_of(x) for x in (squares, number, Number("present", value))]
        # no distribution on [low, high] has a larger variance than half its mass at each end
        most = (value.high - value.low) ** 2 / 4 * (2.0 if sample else 1.0)
        variance = a.After("spread", tuple(a.number(i) for i in indices), (number.unit, squares.unit, most, sample))
        return a.After("sqrt", (variance,)) if root else variance

    def _quantile(self, value: Value, rank: float) -> a.After:
        return a.number(self._index_of(quantile_of(value, rank)))

    def _index_of(self, number: Number) -> int:
        for index, earlier in enumerate(self._numbers):
            if earlier.key() == number.key():
                return index
        if len(self._numbers) == MOST_NUMBERS:
            raise Refused(
                "the query needs more than {limit} noisy numbers. Ask for some of them on their own.",
                limit=MOST_NUMBERS,
            )
        self._numbers.append(number)
        return len(self._numbers) - 1


def _refuse_choice(node: exp.Expr, parts: set[str]) -> None:
    """Refuse a value to be sorted that a condition could choose: its length and order would show in the time."""
    if any(part.key not in parts for part in node.walk()):
        raise Refused(
            "COUNT(DISTINCT …) takes a column, and GROUP BY a column or a calculation with columns, not CASE, "
            "COALESCE, GREATEST, LEAST or a condition: the database sorts the values, and a condition on one person "
            "could choose how long that takes. Group by the column, or count with SUM(CASE WHEN condition THEN 1 ELSE "
            "0 END)."
        )


def _refuse_deep(sql: str) -> None:
    """Refuse what would overflow the parser of a database: SQLite's has room for 100 open brackets and keywords."""
    depth = 0
    for token in re.findall(r"'(?:[^']|'')*'|\(|\)|\bCASE\b|\bEND\b", sql):
        depth += {"(": 1, ")": -1, "CASE": 5, "END": -5}.get(token, 0)
        if depth > DEEPEST_SQL:
            raise Refused(
                "the expression is nested too deeply. Ask a flatter one, or use brackets to halve a long sum."
            )


def _measure_work(expressions: list[str]) -> tuple[int, int]:
    """Return the characters of the expressions of a row, and their units of work on texts."""
    case_changes = sum(len(re.findall(r"\b(?:LOWER|UPPER)\(", sql)) for sql in expressions)
    pattern_lengths = [len(pattern) for sql in expressions for pattern in _TEXT_WORK.findall(sql)]
    texts = _CASE_WORK * case_changes + sum(1 + size // 10 for size in pattern_lengths)
    return sum(map(len, expressions)), texts


def _refuse_work(expressions: list[str]) -> None:
    """Refuse expressions that take so long for one row that it could show in the time of an answer."""
    length, texts = _measure_work(expressions)
    if length > LONGEST_ROW or texts > MOST_TEXT_WORK:
        raise Refused(
            "the expressions of a row take {length} characters and {work} units of work on texts; at most {longest} "
            "and {most_work} are computed. LOWER and UPPER count 3, LIKE 1 and 1 more for each 10 characters of its "
            "pattern. Ask for fewer columns at once, or a simpler expression.",
            length=length,
            work=texts,
            longest=LONGEST_ROW,
            most_work=MOST_TEXT_WORK,
        )


def _limit_length(items: Sequence[object], most: int, what: str) -> None:
    if len(items) > most:
        raise Refused(
            "{what} lists {number} expressions; at most {most} are answered at once.",
            what=what,
            number=len(items),
            most=most,
        )


def _without_alias(item: exp.Expr) -> exp.Expr:
    return item.this if item.key == "alias" else item


def _strip_brackets(node: exp.Expr) -> exp.Expr:
    while node.key == "paren":
        node = node.this
    return node


def _canonical_sql(node: exp.Expr) -> str:
    """Return one spelling of an expression, so that equal ones are recognised."""
    return str(_strip_brackets(node).sql(dialect="postgres", comments=False, normalize=True)).lower()


def _share(node: exp.Expr) -> float:
    if node.key != "literal" or node.is_string or not 0 <= float(node.this) <= 1:
        raise Refused("a quantile is asked for with a number between 0 and 1.")
    return float(node.this)
