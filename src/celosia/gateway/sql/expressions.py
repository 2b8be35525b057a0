"""Compiler of row expressions. Only what is on its whitelist is answered; the rest is refused with a hint."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from celosia.errors import Message
from celosia.gateway.databases import literal
from celosia.gateway.metadata import is_date
from celosia.gateway.sql import values as v
from celosia.gateway.sql.parse import Refused

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST_LIST = 500
LONGEST_SQL = 12_000
_PATTERN = re.compile(r"(?=.{0,100}$)%?[^%_\\]*%?", re.DOTALL)
_COMPARE = {"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}
_METHODS = {"and": "junction", "or": "junction", "greatest": "extreme", "least": "extreme"}
_METHODS |= {"lower": "change_case", "upper": "change_case"}
"""Keys of the syntax tree whose method has another name than the key."""
_HINTS = {
    "subquery": "Sub-selects are not answered: ask each query on its own.",
    "select": "Sub-selects are not answered: ask each query on its own.",
    "exists": "Sub-selects are not answered: ask each query on its own.",
    "window": "Window functions would release a value per row; use GROUP BY.",
    "cast": "A cast can fail on some rows and so reveal something about them; columns have their declared type.",
    "trycast": "A cast can fail on some rows and so reveal something about them; columns have their declared type.",
    "anonymous": "Only these functions are known: ABS, CEIL, COALESCE, FLOOR, GREATEST, LEAST, LOWER, ROUND, UPPER.",
    "ilike": "Use LOWER(column) LIKE 'pattern'.",
    "regexplike": "Use LIKE.",
    "dpipe": "Texts are not concatenated; compare the columns one by one.",
    "sqrt": "Roots and logarithms fail for some values; ask for the column itself.",
    "ln": "Roots and logarithms fail for some values; ask for the column itself.",
    "log": "Roots and logarithms fail for some values; ask for the column itself.",
    "parameter": "Write the value itself.",
    "placeholder": "Write the value itself.",
}


def only(node: exp.Expr, *allowed: str) -> None:
    """Refuse any part of the syntax tree but those named: an option that was overlooked must not pass."""
    extra = [name for name, value in node.args.items() if value and name not in allowed]
    if extra:
        raise Refused(
            "{name} with {clause} is not answered. Leave that out.", name=_name(node), clause=extra[0].replace("_", " ")
        )


class RowExpressions:
    """Compiler of expressions over one row; ``resolve`` finds a column by its table (or none) and name.

    ``column`` turns a part that must be computed for every row, or that is repeated, into a column of its own.
    """

    def __init__(
        self,
        resolve: Callable[[str, str], v.Value],
        dialect: v.Dialect,
        column: Callable[[v.Value], v.Value] = lambda value: value,
    ) -> None:
        self._resolve = resolve
        self._dialect = dialect
        self._column_of = column

    def column(self, node: exp.Expr) -> v.Value:
        """Compile one expression as a column that is computed for every row."""
        return self._column_of(self.compile(node))

    def compile(self, node: exp.Expr) -> v.Value:
        """Compile one expression, or refuse it."""
        key = node.key
        if key in _COMPARE:
            return self._comparison(node)
        if key in _ARITHMETIC:
            only(node, "this", "expression", "typed", "safe")
            return v.combine(self.compile(node.this), _ARITHMETIC[key], self.compile(node.expression), self._dialect)
        method = getattr(self, f"_{_METHODS.get(key, key)}", None)
        if method is None:
            raise Refused(
                "{name} is not answered. {hint}",
                name=_name(node),
                hint=Message(_HINTS.get(key, "Use a simpler expression.")),
            )
        compiled: v.Value = method(node)
        if len(compiled.sql) > LONGEST_SQL:  # some functions repeat their arguments, so nesting them grows fast
            raise Refused("the expression is too large. Ask a simpler one.")
        return compiled

    def condition(self, node: exp.Expr) -> v.Value:
        """Compile an expression that must be true or false."""
        return self.column(node).need("boolean", "null")

    def _column(self, node: exp.Expr) -> v.Value:
        only(node, "this", "table")
        if node.this.key != "identifier":
            raise Refused("a column is written by its name. Use COUNT(*) to count rows.")
        return self._resolve(node.text("table"), node.name)

    def _literal(self, node: exp.Expr) -> v.Value:
        if node.is_string:
            if len(node.this) > v.LONGEST_TEXT:
                raise Refused("a text of the query has at most {limit} characters.", limit=v.LONGEST_TEXT)
            return v.Value(literal(node.this), "text", literal=node.this)
        try:
            value = float(node.this)
        except ValueError:
            raise Refused("a number is written with digits and a decimal point.") from None
        return v.literal_number(value, self._dialect)

    def _cast(self, node: exp.Expr) -> v.Value:
        written = node.this.this if node.this.key == "literal" and node.this.is_string else ""
        if node.args["to"].this.name != "DATE" or not is_date(written):
            raise Refused("CAST is not answered. {hint}", hint=Message(_HINTS["cast"]))
        sql = literal(written) if self._dialect == "sqlite" else f"CAST({literal(written)} AS DATE)"
        return v.Value(sql, "date", literal=written)

    def _boolean(self, node: exp.Expr) -> v.Value:
        return v.Value("TRUE" if node.this else "FALSE", "boolean", literal=bool(node.this))

    def _null(self, node: exp.Expr) -> v.Value:  # noqa: ARG002
        return v.Value("NULL", "null")

    def _paren(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        return self.compile(node.this)

    def _neg(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        inner = self.compile(node.this).need("number")
        if inner.literal is not None and isinstance(inner.literal, float):
            return v.literal_number(-inner.literal, self._dialect)
        return v.combine(v.literal_number(0.0, self._dialect), "-", inner, self._dialect)

    def _junction(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expression")
        parts = [self.condition(part) for part in node.flatten()]
        sql = f"({f' {node.key.upper()} '.join(part.sql for part in parts)})"
        return v.Value(sql, "boolean", columns=_columns(parts))

    def _not(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        inner = self.compile(node.this).need("boolean", "null")
        return replace(inner, sql=f"(NOT {inner.sql})", type="boolean", facts=None, literal=None)

    def _is(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expression", "negate")
        inner = self.compile(node.this)
        word = "IS NOT" if node.args.get("negate") else "IS"
        key = node.expression.key
        if key == "null":
            test = "NULL"
        elif key == "boolean":
            inner.need("boolean")
            test = "TRUE" if node.expression.this else "FALSE"
        else:
            raise Refused("IS is answered with NULL, TRUE or FALSE only.")
        return v.Value(f"({inner.sql} {word} {test})", "boolean", columns=inner.columns)

    def _comparison(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expression")
        left, right = self.compile(node.this), self.compile(node.expression)
        return self._compare(left, _COMPARE[node.key], right)

    def _compare(self, left: v.Value, sign: str, right: v.Value) -> v.Value:
        left, right = self._as_date(left, right), self._as_date(right, left)
        if "null" in (left.type, right.type):
            raise Refused("a comparison with NULL is never true. Use IS NULL.")
        if left.type != right.type:
            raise Refused(
                "a {left} cannot be compared with a {right}.", left=Message(left.type), right=Message(right.type)
            )
        if sign not in ("=", "<>") and left.type in ("text", "boolean"):
            raise Refused(
                "values of type {left} are compared with = and <> only: their order differs by engine.",
                left=Message(left.type),
            )
        v.check_category(left, right)
        v.check_category(right, left)
        sides = v.alike([left, right], self._dialect)
        return v.Value(f"({sides[0]} {sign} {sides[1]})", "boolean", columns=left.columns | right.columns)

    def _as_date(self, value: v.Value, other: v.Value) -> v.Value:
        if other.type != "date" or value.type != "text" or value.literal is None:
            return value
        if not is_date(str(value.literal)):
            raise Refused("a day is written as '2026-11-15'.")
        sql = value.sql if self._dialect == "sqlite" else f"CAST({value.sql} AS DATE)"
        return replace(value, type="date", sql=sql)

    def _between(self, node: exp.Expr) -> v.Value:
        only(node, "this", "low", "high")
        inner = self.column(node.this)
        low = self._column_of(self._compare(inner, ">=", self.compile(node.args["low"])))
        high = self._column_of(self._compare(inner, "<=", self.compile(node.args["high"])))
        return v.Value(f"({low.sql} AND {high.sql})", "boolean", columns=low.columns | high.columns)

    def _in(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expressions")
        inner = self.column(node.this)
        options = [self.compile(option) for option in node.expressions]
        if not options or len(options) > LONGEST_LIST:
            raise Refused("IN is answered with a list of 1 to {limit} values.", limit=LONGEST_LIST)
        if any(option.literal is None for option in options):
            raise Refused("IN is answered with a list of plain values.")
        tests = [self._compare(inner, "=", option) for option in options]
        first, *listed = v.alike([inner, *(self._as_date(option, inner) for option in options)], self._dialect)
        return v.Value(f"({first} IN ({', '.join(listed)}))", "boolean", columns=_columns(tests))

    def _like(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expression", "negate")
        inner = self.column(node.this).need_stored()
        pattern = self.compile(node.expression).need("text").literal
        if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern):
            raise Refused(
                "LIKE is answered with the patterns 'word%', '%word' or '%word%' of at most 100 characters, without _ "
                "and backslash. Others may take long for some texts, and the time would reveal something about them."
            )
        sql = v.matches(inner.sql, pattern, self._dialect)
        return v.Value(f"(NOT {sql})" if node.args.get("negate") else sql, "boolean", columns=inner.columns)

    def _case(self, node: exp.Expr) -> v.Value:
        only(node, "this", "ifs", "default")
        subject = self.column(node.this) if node.this is not None else None
        tests, results = [], []
        for branch in node.args["ifs"]:
            only(branch, "this", "true")
            value = self.column(branch.this)
            test = value.need("boolean", "null") if subject is None else self._compare(subject, "=", value)
            tests.append(self._column_of(test))
            results.append(self.column(branch.args["true"]))
        default = node.args.get("default")
        otherwise = self.column(default) if default is not None else v.Value("NULL", "null")
        joint = v.hull([*results, otherwise], "CASE")
        *given, last = v.alike([*results, otherwise], self._dialect)
        branches = "".join(f" WHEN {test.sql} THEN {result}" for test, result in zip(tests, given, strict=True))
        sql = f"CASE{branches} ELSE {last} END"
        return replace(joint, sql=sql, columns=joint.columns | _columns(tests))

    def _coalesce(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expressions", "is_nvl", "is_null")
        options = [self.column(option) for option in (node.this, *node.expressions)]
        joint = v.hull(options, "COALESCE")
        return replace(joint, sql=f"COALESCE({', '.join(v.alike(options, self._dialect))})")

    def _extreme(self, node: exp.Expr) -> v.Value:
        only(node, "this", "expressions", "ignore_nulls")
        word = node.key.upper()
        options = [self.column(option).need_bounds() for option in (node.this, *node.expressions)]
        if len(options) < 2:
            raise Refused("{word} compares at least two values.", word=word)
        pick, sqlite = (max, "MAX") if word == "GREATEST" else (min, "MIN")
        # The engines differ on NULL: some skip it. Here an unknown value makes the result unknown.
        unknown = " OR ".join(f"{option.sql} IS NULL" for option in options)
        listed = ", ".join(v.alike(options, self._dialect))
        name = sqlite if self._dialect == "sqlite" else word
        return replace(
            v.hull(options, word),
            sql=f"CASE WHEN {unknown} THEN NULL ELSE {name}({listed}) END",
            low=pick(option.low for option in options),
            high=pick(option.high for option in options),
        )

    def _abs(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        inner = self.compile(node.this).need_bounds()
        ends = sorted([abs(inner.low), abs(inner.high)])
        low = 0.0 if inner.low <= 0 <= inner.high else ends[0]
        return replace(inner, sql=f"ABS({inner.sql})", low=low, high=ends[1], facts=None, literal=None)

    def _floor(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        return v.floor(self.compile(node.this), self._dialect)

    def _ceil(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        minus = v.literal_number(0.0, self._dialect)
        lower = v.floor(v.combine(minus, "-", self.compile(node.this), self._dialect), self._dialect)
        return v.combine(minus, "-", lower, self._dialect)

    def _round(self, node: exp.Expr) -> v.Value:
        only(node, "this", "casts_non_integer_decimals")
        half = v.literal_number(0.5, self._dialect)
        return v.floor(v.combine(self.compile(node.this), "+", half, self._dialect), self._dialect)

    def _change_case(self, node: exp.Expr) -> v.Value:
        only(node, "this")
        inner = self.compile(node.this).need_stored()
        return self._column_of(replace(inner, sql=f"{node.key.upper()}({inner.sql})", facts=None, literal=None))


def _columns(values: Iterable[v.Value]) -> frozenset[str]:
    return frozenset().union(*(value.columns for value in values))


def _name(node: exp.Expr) -> str:
    if node.key == "anonymous":
        return f"the function {str(node.this)[:40].upper()}"
    return node.key.upper()


def whole_number(node: exp.Expr | None, what: str) -> int:
    """Return a plain non-negative whole number of the query, as in LIMIT 5."""
    if node is None or node.key != "literal" or node.args.get("is_string"):
        raise Refused("{what} needs a plain whole number.", what=what)
    value = float(node.this)
    if not value.is_integer() or not 0 <= value < 10**6 or math.isnan(value):
        raise Refused("{what} needs a whole number from 0 to 999999.", what=what)
    return int(value)
