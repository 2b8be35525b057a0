"""Two tables as matrices for a learner: standardised numbers and one column per category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable
from celosia.kernels.statistics.deviation import deviations
from celosia.views.comparing.encoding import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

LABELS = 50  # categories of a column that get their own feature; rarer ones share one


@dataclass(frozen=True, eq=False)
class Features:
    """One row per record, the same features in both tables."""

    names: tuple[str, ...]
    original: Floats
    protected: Floats


def features(original: Table, protected: Table, names: Sequence[str]) -> Features:
    """Features of these columns; numbers are scaled by the original, a missing number is its mean.

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"x": [0.0, 2.0], "c": ["u", "v"]}))
    >>> features(a, a, ["x", "c"]).original.tolist()
    [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    if not names:
        raise NotApplicable("the two tables share no column that can be learnt from.")
    coded = encode([original, protected], names)
    first, second = coded.tables
    labels: list[str] = []
    blocks: tuple[list[Floats], list[Floats]] = ([], [])
    for j, name in enumerate(coded.numeric):
        x = first.numbers[:, j]
        filled = x[~np.isnan(x)]
        mean, sd = (float(filled.mean()), float(deviations(filled))) if len(filled) else (0.0, 0.0)
        labels.append(name)
        for block, table in zip(blocks, (first, second), strict=True):
            v = table.numbers[:, j]
            block.append(np.where(np.isnan(v), 0.0, (v - mean) / (sd or 1.0))[:, None])
    for j, name in enumerate(coded.nominal):
        size = coded.sizes[j]
        counts = np.bincount(first.codes[:, j] + 1, minlength=size + 1)[1:]
        common = np.sort(np.argsort(-counts, kind="stable")[:LABELS])
        place = np.full(size + 1, len(common))  # rare and missing ones together
        place[common] = np.arange(len(common))
        width = len(common) + 1
        labels += [f"{name} #{i}" for i in range(width)]
        for block, table in zip(blocks, (first, second), strict=True):
            block.append(np.eye(width)[place[table.codes[:, j]]])
    a, b = (np.column_stack(block) for block in blocks)
    used = (a != 0).any(axis=0) | (b != 0).any(axis=0)
    kept = tuple(label for label, keep in zip(labels, used, strict=True) if keep)
    return Features(kept, a[:, used], b[:, used])
