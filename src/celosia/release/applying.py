"""Reuse: the transformation that a release found, applied to new records of the same schema.

The private record holds, for every step, what it did: the label of each value, the classes with their levels, the cuts
of a partition, the fuzzy sets. New records get the same cells, so old and new releases can be put together. Nothing is
searched again, so the requirements may fail for new records: those are named, not hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import DataError
from celosia.hierarchy.text import texts
from celosia.parts import Method, Model, build, requirements, target_sizes
from celosia.release.evidence.certificate import load_record
from celosia.release.plan import Plan
from celosia.release.policy.policy import Policy, Step
from celosia.table import Table, read

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Reused:
    """New records under an old transformation, and which of them need attention."""

    table: Table
    original: Table = field(repr=False)
    """The new records as they came."""
    methods: tuple[Method, ...] = field(repr=False)
    """The steps of the release, which were applied again."""
    unplaced: NDArray[np.bool_] = field(repr=False)
    """Records that the transformation has no cells for (a value it does not know, or no class): suppressed."""
    violating: Mapping[str, NDArray[np.bool_]] = field(repr=False)
    """For each requirement, the records whose class does not meet it."""

    @property
    def holds(self) -> bool:
        """Whether every requirement holds for the records that were placed."""
        return not any(mask.any() for mask in self.violating.values())

    def spec(self) -> dict[str, Any]:
        """The counts as plain data; positions of records start at 0."""
        return {
            "rows": len(self.table),
            "unplaced": int(self.unplaced.sum()),
            "holds": self.holds,
            "requirements": [
                {"part": name, "violating": int(mask.sum()), "records": np.flatnonzero(mask).tolist()}
                for name, mask in self.violating.items()
            ],
        }


def apply(
    record: Mapping[str, Any] | str | Path, source: Any, *, released: Any = None, engine: str | None = None
) -> Reused:
    """Apply the transformation of a private record to new records.

    ``source`` is a table, or a frame or path that is read under the schema of the record's policy. With ``released``
    (the earlier release) the requirements are judged on old and new records together. How a step is done again is
    said by its method (:meth:`celosia.parts.Method.replay`); one that looked at all records at once refuses. ``engine``
    holds the new records.
    """
    directory = Path()
    if not isinstance(record, Mapping):
        directory = Path(record).parent
        record = load_record(record)
    if "policy" not in record:
        raise DataError(
            "a consent request made this record: its classes depend on choices. Make a new request instead."
        )
    policy = Policy.recorded(record, directory)
    table = source if isinstance(source, Table) else policy.like(source, engine)
    missing = [name for name in policy.schema.quasi if name not in table.names]
    if missing:
        raise DataError(f"the new records have no column {missing[0]!r}: they must have the schema of the release.")
    steps = [Step(entry["name"], build("method", entry["parameters"])) for entry in record.get("steps", [])]
    plan = Plan.resolve(table, steps, seed=None)
    placed, unplaced = plan.replay(record.get("transformation", []))
    methods = tuple(step.method for step in plan.steps)
    require: list[Model] = list(policy.require)
    for method in methods:
        require += [model for model in requirements(method) if model not in require]
    targets = {name: sizes for method in methods for name, sizes in target_sizes(method, plan.table).items()}
    placed = placed.blank_suppressed(require)
    return Reused(placed, plan.table, methods, unplaced, _violating(placed, require, targets, released))


def _violating(
    table: Table, require: list[Model], targets: Mapping[str, NDArray[np.int64]], released: Any
) -> dict[str, NDArray[np.bool_]]:
    """For each requirement, the new records whose class does not meet it, or is smaller than they ask for."""
    judged = table
    if released is not None:
        judged = _together(table, released)
    out = {}
    for model in require:
        name = str(model)
        out[name] = model.failing_records(judged)[: len(table)]
    for name, sizes in targets.items():
        out[name] = (judged.frequencies()[: len(table)] < sizes) & ~table.suppressed_mask()
    return out


def _together(table: Table, released: Any) -> Table:
    """New and released records in one table, the new ones first; suppressed ones are told by their stars."""
    import polars as pl

    old = released if isinstance(released, Table) else read(released)
    names = [name for name in table.names if name in old.names]
    lacking = [name for name in table.schema.quasi if name not in names]
    if lacking:
        raise DataError(f"the release has no column {lacking[0]!r}: it must be the one that the record belongs to.")

    def text(side: Table) -> pl.DataFrame:
        return pl.DataFrame([pl.Series(name, texts(side.column(name)), dtype=pl.String) for name in names])

    return read(pl.concat([text(table), text(old)]), table.schema.keep(names).loose())
