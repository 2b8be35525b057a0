"""Find differencing attacks in a log of plain SQL: pairs of queries whose row sets differ by one person.

For the data owner: it reads the data exactly and spends nothing, so its findings must not reach analysts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from celosia.errors import CelosiaError
from celosia.gateway.databases import Database
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql.expressions import RowExpressions
from celosia.gateway.sql.parse import parse
from celosia.gateway.sql.scope import Scope
from celosia.gateway.sql.values import Dialect

if TYPE_CHECKING:
    from sqlglot import exp

BATCH = 200


@dataclass(frozen=True)
class Pair:
    """Two queries of the log (counted from 0) and by how many persons their row sets differ."""

    first: int
    second: int
    persons: int


@dataclass(frozen=True)
class Finding:
    """Result of an audit: close pairs, queries about few persons, and statements that could not be read (and why)."""

    pairs: tuple[Pair, ...]
    small: tuple[tuple[int, int], ...]
    skipped: tuple[tuple[int, str], ...]


@dataclass
class _Query:
    place: int
    table: str
    condition: str
    scope: Scope


def audit(log: Sequence[str], facts: DatasetFacts, database: Database, *, closer_than: int = 2) -> Finding:
    """Compare all queries of a log about the same table.

    One scan per table: each person gets the pattern of the queries whose rows include them; the sizes of all symmetric
    differences follow from the counts of the patterns.
    """
    queries, skipped = [], []
    for place, sql in enumerate(log):
        try:
            queries.append(_read(place, sql, facts, database))
        except CelosiaError as problem:
            skipped.append((place, str(problem)))
    pairs: list[Pair] = []
    small: list[tuple[int, int]] = []
    for table in sorted({query.table for query in queries}):
        same = [query for query in queries if query.table == table]
        if len(same) > BATCH:
            skipped += [(query.place, f"more than {BATCH} queries about one table") for query in same[BATCH:]]
            same = same[:BATCH]
        differences, sizes = _compare(same, database)
        for i, query in enumerate(same):
            if 0 < sizes[i] < closer_than:
                small.append((query.place, int(sizes[i])))
            near = [j for j in range(i) if 0 < differences[i][j] < closer_than]
            pairs.extend(Pair(same[j].place, query.place, int(differences[i][j])) for j in near)
    return Finding(tuple(sorted(pairs, key=lambda p: (p.persons, p.first))), tuple(small), tuple(skipped))


def _read(place: int, sql: str, facts: DatasetFacts, database: Database) -> _Query:
    select: exp.Select = parse(sql)
    dialect = cast("Dialect", database.dialect)
    physical = {name: database.name(name, table) for name, table in facts.tables.items()}
    scope = Scope(facts, dialect, physical, all_rows=True)
    scope.read(select)
    where = select.args.get("where")
    rows = RowExpressions(scope.resolve, dialect)
    condition = rows.condition(where.this).sql if where is not None else "TRUE"
    tables = " ".join(f"{source.join} {source.name} {source.on}" for source in scope.sources)
    return _Query(place, tables, condition, scope)


def _compare(same: list[_Query], database: Database) -> tuple[list[list[int]], list[int]]:
    import numpy as np

    rows = database.rows(_patterns(same))
    bits = np.array([row[:-1] for row in rows], dtype=np.int64).reshape(len(rows), len(same))
    counts = np.array([row[-1] for row in rows], dtype=np.int64)
    both = bits.T @ (bits * counts[:, None])
    sizes = np.diag(both)
    differences = sizes[:, None] + sizes[None, :] - 2 * both
    return differences.tolist(), sizes.tolist()


def _patterns(same: list[_Query]) -> str:
    """Return the SQL that counts persons per pattern; a person belongs to a query when any of their rows does."""
    person = same[0].scope.person
    base = same[0].scope.sources
    tables = f"{base[0].name} AS {base[0].alias}"
    tables += "".join(f" {s.join} {s.name} AS {s.alias} ON {s.on}" for s in base[1:])
    # each query was compiled with its own inner names, so each reads its columns in a layer of its own
    bits = ", ".join(f"{_bit(query)} AS b{i}" for i, query in enumerate(same))
    inner = f"SELECT {bits}{f', {person} AS p' if person else ''} FROM {tables}"  # noqa: S608
    names = [f"b{i}" for i in range(len(same))]
    if person:
        sums = ", ".join(f"MAX({name}) AS {name}" for name in names)
        inner = f"SELECT {sums} FROM ({inner}) AS r WHERE p IS NOT NULL GROUP BY p"  # noqa: S608
    listed = ", ".join(names)
    return f"SELECT {listed}, COUNT(*) FROM ({inner}) AS q GROUP BY {listed}"  # noqa: S608


def _bit(query: _Query) -> str:
    """Return the condition as 0 or 1, reading columns in place; texts that look like an inner name stay as they are."""
    reads = {inner: f"({sql})" for sql, inner in query.scope.reads}
    condition = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"", lambda token: reads.get(token[0], token[0]), query.condition)
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"
