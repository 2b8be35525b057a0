"""Base class of attacks that estimate original numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from celosia.parts import DisclosesValue
from celosia.risk.bases.linking_attack import _ColumnAttack
from celosia.risk.bases.transparency import Success

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


class _EstimateAttack(DisclosesValue, _ColumnAttack):
    """An informed attack on numbers: a value is disclosed when the estimate comes near."""

    within: float = Field(default=0.1, gt=0, description="standard deviations within which a value is disclosed")

    def judge_estimates(
        self, original: Table, protected: Table, names: Sequence[str], guess: Floats, parts: Mapping[str, Any]
    ) -> Success:
        """Judge estimates against the original; the baseline is the released median, the control the released value."""
        from celosia.kernels.statistics.deviation import spreads
        from celosia.table.pairing import positions

        rows = positions(original, protected)
        truth, y = original.numeric(names), protected.numeric(names)
        limit = self.within * spreads(truth)

        def near(values: Floats) -> Floats:
            with np.errstate(invalid="ignore"):
                close = np.abs(values - truth[rows]) <= limit
            chance = np.zeros(len(original))
            chance[rows] = close.mean(axis=1)
            return chance

        baseline = near(np.broadcast_to(np.nanmedian(y, axis=0), y.shape))
        return Success(
            near(guess),
            float(self._by_person(original, baseline).mean()),
            near(y),
            {},
            {**self._errors(names, guess, truth[rows]), **parts, "columns": list(names)},
        )

    def _errors(self, names: Sequence[str], guess: Floats, truth: Floats) -> dict[str, dict[str, float]]:
        """Return by column the mean square error as a share of the variance, and the gain over guessing the mean."""
        from celosia.kernels.statistics.deviation import spreads

        variance = spreads(truth) ** 2
        shares = np.nanmean((guess - truth) ** 2, axis=0) / np.where(variance > 0, variance, 1.0)
        error = dict(zip(names, shares.tolist(), strict=True))
        return {"error": error, "gain": {name: 1 - share for name, share in error.items()}}
