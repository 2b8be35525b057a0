"""The steps of a suggested policy: what single columns need, then the method that makes the requirements hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.data.schema import Role
from celosia.data.toml_text import table
from celosia.proposals.columns import lattice_nodes
from celosia.proposals.suggestion import ColumnSuggestion

if TYPE_CHECKING:
    from tomlkit.items import Table

SUPPRESS = 0.05
"""Largest share of the records that a suggested method may suppress."""


@dataclass(frozen=True)
class ProposedMethod:
    """A method as it stands in a policy (``{"use": …}``), and the lines of the comment above it."""

    entries: Mapping[str, Any]
    about: Sequence[str] = ()


def steps_of(suggestions: Sequence[ColumnSuggestion], method: ProposedMethod | None = None) -> list[Table]:
    """Return the steps: those that columns need, then the method, unless a rule forgoes it.

    Without a method that was tried on the data it is ``generalise``, which runs on tables of any size. Identifiers and
    the person column stay until the end: classes count persons; a release leaves them out by itself.
    """
    steps = [
        table(step, about=[f"{s.name}: {s.steps_reason or s.reason}"])
        for s in suggestions
        for step in (s.steps if not s.left_out else ())
    ]
    if needs_method(suggestions):
        chosen = method or _untried(suggestions)
        steps.append(table(chosen.entries, about=chosen.about))
    return steps


def needs_method(suggestions: Sequence[ColumnSuggestion]) -> bool:
    """Return whether a method has to make the requirements hold: quasi-identifiers, and no rule that forgoes it."""
    return not preset_of(suggestions) and any(s.role == Role.QUASI and not s.left_out for s in suggestions)


def preset_of(suggestions: Sequence[ColumnSuggestion]) -> str:
    """Return the name of the preset that prescribes the steps, such as Safe Harbor; empty if there is none."""
    return next((s.preset for s in suggestions if s.preset), "")


def _untried(suggestions: Sequence[ColumnSuggestion]) -> ProposedMethod:
    """Return the method for tables on which none was tried."""
    nodes = f"{lattice_nodes(list(suggestions)):,}".replace(",", " ")
    return ProposedMethod(
        {"use": "generalise", "suppress": SUPPRESS},
        (
            f"coarser values until the requirements hold ({nodes} combinations of levels to choose from);",
            "at most 5 % of the records are suppressed",
        ),
    )
