"""Forecast of the error of each column of an answer, before anything is spent or read.

The noise of every number is public, so the error of a count or a sum is known beforehand. The error of a mean or of a
variance depends on the number of records, which is secret: it is computed for some sizes of a group. For each size the
values are placed in several ways within their declared bounds (all equal, or part of them at either end), and the
forecast is the largest error of these. It is the half width of the interval that such an answer would have: every
number is inside its own interval with a probability that leaves 95 % for all of them together (Bonferroni), and then
the answer is off by no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from celosia.gateway.answer import LEVEL
from celosia.gateway.noise import NoisePlan
from celosia.gateway.sql.after import After, Cell
from celosia.gateway.sql.plan import Number, Plan

SIZES = (10, 100, 1_000, 10_000)
"""Records in a group."""
PLACES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Places of the values between the declared bounds, as a share of their distance."""
MOST_WORK = 300_000
"""Microseconds, about: a column that would take longer has no forecast."""


@dataclass(frozen=True)
class AtSize:
    """Error of the answer in a group of ``size`` records, with 95 %; None where there is no bound."""

    size: int
    half: float | None


@dataclass(frozen=True)
class Forecast:
    """The error of one column of the answer.

    ``exact``: no person can change it. ``fixed``: equal for every size, and then ``sizes`` has one entry. ``sized``:
    it depends on the number of records. ``ranks``: a value of the data that is off by so many ranks. ``open``: there
    is no forecast.
    """

    name: str
    kind: Literal["exact", "fixed", "sized", "ranks", "open"]
    sizes: tuple[AtSize, ...] = ()
    ranks: int | None = None

    def data(self) -> dict[str, object]:
        """Return the forecast as plain data."""
        facts: dict[str, object] = {"column": self.name, "kind": self.kind}
        if self.kind == "fixed":
            facts["half width"] = self.sizes[0].half
        if self.kind == "sized":
            facts["by records"] = [{"records": at.size, "half width": at.half} for at in self.sizes]
        return facts | ({"ranks": self.ranks} if self.ranks is not None else {})


def forecasts(plan: Plan, noise_plan: NoisePlan) -> tuple[Forecast, ...]:
    """Return the forecast of each column of noisy numbers."""
    columns = []
    work = 0
    for output in plan.outputs:
        if output.kind == "key" or not output.after.indices():
            continue
        work += len(SIZES) * 2 * len(PLACES) * output.after.size() * 6
        if work > MOST_WORK or _reads_a_key(output.after):
            columns.append(Forecast(output.name, "open"))
        else:
            columns.append(_forecast(output.name, output.after, plan, noise_plan))
    return tuple(columns)


def _forecast(name: str, after: After, plan: Plan, noise_plan: NoisePlan) -> Forecast:
    numbers = [noise_plan.numbers[i] for i in after.indices()]
    quantiles = [each for each in numbers if each.number.kind == "quantile"]
    if quantiles:
        return Forecast(name, "ranks", ranks=math.ceil(max(each.rank_error(LEVEL) for each in quantiles)))
    if all(each.noise is None for each in numbers):
        return Forecast(name, "exact")
    sizes = tuple(_error(size, after, plan, noise_plan) for size in SIZES)
    if all(at.half is None for at in sizes):
        return Forecast(name, "open")
    first = sizes[0].half
    if first is not None and all(at.half is not None and math.isclose(at.half, first, rel_tol=1e-6) for at in sizes):
        return Forecast(name, "fixed", sizes[:1])
    return Forecast(name, "sized", sizes)


def _error(size: int, after: After, plan: Plan, noise_plan: NoisePlan) -> AtSize:
    """Return the largest error over several placements of a group's values."""
    level = 1 - (1 - LEVEL) / len(after.indices())
    variances = tuple(each.variance for each in noise_plan.numbers)
    halves = tuple(each.half_width(level) for each in noise_plan.numbers)
    widths = []
    for numbers in _groups(size, plan):
        cell = Cell((), numbers, variances, halves)
        value, bounds = after.value(cell), after.interval(cell)
        if not isinstance(value, int | float) or bounds is None:
            return AtSize(size, None)
        widths.append(max(bounds[1] - value, value - bounds[0]))
    return AtSize(size, max(widths))


def _reads_a_key(after: After) -> bool:
    return after.op == "key" or any(_reads_a_key(part) for part in after.args)


def _groups(size: int, plan: Plan) -> Iterator[tuple[float, ...]]:
    """Yield the exact numbers of groups of a size: all values equal, or split between the two bounds."""
    for place in PLACES:
        for split in (False, True):
            yield tuple(_exact(number, size, place, split=split) for number in plan.numbers)


def _exact(number: Number, size: int, place: float, *, split: bool) -> float:
    if number.kind == "sum":
        return size * (number.low + place * (number.high - number.low))
    if number.kind != "square" or number.value is None:
        return float(size)
    low, high = number.value.low, number.value.high
    values = ((place, high), (1 - place, low)) if split else ((1.0, low + place * (high - low)),)
    return size * sum(share * (value - number.centre) ** 2 for share, value in values) / number.unit
