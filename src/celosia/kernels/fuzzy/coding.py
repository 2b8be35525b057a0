"""Fuzzy coding: how columns become the cells of a fuzzy partition.

Columns with hand-written sets use them; other numeric columns are partitioned by clustering or global recoding;
columns of text are crisp, one cell per value. *Independent* coding crosses the partitions of the columns; *joint*
coding makes one partition of the space of all numeric columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, field_validator

from celosia.errors import DataError, ParameterError
from celosia.kernels.fuzzy.clustering import Stop, c_means, cluster_memberships, gustafson_kessel, k_means
from celosia.kernels.fuzzy.partitions import (
    Norm,
    break_points,
    check_partition,
    grid,
    indicator,
    is_normal,
    is_robust,
    recode_labels,
    scale,
)
from celosia.kernels.fuzzy.sets import FuzzySet, Graded, Members
from celosia.parts import Explored, Private

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Values = NDArray[Any]
"""A column: floats (NaN is missing), or objects (None is missing)."""

CELLS = 4096
"""Most cells of a fuzzy grid: above it memory and meaning are gone."""


@dataclass(frozen=True)
class Partition:
    """The cells of one column, or of several coded jointly: their names, the records in them, how they were found.

    A fuzzy partition has ``degrees`` (n × cells), a crisp one has ``codes``, the one cell of each record.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    degrees: Floats | None = None
    codes: Codes | None = None
    ranks: Codes | None = None
    """For cells that were found: the place of each one along each column (cells × columns), 0 is lowest."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What defines the cells: centres, breaks, sets. Never published."""

    @property
    def memberships(self) -> Floats:
        """The degrees, 0 or 1 for a crisp partition."""
        if self.degrees is not None:
            return self.degrees
        assert self.codes is not None
        return indicator(self.codes, len(self.names))


@dataclass(frozen=True)
class Cells:
    """All cells of a table. A cell is a group of the crisp columns crossed with a cell of the fuzzy ones.

    A record belongs to one group, so degrees are kept per record and fuzzy cell only: n × F numbers however
    many groups there are.
    """

    group: Codes
    degrees: Floats
    names: tuple[tuple[str, ...], ...]
    """For each fuzzy cell, the name of its cell in each fuzzy column."""
    group_names: tuple[tuple[str, ...], ...]
    fuzzy_columns: tuple[str, ...]
    crisp_columns: tuple[str, ...]

    def cell_of_each_record(self) -> Codes:
        """Return the cell of the largest degree of each record, numbered over groups × fuzzy cells; -1 for none."""
        cell = self.group * self.degrees.shape[1] + self.degrees.argmax(axis=1)
        return np.where(self.degrees.max(axis=1, initial=0) > 0, cell, -1)

    def blocks(self) -> Iterator[tuple[int, NDArray[np.int64], Floats]]:
        """Group by group: its number, its records, and their degrees in the fuzzy cells."""
        order = np.argsort(self.group, kind="stable")
        ends = np.searchsorted(self.group[order], np.arange(len(self.group_names) + 1))
        for number, (start, stop) in enumerate(pairwise(ends)):
            rows = order[start:stop]
            yield number, rows, self.degrees[rows]


