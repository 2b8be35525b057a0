"""Aggregate SQL of a plan, for DuckDB, SQLite and PostgreSQL: our own text, in four layers, nothing of the
analyst's.
"""

from __future__ import annotations

from celosia.gateway.databases import literal
from celosia.gateway.sql.plan import Number, Plan
from celosia.gateway.sql.values import DOUBLE, WHOLE, Dialect, Value, number


def aggregate(plan: Plan, dialect: Dialect) -> str:
    """The query for all numbers but quantiles: one row per cell, the keys first."""
    plain = [x for x in plan.numbers if x.kind != "quantile"]
    columns = [_aggregate(x, i, dialect) for i, x in enumerate(plain)]
    return _grouped(plan, dialect, plain, columns, ())


def histogram(plan: Plan, wanted: Number, dialect: Dialect) -> str:
    """The query behind one quantile: rows per cell and step of the grid."""
    distance = f"(CAST(x0 AS {DOUBLE[dialect]}) - {_double(wanted.centre, dialect)})"
    bucket = f"FLOOR({distance} / {_double(wanted.unit, dialect)})"
    top = wanted.high - wanted.low if wanted.unit == 1 and wanted.value and wanted.value.whole else wanted.high
    step = _clamped(bucket, 0, top, dialect)
    return _grouped(plan, dialect, [wanted], [f"{step} AS b", "COUNT(*)"], ("b",), "x0 IS NOT NULL")


def domain(plan: Plan, dialect: Dialect) -> str:
    """The query that lists all cells; it reads no table, only the declared values."""
    assert plan.domains is not None
    tables = []
    for inner, values in plan.domains:
        listed = ", ".join(f"({_constant(value, dialect)})" for value in (*values, None))
        tables.append(f"{_unquoted(inner)}_d({inner}) AS (VALUES {listed})")
    keys = ", ".join(f"{key.sql} AS g{i}" for i, key in enumerate(plan.keys))
    crossed = " CROSS JOIN ".join(f"{_unquoted(inner)}_d" for inner, _ in plan.domains)
    complete = " AND ".join(f"g{i} IS NOT NULL" for i in range(len(plan.keys)))
    listed = ", ".join(f"g{i}" for i in range(len(plan.keys)))
    inside = f"SELECT {keys}" + (f" FROM {crossed}" if plan.domains else "")  # noqa: S608
    opening = f"WITH {', '.join(tables)} " if tables else ""
    return f"{opening}SELECT DISTINCT {listed} FROM ({inside}) AS k WHERE {complete} ORDER BY {listed}"  # noqa: S608


def _grouped(
    plan: Plan,
    dialect: Dialect,
    numbers: list[Number],
    columns: list[str],
    more_keys: tuple[str, ...],
    where: str = "",
) -> str:
    inner = _rows(plan, dialect, numbers)
    conditions = [f"r <= {plan.rows}"] if plan.truncated else []
    if where:
        conditions.append(where)
    keys = [f"g{i}" for i in range(len(plan.keys))]
    sql = f"SELECT {', '.join([*keys, *columns])} FROM ({inner}) AS q"  # noqa: S608
    if conditions:
        sql += f" WHERE {' AND '.join(conditions)}"
    grouped = [*keys, *more_keys]
    return sql + (f" GROUP BY {', '.join(grouped)}" if grouped else "")


def _rows(plan: Plan, dialect: Dialect, numbers: list[Number]) -> str:
    """Layers one to three: columns as declared; keys and values; at most so many rows a person."""
    reads = [f"{sql} AS {inner}" for sql, inner in plan.reads]
    if plan.person:
        reads.append(f"{plan.person} AS p")
    tables = "".join(f" {s.join} {s.name} AS {s.alias} ON {s.on}" for s in plan.sources[1:])
    base = f"SELECT {', '.join(reads) or '1 AS one'} FROM {plan.sources[0].name} AS {plan.sources[0].alias}{tables}"  # noqa: S608
    if dialect == "sqlite":  # it would read a value anew, however long, each time the question names it
        base += " LIMIT -1"
    chosen = [f"{key.sql} AS g{i}" for i, key in enumerate(plan.keys)]
    chosen += [f"{_value(x, dialect)} AS x{i}" for i, x in enumerate(numbers) if x.value is not None]
    if plan.person:
        chosen.append("p")
    conditions = [plan.where] if plan.where else []
    conditions += [f"({key.sql}) IS NOT NULL" for key in plan.keys]
    if plan.person:
        conditions.append("p IS NOT NULL")
    sql = f"SELECT {', '.join(chosen) or '1 AS one'} FROM ({base}) AS s"  # noqa: S608
    if conditions:
        sql += f" WHERE {' AND '.join(conditions)}"
    if plan.truncated:
        # Which of a person's rows are kept is left to chance: any choice that looks at that person only is private.
        sql = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY p ORDER BY RANDOM()) AS r FROM ({sql}) AS w"  # noqa: S608
    return sql


def _value(wanted: Number, dialect: Dialect) -> str:
    value = wanted.value
    assert value is not None
    if wanted.kind in ("present", "distinct", "quantile"):
        return value.sql
    if wanted.kind == "sum" and wanted.unit == 1 and value.whole and float(wanted.centre).is_integer():
        return value.sql if wanted.centre == 0 else f"({value.sql} - {number(wanted.centre, WHOLE[dialect])})"
    distance = f"(CAST({value.sql} AS {DOUBLE[dialect]}) - {_double(wanted.centre, dialect)})"
    if wanted.kind == "square":
        distance = f"({distance} * {distance})"
    return f"FLOOR({distance} / {_double(wanted.unit, dialect)} + {_double(0.5, dialect)})"


def _aggregate(wanted: Number, index: int, dialect: Dialect) -> str:
    if wanted.kind == "rows":
        return "COUNT(*)"
    if wanted.kind == "persons":
        return "COUNT(DISTINCT p)"
    if wanted.kind == "present":
        return f"COUNT(x{index})"
    if wanted.kind == "distinct":
        return f"COUNT(DISTINCT x{index})"
    # The clamp that the stated sensitivity rests on; everything before it only serves the meaning of the number.
    return f"COALESCE(SUM({_clamped(f'x{index}', wanted.low, wanted.high, dialect)}), 0)"


def _clamped(x: str, low: int, high: int, dialect: Dialect) -> str:
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


def _unquoted(inner: str) -> str:
    return inner.strip('"')


def read_back(value: Value, stored: object) -> object:
    """A key as the answer shows it: SQLite has no truth values."""
    return bool(stored) if value.type == "boolean" and stored is not None else stored
