"""Roles, kinds, hierarchies and the person column, on tables made for it and on known files."""

from __future__ import annotations

import datetime as dt
import itertools
import tomllib

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError
from celosia.hierarchy import hierarchy
from celosia.proposals import policy_text, safe_harbor, schema_of, separation, suggest
from celosia.proposals.hierarchies import nice_width
from celosia.release.output.columns import select_output
from celosia.release.policy.policy import Policy


def by_name(frame):
    return {s.name: s for s in suggest(frame)}


def visits(n=600, persons=120, seed=3):
    rng = np.random.default_rng(seed)
    person = rng.integers(0, persons, n)
    born = [dt.date(1920, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 25_000, persons)]
    sex = rng.choice(["F", "M"], persons)
    return pl.DataFrame(
        {
            "patient_id": [f"P{p:04d}" for p in person],
            "birth_date": [born[p] for p in person],
            "sex": [sex[p] for p in person],
            "visit_date": [dt.date(2024, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 365, n)],
            "zip": [f"{z:05d}" for z in rng.integers(8001, 8040, n)],
            "severity": rng.choice(["mild", "moderate", "severe"], n),
            "diagnosis": rng.choice(["C50.1", "C50.2", "I10.0", "E11.9"], n),
            "cost": rng.lognormal(6, 1.2, n).round(2),
            "country": ["ES"] * n,
        }
    )


def test_a_file_of_visits():
    found = by_name(visits())
    roles = {name: str(s.role) for name, s in found.items()}
    assert roles == {
        "patient_id": "person",
        "birth_date": "quasi",
        "sex": "quasi",
        "visit_date": "quasi",
        "zip": "quasi",
        "severity": "sensitive",
        "diagnosis": "sensitive",
        "cost": "sensitive",
        "country": "insensitive",
    }
    assert "5.0 rows per value" in found["patient_id"].reason
    assert "100 %" in found["patient_id"].reason
    assert found["zip"].hierarchy == {"use": "prefixes", "masked": [2, 3]}
    assert found["birth_date"].hierarchy == {"use": "dates", "units": ["year", "decade"]}
    assert found["visit_date"].hierarchy == {"use": "dates", "units": ["month", "year"]}
    assert str(found["severity"].kind) == "ordinal"
    assert [step["use"] for step in found["cost"].steps] == ["top-code", "round"]
    assert all(s.reason and s.if_wrong for s in found.values())


def test_person_needs_traits_that_stay():
    frame = visits().with_columns(pl.col("sex").shuffle(seed=1), pl.col("birth_date").shuffle(seed=2))
    assert by_name(frame)["patient_id"].role == "identifier"


def test_person_by_name_without_traits():
    frame = visits().select("patient_id", "cost")
    assert by_name(frame)["patient_id"].role == "person"


def test_one_row_per_person_is_an_identifier():
    frame = visits().unique("patient_id")
    assert by_name(frame)["patient_id"].role == "identifier"


def test_running_numbers_are_identifiers_and_amounts_are_not():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "row": range(1, 501),
            "amount": rng.permutation(500) * 977 + rng.integers(0, 900, 500),
            "long": rng.permutation(500) + 10_000_000,
            "code": [f"Z{i:05d}" for i in rng.permutation(500)],
            "comment": [f"visited the clinic on the {i} of may with pain" for i in range(500)],
        }
    )
    roles = {name: str(s.role) for name, s in by_name(frame).items()}
    assert roles == {
        "row": "identifier",
        "amount": "sensitive",
        "long": "identifier",
        "code": "identifier",
        "comment": "identifier",
    }


@pytest.mark.parametrize(("low", "high", "role"), [(45, 110, "quasi"), (400, 3000, "weight")])
def test_weight_of_bodies_and_of_samples(low, high, role):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"weight": rng.uniform(low, high, 300), "sex": rng.choice(["F", "M"], 300)})
    assert by_name(frame)["weight"].role == role


