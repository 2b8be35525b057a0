"""Noise: the stated distribution is accepted, 0.7 and 1.3 times its scale are rejected; moments; what must not change."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods.coding.multivariate_top_code import MultivariateTopCode
from celosia.methods.noise.correlated_noise import CorrelatedNoise
from celosia.methods.noise.multiplicative_noise import MultiplicativeNoise
from celosia.methods.noise.noise import Noise
from celosia.methods.noise.orthogonal_mask import OrthogonalMask

N = 20_000


def cloud(n=N, seed=0):
    rng = np.random.default_rng(seed)
    sigma = [[4.0, 3.0, 0.0], [3.0, 9.0, -1.0], [0.0, -1.0, 1.0]]
    return pl.DataFrame(rng.multivariate_normal([10, 0, -5], sigma, n), schema=["a", "b", "c"], orient="row")


def fits(residual, scale):
    """Whether a sample may be N(0, scale²), by Kolmogorov and Smirnov."""
    return stats.kstest(residual / scale, "norm").pvalue > 1e-3


def test_noise_has_the_stated_scale_and_no_other():
    data = cloud()
    protected = celosia.protect(celosia.read(data), Noise(columns=["a", "b"], p=0.3), seed=1).polars()
    for name in ("a", "b"):
        residual = (protected[name] - data[name]).to_numpy()
        scale = math.sqrt(0.3) * data[name].to_numpy().std()
        assert fits(residual, scale)
        assert not fits(residual, 0.7 * scale)
        assert not fits(residual, 1.3 * scale)
    assert protected["c"].equals(data["c"])
    # variances grow by 1 + p, correlations shrink by 1 / (1 + p)
    before, after = np.corrcoef(data.to_numpy().T)[0, 1], np.corrcoef(protected.to_numpy().T)[0, 1]
    assert after == pytest.approx(before / 1.3, abs=0.02)


@pytest.mark.parametrize(("keep", "factor"), [(False, 1.4), (True, 1.0)])
def test_correlated_noise_has_the_stated_covariance(keep, factor):
    data = cloud()
    method = CorrelatedNoise(columns=["a", "b", "c"], p=0.4, keep_variance=keep)
    protected = celosia.protect(celosia.read(data), method, seed=3).polars().to_numpy()
    x = data.to_numpy()
    sigma = np.cov(x.T, bias=True)
    wanted = factor * sigma
    # standard error of a covariance entry: sqrt((s_ii s_jj + s_ij²) / n)
    error = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / N)
    found = np.cov(protected.T, bias=True)
    assert (np.abs(found - wanted) < 4 * error).all()
    assert not (np.abs(found - 1.3 * wanted) < 4 * error).all()
    assert not (np.abs(found - 0.7 * wanted) < 4 * error).all()
    assert np.allclose(protected.mean(axis=0), x.mean(axis=0), atol=0.05)
    if not keep:
        residual = (protected - x)[:, 0]
        scale = math.sqrt(0.4 * sigma[0, 0])
        assert fits(residual, scale)
        assert not fits(residual, 0.7 * scale)
        assert not fits(residual, 1.3 * scale)


@pytest.mark.parametrize("shape", ["log-normal", "truncated-normal"])
def test_multiplicative_noise_has_the_variance_of_additive_noise(shape):
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"x": rng.gamma(3.0, 100.0, 50_000)})
    protected = celosia.protect(celosia.read(data), MultiplicativeNoise(columns=["x"], p=0.2, shape=shape), seed=1)
    x, y = data["x"].to_numpy(), protected.polars()["x"].to_numpy()
    assert y.mean() == pytest.approx(x.mean(), rel=0.01)
    assert (y - x).var() == pytest.approx(0.2 * x.var(), rel=0.05)
    assert (y > 0).all()
    factor = y / x
    if shape == "log-normal":
        s = math.sqrt(math.log1p(0.2 * x.var() / (x * x).mean()))
        assert fits(np.log(factor) + s * s / 2, s)
        assert not fits(np.log(factor) + s * s / 2, 0.7 * s)
        assert not fits(np.log(factor) + s * s / 2, 1.3 * s)
    else:
        assert factor.min() > 0
        assert factor.max() < 2


def test_orthogonal_mask_keeps_moments_and_regressions():
    data = cloud(2000)
    protected = celosia.protect(celosia.read(data), OrthogonalMask(columns=["a", "b", "c"], p=0.5), seed=1).polars()
    x, y = data.to_numpy(), protected.to_numpy()
    assert np.allclose(x.mean(axis=0), y.mean(axis=0))
    assert np.allclose(np.cov(x.T), np.cov(y.T))
    share = ((y - x) ** 2).mean(axis=0) / x.var(axis=0)
    assert share == pytest.approx(0.5, abs=0.06)
    assert not (share < 0.35).any()


def test_whole_numbers_bounds_zeros_and_missing_values():
    rng = np.random.default_rng(0)
    income = np.where(rng.random(500) < 0.3, 0, rng.integers(1, 90, 500))
    data = pl.DataFrame(
        {"income": [None, *income[1:].tolist()], "count": pl.Series(np.arange(500) % 9, dtype=pl.UInt8)}
    )
    schema = celosia.Schema.of(bounds={"income": (0, 100)})
    method = Noise(columns=["income", "count"], p=2.0, keep_zeros=True)
    protected = celosia.protect(celosia.read(data, schema), method, seed=1).polars()
    assert protected["income"].dtype == pl.Int64
    assert protected["count"].dtype == pl.UInt8
    assert protected["income"][0] is None
    assert protected["income"].null_count() == 1
    assert protected["income"].min() >= 0
    assert protected["income"].max() <= 100
    assert (protected.filter(data["income"] == 0)["income"] == 0).all()
    # reflection, not clipping: no pile at the bounds
    assert (protected["income"] == 100).sum() < 25


def test_households_get_one_draw_and_mixtures_are_refused():
    data = pl.DataFrame({"home": [1, 1, 2, 2, 3], "rent": [500.0, 500, 700, 700, 900], "age": [30, 31, 40, 45, 50]})
    table = celosia.read(data, celosia.Schema.of(household="home"))
    rent = celosia.protect(table, Noise(columns=["rent", "age"], p=0.5), seed=2).polars()["rent"].to_list()
    assert rent[0] == rent[1] != 500
    assert rent[2] == rent[3]
    with pytest.raises(ParameterError, match="'rent' is the same within households, column 'age' is not"):
        celosia.protect(table, CorrelatedNoise(columns=["rent", "age"]))


def test_noise_on_outliers_only():
    rng = np.random.default_rng(0)
    data = pl.DataFrame(
        {"a": np.append(rng.normal(size=300), [50.0, 60]), "b": np.append(rng.normal(size=300), [-50, 60.0])}
    )
    table = celosia.read(data)
    done = celosia.protect(table, Noise(columns=["a", "b"], p=0.1, scope="outliers", share=0.001), seed=1)
    changed = (done.polars()["a"] != data["a"]).to_numpy()
    assert changed[-2:].all()
    assert changed[:300].mean() < 0.05
    assert done.history[-1]["outliers"] == changed.sum()


@pytest.mark.parametrize("method", [Noise, CorrelatedNoise, MultiplicativeNoise, OrthogonalMask])
def test_bad_input_is_answered_exactly(method):
    n = 12
    bad = {
        "constant": pl.Series([3.0] * n),
        "text": pl.Series(["x"] * n),
        "infinite": pl.Series([math.inf] + [1.0] * (n - 1)),
    }
    table = celosia.read(pl.DataFrame({**bad, "good": np.arange(float(n))}))
    with pytest.raises(DataError, match=f"{method.name}: column 'constant' is constant"):
        celosia.protect(table, method(columns=["constant", "good"]))
    with pytest.raises(DataError, match=f"{method.name}: column 'text' holds text or dates, but numbers are needed"):
        celosia.protect(table, method(columns=["text"]))
    with pytest.raises(DataError, match=f"{method.name}: column 'infinite' holds 1 infinite values"):
        celosia.protect(table, method(columns=["infinite"]))
    with pytest.raises(ParameterError, match=f"{method.name}: p"):
        method(columns=["good"], p=0)
    with pytest.raises(ParameterError, match=f"{method.name}: .*columns"):  # no quasi-identifier that would serve
        celosia.protect(table, method(columns=[]))
    with pytest.raises(ParameterError, match="named twice"):
        celosia.protect(table, method(columns=["good", "good"]))


def test_types_of_numbers_are_kept():
    data = pl.DataFrame(
        {
            "single": pl.Series(np.linspace(0, 9, 30), dtype=pl.Float32),
            "money": pl.Series(np.linspace(1, 99, 30).round(2)).cast(pl.Decimal(10, 2)),
            "big": pl.Series(np.arange(30) * 10**12),
            "flag": pl.Series([True, False] * 15),
        }
    )
    done = celosia.protect(celosia.read(data), Noise(columns=["single", "money", "big"], p=0.5), seed=1).polars()
    assert done.schema == data.schema
    assert not done["money"].equals(data["money"])
    with pytest.raises(DataError, match="'flag' holds true and false"):
        celosia.protect(celosia.read(data), Noise(columns=["flag"]))
    holes = pl.DataFrame({"a": [1.0, 2.0, None], "b": [None, 1.0, 2.0]})
    with pytest.raises(DataError, match="fewer than 2 records have all values"):
        celosia.protect(celosia.read(holes), CorrelatedNoise(columns=["a", "b"]))


def test_orthogonal_mask_refuses_missing_values():
    table = celosia.read(pl.DataFrame({"a": [None, *range(20)]}))
    with pytest.raises(DataError, match="orthogonal-mask: 1 records have missing values"):
        celosia.protect(table, OrthogonalMask(columns=["a"]))


@pytest.mark.parametrize(
    "method",
    [
        Noise(columns=["a", "b"]),
        CorrelatedNoise(columns=["a", "b"]),
        MultiplicativeNoise(columns=["a", "b"]),
        OrthogonalMask(columns=["a", "b"]),
    ],
)
def test_same_seed_same_data_on_every_engine(method):
    data = cloud(200)
    results = [celosia.protect(celosia.read(data, engine=e), method, seed=7).polars() for e in ("polars", "duckdb")]
    assert results[0].equals(results[1])
    assert not celosia.protect(celosia.read(data), method, seed=8).polars().equals(results[0])
    assert data.equals(cloud(200)), "the input is not changed"


def squared_distances(x, reference):
    """Squared Mahalanobis distances from the mean of reference points, by their covariance."""
    away = x - reference.mean(axis=0)
    return np.einsum("ij,jk,ik->i", away, np.linalg.inv(np.cov(reference.T)), away)


def test_multivariate_top_coding_of_the_reference(shared):
    names = ["SALES", "LABOR.COSTS", "GROSS.PROFIT"]
    data = pl.read_csv(shared("data/tarragona.csv")).select(pl.col(names).cast(pl.Float64))
    done = celosia.protect(celosia.read(data), MultivariateTopCode(columns=names, alpha=0.025, robust=False))
    assert done.history[-1]["changed"] == 37
    # the reference pulls records onto the ellipse that finds them, from which they can be computed; here the rim is
    # that of the records that stay
    x, new = data.to_numpy(), done.polars().to_numpy()
    limit = stats.chi2.ppf(0.975, 3)
    far = squared_distances(x, x) > limit
    assert np.array_equal(new[~far], x[~far])
    assert squared_distances(new[far], x[~far]) == pytest.approx(np.full(37, limit), rel=1e-9)
    robust = celosia.protect(celosia.read(data), MultivariateTopCode(columns=names), seed=1)
    assert robust.history[-1]["changed"] > 37, "outliers cannot hide themselves behind their own spread"
