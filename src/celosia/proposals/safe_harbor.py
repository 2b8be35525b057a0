"""The Safe Harbor preset: what HIPAA asks to be removed or coarsened, as roles, hierarchies and steps."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from celosia.data.schema import Kind, Role
from celosia.proposals.columns import IF_WRONG
from celosia.proposals.suggestion import ColumnSuggestion

#: Three-digit ZIP areas of 20 000 people or fewer in the 2000 Census; HIPAA wants them as 000.
SMALL_AREAS = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878",
    "879", "884", "890", "893",
)  # fmt: skip
OLDEST = 90
NAME = "Safe Harbor"


def safe_harbor(suggestions: list[ColumnSuggestion], today: dt.date | None = None) -> list[ColumnSuggestion]:
    """Turn suggestions into those of the HIPAA Safe Harbor, 45 CFR 164.514(b)(2).

    The eighteen identifiers are removed; of dates the year stays, of ZIP codes the first three digits (000 for areas
    of 20 000 people or fewer); ages over 89, and birth years that tell them, become one category; places
    smaller than a state are removed. The rule also asks that nobody involved knows of a way to re-identify: that is
    yours to judge. ``today`` is the day for which ages over 89 are told from birth dates.

    >>> import polars as pl
    >>> from celosia.proposals import suggest
    >>> table = pl.DataFrame({"age": [34, 95], "city": ["A", "B"], "zip": ["02139", "03601"]})
    >>> [(s.name, str(s.role), len(s.steps)) for s in safe_harbor(suggest(table))]
    [('age', 'quasi', 1), ('city', 'identifier', 0), ('zip', 'quasi', 2)]
    """
    return [replace(_apply_rule(s, today or dt.date.today()), preset=NAME) for s in suggestions]


def _apply_rule(s: ColumnSuggestion, today: dt.date) -> ColumnSuggestion:
    """Apply the rule to one column."""
    if s.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD):
        return s
    if s.meaning == "age":
        return _ages(s)
    if s.meaning == "birth year":
        step = {"use": "bottom-code", "columns": [s.name], "value": today.year - OLDEST}
        return _with_steps(s, "birth years that tell ages over 89 become one", 3, step)
    if s.kind == Kind.DATE:
        return _years(s, today)
    if s.meaning == "postcode":
        return _areas(s)
    if s.hipaa == 2:
        return _as_identifier(s, "places smaller than a state are removed", 2)
    if s.role == Role.QUASI and s.rare and s.hierarchy:
        if s.hierarchy["use"] == "priority" and s.frequent:
            hierarchy = {"use": "priority", "keep": [s.frequent]}
            s = replace(s, hierarchy=hierarchy, hierarchy_reason="rare values are hidden")
        steps = ({"use": "recode", "column": s.name, "level": 1},)
        return replace(s, steps=steps, steps_reason=f"{s.rare} values stand on few records")
    return s


def _with_steps(s: ColumnSuggestion, why: str, number: int, *steps: dict[str, Any]) -> ColumnSuggestion:
    """Return the suggestion with the steps that the rule requires."""
    reason = f"{NAME} {number}: {why}"
    return replace(s, role=Role.QUASI, left_out=False, steps=steps, steps_reason=reason, reason=reason)


def _as_identifier(s: ColumnSuggestion, why: str, number: int) -> ColumnSuggestion:
    """Return the suggestion as an identifier."""
    reason, wrong = f"{NAME} {number}: {why}", IF_WRONG[Role.IDENTIFIER]
    return replace(s, role=Role.IDENTIFIER, left_out=False, hierarchy=None, steps=(), reason=reason, if_wrong=wrong)


def _ages(s: ColumnSuggestion) -> ColumnSuggestion:
    """Make one category of the ages over 89."""
    if s.kind != Kind.NUMERIC:
        return _with_steps(s, "ages over 89 must be one category: they are written as text here, so look at them", 3)
    step = {"use": "top-code", "columns": [s.name], "value": OLDEST}
    return _with_steps(s, "ages over 89 become one category, written 90", 3, step)


def _areas(s: ColumnSuggestion) -> ColumnSuggestion:
    """Keep three digits of a ZIP code."""
    if s.code_length not in (5, 9, 10) or not s.code_digits:
        return _as_identifier(s, "a postcode that is no ZIP code is a place smaller than a state", 2)
    hidden = s.code_length - 3
    stars = "*" * hidden
    return _with_steps(
        replace(s, hierarchy={"use": "prefixes", "masked": [hidden]}, hierarchy_reason="three digits stay"),
        "three digits of the ZIP code stay, 000 for areas of 20 000 people or fewer (the list is that of the United "
        "States, Census 2000: for other areas write your own)",
        2,
        {"use": "recode", "column": s.name, "level": 1},
        {"use": "recode", "column": s.name, "mapping": {f"{area}{stars}": f"000{stars}" for area in SMALL_AREAS}},
    )


def _years(s: ColumnSuggestion, today: dt.date) -> ColumnSuggestion:
    """Keep the year of a date."""
    dates = {**(s.hierarchy or {}), "use": "dates", "units": ["year"]}
    hierarchy = {"use": "prefixes", "masked": [3]} if s.date_format == "%Y-%m" else dates
    s = replace(s, hierarchy=hierarchy, hierarchy_reason="the year stays")
    year = {"use": "recode", "column": s.name, "level": 1}
    if s.meaning != "birth date":
        return _with_steps(s, "of dates the year stays", 3, year)
    limit = today.year - OLDEST
    why = f"of birth dates the year stays, {limit} standing for it and before: it would tell an age over 89"
    if s.date_format is None:
        first = {"use": "bottom-code", "columns": [s.name], "value": dt.date(limit, 1, 1).isoformat()}
        return _with_steps(s, why, 3, first, year)
    after = "***" if s.date_format == "%Y-%m" else ""
    older = {f"{born}{after}": f"{limit}{after}" for born in range(1850, limit)}
    return _with_steps(s, why, 3, year, {"use": "recode", "column": s.name, "mapping": older})
