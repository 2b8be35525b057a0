"""The criteria of the experiment, as the source computed them and as they are defined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.anonymity import possibility_curve, q_anonymity
from celosia.kernels.fuzzy.closeness import individual_distances, ordered_map
from celosia.kernels.fuzzy.diversity import cell_counts, present_values, shares
from celosia_reproduce.fuzzy_privacy.codings import Coding

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def smallest_class(coding: Coding) -> int:
    """Return the records of the smallest non-empty cell, each record in its cell of highest degree."""
    size = np.bincount(coding.labels)
    return int(size[size > 0].min())


def records_at_risk(coding: Coding) -> int:
    r"""Return the records whose risk 1/f stands out: above the median by two median absolute deviations.

    .. math:: \#\{i: r_i > \mathrm{med}(r) + 2 \cdot 1.4826\, \mathrm{med}|r - \mathrm{med}(r)|\}
    """
    labels = coding.labels
    r = 1 / np.bincount(labels)[labels]
    middle = np.median(r)
    spread = 1.4826 * np.median(np.abs(r - middle))
    return int((r > middle + 2 * spread).sum())


def anonymity(coding: Coding) -> int:
    """Q with a possibility of one half, mean over all cells; 1, as the source prints it, where none has it."""
    return max(1, q_anonymity(possibility_curve(coding.mu.T)))


def compatible_l_t(coding: Coding, codes: Codes, values: int) -> tuple[int, float]:
    """Distinct-l and t exactly as the source ran them.

    Two slips and two choices of the original are kept. The sensitive column is *not* cut to the retained records:
    entry i of the shortened list meets record i of the full one. With e non-empty cells only the codes 0 … e - 1 are
    visited for t. A cell is reduced to the set of its values, each with equal weight, and compared with the pooled
    sets. The smallest distance is taken, not the largest.
    """
    met = codes[: len(coding.rows)]
    sets = present_values(coding.mu, met, values)
    held = np.asarray(sets.any(axis=1))
    least = int((sets if coding.fuzzy else sets[held]).sum(axis=1).min())
    visited = held if coding.fuzzy else held & (np.arange(len(held)) < held.sum())
    P = shares(sets[visited].astype(float))
    pooled = sets[visited].sum(axis=0)
    mapped = ordered_map(P - pooled / pooled.sum())
    if not coding.fuzzy:
        return least, float(np.abs(mapped).sum(axis=1).min())
    return least, float(individual_distances(coding.mu[:, visited], mapped).min())


def corrected_l_t(coding: Coding, codes: Codes, values: int) -> tuple[int, float, float]:
    """Distinct-l on aligned records, and t as defined: frequencies, σ-counts, the whole table, the largest distance.

    The smallest distance comes third, to show what taking the minimum does.
    """
    met = codes[coding.rows]
    sets = present_values(coding.mu, met, values)
    least = int(sets[sets.any(axis=1)].sum(axis=1).min())
    counts = cell_counts(coding.mu, met, values)
    held = counts.sum(axis=1) > 0
    whole = np.bincount(codes, minlength=values) / len(codes)
    mapped = ordered_map(shares(counts[held]) - whole)
    distances = individual_distances(coding.mu[:, held], mapped)
    return least, float(distances.max()), float(distances.min())


def measure(coding: Coding, sensitive: list[tuple[Codes, int]], *, compatible: bool) -> dict[str, float | None]:
    """All criteria of one coding; in compatible mode l and t are left out where the source printed a dash."""
    row: dict[str, float | None] = {"k": smallest_class(coding), "risk": records_at_risk(coding)}
    if coding.fuzzy:
        row["Q"] = anonymity(coding)
    dash = compatible and row["Q" if coding.fuzzy else "k"] == 1
    for number, (codes, values) in enumerate(sensitive, start=1):
        names = (f"l{number}", f"t{number}", f"tmin{number}")
        l_and_t = (compatible_l_t if compatible else corrected_l_t)(coding, codes, values)
        row |= {name: None if dash else value for name, value in zip(names, l_and_t, strict=False)}
    return row
