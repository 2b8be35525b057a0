"""What training on an original and on a protected table has in common: target, predictors, one held-out set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import NotApplicable, UnknownName
from celosia.table.pairing import positions, shared_columns
from celosia.views.comparing.features import features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

SPLIT, LEAF = 20, 7  # rpart's: records to split a node, records of a leaf
# Share of the impurity that a split must gain. rpart asks for 0.01 of the wrong labels, of which impurity is no exact
# measure; 0.02 of it gives rpart's tree on the iris data.
COST = 0.02


@dataclass(frozen=True, eq=False)
class Lesson:
    """Training data of both tables, and one held-out set of the original."""

    names: tuple[str, ...]
    x: Floats
    y: NDArray[Any]
    x2: Floats
    y2: NDArray[Any]
    test: Floats
    truth: NDArray[Any]


def predictors(original: Table, protected: Table, target: str, given: Sequence[str]) -> list[str]:
    """The given predictors, or all shared columns but the target and ids."""
    for name in (target, *given):
        for table in (original, protected):
            if name not in table.names:
                raise UnknownName.of("column", name, table.names)
    special = {target, original.schema.weight, original.schema.household, original.schema.person}
    return list(given) or [name for name in shared_columns(original, protected) if name not in special]


def lesson(original: Table, protected: Table, target: str, given: Sequence[str], test: float, seed: int) -> Lesson:
    """Hold out a share of the original records; their protected versions are not trained on either."""
    columns = features(original, protected, predictors(original, protected, target, given))
    y, y2 = labels(original, target), labels(protected, target)
    rng = np.random.default_rng(seed)
    held = np.zeros(len(y), np.bool_)
    held[rng.permutation(len(y))[: round(test * len(y))]] = True
    try:
        kept = ~held[positions(original, protected)]
    except NotApplicable:  # new records: as large a share of them
        kept = np.zeros(len(y2), np.bool_)
        kept[rng.permutation(len(y2))[: round((1 - test) * len(y2))]] = True
    labelled, labelled2 = ~_missing(y), ~_missing(y2)
    train, train2, asked = ~held & labelled, kept & labelled2, held & labelled
    if min(train.sum(), train2.sum(), asked.sum()) < 2:
        raise NotApplicable("too few records with a known target to train and to test on.")
    return Lesson(
        columns.names,
        columns.original[train],
        y[train],
        columns.protected[train2],
        y2[train2],
        columns.original[asked],
        y[asked],
    )


def labels(table: Table, target: str) -> NDArray[Any]:
    """The target: floats when it is a number, else text."""
    series = table.column(target)
    if series.dtype.is_numeric():
        return table.numeric([target])[:, 0]
    import polars as pl

    return series.cast(pl.String).fill_null("").to_numpy().astype(object)


def is_number(y: NDArray[Any]) -> bool:
    """Whether a target is to be regressed: a number with more than ten values."""
    return y.dtype.kind == "f" and len(np.unique(y)) > 10


def tree(y: NDArray[Any], seed: int, *, regress: bool) -> Any:
    """A tree that is grown and pruned about as rpart does."""
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


def _missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(y) if y.dtype.kind == "f" else np.asarray(y == "", dtype=np.bool_)
