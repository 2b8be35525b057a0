"""Rank swapping, PRAM, shuffling, record swapping, randomised response, random perturbation: what each keeps."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import celosia
from celosia.errors import DataError, ParameterError
from celosia.kernels.perturbation.transition import unbiased_counts
from celosia.methods.noise.random_perturbation import RandomPerturbation
from celosia.methods.swapping.pram import Pram
from celosia.methods.swapping.randomised_response import RandomisedResponse
from celosia.methods.swapping.rank_swap import RankSwap
from celosia.methods.swapping.record_swap import RecordSwap
from celosia.methods.swapping.shuffle import Shuffle
from celosia.parts import Formal, build


def ranks(column):
    return stats.rankdata(column.to_numpy(), method="ordinal")


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=60, unique=True), st.floats(0.01, 1), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_rank_swapping_keeps_values_and_the_window(values, window, seed):
    data = pl.DataFrame({"x": values})
    done = celosia.protect(celosia.read(data), RankSwap(columns=["x"], window=window), seed=seed).polars()
    assert sorted(done["x"]) == sorted(values)
    assert np.abs(ranks(done["x"]) - ranks(data["x"])).max() <= math.floor(window * len(values) + 1e-9)


def test_rank_swapping_of_dates_ordinal_and_missing_values():
    data = pl.DataFrame(
        {
            "day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 12), eager=True),
            "size": ["S", "M", "L", "S", "M", "L", "S", "M", "L", "S", "M", None],
        }
    )
    schema = celosia.Schema.of(kinds={"size": "ordinal"}, orders={"size": ["S", "M", "L"]})
    done = celosia.protect(celosia.read(data, schema), RankSwap(columns=["day", "size"], window=0.5), seed=1).polars()
    assert done["day"].sort().equals(data["day"].sort())
    assert done["size"][-1] is None
    assert done["size"].value_counts(sort=True).sort("size").equals(data["size"].value_counts(sort=True).sort("size"))
    with pytest.raises(DataError, match="column 'name' has no order"):
        celosia.protect(celosia.read(pl.DataFrame({"name": ["a", "b"]})), RankSwap(columns=["name"]))


def test_joint_swapping_keeps_relations_exactly_and_every_window():
    rng = np.random.default_rng(0)
    x = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 400)
    data = pl.DataFrame(x, schema=["a", "b"], orient="row")
    done = celosia.protect(celosia.read(data), RankSwap(columns=["a", "b"], window=0.1, joint=True), seed=1)
    rows = done.polars()
    assert sorted(rows.rows()) == sorted(data.rows()), "pairs of values stay together"
    for name in ("a", "b"):
        assert np.abs(ranks(rows[name]) - ranks(data[name])).max() <= 40
    assert done.history[-1]["moved"]["a"] > 300


def test_a_correlation_target_is_kept():
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"x": np.exp(rng.normal(size=2000))})
    wide = celosia.protect(celosia.read(data), RankSwap(columns=["x"], window=0.5), seed=1)
    kept = celosia.protect(celosia.read(data), RankSwap(columns=["x"], window=0.5, correlation=0.95), seed=1)
    before = data["x"].to_numpy()
    assert np.corrcoef(before, wide.polars()["x"])[0, 1] < 0.8
    assert 0.95 <= np.corrcoef(before, kept.polars()["x"])[0, 1] < 0.985
    assert 0 < kept.history[-1]["window"]["x"] < 0.5


def test_normal_steps_go_beyond_the_window():
    data = pl.DataFrame({"x": np.arange(2000)})
    done = celosia.protect(celosia.read(data), RankSwap(columns=["x"], window=0.02, step="normal"), seed=1).polars()
    moved = np.abs(done["x"].to_numpy() - np.arange(2000))
    assert moved.max() > 40
    assert moved.mean() < 40
    with pytest.raises(ParameterError, match="joint exchanges keep the window"):
        RankSwap(columns=["x"], joint=True, step="normal")


def test_swaps_that_create_impossible_records_are_undone():
    rng = np.random.default_rng(2)
    age = rng.integers(5, 60, 300)
    data = pl.DataFrame({"age": age, "status": np.where((age >= 18) & (rng.random(300) < 0.6), "married", "single")})
    rule = "age < 18 AND status = 'married'"
    free = celosia.protect(celosia.read(data), RankSwap(columns=["age"], window=0.3), seed=1).polars()
    assert not free.filter(pl.sql_expr(rule)).is_empty(), "without the rule it happens"
    done = celosia.protect(celosia.read(data), RankSwap(columns=["age"], window=0.3, impossible=[rule]), seed=1)
    assert done.polars().filter(pl.sql_expr(rule)).is_empty()
    assert sorted(done.polars()["age"]) == sorted(age)
    assert done.history[-1]["undone"] > 0
    changed = celosia.protect(celosia.read(data), Pram(columns=["status"], diagonal=0.5, impossible=[rule]), seed=1)
    assert changed.polars().filter(pl.sql_expr(rule)).is_empty()
    assert changed.history[-1]["kept"] > 0
    areas = data.with_columns(area=pl.when(pl.col("status") == "married").then(pl.lit("N")).otherwise(pl.lit("S")))
    never = "area = 'S' AND status = 'married'"
    swap = RecordSwap(geography=["area"], risk=["age"], k=5, impossible=[never])
    assert celosia.protect(celosia.read(areas), swap, seed=1).polars().filter(pl.sql_expr(never)).is_empty()


def test_pram_keeps_expected_counts_and_its_bound():
    rng = np.random.default_rng(3)
    data = pl.DataFrame({"job": rng.choice(["a", "b", "c", "d"], 40_000, p=[0.6, 0.25, 0.1, 0.05])})
    done = celosia.protect(celosia.read(data), Pram(columns=["job"], diagonal=0.7), seed=1)
    entry = done.history[-1]["matrices"]["job"][0]
    matrix = np.array(entry["matrix"])
    assert entry["categories"] == ["a", "b", "c", "d"]
    assert np.diag(matrix).min() == pytest.approx(0.7)
    before = np.unique(data["job"].to_numpy(), return_counts=True)[1].astype(float)
    after = np.unique(done.polars()["job"].to_numpy(), return_counts=True)[1].astype(float)
    assert np.abs(after - before).max() < 5 * np.sqrt(40_000 * 0.3 * 0.3)
    both = data.with_columns(new=done.polars()["job"])
    stayed = both.filter(pl.col("job") == "d").select((pl.col("new") == "d").mean()).item()
    assert stayed == pytest.approx(0.7, abs=0.05)
    estimate, error = unbiased_counts(after, matrix)
    assert (np.abs(estimate - before) < 4.5 * error).all()


def test_pram_within_strata_uses_only_what_occurs_there():
    data = pl.DataFrame(
        {"region": ["N"] * 300 + ["S"] * 300, "water": (["well", "river"] * 150) + (["tap", "sea", None] * 100)}
    )
    done = celosia.protect(celosia.read(data), Pram(columns=["water"], diagonal=0.5, within=["region"]), seed=1)
    rows = done.polars()
    assert set(rows.filter(pl.col("region") == "N")["water"]) == {"well", "river"}
    assert set(rows.filter(pl.col("region") == "S")["water"]) == {"tap", "sea", None}
    assert rows["water"].is_null().equals(data["water"].is_null())
    assert "matrices" not in done.history[-1], "they name the strata"
    assert [entry["stratum"] for entry in done.private_history[-1]["matrices"]["water"]] == [
        {"region": "N"},
        {"region": "S"},
    ]


def test_pram_with_a_given_matrix_and_households():
    data = pl.DataFrame({"home": np.repeat(np.arange(500), 2), "roof": np.repeat(["tin"] * 400 + ["tile"] * 100, 2)})
    table = celosia.read(data, celosia.Schema.of(household="home"))
    given = pl.DataFrame({"from": ["tile", "tin"], "tile": [0.6, 0.2], "tin": [0.4, 0.8]})
    done = celosia.protect(table, Pram(columns=["roof"], matrix=given, diagonal=0.5), seed=1)
    assert done.polars().group_by("home").agg(pl.col("roof").n_unique())["roof"].max() == 1
    matrix = np.array(done.history[-1]["matrices"]["roof"][0]["matrix"])
    assert np.allclose([100, 400] @ matrix, [100, 400])
    assert np.diag(matrix).min() >= 0.5
    plain = celosia.protect(table, Pram(columns=["roof"], matrix=given, diagonal=0.1, invariant=False), seed=1)
    assert np.allclose(plain.history[-1]["matrices"]["roof"][0]["matrix"], [[0.6, 0.4], [0.2, 0.8]])
    with pytest.raises(DataError, match="lacks 1 of the 2 categories"):
        celosia.protect(table, Pram(columns=["roof"], matrix=pl.DataFrame({"from": ["tin"], "tin": [1.0]})))
    bad = pl.DataFrame({"from": ["tile", "tin"], "tile": [0.6, 0.2], "tin": [0.6, 0.8]})
    with pytest.raises(ParameterError, match=r"row 1 sums to 1\.2"):
        celosia.protect(table, Pram(columns=["roof"], matrix=bad))
    with pytest.raises(DataError, match="'n' has 2001 categories; at most 2000"):
        celosia.protect(celosia.read(pl.DataFrame({"n": np.arange(2001)})), Pram(columns=["n"]))
    with pytest.raises(ParameterError, match="a matrix is for one column, got 2"):
        Pram(columns=["roof", "home"], matrix=given)


def test_shuffling_keeps_margins_and_relations():
    rng = np.random.default_rng(4)
    x = rng.multivariate_normal([0, 0, 0], [[1, 0.7, 0.5], [0.7, 1, 0.3], [0.5, 0.3, 1]], 3000)
    data = pl.DataFrame({"age": np.rint(x[:, 0] * 10 + 40), "income": np.exp(x[:, 1]), "city": x[:, 2] > 0})
    method = Shuffle(columns=["income"], given=["age", "city"])
    done = celosia.protect(celosia.read(data), method, seed=1).polars()
    assert sorted(done["income"]) == sorted(data["income"])
    assert done["age"].equals(data["age"])
    before = stats.spearmanr(data["age"], data["income"]).statistic
    assert stats.spearmanr(data["age"], done["income"]).statistic == pytest.approx(before, abs=0.04)
    alone = celosia.protect(celosia.read(data), Shuffle(columns=["income"]), seed=1).polars()
    assert abs(stats.spearmanr(data["age"], alone["income"]).statistic) < 0.06
    with pytest.raises(ParameterError, match="both shuffled and given"):
        Shuffle(columns=["a"], given=["a"])
    with pytest.raises(DataError, match="1 records have missing values in the given column 'g'"):
        celosia.protect(celosia.read(pl.DataFrame({"x": [1, 2], "g": [None, 1]})), Shuffle(columns=["x"], given=["g"]))


def households(n=400, seed=5):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 4, n)
    home = np.repeat(np.arange(n), size)
    region = rng.integers(0, 3, n)
    town = region * 10 + rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            "home": home,
            "region": np.array(["A", "B", "C"])[region][home],
            "town": [f"t{t:02d}" for t in town[home]],
            "size": size[home],
            "job": rng.choice(list("vwxyz"), len(home), p=[0.5, 0.3, 0.15, 0.04, 0.01]),
        }
    )


def test_record_swapping_moves_households_at_risk_together():
    data = households()
    table = celosia.read(data, celosia.Schema.of(quasi=["region", "town", "job"], household="home"))
    method = RecordSwap(geography=["region", "town"], risk=["job"], similar=["size"], k=3)
    done = celosia.protect(table, method, seed=1)
    rows, evidence = done.polars(), done.private_history[-1]
    assert rows.group_by("home").agg(pl.col("town", "region").n_unique()).select(pl.max("town", "region")).row(0) == (
        1,
        1,
    )
    assert rows.drop("region", "town").equals(data.drop("region", "town")), "only areas move"
    # areas keep their number of households by size: swapped ones agree on it
    count = ["region", "town", "size"]
    assert rows.group_by(count).len().sort(count).equals(data.group_by(count).len().sort(count))
    # every household at risk has moved, or was counted as without partner
    keys = data.group_by("town", "job").len("f")
    at_risk = data.join(keys, on=["town", "job"], maintain_order="left").filter(pl.col("f") < 3)["home"].unique()
    stayed = rows.with_columns(old=data["town"]).filter(
        pl.col("home").is_in(at_risk.implode()) & (pl.col("town") == pl.col("old"))
    )
    assert stayed["home"].n_unique() <= sum(evidence["without_partner"].values())
    assert evidence["at_risk"]["town"] == len(at_risk)
    # a town changes within its region unless the household is at risk in the region itself
    crossing = rows.with_columns(old=data["region"]).filter(pl.col("region") != pl.col("old"))["home"].n_unique()
    assert crossing <= 2 * evidence["at_risk"]["region"]


def test_record_swapping_reaches_its_rate():
    data = households(600)
    table = celosia.read(data, celosia.Schema.of(household="home"))
    done = celosia.protect(table, RecordSwap(geography=["region"], risk=["job"], k=1, rate=0.2), seed=1)
    moved = done.polars().with_columns(old=data["region"]).unique("home")
    share = moved.group_by("old").agg((pl.col("region") != pl.col("old")).mean().alias("share"))["share"]
    assert share.min() >= 0.2
    assert share.max() <= 0.26
    assert "rate" not in str(done.history[-1]), "who knows the rate can weigh every record"
    bad = pl.DataFrame({"home": [1, 1, 1], "region": ["A", "B", "B"], "job": ["x", "x", "x"]})
    split = celosia.read(bad, celosia.Schema.of(household="home"))
    with pytest.raises(DataError, match="2 records lie in another area"):
        celosia.protect(split, RecordSwap(geography=["region"], risk=["job"]))
    with pytest.raises(ParameterError, match="is an area"):
        RecordSwap(geography=["region"], similar=["region"])


def test_randomised_response_and_its_estimate():
    rng = np.random.default_rng(6)
    data = pl.DataFrame({"answer": rng.choice(["no", "yes", "perhaps"], 30_000, p=[0.6, 0.3, 0.1])})
    method = RandomisedResponse(columns=["answer"], q=0.4, categories={"answer": ["no", "perhaps", "yes"]})
    done = celosia.protect(celosia.read(data), method)
    assert done.history[-1]["epsilon"] == pytest.approx(math.log(1 + 0.4 * 3 / 0.6))
    stayed = (done.polars()["answer"] == data["answer"]).mean()
    expected = 0.4 + 0.6 / 3
    error = math.sqrt(expected * (1 - expected) / 30_000)
    assert abs(stayed - expected) < 5 * error
    assert abs(stayed - 0.7 * expected) > 5 * error
    assert abs(stayed - 1.3 * expected) > 5 * error
    estimate = method.estimate(done, "answer")
    assert estimate["category"].to_list() == ["no", "perhaps", "yes"]
    assert np.allclose(estimate["share"], [0.6, 0.1, 0.3], atol=0.04)
    assert (estimate["high"] - estimate["low"]).max() < 0.05
    assert isinstance(method, Formal)


def test_randomised_response_by_epsilon_refuses_unknown_categories():
    data = pl.DataFrame({"x": ["a"] * 500 + ["b"] * 500 + [None] * 500 + ["z"] * 500})
    method = RandomisedResponse(columns=["x"], epsilon=20.0, categories={"x": ["a", "b"]})
    done = celosia.protect(celosia.read(data), method)
    facts = done.history[-1]["columns"]["x"]
    assert facts["epsilon"] == pytest.approx(20.0)
    answers = done.polars()["x"]
    assert (answers[:500] == "a").all()
    assert (answers[500:1000] == "b").all()
    assert 400 < (answers[1000:] == "a").sum() < 600  # whoever has none of the categories answers at random
    with_missing = method.model_copy(update={"categories": {"x": ("a", "b", None)}})
    assert celosia.protect(celosia.read(data), with_missing).polars()["x"][1000:1500].null_count() == 500
    for categories in ({}, {"x": ["a"]}):
        with pytest.raises(ParameterError, match="the categories of 'x' are not declared, and which occur is itself"):
            RandomisedResponse(columns=["x"], q=0.5, categories=categories)
    with pytest.raises(ParameterError, match="give q or epsilon"):
        RandomisedResponse(columns=["x"])


@pytest.mark.parametrize("doubled", [["a", " a", "b"], ["1", "2", 1], ["2020-01-31", "2020-01-31 00:00:00", "x"]])
def test_a_category_is_named_once(doubled):
    """Two spellings of one value matched each record twice, and the result no longer depended on the record."""
    with pytest.raises(ParameterError, match="'s' are the same value"):
        RandomisedResponse(columns=["s"], q=0.5, categories={"s": doubled})


def test_random_perturbation_of_the_lecture():
    data = pl.DataFrame(
        {
            "age": [30, 30, 30, 32, 32, 32, 36, 38, 38, 38],
            "sex": ["Male"] * 6 + ["Female"] * 4,
            "disease": ["HIV", "HIV", "Hepatitis", "HIV", "Hepatitis", "Hepatitis", "Heart", "COVID", "COVID", "Heart"],
        }
    )
    method = RandomPerturbation(jitter=["age"], spread=3, shuffle=["disease"], within=["sex"])
    done = celosia.protect(celosia.read(data), method, seed=1)
    rows = done.polars()
    assert (rows["age"] - data["age"]).abs().max() <= 3
    by = ["sex", "disease"]
    assert rows.group_by(by).len().sort(by).equals(data.group_by(by).len().sort(by))
    assert done.history[-1]["guarantee"] == "none"
    steps = np.concatenate(
        [
            celosia.protect(celosia.read(data), method, seed=s).polars()["age"].to_numpy() - data["age"].to_numpy()
            for s in range(60)
        ]
    )
    assert set(steps.tolist()) == {-3, -2, -1, 0, 1, 2, 3}
    assert abs(steps.mean()) < 0.35
    with pytest.raises(ParameterError, match="name columns under jitter or shuffle"):
        RandomPerturbation()


@pytest.mark.parametrize(
    "method",
    [
        RankSwap(columns=["n"], window=0.2, impossible=["n < 0"]),
        Pram(columns=["c"], within=["g"]),
        Shuffle(columns=["n"], given=["c"]),
        RecordSwap(geography=["g"], risk=["c"], rate=0.3),
        RandomPerturbation(jitter=["n"], shuffle=["c"]),
    ],
)
def test_same_seed_same_data_on_every_engine_and_specs_read_back(method):
    rng = np.random.default_rng(7)
    data = pl.DataFrame(
        {"n": rng.integers(0, 90, 120), "c": rng.choice(list("abc"), 120), "g": rng.choice(list("xy"), 120)}
    )
    results = [celosia.protect(celosia.read(data, engine=e), method, seed=7).polars() for e in ("polars", "duckdb")]
    assert results[0].equals(results[1])
    assert not celosia.protect(celosia.read(data), method, seed=8).polars().equals(results[0])
    assert build("method", method.spec()) == method
    assert build("method", str(method)) == method
