"""Columns of several tables as numbers and as common codes, on which attacks compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable, UnknownName
from celosia.table.columns import column_types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class Encoded:
    """Columns of one table: numbers (NaN is missing) and codes of categories (-1 is missing)."""

    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: NDArray[np.intp] | NDArray[np.int64]) -> Encoded:
        """Select rows."""
        return Encoded(self.numbers[rows], self.codes[rows])


@dataclass(frozen=True, eq=False)
class Encoding:
    """Several tables over the same columns."""

    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    tables: tuple[Encoded, ...]
    sizes: tuple[int, ...]
    """Number of different categories of each nominal column over all tables."""


def encode(tables: Sequence[Table], names: Sequence[str]) -> Encoding:
    """Encode columns; one that is a number in every table stays a number, all others become categories.

    >>> import polars as pl, celosia
    >>> a, b = (celosia.read(pl.DataFrame({"x": x, "c": c})) for x, c in (([1, 2], ["u", "v"]), ([3], ["v"])))
    >>> [t.codes.ravel().tolist() for t in encode([a, b], ["x", "c"]).tables]
    [[0, 1], [1]]
    """
    import polars as pl

    from celosia.hierarchy import text_series

    for table in tables:
        for name in names:
            if name not in table.names:
                raise UnknownName.of("column", name, table.names)
    types = [column_types(table) for table in tables]
    numeric = tuple(name for name in names if all(t[name].is_numeric() or t[name] == pl.Boolean for t in types))
    nominal = tuple(name for name in names if name not in numeric)
    coded = [np.empty((len(table), len(nominal)), dtype=np.int32) for table in tables]
    sizes = []
    for j, name in enumerate(nominal):
        columns = [text_series(table.column(name)) for table in tables]
        values = pl.concat([column.unique() for column in columns]).drop_nulls().unique().sort()
        lookup = pl.DataFrame({name: values, "code": np.arange(len(values), dtype=np.int32)})
        for i, column in enumerate(columns):
            codes = column.to_frame().join(lookup, on=name, how="left", maintain_order="left")["code"]
            coded[i][:, j] = codes.fill_null(-1).to_numpy()
        sizes.append(len(values))
    encoded = tuple(Encoded(t.numeric(numeric), c) for t, c in zip(tables, coded, strict=True))
    return Encoding(numeric, nominal, encoded, tuple(sizes))


def known_columns(original: Table, protected: Table, columns: Sequence[str] | None, *, numbers: bool) -> list[str]:
    """Return the columns that an intruder compares: those given, or the shared ones without ids and weights."""
    from celosia.table.pairing import shared_columns, shared_numbers

    if columns is not None:
        for name in columns:
            for table in (original, protected):
                if name not in table.names:
                    raise UnknownName.of("column", name, table.names)
        shared = list(columns)
    else:
        schema = original.schema
        hidden = {schema.person, schema.household, schema.weight}  # unknown to an intruder without the file
        shared = shared_numbers(original, protected) if numbers else shared_columns(original, protected)
        shared = [name for name in shared if name not in hidden]
    if numbers:
        numeric = shared_numbers(original, protected)
        text = [name for name in shared if name not in numeric]
        if text:
            raise NotApplicable(
                f"column {text[0]!r} does not hold numbers in both tables; compare numbers, or use gower distances."
            )
    if not shared:
        raise NotApplicable("the two tables share no column that can be compared.")
    return shared
