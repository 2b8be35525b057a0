"""Losses for a use: models that learn from the protected table; the propensity score; the score."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable, UnknownName
from celosia.loss.bases.training_data import hold_out, rpart_tree
from celosia.loss.numbers.probabilistic_loss import ProbabilisticLoss
from celosia.loss.use.agreement import disagreement, interval_overlap, least_squares
from celosia.loss.use.model_disagreement import ModelDisagreement, _gaps
from celosia.loss.use.model_structure import ClusterDisagreement, CoefficientOverlap, TreeDifference
from celosia.loss.use.propensity import Propensity
from celosia.loss.use.score import Score
from celosia.table.derive import new_records, with_record_ids

SETOSA, VERSICOLOR, VIRGINICA = "setosa", "versicolor", "virginica"
M = [SETOSA, SETOSA, VERSICOLOR, VIRGINICA, VIRGINICA, SETOSA, VIRGINICA, VERSICOLOR]
M1 = [SETOSA, SETOSA, VERSICOLOR, VIRGINICA, VIRGINICA, SETOSA, VIRGINICA, VIRGINICA]
M2 = [SETOSA, SETOSA, VERSICOLOR, VIRGINICA, VIRGINICA, VERSICOLOR, VERSICOLOR, VIRGINICA]
AT = np.array([[0.5, 3.0], [0.2, 3.5], [2.7, 1.3], [1.8, 3.2], [2.9, 1.3], [0.5, 2.1], [2.1, 2.6], [1.7, 3.2]])


def test_the_disagreement_of_the_worked_example():
    assert disagreement(np.array(M), np.array(M1)) == 1 / 8
    assert disagreement(np.array(M), np.array(M2)) == 3 / 8


def iris():
    from sklearn.datasets import load_iris

    data = load_iris()
    frame = pl.DataFrame(data.data, schema=["sepal length", "sepal width", "petal length", "petal width"])
    return celosia.read(frame.with_columns(species=pl.Series(np.array(data.target_names)[data.target])))


def test_the_tree_of_the_worked_example():
    table = iris()
    x = table.numeric(["petal width", "sepal width"])
    y = table.column("species").to_numpy().astype(str)
    model = rpart_tree(y, 0, regress=False).fit(x, y)
    cuts = sorted(t for t, left in zip(model.tree_.threshold, model.tree_.children_left, strict=True) if left >= 0)
    assert cuts == pytest.approx([0.8, 1.75], abs=1e-6)
    # the third record lies outside the range of the data; columns M', M'' hang on unknown random draws
    found = model.predict(AT)
    assert [a == b for a, b in zip(found, M, strict=True)] == [True, True, False, True, True, True, True, True]


@pytest.mark.parametrize("learner", ["tree", "linear", "forest", "neighbours"])
def test_more_noise_disagrees_more(learner):
    table = iris()
    numbers = ["sepal length", "sepal width", "petal length", "petal width"]
    loss = ModelDisagreement(target="species", learner=learner)
    assert loss.value(table, table) == 0
    little, much = (
        np.mean(
            [
                loss.value(table, celosia.protect(table, celosia.methods.Noise(columns=numbers, p=p), seed=s))
                for s in range(3)
            ]
        )
        for p in (0.01, 25.0)
    )
    assert little < 0.1 < much


def test_gaps_and_numbers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    a = celosia.read(pl.DataFrame({"x": x, "y": 2 * x + 0.1 * rng.normal(size=300)}))
    useless = celosia.read(pl.DataFrame({"x": x, "y": rng.permutation(a.column("y").to_numpy())}))
    parts = ModelDisagreement(target="y", learner="linear").parts(a, useless)
    assert parts["r2"] > 0.9
    assert parts["disagreement"] > 0.5
    assert ModelDisagreement(target="y", measure="r2").value(a, a) == 0
    with pytest.raises(NotApplicable, match="accuracy is not for"):
        ModelDisagreement(target="y", measure="accuracy").value(a, a)
    table = iris()
    swapped = with_record_ids(table).replace({"species": table.column("species").sample(150, shuffle=True, seed=1)})
    for measure in ("accuracy", "precision", "recall", "f1"):
        assert ModelDisagreement(target="species", measure=measure).value(table, swapped) > 0.2
    with pytest.raises(NotApplicable, match="r2 is not for"):
        ModelDisagreement(target="species", measure="r2").value(table, table)
    with pytest.raises(UnknownName):
        ModelDisagreement(target="colour").value(table, table)
    one = celosia.read(pl.DataFrame({"x": x, "y": ["same"] * 300}))
    with pytest.raises(NotApplicable, match="one class only"):
        ModelDisagreement(target="y").value(one, one)


@pytest.mark.parametrize("level", [0.1, 0.125])
def test_held_out_records_that_are_all_alike_have_no_variance_to_explain(level):
    """Twelve times 0.1 has a mean beside 0.1: errors were a share of that rounding."""
    x = np.arange(40.0)
    y = np.where(np.isin(x, np.random.default_rng(0).permutation(40)[:12]), level, x)
    a = celosia.read(pl.DataFrame({"x": x, "y": y}))
    parts = ModelDisagreement(target="y", learner="linear").parts(a, a.replace({"y": pl.Series("y", y[::-1])}))
    assert 1 < abs(parts["r2"]) < 1e6, "the sum of squared errors, as there is nothing to divide it by"


def test_held_out_records_are_not_trained_on():
    """A learner that remembers every record is right on what it has seen: it must not be asked about that."""
    rng = np.random.default_rng(2)
    a = celosia.read(pl.DataFrame({"x": rng.normal(size=400), "y": rng.choice(["u", "v"], 400)}))
    fresh = new_records(a, a.polars())
    found = ModelDisagreement(target="y", learner="neighbours").parts(a, fresh)
    assert found["disagreement"] > 0.05, "other records were trained on"
    assert ModelDisagreement(target="y", learner="neighbours").value(a, a) == 0


@pytest.mark.parametrize("numbers", [True, False])
def test_the_forest_is_one_of_fifty_trees_with_leaves_of_two(numbers):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    rng = np.random.default_rng(4)
    x = rng.normal(size=(120, 2))
    y = x.sum(axis=1) + rng.normal(size=120) if numbers else np.where(x[:, 0] + rng.normal(size=120) > 0, "u", "v")
    a = celosia.read(pl.DataFrame({"x": x[:, 0], "z": x[:, 1], "y": y}))
    b = with_record_ids(a).replace({"y": a.column("y").sample(120, shuffle=True, seed=1)})
    data = hold_out(a, b, "y", (), 0.3, 7)
    kind = RandomForestRegressor if numbers else RandomForestClassifier
    trained = ((data.x, data.y), (data.x2, data.y2))
    told = [kind(50, min_samples_leaf=2, random_state=7).fit(u, v).predict(data.test) for u, v in trained]
    expected = np.abs(told[0] - told[1]).mean() / data.y.std() if numbers else (told[0] != told[1]).mean()
    found = ModelDisagreement(target="y", learner="forest", seed=7).parts(a, b)
    assert found["disagreement"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("learner", ["logistic", "tree"])
def test_the_ratio_is_the_score_over_what_a_second_sample_would_have(learner):
    rng = np.random.default_rng(5)
    a, b = (celosia.read(pl.DataFrame({"x": rng.normal(mean, 1, 200), "y": rng.normal(size=200)})) for mean in (0, 1))
    parts = Propensity(columns=["x", "y"], learner=learner).parts(a, b)
    assert parts["ratio"] == pytest.approx(parts["pMSE"] / parts["expected"])
    assert parts["ratio"] > 1.2
    if learner == "logistic":  # two coefficients: 2 (1 - c)² c / N with c = 1/2 and N = 400
        assert parts["expected"] == pytest.approx(2 / 8 / 400)
    same = celosia.read(pl.DataFrame({"x": [1.0] * 20, "y": [2.0] * 20}))
    assert Propensity(learner=learner).parts(same, same) == {"pMSE": 0.0, "expected": 0.0, "ratio": 0.0}


def test_trees_are_compared_from_the_root_down():
    x = np.arange(200.0)
    a = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 100, "a", np.where(x < 150, "b", "c"))}))
    near = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 101, "a", np.where(x < 150, "b", "c"))}))
    below = celosia.read(pl.DataFrame({"x": x, "y": np.where(x < 100, "a", np.where(x < 180, "b", "c"))}))
    assert TreeDifference(target="y").value(a, near) == pytest.approx(0, abs=0.01)
    # the root, which all records reach, is the same; the second split, of half of them, is not
    assert TreeDifference(target="y").value(a, below) == pytest.approx(1 / 3, abs=0.01)


def test_clusters():
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(c, 0.3, 60) for c in (0, 10, 20)])
    a = celosia.read(pl.DataFrame({"x": x, "z": rng.normal(size=180)}))
    noisy = celosia.protect(a, celosia.methods.Noise(columns=["x"], p=20.0), seed=1)
    loss = ClusterDisagreement(columns=["x"], clusters=3)
    assert loss.value(a, a) == 0
    assert loss.value(a, celosia.protect(a, celosia.methods.Noise(columns=["x"], p=0.001), seed=1)) < 0.05
    assert loss.value(a, noisy) > 0.2
    with pytest.raises(NotApplicable, match="200 clusters need as many records"):
        ClusterDisagreement(clusters=200).value(a, a)


def test_clusters_that_agree_less_than_by_chance_disagree_wholly():
    """{0} {10, 11} {30} and {0, 10} {11} {30}: no pair is together in both, an adjusted Rand index of -0.2."""
    a = celosia.read(pl.DataFrame({"x": [0.0, 10.0, 11.0, 30.0]}))
    b = celosia.read(pl.DataFrame({"x": [5.0, 5.1, 15.5, 40.0]}))
    assert ClusterDisagreement(columns=["x"], clusters=3).value(a, b) == 1


def test_regression_is_that_of_scipy():
    from scipy.stats import linregress, t

    rng = np.random.default_rng(4)
    x = rng.normal(size=50)
    y = 3 * x + rng.normal(size=50)
    b, low, high = least_squares(x[:, None], y)
    fit = linregress(x, y)
    assert b == pytest.approx([fit.slope, fit.intercept])
    assert high[0] - low[0] == pytest.approx(2 * fit.stderr * t.ppf(0.975, 48))
    assert interval_overlap(low, high, low, high).tolist() == [1, 1]


def test_coefficients():
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    a = celosia.read(pl.DataFrame({"x": x, "z": rng.normal(size=200), "y": 3 * x + rng.normal(size=200)}))
    other = celosia.read(a.polars().with_columns(y=-pl.col("y")))
    assert CoefficientOverlap(target="y").parts(a, other)["x"] == 1
    collinear = celosia.read(a.polars().with_columns(z=2 * pl.col("x")))
    with pytest.raises(NotApplicable, match="collinear"):
        CoefficientOverlap(target="y").value(collinear, a)
    assert CoefficientOverlap(target="y", predictors=["x"]).value(collinear, a) == 0


@pytest.mark.parametrize("learner", ["logistic", "tree"])
def test_propensity(learner):
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"x": rng.normal(size=600), "c": rng.choice(["u", "v"], 600)})
    a = celosia.read(frame)
    twin = celosia.read(pl.DataFrame({"x": rng.normal(size=600), "c": rng.choice(["u", "v"], 600)}))
    moved = celosia.read(frame.with_columns(x=pl.col("x") + 100))
    loss = Propensity(learner=learner)
    assert loss.value(a, a) == 0
    assert loss.value(a, moved) == pytest.approx(0.25, abs=0.005)
    assert 0 < loss.parts(a, twin)["ratio"] < 4
    assert loss.parts(a, moved)["ratio"] > 5


def test_the_roles_of_the_original_say_what_may_tell_tables_apart():
    """Numbers of records differ in every release; one that was read without roles shows them like any column."""
    numbers = list(range(40))
    a = celosia.read(pl.DataFrame({"id": numbers, "x": numbers}), celosia.Schema.of(identifiers=["id"]))
    b = celosia.read(pl.DataFrame({"id": [n + 1000 for n in numbers], "x": numbers}))
    assert Propensity().value(a, b) == pytest.approx(0, abs=1e-9)


def test_a_value_that_is_never_predicted_has_no_precision():
    # the truth is u, u, v; the second model says u always: of v it has precision 0, recall 0
    truth, right, always = np.array(["u", "u", "v"]), np.array(["u", "u", "v"]), np.array(["u", "u", "u"])
    gaps = _gaps(truth, right, always)
    assert gaps["precision"] == pytest.approx(1 - (2 / 3 + 0) / 2)
    assert gaps["recall"] == pytest.approx(1 - (1 + 0) / 2)


@pytest.mark.parametrize("learner", ["logistic", "tree"])
def test_where_nothing_varies_nothing_tells_two_tables_apart(learner):
    same = celosia.read(pl.DataFrame({"x": [1.0] * 20}))
    assert Propensity(learner=learner).value(same, same) == 0
    assert Propensity(learner=learner).parts(same, same) == {"pMSE": 0, "expected": 0, "ratio": 0}


def test_the_expected_propensity_of_synthetic_records():
    """Records drawn from the model that was fitted to the original have the ratio 1 on average, a second sample 2."""
    rng = np.random.default_rng(7)
    names = list("wxyz")
    ratios, second = [], []
    for _ in range(120):
        x = rng.normal(size=(500, 4))
        drawn = rng.multivariate_normal(x.mean(axis=0), np.cov(x.T), size=500)
        original = celosia.read(pl.DataFrame(x, schema=names))
        for found, y in ((ratios, drawn), (second, rng.normal(size=(500, 4)))):
            found.append(Propensity().parts(original, celosia.read(pl.DataFrame(y, schema=names)))["ratio"])
    for found, expected in ((ratios, 1.0), (second, 2.0)):
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - expected) < 3 * error
        assert abs(np.mean(found) - 0.7 * expected) > 3 * error
        assert abs(np.mean(found) - 1.3 * expected) > 3 * error


def test_the_score_is_the_weighted_mean_in_percent():
    rng = np.random.default_rng(8)
    a = celosia.read(pl.DataFrame(rng.normal(size=(100, 3)), schema=["a", "b", "c"]))
    b = celosia.protect(a, celosia.methods.Noise(columns=["a", "b", "c"], p=0.3), seed=1)
    loss, risk = ProbabilisticLoss().value(a, b), celosia.risk.DisclosureRisk().value(a, b)
    assert Score().value(a, b) == pytest.approx(50 * (loss + risk))
    assert Score(weight=1).value(a, b) == pytest.approx(100 * loss)
    custom = Score(loss="kolmogorov-smirnov", risk="distance-linkage", weight=0.25)
    expected = 25 * celosia.loss.KolmogorovSmirnov().value(a, b) + 75 * celosia.risk.DistanceLinkage().value(a, b)
    assert custom.value(a, b) == pytest.approx(expected)
    assert custom.spec()["loss"] == {"use": "kolmogorov-smirnov"}
    assert Score().parts(a, b)["interesting"] is (Score().value(a, b) <= 30)


def test_scores_of_published_tables(shared):
    """Every printed score is half the sum of the printed loss and risk."""
    rows = 0
    for name in ("5-example", "6-s1", "7-s2", "8-s3"):
        frame = pl.read_csv(shared(f"spec/tables/002-table{name}.csv"), infer_schema_length=None)
        for row in frame.iter_rows(named=True):
            for suffix in {k.lower().removesuffix("score") for k in row if k.lower().endswith("score")}:
                pick = {k.lower(): v for k, v in row.items()}
                triple = [pick.get(f"{suffix}{what}") for what in ("pil", "dr", "score")]
                if None in triple:
                    continue
                rows += 1
                assert 0.5 * (float(triple[0]) + float(triple[1])) == pytest.approx(float(triple[2]), abs=0.02)
    assert rows >= 40