class FuzzyCoding(BaseModel):
    """The parameters of a fuzzy coding, shared by the parts that need one."""

    sets: Annotated[dict[str, dict[str, str]], Private()] = Field(
        default_factory=dict,
        description='fuzzy sets per column: {age={Young="(-inf;30;36)", Adult="(30;36;54;60)", Old="(54;60;inf)"}}',
    )
    coding: Literal["c-means", "gustafson-kessel", "k-means", "global-recode"] = Field(
        default="c-means", description="how numeric columns without sets are partitioned"
    )
    joint: bool = Field(default=False, description="one partition of all numeric columns together, not one per column")
    cells: Annotated[int, Explored(3, 5, 8)] = Field(
        default=3, ge=2, le=100, description="cells of a partition that is found"
    )
    m: float = Field(default=2.0, gt=1, description="fuzziness of the clusters; near 1 they become crisp")
    norm: Norm = Field(default="product", description="how the degrees of columns are combined in a cell")
    starts: int = Field(default=4, ge=1, description="starts of a clustering; the best is kept")
    rho: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(), description="volumes of the clusters of Gustafson–Kessel, one per cell; 1 when not given"
    )
    tolerance: float = Field(default=1e-8, gt=0, description="a clustering stops at a smaller change")
    stop: Stop = Field(
        default="centres", description="the change: of the centres, as a share of the range, or of the memberships"
    )
    max_iterations: int = Field(default=1000, ge=1, description="most iterations of a clustering")

    @field_validator("sets")
    @classmethod
    def _readable(cls, sets: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        for column, named in sets.items():
            if not named:
                raise ParameterError(f"sets of column {column!r}: name at least one set.")
            for literal in named.values():
                FuzzySet.parse(literal)
        return sets

    def partitions(self, columns: Mapping[str, Values], seed: int = 0) -> list[Partition]:
        """Return one partition per column, or one for all numeric columns when coded jointly."""
        unknown = [name for name in self.sets if name not in columns]
        if unknown:
            raise ParameterError(f"sets are given for {unknown[0]!r}, which is not among {', '.join(columns)}.")
        numeric = [n for n, v in columns.items() if n not in self.sets and v.dtype.kind == "f"]
        together = tuple(numeric) if self.joint and len(numeric) > 1 else ()
        result = []
        for name, values in columns.items():
            if name in self.sets:
                result.append(self._from_sets(name, values))
            elif values.dtype.kind != "f":
                result.append(_by_value(name, values))
            elif name not in together:
                result.append(self._from_data((name,), values[:, None], seed))
            elif name == together[0]:
                result.append(self._from_data(together, np.column_stack([columns[n] for n in together]), seed))
        return result

    def cross(self, columns: Mapping[str, Values], seed: int = 0) -> Cells:
        """Return the cells of all columns: fuzzy partitions crossed, crisp ones as groups."""
        parts = self.partitions(columns, seed)
        crisp = [(p, p.codes) for p in parts if p.codes is not None]
        fuzzy = [(p, p.degrees) for p in parts if p.degrees is not None]
        n = len(next(iter(columns.values())))
        distinct, group = _combinations([codes for _, codes in crisp], n)
        group_names = tuple(tuple(p.names[c] for (p, _), c in zip(crisp, row, strict=True)) for row in distinct)
        count = int(np.prod([len(p.names) for p, _ in fuzzy]))
        if count > CELLS:
            raise ParameterError(
                f"the fuzzy columns make {count} cells, more than {CELLS}. Use fewer columns or cells, or joint = true."
            )
        degrees = grid([mu for _, mu in fuzzy], self.norm) if fuzzy else np.ones((n, 1))
        names: list[tuple[str, ...]] = [()]
        for p, _ in fuzzy:
            names = [(*before, name) for before in names for name in p.names]
        return Cells(
            group,
            degrees,
            tuple(names),
            group_names,
            tuple(" + ".join(p.columns) for p, _ in fuzzy),
            tuple(" + ".join(p.columns) for p, _ in crisp),
        )

    def _from_sets(self, name: str, values: Values) -> Partition:
        """Return the partition by the hand-written sets of a column."""
        sets = {label: FuzzySet.parse(literal) for label, literal in self.sets[name].items()}
        if values.dtype.kind != "f" and {v for v in values if v is not None} <= {*sets, "*"}:
            return _by_value(name, values)  # the labels themselves, as a recoded table shows them
        if all(isinstance(s, Members | Graded) for s in sets.values()):
            missing = np.array([v is None or v != v for v in values], dtype=bool)
            cells: Values = values if values.dtype.kind == "f" else np.where(missing, "", values).astype(str)
        elif values.dtype.kind != "f":
            raise DataError(
                f"column {name!r} holds text, but its sets are for numbers. Write sets as '{{value, value}}' or "
                "'{value:0.5, value:1}'."
            )
        else:
            missing, cells = np.isnan(values), values
        mu = np.column_stack([fuzzy(cells[~missing]) for fuzzy in sets.values()])
        check_partition(mu, name)
        parameters = {"sets": self.sets[name]}
        if ((mu == 0) | (mu == 1)).all():
            return _crisp((name,), mu.argmax(axis=1), tuple(sets), missing, parameters=parameters)
        return _fuzzy((name,), mu, tuple(sets), missing, parameters=parameters)

    def _from_data(self, names: tuple[str, ...], x: Floats, seed: int) -> Partition:
        """Return the partition by clustering or recoding; few distinct values are cells of their own."""
        missing = np.asarray(np.isnan(x).any(axis=1))
        values = x[~missing]
        # a look at the first records spares sorting them all where there are clearly many values
        few = len(np.unique(values[:1000], axis=0)) <= self.cells
        distinct, codes = (
            np.unique(values, axis=0, return_inverse=True) if few else (values, np.zeros(0, dtype=np.int64))
        )
        if len(distinct) <= self.cells:
            ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in distinct.T], axis=1)
            return _crisp(names, codes.ravel(), _numbers(len(distinct)), missing, ranks, {"values": distinct.tolist()})
        cells = _numbers(self.cells)
        if self.coding == "global-recode":
            if len(names) > 1:
                raise ParameterError("global-recode codes one column at a time. Use joint = false or another coding.")
            points = break_points(values[:, 0], self.cells)
            labels = recode_labels(values[:, 0], points)
            return _crisp(names, labels, cells, missing, np.arange(self.cells)[:, None], {"breaks": points.tolist()})
        scaled = scale(values)
        low, width = values.min(axis=0), np.ptp(values, axis=0)
        parameters: dict[str, object] = {"low": low.tolist(), "width": width.tolist()}
        if self.coding == "k-means":
            labels = k_means(scaled, self.cells, seed, starts=self.starts)
            centres = np.stack([scaled[labels == i].mean(axis=0) for i in range(self.cells)])
            return _crisp(names, labels, cells, missing, _ranks(centres), {**parameters, "centres": centres.tolist()})
        how: dict[str, Any] = {"seed": seed, "starts": self.starts, "tolerance": self.tolerance}
        how |= {"iterations": self.max_iterations, "stop": self.stop}
        if self.coding == "c-means":
            clusters = c_means(scaled, self.cells, self.m, **how)
        else:
            clusters = gustafson_kessel(scaled, self.cells, self.m, self.rho or None, **how)
        metrics = clusters.report.metrics
        parameters |= {"centres": clusters.centres.tolist(), "m": self.m, "converged": clusters.report.converged}
        parameters["metrics"] = None if metrics is None else metrics.tolist()
        return _fuzzy(names, clusters.memberships, cells, missing, _ranks(clusters.centres), parameters)


