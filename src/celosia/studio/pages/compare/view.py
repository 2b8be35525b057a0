"""What the page of comparisons shows: columns before and after, how they depend on each other, candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, field_validator

from celosia.data.schema import Kind
from celosia.data.toml_text import steps_text
from celosia.errors import NotApplicable, SchemaError
from celosia.hierarchy import parse, texts
from celosia.hierarchy.dates import Dates
from celosia.hierarchy.values import Everything, Exact, Interval, number
from celosia.mathematics.statistics.association import cramers_matrix
from celosia.mathematics.statistics.distribution_distance import total_variation
from celosia.mathematics.statistics.moments import correlation
from celosia.release.report.charts import number as shown_number
from celosia.release.report.ru_map import Window, whole_window
from celosia.views.comparing.categories import categories
from celosia.views.comparing.comparable import number_columns, samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.frontier import Frontier, Point
    from celosia.release.policy import Policy
    from celosia.table import Table

    Floats = NDArray[np.float64]

BINS = 30
LABELS = 10
MOST_CATEGORIES = 60
"""Categories up to which a dependence means something: with as many as records every column tells every other."""
COMPARED = 20_000
"""Records that are protected for pictures; of a larger table a sample of so many."""
MOST_COLUMNS = 14
"""Columns of a map of dependences: more cannot be read."""


@dataclass(frozen=True)
class ColumnPair:
    """One column before and after: shares of the records by range or by label."""

    name: str
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    edges: tuple[float, ...] = ()
    """Where the ranges of a numeric column meet; empty for labels."""
    hidden: float = 0.0
    """The share of the records that show nothing afterwards."""
    distance: float = 0.0
    """The share of the records that sit in another place (half the sum of the differences)."""


@dataclass(frozen=True)
class Dependences:
    """How strongly columns depend on each other, before and after."""

    measure: str
    names: tuple[str, ...]
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    largest: float
    """The largest change of a pair."""
    left_out: tuple[str, ...] = ()


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
    own = (("policy", "policy"),) if policy.steps else ()
    return (("original", "original"), *own, *((str(i), point.label) for i, point in points))


def overlaid(original: Table, protected: Table, names: Sequence[str] = ()) -> tuple[ColumnPair, ...]:
    """Every column of both tables before and after; identifiers apart.

    >>> import polars as pl, celosia
    >>> before = celosia.read(pl.DataFrame({"sex": ["F", "F", "M", "M"]}))
    >>> after = celosia.read(pl.DataFrame({"sex": ["F", "F", "F", "M"]}))
    >>> pair, = overlaid(before, after)
    >>> pair.labels, pair.before, pair.after, pair.distance
    (('F', 'M'), (0.5, 0.5), (0.75, 0.25), 0.25)
    """
    skipped = {*original.schema.naming, original.schema.weight}
    shared = [name for name in original.names if name in protected.names and name not in skipped]
    return tuple(_pair(original, protected, name) for name in names or shared)


def dependences(original: Table, protected: Table) -> tuple[Dependences, ...]:
    """Pearson's correlations of what is a number in both tables, and Cramér's V of all columns."""
    maps = []
    for measure in (_pearson, _cramer):
        try:
            maps.append(measure(original, protected))
        except NotApplicable:
            continue
    return tuple(maps)


def rows(frontier: Frontier) -> tuple[CandidateRow, ...]:
    """The candidates in the order of the exploration."""
    front = {id(point) for point in frontier.frontier}
    return tuple(_row(frontier, i, point, id(point) in front) for i, point in enumerate(frontier.points))


def _row(frontier: Frontier, index: int, point: Point, front: bool) -> CandidateRow:
    return CandidateRow(
        index,
        point.label,
        point.candidate.family,
        point.risk.mean,
        point.loss.mean,
        shown_number(point.risk.mean, percent=frontier.risk.bounded),
        shown_number(point.loss.mean, percent=frontier.loss.bounded),
        frontier.score(point),
        front,
        point.seeds,
        point.decided,
        steps_text(point.candidate.spec()),
    )


def _pair(original: Table, protected: Table, name: str) -> ColumnPair:
    before, after = _counts(original, name), _counts(protected, name)
    info = original.schema[name]
    numbers = {text: value for text in before if (value := _finite(text)) is not None}
    if info.kind == Kind.NUMERIC and len(numbers) > LABELS:
        return _number_pair(name, before, after, numbers)
    return _label_pair(original, name, before, after)


def _counts(table: Table, name: str) -> dict[str, int]:
    """The cells of a column as texts with their records; missing ones under an empty text."""
    cells = table.classes.patterns([name], everyone=True)
    counts: dict[str, int] = {}
    for text, rows_ in zip(texts(cells.cells[name]), cells.rows.tolist(), strict=True):
        counts[text or ""] = counts.get(text or "", 0) + int(rows_)
    return counts


def _number_pair(
    name: str, before: Mapping[str, int], after: Mapping[str, int], numbers: Mapping[str, float]
) -> ColumnPair:
    """Two histograms over the same ranges; a generalised cell counts evenly in all that it covers."""
    low, high = min(numbers.values()), max(numbers.values())
    edges = np.linspace(low, high, BINS + 1)
    first, _ = _spread(before, edges)
    second, hidden = _spread(after, edges)
    return ColumnPair(
        name,
        (),
        tuple(first.tolist()),
        tuple(second.tolist()),
        tuple(edges.tolist()),
        hidden,
        total_variation(np.append(first, 1 - first.sum()), np.append(second, 1 - second.sum())),
    )


def _spread(counts: Mapping[str, int], edges: Floats) -> tuple[Floats, float]:
    """Shares of the records per range, and the share that shows nothing (missing or starred)."""
    heights = np.zeros(len(edges) - 1)
    hidden = 0
    for text, records in counts.items():
        cell = parse(text) if text else Everything()
        value = number(text) if isinstance(cell, Exact) else None
        if value is not None:
            place = int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(heights) - 1))
            heights[place] += records
        elif isinstance(cell, Interval) and not cell.textual:
            low = max(float(cell.low), edges[0])
            high = min(float(cell.high), edges[-1])
            over = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0.0, None)
            if over.sum() > 0:
                heights += records * over / over.sum()
            else:
                heights[0 if float(cell.high) <= edges[0] else -1] += records
        else:
            hidden += records
    total = max(1, sum(counts.values()))
    return heights / total, hidden / total


def _label_pair(original: Table, name: str, before: Mapping[str, int], after: Mapping[str, int]) -> ColumnPair:
    """Shares by label; where values were generalised, the original counts under the labels of the release."""
    mapped = _at_released_level(original, name, before, after)
    if original.schema[name].kind == Kind.DATE:
        mapped, after = _by_time(mapped, after)
    totals = [max(1, sum(counts.values())) for counts in (mapped, after)]
    shown = {"", "*"}
    names = [n for n in {**mapped, **after} if n not in shown]
    names.sort(key=lambda n: (-(mapped.get(n, 0) / totals[0] + after.get(n, 0) / totals[1]), n))
    listed, rest = names[:LABELS], names[LABELS:]
    if original.schema[name].kind in (Kind.NUMERIC, Kind.ORDINAL, Kind.DATE):
        listed.sort(key=lambda n: (_finite(n) is None, _finite(n) or 0.0, n))
    first = [mapped.get(n, 0) / totals[0] for n in listed]
    second = [after.get(n, 0) / totals[1] for n in listed]
    labels = list(listed)
    if rest:
        labels.append("…")
        first.append(sum(mapped.get(n, 0) for n in rest) / totals[0])
        second.append(sum(after.get(n, 0) for n in rest) / totals[1])
    hidden = sum(after.get(n, 0) for n in shown) / totals[1]
    every = [*names, *shown]
    distance = total_variation(
        np.array([mapped.get(n, 0) / totals[0] for n in every]), np.array([after.get(n, 0) / totals[1] for n in every])
    )
    return ColumnPair(name, tuple(labels), tuple(first), tuple(second), (), hidden, distance)


def _at_released_level(
    original: Table, name: str, before: Mapping[str, int], after: Mapping[str, int]
) -> Mapping[str, int]:
    """The original counts under the labels of the one level that the release shows; as they are where there is none."""
    hierarchy = original.schema.hierarchy(name)
    released = [text for text in after if text not in ("", "*")]
    if hierarchy is None or all(text in before for text in released):
        return before
    values = [text for text in before if text]
    try:
        levels = hierarchy.levels(values, [before[text] for text in values])
    except SchemaError:  # they are labels already
        return before
    here = [level for level in range(1, levels.height + 1) if set(released) <= set(levels.categories(level))]
    if not here:
        return before
    counts: dict[str, int] = {"": before[""]} if "" in before else {}
    for value, label in zip(values, levels.labels(here[0]), strict=True):
        counts[str(label)] = counts.get(str(label), 0) + before[value]
    return counts


def _by_time(*sides: Mapping[str, int]) -> tuple[Mapping[str, int], ...]:
    """Days by year or by decade, where there are too many of them to be listed; what is no day stays as it is."""
    gathered = sides
    for unit in ("year", "decade"):
        if max(len(side) for side in gathered) > 2 * LABELS:
            hierarchy = Dates(units=(unit,), fallback="*")
            gathered = tuple(_gathered(side, hierarchy) for side in sides)
    return gathered


def _gathered(counts: Mapping[str, int], hierarchy: Dates) -> Mapping[str, int]:
    gathered: dict[str, int] = {}
    texts_ = list(counts)
    for text, label in zip(texts_, hierarchy.levels(texts_).labels(1), strict=True):
        kept = text if label in (None, "*") else str(label)
        gathered[kept] = gathered.get(kept, 0) + counts[text]
    return gathered


def compared(table: Table) -> Table:
    """The table whose protections are drawn: all of it, or a sample of many records."""
    if len(table) <= COMPARED:
        return table
    chosen = np.random.default_rng(1).choice(table.ids(), COMPARED, replace=False)
    return table.take(np.sort(chosen)).computed()


def _pearson(original: Table, protected: Table) -> Dependences:
    after = protected.polars_types()
    every = number_columns(original, original)
    names = [
        n for n in every if n in after and after[n].is_numeric() and _varies(original, n) and _varies(protected, n)
    ]
    if len(names) < 2:
        raise NotApplicable("fewer than two columns are numbers before and after.")
    x, y = samples(original, protected, names[:MOST_COLUMNS])
    return _dependences("pearson", names[:MOST_COLUMNS], correlation(x), correlation(y), every)


def _varies(table: Table, name: str) -> bool:
    x = table.numeric([name])[:, 0]
    return bool(np.nanmin(x) < np.nanmax(x)) if np.isfinite(x).any() else False


def _cramer(original: Table, protected: Table) -> Dependences:
    skipped = {*original.schema.naming, original.schema.weight}
    every = [n for n in original.names if n in protected.names and n not in skipped]
    coded = categories(original, protected, every)
    few = [n for n, size in zip(coded.names, coded.sizes, strict=True) if size <= MOST_CATEGORIES][:MOST_COLUMNS]
    if len(few) < 2:
        raise NotApplicable("the tables share fewer than two columns with few categories.")
    coded = categories(original, protected, few)
    return _dependences("cramer", coded.names, cramers_matrix(coded.original), cramers_matrix(coded.protected), every)


def _dependences(
    measure: str, names: Sequence[str], before: Floats, after: Floats, every: Sequence[str]
) -> Dependences:
    first, second = (tuple(tuple(row) for row in matrix.tolist()) for matrix in (before, after))
    largest = float(np.abs(before - after).max(initial=0.0))
    return Dependences(measure, tuple(names), first, second, largest, tuple(n for n in every if n not in names))


def _finite(text: str) -> float | None:
    value = number(text)
    return None if value is None or not math.isfinite(value) else value
