"""The statements with their elements as a person reads them, and how those are written.

``t.a`` is a field, ``t.a=1`` a field that is fixed to a constant, ``[t]`` a table of which no field is used. After
``->`` come the columns of the result in their order: ``name:t.a+u.b`` is made of two fields, ``name`` of none, and
``name:t.a~u.i`` was looked up by ``u.i`` (not checked without ``~``; nothing behind ``~`` means none). What holds a
blank is quoted as in a shell. ``any`` statements mean the same in every dialect of ``PORTABLE``.

A field is fixed when each row of the result, or of a branch of a union, has one of the constants listed for it; in
rows that an outer join fills up only if the table is there. Without a description of the tables a bare name belongs
to every table of its query that may have it.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PORTABLE = ("postgres", "oracle", "mysql", "sqlite", "tsql", "duckdb", "snowflake")
DIRECTORY = Path(__file__).parent / "statements"
Fields = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Statement:
    subject: str
    dialect: str
    sql: str
    expected: str
    columns: Mapping[str, Sequence[str]] | None

    @property
    def dialects(self) -> tuple[str, ...]:
        return PORTABLE if self.dialect == "any" else (self.dialect,)

    @property
    def text(self) -> str:
        """The statement without regard to blanks and case."""
        return " ".join(self.sql.split()).casefold()


@dataclass(frozen=True)
class Expected:
    tables: frozenset[str]
    fields: Fields
    constants: frozenset[tuple[str, str, str]]
    outputs: tuple[tuple[str, Fields], ...]
    linked: tuple[Fields | None, ...]


def expected(text: str) -> Expected:
    left, _, right = text.partition("->")
    tables, fields, constants = set(), set(), set()
    for word in shlex.split(left):
        if word.startswith("["):
            tables.add(word.strip("[]"))
            continue
        name, fixed, literal = word.partition("=")
        table, _, field = name.rpartition(".")
        tables.add(table)
        fields.add((table, field))
        if fixed:
            constants.add((table, field, literal))
    outputs, linked = [], []
    for word in shlex.split(right):
        name, _, made_of = word.partition(":")
        direct, looked_up, by = made_of.partition("~")
        outputs.append((name, _fields(direct)))
        linked.append(_fields(by) if looked_up else None)
    return Expected(frozenset(tables), frozenset(fields), frozenset(constants), tuple(outputs), tuple(linked))


def _fields(text: str) -> Fields:
    return frozenset((t, f) for t, _, f in (one.rpartition(".") for one in text.split("+") if one))


def statements() -> list[Statement]:
    found = []
    for path in sorted(DIRECTORY.glob("*.toml")):
        if path.stem != "refused":
            read = tomllib.loads(path.read_text(encoding="utf-8"))
            found += [Statement(path.stem, *one, read.get("columns")) for one in read["cases"]]
    return found


def refused() -> list[tuple[str, str, str]]:
    read = tomllib.loads((DIRECTORY / "refused.toml").read_text(encoding="utf-8"))
    return [(dialect, sql, word) for dialect, sql, word in read["cases"]]
