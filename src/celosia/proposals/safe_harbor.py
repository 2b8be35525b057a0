"""The Safe Harbor preset: what HIPAA asks to be removed or coarsened, as roles, hierarchies and steps."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from celosia.data.schema import Kind, Role
from celosia.proposals.columns import ColumnSuggestion

#: Three-digit ZIP areas of 20 000 people or fewer in the 2000 Census; HIPAA wants them as 000.
SMALL_AREAS = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878",
    "879", "884", "890", "893",
)  # fmt: skip
OLDEST = 90


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
    return [_harboured(s, today or dt.date.today()) for s in suggestions]


def _harboured(s: ColumnSuggestion, today: dt.date) -> ColumnSuggestion:
    """Apply the rule to one column."""
    if s.role in (Role.IDENTIFIER, Role.PERSON):
        return s
    if s.meaning == "age" and s.kind == Kind.NUMERIC:
        step = {"use": "top-code", "columns": [s.name], "value": OLDEST}
        return replace(s, steps=(step,), reason=f"Safe Harbor 3: ages over 89 become one category; {s.reason}")
    if s.meaning == "birth year":
        step = {"use": "bottom-code", "columns": [s.name], "value": today.year - OLDEST}
        return replace(
            s, steps=(step,), reason=f"Safe Harbor 3: birth years that tell ages over 89 are one; {s.reason}"
        )
    if s.kind == Kind.DATE:
        return _years(s, today)
    if s.meaning == "postcode":
        return replace(
            s,
            role=Role.QUASI,
            hierarchy={"use": "prefixes", "masked": [2]},
            hierarchy_reason="three digits stay",
            steps=(
                {"use": "recode", "column": s.name, "level": 1},
                {"use": "recode", "column": s.name, "mapping": {f"{area}**": "000**" for area in SMALL_AREAS}},
            ),
            reason="Safe Harbor 2: three digits of the ZIP code stay, 000 for areas of 20 000 people or fewer",
        )
    if s.hipaa == 2:
        return replace(s, role=Role.IDENTIFIER, hierarchy=None, reason="Safe Harbor 2: places smaller than a state")
    return s


def _years(s: ColumnSuggestion, today: dt.date) -> ColumnSuggestion:
    """Keep the year of a date."""
    hierarchy: dict[str, Any] = {**(s.hierarchy or {"use": "dates"}), "use": "dates", "units": ["year"]}
    hierarchy.pop("masked", None)
    steps: tuple[dict[str, Any], ...] = ({"use": "recode", "column": s.name, "level": 1},)
    reason = "Safe Harbor 3: of dates the year stays"
    if s.meaning == "birth date":
        if "formats" in hierarchy:
            reason += (
                "; birth years that tell an age over 89 must become one: read the column as a date and bottom-code it"
            )
        else:
            first = dt.date(today.year - OLDEST, 1, 1).isoformat()
            steps = ({"use": "bottom-code", "columns": [s.name], "value": first}, *steps)
            reason += f", {today.year - OLDEST} standing for it and before"
    return replace(s, hierarchy=hierarchy, hierarchy_reason="the year stays", steps=steps, reason=reason)
