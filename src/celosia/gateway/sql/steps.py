"""Parts of an expression that the database computes as columns: once each, for every row, whatever the row holds.

AND, OR, CASE and COALESCE stop early in every engine, so the time of a row would depend on its values. Their operands
are therefore columns of an inner query. So are arguments that would be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from celosia.data.io.statement import quote_name
from celosia.gateway.sql.parse import Refused
from celosia.gateway.sql.values import Value

Layer = tuple[tuple[str, str], ...]
"""SQL and name of the columns that are computed from the layers before."""
MOST_STEPS = 800
"""Columns of all layers; SQLite and PostgreSQL allow some 2 000 in one query."""
MOST_LAYERS = 20
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")


class Steps:
    """Collector of the columns to compute, each in the first layer that has what it reads."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._levels: dict[str, int] = {}

    def column(self, value: Value) -> Value:
        """Return a reference to a computed column with the value; columns and literals are returned unchanged."""
        if value.literal is not None or value.type == "null" or value.sql in {*value.columns, *self._levels}:
            return value
        if value.sql not in self._names:
            name = quote_name(f"e{len(self._names)}")
            level = 1 + max((self._levels.get(read, 0) for read in names(value.sql)), default=0)
            if level > MOST_LAYERS or len(self._names) == MOST_STEPS:
                raise Refused(
                    "the expressions have more than {limit} conditions and alternatives, or nest them deeper than "
                    "{limit2} levels. Ask a simpler query.",
                    limit=MOST_STEPS,
                    limit2=MOST_LAYERS,
                )
            self._names[value.sql], self._levels[name] = name, level
        return replace(value, sql=self._names[value.sql])

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All columns, from the first layer to the last."""
        listed = [(sql, name) for sql, name in self._names.items()]
        deepest = max(self._levels.values(), default=0)
        return tuple(
            tuple(step for step in listed if self._levels[step[1]] == level) for level in range(1, deepest + 1)
        )


def names(sql: str) -> set[str]:
    """Return the quoted names in an expression, not the texts that look like names."""
    return {token for token in _TOKEN.findall(sql) if token[0] == '"'}


def select_lists(layers: Iterable[Layer], wanted: Iterable[str]) -> list[list[str]]:
    """Return the select lists of the layers from which the ``wanted`` expressions can be computed, first layer first.

    >>> select_lists([(('"c0" > 1', '"e0"'), ('"c1" > 1', '"e1"'))], ['"e0" AND "c2"'])
    [['"c2"', '"c0" > 1 AS "e0"']]
    """
    needed = set().union(*map(names, wanted))
    lists = []
    for layer in reversed(tuple(layers)):
        own = [(sql, name) for sql, name in layer if name in needed]
        needed -= {name for _, name in own}
        lists.append([*sorted(needed), *(f"{sql} AS {name}" for sql, name in own)])
        needed = needed.union(*(names(sql) for sql, _ in own))
    return lists[::-1]
