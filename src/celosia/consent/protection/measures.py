"""Disclosure risk and information loss of a release: for all records, those of blocking owners, and the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import ParameterError
from celosia.parts import build
from celosia.table.derive import with_record_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from celosia.consent.protection.protection import Protected
    from celosia.table import Table

Z99 = 2.5758293035489004


def re_identification(
    original: Table,
    protected: Table,
    target: Sequence[str],
    blocked: NDArray[np.bool_],
    *,
    external: float = 0.1,
    learner: str = "decision-tree",
    repeats: int = 2,
    seed: int = 0,
) -> dict[str, dict[str, float]]:
    r"""Share of records whose original value an intruder predicts from the release, for three groups.

    .. math:: P_{reid} = \frac{\text{correct predictions}}{\text{rows to predict}}

    ``baseline`` is the share for the most frequent value, ``low`` and ``high`` are a 99 % interval (Wilson).
    """
    from celosia.kernels.statistics.intervals import wilson

    if repeats < 2:
        raise ParameterError("repeats must be at least 2, so that every record is predicted by somebody who lacks it.")
    part = {"use": "inference-attack", "target": list(target), "external": external, "learner": learner}
    attack: Any = build("attack", {**part, "repeats": repeats, "seed": seed})
    predicted = attack.records(original, protected)
    right, guess = predicted["risk"].to_numpy(), predicted["baseline"].to_numpy()
    tried = np.isfinite(right)  # large samples may hold a record in every try
    out = {}
    for name, group in _groups(blocked).items():
        mask = group & tried
        n = int(mask.sum())
        if not n:
            continue
        value = float(right[mask].mean())
        low, high = wilson(value * n, n, Z99)
        out[name] = {"value": value, "low": low, "high": high, "baseline": float(guess[mask].mean()), "records": n}
    return out


def losses(
    original: Table, protected: Protected, blocked: NDArray[np.bool_], columns: Sequence[str]
) -> dict[str, dict[str, float]]:
    """GCP and share of altered rows (CM in the thesis), for three groups."""
    altered = np.zeros(len(original), np.bool_)
    for name in columns:
        if name not in protected.table.names:  # left out
            altered[:] = True
            continue
        before, after = original.column(name), protected.table.column(name)
        altered |= (_as_text(before) != _as_text(after)).fill_null(value=True).to_numpy()
    if protected.level is not None and protected.tree is not None:
        penalty = protected.tree.penalties(protected.level)
    else:
        penalty = np.full(len(original), math.nan)
    out: dict[str, dict[str, float]] = {}
    for name, mask in _groups(blocked).items():
        if not mask.any():
            continue
        out[name] = {"altered": float(altered[mask].mean())}
        if protected.level is not None:
            out[name]["gcp"] = float(penalty[mask].mean())
        else:
            ids = with_record_ids(original).ids()[mask]
            gcp: Any = build("loss", "certainty-penalty")
            out[name]["gcp"] = float(gcp.value(with_record_ids(original).take(ids), protected.table.take(ids)))
    return out


def singletons(table: Table) -> float:
    """α of Lodha and Thomas: the share of records with unique quasi-identifiers."""
    frequency = table.frequencies()
    return float((frequency == 1).mean()) if len(frequency) else 0.0


def _groups(blocked: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    return {"all": np.ones(len(blocked), np.bool_), "blocking": blocked, "others": ~blocked}


def _as_text(series: pl.Series) -> pl.Series:
    import polars as pl

    return series.cast(pl.String)
