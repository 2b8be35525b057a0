"""Recode one column: a hierarchy level, mixed levels, intervals, or a table of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.classes import STAR
from celosia.data.schema import Kind
from celosia.errors import DataError, ParameterError
from celosia.hierarchy.ends import coarse_breaks, outer_ends
from celosia.methods.bases.by_rows import EACH_CELL
from celosia.methods.bases.domain import canonical_numbers
from celosia.parts import Column, CountsRows, Memory, Method, PersonUnit, Private, PublishesEvidence, RowWise
from celosia.table import Outcome
from celosia.table.columns import column_types, hierarchy_levels
from celosia.table.edit import map_values, replace_by_expressions

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

_OF_BINS = ("bins", "spacing", "whole", "margin", "ends")
WAYS = ("level", "nodes", "breaks", "bins", "mapping")


class Recode(PublishesEvidence, RowWise, Method):
    r"""Replace the values of a column by coarser ones.

    Exactly one of: ``level`` (a level of the column's hierarchy), ``nodes`` (labels of any levels, each of which stands
    for all values under it; the others stay, or stand at level ``rest``), ``breaks`` (increasing numbers: intervals
    ``[a-b)``, open-ended at both sides), ``bins`` (that many intervals between round numbers around all values),
    ``mapping`` (old value → new value; others stay). The breaks of ``bins`` are, by ``spacing``,

    .. math:: b_j = b_0 + \tfrac{j}{m}\,(b_m - b_0), \qquad
              \log b_j = \log b_0 + \tfrac{j}{m}\,(\log b_m - \log b_0), \qquad b_j \approx Q_7(j/m)

    with ends :math:`b_0 \le x_{(1)}` and :math:`b_m > x_{(n)}` and quantiles rounded, so that no label shows an extreme
    value; ``ends="exact"`` takes the extreme values and the quantiles themselves, as sdcMicro does. Its
    ``globalRecode`` is ``right=True, whole=True, margin=1, ends="exact"`` (ranges are stretched by 1, in the logarithm
    too); with ``include_lowest=False`` the records at the smallest value become missing, as in older versions of it.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [28, 35, 61]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, Recode(column="age", breaks=[30, 60])).polars()["age"].to_list()
    ['<30', '[30-60)', '≥60']
    >>> celosia.protect(table, Recode(column="age", bins=2)).polars()["age"].to_list()
    ['[25-44)', '[25-44)', '[44, 62]']
    """

    column: Column = Field(description="the column to recode")
    level: int | None = Field(default=None, ge=0, description="level of the column's hierarchy")
    nodes: Annotated[tuple[str, ...] | None, Private()] = Field(
        default=None, min_length=1, description="labels of any levels of the hierarchy"
    )
    rest: int = Field(default=0, ge=0, description="level of the values under none of the nodes")
    breaks: tuple[float, ...] | None = Field(default=None, min_length=1, description="increasing break points")
    bins: int | None = Field(default=None, ge=2, description="number of intervals made from the data")
    mapping: Annotated[dict[str, str] | None, Private()] = Field(default=None, description="old value → new value")
    spacing: Literal["equal", "log", "frequency"] = Field(
        default="equal", description="bins of equal width, of equal width of the logarithm, or of about equal frequency"
    )
    right: bool = Field(
        default=False, description="whether the right end belongs to an interval instead of the left one"
    )
    include_lowest: bool = Field(default=True, description="whether the outermost interval is closed at both ends")
    outside: Literal["open", "missing"] = Field(
        default="open", description="values outside the breaks: open-ended intervals, or missing"
    )
    labels: tuple[str, ...] | None = Field(default=None, description="names of the intervals, from the lowest on")
    whole: bool | None = Field(
        default=None, description="round the breaks of bins to whole numbers; by type if not given"
    )
    margin: float = Field(default=0.0, ge=0, description="how far bins reach beyond the extreme values")
    ends: Literal["round", "exact"] = Field(
        default="round", description="ends of bins: round numbers, or those of the data, which show extreme values"
    )
    public_evidence: ClassVar[frozenset[str]] = frozenset({"level", "intervals"})
    persons: ClassVar[PersonUnit] = CountsRows(EACH_CELL)
    memory: ClassVar[Memory] = "none"
    examples: ClassVar = (
        {"column": "q", "level": 1},
        {"column": "x", "bins": 4},
        {"column": "s", "mapping": {"flu": "cold"}},
    )

    def is_row_wise(self) -> bool:
        """Return whether breaks are given: they do not depend on the records."""
        return self.breaks is not None

    @model_validator(mode="after")
    def _one_way(self) -> Recode:
        given = [name for name in WAYS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ParameterError(f"recode: give one of {', '.join(WAYS)}; got {', '.join(given) or 'none'}.")
        if self.breaks is not None and list(self.breaks) != sorted(set(self.breaks)):
            raise ParameterError(f"recode: breaks must increase, got {list(self.breaks)}.")
        if self.breaks is not None and self.outside == "missing" and len(self.breaks) < 2:
            raise ParameterError("recode: outside='missing' needs at least two breaks, got 1.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Recode the column."""
        if self.breaks is not None:
            outcome = self._cut(_numbers(table, self.column), list(self.breaks), self.outside == "open")
            return replace(outcome, table=_with_stars(outcome.table, table, self.column))
        if self.bins is not None:
            return self._cut(table, self._breaks(table), open_ended=False)
        values = table.classes.domain(self.column)
        if self.mapping is not None:
            from celosia.hierarchy import texts

            new = [text if text is None else self.mapping.get(text, text) for text in texts(values)]
            return Outcome(map_values(table, self.column, values, new))
        levels = hierarchy_levels(table, self.column, values)
        highest = max(self.level or 0, self.rest)
        if highest > levels.height:
            raise ParameterError(
                f"recode: column {self.column!r} has levels 0 to {levels.height}, got level {highest}."
            )
        if self.level is not None:
            return Outcome(map_values(table, self.column, values, levels.labels(self.level)), {"level": self.level})
        return Outcome(map_values(table, self.column, values, levels.cut(self.nodes or (), self.rest)))

    def freeze(self, recorded: Mapping[str, Any]) -> Recode:
        """Return a recoding record by record; with ``bins``, by the recorded breaks of the release."""
        if self.bins is None:
            return self
        kept = {name: value for name, value in self.spec().items() if name not in ("use", *_OF_BINS)}
        return Recode(**kept, breaks=recorded["breaks"], outside="missing")

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:
        """Recode new records; a value beyond the bins of the release has no place."""
        done, lost = super().replay(table, recorded, stream)
        if self.bins is not None:
            low, *_, high = recorded["breaks"]
            values = table.numeric([self.column])[:, 0]
            lost = (values < low) | (values > high)
        return done, lost

    def _breaks(self, table: Table) -> list[float]:
        """Compute the breaks of the bins from the data."""
        self._check_numeric(table)
        m = self.bins or 2
        low, high = self._extremes(table)
        log, rounded = self.spacing == "log", self.ends == "round"
        if log and low <= 0:
            raise DataError(f"recode: column {self.column!r} has values that are not positive: no logarithm.")
        if self.spacing == "frequency":
            shares = np.arange(m + 1) / m
            breaks = np.unique(table.engine.quantiles(table.rows.frame, self.column, shares.tolist()))
            breaks = coarse_breaks(breaks) if rounded else breaks
        else:
            stretch = float(np.exp(self.margin))
            ends = (low / stretch, high * stretch) if log else (low - self.margin, high + self.margin)
            ends = outer_ends(*ends, logarithm=log) if rounded and low < high else ends
            breaks = np.geomspace(*ends, m + 1) if log else np.linspace(*ends, m + 1)
        whole = self.whole if self.whole is not None else column_types(table)[self.column].is_integer()
        if whole and rounded:
            breaks = np.array([np.floor(breaks[0]), *np.rint(breaks[1:-1]), np.ceil(breaks[-1])])
        distinct = sorted(set((np.rint(breaks) if whole else breaks).tolist()))
        if len(distinct) < 2:
            raise DataError(f"recode: column {self.column!r} has too few different values for {m} intervals.")
        return distinct

    def _cut(self, table: Table, breaks: list[float], open_ended: bool) -> Outcome:
        """Replace numbers by the intervals that hold them."""
        self._check_numeric(table)
        count = len(breaks) + 1 if open_ended else len(breaks) - 1
        if self.labels is not None and len(self.labels) != count:
            raise ParameterError(f"recode: {count} intervals need {count} labels, got {len(self.labels)}.")
        evidence = {"intervals": count}
        private = {"breaks": breaks} if self.bins is not None else {}
        return Outcome(
            replace_by_expressions(table, {self.column: self._interval(breaks, open_ended)}), evidence, private
        )

    def _interval(self, breaks: list[float], open_ended: bool) -> nw.Expr:
        """Label of the interval as one expression."""
        import narwhals as nw

        from celosia.hierarchy.values import Interval

        value = nw.col(self.column)
        ends = [-np.inf, *breaks, np.inf] if open_ended else breaks
        last = len(ends) - 2
        closed = not open_ended and self.include_lowest

        def label(j: int) -> nw.Expr:
            low, high = float(ends[j]), float(ends[j + 1])
            left = not self.right or (closed and j == 0)
            right = self.right or (closed and j == last)
            inside = ~value.is_null()
            if np.isfinite(low):
                inside = inside & ((value >= low) if left else (value > low))
            if np.isfinite(high):
                inside = inside & ((value <= high) if right else (value < high))
            name = self.labels[j] if self.labels else str(Interval(low, high, left, right))
            return nw.when(inside).then(nw.lit(name))

        def search(first: int, behind: int) -> nw.Expr:
            # bisection: the depth of one condition after another would exceed the recursion limit at 400 intervals
            if behind - first == 1:
                return label(first)
            middle = (first + behind) // 2
            cut = float(ends[middle])
            below = (value <= cut) if self.right else (value < cut)
            return nw.when(below).then(search(first, middle)).otherwise(search(middle, behind))

        return search(0, last + 1)

    def _extremes(self, table: Table) -> tuple[float, float]:
        import narwhals as nw

        value = nw.col(self.column)
        extremes = nw.from_native(table.rows.frame).select(low=value.min(), high=value.max()).to_native()
        low, high = table.engine.collect(extremes).row(0)
        if low is None:
            raise DataError(f"recode: column {self.column!r} has no values.")
        return float(low), float(high)

    def _check_numeric(self, table: Table) -> None:
        if not column_types(table)[self.column].is_numeric():
            raise DataError(
                f"recode: column {self.column!r} is not numeric, so it cannot be cut into intervals. Where its texts "
                f'are numbers, declare it: kinds = {{{self.column} = "numeric"}}.'
            )


def _numbers(table: Table, name: str) -> Table:
    """Parse the texts of a column that is declared numeric as numbers; other texts become missing."""
    import polars as pl

    if column_types(table)[name] != pl.String or table.schema[name].kind is not Kind.NUMERIC:
        return table
    return table.replace({name: canonical_numbers(table.column(name))})


def _with_stars(recoded: Table, table: Table, name: str) -> Table:
    """Put the suppressed cells of a column back into the recoded table."""
    import polars as pl

    if column_types(table)[name] not in (pl.String, pl.Categorical, pl.Enum):
        return recoded
    was = table.column(name).cast(pl.String)
    stars = was == STAR
    if not stars.any():
        return recoded
    cells = pl.DataFrame({"is": recoded.column(name), "was": was}).select(
        pl.when(pl.col("was") == STAR).then(pl.lit(STAR)).otherwise(pl.col("is")).alias(name)
    )
    return recoded.replace({name: cells[name]})
