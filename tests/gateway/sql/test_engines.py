"""The same questions on DuckDB, SQLite and PostgreSQL, with so little noise that the true answer shows, against
Polars."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

CLAMPED = pl.col("weight").fill_nan(300).clip(0, 300)
AGE = pl.col("age").clip(0, 120)


def frames() -> dict[str, pl.DataFrame]:
    module = sys.modules.get("celosia_tests_gateway_conftest")
    if module is None:
        spec = importlib.util.spec_from_file_location(
            "celosia_tests_gateway_conftest", Path(__file__).parents[1] / "conftest.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["celosia_tests_gateway_conftest"] = module
        spec.loader.exec_module(module)
    found = module.clinic_frames()
    found["patient"] = found["patient"].with_columns(
        sex=pl.when(pl.col("sex").is_in(["F", "M"])).then("sex"), age=AGE, weight=CLAMPED
    )
    return found


def exact(gateway, sql, **more):
    """All rows with the noise made negligible, numbers only."""
    answer = gateway.ask(sql, epsilon=2000.0, **more)
    return [[cell["value"] if isinstance(cell, dict) else cell for cell in row.values()] for row in answer.rows]


def test_the_same_answers_everywhere(clinic_gateway):
    patient = frames()["patient"]
    p = patient.filter
    cases = {
        "SELECT COUNT(*) FROM patient": len(patient),
        "SELECT COUNT(age) FROM patient": patient["age"].count(),
        "SELECT COUNT(DISTINCT id) FROM patient": len(patient),
        "SELECT COUNT(DISTINCT region) FROM patient": patient["region"].n_unique(),
        "SELECT COUNT(*) FROM patient WHERE age >= 40 AND sex = 'F'": len(p(pl.col("age") >= 40, sex="F")),
        "SELECT COUNT(*) FROM patient WHERE NOT (age < 40 OR sex <> 'F')": len(
            p((pl.col("age") >= 40) & (pl.col("sex") == "F"))
        ),
        "SELECT COUNT(*) FROM patient WHERE age IS NULL": len(p(pl.col("age").is_null())),
        "SELECT COUNT(*) FROM patient WHERE age IS NOT NULL": len(p(pl.col("age").is_not_null())),
        "SELECT COUNT(*) FROM patient WHERE age NOT IN (1, 2, 3)": len(p(~pl.col("age").is_in([1, 2, 3]))),
        "SELECT COUNT(*) FROM patient WHERE age BETWEEN 20 AND 30": len(p(pl.col("age").is_between(20, 30))),
        "SELECT COUNT(*) FROM patient WHERE age NOT BETWEEN 20 AND 30": len(p(~pl.col("age").is_between(20, 30))),
        "SELECT COUNT(*) FROM patient WHERE smoker": len(p(pl.col("smoker"))),
        "SELECT COUNT(*) FROM patient WHERE smoker IS FALSE": len(p(~pl.col("smoker"))),
        "SELECT COUNT(*) FROM patient WHERE smoker = FALSE AND age % 2 = 1": len(
            p(~pl.col("smoker"), pl.col("age") % 2 == 1)
        ),
        "SELECT COUNT(*) FROM patient WHERE seen >= '2026-06-01'": len(p(pl.col("seen") >= pl.date(2026, 6, 1))),
        "SELECT COUNT(*) FROM patient WHERE seen < DATE '2026-06-01'": len(p(pl.col("seen") < pl.date(2026, 6, 1))),
        "SELECT COUNT(*) FROM patient WHERE name LIKE 'Name 1%'": len(p(pl.col("name").str.starts_with("Name 1"))),
        "SELECT COUNT(*) FROM patient WHERE name LIKE 'name 1%'": 0,
        "SELECT COUNT(*) FROM patient WHERE LOWER(name) LIKE 'name 1%'": len(
            p(pl.col("name").str.starts_with("Name 1"))
        ),
        "SELECT COUNT(*) FROM patient WHERE debt > 0": len(p(pl.col("debt") > 0)),
        "SELECT COUNT(*) FROM patient WHERE -age < -50": len(p(pl.col("age") > 50)),
        "SELECT COUNT(*) FROM patient WHERE name = 'O''Connor; DROP TABLE patient; --'": 0,
        "SELECT COUNT(*) FROM patient WHERE name LIKE '100%' OR region = '%s'": 0,
        "SELECT SUM(age) FROM patient": patient["age"].sum(),
        "SELECT SUM(CASE WHEN smoker THEN 1 ELSE 0 END) FROM patient": len(p(pl.col("smoker"))),
        "SELECT SUM(LEAST(GREATEST(age, 10), 20)) FROM patient": patient["age"].clip(10, 20).sum(),
        "SELECT SUM(COALESCE(age, 0) + 1) FROM patient": (patient["age"].fill_null(0) + 1).sum(),
        "SELECT SUM(ABS(age - 50)) FROM patient": (patient["age"] - 50).abs().sum(),
        "SELECT SUM(CEIL(age / 7)) FROM patient": (patient["age"] / 7).ceil().sum(),
        "SELECT SUM(ROUND(age / 4)) FROM patient": (patient["age"] / 4 + 0.5).floor().sum(),
        "SELECT MEDIAN(age) FROM patient WHERE age IS NOT NULL AND age < 99": None,
    }
    for sql, expected in cases.items():
        found = exact(clinic_gateway, sql)[0][0]
        if expected is not None:
            assert found == pytest.approx(expected, abs=0.6), sql
        else:
            inside = patient.filter(pl.col("age") < 99)["age"]
            assert abs(found - inside.median()) <= 1


def test_means_and_spreads(clinic_gateway):
    patient = frames()["patient"].filter(pl.col("id") > 1)  # the first weight is NaN, which SQLite stores as NULL
    (found,) = exact(
        clinic_gateway,
        "SELECT AVG(age), VAR_POP(age), VARIANCE(weight), STDDEV(weight), AVG(weight) FROM patient WHERE id > 1",
    )
    weight = patient["weight"].to_numpy()
    expected = [
        patient["age"].mean(),
        patient["age"].var(ddof=0),
        weight.var(ddof=1),
        weight.std(ddof=1),
        weight.mean(),
    ]
    assert found == pytest.approx(expected, rel=2e-2)


def test_groups_are_public_and_complete(clinic_gateway):
    patient = frames()["patient"]
    found = exact(clinic_gateway, "SELECT sex, smoker, COUNT(*) FROM patient GROUP BY sex, smoker")
    counts = {(s, k): n for s, k, n in patient.group_by("sex", "smoker").len().iter_rows()}
    assert [row[:2] for row in found] == [["F", False], ["F", True], ["M", False], ["M", True]]
    for sex, smoker, number in found:
        assert number == pytest.approx(counts[(sex, smoker)], abs=0.6)
    decades = exact(
        clinic_gateway, "SELECT FLOOR(age / 10) * 10 AS d, COUNT(*) FROM patient GROUP BY d ORDER BY d DESC"
    )
    assert [row[0] for row in decades] == list(range(120, -10, -10))
    assert decades[1][1] == pytest.approx(0, abs=0.6)  # nobody between 110 and 119, and yet the cell is there


def test_after_the_noise(clinic_gateway):
    found = exact(
        clinic_gateway,
        "SELECT sex, COUNT(*) AS n, SUM(age) / COUNT(age) AS mean, ROUND(AVG(age), 1) FROM patient GROUP BY sex "
        "HAVING COUNT(*) > 10 AND sex IN ('F', 'M') ORDER BY n DESC LIMIT 1",
    )
    assert len(found) == 1
    assert found[0][2] == pytest.approx(found[0][3], abs=0.1)


def test_a_person_with_many_rows_counts_at_most_three_times(clinic_gateway):
    visit = frames()["visit"]
    most = visit.group_by("patient").len().select(pl.col("len").clip(0, 3).sum()).item()
    assert exact(clinic_gateway, "SELECT COUNT(*) FROM visit")[0][0] == pytest.approx(most, abs=0.6)
    persons = visit["patient"].n_unique()
    assert exact(clinic_gateway, "SELECT COUNT(DISTINCT patient) FROM visit")[0][0] == pytest.approx(persons, abs=0.6)
    one = exact(clinic_gateway, "SELECT COUNT(*) FROM visit WHERE patient = 33")
    assert one[0][0] == pytest.approx(3, abs=0.6)
    assert clinic_gateway.explain("SELECT COUNT(*) FROM visit", epsilon=1.0).numbers[0]["sensitivity"] == 3
    wards = exact(clinic_gateway, "SELECT ward, COUNT(*) FROM visit GROUP BY ward")
    assert sum(row[1] for row in wards) == pytest.approx(most, abs=1.5)


def test_joins_keep_persons_apart(clinic_gateway):
    data = frames()
    joined = data["patient"].join(data["visit"], left_on="id", right_on="patient").filter(pl.col("sex") == "F")
    most = joined.group_by("id").len().select(pl.col("len").clip(0, 3).sum()).item()
    sql = "SELECT COUNT(*) FROM patient p JOIN visit v ON p.id = v.patient WHERE p.sex = 'F'"
    assert exact(clinic_gateway, sql)[0][0] == pytest.approx(most, abs=0.6)
    towns = data["patient"].join(data["area"], left_on="region", right_on="code")
    sql = "SELECT kind, COUNT(*), AVG(size) FROM patient JOIN area ON region = code GROUP BY kind"
    found = exact(clinic_gateway, sql)
    expected = dict(towns.group_by("kind").len().iter_rows())
    assert {row[0]: row[1] for row in found} == pytest.approx(expected, abs=0.6)
    assert clinic_gateway.explain(sql, epsilon=1.0).rows_per_person == 1
    left = "SELECT COUNT(*) FROM patient LEFT JOIN area ON patient.region = area.code"
    assert exact(clinic_gateway, left)[0][0] == pytest.approx(len(data["patient"]), abs=0.6)


def test_a_join_is_the_same_whichever_side_is_written_first(clinic_gateway):
    ask = "SELECT COUNT(*) FROM patient p JOIN visit v ON {} WHERE p.sex = 'F'"
    one, other = (clinic_gateway.plan(ask.format(on)) for on in ("p.id = v.patient", "v.patient = p.id"))
    assert one.fingerprint() == other.fingerprint()


def test_quantiles(clinic_gateway):
    weight = np.sort(frames()["patient"]["weight"].to_numpy())
    (found,) = exact(
        clinic_gateway,
        "SELECT QUANTILE(weight, 0.25), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY weight), MIN(age), MAX(age) FROM patient",
    )
    assert found[0] == pytest.approx(np.quantile(weight, 0.25), abs=1)
    assert found[1] == pytest.approx(np.quantile(weight, 0.9), abs=1)
    assert found[2] <= 1
    assert found[3] >= 98
