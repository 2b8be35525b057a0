"""Suppress records that violate a requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.data.schema import Missing
from celosia.errors import ParameterError, RequirementError
from celosia.methods.bases.suppression_method import _SuppressingMethod
from celosia.parts import Model, PersonUnit, describe, population_table, refuse_other_views
from celosia.table import Outcome
from celosia.table.suppression import suppress_classes, suppress_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table


class SuppressRecords(_SuppressingMethod):
    """Suppress the records of every class that violates a requirement.

    A suppressed record keeps its row, with ``*`` in the quasi-identifiers; it counts as full loss. Suppressed records
    that do not meet the requirements as a class lose their sensitive cells too. Where all are suppressed they are
    indistinguishable: one class, which must meet the requirements. Requirements on the file as a whole are not met
    by leaving out classes one by one and are refused.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, SuppressRecords(require=["k-anonymity(k=2)"])).polars()["age"].to_list()
    ['30', '30', '*']
    """

    require: tuple[Model, ...] = Field(min_length=1, description="requirements that every class must meet")
    drop: bool = Field(default=False, description="remove the rows instead of keeping them with stars")
    blank: bool = Field(default=False, description="empty the sensitive columns of suppressed records too")
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = (
        "records are suppressed for the classes of their own file: run the policy on the new one"
    )
    examples: ClassVar = ({"require": ["k-anonymity(k=2)"]}, {"require": ["k-anonymity(k=2)"], "drop": True})

    def needs_memory(self, schema: Schema) -> bool:
        """Return whether counts of classes are not enough: for a population, or where a missing value matches any."""
        needed = any(model.needs_memory(schema) or population_table(model) is not None for model in self.require)
        return needed or schema.reading() != Missing.CATEGORY

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Suppress the violating records until none is left."""
        if table.counts.frame is None and not self.needs_memory(table.schema):
            return self._by_class(table)
        current = table
        total, before = np.zeros(len(table), dtype=np.bool_), table.counts.suppressed_mask
        while (mask := self._violating_records(current) & ~total & ~before).any():
            total |= mask
            current = suppress_records(table, total, blank=table.schema.sensitive if self.blank else ())
            if (
                not any(model.counted_columns() for model in self.require)
                and table.schema.reading() == Missing.CATEGORY
            ):
                break  # sizes of the other classes do not change
        if self.drop:
            current = suppress_records(table, total, drop=True)
        if 0 < len(current) == current.suppressed():
            self._check_all(current)
        return Outcome(current, {"suppressed": int(total.sum()), "share": float(total.mean()) if len(total) else 0.0})

    def _by_class(self, table: Table) -> Outcome:
        """Suppress the violating classes in the engine, without records in memory."""
        import polars as pl

        for model in self.require:
            self._check(model, table)
        classes = table.classes.histogram
        bad = np.zeros(len(classes), dtype=np.bool_)
        for model in self.require:  # the verdict on a class does not depend on the other classes
            cells = table.classes.histogram.cells
            counts = table.class_counts(model.counted_columns(), in_order=True)
            assert cells.equals(classes.cells)
            bad |= ~model.judge(counts)
        lost = int(classes.rows[bad].sum())
        current = table
        if lost:
            blank = table.schema.sensitive if self.blank else ()
            violating = classes.cells.filter(pl.Series(bad))
            current = suppress_classes(table, violating, drop=self.drop, blank=blank)
        if 0 < len(current) == current.suppressed():
            self._check_all(current)
        return Outcome(current, {"suppressed": lost, "share": lost / max(1, len(table))})

    def _check_all(self, table: Table) -> None:
        """Raise when a table of suppressed records only, which is one class, violates a requirement."""
        for model in self.require:
            value, holds = model.verdict(table)
            if not holds:
                raise RequirementError(
                    f"suppress-records: {describe(model)} cannot be met: only suppressed records would be left, with "
                    f"the value {value:g}. Ask for that, or drop the records (drop = true) in every step."
                )

    def _violating_records(self, table: Table) -> NDArray[np.bool_]:
        for model in self.require:
            self._check(model, table)
        violating: NDArray[np.bool_] = np.logical_or.reduce([model.failing_records(table) for model in self.require])
        return violating

    def _check(self, model: Model, table: Table) -> None:
        refuse_other_views(model, table)
        if model.scope != "class":
            raise ParameterError(f"suppress-records: {model.name} judges the whole file, not class by class.")
