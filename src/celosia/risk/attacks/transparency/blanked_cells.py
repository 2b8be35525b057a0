"""Values of cells that a local suppression blanked, inferred from the reason why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Columns, DisclosesValue
from celosia.risk.bases.transparency import Success, _InformedAttack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]


class BlankedCells(DisclosesValue, _InformedAttack):
    r"""The share of people in whose record an intruder who knows k fills in the cells that a local suppression blanked.

    As few cells as possible are blanked, so a cell was blanked because its value made the record rare. A value that
    k - 1 records show together with the other cells of the record would not have been blanked:

    .. math:: \hat v = \arg\max_v n(v) \quad\text{among}\quad \{ v : n(v, x_{shown}) < k - 1 \}

    with n the counts in the release. She reads: k. The control guesses the most frequent value of the records that show
    the same other cells; the baseline is the share of the most frequent value of the column. A record counts with the
    mean over its blanked cells, and with 0 where nothing was blanked: the ``cells`` that were and the ``share`` of them
    that is found are in the evidence. Other reasons to blank (subsets, strata, risk instead of k) weaken it.

    References: Templ, Kowarik & Meindl (2015); Wong, Fu, Wang & Pei (2007) for the argument from minimality.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["f"] * 4 + ["m"] * 4, "zip": ["a", "a", "a", "b", "a", "a", "a", "a"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex", "zip"]))
    >>> safe = celosia.protect(table, "local-suppress(k=3, missing=wildcard)")
    >>> safe.polars()["zip"].to_list()[3], BlankedCells().evidence(table, safe)["share"]
    (None, 1.0)
    """

    reads: ClassVar[tuple[str, ...]] = ("local-suppress",)
    columns: Columns | None = Field(default=None, description="columns to fill in; the quasi-identifiers")
    examples: ClassVar = (
        {"method": {"use": "local-suppress", "k": 2}},
        {"method": {"use": "local-suppress", "k": 3}, "columns": ["c"]},
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Fill in every blanked cell."""
        from celosia.table.pairing import positions

        k = self.steps(protected)[-1].parameters.get("k")
        if k is None:
            raise NotApplicable("blanked-cells: the step kept a risk, not a k: nothing follows about a value.")
        quasi = [name for name in original.schema.need_quasi() if name in protected.names]
        strange = [name for name in self.columns or () if name not in quasi]
        if strange:
            raise NotApplicable(
                f"blanked-cells: column {strange[0]!r} is no quasi-identifier of both tables; only those are blanked "
                "because of k."
            )
        rows = positions(original, protected)
        codes = {name: _shared_codes(original, protected, name, rows) for name in quasi}
        total = np.zeros(len(rows))
        hits_by = {"risk": np.zeros(len(rows)), "control": np.zeros(len(rows))}
        guess = []
        for name in self.columns or quasi:
            truth, shown = codes[name]
            blank = np.flatnonzero((shown < 0) & (truth >= 0))
            if not len(blank):
                continue
            count = np.bincount(shown[shown >= 0], minlength=int(truth.max()) + 1)
            company = [codes[other][1] for other in quasi if other != name]
            others = np.stack(company, axis=1) if company else np.empty((len(shown), 0), dtype=np.int64)
            informed, plain = _fill_cells(others, shown, blank, count, k)
            total[blank] += 1
            hits_by["risk"][blank] += informed == truth[blank]
            hits_by["control"][blank] += plain == truth[blank]
            guess += [float((truth[blank] == count.argmax()).mean())] * len(blank)
        spread = {}
        for what, right in hits_by.items():
            spread[what] = np.zeros(len(original))
            spread[what][rows] = np.divide(right, total, out=np.zeros_like(right), where=total > 0)
        cells = int(total.sum())
        share = {what: float(right.sum() / cells) if cells else 0.0 for what, right in hits_by.items()}
        facts = {"cells": cells, "share": share["risk"], "share_control": share["control"]}
        weight = float((total > 0).mean())
        baseline = float(np.mean(guess)) * weight if guess else 0.0
        return Success(spread["risk"], baseline, spread["control"], {}, facts)


def _shared_codes(original: Table, protected: Table, name: str, rows: Ints) -> tuple[Ints, Ints]:
    """Encode a column of the original and of the release with common codes; -1 is missing."""
    from celosia.views.comparing.encoding import encode

    coded = encode([original, protected], [name])
    if coded.nominal:
        truth, shown = (table.codes[:, 0].astype(np.int64) for table in coded.tables)
        return truth[rows], shown
    numbers = np.concatenate([table.numbers[:, 0] for table in coded.tables])
    codes = np.where(np.isnan(numbers), -1, np.unique(numbers, return_inverse=True)[1]).astype(np.int64)
    return codes[: len(original)][rows], codes[len(original) :]


def _fill_cells(others: Ints, shown: Ints, blank: Ints, count: Ints, k: int) -> tuple[Ints, Ints]:
    """Return for each blanked cell the likeliest value that is not ruled out, and the most frequent one.

    Values are counted over the records that show the same other cells.
    """
    by_count = np.argsort(-count, kind="stable")
    rank = np.empty_like(by_count)
    rank[by_count] = np.arange(len(by_count))
    informed, plain = np.full(len(blank), by_count[0]), np.full(len(blank), by_count[0])
    masks = others[blank] >= 0
    kinds, kind = np.unique(masks, axis=0, return_inverse=True)
    for at, mask in enumerate(kinds):
        mine = np.flatnonzero(kind.reshape(-1) == at)
        complete = np.flatnonzero((others[:, mask] >= 0).all(axis=1) & (shown >= 0))
        both = np.concatenate([others[complete][:, mask], others[blank[mine]][:, mask]])
        key = (
            np.unique(both, axis=0, return_inverse=True)[1].reshape(-1) if mask.any() else np.zeros(len(both), np.int64)
        )
        pair, times = np.unique(key[: len(complete)] * len(count) + rank[shown[complete]], return_counts=True)
        wanted = key[len(complete) :]
        informed[mine] = by_count[_first_free(pair[times >= k - 1], wanted, len(count))]
        plain[mine] = by_count[_most_frequent(pair, times, wanted, len(count))]
    return informed, plain


def _most_frequent(pair: Ints, times: Ints, wanted: Ints, width: int) -> Ints:
    """Return for each key the rank that occurs most often, the lowest of several; 0 for a key that does not occur."""
    if not len(pair):
        return np.zeros(len(wanted), dtype=np.int64)
    order = np.lexsort((pair % width, -times, pair // width))
    keys, first = np.unique(pair[order] // width, return_index=True)
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[at] == wanted, pair[order[first]][at] % width, 0)


def _first_free(ruled_out: Ints, wanted: Ints, width: int) -> Ints:
    """Return for each key the lowest rank that is not ruled out; 0 when all are.

    Pairs are key × width + rank, ascending.

    >>> _first_free(np.array([0, 1, 3, 8]), np.array([0, 2, 1]), 4).tolist()
    [2, 1, 0]
    """
    key, rank = ruled_out // width, ruled_out % width
    keys, start, size = np.unique(key, return_index=True, return_counts=True)
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    place = np.arange(len(key)) - np.repeat(start, size)
    gaps = np.flatnonzero(rank != place)
    gapped, first = np.unique(key[gaps], return_index=True)
    free = size.astype(np.int64)
    free[np.searchsorted(keys, gapped)] = place[gaps[first]]
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    lowest = np.where(keys[at] == wanted, free[at], 0)
    return np.where(lowest < width, lowest, 0)
