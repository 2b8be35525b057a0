"""Synthetic records that repeat a record that only one person of the original has.

Other people of the same population repeat such a record too. How often follows from the original alone: by Good and
Turing, a new person falls into a combination that one person has with a probability of about 2 N₂ / N, where N₂ is the
number of combinations that two people have. A generator that has learnt its input by heart repeats it with N₁ / N.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.data.engines.engine import as_text
from celosia.data.engines.row_codes import PERSONS, ROWS
from celosia.release.output.column_profile import Frame
from celosia.table.pairing import number_unit

if TYPE_CHECKING:
    from celosia.table import Table

MANY_COPIES = 0.5
"""A synthesis counts as a copy from half of the way between an independent sample and a copy on."""
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
        """Whether the share is nearer to a copy than to an independent sample, by two standard deviations."""
        if self.records < FEWEST_COPIES or self.copied - self.expected < LEAST_DIFFERENCE:
            return False
        share = self.records / self.of
        slack = 2 * (share * (1 - share) / self.of) ** 0.5
        return share - slack - self.expected >= MANY_COPIES * (self.copied - self.expected) or share == 1.0


def count_copies(original: Table, released: Table, formal: Collection[str]) -> Copies | None:
    """Count the new records that repeat a unique record of the original; None for records that are not synthetic."""
    import narwhals as nw

    names = [name for name in released.names if name not in formal]
    is_synthetic = released.family is not original.family and set(names) <= set(original.names)
    if not (is_synthetic and names and len(original) and len(released)):
        return None
    engine, person = original.engine, original.schema.person
    by, persons = (ROWS, len(original)) if person is None else (PERSONS, _count_values(original, person))
    before = _comparable(original, original, names, [person] if person else [])
    counted = nw.from_native(engine.histogram(before, names, person=person and PERSON))
    rare = engine.collect(counted.filter(nw.col(by) <= 2).group_by(by).agg(nw.len().alias("combinations")).to_native())
    times = dict(rare.select(by, "combinations").rows())
    after = nw.from_native(released.engine.histogram(_comparable(original, released, names, []), names))
    once = counted.filter(nw.col(by) == 1).select(*names)
    repeated = after.join(once, on=names, how="inner").select(nw.col(ROWS).sum())
    records = int(engine.collect(repeated.to_native()).item() or 0)
    return Copies(records, len(released), 2 * times.get(2, 0) / persons, times.get(1, 0) / persons)


def _comparable(original: Table, table: Table, names: Sequence[str], persons: Sequence[str]) -> Frame:
    """Cells as comparable texts: numbers as multiples of the unit of the original column."""
    import narwhals as nw

    frame = nw.from_native(table.rows.frame)
    types, before = frame.collect_schema(), nw.from_native(original.rows.frame).collect_schema()
    cells = []
    for name in names:
        if types[name].is_numeric() and before[name].is_numeric():
            unit = number_unit(original, name) or 1.0
            text = (nw.col(name).cast(nw.Float64) / unit).round(0).cast(nw.String)
        else:
            text = as_text(name, types[name])
        cells.append(text.fill_null(MISSING).alias(name))
    return frame.select(*cells, *(nw.col(name).alias(PERSON) for name in persons)).to_native()


def _count_values(table: Table, name: str) -> int:
    import narwhals as nw

    counted = nw.from_native(table.rows.frame).select(nw.col(name).n_unique())
    return int(table.engine.collect(counted.to_native()).item())
