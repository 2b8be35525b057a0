"""Unique records of the original that a release repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Attack, Columns
from celosia.table.source import Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.bases.attack_outcome import AttackOutcome, OutcomeEvidence
    from celosia.table import Table


class CopiedUniques(Attack):
    r"""The share of released records that equal, in all columns, a record of which the original has one only.

    .. math:: \frac1m \sum_{j=1}^{m} [\tilde x_j \in U], \qquad U = \{x : x \text{ occurs once in the original}\}

    Synthetic data may repeat a unique record by chance, as other real people do: the rate at which a ``control`` table
    of people who were not used repeats them is the yardstick, and the value is then what the release adds,
    :math:`(r - r_c)/(1 - r_c)`. A rate far above that of the control means that the generator memorised
    records. Without a control the value is the rate. With a person column U holds what one person only has, and where
    the release has one the share is over persons, each with the mean of her records. References: Raab, Nowok &
    Dibben (2024), *Practical privacy metrics for synthetic data* (replicated uniques).

    >>> import polars as pl, celosia
    >>> people = celosia.read(pl.DataFrame({"age": [30, 30, 41, 52]}))
    >>> CopiedUniques().value(people, people)
    0.5
    """

    columns: Columns | None = Field(default=None, description="columns that are compared; all shared ones")
    control: Source = Field(default=None, description="table of people who were not used for the release")
    examples: ClassVar = ({"columns": ["c", "p"]}, {"columns": ["x", "c"], "control": True})

    def value(self, original: Table, protected: Table) -> float:
        """Return the share; with a control group what the release adds to it."""
        return self._outcome(original, protected).risk

    def evidence(self, original: Table, protected: Table) -> OutcomeEvidence:
        """Return the share with its interval, and that of the control."""
        return self._outcome(original, protected).evidence()

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return whether each released record repeats a unique one."""
        import polars as pl

        return pl.DataFrame({"copied": self._hits(original, [protected])[0]})

    def _outcome(self, original: Table, protected: Table) -> AttackOutcome:
        from celosia.risk.bases.attack_outcome import AttackOutcome
        from celosia.views.persons import by_person, open_people, person_codes

        tables = [protected] if self.control is None else [protected, open_people(self.control, original)]
        compared = zip(self._hits(original, tables), tables, strict=True)
        hits = [by_person(hit.astype(np.float64), person_codes(table)) for hit, table in compared]
        rates = [float(h.mean()) if len(h) else 0.0 for h in hits]
        if len(hits) == 1:
            return AttackOutcome(float(hits[0].sum()), len(hits[0]), 0.0)
        return AttackOutcome(float(hits[0].sum()), len(hits[0]), rates[1], float(hits[1].sum()), len(hits[1]))

    def _hits(self, original: Table, tables: list[Table]) -> list[NDArray[np.bool_]]:
        import polars as pl

        from celosia.views.comparing.encoding import encode, known_columns
        from celosia.views.persons import person_codes

        names = known_columns(original, tables[0], self.columns, numbers=False)
        coded = encode([original, *tables], names)
        frames = [
            pl.DataFrame(
                {f"n{j}": t.numbers[:, j] for j in range(t.numbers.shape[1])}
                | {f"c{j}": t.codes[:, j] for j in range(t.codes.shape[1])}
            )
            for t in coded.tables
        ]
        keys = frames[0].columns
        whose = frames[0].with_columns(pl.Series("__person__", person_codes(original)))
        once = whose.group_by(keys).agg(pl.col("__person__").n_unique().alias("__times__"))
        once = once.filter(pl.col("__times__") == 1)
        return [
            frame.join(once, on=keys, how="left", maintain_order="left", nulls_equal=True)["__times__"]
            .is_not_null()
            .to_numpy()
            for frame in frames[1:]
        ]
