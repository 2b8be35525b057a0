"""deFinetti attack: sensitive values of an anatomy by a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Column, Columns, DisclosesValue
from celosia.risk.bases.transparency import Success, _InformedAttack, wanted_column
from celosia.table.columns import encoded_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]

BINS = 10  # parts of a numeric column: naive Bayes counts few distinct values


class Definetti(DisclosesValue, _InformedAttack):
    r"""The share of people whose sensitive value a learner finds in an anatomy, from the groups of everybody else.

    Anatomy publishes exact quasi-identifiers with a group, and in a second table how often each group has each value.
    Within a group any assignment seems as likely as any other, which discloses a value with probability 1/l at most.
    But groups of one file are not independent: where men are in a group there tends to be a certain value. The intruder
    learns this from all groups (naive Bayes on the shares of the groups), assigns the values of each group to its
    records so that its counts hold, and learns again. She guesses the likeliest value.

    She reads: the groups and their counts, that is both published tables. The control is the intruder who learns
    nothing and guesses the most frequent value of the group (random worlds); the baseline guesses the most frequent
    value of the file. Ties are shared. With a person column the value is the mean over persons. Numbers are cut into
    ten parts.

    References: Kifer (2009); Cormode (2011), *Personal privacy vs population privacy*.

    >>> import polars as pl, celosia
    >>> sex = ["f", "m"] * 20 + ["f", "f"] * 10
    >>> data = pl.DataFrame({"sex": sex, "ill": [{"f": "a", "m": "b"}[x] for x in sex[:40]] + ["a", "c"] * 10})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex"], sensitive=["ill"]))
    >>> release = celosia.protect(table, "anatomise(l=2, groups=buckets)", seed=1)
    >>> evidence = Definetti().evidence(table, release)
    >>> evidence["value"] > evidence["control"]
    True
    """

    reads: ClassVar[tuple[str, ...]] = ("anatomise",)
    target: Column | None = Field(default=None, description="sensitive column of the second table; the declared one")
    group: Column = Field(default="group", description="column of the release that names the group")
    columns: Columns | None = Field(
        default=None, description="columns of the release to learn from; the quasi-identifiers when not given"
    )
    examples: ClassVar = (
        {"method": {"use": "anatomise"}, "target": "t", "group": "c", "columns": ["p"]},
        {"method": {"use": "anatomise"}, "target": "c", "group": "p", "columns": ["t", "name"]},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Learn, assign, and compare with the truth."""
        from celosia.risk.attacks.transparency.assignment import assign_values, credit
        from celosia.table.pairing import positions

        self.steps(protected)
        rows = positions(original, protected)
        truth = encoded_column(original, wanted_column(self.name, original, self.target)).codes.astype(np.int64)
        group = np.unique(encoded_column(protected, self.group).codes, return_inverse=True)[1].astype(np.int64)
        assignment = assign_values(self._features(original, protected), group, truth[rows])
        share = np.bincount(truth[rows]) / len(rows)
        risk, control = np.zeros(len(original)), np.zeros(len(original))
        risk[rows] = credit(assignment, assignment.chance, truth[rows])
        control[rows] = credit(assignment, assignment.share, truth[rows])
        return Success(risk, float(share.max()), control, {}, {"groups": int(group.max(initial=-1)) + 1})

    def _features(self, original: Table, protected: Table) -> list[Ints]:
        names = original.schema.quasi if self.columns is None else self.columns
        names = tuple(name for name in names if name in protected.names)
        if not names:
            raise NotApplicable("definetti: the release has no column to learn from.")
        return [_bin_column(protected, name) for name in names]


def _bin_column(table: Table, name: str) -> Ints:
    """Return a column as a few codes: its values, or ten parts of equal frequency; a missing value is one more."""
    codes = encoded_column(table, name).codes.astype(np.int64)
    if not table.column(name).dtype.is_numeric() or len(np.unique(codes)) <= BINS:
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    values = table.numeric([name])[:, 0]
    cuts = np.unique(np.nanquantile(values, np.arange(1, BINS) / BINS))
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right")).astype(np.int64)
