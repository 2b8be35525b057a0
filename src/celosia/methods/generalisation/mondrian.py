"""Mondrian: multidimensional partitioning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError, RequirementError
from celosia.parts import Explored, Memory, Method, Model, PersonUnit, Requires, describe, refuse_replay, search_hints
from celosia.table import Outcome
from celosia.table.targets import Target, labelled_targets, targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.search.partition.groups import Groups
    from celosia.search.partition.mondrian import Axis, Partition
    from celosia.streams import Stream
    from celosia.table import Table
    from celosia.views.boxes.regions import Boxes, Regions


class Mondrian(Requires, Method):
    r"""Cut the records into boxes, column by column, as long as every box meets the requirements.

    A box is cut in the column in which it is widest: numbers, dates and ordinal values behind the median,
    nominal values into the children of their hierarchy node, or, without a hierarchy, into frequent and rare
    labels. Width is the normalised certainty penalty

    .. math:: \mathrm{NCP}_A(G) = \frac{\max_G A - \min_G A}{\max A - \min A},\qquad
              \frac{\text{leaves below the common node}}{\text{leaves}},\qquad \frac{d - 1}{D - 1}

    with d of the D labels in the box. A cut that a requirement refuses is undone and the next column tried.
    ``cut="nearest"`` takes the allowed place nearest to the median; ``"median"`` the median or nothing (the
    published algorithm). When not ``strict``, records with the median value may fall on both sides, so boxes
    overlap and get smaller. Requirements on the file as a whole raise the smallest class until they hold.
    Each record may ask for a class size of its own (``target``); a class reaches the largest target of its
    members. A missing value is a value of its own. Ends of ranges are the roundest numbers, dates or times that
    separate the values of a box from its neighbours, so that no label shows an extreme value.

    Fails with RequirementError when not even one box of all records meets a requirement. It guarantees the
    requirements and nothing beyond them; boxes can show where sparse regions are. References: LeFevre, DeWitt
    & Ramakrishnan (2006).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 23, 24, 40, 41, 60]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, Mondrian(require=["k-anonymity(k=2)"])).polars()["age"].to_list()
    ['[20-40)', '[20-40)', '[20-40)', '[40-62)', '[40-62)', '[40-62)']
    """

    require: Annotated[tuple[Model, ...], Explored(*((f"k-anonymity(k={k})",) for k in (2, 3, 5, 10, 20)))] = Field(
        default=(), description="requirements that every class must meet"
    )
    strict: bool = Field(default=True, description="keep equal values on one side of a cut")
    cut: Literal["nearest", "median"] = Field(default="nearest", description="where a column may be cut")
    output: Literal["range", "mean", "median", "mode"] = Field(
        default="range",
        description="what is published: ranges, sets and hierarchy nodes, or one number (the mode where there is none)",
    )
    weights: dict[str, float] = Field(default={}, description="columns with a weight above 1 are cut more often")
    target: Target = Field(default=None, description="class size that each record asks for: a column or an array")
    memory: ClassVar[Memory] = "blocks"
    persons: ClassVar[PersonUnit] = "counted"
    suits: ClassVar[tuple[str, ...]] = ("hierarchy",)
    examples: ClassVar = (
        {"require": ["k-anonymity(k=2)"]},
        {"require": ["k-anonymity(k=2)"], "strict": False, "output": "mode"},
    )

    @model_validator(mode="after")
    def _check_parameters(self) -> Mondrian:
        if not self.require and self.target is None:
            raise ParameterError("mondrian: give at least one requirement, such as require = ['k-anonymity(k=5)'].")
        if any(not weight > 0 for weight in self.weights.values()):
            raise ParameterError(f"mondrian: weights must be above 0, got {min(self.weights.values()):g}.")
        return self

    def requirements(self) -> tuple[Model, ...]:
        """Return the requirements that every class of the result meets."""
        return self.require

    def target_sizes(self, table: Table) -> dict[str, NDArray[np.int64]]:
        """Return the class sizes of ``target``."""
        return labelled_targets(self.name, table, self.target)

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the quasi-identifiers."""
        return schema.quasi

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Partition the records that are not suppressed, and describe each box."""
        from celosia.search.partition.groups import check_possible, refuse_population
        from celosia.views.boxes.recorded_boxes import recorded_boxes
        from celosia.views.boxes.regions import axes, groups

        refuse_population(self.name, self.require)
        rows = ~table.counts.suppressed_mask
        kept = table if rows.all() else table.take(table.ids()[rows])
        target = targets(self.name, table, self.target)
        counted = groups(kept, self.require, None if target is None else target[rows], table.classes.total)
        if not len(table):
            return Outcome(table, {"classes": 0})
        if not len(kept):
            raise DataError("mondrian: every record is suppressed already: nothing is left to partition.")
        check_possible(self.name, self.require, counted)
        all_axes = axes(kept, self.weights)
        described = self._partition(kept, all_axes, counted)
        boxes = described.boxes
        new = {
            name: cells.gather(boxes.label).alias(name)
            for name, cells in zip(table.schema.quasi, described.class_cells(), strict=True)
        }
        ncp = float((boxes.widths(all_axes).mean(axis=1) * boxes.size).sum() / len(kept))
        evidence = {
            "classes": len(boxes),
            "smallest": int(boxes.size.min()),
            "largest": int(boxes.size.max()),
            "ncp": ncp,
        }
        record = recorded_boxes(kept, all_axes, described.partition.cuts, described.cells)
        private = {} if record is None else {"transformation": record}
        return Outcome(self._replace_rows(table, rows, new), evidence, private)

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:  # noqa: ARG002
        """Assign new records to the recorded boxes."""
        from celosia.views.boxes.replayed_boxes import replayed_boxes

        record = recorded.get("transformation")
        if record is None:
            raise refuse_replay(
                self,
                "the record was written by an earlier version, without the cuts. Run the policy again to get one"
                if self.strict
                else "equal values fell on both sides of a cut. Make a release with strict = true to reuse it",
            )
        rows = ~table.counts.suppressed_mask
        new, lost = replayed_boxes(table if rows.all() else table.take(table.ids()[rows]), record)
        unplaced = np.zeros(len(table), np.bool_)
        unplaced[rows] = lost
        return self._replace_rows(table, rows, new), unplaced

    def _describe_boxes(self, table: Table, all_axes: Sequence[Axis], parted: Partition) -> _DescribedPartition:
        """Compute the cell of each box in each column: range, set or node, or its mean, median or mode."""
        from celosia.views.boxes.regions import Boxes, middles, regions

        boxes = Boxes(parted.label)
        columns = zip(table.schema.quasi, all_axes, strict=True)
        if self.output == "range":
            return _DescribedPartition(parted, boxes, [regions(table, name, axis, boxes) for name, axis in columns])
        return _DescribedPartition(parted, boxes, [middles(table, name, boxes, self.output) for name, _ in columns])

    def _replace_rows(self, table: Table, rows: NDArray[np.bool_], new: Mapping[str, pl.Series]) -> Table:
        """Replace the cells of some rows."""
        columns = new if rows.all() else {name: _merge_rows(table, name, rows, cells) for name, cells in new.items()}
        return table.replace(columns)

    def _partition(self, table: Table, all_axes: Sequence[Axis], counted: Groups) -> _DescribedPartition:
        """Partition the records with the least smallest class size at which the file meets the requirements."""
        from celosia.search.partition.groups import least_size
        from celosia.search.partition.mondrian import partition
        from celosia.views.boxes.regions import file_classes

        by_class = [
            model for model in self.require if model.scope == "class" and not search_hints(model).is_size_only()
        ]
        by_file = [model for model in self.require if model.scope == "file"]

        def attempt(k: int) -> _DescribedPartition | None:
            parted = partition(
                all_axes,
                k,
                strict=self.strict,
                nearest=self.cut == "nearest",
                targets=counted.target,
                person=counted.person,
                judge=(lambda records, group: counted.accepted_groups(by_class, records, group)) if by_class else None,
            )
            if not counted.accepts(by_file, parted.label):
                return None  # before the costly description of the boxes
            described = self._describe_boxes(table, all_axes, parted)
            classes = file_classes(described.class_cells())
            if len(classes) == int(classes.max()) + 1:
                return described  # each box is a class of the file
            return described if counted.accepts(self.require, classes[parted.label]) else None

        least = least_size(self.require, counted)
        best = attempt(least)
        low, high = least, least
        while best is None:
            low, high = high, min(2 * high + 1, counted.total)
            best = attempt(high)
            if best is None and high >= counted.total:
                raise RequirementError(f"mondrian: no partition meets {', '.join(describe(m) for m in self.require)}.")
        while high - low > 1:
            middle = (low + high) // 2
            described = attempt(middle)
            if described is None:
                low = middle
            else:
                high, best = middle, described
        return best


@dataclass(frozen=True, eq=False)
class _DescribedPartition:
    """A partition, and the cells of its boxes by column."""

    partition: Partition
    boxes: Boxes
    cells: Sequence[Regions | pl.Series]

    def class_cells(self) -> list[pl.Series]:
        """List the cell of each box, column by column."""
        from celosia.views.boxes.regions import Regions

        return [cells.group_cells() if isinstance(cells, Regions) else cells for cells in self.cells]


def _merge_rows(table: Table, name: str, rows: NDArray[np.bool_], cells: pl.Series) -> pl.Series:
    """Column with new cells for the kept records, and the old ones for those that were suppressed before."""
    import polars as pl

    old = table.column(name).cast(pl.String)
    index = np.where(rows, np.cumsum(rows) - 1, 0)
    return pl.select(pl.when(pl.Series(rows)).then(cells.cast(pl.String).gather(index)).otherwise(old).alias(name))[
        name
    ]
