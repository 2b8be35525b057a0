"""The guard: before anything is written, every released column and every label in it is looked at.

What must not leave is searched for in the cells as they would be written: identifiers, names, values that hardly
anybody shares. It is told by column and count, never by value. A *certain* sighting stops the release; any other stands
in the evidence until the owner acknowledges the column with a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from celosia.data.engines.engine import PERSONS, RECORD, ROWS, as_text
from celosia.data.schema import Kind, Role
from celosia.errors import GuardError, UnknownName
from celosia.hierarchy.values import Interval, OneOf, parse
from celosia.proposals.recognising.patterns import recognised
from celosia.proposals.recognising.traces import NAMES
from celosia.release.leaving.seeing import ONLY_NAMES, Seen, rare_afar, seen
from celosia.table.pairing import paired_counts

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

FEW = 3
"""A value that fewer persons hold singles them out: the threshold of official statistics."""
SMALL_FILE = 50
"""In a file of fewer records most values are rare by nature: rarity alone stops nothing there."""
NEARLY_ALL = 0.5
"""From this share of rare values on, a number or a date is as good as a name."""
MANY = 0.1
"""From this share of rare values on, a number or a date is told."""
COARSE = 1000
"""Whole numbers within a range of this width (ages, marks, visits) are coarse: that few hold one stops nothing."""
TOGETHER = 0.2
"""From this share of records that a column singles out with the quasi-identifiers, it is told."""
PUBLIC_NAME = 20
"""A name in a value that so many records hold is told only: a school or a station is named after somebody."""
MOSTLY = 0.5
OUT = "leave the column out, or mask or redact it"
COARSER = "generalise, round or group it, or leave it out"


@dataclass(frozen=True)
class Sighting:
    """Something in a column that should not leave: what, in how many of its cells, and what helps."""

    column: str
    what: str
    cells: int
    of: int
    certain: bool
    advice: str
    acknowledged: str = ""
    """Why the owner lets it leave; empty while nobody has said so."""

    @property
    def stops(self) -> bool:
        """Whether it stops the release."""
        return self.certain and not self.acknowledged

    def spec(self) -> dict[str, Any]:
        """As a certificate states it."""
        reason = {"acknowledged": self.acknowledged} if self.acknowledged else {}
        return {"column": self.column, "what": self.what, "cells": self.cells, "of": self.of, **reason}

    def __str__(self) -> str:
        return f"column {self.column!r}: {self.cells} of {self.of} cells hold {self.what}"


def inspect(
    original: Table,
    released: Table,
    overwritten: Collection[str],
    acknowledge: Mapping[str, str],
    *,
    formal: bool = False,
) -> tuple[Sighting, ...]:
    """Look at a table that is about to leave.

    ``overwritten`` names the columns whose cells a step may have changed; ``acknowledge`` gives the owner's reason by
    column. A table with a ``formal`` guarantee is looked at by itself: counts against the original would void it.
    """
    look = _Look(original, released, frozenset(overwritten), formal)
    seen = [sight for name in released.names for sight in look.column(name)]
    return tuple(replace(sighting, acknowledged=acknowledge.get(sighting.column, "")) for sighting in seen)


def acknowledged(names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The reasons by column, checked: each column is there, each reason says something."""
    for name, reason in given.items():
        if name not in names:
            raise UnknownName.of("column", name, names, "(guard.acknowledge)")
        if not reason.strip():
            raise GuardError(f"guard.acknowledge: column {name!r} needs a reason, got an empty text.")
    return dict(given)


def stop(sightings: Sequence[Sighting], allowing: str) -> None:
    """Refuse to go on when one of the sightings is certain and nobody has acknowledged it."""
    stopping = [sighting for sighting in sightings if sighting.stops]
    if stopping:
        sentences = " ".join(f"{sighting}: {sighting.advice}." for sighting in stopping)
        refusal = GuardError(f"nothing was written. {sentences} To let a column leave as it is: {allowing}.")
        refusal.sightings = tuple(sightings)
        raise refusal


