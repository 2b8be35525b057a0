"""Prosecutor risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from celosia.parts import BoundedByRows, Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table


class ProsecutorEvidence(Evidence):
    """Highest and average risk, unique records, and the share of records above thresholds."""

    average: float
    unique: int
    classes: int
    records: int
    above: dict[str, float]


class Prosecutor(BoundedByRows, Risk):
    r"""The chance to pick the right record when the intruder knows that a person is in the file.

    .. math:: r_i = 1 / f_i

    with :math:`f_i` the number of records that share the quasi-identifiers of record *i* (persons, with a person
    column). The value is the highest risk; the evidence adds the average, the number of unique records and the share
    of records above 1/5, 1/11 and 1/20. A suppressed record has no risk and does not count. References: El Emam &
    Dankar (2008).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> Prosecutor().value(table), Prosecutor().evidence(table)["average"]
    (1.0, 0.6666666666666666)
    """

    memory: ClassVar[Memory] = "none"
    rows_bound: ClassVar[Literal["at least", "at most"] | None] = "at least"  # a class has no more persons than rows

    def value(self, table: Table) -> float:
        """Return the highest risk of a record; 0 for a table without records."""
        frequency, _ = table.classes.sizes
        return float(1.0 / frequency.min()) if len(frequency) else 0.0

    def evidence(self, table: Table) -> ProsecutorEvidence:
        """Highest and average risk, unique records, and the share of records above the usual thresholds."""
        frequency, records = table.classes.sizes
        total = max(1, int(records.sum()))
        above = {f"1/{k}": float(records[frequency < k].sum() / total) for k in (5, 11, 20)}
        return {
            "value": self.value(table),
            "average": float((records / np.maximum(frequency, 1)).sum() / total),
            "unique": int(records[frequency == 1].sum()),
            "classes": len(frequency),
            "records": int(records.sum()),
            "above": above,
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Return the risk of each record, and how many records it could be."""
        import polars as pl

        frequency = table.frequencies()
        risk = np.divide(1.0, frequency, out=np.zeros(len(frequency)), where=frequency > 0)
        return pl.DataFrame({"risk": risk, "frequency": frequency})
