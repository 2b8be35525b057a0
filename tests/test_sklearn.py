"""The transformer of scikit-learn: in pipelines, for new rows, under scikit-learn's own checks."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

import celosia
from celosia.sklearn import Protector

WHOLE = {
    "check_methods_subset_invariance": "groups are made of the rows that are there, and one row is no group",
    "check_methods_sample_order_invariance": "rows that are equally near are grouped in the order in which they stand",
    "check_fit2d_1sample": "one row is no group: it says so in its own words",
    "check_estimators_pickle": "rows with missing values are a group of their own, here of one row",
}


def people(n: int = 400) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, n)
    frame = pd.DataFrame({"age": age, "town": rng.choice(["Vic", "Olot", "Reus"], n)}, index=np.arange(n) + 1000)
    return frame, (age + rng.normal(0, 10, n) > 50).astype(int)


SCHEMA = celosia.Schema.of(quasi=["age", "town"], hierarchies={"age": "intervals(width=10)"})
COARSER = "generalise(require=[k-anonymity(k=5)], suppress=0.1)"


@pytest.mark.parametrize("methods", [(), "round(base=0.5)", "microaggregate(k=2)"])
def test_it_passes_the_checks_of_scikit_learn(methods: Any) -> None:
    """Those that ask each row by itself apart, for a method that groups rows."""
    expected = WHOLE if "micro" in str(methods) else {}
    checks = check_estimator(Protector(methods, seed=1), expected_failed_checks=expected, on_skip=None)
    assert {check["status"] for check in checks} <= {"passed", "skipped", "xfail"}


def test_a_model_is_trained_on_protected_features() -> None:
    frame, y = people()
    pipeline = make_pipeline(
        Protector(COARSER, schema=SCHEMA, seed=1), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    )
    assert cross_val_score(pipeline, frame, y, cv=3).mean() > 0.6
    assert pipeline.fit(frame, y).predict(frame[:3]).shape == (3,)


def test_new_rows_get_the_levels_of_the_training_rows() -> None:
    frame, _ = people()
    fitted = Protector("generalise(require=[k-anonymity(k=5)])", schema=SCHEMA, seed=1)
    trained = fitted.fit_transform(frame)
    again = fitted.transform(frame)
    assert list(again.index) == list(frame.index)
    pd.testing.assert_frame_equal(again.astype(str), trained.astype(str))
    one = fitted.transform(frame.iloc[[0]])
    assert one["age"].item() == trained["age"].iloc[0]


def test_names_and_kinds_of_output() -> None:
    frame, _ = people()
    fitted = Protector("drop(columns=town)", schema=SCHEMA).fit(frame)
    assert list(fitted.get_feature_names_out()) == ["age"]
    assert isinstance(fitted.transform(frame), pd.DataFrame)
    assert isinstance(fitted.transform(pl.from_pandas(frame)), pl.DataFrame)
    assert isinstance(fitted.set_output(transform="polars").transform(frame), pl.DataFrame)
    from_polars = fitted.set_output(transform="pandas").transform(pl.from_pandas(frame))
    assert isinstance(from_polars, pd.DataFrame)
    assert list(from_polars.columns) == ["age"]
    arrays = Protector("round(base=10)").set_output(transform="pandas").fit_transform(np.array([[31.0, 2.0]]))
    assert list(arrays.columns) == ["x0", "x1"]


def test_it_protects_some_columns_of_a_column_transformer() -> None:
    frame, _ = people()
    mixed = ColumnTransformer([("safe", Protector("microaggregate(k=5)", seed=1), ["age"])], remainder="drop")
    values = mixed.fit_transform(frame)
    assert min(np.unique(values, return_counts=True)[1]) >= 5
    assert list(mixed.get_feature_names_out()) == ["safe__age"]


def test_it_is_cloned_and_pickled_without_the_training_rows() -> None:
    frame, _ = people()
    fitted = Protector("microaggregate(k=5)", schema=celosia.Schema.of(quasi=["age"]), seed=1).fit(frame)
    assert clone(fitted).get_params()["methods"] == "microaggregate(k=5)"
    kept = pickle.dumps(fitted)
    assert len(kept) < 4000
    pd.testing.assert_frame_equal(pickle.loads(kept).transform(frame), fitted.transform(frame))


def test_a_method_that_loses_rows_is_refused() -> None:
    frame, y = people()
    with pytest.raises(celosia.CelosiaError, match="the transformer must keep every row"):
        Protector("sample(share=0.5)").fit(frame, y)
