"""Frequencies of patterns when a missing value may stand for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from celosia.histogram.fixed_point import to_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.histogram import Histogram


def compatible_frequencies(
    histogram: Histogram,
    names: Sequence[str],
    open_missing: Sequence[str],
    *,
    conservative: bool,
    alpha: float | None = None,
    weighed: bool = False,
) -> NDArray[np.float64]:
    """Return the frequency of each entry when missing values in ``open_missing`` may stand for others.

    Persons are counted once, or with ``weighed`` with the mean weight of their rows. ``alpha`` sets sdcMicro's reading
    between conservative (0) and wildcard (1) instead.
    """
    own = histogram.weights if weighed else histogram.persons.astype(np.float64)
    assert own is not None
    codes = histogram.matrix(names, open_missing=open_missing)
    if not (codes < 0).any():
        return own
    from celosia.kernels.grouping.missing_frequencies import Reading, frequencies, person_frequencies

    reading: Reading = "alpha" if alpha is not None else "conservative" if conservative else "wildcard"
    share = 1.0 if alpha is None else alpha
    single, pairs = histogram.single, histogram.pairs
    if single is None or pairs is None:
        return frequencies(codes, own, reading, share)
    # persons with one entry add up like records; others count once among the entries that may be theirs
    alone = to_floats(histogram.weight) if weighed and histogram.weight is not None else single.astype(np.float64)
    result = frequencies(codes, alone, reading, share)
    if len(pairs.entry):
        each = None if not weighed or pairs.weight is None else (to_floats(pairs.weight), pairs.rows.astype(np.float64))
        result += person_frequencies(codes, pairs.entry, pairs.person, reading, share, each)
    return result
