"""The combinations of some columns that occur, with their counts: the one histogram behind every verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes.coded import Coded
from celosia.classes.column import Encoded, encode, group, pack, ranked, recode
from celosia.data.engines.engine import KEY, PERSONS, ROWS, WEIGHT

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema

    Weights = Callable[[], NDArray[np.float64] | None]
    Counts = NDArray[np.int64] | Callable[[], NDArray[np.int64]]
    """Numbers, or what counts them when somebody asks."""


class Patterns:
    """One entry per combination, suppressed records apart: how many rows, persons where they are declared, weight."""

    def __init__(
        self,
        names: Sequence[str],
        rows: NDArray[np.int64],
        counted: Counts,
        weight: Weights,
        *,
        schema: Schema,
        frame: pl.DataFrame | None = None,
        columns: dict[str, Encoded] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.rows = rows
        self._counted = counted
        self._weight = weight
        self._schema = schema
        self._frame = frame
        self._columns = dict(columns or {})

    @classmethod
    def of_codes(cls, coded: Coded, names: Sequence[str]) -> Patterns:
        """From columns that are encoded already."""
        schema = coded.schema
        groups = coded.groups(names)
        counted = groups.count if schema.person is None else coded.persons(names, schema.person)

        def weight() -> NDArray[np.float64] | None:
            return None if schema.weight is None else coded.weights(names, schema.weight, schema.person)

        kept = groups.first if coded.kept is None else coded.kept[groups.first]
        columns = {name: coded.column(name).take(kept) for name in names}
        return cls(names, groups.count, counted, weight, schema=schema, columns=columns)

    @classmethod
    def of_histogram(
        cls, kept: pl.DataFrame, schema: Schema, names: Sequence[str], weight: Weights | None = None
    ) -> Patterns:
        """From a grouping that the engine made and that was collected; ``weight`` gives what it does not hold."""
        rows, counted = _counts(kept)
        return cls(names, rows, counted, weight or _weights(kept), schema=schema, frame=kept.select(names))

    @classmethod
    def of_values(cls, histogram: pl.DataFrame, schema: Schema, names: Sequence[str]) -> Patterns:
        """From a grouping by the values themselves, in whatever order: in that of the codes, as from numbers."""
        kinds = {name: (schema[name].kind, schema[name].order) for name in names}
        columns = {name: encode(histogram[name], *kinds[name]) for name in names}
        order = np.argsort(pack([column.codes for column in columns.values()]))  # each combination comes once
        rows, _ = _counts(histogram)
        weight = _weights(histogram)()
        summed = None if weight is None else weight[order]
        ordered = {name: Encoded(column.codes[order], column.values) for name, column in columns.items()}
        return cls(names, rows[order], rows[order], lambda: summed, schema=schema, columns=ordered)

    @classmethod
    def of_keys(
        cls,
        histogram: pl.DataFrame,
        domains: Mapping[str, pl.Series],
        schema: Schema,
        weight: Weights | None = None,
    ) -> Patterns:
        """From a grouping by one number per combination, the last column's code in its lowest place."""
        histogram = histogram.sort(KEY)
        columns = unpacked(histogram[KEY].to_numpy(), domains)
        rows, counted = _counts(histogram)
        return cls(list(domains), rows, counted, weight or _weights(histogram), schema=schema, columns=columns)

    def take(self, chosen: NDArray[np.bool_]) -> Patterns:
        """Some of the combinations."""
        columns = {name: self.column(name).take(chosen) for name in self.names}

        def weight() -> NDArray[np.float64] | None:
            return None if self.weight is None else self.weight[chosen]

        return Patterns(
            self.names, self.rows[chosen], lambda: self.counted[chosen], weight, schema=self._schema, columns=columns
        )

    def held(self, counted: Counts, weight: Weights, schema: Schema) -> Patterns:
        """The same combinations, counted by whom they belong to."""
        columns = {name: self.column(name) for name in self.names}
        return Patterns(self.names, self.rows, counted, weight, schema=schema, columns=columns)

    def coarser(self, names: Sequence[str]) -> Patterns:
        """The combinations of some of the columns; only where records are counted, since a person may have several."""
        columns = [self.column(name) for name in names]
        first, place = group([c.codes for c in columns])
        rows = np.bincount(place, weights=self.rows, minlength=len(first)).astype(np.int64)
        own = self.weight
        weight: NDArray[np.float64] | None = None
        if own is not None:
            weight = np.bincount(place, weights=own, minlength=len(first)).astype(np.float64)
        parts = {name: column.take(first) for name, column in zip(names, columns, strict=True)}
        return Patterns(names, rows, rows, lambda: weight, schema=self._schema, columns=parts)

    def with_columns(self, columns: Mapping[str, Encoded]) -> Patterns:
        """Other values in some of the columns: the same combination may then come several times."""
        own = {name: columns[name] if name in columns else self.column(name) for name in self.names}
        return Patterns(self.names, self.rows, lambda: self.counted, self._weight, schema=self._schema, columns=own)

    def under(self, schema: Schema) -> Patterns:
        """The same with the values of each column in the order that a schema declares."""
        kinds = {name: (schema[name].kind, schema[name].order) for name in self.names if name in schema}
        return self.with_columns({name: self.column(name).ordered(*kind) for name, kind in kinds.items()})

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def counted(self) -> NDArray[np.int64]:
        """Persons where a person column is declared, else rows."""
        return self._counted() if callable(self._counted) else self._counted

    @cached_property
    def weight(self) -> NDArray[np.float64] | None:
        """Sum of the sampling weights, a person's counted once; None without a weight column."""
        return self._weight()

    def column(self, name: str) -> Encoded:
        """The value of one column in each combination."""
        if name not in self._columns:
            assert self._frame is not None
            info = self._schema[name]
            self._columns[name] = encode(self._frame[name], info.kind, info.order)
        return self._columns[name]

    def key(self, names: Sequence[str] | None = None) -> NDArray[np.int64]:
        """One number per combination for its values in these columns; the same for patterns of the same records."""
        return pack([self.column(name).codes for name in (self.names if names is None else names)])

    def find(self, finer: Patterns) -> NDArray[np.int64]:
        """The place here of each combination of a finer grouping of the same records, or of some of them."""
        own = [self.column(name) for name in self.names]
        theirs = [_alike(column, finer.column(name)) for name, column in zip(self.names, own, strict=True)]
        if len(self) == len(finer) and all(map(np.array_equal, (column.codes for column in own), theirs)):
            return np.arange(len(self))
        # packed together: some of the records need not have the largest code of a column
        key = pack([np.concatenate([column.codes, codes]) for column, codes in zip(own, theirs, strict=True)])
        key, wanted = key[: len(self)], key[len(self) :]
        order = ranked([key])
        place = np.searchsorted(key[order], wanted)
        return place if isinstance(order, slice) else order[place]

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The combinations themselves."""
        import polars as pl

        if self._frame is not None:
            return self._frame
        return pl.DataFrame([self.column(name).cells().alias(name) for name in self.names])

    def matrix(self, names: Sequence[str], *, open_missing: Sequence[str] = ()) -> NDArray[np.int32]:
        """Combinations × columns as codes; a missing value is -1 in the columns that read it as anything."""
        columns = [self.column(name).masked if name in open_missing else self.column(name).codes for name in names]
        return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)


def unpacked(key: NDArray[np.int64], domains: Mapping[str, pl.Series]) -> dict[str, Encoded]:
    """The columns that a number per combination tells, the last one's code in its lowest place."""
    columns = {}
    for name, values in reversed(list(domains.items())):
        key, codes = np.divmod(key, len(values))
        columns[name] = Encoded(codes.astype(np.int32), values)
    return columns


def _counts(histogram: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of each combination, and its persons where they were counted."""
    rows = histogram[ROWS].to_numpy().astype(np.int64)
    return rows, histogram[PERSONS].to_numpy().astype(np.int64) if PERSONS in histogram.columns else rows


def _weights(histogram: pl.DataFrame) -> Weights:
    weight = histogram[WEIGHT].cast(float).to_numpy() if WEIGHT in histogram.columns else None
    return lambda: weight


def _alike(coarse: Encoded, fine: Encoded) -> NDArray[np.int32]:
    """The codes of a column among the values that it has in a coarser grouping."""
    same = coarse.values is fine.values or coarse.values.equals(fine.values)
    return fine.codes if same else recode(fine, coarse.values)
