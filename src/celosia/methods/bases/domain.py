"""The public domain of a column: its values or intervals, known without looking at the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]


MOST_VALUES = 128  # a whole-number column with fewer values keeps them: ages pile up at round numbers


@dataclass(frozen=True)
class Domain:
    """The cells of a column: declared values, or equal intervals between declared bounds."""

    name: str
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    """Ends of the intervals; empty when there are values."""
    whole: bool = False

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.values) if self.values else len(self.edges) - 1

    def codes(self, column: pl.Series) -> Ints:
        """The cell of each record; -1 for missing and undeclared values, numbers are moved into the bounds."""
        import polars as pl

        if self.values:
            try:
                declared = pl.Series(self.name, list(self.values), dtype=column.dtype)
            except (TypeError, pl.exceptions.PolarsError):
                raise ParameterError(
                    f"dp-synthesis: the declared values of {self.name!r} do not fit its type."
                ) from None
            lookup = pl.DataFrame({self.name: declared, "code": np.arange(len(declared))})
            joined = column.to_frame(self.name).join(
                lookup, on=self.name, how="left", maintain_order="left", nulls_equal=True
            )
            return np.asarray(joined["code"].fill_null(-1).to_numpy(), dtype=np.int64)
        x = column.cast(pl.Float64).to_numpy()
        inner = np.array(self.edges[1:-1])
        return np.where(np.isnan(x), -1, np.searchsorted(inner, x, side="right")).astype(np.int64)

    def column(self, codes: Ints, dtype: Any, rng: np.random.Generator) -> pl.Series:
        """Values for cells; within an interval any number is as likely as any other."""
        import polars as pl

        if self.values:
            return pl.Series(self.name, list(self.values), dtype=dtype).gather(codes)
        edges = np.array(self.edges)
        low, high = edges[codes], edges[codes + 1]
        if self.whole:
            whole_numbers = np.ceil(low) + np.floor(
                rng.random(len(codes)) * np.maximum(np.ceil(high) - np.ceil(low), 1.0)
            )
            return (
                pl.Series(self.name, np.clip(whole_numbers, self.edges[0], self.edges[-1] - 1))
                .cast(pl.Int64)
                .cast(dtype)
            )
        return pl.Series(self.name, low + rng.random(len(codes)) * (high - low)).cast(dtype)


def domain(who: str, table: Table, name: str, given: Mapping[str, Sequence[Any]], bins: int) -> Domain:
    """What is declared about a column: ``values``, an order, or bounds of numbers cut into ``bins`` intervals."""
    info = table.schema[name]
    dtype = table.polars_types()[name]
    if name in given:
        return _filled(who, Domain(name, values=tuple(dict.fromkeys(given[name]))))
    if info.order:
        return Domain(name, values=tuple(info.order))
    if info.bounds is not None and dtype.is_numeric():
        low, high = info.bounds
        if dtype.is_integer():
            low, high = np.ceil(low), np.floor(high)
            if high - low < max(bins, MOST_VALUES):
                return _filled(who, Domain(name, values=tuple(range(int(low), int(high) + 1))))
            return Domain(name, edges=tuple(np.linspace(low, high + 1, bins + 1).tolist()), whole=True)
        return Domain(name, edges=tuple(np.linspace(low, high, bins + 1).tolist()))
    if dtype == _boolean():
        return Domain(name, values=(False, True))
    raise ParameterError(
        f"{who}: the values of {name!r} are not declared, and which occur is itself private: give `values`, "
        "an order in the schema, or bounds of numbers; or leave the column out with `columns`."
    )


def _filled(who: str, declared: Domain) -> Domain:
    if not declared.values:
        raise ParameterError(
            f"{who}: no value of {declared.name!r} is declared: its `values` are empty, or no whole number lies within "
            "its bounds. Declare what it can hold, or leave the column out with `columns`."
        )
    return declared


def _boolean() -> Any:
    import polars as pl

    return pl.Boolean
