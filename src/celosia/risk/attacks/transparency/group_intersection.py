"""Linkage with microaggregated records, by the intersection of their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.errors import NotApplicable
from celosia.risk.bases.linking_attack import _LinkingAttack, strata
from celosia.risk.bases.transparency import PublicStep, Success

if TYPE_CHECKING:
    from celosia.risk.attacks.transparency.aggregates import Axis
    from celosia.table import Table

RUNS = ("individual-ranking", "optimal-univariate")  # their groups are runs of the sorted values of a column
LINE = "projection-microaggregate"  # its groups are runs along the first principal component


class GroupIntersection(_LinkingAttack):
    r"""The share of records that an intruder who knows how microaggregated groups were built links rightly.

    Groups are visible in the released file: they are the records with the same means. The intruder knows the values
    of a person in some ``columns`` and which columns were grouped together. Where groups are runs of one sorted column
    (``individual-ranking``, ``optimal-univariate``) or of a projection, a value can only belong to the run whose mean
    is next below or next above it. Each column, or block of columns, that was grouped by itself gives such a set; the
    record of the person lies in all of them at once. Among these candidates she takes the likeliest:

    .. math:: \min_{y \in \bigcap_b B_b(x)} \sum_b \sum_{c \in b} \frac{(x_c - y_c)^2}{2 L_b \operatorname{Var}(x_c)}

    with L the share of the variance that the groups of the block lost. One block over all known columns leaves at
    least k records that cannot be distinguished, so the risk is at most 1/k; blocks that were grouped separately undo
    each other.

    She reads: the columns of each step, its kind, ``within``; the variances of the original are those of the people she
    knows. Numeric columns only. The evidence has an interval, the baseline, as ``control`` the success of the nearest
    record in standard deviations, the share linked rightly to a ``single`` candidate, the mean number of
    ``candidates`` and how many ``blocks`` there are.

    References: Nin, Herranz & Torra (2008), On the disclosure risk of multivariate microaggregation; Winkler (2002).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame(np.random.default_rng(1).normal(size=(300, 4)), schema=list("abcd")))
    >>> apart = celosia.protect(table, "individual-ranking(columns=[a, b, c, d], k=5)")
    >>> together = celosia.protect(table, "microaggregate(columns=[a, b, c, d], k=5)")
    >>> GroupIntersection().value(table, apart) > 0.9, GroupIntersection().value(table, together) <= 0.2
    (True, True)
    """

    reads: ClassVar[tuple[str, ...]] = (
        "microaggregate",
        "variable-microaggregate",
        "mixed-microaggregate",
        "projection-microaggregate",
        "individual-ranking",
        "optimal-univariate",
    )
    examples: ClassVar = (
        {"method": {"use": "microaggregate", "columns": ["x", "y"], "k": 3}},
        {"method": {"use": "individual-ranking", "columns": ["x", "y"], "k": 3}},
        {"method": {"use": "individual-ranking", "columns": ["x", "y"], "k": 3, "within": ["p"]}},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Link each record to the likeliest group in the intersection."""
        from celosia.risk.attacks.transparency.aggregates import likeliest_groups

        blocks = self._blocks(original, protected)
        axes = [axis for step, names in blocks for axis in self._axes(original, protected, step, names)]
        likeliest = likeliest_groups(axes, self.own(original, protected))
        names = [name for _, columns in blocks for name in columns]
        alone = self.by_record(original, (likeliest.tied == 1) & (likeliest.own == 1))
        return Success(
            self.by_record(original, likeliest.chance),
            self.guess(original, protected),
            self.nearest_link_chance(original, protected, names),
            {"candidates": self.by_record(original, likeliest.tied)},
            {
                "single": float(self._by_person(original, alone).mean()),
                "candidates": float(likeliest.tied.mean()),
                "blocks": sum(len(columns) if step.method in RUNS else 1 for step, columns in blocks),
                "columns": names,
            },
        )

    def _blocks(self, original: Table, protected: Table) -> list[tuple[PublicStep, list[str]]]:
        """Return the numeric columns that the intruder knows, by the last step that changed them."""
        last = {name: steps[-1] for name, steps in self.changed_columns(original, protected).items()}
        numeric = [n for n in last if all(table.column(n).dtype.is_numeric() for table in (original, protected))]
        if not numeric:
            raise NotApplicable(f"{self.name}: none of the columns that the intruder knows holds numbers.")
        steps = {id(last[name]): last[name] for name in numeric}.values()
        return [(step, [name for name in numeric if last[name] is step]) for step in steps]

    def _axes(self, original: Table, protected: Table, step: PublicStep, names: list[str]) -> list[Axis]:
        """Return the numbers that the intruder compares about one block: its columns, its stratum, its projection."""
        from celosia.risk.attacks.transparency.aggregates import (
            Axis,
            along_component,
            neighbouring_means,
            weights_within,
        )

        rows = self.attacked_records(original)
        x, y = original.numeric(names), protected.numeric(names)
        group, other_group = strata(original, protected, step.parameters["within"])
        if step.method in RUNS:  # each column is a block
            weights = [float(weights_within(x[:, [c]], y[:, [c]])[0]) for c in range(len(names))]
            bounds = [neighbouring_means(x[rows, c], group[rows], y[:, c], other_group) for c in range(len(names))]
            axes = [Axis(x[rows, c], y[:, c], weights[c], bounds[c]) for c in range(len(names))]
        else:
            axes = [Axis(x[rows, c], y[:, c], float(weight)) for c, weight in enumerate(weights_within(x, y))]
        if step.parameters["within"]:
            stratum = group[rows].astype(np.float64)
            axes.append(Axis(stratum, other_group.astype(np.float64), 0.0, (stratum, stratum)))
        elif step.method == LINE and set(names) == set(step.columns) and original.schema.person is None:
            axes += along_component(x, y, rows)
        return axes
