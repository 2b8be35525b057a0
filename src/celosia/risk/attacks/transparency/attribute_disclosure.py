"""Prediction of unknown values of people from a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Attack, Columns, DisclosesValue, ReadsCertificate
from celosia.risk.bases.attack_outcome import OutcomeEvidence
from celosia.risk.bases.transparency import public_steps
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.bases.attack_outcome import AttackOutcome
    from celosia.table import Table

    Floats = NDArray[np.float64]


class AttributeEvidence(OutcomeEvidence):
    """Outcome of the attack, with the known and the wanted columns."""

    known: list[str]
    target: list[str]


class AttributeDisclosure(ReadsCertificate, DisclosesValue, Attack):
    r"""The share of unknown values of people that an intruder predicts from a release and the values that she knows.

    She knows the ``known`` columns of a person and wants the ``target`` ones. Synthetic and perturbed records disclose
    values without belonging to a person: the ``nearest`` released record in the known columns has her values, or a
    ``regression`` that is learnt from the release predicts them. A number is right when it is near,

    .. math:: |\hat y - y| \le \delta\, s

    with s the standard deviation of the released column, a category when it is the same. A good model of the
    population is also right about people who were not used: with a ``control`` table of such people the value is
    what the release adds, :math:`(r - r_c)/(1 - r_c)`. The baseline guesses the mean or the most frequent value.

    She reads: which columns a synthesis keeps (``independent``) and which it makes (``dependent``); these are the known
    and the wanted columns unless others are given. Otherwise the sensitive columns, or the second half, are wanted.
    With a person column persons are tried, each with the mean of her records. No record needs to be paired.

    References: Duncan & Lambert (1989); Taub, Elliot, Pampaka & Smith (2018), *Differential correct attribution
    probability for synthetic data*; Giomi et al. (2023).

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> age = rng.normal(size=200)
    >>> table = celosia.read(pl.DataFrame({"age": age, "pay": 3 * age + rng.normal(0, 0.01, 200)}))
    >>> protected = celosia.protect(table, "ipso(dependent=[pay], independent=[age], variant=A)", seed=1)
    >>> AttributeDisclosure(learner="regression").value(table, protected) > 0.9
    True
    """

    reads: ClassVar[tuple[str, ...]] = ("ipso", "fcrm", "gaussian-copula", "sequential-trees", "dp-synthesis")
    known: Columns | None = Field(default=None, description="columns that the intruder knows of people")
    target: Columns | None = Field(default=None, description="columns that the intruder wants")
    learner: Literal["nearest", "regression"] = Field(default="nearest", description="way to predict")
    tolerance: float = Field(default=0.05, gt=0, description="how near a number must be, in standard deviations")
    control: Source = Field(default=None, description="table of people who were not used for the release")
    attacks: int = Field(default=500, ge=1, description="people that are tried; all when there are fewer")
    seed: int = Field(default=0, ge=0, description="seed of the choice of people")
    examples: ClassVar = (
        {"known": ["x"], "target": ["y", "t"], "tolerance": 0.4},
        {"known": ["x"], "target": ["y"], "learner": "regression", "tolerance": 0.5, "control": True},
    )

    def value(self, original: Table, protected: Table) -> float:
        """Return the share; with a control group what the release adds to it."""
        return self._attack(original, protected)[0].risk

    def evidence(self, original: Table, protected: Table) -> AttributeEvidence:
        """Return the share with its interval, the baseline, and the control."""
        inputs, target = self._columns(original, protected)
        return {**self._attack(original, protected)[0].evidence(), "known": inputs, "target": target}

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the share of wanted values of each record that are found; missing for people who were not tried."""
        import polars as pl

        _, rows, right = self._attack(original, protected)
        risk = np.full(len(original), np.nan)
        risk[rows] = right
        return pl.DataFrame({"risk": risk}).fill_nan(None)

    def _attack(self, original: Table, protected: Table) -> tuple[AttackOutcome, NDArray[np.int64], Floats]:
        from celosia.risk.bases.attack_outcome import AttackOutcome
        from celosia.views.persons import by_person, open_people, person_codes, some_persons

        def make() -> tuple[AttackOutcome, NDArray[np.int64], Floats]:
            rng = np.random.default_rng(self.seed)
            if not len(original) or not len(protected):
                raise NotApplicable("attribute-disclosure: one of the tables has no records.")
            tries = []
            for table in [original] if self.control is None else [original, open_people(self.control, original)]:
                person = person_codes(table)
                rows = some_persons(person, self.attacks, rng)
                right, guess = self._right(original, table, protected, rows)
                tries.append((rows, right, by_person(right, person[rows]), by_person(guess, person[rows])))
            rows, right, tried, guess = tries[0]
            other = None if len(tries) == 1 else float(tries[1][2].sum())
            trials = 0 if len(tries) == 1 else len(tries[1][2])
            return AttackOutcome(float(tried.sum()), len(tried), float(guess.mean()), other, trials), rows, right

        return protected.compute_once((str(self), Same(self.control), Same(original)), make)

    def _columns(self, original: Table, protected: Table) -> tuple[list[str], list[str]]:
        """Return the columns that the intruder knows, and those that she infers."""
        from celosia.views.comparing.encoding import known_columns

        shared = known_columns(original, protected, None, numbers=False)
        steps = [step.parameters for step in public_steps(protected, self.reads)]
        kept = [name for parameters in steps for name in parameters.get("independent") or ()]
        synthetic = [name for parameters in steps for name in parameters.get("dependent") or ()]
        sensitive = [name for name in shared if name in original.schema.sensitive]
        target = list(self.target or synthetic or sensitive or shared[(len(shared) + 1) // 2 :])
        given = list(self.known or [name for name in kept if name not in target] or original.schema.quasi or shared)
        given = [name for name in given if name in shared and name not in target]
        if not given or not target:
            raise NotApplicable("attribute-disclosure: name the columns that are known and those that are wanted.")
        return given, target

    def _right(self, original: Table, people: Table, release: Table, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return for some people the share of wanted values that are found, and that a guess finds."""
        from celosia.kernels.statistics.deviation import middles, spreads
        from celosia.views.comparing.encoding import encode

        given, target = self._columns(original, release)
        wanted = encode([people, release], target)
        theirs, shown = wanted.tables[0].take(rows), wanted.tables[1]
        if np.isnan(shown.numbers).all(axis=0).any():
            raise NotApplicable("attribute-disclosure: the release shows no value of a column that is wanted.")
        predicted = self._predict(people, release, rows, given, shown.numbers, shown.codes)
        with np.errstate(invalid="ignore"):
            reach = self.tolerance * spreads(shown.numbers)
            near = np.abs(predicted[0] - theirs.numbers) <= reach
            guess = np.abs(middles(shown.numbers) - theirs.numbers) <= reach
        most = np.array([np.bincount(c + 1).argmax() - 1 for c in shown.codes.T], dtype=np.int64)
        right = np.column_stack([near, predicted[1] == theirs.codes])
        return right.mean(axis=1), np.column_stack([guess, theirs.codes == most]).mean(axis=1)

    def _predict(
        self,
        people: Table,
        release: Table,
        rows: NDArray[np.int64],
        given: list[str],
        numbers: Floats,
        codes: NDArray[np.int32],
    ) -> tuple[Floats, NDArray[np.int32]]:
        from celosia.risk.bases.synthetic_attacks import gower_nearest, ranges
        from celosia.views.comparing.encoding import encode

        ours, theirs = encode([people, release], given).tables
        some = ours.take(rows)
        rng = np.random.default_rng(self.seed)
        widths = ranges(theirs.numbers)
        near = gower_nearest((some.numbers, some.codes), (theirs.numbers, theirs.codes), widths, 1, rng)[0][:, 0]
        if self.learner == "nearest":
            return numbers[near], codes[near]
        design, asked = (_design(t.numbers, t.codes, theirs.codes) for t in (theirs, some))
        full = np.isfinite(numbers).all(axis=1)
        fit = np.linalg.lstsq(design[full], numbers[full], rcond=None)[0]
        return asked @ fit, codes[near]


def _design(numbers: Floats, codes: NDArray[np.int32], shown: NDArray[np.int32]) -> Floats:
    """Return the design matrix: 1, the numbers (a missing one is 0) and indicators of the released categories."""
    marks = [codes[:, [j]] == np.unique(column)[None, 1:] for j, column in enumerate(shown.T)]
    return np.column_stack([np.ones(len(numbers)), np.nan_to_num(numbers), *marks]).astype(np.float64)
