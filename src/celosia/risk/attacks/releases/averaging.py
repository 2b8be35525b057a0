"""Averaging of noise over releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.risk.bases.releases import _EarlierReleases
from celosia.table.columns import column_types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.bases.success import Success
    from celosia.table import Table

    Floats = NDArray[np.float64]


class Averaging(_EarlierReleases):
    r"""The share of values that the mean over several releases of the same records estimates closely.

    The same data, protected again with other random numbers, are released again. The intruder finds the records of a
    person in all releases by the ``columns`` that they carry unchanged, where these are unique, and averages the noise
    away; m releases leave :math:`1/\sqrt m` of it:

    .. math:: \Bigl| \frac1m \sum_{r=1}^{m} \tilde x_{ir} - x_i \Bigr| \le \delta\, s

    with s the standard deviation of the original column. Records that cannot be found in an earlier release keep the
    value of the new one. The control is the intruder who has the new release only; the baseline guesses the mean of
    the column. Columns are those that are numbers everywhere and that no release carries unchanged.

    References: Duncan & Lambert (1989); Domingo-Ferrer, Sebé & Castellà (2004) on filtering noise.

    >>> import polars as pl, celosia
    >>> people = pl.DataFrame({"job": ["a", "b", "c", "d"], "pay": [10.0, 20.0, 30.0, 40.0]})
    >>> up, down = people.with_columns(pl.col("pay") + 5), people.with_columns(pl.col("pay") - 5)
    >>> attack = Averaging(earlier=[down], known=[], columns=["job"])
    >>> attack.value(celosia.read(people), celosia.read(up))
    1.0
    """

    tolerance: float = Field(default=0.05, gt=0, description="how near in standard deviations of the column")
    examples: ClassVar = (
        {"earlier": True, "known": ["p"], "columns": ["name"], "tolerance": 0.2},
        {"earlier": True, "known": ["p"], "columns": ["t", "p"]},
    )

    def exceeds(self, facts: Mapping[str, Any]) -> bool:
        """Return whether it succeeds more often than the control, beyond chance."""
        return bool(facts.get("better_than_control"))

    def sentence(self, facts: Mapping[str, Any]) -> str:
        """Describe the share of values that the mean estimates closely."""
        near = f"the mean over the releases comes near to {facts['value']:.1%} of the values"
        return f"{near}, this release alone to {facts['control']:.1%}"

    def run(self, original: Table, protected: Table) -> Success:
        """Return the share of the values of each record that the mean estimates closely."""
        from celosia.kernels.statistics.deviation import middles, spreads
        from celosia.risk.bases.success import Success
        from celosia.table.pairing import counterparts, shared_numbers
        from celosia.views.comparing.releases import linked_rows

        earlier = self.open_releases(original)
        carried = self.carried_columns(original, protected, earlier)
        names = [
            name
            for name in shared_numbers(original, protected)
            if name not in carried and all(_numeric(table, name) for table in earlier)
        ]
        changed = original.numeric(names)
        own = counterparts(original, protected)
        shown = np.vstack([protected.numeric(names), np.full(len(names), np.nan)])[own]
        with np.errstate(invalid="ignore"):
            kept = [j for j in range(len(names)) if np.nanmax(np.abs(changed[:, j] - shown[:, j]), initial=0.0) > 0]
        if not kept:
            raise NotApplicable("averaging: no number was changed in this release; there is no noise to average.")
        truth, total, used = changed[:, kept], shown[:, kept].copy(), np.ones((len(original), len(kept)))
        places = linked_rows([protected, *earlier], carried)
        chosen = [names[j] for j in kept]
        for table, place in zip(earlier, places.T, strict=True):
            at = np.append(place, -1)[own]
            values = np.vstack([table.numeric(chosen), np.full(len(kept), np.nan)])[at]
            present = np.isfinite(values)
            total += np.where(present, values, 0.0)
            used += present
        reach = self.tolerance * spreads(truth)

        def near(guess: Floats) -> Floats:
            with np.errstate(invalid="ignore"):
                return np.asarray(np.mean(np.abs(guess - truth) <= reach, axis=1), dtype=np.float64)

        return Success(
            near(total / used),
            float(near(np.broadcast_to(middles(truth), truth.shape)).mean()),
            near(shown[:, kept]),
            {"linked": (used.max(axis=1) > 1)},
            {"columns": chosen, "carried": carried, "releases": 1 + len(earlier)},
        )


def _numeric(table: Table, name: str) -> bool:
    return name in table.names and column_types(table)[name].is_numeric()
