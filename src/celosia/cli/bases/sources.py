"""What a command reads: a file, a database or a policy, with the roles of its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.data.schema import Schema
from celosia.release.policy.policy import Policy
from celosia.table import Table, read


def open_source(
    source: str,
    roles: Mapping[str, Any],
    *,
    query: str | None = None,
    engine: str | None = None,
    memory: str | None = None,
) -> tuple[Table, Policy | None]:
    """The table of a file, a database or a policy. Roles on the command line win over those of a policy."""
    given = {name: value for name, value in roles.items() if value}
    if source.endswith(".toml"):
        policy = Policy.load(source)
        return policy.table(Schema.of(**given) if given else None, engine, memory), policy
    return read(source, Schema.of(**given) if given else None, engine=engine, memory=memory, query=query), None


def guessed_schema(table: Table) -> Schema:
    """Roles proposed from names and content, for a look at a file that nobody has described."""
    from celosia.proposals import schema_of, suggest

    return schema_of(suggest(table))
