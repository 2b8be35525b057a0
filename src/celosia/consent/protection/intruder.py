"""Intruders who read a release: what they infer about blocking people, and whom they take for one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes import STAR
from celosia.errors import MissingExtra, NotApplicable
from celosia.histogram import encode
from celosia.kernels.statistics.intervals import Z
from celosia.parts import build
from celosia.risk.attacks.inference_attack import _few_threads

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

MEASURED = 10_000
"""Largest sample of rows that is attacked."""
FEWEST_MEASURED = 30
"""Smallest number of rows on which a share is measured."""
MOST_VALUES = 20
"""A number with more distinct values is predicted as one of ten ranges."""
STRONG = ("random-forest", 0.5)
"""A second intruder, who knows the truth about half of the people."""


@dataclass(frozen=True)
class Success:
    """The best intruder: how much better than guessing, as a share, with a 95 % interval."""

    lift: float
    low: float
    high: float
    guess: float
    rows: int
    column: str = ""
    intruder: str = ""

    def data(self) -> dict[str, object]:
        """Return the measurement as plain data."""
        return asdict(self)


NOTHING = Success(0.0, 0.0, 0.0, 0.0, 0)
"""The success where there is nothing to predict, or nobody."""


def lift(
    original: Table,
    protected: Table,
    columns: Sequence[str],
    rows: NDArray[np.bool_],
    *,
    external: float,
    predictors: Sequence[str] | None = None,
) -> Success:
    r"""Return how much better than guessing an intruder predicts a column for some rows, for the worst column.

    .. math:: \frac{1}{|R|} \sum_{i \in R} [\hat v_i = v_i] - \max(\frac{1}{|R|} \sum_{i \in R} [v_i = \text{mode}],
              \frac{1}{|R|} \sum_{i \in R} p(v_i))

    with p the overall distribution. The intruder has found the row of each person and believes the cell, or learns from
    the people whose truth they know: a share ``external`` by a decision tree, half of them by a random forest. It is
    also measured for the people whose value is not the most frequent one, so that a rare value is not counted as safe.
    """
    if len(original) > MEASURED:
        chosen = np.sort(np.random.default_rng(0).choice(len(original), MEASURED, replace=False))
        ids, rows = original.ids()[chosen], rows[chosen]
        original, protected = original.take(ids), protected.take(ids)
    best = NOTHING
    for column in columns:
        label, shown = _labels(original, protected, column)
        values, code, count = np.unique(label, return_inverse=True, return_counts=True)
        if len(values) < 2 or not rows.any():
            continue
        prior, common = (count / len(label))[code], code == int(count.argmax())
        tries = {"reads the cell": np.where(np.isfinite(shown), shown == label, common).astype(np.float64)}
        if predictors is not None:
            tries = {}
        target = original.replace({column: label})
        for learner, share in (("decision-tree", external), STRONG):
            part = {"use": "inference-attack", "target": [column], "external": share, "learner": learner}
            attack: Any = build("attack", {**part, "repeats": 2, "predictors": predictors})
            try:
                predicted = attack.records(target, protected)
            except NotApplicable:  # too few people, or no column to learn from
                continue
            tries[f"{learner}, knows {share:.0%}"] = predicted["risk"].fill_null(float("nan")).to_numpy()
        for intruder, right in tries.items():
            for group in (rows, rows & ~common):
                candidate = _gain(right, prior, common, group & np.isfinite(right), column, intruder)
                best = max(best, candidate, key=lambda each: each.lift) if best.rows else candidate
    return best


def _gain(
    right: NDArray[np.float64],
    prior: NDArray[np.float64],
    common: NDArray[np.bool_],
    group: NDArray[np.bool_],
    column: str,
    intruder: str,
) -> Success:
    """Return the gain over the better guess: the most frequent value, or a draw from the overall distribution."""
    n = int(group.sum())
    if n < 2:
        return NOTHING
    guess = max(prior, common.astype(np.float64), key=lambda each: float(each[group].mean()))
    gain = right[group] - guess[group]
    half = Z * float(gain.std(ddof=1)) / math.sqrt(n)
    value = float(gain.mean())
    return Success(value, value - half, value + half, float(guess[group].mean()), n, column, intruder)


def _labels(original: Table, protected: Table, column: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the original value of each row as a number, and the shown one; NaN for a cell that is not exact."""
    import polars as pl

    before = original.column(column)
    text = before.cast(pl.String).fill_null("")
    after = protected.column(column).cast(pl.String).fill_null("") if column in protected.names else None
    if before.dtype.is_numeric() and before.n_unique() > MOST_VALUES:
        number = before.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        edges = np.unique(np.nanquantile(number, np.linspace(0, 1, 11)[1:-1]))
        label = np.where(np.isnan(number), -1, np.searchsorted(edges, number, side="right"))
        if after is None:
            return label, np.full(len(label), np.nan)
        cell = after.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        return label, np.where(np.isnan(cell), np.nan, np.searchsorted(edges, cell, side="right").astype(np.float64))
    domain = text.unique().sort()
    number_of = pl.DataFrame({"value": domain, "code": np.arange(len(domain))})
    code = _join(text, number_of).cast(pl.Int64).to_numpy()
    shown = np.full(len(code), np.nan) if after is None else _join(after, number_of).cast(pl.Float64).to_numpy()
    return code, np.where(_is_star(after, len(code)), np.nan, shown)


