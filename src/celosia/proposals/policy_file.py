"""The policy that ``celosia init`` writes: every suggestion with its reason beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from celosia.data.io.sources import is_url
from celosia.data.schema import Kind, Role
from celosia.proposals.columns import ColumnSuggestion, lattice_nodes

HEADINGS = {
    Role.IDENTIFIER: ("identifiers", "Identifiers name a person by themselves. They are left out of the release."),
    Role.QUASI: ("quasi", "Quasi-identifiers: others may know them; together they may single a person out."),
    Role.SENSITIVE: (
        "sensitive",
        "Sensitive: nobody must be able to infer them. They leave, as exact as the steps let them.",
    ),
    Role.INSENSITIVE: ("insensitive", "Insensitive: released as they are."),
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
    notes: Iterable[str] = (),
    k: int = 5,
) -> str:
    """Write the suggestions as a commented policy in TOML.

    ``path`` is the input, a file or a database URL; ``options`` are those of its reader, ``notes`` what the reader did;
    ``output`` where the release shall go (beside the input unless given).

    >>> import polars as pl, tomllib
    >>> from celosia.proposals import suggest
    >>> table = pl.DataFrame({"name": ["A", "B", "C"], "age": [30, 41, 41], "disease": ["x", "y", "x"]})
    >>> tomllib.loads(policy_text(suggest(table), "people.csv"))["schema"]["quasi"]
    ['age']
    """
    lines = [
        "# A policy suggested from the names and the content of the columns.",
        "# A suggestion is not a decision: read why each column has its role and what happens if that is wrong.",
        "",
        *_input(path, options or {}, notes),
        "",
        *_clean(suggestions),
        *_schema(suggestions),
        *_facts(suggestions),
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


def _input(path: str | Path, options: Mapping[str, Any], notes: Iterable[str]) -> list[str]:
    """Return the table of the input."""
    kind = "url" if is_url(str(path)) else "path"
    given = [f"{_key(key)} = {toml(v)}" for key, v in options.items()]
    return ["[input]", f"{kind} = {toml(str(path))}", *given, *map(_comment, notes)]


def _clean(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return what is cleaned: what is certain, and what is proposed, commented out."""
    found = [untidy for s in suggestions if not s.left_out for untidy in s.untidy]
    if not found:
        return []
    lines = [
        "# Cleaning, before anything is counted. What is in doubt is commented out: take the sign away if it is right."
    ]
    blanks = [untidy for untidy in found if untidy.key == "strip"]
    lines += ["[input.clean]", *(_comment(f"{u.column}: {u.told}") for u in blanks)] if blanks else []
    lines += [f"strip = {toml([u.column for u in blanks])}"] if blanks else []
    for key in ("missing", "same"):
        proposed = [untidy for untidy in found if untidy.key == key]
        lines += [f"[input.clean.{key}]"] if proposed else []
        for untidy in proposed:
            value = untidy.spellings or list(untidy.codes)
            lines += [_comment(f"{untidy.column}: {untidy.told}"), f"# {_key(untidy.column)} = {toml(value)}"]
    return [*lines, ""]


def _schema(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return the roles, one column per line with its reason."""
    lines = ["[schema]"]
    for role, (key, meaning) in HEADINGS.items():
        members = [s for s in suggestions if s.role == role and not s.left_out]
        if not members:
            continue
        usual = next((s.if_wrong for s in members if s.kind != Kind.TEXT), "")
        lines += ["", f"# {meaning}", *([_comment(usual)] if usual else []), f"{key} = ["]
        for s in members:
            own = f" {s.if_wrong}" if s.if_wrong != usual else ""
            lines.append(f"  {toml(s.name)},  {_comment(_numbered(s) + ('.' + own if own else ''))}")
        lines.append("]")
    for role, key in SINGLES.items():
        for s in [s for s in suggestions if s.role == role][:1]:
            lines += ["", _comment(s.reason), _comment(s.if_wrong), f"{key} = {toml(s.name)}"]
    lines += _undecided([s for s in suggestions if s.left_out])
    lines += ["", '# a column without a role: "insensitive" leaves it out of the release, "error" refuses it']
    return [*lines, 'rest = "insensitive"', ""]


def _undecided(left_out: list[ColumnSuggestion]) -> list[str]:
    """Return the columns that have no role yet, as comments."""
    if not left_out:
        return []
    heading = ["", "# Without a role yet, and so left out of the release. To keep one, name it in a list above:"]
    heading.append(
        "# under quasi if others may know it (then it gets a hierarchy below), under sensitive or insensitive if not."
    )
    return [*heading, *(_comment(f"  {toml(s.name)}  {s.reason}") for s in left_out)]


def _numbered(s: ColumnSuggestion) -> str:
    """Return the reason with the number of the HIPAA type."""
    return f"{s.reason} (Safe Harbor type {s.hipaa})" if s.hipaa and "Safe Harbor" not in s.reason else s.reason


def _facts(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return kinds, bounds and hierarchies."""
    declared = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
    used = [s for s in suggestions if (s.role in declared and not s.left_out) or s.kind == Kind.TEXT]
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
    if not any(s.role == Role.QUASI and not s.left_out for s in suggestions):
        return []
    preset = _preset(suggestions)
    lines = [f"# every record shares its quasi-identifiers with at least {k - 1} others"]
    if preset:
        lines[0] += f"; {preset} does not ask for it: take the signs away to require it"
    lines += _offered(["[[require]]", 'use = "k-anonymity"', f"k = {k}"], offered=bool(preset))
    for s in suggestions:
        if s.role == Role.SENSITIVE and s.kind != Kind.NUMERIC:
            lines.append("# every class has at least two values of the column; take the signs away to require it")
            column = f"column = {toml(s.name)}"
            lines += _offered(["[[require]]", 'use = "l-diversity"', "l = 2", column], offered=True)
    return lines


def _offered(lines: list[str], *, offered: bool) -> list[str]:
    """Return lines, commented out when they are only offered, with a blank one after them."""
    return [*(f"# {line}" if offered else line for line in lines), ""]


def _steps(suggestions: list[ColumnSuggestion]) -> list[str]:
    """Return the steps: those that columns need, then generalise until the requirements hold unless a rule forgoes it.

    Identifiers and the person column stay until the end: classes count persons; a release leaves them out by itself.
    """
    lines: list[str] = []
    for s in suggestions:
        if s.steps and not s.left_out:
            lines.append(_comment(f"{s.name}: {s.steps_reason or s.reason}"))
        for step in s.steps if not s.left_out else ():
            lines += ["[[step]]", *(f"{_key(key)} = {toml(v)}" for key, v in step.items()), ""]
    if not _preset(suggestions) and any(s.role == Role.QUASI and not s.left_out for s in suggestions):
        nodes = f"{lattice_nodes(suggestions):,}".replace(",", " ")
        lines.append(f"# coarser values until the requirements hold ({nodes} combinations of levels to choose from);")
        lines += [
            "# at most 5 % of the records are suppressed",
            "[[step]]",
            'use = "generalise"',
            "suppress = 0.05",
            "",
        ]
    return lines


def _preset(suggestions: list[ColumnSuggestion]) -> str:
    """Return the rule that wants its own steps in place of a search."""
    return next((s.preset for s in suggestions if s.preset), "")


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
