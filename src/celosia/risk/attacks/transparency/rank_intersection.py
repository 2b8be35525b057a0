"""Linkage with rank-swapped records, by the intersection of their windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.risk.bases.linking_attack import _LinkingAttack, strata
from celosia.risk.bases.transparency import PublicStep, Success

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.attacks.transparency.exchange import ExchangedColumn
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class RankIntersection(_LinkingAttack):
    r"""The share of records that an intruder who knows the window of a rank swapping links rightly.

    She knows the values of a person in some ``columns`` and has read that no value moved farther than the window.
    Margins are not changed by rank swapping, so she finds the rank of each value in the released column; the record of
    the person lies within the window of that rank, in every column at once:

    .. math:: B(x) = \bigcap_c \{y : |r_c(x) - r_c(y)| \le \lfloor w_c n \rfloor\}, \qquad
              \text{risk} = \frac{|B(x) \cap t(x)|}{|B(x)|}

    with t(x) the records of the same person. The right record is always among the candidates, and every column leaves
    fewer. Where the step was ``normal`` or by ``buckets`` no record is impossible: she takes the records of the
    greatest likelihood under the published distribution of the steps, and is sure of none.

    She reads: the columns, the window (or the windows that the evidence states), the kind of step, ``within``. The
    evidence has an interval, the baseline, as ``control`` the success of the nearest record in numbers (an
    intruder who has not read the certificate), the share linked rightly to a ``single`` candidate, and the mean
    number of ``candidates``. Equal values have all their ranks, a missing value matches the missing ones.

    References: Nin, Herranz & Torra (2008), Rethinking rank swapping to decrease disclosure risk.

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> table = celosia.read(pl.DataFrame(rng.normal(size=(200, 6)), schema=list("abcdef")))
    >>> protected = celosia.protect(table, "rank-swap(columns=[a, b, c, d, e, f], window=0.1)", seed=1)
    >>> RankIntersection().value(table, protected) > 0.9
    True
    """

    reads: ClassVar[tuple[str, ...]] = ("rank-swap",)
    examples: ClassVar = (
        {"method": {"use": "rank-swap", "columns": ["x", "y"], "window": 0.3}},
        {"method": {"use": "rank-swap", "columns": ["x", "y"], "window": 0.4, "within": ["p"]}, "columns": ["y"]},
        {"method": {"use": "rank-swap", "columns": ["x", "y"], "window": 0.4, "step": "normal"}},
        {"method": {"use": "rank-swap", "columns": ["x", "y"], "window": 0.4, "step": "buckets"}},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Link each record to the intersection of its windows."""
        from celosia.risk.attacks.transparency.exchange import candidates

        about = {
            name: _add_swaps([self._column(original, protected, step, name) for step in steps])
            for name, steps in self.changed_columns(original, protected).items()
        }
        nearest = candidates(list(about.values()), self.own(original, protected))
        tied = self.by_record(original, nearest.tied)
        alone = self.by_record(original, (nearest.tied == 1) & (nearest.own == 1))
        return Success(
            self.by_record(original, nearest.chance),
            self.guess(original, protected),
            self.nearest_link_chance(original, protected, list(about)),
            {"candidates": tied},
            {
                "single": float(self._by_person(original, alone).mean()),
                "candidates": float(nearest.tied.mean()),
                "columns": list(about),
            },
        )

    def _column(self, original: Table, protected: Table, step: PublicStep, name: str) -> ExchangedColumn:
        from celosia.kernels.neighbours import likely_exchange as modes
        from celosia.risk.attacks.transparency.exchange import ExchangedColumn, places

        rows = self.attacked_records(original)
        x, y = _ordered_values(original, protected, name)
        group, other_group = strata(original, protected, step.parameters["within"])
        units = _units(protected, name)
        window = step.evidence.get("window", {}).get(name, step.parameters["window"])
        low, high, size = places(x[rows], group[rows], y[units], other_group[units])
        others = places(y, other_group, y[units], other_group[units])
        reach = np.floor(window * size * (1 + 1e-12))
        mode = {"uniform": modes.WINDOW, "normal": modes.NORMAL, "buckets": modes.BUCKETS}[step.parameters["step"]]
        if mode == modes.BUCKETS:
            reach = np.maximum(np.ceil(reach / 2), 1)
        return ExchangedColumn((low, high), (others[0], others[1]), group[rows], other_group, reach, mode)


def _add_swaps(steps: list[ExchangedColumn]) -> ExchangedColumn:
    """Combine the swaps of one column: their windows add up."""
    reach = np.sum([step.reach for step in steps], axis=0)
    return replace(steps[-1], reach=reach, mode=max(step.mode for step in steps))


def _ordered_values(original: Table, protected: Table, name: str) -> tuple[Floats, Floats]:
    """Return a column of both tables as numbers in its order; NaN for missing and for values that were not released."""
    import polars as pl

    if original.column(name).dtype.is_numeric() and protected.column(name).dtype.is_numeric():
        return original.numeric([name])[:, 0], protected.numeric([name])[:, 0]
    codes, values = protected.codes(name)
    place = pl.DataFrame({name: values, "place": np.arange(len(values), dtype=np.float64)})
    mine = original.column(name).cast(values.dtype, strict=False).to_frame()
    x = mine.join(place, on=name, how="left", maintain_order="left")["place"].cast(pl.Float64).to_numpy()
    y = np.asarray(codes, dtype=np.float64)
    return x, np.where(y < 0, np.nan, y)


def _units(protected: Table, name: str) -> Ints:
    """Return one record per swapped unit: per household where the column is constant within households."""
    household = protected.schema.household
    if household is None or household == name or household not in protected.names:
        return np.arange(len(protected))
    codes = np.asarray(protected.codes(household)[0], dtype=np.int64)
    codes = np.where(codes < 0, len(codes) + np.arange(len(codes)), codes)
    _, first, member = np.unique(codes, return_index=True, return_inverse=True)
    column = protected.column(name)
    shared = bool(column.eq_missing(column.gather(first[member.reshape(-1)])).all())
    return first.astype(np.int64) if shared else np.arange(len(protected))
