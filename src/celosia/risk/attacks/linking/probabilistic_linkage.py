"""Probabilistic record linkage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal, NotRequired, cast

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Attack, Columns, DecidedByOneRecord, LinkEvidence
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.attacks.linking.record_linkage import Matches, Weights, Windows
    from celosia.table import Table
    from celosia.views.persons import Linked

_LARGEST_ASSIGNMENT = 3000


class ProbabilisticLinkageEvidence(LinkEvidence):
    """Right links, the parameters of each column, and links above the threshold."""

    direction: str
    m: dict[str, float]
    u: dict[str, float]
    matches: float
    known: NotRequired[dict[str, float]]
    links: NotRequired[float]
    thresholds: NotRequired[list[float | None]]


class ProbabilisticLinkage(DecidedByOneRecord, Attack):
    r"""The share of records that an intruder links rightly by the columns that agree (PRL, Fellegi and Sunter).

    Two records agree in a column when their values are equal, or for numbers differ by at most ``tolerance`` standard
    deviations. With m and u the chances of agreement for the same and for different people, from EM over all pairs, a
    pair scores

    .. math:: R = \sum_{i: \gamma_i = 1} \log_2 \frac{m_i}{u_i} + \sum_{i: \gamma_i = 0} \log_2 \frac{1-m_i}{1-u_i}

    and each record is linked to the best-scoring one, ties shared. With ``false_link`` and ``missed_link``, the allowed
    chances P(link | different) and P(no link | same), only pairs above the upper threshold are links. ``known``,
    ``one_to_one``, ``direction`` and persons as for distance linkage. A missing value agrees with nothing. All
    pairs are compared: for very large files a library with blocking, such as splink, is the better tool.

    References: Fellegi & Sunter (1969); Jaro (1989); Domingo-Ferrer & Torra (2001).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [20, 30, 40, 50], "zip": ["a", "b", "c", "d"]})
    >>> original = celosia.read(data)
    >>> ProbabilisticLinkage().value(original, celosia.read(data))
    1.0
    """

    columns: Columns | None = Field(
        default=None, description="columns that the intruder knows; all shared ones when not given"
    )
    tolerance: float = Field(default=0.1, ge=0, description="standard deviations within which numbers agree")
    known: tuple[int, ...] = Field(default=(), description="numbers of leading columns that the intruder may know")
    false_link: float | None = Field(default=None, gt=0, lt=1, description="allowed chance to link different people")
    missed_link: float = Field(default=0.01, gt=0, lt=1, description="allowed chance to miss the same person")
    one_to_one: bool = Field(default=False, description="link all records at once, each only once")
    direction: Literal["original", "protected"] = Field(default="original", description="whose records are linked")
    examples: ClassVar = (
        {"columns": ["x", "y"]},
        {"columns": ["x", "y", "c"]},
        {"columns": ["c", "p"], "tolerance": 0.5},
    )

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of right links, the mean over ``known``."""
        counts, linked = self._counts(original, protected), self._persons(original, protected)
        return float(np.mean([linked.means(self._credit(original, protected, k)).mean() for k in counts]))

    def evidence(self, original: Table, protected: Table) -> ProbabilisticLinkageEvidence:
        """Return the share with its interval, the baseline, m and u of each column, and links above the threshold."""
        from celosia.risk.attacks.linking.record_linkage import thresholds

        counts, linked = self._counts(original, protected), self._persons(original, protected)
        chances = {k: linked.means(self._credit(original, protected, k)) for k in counts}
        names = self._names(original, protected)[: counts[-1]]
        _, weights, matches = self._match(original, protected, counts[-1])
        facts = {
            **linked.evidence(chances.values()),
            "direction": f"{self.direction} to best",
            "m": dict(zip(names, weights.m.tolist(), strict=True)),
            "u": dict(zip(names, weights.u.tolist(), strict=True)),
            "matches": weights.share * float(weights.counts.sum()),
        }
        evidence = cast("ProbabilisticLinkageEvidence", facts)
        if self.known:
            evidence["known"] = {str(k): float(credit.mean()) for k, credit in chances.items()}
        if self.false_link is not None:
            upper, lower = thresholds(weights, self.false_link, self.missed_link)
            evidence["links"] = float(linked.means(matches.score >= upper).mean())
            evidence["thresholds"] = [x if math.isfinite(x) else None for x in (upper, lower)]
        return evidence

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return for each record the chance of a right link, the linked record, its score, and the number of ties."""
        import polars as pl

        last = self._counts(original, protected)[-1]
        _, _, matches = self._match(original, protected, last)
        columns = {"risk": self._credit(original, protected, last), "linked": matches.first, "score": matches.score}
        return pl.DataFrame({**columns, "tied": matches.tied})

    def _names(self, original: Table, protected: Table) -> list[str]:
        from celosia.views.comparing.encoding import known_columns

        return known_columns(original, protected, self.columns, numbers=False)

    def _counts(self, original: Table, protected: Table) -> list[int]:
        total = len(self._names(original, protected))
        return sorted({min(k, total) for k in self.known}) or [total]

    def _credit(self, original: Table, protected: Table, count: int) -> NDArray[np.float64]:
        from celosia.risk.attacks.linking.record_linkage import thresholds

        windows, weights, matches = self._match(original, protected, count)
        credit = matches.correct
        if self.one_to_one:
            credit = self._persons(original, protected).right(_assign_one_to_one(windows, weights))
        if self.false_link is not None:
            upper, _ = thresholds(weights, self.false_link, self.missed_link)
            credit = np.where(matches.score >= upper, credit, 0.0)
        return credit

    def _persons(self, original: Table, protected: Table) -> Linked:
        from celosia.views.persons import Linked

        return Linked.of(original, protected, self.direction)

    def _match(self, original: Table, protected: Table, count: int) -> tuple[Windows, Weights, Matches]:
        from celosia.risk.attacks.linking.record_linkage import Windows, fellegi_sunter, match
        from celosia.views.comparing.encoding import encode

        names = self._names(original, protected)[:count]

        def make() -> tuple[Windows, Weights, Matches]:
            coded = encode([original, protected], names)
            columns: dict[str, tuple[NDArray[np.float64], NDArray[np.float64], float]] = {}
            for j, name in enumerate(coded.numeric):
                a, b = (t.numbers[:, j] for t in coded.tables)
                spread = float(np.nanstd(a)) if np.isfinite(a).any() else 0.0
                columns[name] = (a, b, self.tolerance * spread)
            for j, name in enumerate(coded.nominal):
                pair = [np.where(t.codes[:, j] < 0, np.nan, t.codes[:, j].astype(np.float64)) for t in coded.tables]
                columns[name] = (pair[0], pair[1], 0.0)
            ordered = [columns[name] for name in names]
            ours, theirs = [c[0] for c in ordered], [c[1] for c in ordered]
            source, target = (ours, theirs) if self.direction == "original" else (theirs, ours)
            windows = Windows.of(source, target, np.array([c[2] for c in ordered]))
            weights = fellegi_sunter(windows)
            return windows, weights, match(windows, weights, self._persons(original, protected).own)

        return protected.compute_once(("prl", self.tolerance, self.direction, tuple(names), Same(original)), make)


def _assign_one_to_one(windows: Windows, weights: Weights) -> NDArray[np.int64]:
    """Return the links of the one-to-one assignment with the highest total score, -1 for none."""
    from scipy.optimize import linear_sum_assignment

    k, m = windows.orders.shape
    n = windows.starts.shape[1]
    if max(n, m) > _LARGEST_ASSIGNMENT:
        raise NotApplicable(
            f"probabilistic-linkage: one-to-one links need a table of all pairs, at most {_LARGEST_ASSIGNMENT} records "
            f"each, got {n} and {m}. Link without one_to_one."
        )
    pattern = np.zeros((n, m), dtype=np.int32)
    for j in range(k):
        for i in range(n):
            pattern[i, windows.orders[j, windows.starts[j, i] : windows.stops[j, i]]] |= 1 << j
    row, column = linear_sum_assignment(weights.scores()[pattern], maximize=True)
    linked = np.full(n, -1, dtype=np.int64)
    linked[row] = column
    return linked
