"""Publish linguistic labels instead of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import DataError, ParameterError
from celosia.kernels.fuzzy.coding import Partition, facts, known_degrees
from celosia.methods.bases.linguistic import _LinguisticCoding
from celosia.parts import CountsRows, Method, PersonUnit, SuitedColumns, refuse_replay
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class FuzzyRecode(_LinguisticCoding, Method):
    r"""Replace numbers by the label of the fuzzy set they belong to most: Young, Adult, Old.

    .. math:: \tilde x = \arg\max_i \mu_{Q_i}(x)

    The sets are written by hand or found by clustering, per column or, with ``joint``, of all columns together. Their
    parameters are never published: they stay in the private record. Labels of found sets are given or generated ("low",
    "medium", "high", "very high") in English, Spanish or Catalan. ``degrees`` publishes the memberships as well,
    rounded so that they still sum to one; each decimal makes a value easier to guess, and an intruder who learns the
    sets can invert them. A missing value stays missing. Labels alone are a crisp recoding: measure the result with
    k-anonymity, l-diversity and t-closeness. Reference: Quirós (2013), master's thesis, University of Oviedo.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [21, 33, 45, 58]}), celosia.Schema.of(quasi=["age"]))
    >>> sets = {"age": {"Young": "(-inf;30;36)", "Adult": "(30;36;54;60)", "Old": "(54;60;inf)"}}
    >>> celosia.protect(table, FuzzyRecode(columns=["age"], sets=sets)).polars()["age"].to_list()
    ['Young', 'Young', 'Adult', 'Old']
    >>> protected = celosia.protect(table, FuzzyRecode(columns=["age"], cells=2, language="es", degrees=1), seed=1)
    >>> protected.polars().row(1)
    ('bajo', 0.9, 0.1)
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns that become labels; such quasi-identifiers when empty"
    )
    degrees: int | None = Field(
        default=None, ge=1, le=3, description="decimals of the published memberships; none: labels only"
    )

    persons: ClassVar[PersonUnit] = CountsRows(
        "each cell gets the degrees of its own value; clusters are those of rows"
    )
    suits: ClassVar[tuple[str, ...]] = ("hierarchy", "numeric")
    examples: ClassVar = (
        {"columns": ["x"], "sets": {"x": {"low": "(-inf;20;40)", "high": "(20;40;inf)"}}},
        {"columns": ["x"], "cells": 2, "degrees": 2},
    )

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Recode the columns."""
        from celosia.kernels.fuzzy.anonymity import possibility_curve, q_anonymity

        values = self._values(table)
        seed = int(stream.rng().integers(2**63))
        partitions = self.partitions(values, seed)
        recorded = [self._record(partition) for partition in partitions]
        cells = self.cross(values, seed)
        curve = possibility_curve(mu for _, _, mu in cells.blocks())
        evidence = {"partitions": [facts(p) for p in partitions], "q": q_anonymity(curve)}
        published = self._recode(table, recorded, [p.memberships for p in partitions])
        return Outcome(published, evidence, {"partitions": recorded})

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:  # noqa: ARG002
        """Label new records by the recorded sets."""
        partitions = recorded["partitions"]
        if any("orders" not in partition for partition in partitions):
            raise refuse_replay(
                self,
                "the record was written by an earlier version, without the order of the labels. Run the policy again "
                "to get one",
            )
        values = self._values(table)
        lost = np.zeros(len(table), np.bool_)
        memberships = []
        for partition in partitions:
            x = np.column_stack([values[name] for name in partition["columns"]])
            gone = np.isnan(x).any(axis=1)
            mu = np.zeros((len(x), len(partition["labels"]) + 1))
            mu[gone, -1] = 1.0
            mu[~gone, :-1] = known_degrees(partition["found"], x[~gone])
            lost |= mu.max(axis=1) == 0
            if self.degrees is not None and not partition["missing"]:
                lost |= gone  # there is no column for the degree of a missing value
            memberships.append(mu if partition["missing"] else mu[:, :-1])
        return self._recode(table, partitions, memberships, lost), lost

    def _record(self, partition: Partition) -> dict[str, Any]:
        """Record for :meth:`replay`: the sets, their labels in each column, and the order of the labels."""
        labels = self.cell_labels(partition)
        orders = []
        for j in range(len(partition.columns)):
            column_labels = [row[j] for row in labels]
            orders.append(tuple(dict.fromkeys(sorted(column_labels, key=_place(partition, j, column_labels)))))
        missing = len(partition.names) > len(labels)
        return {
            **facts(partition),
            "found": dict(partition.parameters),
            "labels": labels,
            "orders": orders,
            "missing": missing,
        }

    def _recode(
        self,
        table: Table,
        partitions: Sequence[Mapping[str, Any]],
        memberships: Sequence[NDArray[np.float64]],
        lost: NDArray[np.bool_] | None = None,
    ) -> Table:
        """Replace the numbers by labels and add published degrees; a record without a degree gets neither."""
        from celosia.kernels.fuzzy.partitions import controlled_round

        changes: dict[str, NDArray[np.object_]] = {}
        orders: dict[str, tuple[str, ...]] = {}
        added: dict[str, NDArray[np.float64]] = {}
        for partition, mu in zip(partitions, memberships, strict=True):
            names = [tuple(row) for row in partition["labels"]]
            some = np.ones(len(mu), np.bool_) if lost is None else ~lost
            cell = np.where(some & (mu.max(axis=1, initial=0) > 0), mu.argmax(axis=1), len(names))
            for j, column in enumerate(partition["columns"]):
                changes[column] = np.array([*(row[j] for row in names), None], dtype=object)[cell]
                orders[column] = tuple(partition["orders"][j])
            if self.degrees is not None:
                rounded = controlled_round(np.where(some[:, None], mu, 0.0), self.degrees)
                prefix = " + ".join(partition["columns"])
                shown = [" / ".join(row) for row in names] + ["missing"] * partition["missing"]
                added |= {f"{prefix}: {name}": rounded[:, i] for i, name in enumerate(shown)}
        return _replace_labels(table, changes, orders, added)

    def _values(self, table: Table) -> dict[str, NDArray[np.float64]]:
        for name in self.columns:
            if not table.column(name).dtype.is_numeric():
                raise DataError(f"fuzzy-recode: column {name!r} holds text or dates, but numbers are needed.")
        numbers = table.numeric(self.columns)
        empty = [name for name, cells in zip(self.columns, numbers.T, strict=True) if np.isnan(cells).all()]
        if empty:
            raise DataError(f"fuzzy-recode: column {empty[0]!r} has no values: leave it out of columns.")
        for name in self.labels:
            if name not in self.columns or name in self.sets:
                raise ParameterError(
                    f"fuzzy-recode: labels are given for {name!r}, whose sets are not found but "
                    f"{'written, with names' if name in self.sets else 'left alone'}. Take it out of labels."
                )
        return {name: np.ascontiguousarray(numbers[:, j]) for j, name in enumerate(self.columns)}


def _place(partition: Partition, j: int, labels: list[str]) -> Callable[[str], int]:
    """Sort key of the labels: the rank for found sets, the position otherwise."""
    if partition.ranks is None:
        return labels.index
    rank = {label: int(partition.ranks[i, j]) for i, label in enumerate(labels)}
    return rank.__getitem__


def _replace_labels(
    table: Table,
    changes: dict[str, NDArray[np.object_]],
    orders: dict[str, tuple[str, ...]],
    added: dict[str, NDArray[np.float64]],
) -> Table:
    """Replace columns by ordered labels and add the degrees as further quasi-identifiers."""
    import polars as pl

    from celosia.data.schema import Column, Kind, Role, Schema

    new = {name: pl.Series(name, values.tolist(), dtype=pl.String) for name, values in changes.items()}
    changed = table.replace({**new, **added})
    kept = [c for c in changed.schema.columns if c.name not in added]
    further = [Column(name, frozenset({Role.QUASI}), Kind.NUMERIC) for name in added]
    schema = Schema((*kept, *further), changed.schema.rest)
    for name, order in orders.items():
        schema = schema.change(name, kind=Kind.ORDINAL, order=order, hierarchy=None, bounds=None)
    return changed.with_schema(schema)
