"""The policy that ``celosia init`` writes: every suggestion with its reason as a comment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.io.sources import is_url
from celosia.data.schema import Kind, Role
from celosia.data.toml_text import add_comments, column, inline, table, tables
from celosia.proposals.steps import ProposedMethod, preset_of, steps_of
from celosia.proposals.suggestion import ColumnSuggestion

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Table

    from celosia.proposals.cleanup import Untidiness

ABOUT = (
    "A policy suggested from the names and the content of the columns.",
    "A suggestion is not a decision: read why each column has its role and what happens if that is wrong.",
)
CLEANING = "Cleaning, before anything is counted. What is in doubt is commented out: take the sign away if it is right."
UNDECIDED = (
    "Without a role yet, and so left out of the release. To keep one, name it in a list above:",
    "under quasi if others may know it (then it gets a hierarchy below), under sensitive or insensitive if not.",
)
HEADINGS = {
    Role.IDENTIFIER: ("identifiers", "Identifiers name a person by themselves. They are left out of the release."),
    Role.QUASI: ("quasi", "Quasi-identifiers: others may know them; together they may single a person out."),
    Role.SENSITIVE: (
        "sensitive",
        "Sensitive: released, as exact as the steps let them; l-diversity (below) limits what others can infer.",
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
    keep: Sequence[str] = (),
    purpose: str = "",
    method: ProposedMethod | None = None,
) -> str:
    """Write the suggestions as a commented policy in TOML.

    ``path`` is the input, a file or a database URL; ``options`` are those of its reader, ``notes`` what the reader did.
    ``output`` is the path of the release, by default next to the input. ``keep`` are the columns that analysts must
    keep, ``purpose`` is what the release is for, ``method`` makes the requirements hold
    (:func:`celosia.frontier.choose_method`).

    >>> import polars as pl, tomllib
    >>> from celosia.proposals import suggest
    >>> table = pl.DataFrame({"name": ["A", "B", "C"], "age": [30, 41, 41], "disease": ["x", "y", "x"]})
    >>> tomllib.loads(policy_text(suggest(table), "people.csv"))["schema"]["quasi"]
    ['age']
    """
    import tomlkit

    document = tomlkit.document()
    for line in ABOUT:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    if purpose:
        document.add("about", table({"purpose": purpose}))
    if keep:
        document.add(
            "purpose", table({"keep": list(keep)}, about=["what analysts must keep; the report says whether it was"])
        )
    document.add("input", _input(suggestions, path, options or {}, notes))
    document.add("schema", _schema(suggestions))
    _add_requirements(document, suggestions, k)
    steps = steps_of(suggestions, method)
    if steps:
        document.add("step", tables(steps))
    document.add("measure", table({"risks": ["prosecutor"], "losses": ["discernibility", "altered-records"]}))
    document.add("output", table({"path": str(output or _release_name(path))}))
    return tomlkit.dumps(document)


def _input(
    suggestions: list[ColumnSuggestion], path: str | Path, options: Mapping[str, Any], notes: Iterable[str]
) -> Table:
    """Return the input section with the notes of the reader and the cleaning; doubtful cleaning is commented out."""
    section = table({"url" if is_url(str(path)) else "path": str(path), **options})
    add_comments(section, notes)
    proposals = [untidy for s in suggestions if not s.left_out for untidy in s.untidy]
    if not proposals:
        return section
    add_comments(section, ["", CLEANING])
    blanks = [untidy for untidy in proposals if untidy.key == "strip"]
    clean = table({"strip": [untidy.column for untidy in blanks]} if blanks else {}, about=list(map(_untidy, blanks)))
    for key in ("missing", "same"):
        proposed = [untidy for untidy in proposals if untidy.key == key]
        if proposed:
            inner = table({})
            for untidy in proposed:
                value = untidy.spellings or list(untidy.codes)
                if untidy.certain:
                    add_comments(inner, [_untidy(untidy)])
                    inner.add(untidy.column, inline(value))
                    continue
                add_comments(inner, [_untidy(untidy), *table({untidy.column: value}).as_string().splitlines()])
            clean.add(key, inner)
    section.add("clean", clean)
    return section


def _untidy(untidy: Untidiness) -> str:
    return f"{untidy.column}: {untidy.sentence}"


def _schema(suggestions: list[ColumnSuggestion]) -> Table:
    """Return the roles, one column per line with its reason, then kinds, bounds and hierarchies."""
    section = table({})
    for role, (key, meaning) in HEADINGS.items():
        members = [s for s in suggestions if s.role == role and not s.left_out]
        if not members:
            continue
        usual = next((s.if_wrong for s in members if s.kind != Kind.TEXT), "")
        add_comments(section, ["", meaning, *([usual] if usual else [])])
        section.add(key, column({s.name: _reason(s, usual) for s in members}))
    for role, key in SINGLES.items():
        for s in [s for s in suggestions if s.role == role][:1]:
            add_comments(section, ["", s.reason, s.if_wrong])
            section.add(key, inline(s.name))
    left_out = [s for s in suggestions if s.left_out]
    if left_out:
        add_comments(section, ["", *UNDECIDED, *(f"  {inline(s.name).as_string()}  {s.reason}" for s in left_out)])
    add_comments(
        section, ["", 'a column without a role: "insensitive" leaves it out of the release, "error" refuses it']
    )
    section.add("rest", inline("insensitive"))
    for key, facts in _facts(suggestions).items():
        if facts:
            section.add(key, facts)
    return section


def _reason(s: ColumnSuggestion, usual: str) -> str:
    """Return the reason, and what happens if it is wrong where that differs from the column's neighbours."""
    return f"{_with_hipaa_number(s)}. {s.if_wrong}" if s.if_wrong != usual else _with_hipaa_number(s)


