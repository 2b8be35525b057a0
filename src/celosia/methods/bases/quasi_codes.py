"""Input of the search: quasi-identifiers as codes with their levels, and the labels that codes stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes import STAR, Sensitive
from celosia.errors import DataError, ParameterError, UnknownName
from celosia.hierarchy import Levels, texts
from celosia.histogram import Domain, Encoded, Histogram, encode
from celosia.parts import population_table, refuse_other_views
from celosia.search.lattice.objective import LevelMaps
from celosia.search.lattice.owners import Owners
from celosia.search.lattice.tables import Records
from celosia.table.columns import declared_persons, sensitive_codes

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy import Hierarchy
    from celosia.parts import Model
    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class QuasiColumn:
    """Quasi-identifier: the code of each record, and for each level the code and label of each value."""

    name: str
    codes: NDArray[np.int32]
    maps: tuple[NDArray[np.int32], ...]
    rows: tuple[NDArray[np.int64], ...]
    levels: Levels
    values: pl.Series
    """The values that occur, a missing one last."""
    labels: tuple[pl.Series, ...]
    """For each level above 0 the label of each value; level 0 stands for the values themselves."""
    people: NDArray[np.int32] | None = None
    """The code of each record of the population."""
    hierarchy: Hierarchy | None = None

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.maps) - 1

    def label(self, level: int, chosen: NDArray[np.int32] | None = None) -> pl.Series:
        """Return the column at a level, in the order of the records (or of the ``chosen`` codes)."""
        source = self.values if level == 0 else self.labels[level - 1]
        return source.gather(self.codes if chosen is None else chosen).alias(self.name)

    def label_of(self, level: int) -> dict[str, str | None] | None:
        """Map every value that the hierarchy knows, also those that do not occur, to its label; ``None`` at level 0."""
        if level == 0:
            return None
        if self.hierarchy is None:
            return dict.fromkeys((text for text in texts(self.values) if text is not None), STAR)
        everything = self._all_levels(self.hierarchy)
        pairs = zip(everything.values, everything.labels(level), strict=True)
        return {raw: label for raw, label in pairs if raw is not None}

    def own_labels(self) -> dict[str, str | None]:
        """Map every value that occurs or that the hierarchy knows to itself."""
        labels = texts(self.values) if self.hierarchy is None else self._all_levels(self.hierarchy).values
        return {text: text for text in labels if text is not None}

    def _all_levels(self, hierarchy: Hierarchy) -> Levels:
        """Levels of the values that occur and of those that the hierarchy knows."""
        return hierarchy.levels([*self.values.to_list(), *hierarchy.levels(self.values).domain])


@dataclass(frozen=True, eq=False)
class QuasiCodes:
    """The quasi-identifiers of a table as codes, and the records for which a search counts classes."""

    table: Table
    columns: tuple[QuasiColumn, ...]
    records: Records
    active: NDArray[np.bool_]
    """Records that take part: those that no earlier step suppressed."""
    by_class: bool = False
    """Whether the codes are those of combinations, each of which stands for several records."""

    @property
    def domain(self) -> LevelMaps:
        """The hierarchies as integer maps."""
        return self.records.domain


def quasi_codes(
    table: Table,
    require: Sequence[Model],
    *,
    counted: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    target: NDArray[np.int64] | None = None,
    flat: Sequence[str] = (),
    by_class: bool = False,
) -> QuasiCodes:
    """Code the quasi-identifiers and the columns that requirements count; earlier suppressed records are left out.

    Columns named ``flat`` have no levels between "as it is" and ``*``, whatever their hierarchy. With ``by_class``
    the rows are the combinations that occur, where they are enough and the table is not in memory.
    """
    quasi = table.schema.need_quasi()
    for name in weights or {}:
        if name not in quasi:
            raise UnknownName.of("quasi-identifier", name, quasi, "(weights)")
    for model in require:
        refuse_other_views(model, table)
    population = _population(table, require)
    # a loss that counts a column is about records, where requirements count persons
    enough = population is None and target is None and not flat and (table.schema.person is None or not counted)
    if by_class and enough and table.counts.frame is None:
        return _class_codes(table, require, counted, weights)
    active = ~table.counts.suppressed_mask
    if not active.any():
        raise DataError("every record is suppressed already: nothing is left to generalise.")
    columns = tuple(quasi_column(table, name, population, active, flat=name in flat) for name in quasi)
    matrix = np.column_stack([column.codes for column in columns])[active]
    people = None
    if population is not None:
        people = np.column_stack([column.people for column in columns if column.people is not None])
    domain = _level_maps(table, columns, matrix, None, weights, gone=int((~active).sum()))
    names = dict.fromkeys([*_sensitive_columns(table, require), *counted])
    persons = declared_persons(table)
    records = Records(
        domain,
        np.ascontiguousarray(matrix, dtype=np.int32),
        sensitive={name: sensitive_codes(table, name).take(active) for name in names},
        person=None if persons is None else persons[active],
        target=None if target is None else target[active],
        population=people,
        population_total=None if population is None else len(population),
        total=table.classes.total,
        judged=tuple(dict.fromkeys(_sensitive_columns(table, require))),
    )
    return QuasiCodes(table, columns, records, active)


def _class_codes(
    table: Table, require: Sequence[Model], counted: Sequence[str], weights: Mapping[str, float] | None
) -> QuasiCodes:
    """Code the combinations of the quasi-identifiers that occur, with their numbers of records."""
    judged = tuple(dict.fromkeys(_sensitive_columns(table, require)))
    names = dict.fromkeys([*judged, *counted])
    if 0 < len(table) == table.suppressed():
        raise DataError("every record is suppressed already: nothing is left to generalise.")
    whose = table.schema.person is not None
    quasi = table.schema.need_quasi()
    if whose and names:
        table.counts.prepare(quasi, list(names))
    patterns = table.counts.histogram(quasi if whose else [*quasi, *names], suppressed=False)
    columns = tuple(
        coded_column(table, name, patterns.column(name).masked, patterns.column(name).present)
        for name in table.schema.quasi
    )
    matrix = np.column_stack([column.codes for column in columns])
    owners = _owners(table, patterns, list(names)) if whose else None
    records = Records(
        _level_maps(table, columns, matrix, patterns.rows, weights, gone=table.suppressed()),
        np.ascontiguousarray(matrix, dtype=np.int32),
        count=patterns.rows,
        sensitive={name: _sensitive(table, name, None if whose else patterns) for name in names},
        total=table.classes.total,
        judged=judged,
        owners=owners,
    )
    return QuasiCodes(table, columns, records, np.ones(len(patterns), dtype=np.bool_), by_class=True)


def _sensitive(table: Table, name: str, patterns: Histogram | None) -> Sensitive:
    """Encode a counted column in the codes of its domain; without combinations the domain alone."""
    domain = table.classes.baseline(name)
    column = Encoded(np.zeros(0, dtype=np.int32), Domain(domain.values)) if patterns is None else patterns.column(name)
    return Sensitive.of(column, domain)


def _owners(table: Table, quasi: Histogram, names: list[str]) -> Owners:
    """Count the persons of each combination of the quasi-identifiers, and the values that they have in it."""
    joint, non_missing = {}, {}
    for name in names:
        entries, domain = table.counts.histogram([*quasi.names, name], suppressed=False), table.classes.baseline(name)
        joint[name] = entries, domain.codes(entries.column(name))
        if domain.missing_code >= 0:
            non_missing[name] = table.counts.count_known(quasi.names, name)
    return Owners(quasi, joint, non_missing)


def _level_maps(
    table: Table,
    columns: Sequence[QuasiColumn],
    matrix: NDArray[np.int32],
    count: NDArray[np.int64] | None,
    weights: Mapping[str, float] | None,
    *,
    gone: int,
) -> LevelMaps:
    """Hierarchies as integer maps, with the frequencies of the values."""
    names = tuple(column.name for column in columns)
    frequencies = [np.bincount(matrix[:, j], count, minlength=len(c.values)) for j, c in enumerate(columns)]
    return LevelMaps(
        names=names,
        maps=tuple(column.maps for column in columns),
        counts=tuple(frequency.astype(np.int64) for frequency in frequencies),
        weights=None if not weights else np.array([float(weights.get(name, 1.0)) for name in names]),
        rows=tuple(column.rows for column in columns),
        sizes=tuple(max(1, len(column.levels.domain)) for column in columns),
        hierarchies=tuple(column.levels for column in columns),
        suppressed_before=gone,
        table=table,
    )


def quasi_column(
    table: Table,
    name: str,
    population: Table | None = None,
    active: NDArray[np.bool_] | None = None,
    *,
    flat: bool = False,
) -> QuasiColumn:
    """Code one quasi-identifier with its hierarchy; without one it has the levels "as it is" and ``*``.

    Records that are not active (suppressed by an earlier step) have no value: their stars are none of the hierarchy.
    """
    own, values = table.codes(name)
    return coded_column(table, name, own, values, population, active, flat=flat)


def coded_column(
    table: Table,
    name: str,
    own: NDArray[np.int32],
    values: pl.Series,
    population: Table | None = None,
    active: NDArray[np.bool_] | None = None,
    *,
    flat: bool = False,
) -> QuasiColumn:
    """Quasi-identifier with its hierarchy, from codes (-1 is missing) and the values that they stand for."""
    import polars as pl

    unused = active is None and not np.bincount(own[own >= 0], minlength=len(values)).all()
    if unused or (active is not None and not active.all()):  # values of records that are left out are left out too
        active = np.ones(len(own), dtype=np.bool_) if active is None else active
        used = np.unique(own[active & (own >= 0)])
        place = np.zeros(len(values) + 1, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        own = np.where(active, np.where(own < 0, np.int32(-1), place[own]), np.int32(0))
        values = values.gather(used)
    people = None
    if population is not None:
        theirs = population.column(name)
        if theirs.dtype != values.dtype:
            theirs = theirs.cast(values.dtype, strict=False)
        both = pl.concat([values, theirs.alias(values.name)])
        info = table.schema[name]
        together = encode(both, info.value_order)
        joint, values = together.masked, together.present
        moved = np.append(joint[: len(both) - len(theirs)], np.int32(-1))  # -1, a missing value, stays -1
        own = moved[own]
        people = joint[len(both) - len(theirs) :]
    gone = bool((own < 0).any()) or (people is not None and bool((people < 0).any()))
    if gone:
        values = pl.concat([values, pl.Series(values.name, [None], dtype=values.dtype)])
    hierarchy = None if flat else table.schema.hierarchy(name)
    last = np.int32(len(values) - 1)
    filled = np.where(own < 0, last, own).astype(np.int32)
    if people is not None:
        people = np.where(people < 0, last, people).astype(np.int32)
    levels = Levels.flat(values) if hierarchy is None else hierarchy.levels(values, column=name)
    maps, rows = _compact(levels)
    labels = tuple(pl.Series(name, levels.labels(i), dtype=pl.String) for i in range(1, levels.height + 1))
    return QuasiColumn(name, filled, maps, rows, levels, values, labels, people, hierarchy)


def _compact(levels: Levels) -> tuple[tuple[NDArray[np.int32], ...], tuple[NDArray[np.int64], ...]]:
    """Codes of the labels that occur, numbered from 0 on each level, and the hierarchy rows under each."""
    maps = [np.arange(len(levels.values), dtype=np.int32)]
    rows = [levels.table[0].rows[levels.codes(0)]]
    for level in range(1, levels.height + 1):
        occurring, compact = np.unique(levels.codes(level), return_inverse=True)
        maps.append(compact.astype(np.int32))
        rows.append(levels.table[level].rows[occurring])
    return tuple(maps), tuple(rows)


def _sensitive_columns(table: Table, require: Sequence[Model]) -> list[str]:
    """List the sensitive columns that the requirements count."""
    names: list[str] = []
    for model in require:
        for wanted in model.counted_columns():
            names.extend(table.schema.need_sensitive(wanted))
    return names


def _population(table: Table, require: Sequence[Model]) -> Table | None:
    """Open the population table that a requirement counts in."""
    sources = [source for source in map(population_table, require) if source is not None]
    if not sources:
        return None
    if any(source is not sources[0] and not _same(source, sources[0]) for source in sources):
        raise ParameterError("several requirements name different populations: one search counts in one population.")
    from celosia.data.schema import Schema
    from celosia.table.source import open_source

    return open_source(sources[0], Schema.of(quasi=table.schema.need_quasi()))


def _same(a: object, b: object) -> bool:
    return isinstance(a, str | Mapping) and type(a) is type(b) and bool(a == b)
