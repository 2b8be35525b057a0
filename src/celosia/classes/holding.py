"""Persons and the combinations that they have, counted from what was counted before wherever that tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from celosia.classes.counting import Counting
from celosia.classes.holders import Holders
from celosia.classes.keys import tellable
from celosia.classes.numbered import Numbered
from celosia.data.engines.engine import RECORD
from celosia.data.schema import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.patterns import Patterns

    Handed = Callable[[Sequence[str]], Holders | None]

FEW_LISTED = 100_000
"""Columns that may leave are numbered with the others where they have no more different values."""
LEAVING = frozenset({Role.INSENSITIVE, Role.WEIGHT})


@dataclass(eq=False)
class Holding(Counting):
    """A table whose rows belong to persons: combinations are counted by rows, and by persons when somebody asks."""

    handed: Handed = lambda _names: None
    """Gives the persons of combinations, where those of the input tell them."""
    _told: dict[frozenset[str], Patterns] = field(default_factory=dict, repr=False)
    """Combinations of all rows whose persons the engine has counted."""
    _shared: dict[frozenset[str], Patterns] = field(default_factory=dict, repr=False)
    """What persons have who have several combinations of the quasi-identifiers, by the further columns."""

    @cached_property
    def by_rows(self) -> Self:
        """The same table with persons left out of account: rows add up, and most questions are about them."""
        schema = self.rows.schema
        if schema.person is None:
            return self
        for name in filter(None, (schema.person, schema.weight)):
            schema = schema.change(name, roles=schema[name].roles - {Role.PERSON, Role.WEIGHT})
        rows = replace(self.rows, schema=schema)
        return type(self)(rows, self.memory, traced=self.traced, listed=self.listed, numbers=self.numbers)

    def knows(self, names: Sequence[str]) -> bool:
        """Whether the combinations of these columns follow from what was counted."""
        counted = any(everyone and set(names) <= set(columns) for columns, everyone in self._patterns)
        return counted or self.traced(names) is not None

    def learn(self, patterns: Patterns) -> None:
        """Take combinations of all rows that were counted for their persons."""
        own = patterns.held(patterns.rows, lambda: None, self.rows.schema)
        self._patterns.setdefault((patterns.names, True), own)

    def count_together(self, names: Sequence[str], further: Sequence[str], *, keep: bool = False) -> None:
        """With persons the first columns alone: what persons have in further ones does not add up."""
        if self.coded is None and self.rows.schema.person is not None:
            if keep and not self.rows.engine.local and not self.numbers:
                self._keep_numbers([*names, *further])
            self.patterns(names, everyone=True)
        else:
            super().count_together(names, further, keep=keep)

    def _keep_numbers(self, names: Sequence[str]) -> None:
        """Keep codes of the rows in these columns, and in others that may leave and have few values."""
        import narwhals as nw

        rows, schema, engine = self.rows, self.rows.schema, self.rows.engine
        if schema.person is None or RECORD not in engine.types(rows.frame):
            return
        others = [name for name in schema.names if schema[name].declared and schema[name].roles <= LEAVING]
        for name in (each for each in others if each not in {*names, *self.listed}):
            values = nw.from_native(engine.histogram(rows.frame, [name])).select(name).head(FEW_LISTED + 1)
            different = engine.collect(values.to_native())[name]
            if len(different) <= FEW_LISTED:
                self.listed[name] = self._in_order(different)
        kept = list(dict.fromkeys([*names, *(name for name in others if name in self.listed)]))
        if schema.person not in kept:
            self.numbers.append(Numbered.of(engine, rows.frame, self._domains(kept), schema.person))

    @cached_property
    def total(self) -> int:
        """Records of the table, suppressed ones included; persons where a person column is declared."""
        person = self.rows.schema.person
        if self.coded is not None or person is None:
            return super().total
        holders = self.holders(())
        if holders is not None:
            return holders.everybody
        counted = self._facts.get("persons")
        return self.rows.engine.persons(self.rows.frame, person) if counted is None else counted

    @cached_property
    def _facts(self) -> dict[str, int]:
        by_rows = self.by_rows
        if by_rows is not self and by_rows.knows(self.rows.schema.quasi):
            return by_rows._facts  # noqa: SLF001 - of its own kind
        return super()._facts

    def _count_patterns(self, names: list[str], *, everyone: bool) -> Patterns:
        schema = self.rows.schema
        if self.coded is not None or schema.person is None or schema.person in names:
            return super()._count_patterns(names, everyone=everyone)
        wanted = set(schema.quasi) <= set(names) and self.traced(names) is None  # these are asked for their persons
        free = not wanted or self.by_rows.knows(schema.quasi)  # then it costs nothing to know who is suppressed
        if not everyone and free and self.suppressed in {0, self._facts["rows"]}:
            return self.patterns(names, everyone=True)
        if wanted:
            looked = self._looked_at(names, everyone=everyone)
            if everyone:
                self._told[frozenset(names)] = looked
                self.by_rows.learn(looked)
            return looked
        rows = self.by_rows.patterns(names, everyone=everyone)
        return rows.held(
            lambda: self._persons(rows, everyone=everyone), lambda: self._weights(rows, everyone=everyone), schema
        )

    def _persons(self, rows: Patterns, *, everyone: bool) -> NDArray[np.int64]:
        """The persons of each of some combinations."""
        holders = self.holders(rows.names)
        if holders is not None:
            return holders.counted(rows, self.taking_part(holders) | everyone)
        looked = self._looked_at(list(rows.names), everyone=everyone)
        return looked.counted[looked.find(rows)]

    def holders(self, names: Sequence[str]) -> Holders | None:
        """Who has the combinations of the quasi-identifiers and these columns; None where that takes a look at rows."""
        schema = self.rows.schema
        handed = self.handed(names)
        wanted = frozenset(schema.quasi) | frozenset(names)
        listed = any(columns >= wanted - set(schema.quasi) for columns in self._shared)
        if handed is not None or schema.person is None or wanted not in self._told or not listed or self.suppressed:
            return handed
        several = self.several(schema.quasi, [name for name in names if name not in schema.quasi])
        return Holders.of(self._told[wanted], several, schema.person)

    def taking_part(self, holders: Holders) -> NDArray[np.bool_]:
        """Which combinations are not those of suppressed records."""
        return ~self._marks_on(holders.patterns, holders.marked)[self._told_by]

    def several(self, names: Sequence[str], further: Sequence[str]) -> Patterns:
        """The same, asked of the rows once."""
        quasi, asked = set(self.rows.schema.quasi), frozenset(further) - set(names)
        if set(names) != quasi:
            return super().several(names, further)
        if asked not in self._shared:
            wider = next((patterns for columns, patterns in self._shared.items() if columns > asked), None)
            own = list(dict.fromkeys([*names, *further, str(self.rows.schema.person)]))
            self._shared[asked] = super().several(names, further) if wider is None else wider.coarser(own)
        return self._shared[asked]

    def shared(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The combinations of the quasi-identifiers of persons who have several, and whose they are."""
        quasi, person = self.rows.schema.quasi, self.rows.schema.person
        holders = self.holders(())
        if holders is None:
            pairs = self.several(quasi, ())
            return self.patterns(quasi).find(pairs), pairs.column(str(person)).codes.astype(np.int64)
        kept = self.taking_part(holders)
        place = np.full(len(kept), -1, dtype=np.int64)
        place[kept] = self.patterns(quasi).find(holders.patterns.take(kept))
        return holders.pairs(place)

    def _weights(self, rows: Patterns, *, everyone: bool) -> NDArray[np.float64] | None:
        """The weight of each of some combinations, a person's counted once."""
        names = list(rows.names)
        domains = {name: rows.column(name).values for name in names}
        if self.rows.schema.weight in (None, *names) or not names or not tellable(domains):
            return self._looked_at(names, everyone=everyone).weight
        some = not everyone and 0 < self.suppressed < self._facts["rows"]
        frame = self.rows.engine.filter(self.rows.frame, ~self._marks[self._told_by]) if some else self.rows.frame
        key = np.zeros(len(rows), dtype=np.int64)
        for name, values in domains.items():
            key = key * len(values) + rows.column(name).codes
        weights = np.empty(len(rows), dtype=np.float64)
        weights[np.argsort(key)] = self._person_weights(frame, names, domains)
        return weights


__all__ = ["Holding"]
