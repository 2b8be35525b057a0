"""What attacks share that link known with released records: whom they attack, and which records are whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Columns
from celosia.risk.bases.transparency import PublicStep, _InformedAttack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.mathematics.disclosure.own_records import Own
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class _LinkingAttack(_InformedAttack):
    """An informed attack on the records of some persons: of all, or of as many as are chosen at random."""

    columns: Columns | None = Field(
        default=None, description="columns that the intruder knows; all that the method changed when not given"
    )
    attacks: int = Field(
        default=10_000, ge=1, description="persons who are attacked, chosen at random when there are more"
    )
    seed: int = Field(default=0, ge=0, description="seed of that choice")

    def changed(self, original: Table, protected: Table) -> dict[str, tuple[PublicStep, ...]]:
        """The known columns that were changed, each with the steps that changed it; refused when there are none."""
        known = original.names if self.columns is None else self.columns
        found: dict[str, tuple[PublicStep, ...]] = {}
        for step in self.steps(protected):
            for name in step.columns:
                if name in known and name in original.names and name in protected.names:
                    found[name] = (*found.get(name, ()), step)
        if not found:
            raise NotApplicable(f"{self.name}: none of the columns that the intruder knows was changed by the method.")
        return found

    def attacked(self, original: Table) -> Ints:
        """The records of the persons who are attacked, in order: all of them unless there are too many."""
        from celosia.views.persons import person_codes, some_persons

        person = person_codes(original)
        return original.cached(
            ("attacked", self.attacks, self.seed),
            lambda: some_persons(person, self.attacks, np.random.default_rng(self.seed)),
        )

    def spread(self, original: Table, values: NDArray[Any]) -> Floats:
        """What was found for the attacked records, one entry per record; NaN for those that were not attacked."""
        found = np.full(len(original), np.nan)
        found[self.attacked(original)] = values
        return found

    def own(self, original: Table, protected: Table) -> Own:
        """The protected records of the person of each attacked record."""
        from celosia.views.persons import Linked

        rows, everybody = self.attacked(original), Linked.of(original, protected, "original").own
        return replace(everybody, start=everybody.start[rows], stop=everybody.stop[rows])

    def guess(self, original: Table, protected: Table) -> float:
        """The share of right links by chance."""
        from celosia.views.persons import Linked

        return Linked.of(original, protected, "original").guess()

    def uninformed(self, original: Table, protected: Table, names: Sequence[str]) -> Floats | None:
        """Chance of a right link of each attacked record for somebody who takes the nearest record in numbers."""
        from celosia.mathematics.disclosure.linkage import nearest, scaled

        numeric = [name for name in names if all(t.column(name).dtype.is_numeric() for t in (original, protected))]
        if not numeric:
            return None
        x, y = scaled(original.numeric(numeric), protected.numeric(numeric), "sd")
        near = nearest(x[self.attacked(original)], y, self.own(original, protected)).correct
        return self.spread(original, near)