def _join(values: pl.Series, codes: pl.DataFrame) -> pl.Series:
    return values.to_frame("value").join(codes, on="value", how="left", maintain_order="left")["code"]


def _is_star(shown: pl.Series | None, n: int) -> NDArray[np.bool_]:
    return np.zeros(n, np.bool_) if shown is None else (shown == STAR).to_numpy()


def block_advantage(
    released: pl.DataFrame, blocked: NDArray[np.bool_], columns: Sequence[str]
) -> tuple[float, float, float]:
    r"""Return how well a reader of the released cells distinguishes who blocks, with a 95 % interval.

    .. math:: Adv = P(\text{named} \mid \text{blocks}) - P(\text{named} \mid \text{does not})

    The reader knows the choice of half of the people and learns from their cells, how frequent each cell is, and how
    unexpected each pair of a cell of ``columns`` and another cell (a district that does not fit the school). 0 is
    guessing, 1 is certainty. References: Yeom et al. (2018), for membership.
    """
    n, hits = len(blocked), int(blocked.sum())
    if hits < 2 or n - hits < 2:
        return 0.0, 0.0, 0.0
    if n > MEASURED:
        chosen = np.sort(np.random.default_rng(0).choice(n, MEASURED, replace=False))
        return block_advantage(released[chosen], blocked[chosen], columns)
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import CategoricalNB
    except ImportError:
        raise MissingExtra.of("the attack on who blocks", "learn") from None
    features = _block_features(released, columns)
    cells = np.column_stack(
        [_codes(released[name]) for name in columns if name in released.columns] or [np.zeros(n, int)]
    )
    readers: list[tuple[Any, NDArray[Any]]] = [
        # small leaves find odd pairs, large ones and single cells a shift that is spread over all
        *(
            (RandomForestClassifier(60, min_samples_leaf=leaf, class_weight="balanced", random_state=0), features)
            for leaf in (3, max(3, n // 100))
        ),
        (CategoricalNB(min_categories=cells.max(axis=0) + 1, fit_prior=False), cells),
    ]
    half = np.random.default_rng(0).permutation(n) < n // 2
    best = (-1.0, -1.0, -1.0)
    for reader, seen in readers:
        named = np.zeros(n, np.bool_)
        with _few_threads(n):
            for training in (half, ~half):
                if blocked[training].all() or not blocked[training].any():
                    continue
                named[~training] = reader.fit(seen[training], blocked[training]).predict(seen[~training])
        true, false = float(named[blocked].mean()), float(named[~blocked].mean())
        spread = Z * math.sqrt(true * (1 - true) / hits + false * (1 - false) / (n - hits))
        best = max(best, (true - false, true - false - spread, true - false + spread))
    return best


def _codes(cells: pl.Series) -> NDArray[np.int64]:
    code = encode(cells).codes.astype(np.int64)
    return code - min(0, int(code.min()))  # a missing value is -1


def _block_features(released: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
    """Return cells as numbers, their frequencies, and the surprise of each pair with a cell of ``columns``."""
    code = {name: _codes(released[name]) for name in released.columns}
    count = {name: np.bincount(c)[c] for name, c in code.items()}
    features: list[NDArray[Any]] = []
    for name in released.columns:
        if released[name].dtype.is_numeric():
            features.append(np.nan_to_num(released[name].cast(float).fill_null(-1.0).to_numpy(), nan=-1.0))
        features += [code[name], count[name]]
    for name in columns:
        for other in released.columns:
            if name in code and other != name:
                pair = code[name] * (int(code[other].max()) + 1) + code[other]
                _, place, together = np.unique(pair, return_inverse=True, return_counts=True)
                features.append(np.log(together[place] * len(pair) / (count[name] * count[other])))
    return np.column_stack(features).astype(np.float64)
