"""Majority loss: Iyengar's classification metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import SchemaError
from celosia.parts import Column, Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import lost_records

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts, Verdict
    from celosia.search.lattice.objective import ClassObjective, LevelMaps
    from celosia.table import Table


class MajorityLoss(SearchObjective, Loss):
    r"""The share of records that do not have the most frequent target value of their class, or are suppressed.

    .. math:: \frac1n \Bigl( \sum_E \bigl(|E| - \max_s n_E(s)\bigr) + \text{suppressed} \Bigr)

    Useful when the release is to train a classifier of ``target``. The smallest value is that of the unchanged
    table. The share of rows that a method changed, sometimes called by the same name, is the loss
    `altered-records`. References: Iyengar
    (2002).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 30, 31], "income": ["low", "low", "high", "high"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["income"]))
    >>> MajorityLoss(target="income").value(table, table)
    0.25
    """

    memory: ClassVar[Memory] = "none"
    target: Column | None = Field(
        default=None, description="column to be predicted; the only sensitive one when not given"
    )
    examples: ClassVar = ({"target": "s"},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of minority and suppressed records."""
        records = self.parts(original, protected)
        return float((records["minority"] + records["suppressed"]) / max(1, len(original)))

    def identity_value(self, original: Table) -> float:
        """Return the share of minority records in the table itself."""
        return self.value(original, original)

    def parts(self, original: Table, protected: Table) -> dict[str, int]:
        """Return the number of minority and of suppressed records."""
        columns = protected.schema.need_sensitive(self.target)
        if len(columns) > 1:
            raise SchemaError(f"majority-loss: {len(columns)} columns are sensitive; name the target.")
        return {"minority": _minority(protected, columns[0]), "suppressed": lost_records(original, protected)}

    def counted_columns(self) -> tuple[str | None, ...]:
        """Return the target."""
        return (self.target,)

    def objective(self, domain: LevelMaps) -> ClassObjective:
        """Return the objective of a search."""
        from celosia.kernels.grouping.class_measures import minorities
        from celosia.search.lattice.objective import ClassObjective, Measures

        n = max(1, domain.n)

        # merging classes never lowers the number of minority records, and a suppressed record costs more than any; a
        # suppressed class also loses its majority, and finer classes have no smaller majorities in all
        def measure(classes: ClassCounts, kept: Verdict, certain: Verdict) -> Measures:
            counts = classes.of(self.target)
            inside, whole, lost, sure = minorities(counts.start, counts.count, classes.size, kept, certain)
            return Measures(
                (inside + lost + domain.suppressed_before) / n, (whole + domain.suppressed_before) / n, sure / n
            )

        return ClassObjective(measure, needs=() if self.target is None else (self.target,), codes=False)


def _minority(table: Table, target: str) -> int:
    """Count the records (rows, not persons) whose value is not the most frequent one of their class."""
    if table.suppressed() == len(table):
        return 0
    keys = list(table.schema.need_quasi())
    classes, entries = (table.counts.histogram(names, suppressed=False) for names in (keys, [*keys, target]))
    most = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(most, classes.find(entries), entries.rows)
    return int(entries.rows.sum() - most.sum())
