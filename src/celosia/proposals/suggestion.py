"""Suggestion for one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.data.schema import NAMING, Kind, Role
from celosia.proposals.cleanup import Untidiness

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True)
class ColumnSuggestion:
    """Suggestion for one column: role, kind, hierarchy and bounds, with the reason and the consequence of an error.

    ``hipaa`` is the number (1 to 18) of the HIPAA Safe Harbor identifier that the column is. The reason names
    counts and shares, never a value.
    """

    name: str
    role: Role
    kind: Kind
    reason: str
    if_wrong: str = ""
    hierarchy: dict[str, Any] | None = None
    hierarchy_reason: str = ""
    bounds: tuple[float, float] | None = None
    hipaa: int | None = None
    meaning: str | None = None
    distinction: float = 0.0
    separation: float = 0.0
    #: The columns that determine its values.
    derived_from: tuple[str, ...] = ()
    #: Whether the column has no role, and so stays out of the release, until the user decides.
    left_out: bool = False
    #: Number of its values on few records, and on many.
    rare: int = 0
    frequent: int = 0
    #: Length of the values where all have the same, and whether they are digits (and a dash).
    code_length: int = 0
    code_digits: bool = False
    #: Notation of dates that are not in ISO format.
    date_format: str | None = None
    #: Steps for the column, in the grammar of a policy, and why.
    steps: tuple[dict[str, Any], ...] = ()
    steps_reason: str = ""
    #: The rule that requires these steps in place of a search.
    preset: str = ""
    #: What to clean before counting.
    untidy: tuple[Untidiness, ...] = ()

    def spec(self) -> dict[str, JsonValue]:
        """Return what ``celosia init --json`` prints of the suggestion."""
        return {
            "column": self.name,
            "role": str(self.role),
            "left_out": self.left_out or self.role in NAMING,
            "kind": str(self.kind),
            "reason": self.reason,
            "if_wrong": self.if_wrong,
            "clean": [untidy.sentence for untidy in self.untidy],
        }
