"""Synthesis by a Gaussian copula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import DataError
from celosia.methods.bases.by_rows import FITTED
from celosia.methods.bases.cells import strata, units
from celosia.methods.bases.features import (
    Smoothing,
    decode,
    feature,
    need_made,
    need_publishable,
    new_rows,
    publishable,
)
from celosia.parts import Columns, CountsRows, Explored, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.methods.bases.trees import Feature
    from celosia.streams import Stream
    from celosia.table import Table


class GaussianCopula(Method):
    r"""Make synthetic records with the margins of the original and the correlations of its normal scores.

    .. math:: \tilde x_j = \hat F_j^{-1}(\Phi(z_j)), \qquad z \sim N(0, R)

    Columns of any kind, missing values too: categories without an order are put in the order in which they agree best
    with the other columns (first axis of multiple correspondence analysis), and correlations of ties are corrected.
    Margins are kept up to sampling error; dependence only as far as one correlation per pair of columns describes it:
    curved relations and interactions are lost, and records are rarely repeated. ``within`` fits each stratum
    separately.
    Identifiers are left out. There is no formal guarantee. Fails for text with thousands of categories.
    References: Nelsen (2006); Kamthe, Assefa & Deisenroth (2021).

    >>> import numpy as np, polars as pl, celosia
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> data = pl.DataFrame({"x": x, "y": x + 0.1, "c": np.where(x > 0, "u", "v")})
    >>> drawn = celosia.protect(celosia.read(data), GaussianCopula(), seed=1).polars()
    >>> len(drawn), bool(np.corrcoef(drawn["x"], drawn["y"])[0, 1] > 0.99)
    (500, True)
    """

    smoothing: Annotated[Smoothing, Explored("auto", "all")] = Field(
        default="auto", description="numbers between those that occur: for mostly different ones, for all, for none"
    )
    size: int | None = Field(default=None, ge=1, description="number of new rows; that of the table when not given")
    copies: int = Field(default=1, ge=1, description="number of synthetic tables")
    within: Columns = Field(default=(), description="fit each combination of these columns apart")
    persons: ClassVar[PersonUnit] = CountsRows(FITTED)
    rows: ClassVar[Rows] = "new"
    suits: ClassVar[tuple[str, ...]] = ("numeric", "ordinal", "nominal")
    not_replayable_because: ClassVar[str] = (
        "its records are drawn from the distribution of all records and stand for none of them"
    )

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List all columns that can be synthesised; those of ``within`` are copied."""
        return tuple(name for name in publishable(schema) if name not in self.within)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Fit the copula and draw."""
        if len(table) < 2:
            raise DataError(f"{self.name}: at least two records are needed, got {len(table)}.")
        names = [name for name in need_publishable(self.name, table) if name not in self.within]
        need_made(self.name, names)
        features = [feature(self.name, table, name, self.smoothing) for name in names]
        tables = [self._copy(table, names, features, stream.child("copy", i).rng()) for i in range(self.copies)]
        evidence = {"made": names, "records made": len(tables[0])}
        return Outcome(tables[0], evidence, others={f"copy {i + 2}": copy for i, copy in enumerate(tables[1:])})

    def _copy(self, table: Table, names: list[str], features: list[Feature], rng: np.random.Generator) -> Table:
        import polars as pl

        from celosia.methods.bases.nonnegative import whole_with_total
        from celosia.methods.synthetic.copula import draw, fit_copula

        blocks = []
        parts = strata(table, self.within, units(self.name, table, ()))
        if min(map(len, parts)) < 2:  # the values of one record would be repeated as they are
            raise DataError(f"{self.name}: at least two records are needed in each stratum, one has 1. Join strata.")
        total = self.size or len(table)
        share = np.array([len(rows) for rows in parts]) * (total / len(table))
        for rows, size in zip(parts, whole_with_total(share, total).tolist(), strict=True):
            if not size:  # a small stratum of a small file
                continue
            some = [type(f)(f.values[rows], f.nominal, f.whole, f.smooth) for f in features]
            drawn = draw(fit_copula(some), some, size, rng)
            columns = {
                name: decode(table, name, values, f) for name, values, f in zip(names, drawn, features, strict=True)
            }
            for name in self.within:
                columns[name] = table.column(name).gather(rows[:1]).new_from_index(0, size)
            blocks.append(pl.DataFrame({name: columns[name] for name in table.names if name in columns}))
        return new_rows(table, pl.concat(blocks).to_dict())
