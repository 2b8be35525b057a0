"""Synthetic records that repeat a record that only one person of the original has.

Other people of the same population repeat such a record too. How often follows from the original alone: by Good and
Turing, a new person falls into a combination that one person has with a probability of about 2 N₂ / N, where N₂ is the
number of combinations that two people have. A generator that has learnt its input by heart repeats it with N₁ / N.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.data.engines.lazy_frames import PERSONS, ROWS, as_text, group_counts
from celosia.release.output.column_profile import Frame
from celosia.table.columns import count_distinct
from celosia.table.pairing import number_spread, number_unit

if TYPE_CHECKING:
    from celosia.table import Table

MANY_COPIES = 0.3
"""A synthesis counts as a copy from this share of the way between an independent sample and a copy on."""
CONTINUOUS = 0.5
"""A column of numbers with more different values per record is continuous: no record repeats it by chance."""
COARSE = 0.1
"""Smoothed numbers are compared in units of this share of their standard deviation."""
FEWEST_COPIES = 10
"""Fewer repeated records say nothing about a generator."""
PERSON, MISSING = "__person__", "\x00"
LEAST_DIFFERENCE = 0.1
"""Copies and other people must differ by this share of the records before they can be distinguished."""


@dataclass(frozen=True)
class Copies:
    """Number of synthetic records that repeat a unique record of the original, and the shares to compare it with."""

    records: int
    of: int
    expected: float
    """Share of repeated records in an independent sample of the population."""
    copied: float
    """Share of repeated records in a copy of the original."""

    @property
    def are_many(self) -> bool:
        """Whether the share is much larger than that of an independent sample, by two standard deviations."""
        if self.records < FEWEST_COPIES or self.copied - self.expected < LEAST_DIFFERENCE:
            return False
        share = self.records / self.of
        slack = 2 * (share * (1 - share) / self.of) ** 0.5
        return share - slack - self.expected >= MANY_COPIES * (self.copied - self.expected) or share == 1.0


def count_copies(original: Table, released: Table, formal: Collection[str], columns: Collection[str]) -> Copies | None:
    """Count the new records that repeat a unique record of the original; None for records that are not synthetic.

    Compares those of the columns that both tables have: as they are, with coarse numbers, and without continuous ones.
    Returns the first count that is too large, else the first.
    """
    shared = [name for name in released.names if name in columns and name in original.names]
    names = [name for name in shared if name not in formal]
    if released.provenance.family is original.provenance.family or not (names and len(original) and len(released)):
        return None
    types = original.rows.types
    numbers = [name for name in names if types[name].is_numeric()]
    many = {name for name in numbers if count_distinct(original, name) > CONTINUOUS * len(original)}
    tried = [_count(original, released, names, coarse=False)]
    if many and not tried[0].are_many:
        discrete = [name for name in names if name not in many]
        tried.append(_count(original, released, names, coarse=True))
        tried += [_count(original, released, discrete, coarse=False)] if discrete else []
    return next((copies for copies in tried if copies.are_many), tried[0])


def _count(original: Table, released: Table, names: Sequence[str], *, coarse: bool) -> Copies:
    """Count the new records that repeat a unique record of the original in these columns."""
    import narwhals as nw

    engine, person = original.engine, original.schema.person
    by, persons = (ROWS, len(original)) if person is None else (PERSONS, _count_values(original, person))
    before = _comparable(original, original, names, [person] if person else [], coarse=coarse)
    counted = nw.from_native(group_counts(before, names, person=person and PERSON))
    rare = engine.collect(counted.filter(nw.col(by) <= 2).group_by(by).agg(nw.len().alias("combinations")).to_native())
    times = dict(rare.select(by, "combinations").rows())
    after = _comparable(original, released, names, [], coarse=coarse)
    once = counted.filter(nw.col(by) == 1).select(*names)
    repeated = nw.from_native(group_counts(after, names)).join(once, on=names, how="inner")
    records = int(engine.collect(repeated.select(nw.col(ROWS).sum()).to_native()).item() or 0)
    return Copies(records, len(released), 2 * times.get(2, 0) / persons, times.get(1, 0) / persons)


def _comparable(original: Table, table: Table, names: Sequence[str], persons: Sequence[str], *, coarse: bool) -> Frame:
    """Cells as comparable texts: numbers as multiples of the unit of the original column, or of a coarse unit."""
    import narwhals as nw

    frame = nw.from_native(table.rows.frame)
    types, before = frame.collect_schema(), nw.from_native(original.rows.frame).collect_schema()
    cells = []
    for name in names:
        if types[name].is_numeric() and before[name].is_numeric():
            unit = max(number_unit(original, name), COARSE * number_spread(original, name) * coarse) or 1.0
            text = (nw.col(name).cast(nw.Float64) / unit).round(0).cast(nw.String)
        else:
            text = as_text(name, types[name])
        cells.append(text.fill_null(MISSING).alias(name))
    return frame.select(*cells, *(nw.col(name).alias(PERSON) for name in persons)).to_native()


def _count_values(table: Table, name: str) -> int:
    import narwhals as nw

    counted = nw.from_native(table.rows.frame).select(nw.col(name).n_unique())
    return int(table.engine.collect(counted.to_native()).item())
