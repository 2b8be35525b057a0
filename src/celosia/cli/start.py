"""``celosia init``: a policy with suggestions."""

from __future__ import annotations

from pathlib import Path

from celosia.cli.show import console, print_json, print_rows
from celosia.data.io.atomic import replaced
from celosia.data.io.sources import is_url
from celosia.errors import OutputError
from celosia.proposals import policy_text, safe_harbor, suggest
from celosia.table import read


def write_policy(source: str, out: Path, *, query: str | None, preset: bool, overwrite: bool, json: bool) -> None:
    """Look at the data, write the policy and print each suggestion with its reason."""
    if out.exists() and not overwrite:
        raise OutputError(f"{out.name!r} is there already: choose another path with --out, or add --overwrite.")
    table = read(source, query=query)
    proposals = suggest(table.rows.frame if table.engine.name == "polars" else table.polars())
    if preset:
        proposals = safe_harbor(proposals)
    where = source if is_url(source) else _seen_from(Path(source), out.parent)
    with replaced(out) as draft:
        draft.write_text(policy_text(proposals, where, options={"query": query} if query else {}), encoding="utf-8")
    if json:
        columns = [{"column": p.name, "role": str(p.role), "kind": str(p.kind), "reason": p.reason} for p in proposals]
        print_json({"policy": str(out), "columns": columns})
        return
    rows = [(p.name, str(p.role), str(p.kind), p.reason) for p in proposals]
    print_rows("Suggestions", ("column", "role", "kind", "why"), rows)
    console().print(f"Written to {out}. Read every reason, change what is wrong, then: celosia run {out}")


def _seen_from(source: Path, directory: Path) -> str:
    """The path of the data as the policy will name it."""
    try:
        return str(source.resolve().relative_to(directory.resolve()))
    except ValueError:
        return str(source.resolve())
