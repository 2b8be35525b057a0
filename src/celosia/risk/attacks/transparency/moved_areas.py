"""Linkage with swapped records, by the rule that chooses which records move."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.errors import NotApplicable
from celosia.risk.bases.linking_attack import _LinkingAttack, strata
from celosia.risk.bases.transparency import PublicStep, Success

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]
    Level = tuple[Ints, Ints]


class MovedAreas(_LinkingAttack):
    r"""The share of records that an intruder who knows how a record swapping moves records links rightly.

    She knows the area of a person and the values of the columns that single a record out, which swapping does not
    change. She has read that records of which an area has fewer than ``k`` alike are moved to another area within the
    same area one level up. So where the released file shows ``k`` or more of them in the area, she takes one of these;
    where it shows fewer, at the coarsest such level, those are likely others who were moved there, and she takes one of
    the alike records of the other areas:

    .. math:: B(x) = \begin{cases} \{y : y_Q = x_Q,\ \mathrm{area}(y) = \mathrm{area}(x)\} & f \ge k \\
              \{y : y_Q = x_Q,\ \mathrm{area}_{h-1}(y) = \mathrm{area}_{h-1}(x),\ \mathrm{area}_h(y) \ne
              \mathrm{area}_h(x)\} & f < k \end{cases}

    She reads: ``geography``, ``risk``, ``k``; the rate of further swaps is private. The evidence has an interval, the
    baseline, and as ``control`` the success of the alike records of the person's own area. Ties are shared.

    References: Shlomo, Tudor & Groom (2010).

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> data = pl.DataFrame({"area": rng.choice(list("NESW"), 400), "age": rng.integers(0, 200, 400)})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["area", "age"]))
    >>> protected = celosia.protect(table, "record-swap(geography=[area], risk=[age], k=3)", seed=1)
    >>> evidence = MovedAreas().evidence(table, protected)
    >>> evidence["value"] > 2 * evidence["control"]
    True
    """

    reads: ClassVar[tuple[str, ...]] = ("record-swap",)
    examples: ClassVar = (
        {"method": {"use": "record-swap", "geography": ["p"], "risk": ["c"], "k": 3}},
        {"method": {"use": "record-swap", "geography": ["p", "c"], "risk": ["t"], "k": 4}},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Link within the area of the person, or in the other areas where its records were moved."""
        step = self.steps(protected)[-1]
        rows, own = self.attacked_records(original), self.own(original, protected)
        alike, levels = self._compared_codes(original, protected, step)
        inside = [_count(alike, level, rows) for level in levels]
        home = inside[-1]
        everywhere = _count(alike, None, rows)
        above = [everywhere, *inside[:-1]]
        tied, which = home.copy(), np.full(len(rows), -1)
        for h in range(len(levels)):
            outside = above[h] - inside[h]
            moved = (which < 0) & (inside[h] < int(step.parameters["k"])) & (outside > 0)
            tied, which = np.where(moved, outside, tied), np.where(moved, h, which)

        def fits(i: Ints, j: Ints) -> NDArray[np.bool_]:
            same = alike[0][rows[i]] == alike[1][j]
            where = np.stack([level[0][rows[i]] == level[1][j] for level in levels])
            chosen = np.where(which[i] < 0, where[-1], False)
            for h in range(len(levels)):
                upper = where[h - 1] if h else True
                chosen = np.where(which[i] == h, upper & ~where[h], chosen)
            return np.asarray(same & chosen, dtype=np.bool_)

        def at_home(i: Ints, j: Ints) -> NDArray[np.bool_]:
            return np.asarray(
                (alike[0][rows[i]] == alike[1][j]) & (levels[-1][0][rows[i]] == levels[-1][1][j]), dtype=np.bool_
            )

        return Success(
            self.by_record(original, own.count(fits) / np.maximum(tied, 1)),
            self.guess(original, protected),
            self.by_record(original, own.count(at_home) / np.maximum(home, 1)),
            {"candidates": self.by_record(original, tied)},
            {"looked_elsewhere": float((which >= 0).mean()), "candidates": float(tied.mean())},
        )

    def _compared_codes(self, original: Table, protected: Table, step: PublicStep) -> tuple[Level, list[Level]]:
        """Encode the risk columns of both tables, and their areas from coarse to fine, each within the one above."""
        geography = tuple(step.parameters["geography"])
        risk = tuple(step.parameters["risk"]) or tuple(n for n in original.schema.need_quasi() if n not in geography)
        alike = risk if self.columns is None else tuple(name for name in risk if name in self.columns)
        lacking = [name for name in (*alike, *geography) if name not in protected.names or name not in original.names]
        if lacking or not alike:
            reason = f"column {lacking[0]!r} was not released" if lacking else "the intruder knows no unchanged column"
            raise NotApplicable(f"{self.name}: {reason}.")
        levels = [strata(original, protected, geography[: h + 1]) for h in range(len(geography))]
        return strata(original, protected, alike), levels


def _count(alike: Level, level: Level | None, rows: Ints) -> Ints:
    """Count the released records that are like each attacked one, in its area where a level is given."""
    areas = (np.zeros(len(alike[0]), np.int64), np.zeros(len(alike[1]), np.int64)) if level is None else level
    many = int(max(area.max(initial=0) for area in areas)) + 1
    mine, theirs = alike[0][rows] * many + areas[0][rows], alike[1] * many + areas[1]
    keys, counts = np.unique(theirs, return_counts=True)
    at = np.minimum(np.searchsorted(keys, mine), max(len(keys) - 1, 0))
    return np.where(keys[at] == mine, counts[at], 0).astype(np.int64) if len(keys) else np.zeros(len(rows), np.int64)
