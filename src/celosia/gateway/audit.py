"""Find differencing attacks in a log of plain SQL: pairs of questions whose row sets differ by one person.

For the owner of the data: it reads the data exactly and spends nothing, so its findings must not reach analysts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

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
    """Two questions of the log (counted from 0) and by how many persons their row sets differ."""

    first: int
    second: int
    persons: int


@dataclass(frozen=True)
class Finding:
    """What the audit found: close pairs, questions about few persons, and what could not be examined and why."""

    pairs: tuple[Pair, ...]
    small: tuple[tuple[int, int], ...]
    skipped: tuple[tuple[int, str], ...]


@dataclass
class _Asked:
    place: int
    table: str
    condition: str
    scope: Scope


def audit(log: Sequence[str], facts: DatasetFacts, database: Database, *, closer_than: int = 2) -> Finding:
    """Compare all questions of a log about the same table.

    One scan per table: each person gets the pattern of the questions whose rows include them; the sizes of all
    symmetric
    differences follow from the counts of the patterns.
    """
    asked, skipped = [], []
    for place, sql in enumerate(log):
        try:
            asked.append(_read(place, sql, facts, database))
        except CelosiaError as problem:
            skipped.append((place, str(problem)))
    pairs: list[Pair] = []
    small: list[tuple[int, int]] = []
    for table in sorted({question.table for question in asked}):
        same = [question for question in asked if question.table == table]
        if len(same) > BATCH:
            skipped += [(question.place, f"more than {BATCH} questions about one table") for question in same[BATCH:]]
            same = same[:BATCH]
        apart, sizes = _compare(same, database)
        for i, question in enumerate(same):
            if 0 < sizes[i] < closer_than:
                small.append((question.place, int(sizes[i])))
            near = [j for j in range(i) if 0 < apart[i][j] < closer_than]
            pairs.extend(Pair(same[j].place, question.place, int(apart[i][j])) for j in near)
    return Finding(tuple(sorted(pairs, key=lambda p: (p.persons, p.first))), tuple(small), tuple(skipped))


def _read(place: int, sql: str, facts: DatasetFacts, database: Database) -> _Asked:
    select: exp.Select = parse(sql)
    dialect = cast("Dialect", database.dialect)
    physical = {name: database.name(name, table) for name, table in facts.tables.items()}
    scope = Scope(facts, dialect, physical, all_rows=True)
    scope.read(select)
    where = select.args.get("where")
    rows = RowExpressions(scope.resolve, dialect)
    condition = rows.condition(where.this).sql if where is not None else "TRUE"
    tables = " ".join(f"{source.join} {source.name} {source.on}" for source in scope.sources)
    return _Asked(place, tables, condition, scope)


def _compare(same: list[_Asked], database: Database) -> tuple[list[list[int]], list[int]]:
    import numpy as np

    rows = database.rows(_patterns(same))
    bits = np.array([row[:-1] for row in rows], dtype=np.int64).reshape(len(rows), len(same))
    counts = np.array([row[-1] for row in rows], dtype=np.int64)
    both = bits.T @ (bits * counts[:, None])
    sizes = np.diag(both)
    differ: Any = sizes[:, None] + sizes[None, :] - 2 * both
    return differ.tolist(), sizes.tolist()


def _patterns(same: list[_Asked]) -> str:
    """One row per pattern of membership: a person belongs to a question when any of their rows does."""
    layers = []
    person = same[0].scope.person
    base = same[0].scope.sources
    tables = f"{base[0].name} AS {base[0].alias}"
    tables += "".join(f" {s.join} {s.name} AS {s.alias} ON {s.on}" for s in base[1:])
    # each question was compiled with its own inner names, so each reads its columns in a layer of its own
    bits = ", ".join(f"{_inlined(question)} AS b{i}" for i, question in enumerate(same))
    layers.append(f"SELECT {bits}{f', {person} AS p' if person else ''} FROM {tables}")  # noqa: S608
    names = [f"b{i}" for i in range(len(same))]
    if person:
        sums = ", ".join(f"MAX({name}) AS {name}" for name in names)
        layers.append(f"SELECT {sums} FROM ({layers[-1]}) AS r WHERE p IS NOT NULL GROUP BY p")  # noqa: S608
    listed = ", ".join(names)
    return f"SELECT {listed}, COUNT(*) FROM ({layers[-1]}) AS q GROUP BY {listed}"  # noqa: S608


def _inlined(question: _Asked) -> str:
    """The condition with the columns read in place; a text of the question may look like an inner name and stays."""
    reads = {inner: f"({sql})" for sql, inner in question.scope.reads}
    condition = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"", lambda token: reads.get(token[0], token[0]), question.condition)
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"
