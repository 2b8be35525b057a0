"""Local suppression: blank single cells until every record has enough matches."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.data.schema import Missing
from celosia.errors import DataError, ParameterError, RequirementError, UnknownName
from celosia.parts import Column, Explored, Method, PersonUnit
from celosia.table import Outcome
from celosia.table.columns import declared_persons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.search.cells.suppression import Lack
    from celosia.streams import Stream
    from celosia.table import Table


class LocalSuppress(Method):
    r"""Blank as few cells as possible so that every record meets ``k``, under a stated reading of missing
    values.

    .. math:: \min \sum_{i,j} w_j\, b_{ij} \quad\text{so that}\quad f_i \ge k \text{ for every record } i

    with :math:`b_{ij} = 1` for a blanked cell and :math:`w_j` the ``importance`` of the column. What the
    frequency f counts is the reading of ``missing``: ``category`` (a blank equals a blank and nothing else:
    the result is k-anonymous in the plain sense), ``conservative`` (a blanked record may be any complete one
    that it fits but protects none of them), ``wildcard`` (a blank matches anything, in both directions). The
    last is the reading of most tools and a weak one: an intruder who knows the people of the file finds far
    fewer candidates than f. Its literal optimum is absurd (a few nearly empty records would "protect"
    everybody), so only records that lack matches lose cells, each one of the cheapest sets that would be
    enough for it alone. At most the surplus over k of a large class loses cells.

    ``subsets`` asks for k on parts of the quasi-identifier only: a list of column lists, or a number m for
    all subsets of m columns. ``within`` compares records inside each stratum. ``linked`` columns are blanked
    together. ``risk`` asks for an individual risk of at most this instead of a frequency. A greedy search;
    with ``budget_seconds`` an integer program (HiGHS) is solved in that time: its optimum is taken when it is
    proven, otherwise the evidence has the proven lower bound.

    Where a person has several rows, k counts persons; a lower bound is then not proven. Fails with
    RequirementError when there are fewer than k records or persons. References: Templ, Kowarik & Meindl (2015);
    Meyerson & Williams (2004).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["f", "f", "f", "m", "m"], "zip": [1, 1, 2, 3, 3]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex", "zip"]))
    >>> safe = celosia.protect(table, LocalSuppress(k=2, missing="wildcard"))
    >>> safe.polars()["zip"].to_list(), safe.history[-1]["cells"]
    ([1, 1, None, 3, 3], 1)
    """

    k: Annotated[int | None, Explored(2, 3, 5)] = Field(
        default=None, ge=2, description="frequency that every record must reach"
    )
    risk: float | None = Field(
        default=None, gt=0, lt=1, description="instead of k: largest individual risk of a record"
    )
    missing: Literal["category", "wildcard", "conservative"] | None = Field(
        default=None, description="how blanks are read when records are compared; the schema's reading when not given"
    )
    importance: dict[str, float] = Field(default={}, description="what a cell of a column costs; 1 unless given")
    subsets: int | tuple[tuple[str, ...], ...] | None = Field(
        default=None, description="ask for k on these lists of columns, or on all subsets of so many columns"
    )
    within: Column | None = Field(default=None, description="column of strata inside which records are compared")
    linked: tuple[tuple[str, ...], ...] = Field(default=(), description="lists of columns that are blanked together")
    budget_seconds: float | None = Field(
        default=None, gt=0, description="time for an integer program that proves how few cells are possible"
    )
    persons: ClassVar[PersonUnit] = "counted"
    suits: ClassVar[tuple[str, ...]] = ("hierarchy",)
    not_replayable_because: ClassVar[str] = "cells are blanked until every record of the file has company"
    examples: ClassVar = ({"k": 2}, {"k": 2, "missing": "wildcard"})

    @model_validator(mode="after")
    def _one_goal(self) -> LocalSuppress:
        if (self.k is None) == (self.risk is None):
            raise ParameterError("local-suppress: give either k or risk.")
        if any(not cost > 0 for cost in self.importance.values()):
            raise ParameterError(f"local-suppress: importance must be above 0, got {min(self.importance.values()):g}.")
        if isinstance(self.subsets, int) and self.subsets < 1:
            raise ParameterError(f"local-suppress: subsets must have at least 1 column, got {self.subsets}.")
        return self

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the quasi-identifiers other than ``within``."""
        return tuple(name for name in schema.quasi if name != self.within)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Blank the cells and count again."""
        import polars as pl

        from celosia.search.cells.suppression import blank_cells, concatenate

        kept = ~table.counts.suppressed_mask
        # columns with few values first: among equal costs the search blanks the last ones
        coded = {name: table.codes(name) for name in table.schema.need_quasi() if name != self.within}
        names = sorted(coded, key=lambda name: len(coded[name][1]))
        reading = self.missing or table.schema.reading().value
        codes = np.column_stack([coded[name][0] for name in names])[kept]
        strata = None if self.within is None else table.codes(self.within)[0][kept] + 1  # 0: no stratum known
        persons = _persons(table, kept)
        k, lack, sampling = self._goal(table, kept, strata, persons)
        for name in self.importance:
            if name not in names:
                raise UnknownName.of("quasi-identifier", name, names)
        search = partial(
            blank_cells,
            k=k,
            reading=reading,
            weights=[self.importance.get(name, 1.0) for name in names],
            blocks=self._blocks(table, names),
            subsets=self._subsets(names),
        )
        if persons is None:
            result = search(codes, fixed=strata, lack=lack, sampling=sampling, seconds=self.budget_seconds)
        else:  # each stratum has persons of its own
            parts = [np.arange(len(codes))] if strata is None else [np.flatnonzero(strata == s) for s in set(strata)]
            seconds = None if self.budget_seconds is None else self.budget_seconds / max(1, len(parts))
            result = concatenate(parts, [search(codes[rows], persons=persons[rows], seconds=seconds) for rows in parts])
        gone = np.zeros((len(table), len(names)), np.bool_)
        gone[kept] = result.cells
        hit = {name: gone[:, j] for j, name in enumerate(names)}
        for group in self.linked:
            both = np.any([hit[name] for name in group if name in hit], axis=0)
            assert isinstance(both, np.ndarray)
            hit |= dict.fromkeys(group, both)
        changed = {name: mask for name, mask in hit.items() if mask.any()}
        columns = {name: table.column(name).to_frame().select(pl.when(~pl.Series(mask)).then(pl.col(name)))[name]
                   for name, mask in changed.items()}  # fmt: skip
        done = table.replace(columns) if columns else table
        schema = done.schema
        for name in names:
            schema = schema.change(name, missing=Missing(reading))
        evidence: dict[str, object] = {
            "missing": reading,
            "cells": int(result.cells.sum()),
            "records": int(result.cells.any(axis=1).sum()),
            "columns": {name: int(mask.sum()) for name, mask in sorted(hit.items())},
            "cost": result.cost,
        }
        if self.budget_seconds is not None:
            evidence |= {"lower_bound": result.bound, "optimal": result.optimal}
        return Outcome(done.with_schema(schema), evidence)

    def _goal(
        self,
        table: Table,
        kept: NDArray[np.bool_],
        strata: NDArray[np.int32] | None,
        persons: NDArray[np.int32] | None,
    ) -> tuple[int, Lack | None, NDArray[np.float64] | None]:
        """Return the frequency to reach and, for a risk, the function of missing matches and the sampling weights."""
        n = int(kept.sum())
        lack, sampling = None, None
        if self.k is not None:
            k = self.k
        else:
            if persons is not None:
                raise ParameterError("local-suppress: an individual risk needs one row per person; use k.")
            weight = table.schema.weight
            sampling = np.ones(n) if weight is None else table.numeric([weight])[kept, 0]
            if not (np.isfinite(sampling).all() and (sampling > 0).all()):
                raise DataError("local-suppress: sampling weights must be positive numbers.")
            k, lack = _risk_goal(float(self.risk or 0.0), float(sampling.min(initial=np.inf)), n)
        stratum = np.zeros(n, np.int64) if strata is None else strata
        person = np.arange(n) if persons is None else persons
        of_person = np.unique(np.column_stack([stratum, person]), axis=0)[:, 0]
        smallest = int(np.unique(of_person, return_counts=True)[1].min(initial=n))
        if n and k > smallest:
            where = "the table" if strata is None else f"the smallest stratum of {self.within!r}"
            raise RequirementError(
                f"local-suppress: {k} {'records' if persons is None else 'persons'} must be alike, "
                f"but {where} has {smallest}. At most {smallest} can be reached."
            )
        return k, lack, sampling

    def _blocks(self, table: Table, names: Sequence[str]) -> list[list[int]]:
        """Positions of the quasi-identifiers that are blanked together."""
        for name in itertools.chain.from_iterable(self.linked):
            table.schema[name]
        place = {name: {j} for j, name in enumerate(names)}
        for group in self.linked:
            inside = [name for name in group if name in place]
            if not inside:
                raise ParameterError("local-suppress: each list of linked columns needs a quasi-identifier.")
            merged = set().union(*(place[name] for name in inside))
            for j in merged:
                place[names[j]] = merged
        return [list(block) for block in dict.fromkeys(tuple(sorted(block)) for block in place.values())]

    def _subsets(self, names: Sequence[str]) -> list[tuple[int, ...]] | None:
        if self.subsets is None:
            return None
        if isinstance(self.subsets, int):
            if self.subsets > len(names):
                raise ParameterError(
                    f"local-suppress: subsets of {self.subsets} columns need as many quasi-identifiers; "
                    f"there are {len(names)}."
                )
            return list(itertools.combinations(range(len(names)), self.subsets))
        for name in itertools.chain.from_iterable(self.subsets):
            if name not in names:
                raise UnknownName.of("quasi-identifier", name, names)
        return [tuple(names.index(name) for name in subset) for subset in self.subsets if subset]


def _persons(table: Table, kept: NDArray[np.bool_]) -> NDArray[np.int32] | None:
    """Person of each record that takes part; None where no person has two records."""
    persons = declared_persons(table)
    if persons is None or len(np.unique(persons[kept])) == kept.sum():
        return None
    return persons[kept]


def _risk_goal(limit: float, least: float, n: int) -> tuple[int, Lack]:
    """Return a frequency that keeps every individual risk below the limit, and a function of missing matches.

    ``least`` is the smallest sampling weight: every further match adds at least so much to the population
    frequency.
    """
    from celosia.kernels.disclosure.uniqueness.individual_risk import individual_risk

    more = np.arange(n + 1, dtype=np.float64)
    enough = individual_risk(more[1:], more[1:] * max(least, 1.0)) <= limit
    if not enough.any():
        reached = float(individual_risk(more[-1:], more[-1:] * max(least, 1.0))[0])
        raise RequirementError(
            f"local-suppress: an individual risk of {limit:g} cannot be reached with {n} records; "
            f"the lowest is {reached:g}."
        )
    k = int(np.argmax(enough)) + 1

    def lack(f: NDArray[np.float64], F: NDArray[np.float64]) -> NDArray[np.int64]:
        short = np.zeros(len(f), np.int64)
        seen = f > 0  # a record of nothing but blanks has no frequency here
        for add in range(k + 1):
            at_risk = np.zeros(len(f), np.bool_)
            at_risk[seen] = individual_risk(f[seen] + add, F[seen] + add * least) > limit
            if not at_risk.any():
                break
            short[at_risk] = add + 1
        return short

    return k, lack
