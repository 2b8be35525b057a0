"""How often a pattern occurs when a missing value may stand for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Held:
    """The different pairs of a pattern and a person who has it."""

    pattern: NDArray[np.int64]
    person: NDArray[np.int64]
    rows: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    """Sum of the sampling weights of the rows of each pair."""


def compatible(
    codes: NDArray[np.int32],
    own: NDArray[np.float64],
    held: Held | None,
    *,
    conservative: bool,
    alpha: float | None = None,
) -> NDArray[np.float64]:
    """The frequency of each pattern when a missing value (-1) may stand for others; a person counts once.

    ``own`` is what each pattern has by itself. ``alpha`` sets sdcMicro's reading between conservative (0) and
    wildcard (1) instead.
    """
    from celosia.mathematics.kernels.grouping.missing_frequencies import Reading, frequencies, person_frequencies

    if not (codes < 0).any():
        return own
    reading: Reading = "alpha" if alpha is not None else "conservative" if conservative else "wildcard"
    share = 1.0 if alpha is None else alpha
    if held is None:
        return frequencies(codes, own, reading, share)
    weights = None if held.weights is None else (held.weights, held.rows)
    return person_frequencies(codes, held.pattern, held.person, reading, share, weights)
