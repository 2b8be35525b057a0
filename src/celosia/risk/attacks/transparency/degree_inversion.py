"""Numbers recovered from the published degrees of a fuzzy recoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Column, Columns, DisclosesValue
from celosia.risk.bases.transparency import Success, _InformedAttack
from celosia.table.columns import encoded_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

APART = 10.0  # distance between two labels: degrees differ by 1 at most


class DegreeInversion(DisclosesValue, _InformedAttack):
    r"""The share of numbers that an intruder recovers from the published degrees of a fuzzy recoding.

    The sets stay private, but the degrees of membership are a function of the number. The intruder knows the number of
    a share ``external`` of the people. For any other person she takes the ``neighbours`` known people with the same
    label and the nearest degrees, and guesses the mean of their numbers:

    .. math:: \hat x = \frac1k \sum_{j \in N_k(\mu)} x_j, \qquad |\hat x - x| \le \delta\, s

    She reads: the recoded columns, and that degrees were published. The control is the intruder who has the labels only
    and guesses the mean of the known people with the same one; the baseline guesses the mean of all. Without published
    degrees she is no better than the control. People whose number she knows are not counted as found. With a person
    column persons are drawn and the value is the mean over persons.

    References: Quirós (2013), master's thesis, University of Oviedo, on what degrees disclose.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": np.random.default_rng(1).uniform(18, 90, 400)}))
    >>> labels = celosia.protect(table, "fuzzy-recode(columns=[age], cells=3)", seed=1)
    >>> degrees = celosia.protect(table, "fuzzy-recode(columns=[age], cells=3, degrees=2)", seed=1)
    >>> DegreeInversion().value(table, degrees) > 3 * DegreeInversion().value(table, labels)
    True
    """

    reads: ClassVar[tuple[str, ...]] = ("fuzzy-recode",)
    column: Column | None = Field(default=None, description="the recoded column; the first that was recoded")
    degrees: Columns | None = Field(
        default=None, description="columns of the release with its degrees; those named after it when not given"
    )
    external: float = Field(default=0.1, gt=0, lt=1, description="share of the people whose number the intruder knows")
    neighbours: int = Field(default=3, ge=1, description="known people whose numbers are averaged")
    tolerance: float = Field(default=0.05, gt=0, description="how near a number must be, in standard deviations")
    seed: int = Field(default=0, ge=0, description="seed of the choice of known people")
    examples: ClassVar = (
        {
            "method": {"use": "fuzzy-recode", "columns": ["x"]},
            "column": "x",
            "degrees": ["y"],
            "external": 0.4,
            "tolerance": 0.5,
        },
    )

    def known_records(self, original: Table) -> NDArray[np.bool_]:
        """Return the mask of the records of the people whose number the intruder knows."""
        from celosia.views.persons import person_codes, some_persons

        person = person_codes(original)
        wanted = max(round(self.external * len(np.unique(person))), 1)
        mask = np.zeros(len(original), dtype=np.bool_)
        mask[some_persons(person, wanted, np.random.default_rng(self.seed))] = True
        return mask

    def run(self, original: Table, protected: Table) -> Success:
        """Estimate numbers from the nearest known degrees."""
        from scipy.spatial import cKDTree

        from celosia.table.pairing import positions

        name = self.column or self.steps(protected)[-1].columns[0]
        truth = original.numeric([name])[:, 0]
        rows = positions(original, protected)
        shown = self._degrees(protected, name)
        label = np.unique(encoded_column(protected, name).codes, return_inverse=True)[1]
        given = (self.known_records(original) & np.isfinite(truth))[rows]
        if not given.any():
            raise NotApplicable("degree-inversion: no known number; there are too few records with one.")
        x = truth[rows]
        place = np.column_stack([APART * label, shown])
        k = min(self.neighbours, int(given.sum()))
        nearest = cKDTree(place[given]).query(place[~given], k=list(range(1, k + 1)))[1]
        reach = self.tolerance * float(np.nanstd(truth))
        risk, control = np.zeros(len(original)), np.zeros(len(original))
        asked = rows[~given]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.bincount(label[given], x[given], label.max() + 1) / np.bincount(
                label[given], minlength=label.max() + 1
            )
            risk[asked] = np.abs(x[given][nearest].mean(axis=1) - x[~given]) <= reach
            control[asked] = np.abs(means[label[~given]] - x[~given]) <= reach
            guess = float((np.abs(x[given].mean() - x[~given]) <= reach).mean()) if len(asked) else 0.0
        return Success(risk, guess, control, {}, {"degrees": shown.shape[1], "column": name, "known": int(given.sum())})

    def _degrees(self, protected: Table, name: str) -> Floats:
        if self.degrees is not None:
            return protected.numeric(list(self.degrees))
        named = [c for c in protected.names if ": " in c and name in c.rsplit(": ", 1)[0].split(" + ")]
        return np.nan_to_num(protected.numeric([c for c in named if protected.column(c).dtype.is_numeric()]))
