"""Base classes of attacks on changed columns, and of those that link known with released records."""

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

    def changed_columns(self, original: Table, protected: Table) -> dict[str, tuple[PublicStep, ...]]:
        """Return the known columns that were changed, each with its steps; raise when there are none."""
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
        """Return the changed columns, each with its last step; raise when one does not hold numbers."""
        steps = {name: changes[-1] for name, changes in self.changed_columns(original, protected).items()}
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

    def attacked_records(self, original: Table) -> Ints:
        """Return the records of the attacked persons in order: all persons, or ``attacks`` random ones."""
        from celosia.views.persons import person_codes, some_persons

        person = person_codes(original)
        return original.compute_once(
            ("attacked", self.attacks, self.seed),
            lambda: some_persons(person, self.attacks, np.random.default_rng(self.seed)),
        )

    def by_record(self, original: Table, values: NDArray[Any]) -> Floats:
        """Return values of the attacked records with one entry per record; NaN for those that were not attacked."""
        out = np.full(len(original), np.nan)
        out[self.attacked_records(original)] = values
        return out

    def own(self, original: Table, protected: Table) -> Own:
        """Return the protected records of the person of each attacked record."""
        from celosia.views.persons import Linked

        rows, every = self.attacked_records(original), Linked.of(original, protected, "original").own
        return replace(every, start=every.start[rows], stop=every.stop[rows])

    def guess(self, original: Table, protected: Table) -> float:
        """Return the share of right links by chance."""
        from celosia.views.persons import Linked

        return Linked.of(original, protected, "original").guess()

    def nearest_link_chance(self, original: Table, protected: Table, names: Sequence[str]) -> Floats | None:
        """Return the chance of a right link to the nearest record, for an intruder without the certificate."""
        from celosia.risk.bases.nearest import nearest, scale_columns

        numeric = [name for name in names if all(t.column(name).dtype.is_numeric() for t in (original, protected))]
        if not numeric:
            return None
        x, y = scale_columns(original.numeric(numeric), protected.numeric(numeric), "sd")
        near = nearest(x[self.attacked_records(original)], y, self.own(original, protected)).correct
        return self.by_record(original, near)


def strata(original: Table, protected: Table, within: Sequence[str]) -> tuple[Ints, Ints]:
    """Encode the stratum of each record of both tables with common codes; raise when a column was not released."""
    from celosia.views.comparing.encoding import encode

    if not within:
        return np.zeros(len(original), np.int64), np.zeros(len(protected), np.int64)
    absent = [name for name in within if name not in original.names or name not in protected.names]
    if absent:
        raise NotApplicable(f"the column {absent[0]!r}, within which records were changed, is not in both tables.")
    encoded = encode([original, protected], within)
    keys = np.concatenate([np.column_stack([np.nan_to_num(t.numbers, nan=np.inf), t.codes]) for t in encoded.tables])
    codes = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return codes[: len(original)], codes[len(original) :]


__all__ = ["strata"]
