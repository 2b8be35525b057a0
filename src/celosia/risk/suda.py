"""Special uniques (SUDA)."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from celosia.parts import Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table


class SudaEvidence(Evidence):
    """Mean and highest DIS, records with a score, and the contribution of each column."""

    highest: float
    expected: float
    records: int
    score: float
    largest: int
    complete: bool
    contribution: dict[str, float]


class Suda(Risk):
    r"""Records that are unique on few quasi-identifiers already: special uniques, by their minimal sample uniques.

    .. math:: s_i = \sum_{S \in \mathrm{MSU}_i} (m - |S|)!, \qquad
              \mathrm{DIS}_i = \frac{1}{1 + P (1-\varphi) / (\varphi\, s_i^Q A)}

    A minimal sample unique is a set of columns on which the record is alone while it is not on any part of the set.
    With a person column it is alone where all who share these values are rows of the same person, and means are
    over persons (one with rows in several classes counts in each). The DIS score turns the SUDA score into a chance
    of a right link, with φ the ``sampling_fraction``, P the records in sample pairs, :math:`A = \sum s_j^{-Q}` and
    :math:`Q = 1 + (8-m)/20`. The value is the mean DIS score. A record with a missing value that the schema reads
    as a wildcard matches nothing there. ``max_size`` bounds the sets that are searched; larger ones add little to a
    score. Their number can grow exponentially with the columns: without ``max_size`` the search ends after a
    fixed amount of work with the sizes that it completed, with a warning and a note in the evidence (``largest``,
    ``complete``). A record whose sets are all larger then has the score 0.

    References: Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008); Skinner & Elliot (2002).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["F", "F", "F", "M"], "age": [30, 30, 31, 31]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex", "age"]))
    >>> Suda().records(table)["score"].to_list()
    [0.0, 0.0, 1.0, 1.0]
    """

    memory: ClassVar[Memory] = "none"
    max_size: int | None = Field(
        default=None, ge=1, description="largest number of columns in a set; all when not given"
    )
    sampling_fraction: float = Field(
        default=0.01, gt=0, le=1, description="share of the population that is in the table"
    )
    weighting: Literal["original", "rescaled"] = Field(default="original", description="points of a set by its size")
    examples: ClassVar = ({}, {"sampling_fraction": 0.3})

    def value(self, table: Table) -> float:
        """Return the mean DIS score of the records; 0 without records."""
        persons = table.classes.histogram.persons
        _, dis = self._scores(table)
        return float((dis * persons).sum() / persons.sum()) if len(persons) else 0.0

    def evidence(self, table: Table) -> SudaEvidence:
        """Mean and highest DIS, the records with a score, and how much each column contributes."""
        classes = table.classes
        scores, dis = self._scores(table)
        return {
            "value": self.value(table),
            "highest": float(dis.max(initial=0.0)),
            "expected": float(dis.sum()),
            "records": int((scores.score > 0).sum()),
            "score": float(scores.score.sum()),
            "largest": scores.size,
            "complete": scores.size == len(classes.histogram.names),
            "contribution": dict(zip(classes.histogram.names, scores.by_column.tolist(), strict=True)),
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Score, DIS, number and smallest size of the minimal sample uniques, and the share of each column."""
        import polars as pl

        classes = table.classes
        scores, dis = self._scores(table)
        columns: dict[str, NDArray[Any]] = {
            "score": classes.on_records(scores.score, suppressed=0),
            "dis": classes.on_records(dis, suppressed=0),
            "sets": classes.on_records(scores.sets, suppressed=0),
            "smallest": classes.on_records(scores.smallest, suppressed=0),
        }
        for j, name in enumerate(classes.histogram.names):
            columns[f"{name} contribution"] = classes.on_records(scores.contribution[:, j], suppressed=0)
        return pl.DataFrame(columns)

    def _scores(self, table: Table) -> tuple[Scores, NDArray[np.float64]]:
        from celosia.kernels.grouping.suda import unique_scores

        def make() -> tuple[Scores, NDArray[np.float64]]:
            classes = table.classes
            m = len(classes.histogram.names)
            points = set_points(m, self.weighting)
            summed = unique_scores(classes.codes, classes.histogram.persons, points, self.max_size, classes.owners())
            if self.max_size is None and summed.size < m:
                warnings.warn(
                    f"suda: only sets of up to {summed.size} of the {m} quasi-identifiers were searched, because all "
                    "of them are too many; scores are lower bounds. Use fewer quasi-identifiers, or give max_size.",
                    stacklevel=2,
                )
            scores = Scores.of(summed.score, summed.parts, summed.sets, summed.smallest, summed.size)
            in_pairs = int(classes.histogram.persons[classes.histogram.persons == 2].sum())
            return scores, dis(scores.score, m, in_pairs, self.sampling_fraction)

        return table.compute_once(("suda", self.max_size, self.sampling_fraction, self.weighting), make)