def test_one_weight_and_one_household():
    frame = pl.DataFrame({"wgt": [1.5, 2.5, 3.5], "pweight": [1.0, 2.0, 2.5], "hid": [1, 1, 2], "id_llar": [5, 5, 6]})
    roles = {name: str(s.role) for name, s in by_name(frame).items()}
    assert roles == {"wgt": "weight", "pweight": "insensitive", "hid": "household", "id_llar": "identifier"}


def test_dates_as_text():
    frame = pl.DataFrame(
        {
            "visit": [f"{d:02d}/03/2020" for d in range(1, 29)],
            "doubt": [f"{d:02d}/0{d % 9 + 1}/2020" for d in [*range(1, 13), *range(1, 13), 1, 2, 3, 4]],
        }
    )
    found = by_name(frame)
    assert found["visit"].hierarchy["formats"] == ["%d/%m/%Y"]
    assert "other way round" in found["doubt"].hierarchy_reason


def test_kinds_of_people_are_no_people():
    frame = visits().with_columns(
        pl.Series("tipo_trabajador", ["fijo", "temporal", "becario"] * 200),
        pl.Series("cp_domicilio", ["08001", "17002"] * 300),
    )
    found = by_name(frame)
    assert found["tipo_trabajador"].role == "quasi"
    assert found["cp_domicilio"].meaning == "postcode"


def test_text_ages_keep_their_kind():
    found = by_name(pl.DataFrame({"age": ["30-39", "40-49", "30-39", "50-59"]}))
    assert found["age"].kind == "nominal"


def test_adult(shared):
    found = by_name(pl.read_csv(shared("data/adult/adult.csv"), separator=";"))
    assert {str(s.role) for n, s in found.items() if n != "salary-class"} == {"quasi"}
    assert found["salary-class"].role == "sensitive"
    assert found["age"].bounds == (0, 120)


def test_adult_powers_are_those_of_arx(shared):
    # golden/arx/README.md: distinction 0.6466, separation 0.99991 for all nine columns.
    frame = pl.read_csv(shared("data/adult/adult.csv"), separator=";")
    distinction, separated = separation(frame, frame.columns)
    assert distinction == pytest.approx(0.6466, abs=5e-5)
    assert separated == pytest.approx(0.99991, abs=5e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12))