def _with_hipaa_number(s: ColumnSuggestion) -> str:
    """Return the reason with the number of the HIPAA type."""
    return f"{s.reason} (Safe Harbor type {s.hipaa})" if s.hipaa and "Safe Harbor" not in s.reason else s.reason


def _facts(suggestions: list[ColumnSuggestion]) -> dict[str, Table]:
    """Return kinds, bounds and hierarchies."""
    declared = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
    used = [s for s in suggestions if (s.role in declared and not s.left_out) or s.kind == Kind.TEXT]
    why = {s.name: s.hierarchy_reason for s in used}
    return {
        "kinds": table({s.name: str(s.kind) for s in used}),
        "bounds": table({s.name: list(s.bounds) for s in used if s.bounds}),
        "hierarchies": table({s.name: s.hierarchy for s in used if s.hierarchy}, why),
    }


def _add_requirements(document: TOMLDocument, suggestions: list[ColumnSuggestion], k: int) -> None:
    """Add what the release must hold; what is only offered is commented out."""
    if not any(s.role == Role.QUASI and not s.left_out for s in suggestions):
        return
    meaning = f"every record shares its quasi-identifiers with at least {k - 1} others"
    wanted = {"use": "k-anonymity", "k": k}
    preset = preset_of(suggestions)
    if preset:
        offer = f"{meaning}; {preset} does not ask for it: take the signs away to require it"
        add_comments(document, ["", offer, *_as_requirement(wanted)])
    else:
        document.add("require", tables([table(wanted, about=[meaning])]))
    for s in suggestions:
        if s.role == Role.SENSITIVE and s.kind != Kind.NUMERIC:
            offer = "every class has at least two values of the column; take the signs away to require it"
            add_comments(document, ["", offer, *_as_requirement({"use": "l-diversity", "l": 2, "column": s.name})])


def _as_requirement(entries: Mapping[str, object]) -> list[str]:
    """Return the lines of a requirement in a policy."""
    return ["[[require]]", *table(entries).as_string().splitlines()]


def _release_name(path: str | Path) -> str:
    """Return the name of the release next to the input."""
    if is_url(str(path)):
        return "release.csv"
    place = Path(path)
    kept = (
        place.suffix
        if place.suffix.lower() in (".csv", ".tsv", ".parquet", ".sav", ".dta", ".xlsx", ".ods")
        else ".csv"
    )
    return str(place.with_name(f"{place.name.split('.')[0]}.safe{kept}"))
