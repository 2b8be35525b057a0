"""Population uniqueness as a requirement: ARX' optimum, and files without an estimate."""

from __future__ import annotations

import math

import polars as pl
import pytest

import celosia
from celosia.models.population_uniqueness import PopulationUniqueness

USA = 317_238_626


@pytest.fixture
def adult(shared):
    path = shared("data/adult/adult.csv")
    data = pl.read_csv(path, separator=";", infer_schema_length=0)
    hierarchies = {name: str(path.with_name(f"adult_hierarchy_{name}.csv")) for name in data.columns}
    return celosia.read(data, celosia.Schema.of(quasi=data.columns, hierarchies=hierarchies))


def test_the_optimum_of_arx(adult):
    """ARX, 1 % population uniques in the USA, 5 % suppression: age at level 2, 272 records suppressed."""
    required = [PopulationUniqueness(share=0.01, size=USA)]
    method = celosia.methods.Generalise(require=required, objective="domain-loss", suppress=0.05)
    done = celosia.protect(adult, method, seed=1).history[-1]
    assert {name: level for name, level in done["levels"].items() if level} == {"age": 2}
    assert done["suppressed"] == 272
    assert done["classes"] == 10_795
    assert done["score"] == pytest.approx(0.01865166016761055, abs=1e-9)


@pytest.mark.parametrize(("model", "share"), [("pitman", 0.0389), ("zayatz", 0.2646), ("dankar", 0.0389)])
def test_the_estimate_is_that_of_the_risk(adult, model, share):
    value = PopulationUniqueness(share=0.5, size=USA, model=model).value(adult)
    assert value == pytest.approx(share, abs=1e-4)
    risk = celosia.risk.PopulationUniques(size=USA, model=model).value(adult)
    assert value == pytest.approx(risk, rel=1e-9)


def test_classes_without_uniques_hold():
    table = celosia.read(pl.DataFrame({"age": [1, 1, 2, 2]}), celosia.Schema.of(quasi=["age"]))
    assert PopulationUniqueness(share=0.0, size=100).holds(table)
    only = celosia.read(pl.DataFrame({"age": [1, 2, 3]}), celosia.Schema.of(quasi=["age"]))
    model = PopulationUniqueness(share=1.0, size=100, model="pitman")
    assert math.isnan(model.value(only))
    assert not model.holds(only)
    assert model == celosia.parts.build("model", str(model))
