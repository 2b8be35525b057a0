"""The rows of a table that an engine holds elsewhere, as whole numbers: a code per column, and whose they are.

They are made once and kept where the rows are. From then on nobody compares a text to count rows or persons. A person
is known by the first of their records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes.column import encode
from celosia.classes.keys import tellable
from celosia.classes.patterns import Patterns, unpacked
from celosia.data.engines.engine import KEY, RECORD, ROWS
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from celosia.data.engines.engine import Engine
    from celosia.data.schema import Schema

FIRST = "__first__"
"""The column of the first record of a record's person."""
NOBODY = -1
"""Stands there for the person of records that name none."""


@dataclass(frozen=True, eq=False)
class Numbered:
    """The codes of some columns, the number of each record, and the first record of its person."""

    engine: Engine
    frame: Any
    domains: Mapping[str, pl.Series]
    """For each column the values that occur in it, a missing one last."""

    @classmethod
    def of(cls, engine: Engine, frame: Any, domains: Mapping[str, pl.Series], person: str) -> Numbered:
        """Run once through a frame with record ids."""
        import polars as pl

        types = {RECORD: pl.Int64(), FIRST: pl.Int64(), **{name: pl.Int32() for name in domains}}

        def with_first(part: pl.DataFrame) -> pl.DataFrame:
            first = pl.when(pl.col(person).is_not_null()).then(pl.col(RECORD).min().over(person)).otherwise(NOBODY)
            return part.with_columns(first.alias(FIRST))

        coded = engine.coded(engine.select(frame, [RECORD, person, *domains]), domains)
        return cls(
            engine, engine.spilled(engine.in_parts(coded, [person], types, with_first, engine.rows(frame))), domains
        )

    def tells(self, names: Sequence[str]) -> bool:
        """Whether one number made of the codes can tell the combinations of these columns apart."""
        return bool(names) and set(names) <= set(self.domains) and tellable(self.of_columns(names))

    def of_columns(self, names: Sequence[str]) -> dict[str, pl.Series]:
        """The values of some columns."""
        return {name: self.domains[name] for name in names}

    def keyed(self, names: Sequence[str], kept: Sequence[str] = ()) -> Any:
        """One whole number ``KEY`` for the values of each row in some columns, its person, and other codes."""
        return self.engine.keyed_codes(self.frame, self.of_columns(names), [FIRST, *kept])

    def histogram(self, names: Sequence[str], *, persons: bool) -> pl.DataFrame:
        """How many rows have each combination, by its number, and how many persons."""
        person = FIRST if persons else None
        return self.engine.collect(self.engine.histogram(self.keyed(names), [KEY], person=person))

    def weights(self, names: Sequence[str], weight: str) -> Any:
        """The rows and the sum of weights of each pair of a combination and a person; a frame of the engine."""
        import polars as pl

        values = self.domains[weight]
        codes = pl.Series(range(len(values)), dtype=pl.Int32)
        weighed = self.engine.map(self.keyed(names, [weight]), weight, codes, values)
        return self.engine.histogram(weighed, [KEY, FIRST], weight=weight)

    def several(self, names: Sequence[str], further: Sequence[str], person: str, schema: Schema) -> Patterns:
        """The combinations of these and further columns that persons have who have several of these."""
        import narwhals as nw
        import polars as pl

        engine = self.engine
        wanted = list(dict.fromkeys([*names, *further]))
        own = nw.from_native(self.keyed(names)).group_by(FIRST).agg(low=nw.col(KEY).min(), high=nw.col(KEY).max())
        whose = own.filter(nw.col("low") < nw.col("high")).select(FIRST).head(engine.most + 1)
        few = engine.collect(whose.to_native())
        refuse_many(engine, len(few))
        pairs = pl.DataFrame(schema={KEY: pl.Int64, FIRST: pl.Int64, ROWS: pl.Int64})
        if len(few):
            theirs = engine.attach(self.keyed(wanted), few, [FIRST], keep_unmatched=False)
            pairs = engine.bounded(engine.histogram(theirs, [KEY, FIRST])).sort(KEY, FIRST)
        columns = unpacked(pairs[KEY].to_numpy(), self.of_columns(wanted)) | {person: encode(pairs[FIRST])}
        rows, alone = pairs[ROWS].to_numpy().astype(np.int64), np.ones(len(pairs), dtype=np.int64)
        return Patterns([*wanted, person], rows, alone, lambda: None, schema=schema, columns=columns)

    def owners(self) -> Any:
        """Each record and the first one of its person; a frame of the engine."""
        return self.engine.select(self.frame, [RECORD, FIRST])


def refuse_many(engine: Engine, persons: int) -> None:
    """Refuse more persons with several combinations than an engine tells apart."""
    if persons > engine.most:
        raise DataError(
            f"more than {engine.most} persons have several combinations of the quasi-identifiers, and "
            f"{engine.name} tells no more apart. Use coarser quasi-identifiers (recode), columns that stay the "
            "same for a person, or another engine."
        )


__all__ = ["FIRST", "NOBODY", "Numbered", "refuse_many"]
