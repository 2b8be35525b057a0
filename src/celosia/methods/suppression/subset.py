"""Choose a research subset."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, UnknownName
from celosia.methods.bases.conditions import Condition, check_one_way, draw_records, records_where
from celosia.parts import Columns, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome
from celosia.table.derive import with_record_ids
from celosia.table.source import Source, open_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class Subset(Method):
    """Keep a research subset: by a condition, at random, or the records that a second file has.

    A random choice is of persons, each with all rows, where a person column is declared. A condition and a second file
    choose rows.

    The input table is the population of the subset. It becomes the table ``population`` (in
    ``outcome.aside``, never published), which k-map and delta-presence use.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 55, 80]}), celosia.Schema.of(quasi=["age"]))
    >>> celosia.protect(table, Subset(where="age >= 50")).polars()["age"].to_list()
    [55, 80]
    """

    where: Condition = Field(default=None, description="condition as in SQL, such as age > 80 AND sex = 'F'")
    share: float | None = Field(default=None, gt=0, le=1, description="share of the records or persons, at random")
    size: int | None = Field(default=None, ge=1, description="number of records or persons, at random")
    matching: Source = Field(default=None, description="table whose records are kept")
    on: Columns = Field(default=(), description="columns that are compared with it; all common ones when empty")
    persons: ClassVar[PersonUnit] = "counted"
    rows: ClassVar[Rows] = "subset"
    not_replayable_because: ClassVar[str] = (
        "it chooses from the file as a whole: choose from the new records before, with a policy of their own"
    )
    examples: ClassVar = ({"where": "m > 10"}, {"size": 9})

    @model_validator(mode="after")
    def _one_way(self) -> Subset:
        check_one_way(self.name, where=self.where, share=self.share, size=self.size, matching=self.matching)
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Keep the subset."""
        population = with_record_ids(table)
        if self.where is not None:
            mask = records_where(population, self.where, self.name)
        elif self.matching is not None:
            mask = self._matching_records(population)
        else:
            mask, _ = draw_records(
                population, stream, self.name, share=self.share, size=self.size, by=None, within=None
            )
        if not mask.any():
            raise DataError(f"subset: none of the {len(population)} records is in the subset.")
        kept = population.take(population.ids()[mask])
        evidence = {"kept": int(mask.sum()), "of": len(population)}
        return Outcome(kept, evidence, aside={"population": population})

    def _matching_records(self, table: Table) -> NDArray[np.bool_]:
        """Mask of the records that the second table has, compared on the columns; missing equals missing."""
        import polars as pl

        from celosia.hierarchy import texts

        other = open_source(self.matching)
        names = self.on or tuple(name for name in table.names if name in other.names)
        for name in names:
            if name not in other.names:
                raise UnknownName.of("column", name, other.names, "(subset: matching)")
        if not names:
            raise DataError("subset: the second table has no column of this one, so nothing can be matched.")

        # As text, so that 30 in one file and 30.0 in the other are the same.
        def keys(source: Table) -> pl.DataFrame:
            return pl.DataFrame({name: pl.Series(texts(source.column(name)), dtype=pl.String) for name in names})

        wanted = keys(other).unique().with_columns(pl.lit(value=True).alias("__hit__"))
        joined = keys(table).join(wanted, on=list(names), how="left", nulls_equal=True, maintain_order="left")
        hits: NDArray[np.bool_] = joined["__hit__"].fill_null(value=False).to_numpy()
        return hits
