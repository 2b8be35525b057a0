"""Categories, codes, relations and areas that a reader of the certificate sees through."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.risk.attacks.transparency.category_posterior import CategoryPosterior, posterior, prior
from celosia.risk.attacks.transparency.coding_bounds import CodingBounds
from celosia.risk.attacks.transparency.moved_areas import MovedAreas
from celosia.risk.attacks.transparency.shuffle_regression import ShuffleRegression

MATRIX = [[Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)], [Fraction(2, 10), Fraction(7, 10), Fraction(1, 10)],
          [Fraction(0), Fraction(5, 10), Fraction(5, 10)]]  # fmt: skip
SHARES = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


def test_the_posterior_is_that_of_all_files_counted_one_by_one():
    """Every file of two records and everything it can become, weighed exactly: how often record 1 was i when it shows j."""
    joint = {(i, j): Fraction(0) for i in range(3) for j in range(3)}
    for truth in product(range(3), repeat=2):
        for shown in product(range(3), repeat=2):
            weight = Fraction(1)
            for t, s in zip(truth, shown, strict=True):
                weight *= SHARES[t] * MATRIX[t][s]
            joint[truth[0], shown[0]] += weight
    found = posterior(np.array(SHARES, dtype=float), np.array(MATRIX, dtype=float))
    for j in range(3):
        total = sum(joint[i, j] for i in range(3))
        assert found[:, j].tolist() == pytest.approx([float(joint[i, j] / total) for i in range(3)], abs=1e-15)


def test_the_prior_is_the_likeliest_one_and_never_negative():
    matrix = np.array(MATRIX, dtype=float)
    truth = np.array(SHARES, dtype=float)
    assert prior(1e6 * truth @ matrix, matrix) == pytest.approx(truth, abs=1e-6)
    counts = np.array([2.0, 3.0, 95.0])  # more of the last than any shares give
    shares = prior(counts, matrix)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)

    def likelihood(p):
        return float(counts @ np.log(p @ matrix))

    for other in np.random.default_rng(1).dirichlet(np.ones(3), 500):
        assert likelihood(other) <= likelihood(shares) + 1e-6


def test_the_share_of_right_guesses_is_what_the_posterior_expects():
    """A share estimated from n answers that are true with q = 0.3 has a deviation of 1.6 / sqrt(n): here 0.0016."""
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"job": rng.choice(list("abcd"), 1_000_000, p=[0.7, 0.2, 0.07, 0.03])})
    table = celosia.read(data, celosia.Schema.of(kinds={"job": "nominal"}))
    for step in (
        "pram(columns=[job], diagonal=0.3)",
        "randomised-response(columns=[job], q=0.3, categories={job=[a, b, c, d]})",
    ):
        found = CategoryPosterior().evidence(table, celosia.protect(table, step, seed=1))
        assert found["right"]["job"] == pytest.approx(found["expects"]["job"], abs=0.01), step
        assert found["value"] >= found["control"], step
        assert found["value"] >= found["baseline"] - 0.01, step


def test_rounding_down_is_undone_by_half_a_step_and_values_below_a_limit_are_exact():
    x = np.random.default_rng(3).exponential(1000, 4000)
    table = celosia.read(pl.DataFrame({"x": x}))
    down = CodingBounds(within=0.05).evidence(table, celosia.protect(table, "round(columns=[x], base=200, way=down)"))
    assert down["width"]["x"] == pytest.approx(200 / x.std(), rel=1e-9)
    assert down["value"] > 1.2 * down["control"]
    for step in (
        "top-code(columns=[x], quantile=0.9)",
        f"top-code(columns=[x], value={np.quantile(x, 0.9)}, replacement=9e9)",
    ):
        top = CodingBounds().evidence(table, celosia.protect(table, step))
        assert top["exact"]["x"] == pytest.approx(0.9, abs=0.01)
        assert top["value"] > 0.9
        assert top["error"]["x"] < 0.3, "the tail of an exponential goes on alike"


def test_two_codings_are_undone_in_turn():
    x = np.arange(1000.0)
    table = celosia.read(pl.DataFrame({"x": x}))
    for limit in ("top-code(columns=[x], value=900)", "bottom-code(columns=[x], value=100)"):
        protected = celosia.protect(table, limit, "round(columns=[x], base=50, way=down)")
        found = CodingBounds().evidence(table, protected)
        assert found["exact"]["x"] == 0
        assert found["width"]["x"] == pytest.approx(50 / x.std()), "values beyond the limit have no width"
        assert found["value"] > 0.8


def test_shuffling_tells_the_relation_that_it_keeps_and_no_more():
    rng = np.random.default_rng(4)
    age = rng.normal(size=3000)
    data = pl.DataFrame({"age": age, "near": age + 0.05 * rng.normal(size=3000), "far": rng.normal(size=3000)})
    table = celosia.read(data)
    told = ShuffleRegression().evidence(
        table, celosia.protect(table, "shuffle(columns=[near, far], given=[age])", seed=1)
    )
    assert told["gain"]["near"] > 0.97
    assert abs(told["gain"]["far"]) < 0.02
    silent = ShuffleRegression().evidence(table, celosia.protect(table, "shuffle(columns=[near])", seed=1))
    assert silent["value"] == pytest.approx(silent["baseline"], abs=0.01)


def test_whoever_was_moved_is_looked_for_elsewhere_within_the_area_above():
    rng = np.random.default_rng(6)
    town = rng.integers(0, 12, 3000)
    data = pl.DataFrame({"region": town // 4, "town": town, "job": rng.integers(0, 120, 3000)})
    table = celosia.read(data, celosia.Schema.of(quasi=["region", "town", "job"]))
    protected = celosia.protect(table, "record-swap(geography=[region, town], risk=[job], k=3)", seed=1)
    found = MovedAreas().evidence(table, protected)
    assert found["due_to_the_certificate"]
    assert found["looked_elsewhere"] > 0.3
    assert found["value"] > found["control"] > found["baseline"]