def test_separation_by_pairs(rows):
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    pairs = list(itertools.combinations(rows, 2))
    distinction, separated = separation(frame, ["a", "b"])
    assert separated == pytest.approx(sum(x != y for x, y in pairs) / len(pairs))
    assert distinction == pytest.approx(len(set(rows)) / len(rows))


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
        st.lists(
            st.one_of(st.none(), st.text(max_size=5), st.just("1"), st.just("2020-01-01")), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_table_gives_a_policy_that_is_toml(columns):
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    parsed = tomllib.loads(policy_text(suggest(frame), 'odd "name".csv'))
    named = [
        name for key in ("identifiers", "quasi", "sensitive", "insensitive") for name in parsed["schema"].get(key, [])
    ]
    singles = [parsed["schema"][key] for key in ("weight", "household", "stratum", "person") if key in parsed["schema"]]
    assert sorted([*named, *singles]) == sorted(columns)


def test_nothing_to_look_at():
    with pytest.raises(DataError, match="no records"):
        suggest(pl.DataFrame({"a": []}, schema={"a": pl.String}))
    found = by_name(pl.DataFrame({"a": [None, None], "b": [1, 1]}))
    assert {str(s.role) for s in found.values()} == {"insensitive"}


def test_hierarchies_cover_the_data():
    frame = visits()
    for s in suggest(frame):
        if s.hierarchy:
            levels = hierarchy(s.hierarchy).levels(frame[s.name].to_list(), column=s.name)
            assert len(set(levels.labels(levels.height))) == 1


def test_policy_text_is_a_policy():
    text = policy_text(suggest(visits()), "visits.csv", options={"separator": ";"}, k=7)
    parsed = tomllib.loads(text)
    assert parsed["input"] == {"path": "visits.csv", "separator": ";"}
    assert parsed["schema"]["person"] == "patient_id"
    assert "identifiers" not in parsed["schema"]
    assert [step["use"] for step in parsed["step"]] == ["top-code", "round", "generalise"]
    assert parsed["require"] == [{"use": "k-anonymity", "k": 7}]
    assert parsed["output"]["path"] == "visits.safe.csv"
    assert all(line.count("#") >= 1 for line in text.splitlines() if line.startswith('  "'))
    assert not any(value in text for value in visits()["patient_id"].to_list())


def test_suggested_schema_reads():
    frame = visits()
    table = celosia.read(frame, schema_of(suggest(frame)))
    assert table.schema.person == "patient_id"
    assert "zip" in table.schema.quasi


def test_safe_harbor_removes_and_coarsens(tmp_path):
    frame = visits().with_columns(
        pl.Series("age", np.random.default_rng(2).integers(20, 99, 600)),
        pl.lit("Vic").alias("town").replace("Vic", "Vic"),
        pl.Series("city", np.random.default_rng(2).choice(["Vic", "Reus", "Salt"], 600)),
    )
    suggestions = {s.name: s for s in safe_harbor(suggest(frame), today=dt.date(2026, 6, 1))}
    assert suggestions["city"].role == "identifier"
    assert suggestions["age"].steps == ({"use": "top-code", "columns": ["age"], "value": 90},)
    assert suggestions["visit_date"].hierarchy == {"use": "dates", "units": ["year"]}
    assert suggestions["birth_date"].steps[0]["value"] == "1936-01-01"
    assert len(suggestions["zip"].steps[1]["mapping"]) == 17
    text = policy_text(list(suggestions.values()), "visits.csv")
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    policy = Policy.load(path)
    table = celosia.read(frame, policy.schema)
    assert policy.require == ()
    steps = [step.method for step in policy.steps]
    safe = select_output(table, celosia.protect(table, *steps, seed=1), steps).table.polars()
    assert "city" not in safe.columns
    assert safe["age"].max() == 90
    assert set(safe["visit_date"]) == {"2024"}
    assert safe["birth_date"].cast(pl.Int64).min() == 1936
    assert all(z[3:] == "**" for z in safe["zip"])


@pytest.mark.parametrize("spread", [0.001, 0.7, 3, 99, 12345, 1e9])
def test_widths_are_nice(spread):
    width = nice_width(spread)
    assert 8 <= spread / width <= 45
    assert float(f"{width:.0e}".split("e")[0]) in (1.0, 2.0, 5.0)


def test_the_reasons_stand_in_the_policy():
    frame = visits()
    text = policy_text(suggest(frame), "visits.csv")
    for s in suggest(frame):
        assert s.reason in text, s.name
        if s.hierarchy and s.role in ("quasi", "sensitive"):
            assert s.hierarchy_reason in text, s.name
    assert '# [[require]]\n# use = "l-diversity"' in text


def test_a_missing_value_counts_as_a_value():
    frame = pl.DataFrame(
        {
            "hiv_test": [1] * 12 + [None] * 1988,
            "flag": ["x"] * 12 + [None] * 1988,
            "constant": [1] * 2000,
            "empty": pl.Series([None] * 2000, dtype=pl.Int64),
        }
    )
    roles = {s.name: s for s in celosia.suggest(frame)}
    assert roles["hiv_test"].role == "sensitive" or roles["hiv_test"].left_out
    assert roles["flag"].role == "quasi" or roles["flag"].left_out
    assert roles["constant"].role == roles["empty"].role == "insensitive"


@pytest.mark.parametrize(("rare", "usual"), [("yes", "NA"), ("B", "A")])
def test_a_rare_value_is_not_harmless(rare, usual):
    frame = pl.DataFrame({"sex": ["F", "M"] * 1000, "x2": [rare] * 7 + [usual] * 1993})
    (found,) = [s for s in celosia.suggest(frame) if s.name == "x2"]
    assert found.role == "quasi"
    assert "rare value" in found.reason
