"""Join known values with the generalised cells of a release that cover them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy.part import Hierarchy
    from celosia.table import Table

    Ints = NDArray[np.int64]

_NUMBER = "__number__"


@dataclass(frozen=True, eq=False)
class JoinCandidates:
    """Distinct combinations of known values and of released cells, and the pairs that fit."""

    raw: Ints
    """Combination of values of each known record."""
    cell: Ints
    """Combination of cells of each released record; -1 when it is suppressed, which joins with nothing."""
    pairs: tuple[Ints, Ints]
    """Combinations of values and of cells that cover them, pair by pair."""

    @classmethod
    def of(cls, people: Table, release: Table, names: Sequence[str]) -> JoinCandidates:
        """Join the columns ``names`` one after the other; a missing value fits a missing one only.

        >>> import polars as pl, celosia
        >>> people = celosia.read(pl.DataFrame({"zip": ["13053", "14850"]}))
        >>> release = celosia.read(pl.DataFrame({"zip": ["130**", "1****"]}))
        >>> [side.tolist() for side in JoinCandidates.of(people, release, ["zip"]).pairs]
        [[0, 0, 1], [0, 1, 1]]
        """
        import polars as pl

        raw, raws = _number_combinations(_texts(people, names))
        cell, cells = _number_combinations(_texts(release, names))
        if release.schema.quasi:
            hidden = release.counts.suppressed_mask
            cell = np.where(hidden, -1, cell)
            cells = cells.filter(pl.Series(np.isin(np.arange(len(cells)), cell)))
        fits = raws.rename({_NUMBER: "raw"})
        done: list[str] = []
        pairs = {
            name: _column_pairs(cells[name], raws[name], _hierarchy(release, name) or _hierarchy(people, name))
            for name in names
        }
        # columns whose cells cover few values first, to drop pairs that do not fit early
        for name in sorted(names, key=lambda name: len(pairs[name]) / max(pairs[name][name].n_unique(), 1)):
            fits = fits.join(pairs[name], on=name, how="inner", nulls_equal=True).drop(name).rename({"cell": name})
            done.append(name)
            fits = fits.join(cells.select(done).unique(), on=done, how="semi", nulls_equal=True)
        fits = fits.join(cells, on=list(names), how="inner", nulls_equal=True).sort("raw", _NUMBER)
        return cls(raw, cell, (fits["raw"].to_numpy(), fits[_NUMBER].to_numpy()))


def _texts(table: Table, names: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    from celosia.hierarchy import text_series

    return pl.DataFrame([text_series(table.column(name)) for name in names])


def _number_combinations(frame: pl.DataFrame) -> tuple[Ints, pl.DataFrame]:
    """Encode the combination of each row; return also the combinations with their numbers."""
    import polars as pl

    names = frame.columns
    kinds = frame.unique(maintain_order=True).with_row_index(_NUMBER).with_columns(pl.col(_NUMBER).cast(pl.Int64))
    numbers = frame.join(kinds, on=names, how="left", maintain_order="left", nulls_equal=True)[_NUMBER]
    return numbers.to_numpy(), kinds


def _hierarchy(table: Table, name: str) -> Hierarchy | None:
    return table.schema.hierarchy(name) if name in table.schema else None


def _column_pairs(cells: pl.Series, raws: pl.Series, hierarchy: Hierarchy | None) -> pl.DataFrame:
    """Pair each value of a column with each cell that covers it."""
    import polars as pl

    from celosia.hierarchy.match import matching_pairs

    cells, raws = cells.unique(), raws.unique()
    row, column = matching_pairs(cells.to_list(), raws.to_list(), hierarchy)
    return pl.DataFrame({raws.name: raws.gather(column), "cell": cells.gather(row)})
