"""Inference attack by a learner."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, ClassVar, Literal, NotRequired, Protocol, cast

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.histogram import number
from celosia.parts import Attack, AttackEvidence, Column, Columns
from celosia.table.columns import encoded_column
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

Learner = Literal["decision-tree", "random-forest", "logistic-regression", "gradient-boosting", "nearest-neighbours"]


class Classifier(Protocol):
    """Classifier of scikit-learn."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> object:
        """Learn the labels from the features."""

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the predicted labels."""


class Accuracy(AttackEvidence):
    """Accuracy against the majority baseline; all numbers but ``records`` are None where nothing was predicted."""

    lift: float
    advantage: float
    advantage_interval: list[float]
    records: int


class InferenceEvidence(Accuracy):
    """Accuracy of the intruder, and that of the subgroup."""

    learner: str
    external: float
    subgroup: NotRequired[Accuracy]


class InferenceAttack(Attack):
    r"""The share of records whose original value an intruder predicts from the protected record.

    The intruder knows the true ``target`` of a share ``external`` of the people, learns from their protected
    records how the target follows from what was published, and predicts it for everybody else:

    .. math:: P_{reid} = \frac{\text{correct predictions}}{\text{rows to predict}}

    Several columns under ``target`` are predicted together (province, canton, district). ``repeats`` disjoint external
    samples are drawn as far as they last; each record is predicted by those that do not know it, and one that all
    of them know has no risk here. High accuracy by itself means nothing: the baseline predicts the most frequent
    value, and ``lift`` is how much better the learner is, with an interval for the difference. With a person column
    persons are drawn, with all their records, and shares are over persons. ``subgroup`` names a column that marks
    people of special interest; their share is reported too. ``predictors`` are all protected columns but
    identifiers, when not given.

    References: Esquivel-Quirós, Barrantes & Esponda Darlington (2018); Narayanan & Felten (2014).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [20, 30] * 50, "city": ["a", "b"] * 50})
    >>> original = celosia.read(data)
    >>> protected = celosia.read(data.with_columns(age=pl.lit("*")))
    >>> InferenceAttack(target="age").value(original, protected)
    1.0
    """

    target: Columns = Field(min_length=1, description="column (or columns together) of the original to predict")
    learner: Learner = Field(default="decision-tree", description="learner of the intruder")
    external: float = Field(default=0.1, gt=0, lt=1, description="share of the people whose target the intruder knows")
    predictors: Columns | None = Field(default=None, description="protected columns to predict from")
    subgroup: Column | None = Field(
        default=None, description="column of the original that marks a subgroup (true, 1, yes)"
    )
    repeats: int = Field(default=5, ge=1, description="external samples that are tried")
    seed: int = Field(default=0, ge=0, description="seed of the external samples and of the learner")
    examples: ClassVar = ({"target": "t", "predictors": ["p"], "external": 0.3},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of correct predictions."""
        return float(self.evidence(original, protected)["value"])

    def evidence(self, original: Table, protected: Table) -> InferenceEvidence:
        """Return accuracy with interval, majority baseline, lift, the difference with interval, and the subgroup."""
        from celosia.views.persons import by_person, paired_persons

        right, guess = self._right(original, protected)
        person = paired_persons(original, protected)[1]
        accuracy = _judge(by_person(right, person), by_person(guess, person))
        facts = {**accuracy, "learner": self.learner, "external": self.external}
        out = cast("InferenceEvidence", facts)
        if self.subgroup is not None:
            members = self._subgroup(original, protected)
            out["subgroup"] = _judge(*(by_person(hits[members], person[members]) for hits in (right, guess)))
        return out

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the share of tries in which each protected record was predicted, by the learner and by the majority.

        Missing for a record that is in every external sample, and so was never predicted.
        """
        import polars as pl

        right, guess = self._right(original, protected)
        return pl.DataFrame({"risk": right, "baseline": guess}).fill_nan(None)

    def _right(self, original: Table, protected: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return protected.compute_once((str(self), Same(original)), lambda: self._run(original, protected))

    def _run(self, original: Table, protected: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return for each protected record the share of right predictions over the samples without it."""
        import warnings

        from celosia.table.pairing import positions
        from celosia.views.persons import paired_persons

        rows = positions(original, protected)
        label = self._labels(original)[rows]
        features = self._features(original, protected)
        everybody, person = np.unique(paired_persons(original, protected)[1], return_inverse=True)
        once = 1.0 / np.bincount(person)[person]  # the records of a person have the weight of one
        n = len(everybody)
        n_known = max(2, round(self.external * n))
        if n < 4 or n_known >= n:
            counted = "records" if original.schema.person is None else "persons"
            raise NotApplicable(f"inference-attack: {n} {counted} are too few to know {self.external:g} of them.")
        rng = np.random.default_rng(self.seed)
        tried, right, guess = np.zeros(len(label)), np.zeros(len(label)), np.zeros(len(label))
        order = rng.permutation(n)
        samples = n // n_known  # disjoint samples in one shuffle
        for turn in range(self.repeats):
            if turn and turn % samples == 0:
                order = rng.permutation(n)
            block = order[(turn % samples) * n_known :][:n_known]
            unknown = ~np.isin(person, block)
            values, place = np.unique(label[~unknown], return_inverse=True)
            most = values[np.bincount(place, weights=once[~unknown]).argmax()]
            tried[unknown] += 1
            guess[unknown] += label[unknown] == most
            if len(values) == 1:
                right[unknown] += label[unknown] == most
                continue
            model = _learner(self.learner, int(rng.integers(2**31)), n_known)
            with warnings.catch_warnings(), _few_threads(len(label)):
                warnings.simplefilter("ignore")  # a learner that does not quite converge is still an attack
                model.fit(features[~unknown], label[~unknown])
                right[unknown] += model.predict(features[unknown]) == label[unknown]
        with np.errstate(invalid="ignore"):
            return right / tried, guess / tried

    def _labels(self, original: Table) -> NDArray[np.int64]:
        """Return the combinations of the target columns as one code."""
        return number([encoded_column(original, name).codes for name in self.target])

    def _features(self, original: Table, protected: Table) -> NDArray[np.float64]:
        from celosia.views.comparing.encoding import encode

        if self.predictors is not None:
            names = list(self.predictors)
        else:
            hidden = {*original.schema.identifiers, *protected.schema.identifiers, protected.schema.person}
            names = [name for name in protected.names if name not in hidden]
        if not names:
            raise NotApplicable("inference-attack: the protected table has no column to predict from.")
        coded = encode([protected], names)
        numbers, codes = coded.tables[0].numbers, coded.tables[0].codes
        middle = np.array([np.nanmedian(c) if np.isfinite(c).any() else 0.0 for c in numbers.T])
        numbers = np.where(np.isnan(numbers), middle, numbers) if numbers.shape[1] else numbers
        if self.learner in ("logistic-regression", "nearest-neighbours"):
            from celosia.kernels.statistics.deviation import deviations, subtract_mean

            spread = deviations(numbers)
            numbers = subtract_mean(numbers) / np.where(spread > 0, spread, 1.0)
            return np.column_stack([numbers, *(_one_hot(codes[:, j]) for j in range(codes.shape[1]))])
        return np.column_stack([numbers, codes.astype(np.float64)])

    def _subgroup(self, original: Table, protected: Table) -> NDArray[np.bool_]:
        """Return the mask of the protected records of the subgroup."""
        import polars as pl

        from celosia.table.pairing import positions

        column = original.column(str(self.subgroup)).cast(pl.String).str.to_lowercase()
        marked = column.is_in(["true", "1", "1.0", "yes"]).fill_null(value=False).to_numpy()
        if not marked.any():
            raise NotApplicable(f"inference-attack: no record is marked in {self.subgroup!r} (true, 1 or yes).")
        return np.asarray(marked[positions(original, protected)], dtype=np.bool_)


