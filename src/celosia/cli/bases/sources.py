"""Input of the commands: a file, a database or a policy, with the roles of the options."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celosia.data.schema import Schema
from celosia.data.spill import spill_folder
from celosia.release.policy.policy import Policy
from celosia.table import Table, read

STANDARD_INPUT = "-"


def open_source(
    source: str,
    roles: Mapping[str, Any],
    *,
    query: str | None = None,
    engine: str | None = None,
    memory: str | None = None,
    header: bool | None = None,
) -> tuple[Table, Policy | None]:
    """Return the table of a file, a database or a policy. Roles on the command line override those of a policy."""
    given = {name: value for name, value in roles.items() if value}
    if source.endswith(".toml"):
        policy = Policy.load(source)
        return policy.table(Schema.of(**given) if given else None, engine, memory), policy
    options: dict[str, Any] = {} if header is None else {"header": header}
    if source == STANDARD_INPUT:
        source = str(_standard_input())
    schema = Schema.of(**given) if given else None
    return read(source, schema, engine=engine, memory=memory, query=query, **options), None


def _standard_input() -> Path:
    """Copy standard input to a file in the private folder of this process; the type follows from its first bytes."""
    content = sys.stdin.buffer.read()
    start = content.lstrip()[:4]
    suffix = ".parquet" if start == b"PAR1" else {b"[": ".json", b"{": ".jsonl"}.get(start[:1], ".csv")
    path = spill_folder() / f"standard-input{suffix}"
    path.write_bytes(content)
    return path


def guess_schema(table: Table) -> Schema:
    """Return roles proposed from names and content, for a file without a schema."""
    from celosia.proposals import schema_of, suggest

    return schema_of(suggest(table))
