"""Columns as declared: SQL that converts any value the database may hold into one type and one range.

A value that does not fit must not stop a query, because that would reveal that a record has it. Numbers are moved to
the nearest bound; other values that are not of the declared type or not among its categories count as missing.
"""

from __future__ import annotations

import math
from dataclasses import replace

from celosia.data.io.statement import quote_name
from celosia.gateway.databases import literal
from celosia.gateway.metadata import ColumnFacts
from celosia.gateway.sql.values import DOUBLE, LONGEST_TEXT, TINY, WHOLE, Dialect, Value, number

FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"
LARGEST_WHOLE = 2**63 - 1
LARGEST_DOUBLE = 1e300


def column(physical: str, facts: ColumnFacts, inner: str, dialect: Dialect) -> tuple[str, Value]:
    """Return the SQL that reads a column as declared, and its value under the ``inner`` name."""
    value = Value(inner, "null", columns=frozenset([inner]), facts=facts)
    if facts.type == "boolean":
        return _boolean(physical, dialect), replace(value, type="boolean")
    if facts.type == "date":
        return _date(physical, dialect), replace(value, type="date")
    if facts.type == "text":
        read = _read_text(physical, dialect)
        if facts.categories is not None:
            listed = ", ".join(literal(str(category)) for category in facts.categories)
            read = f"CASE WHEN {read} IN ({listed}) THEN {read} END"
        return read, replace(value, type="text", stored=True)
    return _read_number(physical, facts, value, dialect)


def inner_name(index: int) -> str:
    """Name the index-th column inside the query; names of the query never get there."""
    return quote_name(f"c{index}")


def _boolean(physical: str, dialect: Dialect) -> str:
    if dialect != "sqlite":
        return physical
    word = f"LOWER(SUBSTR(CAST({physical} AS TEXT), 1, 6))"
    return f"CASE WHEN {word} IN ('1', '1.0', 'true') THEN TRUE WHEN {word} IN ('0', '0.0', 'false') THEN FALSE END"


def _date(physical: str, dialect: Dialect) -> str:
    """Return the SQL of days that Python and all engines know; infinity and other years than 1 to 9999 are missing."""
    if dialect == "sqlite":
        day = f"SUBSTR(CAST({physical} AS TEXT), 1, 10)"
        shape = "-".join(["[0-9]" * 4, "[0-9]" * 2, "[0-9]" * 2])
        return f"CASE WHEN {day} GLOB '{shape}' AND DATE({day}) = {day} AND {day} >= '{FIRST_DAY}' THEN {day} END"
    day = f"{'TRY_CAST' if dialect == 'duckdb' else 'CAST'}({physical} AS DATE)"
    inside = f"{day} BETWEEN CAST('{FIRST_DAY}' AS DATE) AND CAST('{LAST_DAY}' AS DATE)"
    read = f"CASE WHEN {inside} THEN {day} END"
    if dialect == "duckdb":
        return read
    # the day after the last one is a time of any type, and what lies beyond may have no day in a time zone
    return f"CASE WHEN {physical} >= '{FIRST_DAY}' AND {physical} < '10000-01-01' THEN {read} END"


def _read_text(physical: str, dialect: Dialect) -> str:
    """Return the SQL of a text without its collation, which may equate texts: a row could decide how both are shown."""
    if dialect == "sqlite":
        return f"CASE WHEN TYPEOF({physical}) <> 'blob' THEN SUBSTR(CAST({physical} AS TEXT), 1, {LONGEST_TEXT}) END"
    if dialect == "duckdb":
        return f"LEFT(TRY_CAST({physical} AS VARCHAR) COLLATE C, {LONGEST_TEXT})"
    return f'LEFT(CAST({physical} AS TEXT) COLLATE "default", {LONGEST_TEXT})'


def _read_number(physical: str, facts: ColumnFacts, value: Value, dialect: Dialect) -> tuple[str, Value]:
    whole = facts.type == "integer"
    target = WHOLE[dialect] if whole else DOUBLE[dialect]
    # What is compared with the bounds: neither a decimal nor an unsigned number of DuckDB compares with all others, and
    # a column of SQLite holds anything. PostgreSQL compares every number, but converts few of the largest.
    seen = {"duckdb": f"TRY_CAST({physical} AS DOUBLE)", "sqlite": f"CAST({physical} AS {target})"}.get(
        dialect, physical
    )
    read = f"{'TRY_CAST' if dialect == 'duckdb' else 'CAST'}({physical} AS {target})"
    if facts.categories is not None:
        listed = [int(category) for category in facts.categories]
        value = replace(value, type="number", low=min(listed), high=max(listed), whole=True)
        return f"CASE WHEN {seen} IN ({', '.join(map(str, listed))}) THEN {read} END", value
    if facts.bounds is None:
        value = replace(value, type="number", whole=whole)
        if not whole:
            return _clamp(seen, read, -LARGEST_DOUBLE, LARGEST_DOUBLE, target), value
        if dialect != "postgres":
            return read, value
        return f"CASE WHEN {seen} > {-LARGEST_WHOLE} AND {seen} < {LARGEST_WHOLE} THEN {read} END", value
    low, high = facts.bounds
    if whole:
        low, high = math.ceil(low), math.floor(high)
    else:  # what lies between 0 and the smallest number is read as 0, so an interval that begins there holds 0
        low, high = (0.0 if 0 < abs(bound) < TINY else bound for bound in (low, high))
    return _clamp(seen, read, low, high, target), replace(value, type="number", low=low, high=high, whole=whole)


def _clamp(seen: str, read: str, low: float, high: float, target: str) -> str:
    """Return the SQL of a number moved to the nearest bound; NaN, above all numbers, goes to the upper one."""
    small = f" WHEN {seen} > {-TINY} AND {seen} < {TINY} THEN {number(0, target)}" if target in DOUBLE.values() else ""
    return (
        f"CASE WHEN {seen} IS NULL THEN NULL WHEN {seen} <= {number(low)} THEN {number(low, target)}"
        f" WHEN {seen} >= {number(high)} THEN {number(high, target)}{small} ELSE {read} END"
    )
