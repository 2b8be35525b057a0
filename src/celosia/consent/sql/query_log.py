"""Statistics of a log of past queries: how often each table and field is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from celosia.consent.sql.elements import ANY, Columns
from celosia.consent.sql.lineage import elements
from celosia.errors import DataError

T = TypeVar("T")


@dataclass(frozen=True)
class LogFacts:
    """Number of queries that use each table and each field; ``unread`` counts those that could not be parsed."""

    queries: int
    unread: int
    tables: tuple[tuple[str, int], ...]
    fields: tuple[tuple[str, int], ...]
    together: tuple[tuple[str, str, int], ...]
    """Pairs of fields in the same result, most frequent first."""

    def data(self) -> dict[str, object]:
        """Return the statistics as plain data for JSON."""
        return {
            "queries": self.queries,
            "unread": self.unread,
            "tables": [{"table": t, "queries": n} for t, n in self.tables],
            "fields": [{"field": f, "queries": n} for f, n in self.fields],
            "together": [{"one": a, "other": b, "queries": n} for a, b, n in self.together],
        }


def log_facts(queries: Iterable[str], dialect: str = "postgres", columns: Columns | None = None) -> LogFacts:
    """Count tables and fields over a log; a query that cannot be parsed is counted as unread.

    >>> facts = log_facts(["SELECT a FROM t", "SELECT a, b FROM t WHERE c = 1", "DROP TABLE t"])
    >>> facts.tables, facts.fields[0], facts.unread
    ((('t', 2),), ('t.a', 2), 1)
    """
    tables: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    total = unread = 0
    for text in queries:
        total += 1
        try:
            touched = elements(text, dialect, columns)
        except DataError:
            unread += 1
            continue
        tables.update(touched.tables)
        fields.update(f"{t}.{f}" for t, f in touched.fields if f != ANY)
        shown = sorted({f"{t}.{f}" for output in touched.outputs for t, f in output.direct if f != ANY})
        pairs.update((a, b) for i, a in enumerate(shown) for b in shown[i + 1 :])
    together = tuple((a, b, n) for (a, b), n in _by_frequency(pairs)[:50])
    return LogFacts(total, unread, tuple(_by_frequency(tables)), tuple(_by_frequency(fields)), together)


def split_log(text: str) -> list[str]:
    """Split a text into queries, at semicolons that end a line and at empty lines."""
    import re

    return [part.strip() for part in re.split(r";\s*(?:\n|$)|\n\s*\n", text) if part.strip()]


def _by_frequency(counter: Counter[T]) -> list[tuple[T, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], str(item[0])))
