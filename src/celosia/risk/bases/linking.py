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

    from celosia.kernels.disclosure.own_records import Own
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class _ColumnAttack(_InformedAttack):
    """An informed attack on the columns that a method changed."""

    columns: Columns | None = Field(
        default=None, description="columns that the intruder knows; all that the method changed when not given"
    )

    def changed(self, original: Table, protected: Table) -> dict[str, tuple[PublicStep, ...]]:
        """The known columns that were changed, each with the steps that changed it; refused when there are none."""
        readable = original.names if self.columns is None else self.columns
        steps: dict[str, tuple[PublicStep, ...]] = {}
        for step in self.steps(protected):
            for name in step.columns:
                if name in readable and name in original.names and name in protected.names:
                    steps[name] = (*steps.get(name, ()), step)
        if not steps:
            raise NotApplicable(f"{self.name}: none of the columns that the intruder knows was changed by the method.")
        return steps

    def last_steps(self, original: Table, protected: Table) -> dict[str, PublicStep]:
        """The changed columns, each with the last step that changed it; refused when one holds no numbers."""
        steps = {name: changes[-1] for name, changes in self.changed(original, protected).items()}
        for name in steps:
            if not all(table.column(name).dtype.is_numeric() for table in (original, protected)):
                raise NotApplicable(f"{self.name}: column {name!r} does not hold numbers in both tables.")
        return steps


class _LinkingAttack(_ColumnAttack):
    """An informed attack on the records of some persons: of all, or of as many as are chosen at random."""

    attacks: int = Field(
        default=5_000, ge=1, description="persons who are attacked, chosen at random when there are more"
    )
    seed: int = Field(default=0, ge=0, description="seed of that choice")

    def attacked(self, original: Table) -> Ints:
        """The records of the persons who are attacked, in order: all of them unless there are too many."""
        from celosia.views.persons import person_codes, some_persons

        person = person_codes(original)
        return original.cached(
            ("attacked", self.attacks, self.seed),
            lambda: some_persons(person, self.attacks, np.random.default_rng(self.seed)),
        )

    def spread(self, original: Table, values: NDArray[Any]) -> Floats:
        """Values of the attacked records, spread to one entry per record; NaN for those that were not attacked."""
        by_record = np.full(len(original), np.nan)
        by_record[self.attacked(original)] = values
        return by_record

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
        from celosia.risk.bases.nearest import nearest, scaled

        numeric = [name for name in names if all(t.column(name).dtype.is_numeric() for t in (original, protected))]
        if not numeric:
            return None
        x, y = scaled(original.numeric(numeric), protected.numeric(numeric), "sd")
        near = nearest(x[self.attacked(original)], y, self.own(original, protected)).correct
        return self.spread(original, near)


def strata(original: Table, protected: Table, within: Sequence[str]) -> tuple[Ints, Ints]:
    """The stratum of each record of both tables, in the same numbers; refused when a column of it was not released."""
    from celosia.views.comparing.encoding import encode

    if not within:
        return np.zeros(len(original), np.int64), np.zeros(len(protected), np.int64)
    absent = [name for name in within if name not in original.names or name not in protected.names]
    if absent:
        raise NotApplicable(f"the column {absent[0]!r}, within which records were changed, is not in both tables.")
    coded = encode([original, protected], within)
    keys = np.concatenate([np.column_stack([np.nan_to_num(t.numbers, nan=np.inf), t.codes]) for t in coded.tables])
    joined = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return joined[: len(original)], joined[len(original) :]


__all__ = ["strata"]
