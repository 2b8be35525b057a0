"""Facts that hold in every row that meets a condition: constant fields, equal columns, rows required elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from celosia.consent.sql.elements import plain_literal

if TYPE_CHECKING:
    from sqlglot import exp

Fixed = dict[tuple[str, ...], tuple["exp.Column", frozenset[str]]]
"""Column and its possible constants, by the name of the column as written (its parts in lower case)."""


def conjuncts(condition: exp.Expr, *, holds: bool = True) -> Iterator[tuple[exp.Expr, bool]]:
    """Split a condition at AND (at OR under NOT) into parts, each with whether it holds or fails in every row."""
    from sqlglot import exp

    todo = [(condition, holds)]
    while todo:
        at, positive = todo.pop()
        positive ^= bool(at.args.get("negate"))
        if isinstance(at, exp.Paren):
            todo.append((at.this, positive))
        elif isinstance(at, exp.Not):
            todo.append((at.this, not positive))
        elif isinstance(at, exp.And if positive else exp.Or):
            todo += [(at.right, positive), (at.left, positive)]
        elif isinstance(at, exp.Is) and isinstance(at.expression, exp.Boolean) and positive:
            todo.append((at.this, bool(at.expression.this)))
        else:
            yield at, positive


def fixed_columns(condition: exp.Expr, *, holds: bool = True) -> Fixed:
    """Return columns and constants of ``c = 1``, ``c IN (1, 2)``, ``c = 1 OR c = 2``, ``(b, c) = (1, 2)``, ``c``."""
    from sqlglot import exp

    literals: Fixed = {}
    for part, positive in conjuncts(condition, holds=holds):
        if isinstance(part, exp.Or | exp.And):
            pairs = _fixed_in_all(part, holds=positive)
        else:
            pairs = list(_fixed_pairs(part, holds=positive))
        for column, literal in pairs:
            key = tuple(p.name.casefold() for p in column.parts)
            literals[key] = (column, literals.get(key, (column, frozenset()))[1] | {literal})
    return literals


def _fixed_in_all(choice: exp.Connector, *, holds: bool) -> list[tuple[exp.Column, str]]:
    """Return the columns that every branch of an OR fixes, with each constant."""
    branches, todo = [], [choice.unnest()]
    while todo:
        at = todo.pop()
        if isinstance(at, type(choice)):
            todo += [at.left.unnest(), at.right.unnest()]
        else:
            branches.append(fixed_columns(at, holds=holds))
    shared = set.intersection(*(set(branch) for branch in branches))
    return [(branch[key][0], literal) for branch in branches for key in shared for literal in branch[key][1]]


def required_queries(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Iterate over the sub-selects that must give a row: ``EXISTS (…)``, ``IN (SELECT …)``, ``= ANY (SELECT …)``."""
    from sqlglot import exp

    for part, positive in conjuncts(condition):
        query: Any = None
        if positive and isinstance(part, exp.Exists):
            query = part.this
        elif positive and isinstance(part, exp.In):
            query = part.args.get("query")
        elif positive and isinstance(part, exp.Predicate) and isinstance(part.args.get("expression"), exp.Any):
            query = part.expression.this
        if isinstance(query, exp.Expr) and isinstance(query.unnest(), exp.Query):
            yield query.unnest()


def equal_columns(condition: exp.Expr) -> Iterator[tuple[exp.Column, exp.Column]]:
    """Iterate over the pairs of columns that are equal in every row."""
    from sqlglot import exp

    for part, positive in conjuncts(condition):
        if positive and isinstance(part, exp.EQ | exp.NullSafeEQ):
            left, right = unwrap(part.left), unwrap(part.right)
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                yield left, right


def unwrap(node: exp.Expr) -> exp.Expr:
    """Strip parentheses, casts and collations, which change how a value is written but not the value."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Cast | exp.Collate):
        node = node.this
    return node


def constant(value: exp.Expr) -> str | None:
    """Return the text of a constant, also under a cast, a date function or a minus sign; None if it is none."""
    from sqlglot import exp

    value = unwrap(value)
    if isinstance(value, exp.Convert):
        value = unwrap(value.expression)
    if isinstance(value, exp.StrToDate | exp.StrToTime):
        return _date(value)
    if isinstance(value, exp.Date | exp.Timestamp | exp.DateStrToDate | exp.TsOrDsToDate):
        others = [arg for key, arg in value.args.items() if key != "this" and isinstance(arg, exp.Expr | list) and arg]
        value = unwrap(value.this) if isinstance(value.this, exp.Expr) and not others else value
    if isinstance(value, exp.Neg) and isinstance(unwrap(value.this), exp.Literal):
        return plain_literal("-" + unwrap(value.this).name)
    if isinstance(value, exp.Introducer):
        value = value.expression
    if isinstance(value, exp.Boolean):
        return plain_literal(bool(value.this))
    if isinstance(value, exp.Literal | exp.National | exp.ByteString | exp.RawString | exp.UnicodeString):
        return plain_literal(value.name)
    return None


def _date(value: exp.Expr) -> str | None:
    """Return the ISO form of a date that is written with its format; the time is included unless it is midnight."""
    from datetime import datetime

    from sqlglot import exp

    text, form = value.this, value.args.get("format")
    if not isinstance(text, exp.Literal) or not isinstance(form, exp.Literal):
        return None
    if not all(any(f"%{sign}" in form.name for sign in signs) for signs in ("Yy", "mBb", "de")):
        return None
    try:
        moment = datetime.strptime(text.name, form.name)
    except ValueError:
        return None
    return moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat(" ")


def _fixed_pairs(part: exp.Expr, *, holds: bool) -> Iterator[tuple[exp.Column, str]]:
    """Iterate over the columns and constants that one comparison fixes."""
    from sqlglot import exp

    if isinstance(part, exp.Column):  # a truth value by itself
        yield part, plain_literal(holds)
    elif isinstance(part, (exp.EQ | exp.NullSafeEQ) if holds else (exp.NEQ | exp.NullSafeNEQ)):
        yield from _equal_pairs(part.left, part.right)
        yield from _equal_pairs(part.right, part.left)
    elif holds and isinstance(part, exp.Like) and not set(part.expression.name) & set("%_\\"):
        yield from _equal_pairs(part.this, part.expression)
    elif holds and isinstance(part, exp.In):
        array = part.args.get("unnest")
        members = array.expressions[0].expressions if isinstance(array, exp.Unnest) else part.expressions
        for member in members:
            for row in member.expressions if isinstance(member, exp.Values) else [member]:
                yield from _equal_pairs(part.this, row)


def _equal_pairs(left_side: exp.Expr, right_side: exp.Expr) -> Iterator[tuple[exp.Column, str]]:
    """Iterate over the pairs of column and constant of an equality; tuples by position, ``ANY`` by member."""
    from sqlglot import exp

    column, value = unwrap(left_side), unwrap(right_side)
    if isinstance(value, exp.Tuple) and not isinstance(column, exp.Tuple) and len(value.expressions) == 1:
        value = unwrap(value.expressions[0])
    if isinstance(column, exp.Tuple) and isinstance(value, exp.Tuple):
        for left, right in zip(column.expressions, value.expressions, strict=False):
            yield from _equal_pairs(left, right)
    elif isinstance(column, exp.Column) and not isinstance(column.this, exp.Star):
        array = unwrap(value.this) if isinstance(value, exp.Any) else None
        for member in array.expressions if isinstance(array, exp.Array | exp.Tuple) else [value]:
            literal = constant(member)
            if literal is not None:
                yield column, literal
