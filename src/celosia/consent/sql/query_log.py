"""Statistics of a log of past queries: which tables and fields are asked for, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from celosia.consent.sql.elements import ANY, Columns
from celosia.consent.sql.lineage import elements
from celosia.errors import DataError


@dataclass(frozen=True)
class LogFacts:
    """How many queries use each table and each field; ``unread`` are those that could not be read."""

    queries: int
    unread: int
    tables: tuple[tuple[str, int], ...]
    fields: tuple[tuple[str, int], ...]
    together: tuple[tuple[str, str, int], ...]
    """Pairs of output fields that are published together, most frequent first."""

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "queries": self.queries,
            "unread": self.unread,
            "tables": [{"table": t, "queries": n} for t, n in self.tables],
            "fields": [{"field": f, "queries": n} for f, n in self.fields],
            "together": [{"one": a, "other": b, "queries": n} for a, b, n in self.together],
        }


def log_facts(queries: Iterable[str], dialect: str = "postgres", columns: Columns | None = None) -> LogFacts:
    """Count tables and fields over a log; a query that cannot be read is counted, not repeated.

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
    together = tuple((a, b, n) for (a, b), n in _ranked(pairs)[:50])
    return LogFacts(total, unread, tuple(_ranked(tables)), tuple(_ranked(fields)), together)


def split_log(text: str) -> list[str]:
    """The queries of a text: separated by semicolons at the end of a line, or by empty lines."""
    import re

    return [part.strip() for part in re.split(r";\s*(?:\n|$)|\n\s*\n", text) if part.strip()]


def _ranked(counter: Counter[Any]) -> list[tuple[Any, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], str(item[0])))