def known_degrees(parameters: Mapping[str, Any], x: Floats) -> Floats:
    """Return the degrees of new records in the clusters, intervals, sets or values of an earlier partition.

    A value beyond the outermost interval or cluster belongs to it. One that lies in none of the sets, or is none of the
    values, has no degree anywhere.
    """
    if "sets" in parameters:
        mu = np.column_stack([FuzzySet.parse(s)(x[:, 0]) for s in parameters["sets"].values()])
        return np.asarray(np.where(np.abs(mu.sum(axis=1, keepdims=True) - 1) > 1e-6, 0.0, mu))
    if "values" in parameters:
        values = np.array(parameters["values"])
        same = (x[:, None, :] == values[None]).all(axis=2)
        return indicator(np.where(same.any(axis=1), same.argmax(axis=1), -1), len(values))
    if "breaks" in parameters:
        points = np.array(parameters["breaks"])
        return indicator(recode_labels(np.clip(x[:, 0], points[0], points[-1]), points), len(points) - 1)
    centres = np.array(parameters["centres"])
    if not len(x):
        return np.zeros((0, len(centres)))
    width = np.array(parameters["width"])
    scaled = (x - np.array(parameters["low"])) / np.where(width > 0, width, 1.0)
    if "m" not in parameters:  # k-means: the nearest centre
        nearest = ((centres**2).sum(axis=1) - 2 * (scaled @ centres.T)).argmin(axis=1)
        return indicator(nearest, len(centres))
    metrics = None if parameters["metrics"] is None else np.array(parameters["metrics"])
    return cluster_memberships(scaled, centres, parameters["m"], metrics)


def facts(partition: Partition) -> dict[str, object]:
    """Return what may be published about a partition: its number of cells and the shape of its degrees."""
    mu = partition.memberships
    top = mu.max(axis=1, initial=0)
    return {
        "columns": list(partition.columns),
        "cells": len(partition.names),
        "robust": is_robust(mu),
        "normal": is_normal(mu),
        "undecided": float((top < 0.5).mean()) if len(top) else 0.0,
    }


def _by_value(name: str, values: Values) -> Partition:
    """Return one crisp cell per value of a column of text."""
    missing = np.array([v is None for v in values], dtype=bool)
    distinct, codes = np.unique(values[~missing].astype(str), return_inverse=True)
    return _crisp((name,), codes, tuple(str(d) for d in distinct), missing)


def _crisp(
    columns: tuple[str, ...],
    codes: NDArray[Any],
    names: tuple[str, ...],
    missing: NDArray[np.bool_],
    ranks: Codes | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Partition:
    """Return a crisp partition of the known records; those without a value are a cell of their own."""
    every = np.full(len(missing), len(names), dtype=np.int64)
    every[~missing] = codes
    names = (*names, "missing") if missing.any() else names
    return Partition(columns, names, codes=every, ranks=ranks, parameters=parameters or {})


def _fuzzy(
    columns: tuple[str, ...],
    mu: Floats,
    names: tuple[str, ...],
    missing: NDArray[np.bool_],
    ranks: Codes | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Partition:
    """Return a fuzzy partition of the known records; those without a value are a crisp cell of their own."""
    if missing.any():
        every = np.zeros((len(missing), len(names) + 1))
        every[~missing, :-1] = mu
        every[missing, -1] = 1.0
        mu, names = every, (*names, "missing")
    return Partition(columns, names, degrees=mu, ranks=ranks, parameters=parameters or {})


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(f"{i + 1}" for i in range(count))


def _ranks(centres: Floats) -> Codes:
    return centres.argsort(axis=0).argsort(axis=0)


def _combinations(codes: list[Codes], n: int) -> tuple[Codes, Codes]:
    """Return the different rows of several code columns, and which of them each record has."""
    if not codes:
        return np.zeros((1, 0), dtype=np.int64), np.zeros(n, dtype=np.int64)
    distinct, group = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    return distinct, group.ravel()
