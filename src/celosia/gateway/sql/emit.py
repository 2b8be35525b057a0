"""Aggregate SQL of a plan for DuckDB, SQLite and PostgreSQL, in layers; no text of the analyst is in it."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.data.io.statement import quote_name
from celosia.gateway.databases import literal
from celosia.gateway.sql.after import Scalar
from celosia.gateway.sql.plan import Number, Plan
from celosia.gateway.sql.scope import bound_rows
from celosia.gateway.sql.steps import select_lists
from celosia.gateway.sql.values import DOUBLE, WHOLE, Dialect, Value, number

_BARRIER: dict[Dialect, str] = {"sqlite": " LIMIT -1", "postgres": " OFFSET 0", "duckdb": ""}
"""Keeps an engine from moving a condition below the values of a row; DuckDB has a setting, made when it is opened."""


def aggregate(plan: Plan, dialect: Dialect) -> str:
    """Return the query for all numbers but quantiles: one row per cell, the keys first."""
    plain = [x for x in plan.numbers if x.kind != "quantile"]
    columns = [_aggregate(x, i, dialect) for i, x in enumerate(plain)]
    return _aggregate_query(plan, dialect, plain, columns, ())


def histogram(plan: Plan, wanted: Number, dialect: Dialect) -> str:
    """Return the query behind one quantile: rows per cell and step of the grid."""
    distance = f"(CAST(x0 AS {DOUBLE[dialect]}) - {_double(wanted.centre, dialect)})"
    bucket = f"FLOOR({distance} / {_double(wanted.unit, dialect)})"
    top = wanted.high - wanted.low if wanted.unit == 1 and wanted.value and wanted.value.whole else wanted.high
    step = _clamp(bucket, 0, top, dialect)
    return _aggregate_query(plan, dialect, [wanted], [f"{step} AS b", "COUNT(*)"], ("b",))


def domain(plan: Plan, dialect: Dialect) -> str:
    """Return the query that lists all cells; it reads no table, only the declared values."""
    assert plan.domains is not None
    tables = []
    for inner, values in plan.domains:
        listed = ", ".join(f"({_constant(value, dialect)})" for value in (*values, None))
        tables.append(f"{_unquote(inner)}_d({inner}) AS (VALUES {listed})")
    keys = ", ".join(f"{key.sql} AS g{i}" for i, key in enumerate(plan.keys))
    crossed = " CROSS JOIN ".join(f"{_unquote(inner)}_d" for inner, _ in plan.domains)
    base = f"SELECT * FROM {crossed}" if plan.domains else "SELECT 1 AS one"  # noqa: S608
    layers, last = _compute_steps(plan, dialect, base, [key.sql for key in plan.keys])
    complete = " AND ".join(f"g{i} IS NOT NULL" for i in range(len(plan.keys)))
    listed = ", ".join(f"g{i}" for i in range(len(plan.keys)))
    inside, opening = f"SELECT {keys} FROM {last}", f"WITH {', '.join([*tables, *layers])}"  # noqa: S608
    return f"{opening} SELECT DISTINCT {listed} FROM ({inside}) AS k WHERE {complete} ORDER BY {listed}"  # noqa: S608


def _aggregate_query(
    plan: Plan,
    dialect: Dialect,
    numbers: list[Number],
    columns: list[str],
    more_keys: tuple[str, ...],
) -> str:
    layers, inner = _rows(plan, dialect, numbers)
    keys = [f"g{i}" for i in range(len(plan.keys))]
    sql = f"WITH {', '.join(layers)} SELECT {', '.join([*keys, *columns])} FROM ({inner}) AS q"  # noqa: S608
    group = [*(_key_hashes(plan, numbers, keys) if dialect == "postgres" else []), *keys, *more_keys]
    return sql + (f" GROUP BY {', '.join(group)}" if group else "")


def _compute_steps(
    plan: Plan, dialect: Dialect, base: str, wanted: Iterable[str], *passed: str
) -> tuple[list[str], str]:
    """Return the WITH clauses that compute the steps of ``wanted`` from ``base``, and the name of the last one."""
    hint = "" if dialect == "sqlite" else "NOT MATERIALIZED "
    clauses = [f"{_layer(0)} AS {hint}({base})"]
    for listed in select_lists(plan.steps, wanted):
        columns = ", ".join([*passed, *listed]) or "1 AS one"
        clause = f"SELECT {columns} FROM {_layer(len(clauses) - 1)}{_BARRIER[dialect]}"  # noqa: S608
        clauses.append(f"{_layer(len(clauses))} AS {hint}({clause})")
    return clauses, _layer(len(clauses) - 1)


def _layer(index: int) -> str:
    return quote_name(f"celosia layer {index}")


def _rows(plan: Plan, dialect: Dialect, numbers: list[Number]) -> tuple[list[str], str]:
    """Return WITH clauses of declared columns and steps, and the query of keys and values that reads them.

    A row that does not meet the condition stays, with NULL in all columns: aggregates skip it, its group has no key.
    Were it removed, the time would show whether any row meets the condition, because the first row that reaches an
    aggregate costs much more than the others (DuckDB allocates a hash table: 2 ms for four COUNT(DISTINCT ...)).
    """
    reads = [f"{sql} AS {inner}" for sql, inner in plan.reads]
    if plan.person:
        reads.append(f"{plan.person} AS p")
    tables = "".join(f" {s.join} {s.name} AS {s.alias} ON {s.on}" for s in plan.sources[1:])
    base = f"SELECT {', '.join(reads) or '1 AS one'} FROM {plan.sources[0].name} AS {plan.sources[0].alias}{tables}"  # noqa: S608
    if plan.truncated and tables:  # one table alone is bounded already
        base = f"SELECT * FROM {bound_rows(f'({base}) AS j', 'p', plan.rows)} AS b"  # noqa: S608
    if dialect == "sqlite":  # otherwise it reads a value again, however long, each time the query names it
        base += " LIMIT -1"
    names = [f"g{i}" for i in range(len(plan.keys))]
    chosen = [f"{key.sql} AS {name}" for key, name in zip(plan.keys, names, strict=True)]
    conditions = [f"{name} IS NOT NULL" for name in names]
    for i, x in enumerate(numbers):
        if x.value is not None:
            chosen.append(f"{_value(x, dialect)} AS x{i}")
            names.append(f"x{i}")
    if plan.person:
        chosen.append("p")
        names.append("p")
        conditions.append("p IS NOT NULL")
    if plan.where:
        chosen.append(f"COALESCE({plan.where}, FALSE) AS w")
        conditions.append("w")
    # All values of a row are computed before its condition is used: the time does not depend on who meets it.
    wanted = [plan.where, *(key.sql for key in plan.keys), *(x.value.sql for x in numbers if x.value)]
    layers, last = _compute_steps(plan, dialect, base, wanted, *(["p"] if plan.person else []))
    every = f"SELECT {', '.join(chosen) or '1 AS one'} FROM {last}{_BARRIER[dialect]}"  # noqa: S608
    met = " AND ".join(conditions) or "TRUE"
    listed = ", ".join(
        f"CASE WHEN {met} THEN {value} END AS {name}" for value, name in [("1", "k"), *zip(names, names, strict=True)]
    )
    return layers, f"SELECT {listed} FROM ({every}) AS e"  # noqa: S608


def _value(wanted: Number, dialect: Dialect) -> str:
    value = wanted.value
    assert value is not None
    if wanted.kind == "present":  # the value itself may be a long text, which a sort would carry
        return f"CASE WHEN {value.sql} IS NOT NULL THEN 1 END"
    if wanted.kind == "distinct" and value.type == "text" and dialect == "postgres":
        return _hash(value.sql)
    if wanted.kind in ("distinct", "quantile"):
        return value.sql
    if wanted.kind == "sum" and wanted.unit == 1 and value.whole and float(wanted.centre).is_integer():
        return value.sql if wanted.centre == 0 else f"({value.sql} - {number(wanted.centre, WHOLE[dialect])})"
    distance = f"(CAST({value.sql} AS {DOUBLE[dialect]}) - {_double(wanted.centre, dialect)})"
    if wanted.kind == "square":
        distance = f"({distance} * {distance})"
    return f"FLOOR({distance} / {_double(wanted.unit, dialect)} + {_double(0.5, dialect)})"


def _key_hashes(plan: Plan, numbers: list[Number], keys: list[str]) -> list[str]:
    """Return hashes of the texts among the keys where PostgreSQL sorts: its order of texts takes long to compute."""
    if not any(number.kind in ("distinct", "persons") for number in numbers):
        return []
    return [_hash(name) for key, name in zip(plan.keys, keys, strict=True) if key.type == "text"]


def _hash(text: str) -> str:
    """Return the SQL of a hash of 64 bits, which PostgreSQL sorts in the time of a number."""
    return f'hashtextextended({text} COLLATE "C", 0)'


def _aggregate(wanted: Number, index: int, dialect: Dialect) -> str:
    if wanted.kind == "rows":
        return "COUNT(k)"
    if wanted.kind == "persons":
        return "COUNT(DISTINCT p)"
    if wanted.kind == "present":
        return f"COUNT(x{index})"
    if wanted.kind == "distinct":
        return f"COUNT(DISTINCT x{index})"
    # The clamp that the stated sensitivity rests on; everything before it only serves the meaning of the number.
    return f"COALESCE(SUM({_clamp(f'x{index}', wanted.low, wanted.high, dialect)}), 0)"


def _clamp(x: str, low: int, high: int, dialect: Dialect) -> str:
    whole = WHOLE[dialect]
    least, most = number(low, whole), number(high, whole)
    return f"CASE WHEN {x} < {least} THEN {least} WHEN {x} > {most} THEN {most} ELSE CAST({x} AS {whole}) END"


def _double(value: float, dialect: Dialect) -> str:
    return number(value, DOUBLE[dialect])


def _constant(value: object, dialect: Dialect) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return number(value, WHOLE[dialect])
    return literal(str(value))


def _unquote(inner: str) -> str:
    return inner.strip('"')


def decode_key(value: Value, stored: Scalar) -> Scalar:
    """Return a key as answers have it: SQLite has no truth values."""
    return bool(stored) if value.type == "boolean" and stored is not None else stored
