"""Training data of an original and a protected table: target, predictors, and one held-out set."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from celosia.errors import NotApplicable, UnknownName
from celosia.table.pairing import positions, shared_columns
from celosia.views.comparing.features import features

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from celosia.table import Table

    Floats = NDArray[np.float64]

Learner: TypeAlias = Literal["tree", "linear", "forest", "neighbours"]
SPLIT, LEAF = 20, 7  # rpart's: records to split a node, records of a leaf
# Share of the impurity that a split must gain. rpart requires 0.01 of the wrong labels, which impurity only
# approximates; 0.02 of it gives rpart's tree on the iris data.
COST = 0.02


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training data of both tables, and one held-out set of the original."""

    names: tuple[str, ...]
    x: Floats
    y: NDArray[Any]
    x2: Floats
    y2: NDArray[Any]
    test: Floats
    truth: NDArray[Any]


def predictors(original: Table, protected: Table, target: str, given: Sequence[str]) -> list[str]:
    """Return the given predictors, or all shared columns but the target and ids."""
    for name in (target, *given):
        for table in (original, protected):
            if name not in table.names:
                raise UnknownName.of("column", name, table.names)
    excluded = {target, original.schema.weight, original.schema.household, original.schema.person}
    return list(given) or [name for name in shared_columns(original, protected) if name not in excluded]


def hold_out(
    original: Table, protected: Table, target: str, given: Sequence[str], test: float, seed: int
) -> TrainingData:
    """Hold out a share of the original records; their protected versions are not trained on either."""
    columns = features(original, protected, predictors(original, protected, target, given))
    y, y2 = labels(original, target), labels(protected, target)
    rng = np.random.default_rng(seed)
    test_mask = np.zeros(len(y), np.bool_)
    test_mask[rng.permutation(len(y))[: round(test * len(y))]] = True
    try:
        kept = ~test_mask[positions(original, protected)]
    except NotApplicable:  # new records: hold out the same share of them
        kept = np.zeros(len(y2), np.bool_)
        kept[rng.permutation(len(y2))[: round((1 - test) * len(y2))]] = True
    labelled, labelled2 = ~_is_missing(y), ~_is_missing(y2)
    train, train2, tested = ~test_mask & labelled, kept & labelled2, test_mask & labelled
    if min(train.sum(), train2.sum(), tested.sum()) < 2:
        raise NotApplicable("too few records with a known target to train and to test on.")
    return TrainingData(
        columns.names,
        columns.original[train],
        y[train],
        columns.protected[train2],
        y2[train2],
        columns.original[tested],
        y[tested],
    )


def labels(table: Table, target: str) -> NDArray[Any]:
    """Return the target: floats when it is a number, else text."""
    series = table.column(target)
    if series.dtype.is_numeric():
        return table.numeric([target])[:, 0]
    import polars as pl

    return series.cast(pl.String).fill_null("").to_numpy().astype(object)


def is_number(y: NDArray[Any]) -> bool:
    """Return whether a target needs regression: a number with more than ten values."""
    return y.dtype.kind == "f" and len(np.unique(y)) > 10


def predict(learner: Learner, x: Floats, y: NDArray[Any], at: Floats, seed: int, *, regress: bool) -> NDArray[Any]:
    """Fit a model and return its predictions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that has not converged is used as it is
        return np.asarray(_model(learner, y, seed, regress=regress).fit(x, y).predict(at))


def _model(learner: Learner, y: NDArray[Any], seed: int, *, regress: bool) -> Any:  # noqa: ANN401  (of scikit-learn)
    if learner == "tree":
        return rpart_tree(y, seed, regress=regress)
    if learner == "linear":
        from sklearn.linear_model import LinearRegression, LogisticRegression

        return LinearRegression() if regress else LogisticRegression(max_iter=500)
    if learner == "neighbours":
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        near = min(5, len(y))
        return KNeighborsRegressor(near) if regress else KNeighborsClassifier(near)
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestRegressor if regress else RandomForestClassifier
    return forest(n_estimators=50, min_samples_leaf=2, random_state=seed, n_jobs=1)


def rpart_tree(y: NDArray[Any], seed: int, *, regress: bool) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Return an unfitted tree that is grown and pruned about as rpart does."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if regress:
        impurity = float(np.var(y))
        return DecisionTreeRegressor(
            min_samples_split=SPLIT, min_samples_leaf=LEAF, ccp_alpha=COST * impurity, random_state=seed
        )
    _, counts = np.unique(y.astype(str), return_counts=True)
    impurity = 1 - float(((counts / len(y)) ** 2).sum())
    return DecisionTreeClassifier(
        min_samples_split=SPLIT, min_samples_leaf=LEAF, ccp_alpha=COST * impurity, random_state=seed
    )


def _is_missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(y) if y.dtype.kind == "f" else np.asarray(y == "", dtype=np.bool_)
