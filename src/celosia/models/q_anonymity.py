"""Q-anonymity: k-anonymity for fuzzy cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.models.bases.fuzzy_model import _FuzzyModel
from celosia.models.k_anonymity import KAnonymity
from celosia.table.columns import declared_persons
from celosia.views.fuzzy_cells import merge_persons

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl
    from numpy.typing import NDArray
    from pydantic import JsonValue

    from celosia.parts import Model
    from celosia.table import Table


class QAnonymity(_FuzzyModel):
    r"""It is possible enough that the cells of a fuzzy coding hold at least ``q`` records each.

    .. math:: Q^* = \max\{Q \ge 1: \mathcal{T}(\beta_1(Q), \dots, \beta_s(Q)) \ge p\}, \qquad
              \beta_i(Q) = \mathrm{Poss}(|Q_i|_f \ge Q) = \max_{s \ge Q} \min\{\mu_{(s)}, 1 - \mu_{(s+1)}\}

    ``aggregate`` is the operator over the cells: ``mean`` (the source's; a small cell can hide behind large ones),
    ``min`` (no cell can hide; equals k-anonymity on a crisp table), ``product``, ``weighted`` (by σ-count). The
    quasi-identifiers are coded by hand-written ``sets`` or by clustering; columns of text are crisp. Cells that no
    record belongs to at all do not count, nor do negligible ones (``least_degree``, ``least_count``); the evidence
    counts these, and the records that are in no other cell, which are not judged. The value is 0 where not even one
    record per cell is possible enough. With a declared person column, a person has the highest degree of their
    rows. It counts records and says nothing about what they have in common: a homogeneous cell passes.
    Reference: Quirós (2013), master's thesis, University of Oviedo.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 24, 32, 36, 45, 56, 58, 62, 65]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"]))
    >>> sets = {"age": {"Young": "(-inf;30;36)", "Adult": "(30;36;54;60)", "Old": "(54;60;inf)"}}
    >>> model = QAnonymity(q=3, sets=sets)
    >>> model.value(table), model.curve(table)["possibility"].head(4).round(3).to_list()
    (3.0, [0.667, 0.667, 0.667, 0.222])
    """

    q: int = Field(ge=0, description="smallest allowed number of records")
    possibility: float = Field(default=0.5, gt=0, le=1, description="possibility that must be reached")
    aggregate: Literal["mean", "min", "product", "weighted"] = Field(
        default="mean", description="operator over the cells"
    )

    symbol: ClassVar[str] = "Q"
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    examples: ClassVar = (
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "aggregate": "mean"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "aggregate": "min"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "aggregate": "product"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "aggregate": "weighted"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "possibility": 0.8, "norm": "min"},
        {"sets": {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}, "least_degree": 0.5, "least_count": 1.5},
    )

    def crisp(self) -> Model:
        """Return the model of counted persons."""
        return KAnonymity(k=max(self.q, 1))

    def evidence(self, table: Table) -> Mapping[str, JsonValue]:
        """Return the number of negligible cells, where some could be."""
        return self.cell_evidence(table)

    def bound(self) -> float:
        """Return the smallest allowed number of records."""
        return self.q

    def measured_value(self, table: Table) -> float:
        """Return the largest Q that is possible enough; 0 if none is, infinite without any record."""
        from celosia.kernels.fuzzy.anonymity import q_anonymity

        if not len(self.table_cells(table).group):
            return math.inf
        return float(q_anonymity(self._curve(table), self.possibility))

    def curve(self, table: Table) -> pl.DataFrame:
        """Return the possibility of at least Q records per cell, for Q from 1 until it is 0."""
        import polars as pl

        curve = self._curve(table)[1:]
        shown = max(1, int(np.flatnonzero(curve)[-1]) + 1) if curve.any() else 0
        return pl.DataFrame({"q": np.arange(1, shown + 1), "possibility": curve[:shown]})

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per cell: its names, σ-count, whole count, and the Q that it reaches alone."""
        from celosia.kernels.fuzzy.anonymity import possibility_curve, q_anonymity

        cells = self.table_cells(table)
        reached = np.zeros((len(cells.group_names), cells.degrees.shape[1]))
        for number, mu in enumerate(self._blocks(table)):
            reached[number] = [q_anonymity(possibility_curve([column]), self.possibility) for column in mu.T]
        return self.cell_frame(cells, Q=reached)

    def _curve(self, table: Table) -> NDArray[np.float64]:
        from celosia.kernels.fuzzy.anonymity import possibility_curve

        return possibility_curve(self._blocks(table), self.aggregate)

    def _blocks(self, table: Table) -> Iterator[NDArray[np.float64]]:
        """Yield the degrees of the records, or of the persons, of each group."""
        persons = declared_persons(table)
        persons = None if persons is None else persons[table.classes.members]
        for _, rows, mu in self.table_cells(table).blocks():
            yield merge_persons(mu, None if persons is None else persons[rows].astype(np.int64))[0]
