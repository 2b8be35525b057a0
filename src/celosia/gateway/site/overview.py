"""Overview for the administrator: analysts, what each of them spent, and recent queries without their values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from celosia.errors import CelosiaError
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.view import Limit, PastQuery, limits, past_queries
from celosia.gateway.sql.parse import parse

MOST_RECENT = 50
HIDDEN = "…"


@dataclass(frozen=True)
class Holder:
    """An analyst: whether they have a key, what they spent over all time, and the shares that bind them."""

    name: str
    has_key: bool
    spent: float
    shares: tuple[Limit, ...]


def holders(gateway: Gateway, keys: Keys) -> tuple[Holder, ...]:
    """Return every analyst who has a key, ever spent something or has a share of their own."""
    spent, with_keys = gateway.ledger.spenders(gateway.facts.name), set(keys.names())
    named = {share.analyst for share in gateway.facts.shares} - {"*"}
    return tuple(
        Holder(name, name in with_keys, spent[name].loss if name in spent else 0.0, limits(gateway, name)[1:])
        for name in sorted({*spent, *with_keys, *named})
    )


def recent_queries(gateway: Gateway, most: int = MOST_RECENT) -> tuple[PastQuery, ...]:
    """Return the last queries of all analysts, without the values in them."""
    return tuple(replace(past, sql=without_values(past.sql, gateway.facts)) for past in past_queries(gateway, "", most))


def without_values(sql: str, facts: DatasetFacts) -> str:
    """Return a query with a mark in place of every value and of every name that is not declared.

    Analysts may write names of people into a comparison, into an alias or into a comment.

    >>> tables = {"t": {"columns": {"age": {"type": "integer"}}}}
    >>> facts = DatasetFacts.of({"name": "d", "epsilon": 1, "tables": tables})
    >>> without_values("SELECT COUNT(*) AS ana FROM t WHERE age = 41 -- Ana", facts)
    'SELECT COUNT(*) AS … FROM t WHERE age = …'
    """
    from sqlglot import exp

    declared = {name.lower() for name in facts.tables}
    declared |= {column.lower() for table in facts.tables.values() for column in table.columns}
    try:
        query = parse(sql)
    except CelosiaError:  # it was read before it was charged; an entry of another version may not be
        return HIDDEN
    for value in list(query.find_all(exp.Literal)):
        value.replace(exp.to_identifier(HIDDEN, quoted=False))
    for name in list(query.find_all(exp.Identifier)):
        if name.name.lower() not in declared:
            name.replace(exp.to_identifier(HIDDEN, quoted=False))
    return query.sql(dialect="duckdb", comments=False)
