"""Train on released, test on real: against a computation with scikit-learn alone, and at its extremes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier

import celosia
from celosia.errors import NotApplicable
from celosia.loss import TrainReleasedTestReal

N = 600


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    """An original, and the same records with noise on the features and some labels exchanged."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, N))
    score = 2 * a - b + rng.normal(scale=0.6, size=N)
    label = np.where(score > 0.3, "high", "low")
    flipped = np.where(rng.random(N) < 0.25, np.where(label == "low", "high", "low"), label)
    real = pl.DataFrame({"a": a, "b": b, "score": score, "label": label})
    released = pl.DataFrame(
        {
            "a": a + rng.normal(scale=0.7, size=N),
            "b": b + rng.normal(scale=0.7, size=N),
            "score": score + rng.normal(scale=1.5, size=N),
            "label": flipped,
        }
    )
    return real, released


def held_out() -> np.ndarray:
    mask = np.zeros(N, bool)
    mask[np.random.default_rng(0).permutation(N)[: round(0.3 * N)]] = True
    return mask


def test_numbers_agree_with_r2_of_scikit_learn():
    real, released = (table.select("a", "b", "score") for table in tables())
    test = held_out()
    skills = []
    for table in (real, released):
        x, y = table.select("a", "b").to_numpy(), table["score"].to_numpy()
        model = LinearRegression().fit(x[~test], y[~test])
        at, truth = real.select("a", "b").to_numpy()[test], real["score"].to_numpy()[test]
        skills.append(r2_score(truth, model.predict(at)))
    lost = 1 - skills[1] / skills[0]
    assert 0.01 < lost < 1
    loss = TrainReleasedTestReal(targets=["score"], learner="linear")
    assert loss.value(celosia.read(real), celosia.read(released)) == pytest.approx(lost)


def test_categories_agree_with_accuracy_of_scikit_learn():
    real, released = (table.select("a", "b", "label") for table in tables())
    test = held_out()
    truth = real["label"].to_numpy()[test]
    base = max(np.mean(truth == "low"), np.mean(truth == "high"))
    skills = []
    for table in (real, released):
        x, y = table.select("a", "b").to_numpy()[~test], table["label"].to_numpy()[~test]
        gini = 1 - sum(np.mean(y == each) ** 2 for each in ("low", "high"))
        tree = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.02 * gini, random_state=0)
        accuracy = accuracy_score(truth, tree.fit(x, y).predict(real.select("a", "b").to_numpy()[test]))
        skills.append((accuracy - base) / (1 - base))
    lost = 1 - skills[1] / skills[0]
    assert 0.01 < lost < 1
    found = TrainReleasedTestReal(targets=["label"]).value(celosia.read(real), celosia.read(released))
    assert found == pytest.approx(lost)


def test_an_unchanged_table_loses_nothing_and_noise_everything():
    real, _ = tables()
    table = celosia.read(real)
    assert TrainReleasedTestReal().value(table, table) == 0
    rng = np.random.default_rng(4)
    shuffled = celosia.read(
        real.select(pl.Series(name, rng.permutation(real[name].to_numpy())) for name in real.columns)
    )
    assert TrainReleasedTestReal(targets=["label"]).value(table, shuffled) == 1


def test_more_noise_loses_more():
    table = celosia.read(tables()[0].select("a", "b", "label"), celosia.Schema.of(quasi=["a", "b"]))
    losses = [
        TrainReleasedTestReal(targets=["label"]).value(
            table, celosia.protect(table, f"noise(columns=[a, b], p={p})", seed=1)
        )
        for p in (0.1, 1.0, 20.0)
    ]
    assert losses == sorted(losses)
    assert losses[-1] > losses[0] + 0.1


def test_targets_that_cannot_be_predicted_are_left_out():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"x": rng.normal(size=300), "coin": rng.choice(["h", "t"], 300)})
    table = celosia.read(frame)
    loss = TrainReleasedTestReal(targets=["coin"])
    if loss.parts(table, table):
        pytest.fail("a coin is not predicted")
    with pytest.raises(NotApplicable, match="predicts none"):
        loss.value(table, table)