def _judge(right: NDArray[np.float64], guess: NDArray[np.float64]) -> Accuracy:
    """Return accuracy, baseline and difference over the records that were predicted, with intervals."""
    from celosia.kernels.statistics.intervals import Z, wilson

    seen = np.isfinite(right)
    n = int(seen.sum())
    if n == 0:
        names = ("value", "interval", "baseline", "lift", "advantage", "advantage_interval")
        return cast("Accuracy", dict.fromkeys(names) | {"records": 0})
    value, baseline = float(right[seen].mean()), float(guess[seen].mean())
    gain = right[seen] - guess[seen]
    half = Z * float(gain.std(ddof=1)) / math.sqrt(n) if n > 1 else 1.0
    return {
        "value": value,
        "interval": list(wilson(value * n, n)),
        "baseline": baseline,
        "lift": value / baseline if baseline > 0 else float("inf"),
        "advantage": value - baseline,
        "advantage_interval": [value - baseline - half, value - baseline + half],
        "records": n,
    }


def _one_hot(codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return indicators of the 200 most frequent categories; a missing value has none."""
    values, counts = np.unique(codes[codes >= 0], return_counts=True)
    kept = values[np.argsort(-counts, kind="stable")[:200]]
    return np.asarray(codes[:, None] == kept, dtype=np.float64)


def _few_threads(n: int) -> AbstractContextManager[object]:
    """Limit small tables to one thread: many threads then spend their time waiting for each other."""
    if n > 100_000:
        return nullcontext()
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def _learner(name: str, seed: int, n_known: int) -> Classifier:
    from celosia.errors import MissingExtra

    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingExtra.of("the inference attack", "learn") from None
    model: Classifier
    if name == "decision-tree":
        model = DecisionTreeClassifier(random_state=seed)
    elif name == "random-forest":  # ten trees, as in the source
        model = RandomForestClassifier(n_estimators=10, random_state=seed)
    elif name == "logistic-regression":
        model = LogisticRegression(max_iter=200)
    elif name == "gradient-boosting":
        model = HistGradientBoostingClassifier(
            max_iter=30, min_samples_leaf=min(20, max(1, n_known // 10)), random_state=seed
        )
    else:
        model = KNeighborsClassifier(n_neighbors=min(5, n_known))
    return model
