"""Numeric losses: worked examples, reference results, and a second way."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable, UnknownName
from celosia.loss.numbers.classical_loss import ClassicalLoss
from celosia.loss.numbers.correlation_structure import DependenceLoss, EigenvalueLoss
from celosia.loss.numbers.mean_error import AbsoluteError, RelativeError, SquaredError
from celosia.loss.numbers.probabilistic_loss import ProbabilisticLoss
from celosia.loss.numbers.scaled_error import ScaledError
from celosia.loss.numbers.sum_of_squares import SumOfSquares
from celosia.table.derive import new_records

ERRORS = {"MSE": SquaredError, "MAE": AbsoluteError, "MRE": RelativeError}
PLACES = {"Id": "data", "Cov": "covariance", "Corr": "correlation"}


def table(columns):
    return celosia.read(pl.DataFrame(columns))


def three(rows):
    return table(pl.DataFrame(rows, schema=["V1", "V2", "V3"], orient="row"))


# -- the worked example with two noisy copies of ten records ---------------------------------------------------------------

X = table({"V1": list(range(10, 0, -1)), "V2": [90, 80, 70, 60, 50, 40, 30, 20, 10, 9]})
X1 = table(
    {
        "V1": [10.70, 10.45, 8.50, 7.58, 5.49, 5.62, 4.99, 3.47, 1.06, 1.92],
        "V2": [83.42, 81.07, 77.46, 58.56, 54.46, 36.86, 32.88, 18.15, 16.55, 5.23],
    }
)
X2 = table(
    {
        "V1": [16.79, 14.66, 13.37, 13.68, 10.67, 11.55, 9.82, 8.24, 7.44, 6.49],
        "V2": [146.61, 126.57, 114.44, 118.22, 88.79, 95.05, 78.29, 61.17, 55.94, 57.07],
    }
)
# measure: (printed for X1, computed, printed for X2, computed); the matrices of the covariance are not printed
TEN = {
    "Id_MSE": (10.38, 10.37522, 1202.92, 1202.92906),
    "Id_MAE": (2.34, 2.344, 27.04, 27.043),
    "Id_MRE": (0.20, 0.20133906746, 1.75, 1.75025339286),
    "Corr_MSE": (0.00062, 0.000623294697, 1.802e-6, 1.81377860799e-6),
    "Corr_MAE": (0.01767, 0.0176535364365, 0.0009493, 0.000952307357943),
    "Corr_MRE": (0.01773, 0.017716158159, 0.0009526, 0.000955685441839),
    "Cov_MSE": (None, 36.60192812337969, None, 5650.3365067346695),
    "Cov_MAE": (None, 5.087677, None, 45.874671),
    "Cov_MRE": (None, 0.08099701718935759, None, 0.21227715296470526),
}


@pytest.mark.parametrize("name", TEN)
def test_ten_records(name):
    place, error = name.split("_")
    loss = ERRORS[error](on=PLACES[place])
    for protected, printed, computed in ((X1, *TEN[name][:2]), (X2, *TEN[name][2:])):
        # the reference column has 12 digits
        assert loss.value(X, protected) == pytest.approx(computed, rel=1e-9)
        if printed is not None:
            assert loss.value(X, protected) == pytest.approx(printed, rel=1e-2)
        assert loss.value(X, X) == 0


# -- the example of five records with a zero ------------------------------------------------------------------------------

FIVE = three([[1, 33.4, 1000], [0, 28.9, 1010], [3, 10.3, 922], [2, 80.0, 20200], [3, 59.0, 15320]])
FIVE1 = three([[0, 30.2, 1000], [0, 31.2, 1000], [2, 12.0, 1000], [3, 82.1, 20000], [2, 55.2, 15000]])
FIVE2 = three([[0, 40.0, 900], [0, 20.0, 1000], [2, 20.0, 900], [2, 70.0, 20000], [2, 50.0, 20000]])
NINE = {
    "Id_MSE": (9908.351333333334, 1463558.9906666665),
    "Id_MAE": (41.67333333333333, 337.28),
    "Id_MRE": (0.19450382539115388, 0.2743332900411864),
    "Cov_MSE": (508977686307.00305, 33140096545194.383),
    "Cov_MAE": (239610.40524444616, 1928362.4450666648),
    "Cov_MRE": (0.9175245883515635, 0.46517658350055985),
    "Corr_MSE": (0.07242906736047751, 0.03230682576610728),
    "Corr_MAE": (0.17843250640838654, 0.1350624563922688),
    "Corr_MRE": (0.8761177962141248, 0.5871835554369071),
}


@pytest.mark.parametrize("name", NINE)
def test_five_records(name):
    place, error = name.split("_")
    loss = ERRORS[error](on=PLACES[place])
    for protected, computed in zip((FIVE1, FIVE2), NINE[name], strict=True):
        assert loss.value(FIVE, protected) == pytest.approx(computed, rel=1e-12)


def test_a_zero_original_is_left_out_counted_or_refused():
    a, b = table({"x": [0.0, 0.0, 2.0]}), table({"x": [0.0, 1.0, 3.0]})
    assert RelativeError(zeros="skip").value(a, b) == 0.5
    assert RelativeError(zeros="equal").value(a, b) == 0.25  # (0 + 1/2) / 2
    assert RelativeError().parts(a, b) == {"left out": 2, "x": 0.5}
    with pytest.raises(NotApplicable, match="2 original numbers are 0"):
        RelativeError(zeros="error").value(a, b)
    nothing = table({"x": [0.0, 0.0, 0.0]})
    with pytest.raises(NotApplicable, match="every original number is 0"):
        RelativeError().value(nothing, b)


# -- reference results ----------------------------------------------------------------------------------------------------


def reference(shared):
    one = json.loads(shared("golden/sdcmicro/microaggregation_summary.json").read_text())
    two = json.loads(shared("golden/sdcmicro/perturb_summary.json").read_text())
    for prefix, found in (("microagg", one), ("prot", two)):
        for name, entry in found.items():
            path = shared("golden/sdcmicro/README.md").parent / f"{prefix}_{name}.csv.gz"
            if path.exists():
                yield name, pl.read_csv(path, infer_schema_length=None), entry


def numbers(frame):
    return celosia.read(frame.cast(pl.Float64))


def test_losses_of_another_tool_on_tarragona(shared):
    original = numbers(pl.read_csv(shared("data/tarragona.csv"), infer_schema_length=None))
    cells = len(original) * 13
    seen = 0
    for name, frame, entry in reference(shared):
        if not name.startswith("Tarragona"):
            continue
        seen += 1
        protected = numbers(frame)
        # its relative error is a sum in percent that leaves out the cells where the original is 0
        skipped = RelativeError().parts(original, protected)["left out"]
        total = RelativeError().value(original, protected) * 100 * (cells - skipped)
        assert total == pytest.approx(entry["IL1"], rel=1e-9), name
        assert ScaledError().value(original, protected) * cells == pytest.approx(entry["IL1s"], rel=1e-9), name
        assert ScaledError().value(original, protected) == pytest.approx(entry["IL1old"], rel=1e-9), name
        assert EigenvalueLoss().value(original, protected) == pytest.approx(entry["eigen"], rel=1e-9), name
        assert 100 * SumOfSquares().value(original, protected) == pytest.approx(entry["sse"]["IL"], rel=1e-9), name
        if isinstance(entry["IL_correl"], float):
            assert DependenceLoss().value(original, protected) == pytest.approx(entry["IL_correl"], rel=1e-7), name
    assert seen >= 15


def test_collinear_census(shared):
    original = numbers(pl.read_csv(shared("data/census.csv")))
    seen = 0
    for name, frame, entry in reference(shared):
        if not name.startswith("CASC"):
            continue
        seen += 1
        protected = numbers(frame)
        assert ScaledError().value(original, protected) == pytest.approx(entry["IL1old"], rel=1e-9), name
        found = EigenvalueLoss().parts(original, protected)
        assert found["exact relations"] == 1, "PTOTVAL = POTHVAL + PEARNVAL"
        assert 0 < found["relative"] + found["broken relations"] < 100, name
        assert 0 <= DependenceLoss().value(original, protected) <= 1, name
    assert seen >= 5


# -- the probabilistic loss -----------------------------------------------------------------------------------------------

S1 = ["AFNLWGT", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "INTVAL", "FICA", "WSALVAL", "ERNVAL"]
S2 = ["FEDTAX", "TAXINC", "WSALVAL", "ERNVAL"]
R2 = {
    "S1": [0.00158, 0.33303, 0.90607, 0.60954, 0.96279, 0.23065, 0.91397, 0.95903, 0.91712],
    "S2": [0.92539, 0.96672, 0.96705, 0.92269],
}
# percent: quantiles with the normal and with the kernel density, mean, variance, covariance, correlation
TERMS = {
    "S1": (73.660, 74.705, 0, 93.953, 41.601, 99.472),
    "S2": (58.343, 59.795, 0, 81.936, 28.293, 96.577),
}
PIL = {"S1": (61.737, 61.946, 52.31), "S2": (53.030, 53.320, 44.44)}


def fitted(frame, dependent):
    """Each dependent column replaced by its least-squares fit on the others (IPSO-A)."""
    x = frame.select(pl.exclude(dependent)).to_numpy().astype(float)
    y = frame.select(dependent).to_numpy().astype(float)
    design = np.column_stack([np.ones(len(x)), (x - x.mean(axis=0)) / x.std(axis=0)])
    fit = design @ np.linalg.lstsq(design, y, rcond=1e-10)[0]
    return frame.with_columns(**{name: fit[:, j] for j, name in enumerate(dependent)}), fit.var(axis=0) / y.var(axis=0)


@pytest.mark.parametrize(("which", "dependent"), [("S1", S1), ("S2", S2)])
def test_regression_fits_of_the_census(shared, which, dependent):
    frame = pl.read_csv(shared("data/census.csv"))
    replaced, share = fitted(frame, dependent)
    assert share == pytest.approx(R2[which], abs=5e-6)
    original, protected = celosia.read(frame), celosia.read(replaced)
    normal, kernel, mean, variance, covariance, correlation = TERMS[which]
    for density, quantiles, total in (("normal", normal, PIL[which][0]), ("kernel", kernel, PIL[which][1])):
        loss = ProbabilisticLoss(columns=dependent, density=density)
        parts = {name: 100 * value for name, value in loss.parts(original, protected).items()}
        # the reference is printed with three decimals
        assert parts == pytest.approx(
            {
                "quantiles": quantiles,
                "mean": mean,
                "variance": variance,
                "covariance": covariance,
                "correlation": correlation,
            },
            abs=5.1e-4,
        )
        assert 100 * loss.value(original, protected) == pytest.approx(total, abs=5.1e-4)
    alone = ProbabilisticLoss(columns=dependent, density="normal", scope="per-column")
    assert 100 * alone.value(original, protected) == pytest.approx(PIL[which][2], abs=5.1e-3)


def test_probabilistic_loss_is_the_definition_on_random_data():
    """A second way: each term by its textbook formula, pair by pair."""
    from math import erf, sqrt

    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) + 5
    y = x + rng.normal(size=x.shape) * 0.3
    n = len(x)

    def mu(a, b, i, j):
        return float((((x - x.mean(0))[:, i] ** a) * ((x - x.mean(0))[:, j] ** b)).mean())

    def pil(theta, other, variance):
        return erf(abs(theta - other) / sqrt(2 * variance))

    covariances, correlations = [], []
    for i in range(3):
        for j in range(i + 1, 3):
            other = float(((y - y.mean(0))[:, i] * (y - y.mean(0))[:, j]).mean())
            m11, m22 = mu(1, 1, i, j), mu(2, 2, i, j)
            covariances.append(pil(m11, other, (m22 - m11**2) / n))
            r, s = np.corrcoef(x[:, i], x[:, j])[0, 1], np.corrcoef(y[:, i], y[:, j])[0, 1]
            m20, m02 = mu(2, 0, i, j), mu(0, 2, i, j)
            bracket = (
                m22 / m11**2
                + (mu(4, 0, i, j) / m20**2 + mu(0, 4, i, j) / m02**2 + 2 * m22 / (m20 * m02)) / 4
                - (mu(3, 1, i, j) / (m11 * m20) + mu(1, 3, i, j) / (m11 * m02))
            )
            correlations.append(pil(r, s, r * r / n * bracket))
    names = ["a", "b", "c"]
    parts = ProbabilisticLoss().parts(
        celosia.read(pl.DataFrame(x, schema=names)), celosia.read(pl.DataFrame(y, schema=names))
    )
    assert parts["covariance"] == pytest.approx(np.mean(covariances), rel=1e-10)
    assert parts["correlation"] == pytest.approx(np.mean(correlations), rel=1e-10)
    means = [pil(x[:, j].mean(), y[:, j].mean(), x[:, j].var() / n) for j in range(3)]
    assert parts["mean"] == pytest.approx(np.mean(means), rel=1e-10)
    variances = [pil(x[:, j].var(), y[:, j].var(), (mu(4, 0, j, j) - mu(2, 0, j, j) ** 2) / n) for j in range(3)]
    assert parts["variance"] == pytest.approx(np.mean(variances), rel=1e-10)


def test_probabilistic_loss_at_the_edges():
    loss = ProbabilisticLoss()
    constant = table({"x": [1.0, 1.0, 1.0], "y": [1.0, 2.0, 4.0]})
    assert loss.value(constant, constant) == 0
    moved = table({"x": [2.0, 2.0, 2.0], "y": [1.0, 2.0, 4.0]})
    parts = loss.parts(constant, moved)
    assert parts["mean"] == 0.5  # the constant certainly moved, the other column did not
    assert "correlation" not in parts
    perfect = table({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
    assert loss.value(perfect, perfect) == 0
    broken = table({"x": [1.0, 2.0, 3.0], "y": [4.0, 2.0, 6.0]})
    assert loss.parts(perfect, broken)["correlation"] == 1  # a sample of an exact relation keeps it
    uncorrelated = table({"x": [0.0, 1.0, 0.0, -1.0], "y": [1.0, 0.0, -1.0, 0.0]})
    assert loss.value(uncorrelated, uncorrelated) == 0
    flat = table({"x": [0.0, 0.0, 0.0, 0.0], "y": [1.0, 0.0, -1.0, 0.0]})
    assert np.isfinite(loss.value(uncorrelated, flat))
    with pytest.raises(NotApplicable, match="0 records without missing numbers"):
        loss.value(celosia.read(pl.DataFrame({"x": [None, None]}, schema={"x": pl.Float64})), perfect)


# -- by hand --------------------------------------------------------------------------------------------------------------


def test_classical_loss_by_hand():
    a = table({"x": [1.0, 2.0, 3.0], "y": [1.0, 3.0, 2.0]})
    b = table({"x": [1.0, 2.0, 6.0], "y": [1.0, 3.0, 2.0]})
    parts = ClassicalLoss().parts(a, b)
    # one of six values doubled; the mean of x goes from 2 to 3; var x from 2/3 to 14/3; cov from 1/3 to 1/3
    assert parts["IL1"] == pytest.approx(1 / 6)
    assert parts["IL2"] == pytest.approx(0.25)
    assert parts["IL4"] == pytest.approx(3.0)
    assert parts["IL3"] == pytest.approx((6 + abs(1 / 3 - np.cov([1, 2, 6], [1, 3, 2], bias=True)[0, 1]) * 3) / 3)
    assert parts["IL5"] == pytest.approx(abs(0.5 - np.corrcoef([1, 2, 6], [1, 3, 2])[0, 1]))
    with pytest.raises(NotApplicable, match="constant"):
        ClassicalLoss().value(table({"x": [1.0, 1.0]}), table({"x": [1.0, 2.0]}))


def test_missing_numbers_stand_for_the_mean():
    a, b = table({"x": [1.0, 3.0, None]}), table({"x": [None, 3.0, None]})
    assert AbsoluteError().value(a, b) == pytest.approx(1 / 3)  # the blank is read as 2


def test_a_column_that_is_no_number_any_more_is_named():
    a = table({"age": [1, 2], "x": [1.0, 2.0]})
    b = table({"age": ["[0-2)", "[2-4)"], "x": [1.0, 2.0]})
    for loss in (SquaredError(), ProbabilisticLoss(), SumOfSquares(), EigenvalueLoss()):
        with pytest.raises(NotApplicable, match="column 'age' does not hold numbers in both"):
            loss.value(a, b)
    assert SquaredError(columns=["x"]).value(a, b) == 0
    with pytest.raises(UnknownName, match="no column named 'y'"):
        SquaredError(columns=["y"]).value(a, b)
    with pytest.raises(NotApplicable, match="share no numeric column"):
        SquaredError().value(table({"c": ["a"]}), table({"c": ["a"]}))


def test_new_records_can_be_judged_where_pairs_are_not_needed():
    a = table({"x": [1.0, 2.0, 3.0], "y": [3.0, 1.0, 2.0]})
    fresh = new_records(a, pl.DataFrame({"x": [2.0, 1.0, 3.0], "y": [1.0, 3.0, 2.0]}))
    assert SquaredError(on="covariance").value(a, fresh) == pytest.approx(0, abs=1e-15)
    assert ProbabilisticLoss().value(a, fresh) == 0
    with pytest.raises(NotApplicable, match="cannot be paired"):
        SquaredError().value(a, fresh)


def test_an_exact_relation_that_breaks_is_a_finite_loss():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 200))
    a = table({"x": x, "y": y, "sum": x + y})
    noisy = table({"x": x, "y": y, "sum": x + y + 0.5 * rng.normal(size=200)})
    found = EigenvalueLoss().parts(a, noisy)
    assert found["exact relations"] == 1
    assert 0 < found["broken relations"] < 1
    assert EigenvalueLoss().value(a, a) == 0
    assert DependenceLoss().value(a, a) == 0
    assert 0 <= DependenceLoss().value(a, noisy) <= 1
