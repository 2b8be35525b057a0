"""Values that the cells of a person share in a published fuzzy table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.kernels.fuzzy.coding import FuzzyCoding, Partition, known_degrees
from celosia.kernels.fuzzy.sets import TOLERANCE
from celosia.parts import DisclosesValue, Private
from celosia.risk.bases.transparency import Success, _InformedAttack, wanted_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

MISSING = "\0missing"
"""Label of a cell of missing values while cells are looked up."""


class CellIntersection(DisclosesValue, _InformedAttack):
    r"""The share of people whose sensitive value an intruder finds in the cells of a published fuzzy table.

    The intruder knows the quasi-identifiers of a person and has learnt the sets. A person is in every cell in which her
    degree is at least the published one, and her value is listed in each, so that it is one of

    .. math:: C(q) = \bigcap_{i:\ \mu_{Q_i}(q) \ge d} \{s : (Q_i, s) \in T^*\}

    She guesses one of them: the chance is 1 / \|C(q)\|. A cell that is left out tells nothing. The sets are those of
    ``sets``, or those that the step found, which only its data owner has: the intruder is assumed to know more than
    the certificate states. The control has not learnt the sets and guesses among all values of the table; the baseline
    guesses the most frequent one. With a person column the value is the mean over persons.

    References: Quirós (2013), master's thesis, University of Oviedo; Machanavajjhala et al. (2007).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 24, 32, 36, 45, 56], "ill": ["flu", "cold", "flu", "cold", "flu", "flu"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
    >>> sets = {"age": {"Young": "(-inf;30;36)", "Older": "(30;36;inf)"}}
    >>> CellIntersection().value(table, celosia.protect(table, celosia.methods.FuzzyTable(sets=sets)))
    0.5
    """

    reads: ClassVar[tuple[str, ...]] = ("fuzzy-table",)
    column: str | None = Field(default=None, description="the sensitive column; the first declared one if not given")
    sets: Annotated[dict[str, dict[str, str]], Private()] = Field(
        default_factory=dict, description="the sets that the intruder has learnt; those of the step when not given"
    )
    examples: ClassVar = (
        {
            "method": {"use": "fuzzy-table", "columns": ["c", "p"], "column": "t"},
            "column": "t",
            "sets": {"c": {"one": "{a, b:0.5}", "two": "{b:0.5}"}},
        },
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Look every record up in the cells."""
        step = self.steps(protected)[-1]
        columns = list(step.parameters.get("columns") or original.schema.need_quasi())
        column = wanted_column(self.name, original, self.column or step.parameters.get("column"))
        degree = float(step.parameters["degree"])
        cells, degrees = self._cells(original, protected, columns)
        domain = protected.polars()[column].drop_nulls().unique(maintain_order=True).sort()
        place = {value: i for i, value in enumerate(domain.to_list())}
        listed: dict[tuple[str, ...], NDArray[np.bool_]] = {}
        for *labels, value in protected.polars().select(*columns, column).rows():
            row = listed.setdefault(
                tuple(MISSING if label is None else str(label) for label in labels), np.zeros(len(domain), np.bool_)
            )
            row[place[value]] = True
        candidates = np.ones((len(original), len(domain)), np.bool_)
        looked_up = np.zeros(len(original), np.bool_)
        for cell, mu in zip(cells, degrees.T, strict=True):
            if cell in listed:
                inside = mu >= degree - TOLERANCE
                candidates[inside] &= listed[cell]
                looked_up |= inside
        truth = np.array([place.get(value, -1) for value in original.column(column).to_list()], dtype=np.int64)
        if not len(domain):
            raise NotApplicable(f"{self.name}: the release lists no value of {column!r}.")
        right = candidates[np.arange(len(truth)), truth] & (truth >= 0) & looked_up
        left = candidates.sum(axis=1)
        risk = np.where(right, 1.0 / np.maximum(left, 1), 0.0)
        control = np.where((truth >= 0) & looked_up, 1.0 / len(domain), 0.0)
        counts = original.column(column).drop_nulls().value_counts()["count"]
        frequent = float(counts.max() or 0) / max(len(truth), 1)  # type: ignore[arg-type]
        records = {"candidates": np.where(looked_up, left, len(domain))}
        return Success(risk, frequent, control, records, {"disclosed": int((right & (left == 1)).sum())})

    def _cells(self, original: Table, protected: Table, columns: list[str]) -> tuple[list[tuple[str, ...]], Floats]:
        """Return the labels of all cells, and the degree of every original record in each."""
        from celosia.views.fuzzy_cells import values_of

        everyone = np.ones(len(original), np.bool_)
        values = {name: values_of(original.column(name), everyone) for name in columns}
        recorded: list[Mapping[str, Any]] = [
            partition for entry in protected.private_history for partition in entry.get("partitions", ())
        ]
        if self.sets or not recorded:
            coded = FuzzyCoding(sets=self.sets).partitions(values)
            if any(p.columns[0] not in self.sets and "metrics" in p.parameters for p in coded):
                raise NotApplicable(f"{self.name}: the sets of the columns are not known: give them (sets).")
            partitions = [_coded(partition) for partition in coded]
        else:
            partitions = [_recorded(partition, values) for partition in recorded]
        cells: list[dict[str, str]] = [{}]
        degrees = np.ones((len(original), 1))
        for names, labels, mu in partitions:
            cells = [{**cell, **dict(zip(names, label, strict=True))} for cell in cells for label in labels]
            degrees = (degrees[:, :, None] * mu[:, None, :]).reshape(len(original), -1)
        return [tuple(cell[name] for name in columns) for cell in cells], degrees


def _coded(partition: Partition) -> tuple[tuple[str, ...], list[tuple[str, ...]], Floats]:
    """Return the column of a partition by sets or values, the labels of its cells, and the degrees of the records."""
    labels: list[tuple[str, ...]] = [(MISSING if name == "missing" else name,) for name in partition.names]
    return partition.columns, labels, partition.memberships


def _recorded(
    partition: Mapping[str, Any], values: dict[str, NDArray[Any]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]], Floats]:
    """Return the columns of a recorded partition, the labels of its cells, and the degrees of the records."""
    names, labels = tuple(partition["columns"]), [tuple(row) for row in partition["labels"]]
    sets = partition["found"].get("sets")
    if sets is not None or values[names[0]].dtype.kind != "f":  # a column of text has a cell per value
        (coded,) = FuzzyCoding(sets={names[0]: sets} if sets else {}).partitions({names[0]: values[names[0]]})
        return _coded(coded)
    x = np.column_stack([values[name] for name in names])
    gone = np.isnan(x).any(axis=1)
    mu = np.zeros((len(x), len(labels) + 1))
    mu[gone, -1] = 1.0
    mu[~gone, :-1] = known_degrees(partition["found"], x[~gone])
    return names, [*labels, tuple(MISSING for _ in names)], mu
