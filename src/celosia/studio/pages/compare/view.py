"""View models of the compare page: candidates, the window of the map, and the sample for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, field_validator

from celosia.data.toml_text import steps_text
from celosia.release.report.ru_map import Window, whole_window
from celosia.show.formats import number as shown_number
from celosia.table.materialise import materialise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.frontier import Frontier, Point
    from celosia.release.policy.policy import Policy
    from celosia.table import Table

    Floats = NDArray[np.float64]

SAMPLE = 20_000
"""Most records that are protected for pictures."""


@dataclass(frozen=True)
class CandidateRow:
    """A candidate of an exploration as a row of the table on the page."""

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
    """The candidate as ``[[step]]`` tables of a policy."""


class MapQuery(BaseModel):
    """Query parameters of the map: its window, and the filter for candidates."""

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
    def _empty(cls, value: object) -> object:
        """Treat an empty field as missing."""
        return None if value == "" else value

    @field_validator("zoom", mode="before")
    @classmethod
    def _zoom(cls, value: object) -> object:
        return value or ""

    def shows(self, row: CandidateRow) -> bool:
        """Return whether a candidate passes the filter."""
        return (
            (not self.family or row.family in self.family)
            and (not self.front or row.front)
            and (self.most_risk is None or row.risk <= self.most_risk)
            and (self.most_loss is None or row.loss <= self.most_loss)
        )


def zoom_window(frontier: Frontier, query: MapQuery) -> Window:
    """Return the window to draw: the given one, half or twice as wide, or the whole map."""
    whole = whole_window(frontier)
    if query.zoom == "all":
        return whole
    factor = {"in": 0.5, "out": 2.0}.get(query.zoom, 1.0)
    return Window(
        _stretch((query.risk_low, query.risk_high), whole.risk, factor),
        _stretch((query.loss_low, query.loss_high), whole.loss, factor),
    )


def _stretch(ends: tuple[float | None, float | None], whole: tuple[float, float], factor: float) -> tuple[float, float]:
    """Scale an interval around its middle within ``whole``; invalid ends are replaced by ``whole``."""
    low, high = ends
    if low is None or high is None or not low < high:
        low, high = whole
    middle, half = (low + high) / 2, (high - low) / 2 * factor
    half = max(half, (whole[1] - whole[0]) / 1000)
    low, high = max(whole[0], middle - half), min(whole[1], middle + half)
    return (low, high) if low < high else whole


def comparison_options(policy: Policy, frontier: Frontier | None) -> tuple[tuple[str, str], ...]:
    """Return the (value, label) options of a comparison: original, policy, candidates by score."""
    points = () if frontier is None else sorted(enumerate(frontier.points), key=lambda each: frontier.score(each[1]))
    own = (("policy", "policy"),) if policy.select().steps else ()
    return (("original", "original"), *own, *((str(i), point.label) for i, point in points))


def rows(frontier: Frontier, language: str = "en") -> tuple[CandidateRow, ...]:
    """Return the candidates in the order of the exploration, numbers formatted for a language."""
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


def sample_of(table: Table) -> Table:
    """Return the table, or a sample of it, for pictures of protected versions."""
    if len(table) <= SAMPLE:
        return table
    chosen = np.random.default_rng(1).choice(table.ids(), SAMPLE, replace=False)
    return materialise(table.take(np.sort(chosen)))
