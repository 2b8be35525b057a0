"""Base class of the fuzzy models: cells of a table, and the sensitive column as codes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.classes import STAR
from celosia.errors import ParameterError
from celosia.histogram import number
from celosia.kernels.fuzzy.coding import Cells, FuzzyCoding
from celosia.parts import ChoosesParameters, Memory, Model, Verdict, meets, worst
from celosia.table.columns import encoded_column, sensitive_codes
from celosia.views.fuzzy_cells import quasi_values

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from pydantic import JsonValue

    from celosia.classes import ClassCounts, Sensitive
    from celosia.table import Table

SEED = 0
"""Clusterings of a measurement start from fixed seeds: the same table gives the same value."""


class _FuzzyModel(FuzzyCoding, ChoosesParameters, Model):
    """A model of the cells of a fuzzy coding of the quasi-identifiers; suppressed records form a crisp class."""

    least_degree: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="a cell in which no record has this degree is negligible: it does not count",
    )
    least_count: float = Field(
        default=0.0, ge=0, description="a cell with a smaller σ-count is negligible: it does not count"
    )

    memory: ClassVar[Memory] = "columns"
    scope: ClassVar[Literal["class", "file"]] = "file"

    def table_cells(self, table: Table) -> Cells:
        """Return the cells of the quasi-identifiers over the records that are not suppressed."""
        own = {name: getattr(self, name) for name in _FuzzyModel.model_fields}
        return table.compute_once(
            ("fuzzy cells", repr(own)),
            lambda: without_negligible(
                self.cross(quasi_values(table), SEED), least_degree=self.least_degree, least_count=self.least_count
            ),
        )

    def cell_evidence(self, table: Table) -> dict[str, JsonValue]:
        """Return the number of negligible cells and of the records that are in such cells only, where some could be."""
        if not self.least_degree and not self.least_count:
            return {}
        every = self.model_copy(update={"least_degree": 0.0, "least_count": 0.0}).table_cells(table)
        counted = self.table_cells(table)
        cells = [int((cell_sizes(each)[0] > 0).sum()) for each in (every, counted)]
        outside = int((counted.degrees.sum(axis=1) == 0).sum())
        return {"cells": cells[1], "negligible_cells": cells[0] - cells[1], "records_in_no_cell": outside}

    def table_alike(self, table: Table) -> NDArray[np.int64]:
        """Return a number per kept record, equal for records with equal quasi-identifiers."""
        return table.compute_once("fuzzy alike", lambda: alike(table))

    def table_sensitive(self, table: Table, column: str) -> Sensitive:
        """Return the sensitive column of the records that are not suppressed; a missing value is a value, the last."""
        return table.compute_once(
            ("fuzzy sensitive", column), lambda: sensitive_codes(table, column).take(table.classes.members)
        )

    @abstractmethod
    def measured_value(self, table: Table) -> float:
        """Return the measured value of a table."""

    def verdict(self, table: Table) -> Verdict:
        """Return the measured value and whether it meets the bound: degrees of records, not classes, are judged."""
        values = []
        for reading in table.readings():
            if reading.rows.stars is None:
                values.append(self.measured_value(reading))
            else:  # a suppressed record is in no fuzzy cell: a crisp model judges their class
                values += self._suppressed_scores(reading)
        value = worst(self, np.array(values))
        return Verdict(value, meets(self, value))

    def crisp(self) -> Model:
        """Return the model of classes that judges the suppressed records."""
        raise NotImplementedError

    def _suppressed_scores(self, table: Table) -> list[float]:
        import polars as pl

        model = self.crisp()
        keys, counts = table.classes.histogram.cells, table.class_counts(model.counted_columns(), in_order=True)
        stars = keys.select(pl.all_horizontal(pl.all().cast(pl.String).eq_missing(STAR))).to_series().to_numpy()
        scores: list[float] = model.scores(counts.take(stars)).tolist()
        return scores

    def failing_records(self, table: Table) -> NDArray[np.bool_]:
        """All records that are not suppressed, where the requirement does not hold."""
        return table.classes.members & (not self.holds(table))

    def score(self, classes: ClassCounts) -> float:  # noqa: ARG002
        """Raise: fuzzy cells are not classes."""
        raise ParameterError(
            f"{self.name} is measured on the records of a table, a search over classes cannot use it. "
            "Search with another requirement and check this one afterwards."
        )

    def cell_frame(self, cells: Cells, **columns: NDArray[np.generic]) -> pl.DataFrame:
        """One row per cell that some record belongs to; each further column is an array groups × fuzzy cells."""
        import polars as pl

        size, count = cell_sizes(cells)
        group, fuzzy = np.nonzero(size > 0)
        frame: dict[str, object] = {
            name: [cells.group_names[g][j] for g in group] for j, name in enumerate(cells.crisp_columns)
        }
        frame |= {name: [cells.names[f][j] for f in fuzzy] for j, name in enumerate(cells.fuzzy_columns)}
        frame |= {"sigma": size[group, fuzzy], "size": count[group, fuzzy]}
        frame |= {name: values[group, fuzzy] for name, values in columns.items()}
        return pl.DataFrame(frame)


def record_frame(table: Table, columns: Mapping[str, NDArray[np.float64]]) -> pl.DataFrame:
    """Numbers of the kept records as columns in table order; null when suppressed."""
    import polars as pl

    kept = table.classes.members
    frame: dict[str, pl.Series] = {}
    for name, numbers in columns.items():
        values = np.full(len(kept), np.nan)
        values[kept] = numbers
        frame[name] = pl.Series(values).fill_nan(None)
    return pl.DataFrame(frame)


def without_negligible(cells: Cells, *, least_degree: float, least_count: float) -> Cells:
    """Return the cells with degree 0 for all records in the negligible ones."""
    from celosia.kernels.fuzzy.sets import TOLERANCE

    if not least_degree and not least_count:
        return cells
    degrees = cells.degrees.copy()
    for _, rows, mu in cells.blocks():
        small = (mu.max(axis=0, initial=0) < least_degree - TOLERANCE) | (mu.sum(axis=0) < least_count - TOLERANCE)
        degrees[np.ix_(rows, np.flatnonzero(small))] = 0.0
    return replace(cells, degrees=degrees)


def cell_sizes(cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """σ-count and whole count of each cell, groups × fuzzy cells."""
    from celosia.kernels.fuzzy.cardinality import count

    shape = (len(cells.group_names), cells.degrees.shape[1])
    size, whole = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    for place, _, mu in cells.blocks():
        size[place], whole[place] = mu.sum(axis=0), count(mu)
    return size, whole


def alike(table: Table) -> NDArray[np.int64]:
    """Return a number per kept record, equal for records with equal quasi-identifiers."""
    kept = table.classes.members
    return number([encoded_column(table, name).codes[kept] for name in table.schema.need_quasi()])
