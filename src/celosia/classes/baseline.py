"""Baseline of a sensitive column: its domain and the distribution that classes are compared with.

The distribution is that of the input table, records that are suppressed or left out later included; persons are
counted where a person column is declared. Steps on the values of the column are applied to the input too; a column
that a step synthesised is compared with the result of that step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Kind, Schema
from celosia.histogram import Domain, Encoded

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.histogram import Histogram


@dataclass(frozen=True, eq=False)
class Baseline:
    """Values of a sensitive column in the order of its kind, a missing one last, with their distribution."""

    values: pl.Series
    share: NDArray[np.float64]
    """Distribution that classes are compared with."""
    ancestors: NDArray[np.int32] | None
    """The column's hierarchy: ``ancestors[level, value]`` is the generalised code; level 0 has one for each value."""
    numbers: NDArray[np.float64] | None
    """The values as numbers, where the column is numeric; a missing one is NaN."""
    prevalence: NDArray[np.float64] | None = None
    """Share of the persons who have each value; None where nobody has several values, so that it is ``share``."""

    @property
    def missing_code(self) -> int:
        """The code of a missing value, which is the last one; -1 where none is missing."""
        return len(self.values) - 1 if len(self.values) and self.values[-1] is None else -1

    def codes(self, column: Encoded) -> NDArray[np.int32]:
        """Return the codes of a column of the table over this domain."""
        return column.recode(Domain(self.values))


@dataclass(frozen=True, eq=False)
class Sensitive:
    """One sensitive column: the code of each record, and the values and shares that distances use."""

    codes: NDArray[np.int32]
    width: int
    """Number of distinct values; codes lie below it and follow the order of the column's kind."""
    ancestors: NDArray[np.int32] | None = None
    numbers: NDArray[np.float64] | None = None
    baseline: NDArray[np.float64] | None = None
    """Distribution that classes are compared with; that of these records unless given."""
    missing_code: int = -1
    """The code of a missing value; -1 where none is missing."""
    prevalence: NDArray[np.float64] | None = None
    """Share of the persons of the input table who have each value; that of the baseline unless given."""

    @classmethod
    def of(cls, column: Encoded, domain: Baseline) -> Sensitive:
        """Encode a column of a table over its domain."""
        codes, width = domain.codes(column), len(domain.values)
        of_input = (domain.ancestors, domain.numbers, domain.share, domain.missing_code, domain.prevalence)
        return cls(codes, width, *of_input)

    def take(self, records: NDArray[np.bool_]) -> Sensitive:
        """Select records; the baseline stays."""
        return replace(self, codes=self.codes[records])

    def share(self) -> NDArray[np.float64]:
        """Return the distribution that classes are compared with."""
        if self.baseline is not None:
            return self.baseline
        counts = np.bincount(self.codes, minlength=self.width)
        return np.asarray(counts / max(1, len(self.codes)), dtype=np.float64)


def baseline(schema: Schema, name: str, values: pl.Series, whole: Histogram, raw: pl.Series, persons: int) -> Baseline:
    """Return the baseline of ``values`` from the counts ``whole`` of ``persons`` persons.

    ``raw`` are the values of the column as read.
    """
    import polars as pl

    count = np.bincount(whole.column(name).recode(Domain(values)), weights=whole.persons, minlength=len(values))
    numeric = schema[name].kind == Kind.NUMERIC and values.dtype.is_numeric()
    return Baseline(
        values,
        np.asarray(count / max(1.0, count.sum()), dtype=np.float64),
        _ancestors(schema, name, values, raw),
        values.cast(pl.Float64).fill_null(np.nan).to_numpy() if numeric else None,
        np.asarray(count / persons, dtype=np.float64) if count.sum() > persons > 0 else None,
    )


def _ancestors(schema: Schema, name: str, values: pl.Series, raw: pl.Series) -> NDArray[np.int32] | None:
    """Code the values on every level; where a step recoded the column to a level, from that level upwards."""
    hierarchy = schema.hierarchy(name)
    if hierarchy is None:
        return None
    levels = hierarchy.levels(raw, column=name)
    at_start = values.dtype == raw.dtype and values.equals(raw)
    for first in range(levels.height + 1):
        labels = levels.labels(first)
        place = {label: i for i, label in enumerate(labels)}
        if at_start or all(value in place for value in values.to_list()):
            rows = np.arange(len(values)) if at_start else np.array([place[value] for value in values.to_list()])
            above = [levels.codes(level)[rows] for level in range(first, levels.height + 1)]
            return np.vstack(above).astype(np.int32)
    return None  # the column has values that are not in its hierarchy
