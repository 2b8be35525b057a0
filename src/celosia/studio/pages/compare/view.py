"""What the page of comparisons shows: columns before and after, how they depend on each other, candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, field_validator

from celosia.data.toml_text import steps_text
from celosia.release.report.ru_map import Window, whole_window
from celosia.show.formats import number as shown_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.frontier import Frontier, Point
    from celosia.release.policy.policy import Policy
    from celosia.table import Table

    Floats = NDArray[np.float64]

COMPARED = 20_000
"""Records that are protected for pictures; of a larger table a sample of so many."""


@dataclass(frozen=True)
class CandidateRow:
    """A candidate of an exploration as a row of the table."""

    index: int
    label: str
    family: str
    risk: float
    loss: float
    risk_text: str
    loss_text: str
    score: float
    front: bool
    seeds: int
    decided: str
    steps: str
    """What it is as steps of a policy."""


class Sight(BaseModel):
    """What of the map is looked at: a window, and which candidates."""

    model_config = ConfigDict(extra="ignore")

    risk_low: float | None = None
    risk_high: float | None = None
    loss_low: float | None = None
    loss_high: float | None = None
    zoom: Literal["", "in", "out", "all"] = ""
    family: list[str] = []
    front: bool | None = None
    most_risk: float | None = None
    most_loss: float | None = None
    chosen: int | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _empty(cls, value: Any) -> Any:
        """A field of a form that was left empty says nothing."""
        return None if value == "" else value

    @field_validator("zoom", mode="before")
    @classmethod
    def _zoom(cls, value: Any) -> Any:
        return value or ""

    def shows(self, row: CandidateRow) -> bool:
        """Whether a candidate is to be drawn."""
        return (
            (not self.family or row.family in self.family)
            and (not self.front or row.front)
            and (self.most_risk is None or row.risk <= self.most_risk)
            and (self.most_loss is None or row.loss <= self.most_loss)
        )


def zoomed(frontier: Frontier, sight: Sight) -> Window:
    """The window to draw: the one that is given, half or twice as wide, or the whole map."""
    whole = whole_window(frontier)
    if sight.zoom == "all":
        return whole
    factor = {"in": 0.5, "out": 2.0}.get(sight.zoom, 1.0)
    return Window(
        _stretched((sight.risk_low, sight.risk_high), whole.risk, factor),
        _stretched((sight.loss_low, sight.loss_high), whole.loss, factor),
    )


def _stretched(
    given: tuple[float | None, float | None], whole: tuple[float, float], factor: float
) -> tuple[float, float]:
    """Two ends moved apart or together, inside the whole; ends that make no sense are those of the whole."""
    low, high = given
    if low is None or high is None or not low < high:
        low, high = whole
    middle, half = (low + high) / 2, (high - low) / 2 * factor
    half = max(half, (whole[1] - whole[0]) / 1000)
    low, high = max(whole[0], middle - half), min(whole[1], middle + half)
    return (low, high) if low < high else whole


def options_of(policy: Policy, frontier: Frontier | None) -> tuple[tuple[str, str], ...]:
    """What can be compared, by the name that a form sends: the original, the policy, every candidate."""
    points = () if frontier is None else sorted(enumerate(frontier.points), key=lambda each: frontier.score(each[1]))
    own = (("policy", "policy"),) if policy.select().steps else ()
    return (("original", "original"), *own, *((str(i), point.label) for i, point in points))


def rows(frontier: Frontier, language: str = "en") -> tuple[CandidateRow, ...]:
    """The candidates in the order of the exploration, with numbers as a language writes them."""
    front = {id(point) for point in frontier.frontier}
    return tuple(_row(frontier, i, point, id(point) in front, language) for i, point in enumerate(frontier.points))


def _row(frontier: Frontier, index: int, point: Point, front: bool, language: str) -> CandidateRow:
    return CandidateRow(
        index,
        point.label,
        point.candidate.family,
        point.risk.mean,
        point.loss.mean,
        shown_number(point.risk.mean, percent=frontier.risk.bounded, language=language),
        shown_number(point.loss.mean, percent=frontier.loss.bounded, language=language),
        frontier.score(point),
        front,
        point.seeds,
        point.decided,
        steps_text(point.candidate.spec()),
    )


def compared(table: Table) -> Table:
    """The table whose protections are drawn: all of it, or a sample of many records."""
    if len(table) <= COMPARED:
        return table
    chosen = np.random.default_rng(1).choice(table.ids(), COMPARED, replace=False)
    return table.take(np.sort(chosen)).computed()