# SUDA scores, contributions and the DIS measure, from minimal sample uniques.


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def set_points(m: int, weighting: Literal["original", "rescaled"] = "original") -> list[float]:
    r"""Return the points of a minimal sample unique of s = 0 … m columns.

    .. math:: (m - s)!, \qquad (2^{m-s} - 1) \frac{s!\,(m-s)!}{m!}

    for the ``original`` and the ``rescaled`` weighting over m columns.

    References: Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008).

    >>> set_points(3), [round(p, 3) for p in set_points(3, "rescaled")]
    ([6.0, 2.0, 1.0, 1.0], [7.0, 1.0, 0.333, 0.0])
    """
    if weighting == "original":
        return [float(math.factorial(m - s)) for s in range(m + 1)]
    return [(2.0 ** (m - s) - 1) / math.comb(m, s) for s in range(m + 1)]


@dataclass(frozen=True)
class Scores:
    """Scores of the patterns: higher is more at risk, 0 without a minimal sample unique."""

    score: Floats
    contribution: Floats
    """Patterns × columns: share of the score from minimal sample uniques that contain the column."""
    sets: Ints
    """Number of minimal sample uniques."""
    smallest: Ints
    """Columns of the smallest minimal sample unique; 0 without one."""
    by_column: Floats
    """Share of the total score from minimal sample uniques that contain the column."""
    size: int
    """The size of the largest sets that were searched."""

    @classmethod
    def of(cls, score: Floats, parts: Floats, sets: Ints, smallest: Ints, size: int) -> Scores:
        """Compute shares from the sums of points, over all sets and over those that contain each column.

        >>> scores = Scores.of(np.array([3.0, 0]), np.array([[2.0, 1, 1], [0, 0, 0]]), np.array([2, 0]), np.zeros(2), 3)
        >>> scores.contribution.round(2).tolist(), scores.by_column.round(2).tolist()
        ([[0.67, 0.33, 0.33], [0.0, 0.0, 0.0]], [0.67, 0.33, 0.33])
        """
        total = float(score.sum())
        share = np.divide(parts, score[:, None], out=np.zeros_like(parts), where=score[:, None] > 0)
        by_column = parts.sum(axis=0) / total if total > 0 else np.zeros(parts.shape[1])
        return cls(score, share, sets, smallest, by_column, size)


def dis(score: Floats, m: int, in_pairs: int, fraction: float) -> Floats:
    r"""Return the score of the data intrusion simulation (DIS), distributed in proportion to the SUDA scores.

    .. math:: \mathrm{DIS}_i = \frac{1}{1 + \dfrac{P (1-\varphi)/\varphi}{s_i^Q A}}, \qquad
              A = \sum_{s_j > 0} s_j^{-Q}, \qquad Q = 1 + (8 - m)/20

    P is the number of records in sample pairs, φ the sampling fraction. Without any pair every unique has DIS 1.

    References: Skinner & Elliot (2002); Elliot (2000).

    >>> dis(np.array([2.0, 0.0]), 8, 10, 0.5).round(4).tolist()
    [0.0909, 0.0]
    """
    risks = np.zeros(len(score))
    risky = score > 0
    if not risky.any():
        return risks
    power = 1 + (8 - m) / 20
    raised = score[risky] ** power
    total = float((1 / raised).sum())
    risks[risky] = 1 / (1 + in_pairs * (1 - fraction) / fraction / (raised * total))
    return risks
