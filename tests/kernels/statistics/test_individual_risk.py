"""Individual risk: by hand, sdcMicro's results, numerical integration as a second way."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from celosia.errors import ParameterError
from celosia.kernels.disclosure.uniqueness.individual_risk import (
    household_risk,
    individual_risk,
    risk_threshold,
    risky_records,
)


def by_integral(f, F):
    """Franconi and Polettini's p^f ∫ t^(f-1) (1 - t(1-p))^-f dt over [0, 1], with s = pt / (1 - t(1-p))."""
    p = f / F
    points = [1 - 20 / f] if f > 40 else None  # for large f all of the mass lies near s = 1
    return quad(lambda s: s ** (f - 1) * p / (p + s * (1 - p)), 0, 1, epsabs=0, epsrel=1e-11, limit=400, points=points)[
        0
    ]


def test_francdat_of_sdcmicro(shared):
    golden = json.loads(shared("golden/sdcmicro/freq_francdat.json").read_text())
    f, F = np.array(golden["fk"], float), np.array(golden["Fk"], float)
    np.testing.assert_allclose(individual_risk(f, F), golden["rk_approx"], rtol=1e-12)
    np.testing.assert_allclose(individual_risk(f, F, exact=True), golden["rk_exact"], rtol=1e-12)
    np.testing.assert_allclose(individual_risk(f, f), golden["rk_nosurvey"], rtol=1e-15)


@pytest.mark.parametrize("name", ["freq_testdata_k7", "freq_testdata_randweights_k7"])
def test_testdata_of_sdcmicro(shared, name):
    golden = pl.read_csv(shared(f"golden/sdcmicro/{name}.csv.gz"))
    f, F = golden["fk"].cast(float).to_numpy(), golden["Fk"].cast(float).to_numpy()
    np.testing.assert_allclose(individual_risk(f, F), golden["rk_approx"], rtol=0, atol=1e-9)
    exact = golden["rk_exact"].cast(float, strict=False).to_numpy()
    known = np.isfinite(exact)  # sdcMicro has none for f of 176 and more
    assert known.sum() > 4000
    np.testing.assert_allclose(individual_risk(f, F, exact=True)[known], exact[known], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("alpha", "faulty"), [("1", 0), ("0.5", 45), ("0", 0)])
def test_missing_values_of_sdcmicro(shared, alpha, faulty):
    golden = pl.read_csv(shared("golden/sdcmicro/freq_testdata_missing_k7.csv.gz"))
    f, F = golden[f"fk_a{alpha}"].cast(float).to_numpy(), golden[f"Fk_a{alpha}"].cast(float).to_numpy()
    risk, theirs = individual_risk(f, F), golden[f"rk_a{alpha}"].to_numpy()
    zero = theirs == 0
    assert zero.sum() == faulty
    np.testing.assert_allclose(risk[~zero], theirs[~zero], rtol=0, atol=1e-9)
    # where sdcMicro says 0, the fractional frequency lies between a unique's risk and a pair's
    assert ((f[zero] > 1) & (f[zero] < 2)).all()
    pair = individual_risk(np.full(faulty, 2.0), F[zero] * 2 / f[zero])
    assert (risk[zero] > pair).all()


def test_measure_risk_of_sdcmicro(shared):
    golden = json.loads(shared("golden/sdcmicro/measure_risk.json").read_text())
    records = pl.read_csv(shared("golden/sdcmicro/measure_risk_testdata_k7_hid.csv.gz"))
    households = pl.read_csv(shared("data/testdata.csv"))["ori_hid"].rank("dense").cast(int).to_numpy() - 1
    risk = individual_risk(records["fk"].cast(float).to_numpy(), records["Fk"].cast(float).to_numpy())
    np.testing.assert_allclose(risk.sum(), golden["testdata_k7_w"]["global_risk_ER"], rtol=1e-12)
    shared_risk = household_risk(risk, households)
    np.testing.assert_allclose(shared_risk, records["hier_risk"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(shared_risk.sum(), golden["testdata_k7_w_hid"]["hier_risk_ER"], rtol=1e-12)
    expected = golden["testdata_k7_w_max0001"]["global_threshold"]
    assert risk_threshold(risk, 0.001) == pytest.approx(expected, rel=1e-12)
    assert risk_threshold(risk, 0.01) is None


@pytest.mark.parametrize("f", [1.0, 1.5, 2.0, 3.0, 10.0, 11.0, 175.0, 176.0, 5000.0])
@pytest.mark.parametrize("p", [1e-5, 0.01, 0.3, 0.999])
def test_exact_form_equals_the_integral(f, p):
    risk = individual_risk(np.array([f]), np.array([f / p]), exact=True)[0]
    assert risk == pytest.approx(by_integral(f, f / p), rel=1e-8)


def test_extremes():
    assert individual_risk(np.empty(0), np.empty(0)).shape == (0,)
    # a population frequency below the sample frequency: the sample is all there is
    assert individual_risk(np.array([4.0]), np.array([1.0])).tolist() == [0.25]
    assert individual_risk(np.array([1.0]), np.array([1.0]), exact=True).tolist() == [1.0]
    with pytest.raises(ParameterError, match="positive, finite"):
        individual_risk(np.array([0.0]), np.array([1.0]))
    with pytest.raises(ParameterError, match="one shape"):
        individual_risk(np.ones(2), np.ones(3))
    assert household_risk(np.array([1.0, 0.2]), np.array([0, 0])).tolist() == [1.0, 1.0]
    assert risk_threshold(np.empty(0), 0.1) is None
    assert risk_threshold(np.array([0.5, 0.5]), 0.1) == 0.0
    assert risky_records(np.empty(0)).tolist() == []


@settings(max_examples=60, deadline=None)
@given(st.floats(1, 500), st.floats(1, 1e7), st.booleans())
def test_risk_is_between_one_over_F_and_one_over_f(f, more, exact):
    risk = individual_risk(np.array([f]), np.array([f * more]), exact)[0]
    assert risk <= 1 / f + 1e-12
    # 1/x is convex: the mean of 1/F is at least 1 over the mean of F
    assert risk >= 1 / (f * more) - 1e-12


def test_risky_records_count_in_the_census_experiment():
    # classes of 165, 416 and 499 records (k-means, first pair of the thesis): the 165 stand out, printed 165
    sizes = np.repeat([165, 416, 499], [165, 416, 499])
    assert risky_records(1 / sizes).sum() == 165
    # three deviations or a floor of 0.1 are the later rules
    assert risky_records(1 / sizes, floor=0.1).sum() == 0


def test_frequencies_at_the_ends_of_the_scale():
    """ln F / (F - 1) for a unique whatever F is; a part of a record alone in the population is found for certain."""
    risk = individual_risk(np.array([1.0, 1.0, 0.5]), np.array([1e17, 1e300, 1.0]))
    assert risk == pytest.approx([np.log(1e17) / 1e17, np.log(1e300) / 1e300, 1.0])
