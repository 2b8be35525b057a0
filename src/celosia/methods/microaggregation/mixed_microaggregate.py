"""Microaggregation of numbers and categories together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError, RequirementError
from celosia.methods.bases.cells import Impossible, as_column, created_impossible, numbers, strata, units
from celosia.methods.bases.unit_groups import Persons, sizes
from celosia.methods.bases.units import Units
from celosia.parts import Columns, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MANY = 3000  # categories whose distances fit into a table

Distance = Literal["edit", "jaccard", "cosine"]
Aggregate = Literal["mean", "median", "mode", "medoid"]


@dataclass(frozen=True)
class Axis:
    """Column as input of the kernel: cells, kind, number of categories, distances between them."""

    name: str
    kind: int
    cells: Floats
    size: int = 0
    table: Floats | None = None
    raw: Floats | None = None

    @property
    def values(self) -> Floats:
        """Values of which groups get aggregates: unscaled numbers, or codes."""
        return self.cells if self.raw is None else self.raw


class MixedMicroaggregate(Method):
    r"""Group near records over numeric, ordinal and nominal columns and give each group one value per column.

    .. math:: d(x, y) = \frac{\sum_j w_j\, d_j(x_j, y_j)}{\sum_j w_j}, \qquad
              d_j = \frac{|x_j - y_j|}{\max_j - \min_j} \quad\text{or}\quad [x_j \ne y_j]

    Ordinal columns count steps of their order. ``distance`` gives text columns a distance of their own: ``edit``
    (Levenshtein over the longer length), ``jaccard`` or ``cosine`` for sets written as ``a|b|c``. Groups are those of
    MDAV under this distance; numbers become the mean, ordinal categories the median, nominal ones the mode of the
    group, or what ``aggregate`` names for a column (``medoid``: the value of the record nearest to the rest of its
    group). Means and medians of whole numbers have decimals. Applied to all quasi-identifiers it gives k-anonymity,
    of persons where a person column is declared. A group whose values would meet an ``impossible``
    condition takes those of one of its records instead. Time grows with the square of the records over k: use
    ``within`` for large files. Records with missing values are grouped with those that miss the same columns.
    References: Gower (1971); Domingo-Ferrer & Torra (2005).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [20, 22, 60, 64], "job": ["cook", "cook", "nurse", "judge"]})
    >>> method = MixedMicroaggregate(columns=["age", "job"], k=2)
    >>> celosia.protect(celosia.read(data), method).polars().rows()
    [(21.0, 'cook'), (21.0, 'cook'), (62.0, 'judge'), (62.0, 'judge')]
    """

    columns: SuitedColumns = Field(
        default=(), description="columns that are grouped together; the quasi-identifiers when empty"
    )
    k: Annotated[int, Explored(3, 5, 10)] = Field(default=3, ge=2, description="smallest group size")
    weights: dict[str, float] = Field(default={}, description="weight of a column in the distance; 1 when not given")
    distance: dict[str, Distance] = Field(default={}, description="distance of a text column: edit, jaccard, cosine")
    aggregate: dict[str, Aggregate] = Field(default={}, description="what stands for a group, by column")
    within: Columns = Field(default=(), description="group only records that agree on these columns")
    impossible: Impossible = Field(default=(), description="conditions that no record may come to meet")
    memory: ClassVar[Memory] = "blocks"
    persons: ClassVar[PersonUnit] = "counted"
    suits: ClassVar[tuple[str, ...]] = ("numeric", "ordinal", "nominal")
    not_replayable_because: ClassVar[str] = "a cell stands for a group of records"
    examples: ClassVar = ({"columns": ["q", "x"], "k": 3},)

    @model_validator(mode="after")
    def _named_columns(self) -> MixedMicroaggregate:
        for name in (*self.weights, *self.distance, *self.aggregate):
            if name not in self.columns:
                raise ParameterError(f"mixed-microaggregate: column {name!r} is not among the columns to group.")
        if any(not weight > 0 for weight in self.weights.values()):
            raise ParameterError(f"mixed-microaggregate: weights must be above 0, got {min(self.weights.values()):g}.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Group and aggregate."""
        unit = units(self.name, table, self.columns)
        axes = [self._axis(table, name, unit) for name in self.columns]
        if len(unit) == 0:
            return Outcome(table, {"groups": 0})
        group = self._groups(table, unit, axes)
        of_group = {axis.name: self._aggregates(axis, group, axes) for axis in axes}
        done = self._replace_cells(table, unit, group, axes, of_group)
        wrong = created_impossible(self.name, table, done, self.impossible)
        if wrong.any():
            done = self._repair(table, unit, group, axes, of_group, wrong)
        return Outcome(done, sizes(group))

    def _axis(self, table: Table, name: str, unit: Units) -> Axis:
        from celosia.kernels.neighbours.gower import LABEL, NUMBER, ORDER, TABLE

        info = table.schema[name]
        numeric = table.column(name).dtype.is_numeric()
        if numeric and info.kind == "numeric" and name not in self.distance:
            x = numbers(self.name, table, [name])[unit.first, 0]
            filled = x[~np.isnan(x)]
            span = float(filled.max() - filled.min()) if len(filled) else 0.0
            return Axis(name, NUMBER, x / (span if span > 0 else 1.0), raw=x)
        codes, values = table.codes(name)
        cells = np.asarray(codes, dtype=np.float64)[unit.first]
        cells[cells < 0] = np.nan
        if name in self.distance:
            return Axis(name, TABLE, cells, len(values), self._distances(name, values))
        if info.kind in {"ordinal", "date"} or numeric:
            return Axis(name, ORDER, cells / max(len(values) - 1, 1), len(values))
        return Axis(name, LABEL, cells, len(values))

    def _distances(self, name: str, values: pl.Series) -> Floats:
        """Distances between all categories of a column."""
        from celosia.kernels.neighbours.gower import edit_distances

        texts = [str(value) for value in values]
        if len(texts) > MANY:
            raise DataError(
                f"mixed-microaggregate: column {name!r} has {len(texts)} categories; "
                f"distances between categories are computed for at most {MANY}. Group them first."
            )
        if self.distance[name] == "edit":
            letters = [np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32) for text in texts]
            begin = np.concatenate([[0], np.cumsum([len(word) for word in letters])]).astype(np.int64)
            joined = np.concatenate(letters) if letters else np.empty(0)
            return np.asarray(edit_distances(joined.astype(np.int64), begin))
        sets = [frozenset(part.strip() for part in text.split("|") if part.strip()) for text in texts]
        items = {item: i for i, item in enumerate(sorted(frozenset().union(*sets)))}
        has = np.zeros((len(sets), len(items)))
        for row, members in enumerate(sets):
            has[row, [items[item] for item in members]] = 1.0
        both = has @ has.T
        count = has.sum(axis=1)
        whole = (
            count[:, None] + count[None, :] - both
            if self.distance[name] == "jaccard"
            else np.sqrt(count[:, None] * count[None, :])
        )
        near = np.divide(both, whole, out=np.eye(len(sets)), where=whole > 0)
        return np.asarray(1.0 - near, dtype=np.float64)

    def _groups(self, table: Table, unit: Units, axes: Sequence[Axis]) -> Ints:
        from celosia.kernels.neighbours.gower import Mixed, mdav_mixed

        cells = np.column_stack([axis.cells for axis in axes])
        gone = np.isnan(cells)
        persons = Persons(self.name, table, unit, self.k)
        label = np.empty(len(unit), np.int64)
        count = 0
        for rows in strata(table, self.within, unit, list(gone.T.astype(np.int64))):
            used = [axis for axis, miss in zip(axes, gone[rows[0]], strict=True) if not miss]
            group = np.zeros(len(rows), np.int64)
            persons.check_enough(rows, parted=bool(self.within), missing=bool(gone.any()))
            if used:
                tables = [np.empty(0) if axis.table is None else axis.table.reshape(-1) for axis in used]
                mixed = Mixed(
                    np.column_stack([axis.cells[rows] for axis in used]),
                    np.array([axis.kind for axis in used]),
                    np.array([self.weights.get(axis.name, 1.0) for axis in used]),
                    np.concatenate(tables),
                    np.concatenate([[0], np.cumsum([len(distances) for distances in tables])[:-1]]).astype(np.int64),
                    np.array([axis.size for axis in used]),
                )
                group = mdav_mixed(mixed, self.k)
                group = persons.join(rows, group, partial(_coordinates, axes, rows))
            label[rows] = count + group
            count += int(group.max()) + 1
        return np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def _aggregate_of(self, axis: Axis) -> str:
        """Aggregate that replaces the values of a column: the one given, or the default of its kind."""
        from celosia.kernels.neighbours.gower import NUMBER, ORDER

        return self.aggregate.get(axis.name, {NUMBER: "mean", ORDER: "median"}.get(axis.kind, "mode"))

    def _aggregates(self, axis: Axis, group: Ints, axes: Sequence[Axis]) -> Floats:
        """Aggregate of each group in one column."""
        from celosia.kernels.neighbours.gower import NUMBER
        from celosia.methods.bases.aggregate import means, medians, medoids, middle_codes, modes

        how = self._aggregate_of(axis)
        if axis.kind != NUMBER and how == "mean":
            raise ParameterError(f"mixed-microaggregate: column {axis.name!r} holds categories, which have no mean.")
        if how == "mean":
            return means(axis.values[:, None], group)[:, 0]
        if how == "medoid":
            return axis.values[medoids(_coordinates(axes), group)]
        if axis.kind == NUMBER and how == "median":
            return medians(axis.values[:, None], group)[:, 0]
        distinct, codes = np.unique(axis.values, return_inverse=True)
        pick = (modes if how == "mode" else middle_codes)(codes.reshape(-1).astype(np.int64), group)
        return np.asarray(distinct[pick])

    def _replace_cells(
        self, table: Table, unit: Units, group: Ints, axes: Sequence[Axis], of_group: dict[str, Floats]
    ) -> Table:
        """Replace the cells of the records by those of their groups."""
        import polars as pl

        from celosia.kernels.neighbours.gower import NUMBER, ORDER

        new: dict[str, pl.Series] = {}
        for axis in axes:
            cells = of_group[axis.name][group][unit.member]
            column = table.column(axis.name)
            if axis.kind == NUMBER:
                whole = self._aggregate_of(axis) in ("mode", "medoid")
                new[axis.name] = as_column(column, cells, whole=whole)
            else:
                values = table.codes(axis.name)[1]
                scale = max(axis.size - 1, 1) if axis.kind == ORDER else 1
                codes = np.where(np.isnan(cells), -1, np.rint(np.nan_to_num(cells) * scale)).astype(np.int64)
                picked = pl.Series(codes).replace(-1, None).cast(pl.UInt32)
                new[axis.name] = values.gather(picked).alias(axis.name).cast(column.dtype)
        return table.replace(new)

    def _repair(
        self,
        table: Table,
        unit: Units,
        group: Ints,
        axes: Sequence[Axis],
        of_group: dict[str, Floats],
        wrong: NDArray[np.bool_],
    ) -> Table:
        """Replace the aggregates of each group that would become impossible by the values of one of its records."""
        largest = int(np.bincount(group).max())
        order = np.argsort(group, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(group))])
        for turn in range(largest):
            bad = np.unique(group[unit.member[wrong]])
            member = order[np.minimum(start[bad] + turn, start[bad + 1] - 1)]
            for axis in axes:
                of_group[axis.name] = of_group[axis.name].copy()
                of_group[axis.name][bad] = axis.values[member]
            done = self._replace_cells(table, unit, group, axes, of_group)
            wrong = created_impossible(self.name, table, done, self.impossible)
            if not wrong.any():
                return done
        raise RequirementError(
            f"mixed-microaggregate: {int(wrong.sum())} records would meet an impossible condition whatever stands for "
            "their group; add the columns of the condition to within."
        )


def _coordinates(axes: Sequence[Axis], rows: Ints | slice = slice(None)) -> Floats:
    """Coordinates of some units, over all columns; a missing cell is 0."""
    return np.nan_to_num(np.column_stack([_indicators(axis)[rows] for axis in axes]))


def _indicators(axis: Axis) -> Floats:
    """Column as numbers with comparable squared distances: itself, or an indicator times √½ per category."""
    from celosia.kernels.neighbours.gower import NUMBER, ORDER

    if axis.kind in (NUMBER, ORDER):
        return axis.cells[:, None]
    codes = np.nan_to_num(axis.cells, nan=-1).astype(np.int64)
    if axis.size > MANY:
        return np.zeros((len(codes), 1))
    hit = codes[:, None] == np.arange(axis.size)[None, :]
    return np.where(hit, np.sqrt(0.5), 0.0)
