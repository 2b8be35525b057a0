"""The plan of a query: the numbers of the database, their sensitivity, and the post-processing."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import Literal

from celosia.gateway.sql.after import After
from celosia.gateway.sql.steps import Layer
from celosia.gateway.sql.values import Value
from celosia.kernels.budget import neighbours as n

Kind = Literal["rows", "present", "persons", "distinct", "sum", "square", "quantile"]
LARGEST_UNITS = 2**31
"""A clamped value has at most this many units, so that the exact sum over 2^32 rows still fits into 64 bits."""
FINE_UNITS = 2**30
"""Units of a clamped real value: rounding to them moves the sum of n rows by at most n / 2 units."""
GROUP_SECONDS = 2e-5
"""Time of a group that is not shown, from the database to the threshold (16 microseconds with 20 numbers)."""
DISTINCT_SECONDS = 1e-4
"""Time until a database is ready to collect distinct values (at most 90 microseconds measured, on DuckDB)."""
MOST_STEPS = 4096
STEPS = 1024


@dataclass(frozen=True)
class Number:
    """One number per cell that the database computes, in whole units, or the histogram behind a quantile.

    For a sum, each row adds ``round((x - centre) / unit)``, clamped to ``[low, high]``: whole numbers, so that the sum
    is exact and one row changes it by no more than stated, whatever floating point does.
    """

    kind: Kind
    value: Value | None = None
    centre: float = 0.0
    unit: float = 1.0
    low: int = 0
    high: int = 1
    rank: float | None = None
    """For a quantile: the share of rows below it; 0 and 1 stand for minimum and maximum."""

    def key(self) -> tuple[object, ...]:
        """Return what identifies the number: equal numbers are computed once."""
        return (self.kind, self.value.sql if self.value else "", self.centre, self.unit, self.rank)

    def sensitivity(self, neighbours: str, rows: int, cells: int | None) -> n.Sensitivity:
        """Return the sensitivity of the numbers of all cells together, in units."""
        if self.kind == "persons":
            return n.of_persons(neighbours, rows, cells)
        if self.kind in ("sum", "square"):
            return n.of_sum(self.low, self.high, neighbours, rows, cells)
        if self.kind == "quantile":
            return self._rank_sensitivity(neighbours, rows, cells)
        return n.of_count(neighbours, rows, cells)

    def _rank_sensitivity(self, neighbours: str, rows: int, cells: int | None) -> n.Sensitivity:
        r"""Return the sensitivity of the scores of the candidates.

        The score :math:`-|(1-q)\,\#\{x<c\} - q\,\#\{x>c\}|` changes by at most max(q, 1-q) per row added or removed.
        """
        assert self.rank is not None
        step = max(self.rank, 1 - self.rank)
        if neighbours == "add-remove":
            return n.Sensitivity(step * rows, step * rows)
        return n.Sensitivity(rows, rows) if cells == 1 else n.Sensitivity(2 * step * rows, 2 * step * rows)

    def candidates(self) -> list[float]:
        """Return the public values among which a quantile is chosen, in increasing order."""
        if self.unit == 1 and self.value is not None and self.value.whole:
            return [float(self.low + i) for i in range(self.high - self.low + 1)]
        return [self.centre + self.unit * i for i in range(STEPS + 1)]


@dataclass(frozen=True)
class Source:
    """One table of the query under its inner name."""

    name: str
    alias: str
    join: str = ""
    on: str = ""


@dataclass(frozen=True)
class Output:
    """One column of the answer."""

    name: str
    after: After
    kind: Literal["key", "number"]


@dataclass(frozen=True)
class Plan:
    """Everything that is needed to answer a query, without any data."""

    sources: tuple[Source, ...]
    reads: tuple[tuple[str, str], ...]
    """SQL that reads a column as declared, with its inner name."""
    steps: tuple[Layer, ...]
    """Columns that are computed from those, layer by layer."""
    where: str
    keys: tuple[Value, ...]
    domains: tuple[tuple[str, tuple[str | int | bool, ...]], ...] | None
    """Inner columns behind the keys with all values they can take; None when the keys are not public."""
    numbers: tuple[Number, ...]
    outputs: tuple[Output, ...]
    having: After | None
    order: tuple[tuple[After, bool], ...]
    limit: int | None
    person: str
    """SQL of the person column; empty when each row is a person."""
    truncated: bool
    rows: int
    row_seconds: float
    """Upper bound of the seconds that the values of one person's rows take."""
    sort_seconds: float
    """Upper bound of the seconds that one row adds by its place among the rows that are sorted or hashed."""
    neighbours: str
    notes: tuple[str, ...] = ()

    @property
    def public_keys(self) -> bool:
        """Whether the cells are known without reading the data."""
        return self.domains is not None

    @property
    def threshold_number(self) -> int | None:
        """Index of the number that decides whether a key that is not public may be shown."""
        if self.public_keys:
            return None
        wanted = "persons" if self.person and self.truncated else "rows"
        return next(i for i, number in enumerate(self.numbers) if number.kind == wanted)

    @property
    def work(self) -> int:
        """Approximate microseconds per cell after the database: choosing quantiles, outputs with their errors."""
        steps = sum(len(number.candidates()) for number in self.numbers if number.kind == "quantile")
        read = [output.after for output in self.outputs]
        sizes = sum(20 + after.size() * (3 + 2 * len(after.indices())) for after in read)
        return (
            2 * steps
            + sizes
            + sum(after.size() for after, _ in self.order)
            + (self.having.size() if self.having else 0)
        )

    @property
    def person_seconds(self) -> float:
        """Upper bound of the seconds that one person adds to a query by their rows, groups and distinct values.

        Groups of keys that are not public exist because of their rows, and a database allocates memory for distinct
        values and quantiles when the first row reaches them.
        """
        groups = 0 if self.public_keys else self.rows
        quantiles = sum(number.kind == "quantile" for number in self.numbers)
        distinct = sum(number.kind == "distinct" for number in self.numbers)
        created = groups * (1 + quantiles) * GROUP_SECONDS + (distinct + quantiles) * DISTINCT_SECONDS
        return created + (1 + quantiles) * self.row_seconds + self.sort_seconds

    def fingerprint(self, *more: object) -> str:
        """Return a fingerprint of the query, equal for equal queries however they were written.

        Ledgers find stored answers by it: other names of the classes and fields in it would make answered queries cost
        again.
        """
        content: list[object] = [
            self.sources,
            self.reads,
            self.steps,
            self.where,
            [k.sql for k in self.keys],
            self.domains,
        ]
        content += [[x.key() for x in self.numbers], self.outputs, self.having, self.order, self.limit]
        content += [self.person, self.truncated, self.rows, self.neighbours, more]
        return hashlib.sha256(json.dumps(content, default=repr, ensure_ascii=True).encode()).hexdigest()


