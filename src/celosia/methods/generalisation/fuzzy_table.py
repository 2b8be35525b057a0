"""Publish the cells of a fuzzy coding with the sensitive values that they hold."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import DataError, ParameterError, RequirementError
from celosia.kernels.fuzzy.coding import Cells, Partition, facts
from celosia.kernels.fuzzy.sets import TOLERANCE
from celosia.methods.bases.linguistic import _LinguisticCoding
from celosia.parts import Column, Method, OnlyRead, PersonUnit, SuitedColumns
from celosia.parts.method import Rows
from celosia.table import Outcome
from celosia.table.columns import declared_persons, sensitive_codes

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes import Sensitive
    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

SIGMA = "sigma"


class FuzzyTable(_LinguisticCoding, Method):
    r"""Publish a fuzzy table: one row for each cell of a fuzzy coding and each sensitive value in it.

    .. math:: T^* = \{(Q_i, s) : \exists x \text{ with value } s,\ \mu_{Q_i}(x) \ge d\}

    A record belongs to every cell in which it has the ``degree`` d, and so its value is listed in each of them. The
    cells are named in the columns of the quasi-identifiers, by hand-written ``sets`` or found ones; columns of text are
    crisp. ``sigma`` adds the rounded σ-count :math:`\sum_x \mu_{Q_i}(x) [x = s]` of every row.

    Cells with fewer than ``q`` persons of this degree, with fewer than ``l`` values, or whose distribution by σ-counts
    is farther than ``t`` from that of the table are left out. Where persons have several records, so are cells that
    list more values than they have persons, or a value of all of their persons beside others. An intruder who has
    learnt the sets looks a person up in all of her cells, and her value is one that they share: of the cells in which
    some record would be left with fewer than l such values, the smallest is left out. The evidence counts the cells
    and the records in none. Q-anonymity by ``aggregate="min"`` over the cells of degree one half, fuzzy l-diversity
    and fuzzy t-closeness hold in the published cells with these numbers. With a person column persons are counted. An
    intruder who knows two records of a person is not considered, nor one who knows the quasi-identifiers of everybody
    in a cell: σ-counts with decimals can tell this one who has which value. Fails where no cell is left. Reference:
    Quirós (2013), master's thesis, University of Oviedo.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [21, 24, 32, 36, 45, 56], "ill": ["flu", "cold", "flu", "cold", "flu", "flu"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
    >>> sets = {"age": {"Young": "(-inf;30;36)", "Older": "(30;36;inf)"}}
    >>> celosia.protect(table, FuzzyTable(sets=sets, l=2, sigma=1)).polars().rows()
    [('Young', 'cold', 1.0), ('Young', 'flu', 1.7), ('Older', 'cold', 1.0), ('Older', 'flu', 2.3)]
    """

    columns: Annotated[SuitedColumns, OnlyRead()] = Field(
        default=(), description="quasi-identifiers that name the cells; all when empty"
    )
    column: Annotated[Column | None, OnlyRead()] = Field(
        default=None, description="the sensitive column; the declared one when not given"
    )
    degree: float = Field(default=0.5, gt=0, le=1, description="degree from which a record belongs to a cell")
    q: int = Field(default=1, ge=1, description="fewest persons in a published cell")
    l: int = Field(default=1, ge=1, description="fewest values in a published cell, and in what a record's cells share")
    t: float | None = Field(default=None, ge=0, description="largest distance of a published cell from the table")
    sigma: int | None = Field(default=None, ge=0, le=3, description="decimals of published σ-counts; none: no counts")
    persons: ClassVar[PersonUnit] = "counted"
    rows: ClassVar[Rows] = "new"
    suits: ClassVar[tuple[str, ...]] = ("numeric", "ordinal", "nominal")
    not_replayable_because: ClassVar[str] = "the values of its cells are published already, without the new records"
    examples: ClassVar = (
        {"columns": ["x", "q"], "column": "s", "sets": {"x": {"low": "(-inf;20;40)", "high": "(20;40;inf)"}}},
        {"columns": ["x"], "column": "s", "cells": 2, "degree": 0.3, "l": 2, "q": 3, "t": 0.5, "sigma": 1},
    )

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the columns that become names of cells, and the sensitive one, whose values become a list."""
        return (*super().resolve_columns(schema).columns, *([self.column] if self.column else schema.sensitive[:1]))

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Code the quasi-identifiers and list the values of the cells."""
        from celosia.views.fuzzy_cells import values_of

        column = self._sensitive(table)
        kept = ~table.counts.suppressed_mask
        values = {name: values_of(table.column(name), kept) for name in self.columns}
        seed = int(stream.rng().integers(2**63))
        partitions, cells = self.partitions(values, seed), self.cross(values, seed)
        sensitive, of_all = sensitive_codes(table, column), declared_persons(table)
        persons = np.arange(int(kept.sum())) if of_all is None else of_all[kept].astype(np.int64)
        listing = _Listing(cells, sensitive.codes[kept].astype(np.int64), persons, sensitive, self.degree)
        published = listing.choose(self.q, self.l, self.t)
        if not published.any():
            raise RequirementError(
                f"{self.name}: no cell holds q = {self.q}, l = {self.l}"
                + ("" if self.t is None else f", t = {self.t:g}")
                + ". Use fewer or wider sets, or ask for less."
            )
        labels = _labels(self.columns, cells, [(p, self.cell_labels(p)) for p in partitions])
        released = self._release(table, column, listing, published, labels)
        recorded = [{**facts(p), "found": dict(p.parameters), "labels": self.cell_labels(p)} for p in partitions]
        outside = ~(listing.member & published[listing.cells_of_group[cells.group]]).any(axis=1)
        evidence = {
            "cells": int(published.sum()),
            "cells_left_out": int((listing.size > 0).sum() - published.sum()),
            "records_in_no_cell": int(outside.sum()),
        }
        return Outcome(released, evidence, {"partitions": recorded})

    def _sensitive(self, table: Table) -> str:
        """Return the sensitive column."""
        declared = table.schema.sensitive
        if self.column is None and len(declared) != 1:
            raise ParameterError(f"{self.name}: {len(declared)} sensitive columns are declared: name one (column).")
        column = self.column or declared[0]
        if column in self.columns:
            raise ParameterError(f"{self.name}: column {column!r} is a quasi-identifier and the sensitive column.")
        if SIGMA in table.names and self.sigma is not None:
            raise DataError(f"{self.name}: the table already has a column {SIGMA!r}; rename it first.")
        return column

    def _release(
        self, table: Table, column: str, listing: _Listing, published: Mask, labels: list[tuple[str | None, ...]]
    ) -> Table:
        """Return the rows of the published cells, cell by cell, values in the order of their domain."""
        import polars as pl

        from celosia.data.schema import Kind
        from celosia.table.derive import new_records, with_record_ids

        cell, value = np.nonzero(listing.holders[published] > 0)
        cell = np.flatnonzero(published)[cell]
        order = {name: tuple(dict.fromkeys(row[j] for row in labels if row[j])) for j, name in enumerate(self.columns)}
        new_columns: dict[str, pl.Series] = {
            name: pl.Series([labels[i][j] for i in cell], dtype=pl.String) for j, name in enumerate(self.columns)
        }
        whole = table.column(column)
        first = np.full(listing.sensitive.width, -1, dtype=np.int64)
        codes = listing.sensitive.codes
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        new_columns[column] = whole.gather(first[value])
        if self.sigma is not None:
            new_columns[SIGMA] = pl.Series(listing.sigma[cell, value].round(self.sigma))
        schema = table.schema
        for name in self.columns:
            schema = schema.change(name, kind=Kind.ORDINAL, order=order[name], hierarchy=None, bounds=None)
        return with_record_ids(new_records(table, pl.DataFrame(new_columns)).with_schema(schema.keep([*new_columns])))


class _Listing:
    """The persons, values and σ-counts of all cells of a coding."""

    def __init__(self, cells: Cells, codes: Ints, persons: Ints, sensitive: Sensitive, degree: float) -> None:
        from celosia.kernels.fuzzy.diversity import cell_counts
        from celosia.views.fuzzy_cells import merge_persons

        groups, fuzzy, width = len(cells.group_names), cells.degrees.shape[1], sensitive.width
        self.cells_of_group = np.arange(groups * fuzzy).reshape(groups, fuzzy)
        self.member = cells.degrees >= degree - TOLERANCE
        self.group, self.sensitive = cells.group, sensitive
        self.holders, self.sigma = np.zeros((groups * fuzzy, width)), np.zeros((groups * fuzzy, width))
        self.size, self.filled = np.zeros(groups * fuzzy), np.zeros(groups * fuzzy)
        for place, rows, mu in cells.blocks():
            own = self.cells_of_group[place]
            person, code = persons[rows], codes[rows]
            filled = code != sensitive.missing_code
            inside = self.member[rows].astype(np.float64)
            self.size[own] = merge_persons(inside, person)[0].sum(axis=0)
            self.filled[own] = merge_persons(inside[filled], person[filled])[0].sum(axis=0)
            pair = (person * width + code)[filled]  # a person counts once per cell and value
            for target, degrees in ((self.holders, inside), (self.sigma, mu)):
                merged, kept = merge_persons(degrees[filled], pair)
                target[own] = cell_counts(merged, code[filled][kept], width)

    def choose(self, q: int, l: int, t: float | None) -> Mask:
        """Return the cells that may be published."""
        values = (self.holders > 0).sum(axis=1)
        of_all = (self.holders == self.filled[:, None]).any(axis=1)
        # with several values of one person a cell would look larger and more diverse than it is
        honest = (values <= self.filled) & ~(of_all & (values > 1))
        fits = (self.size >= q) & (values >= l) & (self.filled > 0) & honest
        if t is not None:
            fits &= self._distances() <= t + TOLERANCE
        patterns = self._patterns()
        while l > 1:
            bad = [
                min(own, key=lambda cell: (self.size[cell], cell))
                for own in ([cell for cell in cells if fits[cell]] for cells in patterns)
                if len(own) > 1 and (self.holders[own] > 0).all(axis=0).sum() < l
            ]
            if not bad:
                break
            fits[bad] = False
        return np.asarray(fits)

    def _patterns(self) -> list[Ints]:
        """Return the sets of cells in which some record is, where they are more than one."""
        several = self.member.sum(axis=1) > 1
        rows = np.column_stack([self.group[several], np.packbits(self.member[several], axis=1)])
        first = np.unique(rows, axis=0, return_index=True)[1]
        places = np.flatnonzero(several)[first]
        return [self.cells_of_group[self.group[i]][self.member[i]] for i in places]

    def _distances(self) -> Floats:
        """Return the distance of the distribution of each cell from that of the table."""
        from celosia.kernels.fuzzy.closeness import equal_map, ordered_map
        from celosia.kernels.fuzzy.diversity import shares

        gaps = shares(self.sigma) - self.sensitive.share()
        mapped = equal_map(gaps) if self.sensitive.numbers is None else ordered_map(gaps)
        return np.asarray(np.abs(mapped).sum(axis=1))


def _labels(
    columns: tuple[str, ...], cells: Cells, partitions: list[tuple[Partition, list[tuple[str, ...]]]]
) -> list[tuple[str | None, ...]]:
    """Return the label of each cell (groups × fuzzy cells) in each column; None for missing values."""
    named = {
        p.columns: dict(zip(p.names, [*labels, tuple(None for _ in p.columns)], strict=False))
        for p, labels in partitions
    }
    fuzzy = [p for p, _ in partitions if p.degrees is not None]
    crisp = [p for p, _ in partitions if p.codes is not None]
    result = []
    for group_name, cell_name in product(cells.group_names, cells.names):
        label_of: dict[str, str | None] = {}
        for p, name in (*zip(crisp, group_name, strict=True), *zip(fuzzy, cell_name, strict=True)):
            label_of |= dict(zip(p.columns, named[p.columns][name], strict=True))
        result.append(tuple(label_of[name] for name in columns))
    return result