@dataclass(frozen=True)
class _Look:
    """One look at one table."""

    original: Table
    released: Table
    overwritten: frozenset[str]
    formal: bool

    def column(self, name: str) -> Iterator[Sighting]:
        """What is seen in one column."""
        dtype = self.released.engine.types(self.released.rows.frame)[name]
        untouched = name not in self.overwritten
        looked = seen(self.released, name, untouched=untouched)
        filled = looked.all.rows
        if not filled:
            return
        if dtype.is_numeric():
            yield from self._numbers(name, looked, untouched=untouched)
        else:
            yield from self._texts(name, looked)
        if self.formal or name not in self.original.schema:
            return
        coarse = dtype.is_integer() and bool(looked.width <= COARSE)
        rare = self._rare(name, looked, untouched=untouched, coarse=coarse)
        yield from rare
        if not rare:
            yield from self._with_quasi(name, filled)

    def _texts(self, name: str, looked: Seen) -> Iterator[Sighting]:
        filled, named = looked.all.rows, looked.amounts.get(ONLY_NAMES)
        nothing_else = named is not None and looked.all.values >= 5 and named.values > MOSTLY * looked.all.values
        if named is not None and nothing_else:
            yield Sighting(name, _several(NAMES), named.rows, filled, certain=True, advice=OUT)
        for what, amount in looked.traces():
            if what == NAMES and nothing_else:
                continue
            certain = what != NAMES or amount.least < PUBLIC_NAME
            yield Sighting(name, _several(what), amount.rows, filled, certain=certain, advice=OUT)

    def _numbers(self, name: str, looked: Seen, *, untouched: bool) -> Iterator[Sighting]:
        import polars as pl

        if untouched and looked.first.dtype.is_integer():
            patterns = recognised(looked.first.cast(pl.String).to_list(), looked.all.values)
            if patterns:
                pattern, filled = patterns[0], looked.all.rows
                yield Sighting(name, _several(pattern.name), filled, filled, certain=pattern.checked, advice=OUT)

    def _rare(self, name: str, looked: Seen, *, untouched: bool, coarse: bool) -> list[Sighting]:
        """Values of the original that hardly anybody holds, as cells or inside labels."""
        column, filled = self.original.schema[name], looked.all.rows
        if looked.values is None:
            cells, rare = rare_afar(self.original, self.released, name, FEW, untouched=untouched), None
        else:
            cells, rare = self._rare_cells(name, looked.values, untouched=untouched)
        share = cells / filled
        numbers = column.kind in (Kind.NUMERIC, Kind.DATE)
        if cells and not untouched:
            own = self._own(name)
            untouched = own >= NEARLY_ALL * filled if numbers else own == filled
        large = len(self.original) >= SMALL_FILE and untouched and Role.WEIGHT not in column.roles
        what = f"values that fewer than {FEW} persons hold"
        if cells and not numbers:
            return [Sighting(name, what, cells, filled, certain=large, advice=COARSER)]
        if share >= MANY:
            certain = large and not coarse and share >= NEARLY_ALL
            return [Sighting(name, what, cells, filled, certain=certain, advice=COARSER)]
        if untouched or numbers or looked.values is None or rare is None:
            return []
        labels = self._labels(name, looked.values, rare)
        inside = f"labels made of values that fewer than {FEW} persons hold"
        return [Sighting(name, inside, labels, filled, certain=False, advice=COARSER)] if labels else []

    def _rare_cells(self, name: str, values: pl.DataFrame, *, untouched: bool) -> tuple[int, pl.Series]:
        """How many released cells hold a rare value, and the rare values (as texts, where they are looked for)."""
        import narwhals as nw
        import polars as pl

        engine, person = self.original.engine, self.original.schema.person
        whole = untouched and len(self.released) == len(self.original)
        if whole and person is None:  # the released column is the original one
            rare = values.filter(pl.col(ROWS) < FEW)
            return int(rare[ROWS].sum()), rare[name]
        if self.original.memory() is None:  # counted already
            values_held = self.original.classes.patterns([name], everyone=True)
            few_hold = values_held.take(values_held.counted < FEW)
            rare = _as_texts(few_hold.cells.with_columns(pl.Series(ROWS, few_hold.rows)).drop_nulls(name), name)
        else:
            keys = dict.fromkeys([name] if person is None else [name, person])
            frame = nw.from_native(self.original.rows.frame).select(*keys).filter(~nw.col(name).is_null())
            counted = nw.from_native(engine.histogram(frame.to_native(), [name], person=person))
            few = counted.filter(nw.col(PERSONS if person else ROWS) < FEW)
            text = as_text(name, few.collect_schema()[name]).alias(name)
            rare = engine.collect(few.select(text, nw.col(ROWS)).to_native())
        if whole:
            return int(rare[ROWS].sum() or 0), rare[name]
        held = _as_texts(values, name).join(rare.select(name), on=name, how="semi")
        return int(held[ROWS].sum()), rare[name]

    def _own(self, name: str) -> int:
        """How many records hold the value that they had: a step that may overwrite a column need not do so."""
        import narwhals as nw

        if self.released.lineage is not self.original.lineage:
            return 0
        pairs = paired_counts(self.original, self.released, [name])
        if pairs is not None and name not in pairs.before:  # no step changed it
            return int(self.released.tally(name).drop_nulls(name)[ROWS].sum())
        if pairs is not None:
            return int(pairs.patterns.rows[pairs.alike(name) & (pairs.before[name].masked >= 0)].sum())

        def cells(table: Table) -> Any:
            frame = nw.from_native(table.identified().rows.frame)
            text = as_text(name, frame.collect_schema()[name]).alias(name)
            return frame.select(nw.col(RECORD), text).drop_nulls()

        same = cells(self.released).join(cells(self.original), on=[RECORD, name], how="semi")
        return self.released.engine.rows(same.to_native())  # where the rows are

    def _labels(self, name: str, values: pl.DataFrame, rare: pl.Series) -> int:
        """How many cells hold a set or a range of texts whose ends or members are rare values."""
        import polars as pl

        if values[name].dtype != pl.String:
            return 0
        labelled = values.filter(pl.col(name).str.contains(r"^[\[({].*(?:,| \.\. )"))
        rare_values = set(rare.to_list())
        telling = [bool(rare_values.intersection(_parts(label))) for label in labelled[name].to_list()]
        return int(labelled[ROWS].filter(pl.Series(telling, dtype=pl.Boolean)).sum())

    def _with_quasi(self, name: str, filled: int) -> Iterator[Sighting]:
        """A column that is declared harmless, and singles records out together with the quasi-identifiers."""
        import narwhals as nw

        schema, engine = self.released.schema, self.released.engine
        quasi = [key for key in schema.quasi if key != name]
        if not quasi or schema[name].roles != {Role.INSENSITIVE} or len(self.original) < SMALL_FILE:
            return

        def single(keys: list[str]) -> int:
            if self.released.memory() is None and schema.person is None and not self.released.afar(name):
                return int((self.released.classes.patterns(keys, everyone=True).rows == 1).sum())
            counted = nw.from_native(engine.histogram(self.released.rows.frame, keys))
            return engine.rows(counted.filter(nw.col(ROWS) == 1).to_native())

        before = self.released.cached(("guard", *quasi), lambda: single(quasi))
        more = single([*quasi, name]) - before
        if more >= TOGETHER * filled:
            what = "values that single a record out together with the quasi-identifiers"
            yield Sighting(name, what, more, filled, certain=False, advice=f"declare it quasi; {COARSER}")


def _parts(label: str) -> tuple[str, ...]:
    """The raw values that a label names."""
    cell = parse(label)
    if isinstance(cell, OneOf):
        return tuple(cell.members)
    return (str(cell.low), str(cell.high)) if isinstance(cell, Interval) and cell.textual else ()


def _as_texts(counted: pl.DataFrame, name: str) -> pl.DataFrame:
    """Values with their numbers of rows, the values as texts."""
    import narwhals as nw

    frame = nw.from_native(counted)
    return frame.select(as_text(name, frame.collect_schema()[name]).alias(name), nw.col(ROWS)).to_native()


def _several(what: str) -> str:
    """What was found, in the plural."""
    if what == NAMES:
        return "names of persons"
    return {"hash of an identifier": "hashes of identifiers"}.get(what, f"what looks like: {what}")