def sum_of(value: Value, centred: bool) -> Number:
    """Return the exact sum of a bounded value; ``centred`` sums distances from the middle (half the sensitivity)."""
    value.need_bounds()
    unit = _unit(value, value.high - value.low if centred else max(abs(value.low), abs(value.high)))
    middle = (value.low + value.high) / 2
    centre = (math.floor(middle) if value.whole and unit == 1 else middle) if centred else 0.0
    low, high = _round((value.low - centre) / unit), _round((value.high - centre) / unit)
    return Number("sum", value, centre, unit, low, high)


def square_of(value: Value, centre: float) -> Number:
    """Return the exact sum of squared distances from ``centre``."""
    value.need_bounds()
    most = max(abs(value.low - centre), abs(value.high - centre)) ** 2
    unit = 1.0 if value.whole and float(centre).is_integer() and most <= LARGEST_UNITS else _power(most / FINE_UNITS)
    return Number("square", value, centre, unit, 0, max(1, _round(most / unit)))


def quantile_of(value: Value, rank: float) -> Number:
    """Return the value below which a share ``rank`` of the rows lies."""
    value.need_bounds()
    if value.whole and value.high - value.low < MOST_STEPS:
        return Number("quantile", value, value.low, 1.0, int(value.low), int(value.high), rank)
    loose = replace(value, whole=False)
    return Number("quantile", loose, value.low, (value.high - value.low) / STEPS or 1.0, 0, STEPS - 1, rank)


def _unit(value: Value, reach: float) -> float:
    if value.facts is not None and value.facts.unit is not None:
        return value.facts.unit if reach / value.facts.unit <= LARGEST_UNITS else _power(reach / LARGEST_UNITS)
    if value.whole:
        return 1.0 if reach <= LARGEST_UNITS else _power(reach / LARGEST_UNITS)
    return _power(reach / FINE_UNITS)


def _power(size: float) -> float:
    """Return the power of two at or above a size: dividing by it is exact."""
    return 2.0 ** math.ceil(math.log2(size)) if size > 0 else 1.0


def _round(value: float) -> int:
    return math.floor(value + 0.5)
