"""Special uniques (SUDA)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.suda_scores import Scores
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
        from celosia.risk.suda_scores import Scores, dis, set_points

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
