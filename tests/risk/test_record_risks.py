"""Record-level risks as parts: sdcMicro's results through tables, persons, suppression, engines."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, NotApplicable, ParameterError
from celosia.kernels.grouping.suda import unique_scores
from celosia.models.population_uniqueness import PopulationUniqueness
from celosia.risk.household_risk import HouseholdRisk
from celosia.risk.individual_risk import IndividualRisk
from celosia.risk.log_linear_risk import LogLinearRisk
from celosia.risk.population_uniques import PopulationUniques
from celosia.risk.suda import Suda
from celosia.risk.unsafe_cells import UnsafeCells
from celosia.table.suppression import suppress_records

K5 = ["urbrur", "roof", "walls", "water", "electcon"]
K7 = [*K5, "relat", "sex"]


@pytest.fixture
def testdata(shared):
    def make(keys=K7, name="data/testdata.csv", engine=None, **facts):
        schema = celosia.Schema.of(quasi=keys, **facts)
        return celosia.read(pl.read_csv(shared(name)), schema, engine=engine)

    return make


def test_frequencies_and_risk_of_sdcmicro(shared, testdata, engine):
    golden = pl.read_csv(shared("golden/sdcmicro/freq_testdata_k7.csv.gz"))
    table = testdata(weight="sampling_weight", engine=engine)
    found = IndividualRisk().records(table)
    assert found["f"].to_list() == golden["fk"].to_list()
    assert found["F"].to_list() == golden["Fk"].to_list()
    np.testing.assert_allclose(found["risk"], golden["rk_approx"], rtol=0, atol=1e-9)
    exact = golden["rk_exact"].cast(pl.Float64, strict=False).to_numpy()
    known = np.isfinite(exact)
    np.testing.assert_allclose(
        IndividualRisk(exact=True).records(table)["risk"].to_numpy()[known], exact[known], rtol=0, atol=1e-9
    )
    assert (found["f"] == 1).sum() == 157
    assert (found["f"] < 3).sum() == 281
    assert (found["f"] < 5).sum() == 458


def test_random_weights_of_sdcmicro(shared, testdata):
    golden = pl.read_csv(shared("golden/sdcmicro/freq_testdata_randweights_k7.csv.gz"))
    data = pl.read_csv(shared("golden/sdcmicro/input_testdata_randweights.csv.gz"))
    weight = next(name for name in data.columns if name not in K7)
    table = celosia.read(data, celosia.Schema.of(quasi=K7, weight=weight))
    found = IndividualRisk().records(table)
    np.testing.assert_allclose(found["F"], golden["Fk"], rtol=1e-12)
    np.testing.assert_allclose(found["risk"], golden["rk_approx"], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("alpha", "faulty"), [(1, 0), (0.5, 45), (0, 0)])
def test_missing_values_of_sdcmicro(shared, testdata, alpha, faulty):
    golden = pl.read_csv(shared("golden/sdcmicro/freq_testdata_missing_k7.csv.gz"))
    table = testdata(name="golden/sdcmicro/input_testdata_missing.csv.gz", weight="sampling_weight")
    found = IndividualRisk(alpha=alpha).records(table)
    np.testing.assert_allclose(found["f"], golden[f"fk_a{alpha}"], rtol=1e-12)
    np.testing.assert_allclose(found["F"], golden[f"Fk_a{alpha}"], rtol=1e-12)
    theirs = golden[f"rk_a{alpha}"].to_numpy()
    zero = theirs == 0
    assert zero.sum() == faulty
    np.testing.assert_allclose(found["risk"].to_numpy()[~zero], theirs[~zero], rtol=0, atol=1e-9)
    assert (found["risk"].to_numpy()[zero] > 0).all()


@pytest.mark.parametrize(("reading", "alpha"), [("wildcard", 1), ("conservative", 0)])
def test_the_readings_of_the_schema(shared, testdata, reading, alpha):
    name = "golden/sdcmicro/input_testdata_missing.csv.gz"
    table = testdata(name=name, weight="sampling_weight", missing=dict.fromkeys(K7, reading))
    found = IndividualRisk().records(table)
    # no record of this file lacks all keys, the one case where the wildcard differs from alpha = 1
    golden = pl.read_csv(shared("golden/sdcmicro/freq_testdata_missing_k7.csv.gz"))
    np.testing.assert_allclose(found["f"], golden[f"fk_a{alpha}"], rtol=1e-12)
    category = IndividualRisk().records(testdata(name=name, weight="sampling_weight"))
    assert (category["f"] <= found["f"]).all()


def test_measure_risk_of_sdcmicro(shared, testdata):
    golden = json.loads(shared("golden/sdcmicro/measure_risk.json").read_text())
    table = testdata(weight="sampling_weight", household="ori_hid")
    evidence = IndividualRisk(wanted=0.001).evidence(table)
    assert evidence["expected"] == pytest.approx(golden["testdata_k7_w"]["global_risk_ER"], rel=1e-12)
    assert evidence["value"] == pytest.approx(golden["testdata_k7_w"]["global_risk"], rel=1e-12)
    assert evidence["threshold"] == pytest.approx(golden["testdata_k7_w_max0001"]["global_threshold"], rel=1e-12)
    house = HouseholdRisk().evidence(table)
    assert house["expected"] == pytest.approx(golden["testdata_k7_w_hid"]["hier_risk_ER"], rel=1e-9)
    records = pl.read_csv(shared("golden/sdcmicro/measure_risk_testdata_k7_hid.csv.gz"))
    np.testing.assert_allclose(HouseholdRisk().records(table)["household"], records["hier_risk"], atol=1e-12)
    plain = testdata(household="ori_hid")
    assert IndividualRisk().evidence(plain)["expected"] == pytest.approx(412)
    assert HouseholdRisk().evidence(plain)["expected"] == pytest.approx(1281.727, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "keys", "part", "data"),
    [
        ("testdata_k7_d001", K7, Suda(), "testdata"),
        ("testdata_k7_d01", K7, Suda(sampling_fraction=0.1), "testdata"),
        ("testdata_k7_ihsn", K7, Suda(weighting="rescaled"), "testdata"),
        ("testdata_k5_d001", K5, Suda(), "testdata"),
        ("testdata2_k7", K7, Suda(), "testdata2"),
    ],
)
def test_suda_of_sdcmicro(shared, testdata, name, keys, part, data):
    golden = pl.read_csv(shared(f"golden/sdcmicro/suda2_{name}.csv.gz"), infer_schema_length=None)
    summary = json.loads(shared("golden/sdcmicro/suda2_summary.json").read_text())[name]
    table = testdata(keys, f"data/{data}.csv")
    found = part.records(table)
    np.testing.assert_allclose(found["score"], golden["score"], rtol=1e-9)
    np.testing.assert_allclose(found["dis"], golden["dis"], rtol=0, atol=1e-6)
    for key in keys:
        np.testing.assert_allclose(found[f"{key} contribution"], golden[f"{key}_contribution"], rtol=0, atol=1e-6)
    evidence = part.evidence(table)
    assert evidence["records"] == summary["n_score_gt0"]
    assert evidence["expected"] == pytest.approx(summary["sum_dis"], rel=1e-6)
    assert evidence["highest"] == pytest.approx(summary["max_dis"], rel=1e-6)
    for entry in summary["attribute_contributions"]:
        assert 100 * evidence["contribution"][entry["variable"]] == pytest.approx(entry["contribution"], abs=1e-6)


def test_suda_bounded_size_finds_the_same_small_sets(testdata):
    table = testdata(K5)
    whole, small = Suda().records(table), Suda(max_size=2).records(table)
    two = whole["smallest"].is_between(1, 2)
    assert small["sets"].sum() <= whole["sets"].sum()
    assert (small["smallest"].filter(two) == whole["smallest"].filter(two)).all()
    assert (small["score"].filter(~two) == 0).all()


def test_suda_says_what_it_left_out(monkeypatch):
    names = [f"c{i}" for i in range(22)]
    data = pl.DataFrame(np.random.default_rng(1).integers(0, 2, (300, 22)), schema=names)
    table = celosia.read(data, celosia.Schema.of(quasi=names))
    monkeypatch.setitem(unique_scores.__kwdefaults__, "most_steps", 5_000_000)
    with pytest.warns(UserWarning, match=r"only sets of up to \d of the 22 quasi-identifiers .* lower bounds"):
        evidence = Suda().evidence(table)
    assert 4 <= evidence["largest"] < 9
    assert not evidence["complete"]
    fresh = celosia.read(data, celosia.Schema.of(quasi=names))
    bounded = Suda(max_size=evidence["largest"])
    assert bounded.records(fresh).equals(Suda().records(table))
    small = celosia.read(data.select(names[:4]), celosia.Schema.of(quasi=names[:4]))
    assert Suda().evidence(small)["complete"]
    assert Suda().evidence(small)["largest"] == 4


def test_unsafe_cells_by_counting(testdata):
    table = testdata(K5)
    data = table.polars()
    part = UnsafeCells(k=4, ways=3)
    tables = {row["columns"]: row for row in part.tables(table).to_dicts()}
    assert len(tables) == 5 + 10 + 10
    hit = np.zeros(len(data), dtype=int)
    for ways in (1, 2, 3):
        for columns in itertools.combinations(K5, ways):
            counted = data.group_by(columns).len()
            row = tables[", ".join(columns)]
            assert row["cells"] == len(counted)
            assert row["unsafe"] == (counted["len"] < 4).sum()
            size = data.select(pl.len().over(columns)).to_series().to_numpy()
            hit += size < 4
    assert part.records(table)["unsafe"].to_list() == hit.tolist()
    assert part.value(table) == (hit > 0).mean()


def test_persons_are_counted_not_rows():
    data = pl.DataFrame({"age": [30, 30, 30, 31], "who": ["a", "a", "b", "c"], "w": [1.0, 1, 2, 3]})
    table = celosia.read(data, celosia.Schema.of(quasi=["age"], person="who"))
    assert IndividualRisk().records(table)["f"].to_list() == [2, 2, 2, 1]
    weighted = celosia.read(data, celosia.Schema.of(quasi=["age"], person="who", weight="w"))
    assert IndividualRisk().records(weighted)["F"].to_list() == [3, 3, 3, 3]  # a stands for one person, b for two
    assert Suda().records(table)["score"].to_list() == [0, 0, 0, 1]


def test_suppressed_records_have_no_risk():
    data = pl.DataFrame({"age": ["30", "30", "31", "40"], "sex": ["F", "F", "M", "M"]})
    table = celosia.read(data, celosia.Schema.of(quasi=["age", "sex"]))
    hidden = suppress_records(table, np.array([False, False, False, True]))
    assert IndividualRisk().records(hidden)["risk"].to_list() == [0.5, 0.5, 1.0, 0.0]
    assert IndividualRisk().value(hidden) == pytest.approx(2 / 3)
    assert Suda().records(hidden)["score"].to_list()[3] == 0
    assert PopulationUniques(size=3, model="pitman").evidence(hidden)["uniques"] == 1


def test_a_population_table_counts():
    table = celosia.read(pl.DataFrame({"age": [30, 31]}), celosia.Schema.of(quasi=["age"]))
    people = pl.DataFrame({"age": [30] * 5 + [31, 31]})
    assert IndividualRisk(population=people).records(table)["F"].to_list() == [5, 2]


def test_refuses_and_does_not_apply():
    table = celosia.read(pl.DataFrame({"age": [30, 31], "w": [1.0, -1.0]}), celosia.Schema.of(quasi=["age"]))
    with pytest.raises(NotApplicable, match="no household column"):
        HouseholdRisk().value(table)
    with pytest.raises(NotApplicable, match="size of the population"):
        PopulationUniques().value(table)
    with pytest.raises(DataError, match="cannot be smaller than the table"):
        LogLinearRisk(size=1).value(table)
    weighted = celosia.read(table.polars(), celosia.Schema.of(quasi=["age"], weight="w"))
    with pytest.raises(DataError, match="1 weights are missing, infinite or not positive"):
        IndividualRisk().value(weighted)


def test_population_uniques_of_arx(shared):
    data = pl.read_csv(shared("data/adult/adult.csv"), separator=";", infer_schema_length=None)
    table = celosia.read(data, celosia.Schema.of(quasi=data.columns))
    usa = 317_238_626
    evidence = PopulationUniques(size=usa).evidence(table)
    assert evidence["model"] == "pitman"
    assert evidence["value"] == pytest.approx(0.0389, abs=5e-5)
    assert evidence["interval"][0] < evidence["value"] < evidence["interval"][1]
    assert evidence["models"]["zayatz"] == pytest.approx(0.265, abs=5e-4)
    model = PopulationUniqueness(share=0.01, size=usa)
    assert model.value(table) == pytest.approx(evidence["value"])
    assert not model.holds(table)
    risk = PopulationUniques(size=usa).records(table)
    assert (risk["risk"] > 0).sum() == risk["unique"].sum() == 15512


def test_no_estimate_is_never_zero():
    table = celosia.read(pl.DataFrame({"age": list(range(20))}), celosia.Schema.of(quasi=["age"]))
    with pytest.raises(NotApplicable, match="every record of the sample is unique"):
        PopulationUniques(size=1000, model="pitman").value(table)
    model = PopulationUniqueness(share=1.0, size=1000, model="pitman")
    assert math.isnan(model.value(table))
    assert not model.holds(table)
    with pytest.raises(ParameterError, match="at least the 20 records"):
        PopulationUniqueness(share=0.1, size=3).value(table)
    empty = celosia.read(pl.DataFrame({"age": [1, 1]}), celosia.Schema.of(quasi=["age"]))
    assert PopulationUniqueness(share=0.0, size=10).holds(empty)


def test_log_linear_part():
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"a": rng.integers(0, 4, 500), "b": rng.geometric(0.3, 500), "c": rng.geometric(0.4, 500)})
    table = celosia.read(data, celosia.Schema.of(quasi=["a", "b", "c"]))
    part = LogLinearRisk(size=5000)
    evidence = part.evidence(table)
    assert evidence["tau1"] <= evidence["tau2"] <= evidence["unique"]
    assert part.value(table) == pytest.approx(evidence["tau2"] / 500)
    records = part.records(table)
    assert records["risk"].sum() == pytest.approx(evidence["tau2"])
    assert records["unique"].sum() == pytest.approx(evidence["tau1"])
