"""The policy that ``celosia init`` writes: every suggestion with its reason beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from celosia.data.io.sources import is_url
from celosia.data.schema import Kind, Role
from celosia.proposals.columns import ColumnSuggestion

HEADINGS = {
    Role.IDENTIFIER: ("identifiers", "name a person by themselves; they are left out of the release"),
    Role.QUASI: ("quasi", "others may know them; together they may single a person out"),
    Role.SENSITIVE: ("sensitive", "nobody must be able to infer them"),
    Role.INSENSITIVE: ("insensitive", "released as they are"),
}
SINGLES = {
    Role.WEIGHT: "weight",
    Role.HOUSEHOLD: "household",
    Role.STRATUM: "stratum",
    Role.PERSON: "person",
}


def policy_text(
    suggestions: list[ColumnSuggestion],
    path: str | Path,
    *,
    output: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    k: int = 5,
) -> str:
    """Write the suggestions as a commented policy in TOML.

    ``path`` is the input, a file or a database URL; ``options`` are those of its reader; ``output`` where the release
    shall go (beside the input unless given).

    >>> import polars as pl, tomllib
    >>> from celosia.proposals import suggest
    >>> table = pl.DataFrame({"name": ["A", "B", "C"], "age": [30, 41, 41], "disease": ["x", "y", "x"]})
    >>> tomllib.loads(policy_text(suggest(table), "people.csv"))["schema"]["quasi"]
    ['age']
    """
    lines = [
        "# A policy suggested from the names and the content of the columns.",
        "# A suggestion is not a decision: read the reason of each column and change what is wrong.",
        "",
        *_input(path, options or {}),
        "",
        *_schema(suggestions),
        *_facts(suggestions),
        "",
        *_requirements(suggestions, k),
        *_steps(suggestions),
        "[measure]",
        'risks = ["prosecutor"]',
        'losses = ["discernibility", "altered-records"]',
        "",
        "[output]",
        f"path = {toml(str(output or _beside(path)))}",
        "",
    ]
    return "\n".join(lines)


def toml(value: Any) -> str:
    """Write a plain value in TOML, tables inline.

    >>> toml({"use": "intervals", "width": 5, "breaks": [1, 2.5], "marital-status": True})
    '{ use = "intervals", width = 5, breaks = [1, 2.5], marital-status = true }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    # JSON's escapes are TOML's, apart from DEL, which TOML does not allow bare.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    """Write a key, quoted when it needs to be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)


def _comment(text: str) -> str:
    """Write a reason as a comment: one line, no control characters."""
    return "# " + re.sub(r"[\x00-\x1f\x7f]+", " ", text)


def _input(path: str | Path, options: Mapping[str, Any]) -> list[str]:
    """Return the table of the input."""
    kind = "url" if is_url(str(path)) else "path"
    return ["[input]", f"{kind} = {toml(str(path))}", *(f"{_key(key)} = {toml(v)}" for key, v in options.items())]


def _schema(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return the roles, one column per line with its reason."""
    lines = ["[schema]"]
    for role, (key, meaning) in HEADINGS.items():
        members = [s for s in suggestions if s.role == role]
        if not members:
            continue
        lines += ["", f"# {meaning}", f"{key} = ["]
        lines += [f"  {toml(s.name)},  {_comment(_numbered(s))}" for s in members]
        lines.append("]")
    for role, key in SINGLES.items():
        for s in [s for s in suggestions if s.role == role][:1]:
            lines += ["", _comment(s.reason), f"{key} = {toml(s.name)}"]
    lines += ["", '# a column without a role: "insensitive" leaves it out of the release, "error" refuses it']
    return [*lines, 'rest = "insensitive"', ""]


def _numbered(s: ColumnSuggestion) -> str:
    """Return the reason with the number of the HIPAA type."""
    return f"{s.reason} (Safe Harbor type {s.hipaa})" if s.hipaa and "Safe Harbor" not in s.reason else s.reason


def _facts(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return kinds, bounds and hierarchies."""
    used = [s for s in suggestions if s.role in (Role.QUASI, Role.SENSITIVE)]
    lines = _table("schema.kinds", [(s.name, str(s.kind), "") for s in used])
    lines += _table("schema.bounds", [(s.name, list(s.bounds), "") for s in used if s.bounds])
    return lines + _table(
        "schema.hierarchies", [(s.name, s.hierarchy, s.hierarchy_reason) for s in used if s.hierarchy]
    )


def _table(name: str, rows: Iterable[tuple[str, Any, str]]) -> list[str]:
    """Return a TOML table with the reasons as comments, or nothing when it is empty."""
    entries = [f"{_key(key)} = {toml(value)}{'  ' + _comment(why) if why else ''}" for key, value, why in rows]
    return [f"[{name}]", *entries, ""] if entries else []


def _requirements(suggestions: list[ColumnSuggestion], k: int) -> list[str]:
    """Return what the release must hold; what is only offered is commented out."""
    if not any(s.role == Role.QUASI for s in suggestions):
        return []
    preset = any(s.steps for s in suggestions)
    lines = ["# every record shares its quasi-identifiers with at least k - 1 others"]
    if preset:
        lines[0] += "; Safe Harbor does not ask for it: take the signs away to require it"
    lines += _offered(["[[require]]", 'use = "k-anonymity"', f"k = {k}"], offered=preset)
    for s in suggestions:
        if s.role == Role.SENSITIVE and s.kind != Kind.NUMERIC:
            lines.append(
                "# every class has at least two values of the sensitive column; take the signs away to require it"
            )
            column = f"column = {toml(s.name)}"
            lines += _offered(["[[require]]", 'use = "l-diversity"', "l = 2", column], offered=True)
    return lines


def _offered(lines: list[str], *, offered: bool) -> list[str]:
    """Return lines, commented out when they are only offered, with a blank one after them."""
    return [*(f"# {line}" if offered else line for line in lines), ""]


def _steps(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return the steps: what a preset wants, or generalise until the requirements hold.

    Identifiers and the person column stay until the end: classes count persons; a release leaves them out by itself.
    """
    lines: list[str] = []
    for s in suggestions:
        for step in s.steps:
            lines += [_comment(s.reason), "[[step]]", *(f"{_key(key)} = {toml(v)}" for key, v in step.items()), ""]
    preset = any(s.steps for s in suggestions)
    if not preset and any(s.role == Role.QUASI for s in suggestions):
        lines += ["# coarser values until the requirement holds; at most 5 % of the records are suppressed", "[[step]]"]
        lines += ['use = "generalise"', "suppress = 0.05", ""]
    return lines


def _beside(path: str | Path) -> str:
    """Return the name of the release beside the input."""
    if is_url(str(path)):
        return "release.csv"
    place = Path(path)
    kept = (
        place.suffix
        if place.suffix.lower() in (".csv", ".tsv", ".parquet", ".sav", ".dta", ".xlsx", ".ods")
        else ".csv"
    )
    return str(place.with_name(f"{place.name.split('.')[0]}.safe{kept}"))
