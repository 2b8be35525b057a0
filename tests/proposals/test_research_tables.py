"""Suggestions for tables of research: short names, labels, blocks of items, functions of other columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia.proposals import suggest
from celosia.proposals.code_book import CodeBook, read_code_book
from celosia.proposals.vocabulary import meaning_of

N = 600


def by_name(columns, **options):
    return {s.name: s for s in suggest(pl.DataFrame(columns), **options)}


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("nonwhite", "origin"),
        ("agegrp", "age"),
        ("hhsize", "family situation"),
        ("numkids", "family situation"),
        ("kidslt6", "family situation"),
        ("yrs.since.phd", "working time or experience"),
        ("AESTDTC", "date of an event"),
        ("USUBJID", "person number"),
        ("RIDAGEYR", "age"),
        ("hv025", "region or country"),
        ("DT_NASC", "birth date"),
        ("CO_MUN_RES", "place"),
        ("ID_MUNICIP", "place"),
        ("lwage", "money"),
        ("cd4count", "laboratory value"),
        ("sbp_baseline", "vital sign or examination"),
        ("job_satisfaction", "wellbeing or mental state"),
        ("age_at_diagnosis", "age"),
        ("confianza_gobierno", "attitude or opinion"),
        ("finalwgt", "sampling weight"),
        ("survtime", "outcome or survival"),
        ("wave", "wave, visit or period"),
    ],
)
def test_short_names_of_research(name, meaning):
    assert meaning_of(name).what == meaning


def test_values_speak_where_the_name_does_not(rng):
    found = by_name(
        {
            "v1": rng.choice(["Married", "Single", "Widowed", "Divorced"], N),
            "v2": rng.choice(["Strongly agree", "Agree", "Disagree"], N),
            "sex": rng.choice(["F", "M"], N),
        }
    )
    assert (str(found["v1"].role), found["v1"].meaning) == ("quasi", "family situation")
    assert str(found["v2"].role) == "sensitive"


def test_blocks_of_items_are_decided_together(rng):
    found = by_name({f"E{i}": rng.integers(1, 7, N) for i in range(1, 6)} | {"gender": rng.integers(1, 3, N)})
    assert {str(found[f"E{i}"].role) for i in range(1, 6)} == {"sensitive"}
    assert "5 columns with similar names" in found["E1"].reason
    assert str(found["gender"].role) == "quasi"


def test_a_function_of_a_quasi_identifier_does_not_leave_beside_it(rng):
    age = rng.integers(18, 90, N)
    region = rng.choice(["a", "b", "c", "d"], N)
    price = np.select([region == r for r in "abcd"], [3.5, 4.25, 6.0, 7.75])
    height, weight = rng.normal(170, 9, N).round(), rng.normal(72, 14, N).round()
    found = by_name(
        {
            "age": age,
            "agegrp": age // 10,
            "region": region,
            "price": price,
            "female": (sex := rng.integers(0, 2, N)),
            "sex": np.where(sex == 1, "F", "M"),
            "height": height,
            "bodyweight": weight,
            "quetelet": weight / (height / 100) ** 2,
        }
    )
    assert (str(found["agegrp"].role), found["agegrp"].derived_from) == ("quasi", ("age",))
    assert found["price"].left_out
    assert found["price"].derived_from == ("region",)
    assert found["quetelet"].left_out
    assert set(found["quetelet"].derived_from) == {"height", "bodyweight"}
    assert [found[name].left_out for name in ("female", "sex")].count(True) == 1


def test_an_independent_column_is_no_function(rng):
    found = by_name({"age": rng.integers(18, 90, N), "income": rng.integers(1, 4, N), "rare": rng.random(N) < 0.01})
    assert not any(s.derived_from for s in found.values())


def test_dummies_of_one_fact(rng):
    trade = rng.integers(0, 5, N)
    names = ["agric", "manuf", "construc", "qux", "zap"]
    found = by_name({name: (trade == i).astype(int) for i, name in enumerate(names)})
    assert str(found["qux"].role) == "quasi"
    assert found["qux"].meaning == "work"


def test_a_body_weight_is_no_sampling_weight(rng):
    pounds = {"weight": rng.normal(340, 60, N).clip(120, 690).round().astype(int)}
    assert str(by_name(pounds | {"height": rng.normal(66, 4, N).round()})["weight"].role) == "quasi"
    scaled = by_name({"weight": rng.gamma(9, 1 / 9, N), "sex": rng.choice(["F", "M"], N)})["weight"]
    assert str(scaled.role) == "weight"
    assert "scaled to the sample" in scaled.reason


def test_weights_of_fewer_people_than_records(rng):
    found = by_name({"pweight": rng.uniform(0.3, 1.3, N), "sex": rng.choice(["F", "M"], N)})
    assert "population risks are those of the sample" in found["pweight"].reason


def test_row_numbers_are_no_data(rng):
    found = by_name({"q": range(1, N + 1), "sex": rng.choice(["F", "M"], N)})
    assert (str(found["q"].role), found["q"].meaning) == ("identifier", "row number")


def test_school_grades_are_education(rng):
    found = by_name({"grade": rng.integers(1, 19, N), "sex": rng.choice(["F", "M"], N)})
    assert found["grade"].meaning == "education"


def test_labels_make_codes_categories(rng):
    book = CodeBook(
        {"p1": "How much do you trust parliament?", "p2": "Household income, all sources"},
        {
            "p1": {float(i): f"{i}" for i in range(11)},
            "p2": dict(enumerate(["Under 5,000", "5,000 to 9,999", "10,000 to 19,999", "20,000 or more"], 1)),
            "p3": {i: f"Occupation {chr(i % 40 + 65)}" for i in range(100, 140)},
        },
    )
    columns = {"p1": rng.integers(0, 11, N), "p2": rng.integers(1, 5, N), "p3": rng.integers(100, 140, N)}
    found = by_name(columns | {"sex": rng.integers(1, 3, N)}, code_book=book)
    assert [str(found[name].kind) for name in ("p1", "p2", "p3")] == ["ordinal", "ordinal", "nominal"]
    assert [str(found[name].role) for name in ("p1", "p2")] == ["sensitive", "sensitive"]


@pytest.mark.parametrize(
    "text",
    [
        "variable,label,value,value label\np3,Marital status,1,Married\n,,2,Single\np4,Sex,,\n",
        "Variable;Code;Label\np3;1;Married\np3;2;Single\n",
        'name,description,values\np3,Marital status,"1 = Married; 2 = Single"\n',
        '"Variable / Field Name","Choices"\np3,"1, Married | 2, Single"\n',
    ],
)
def test_a_code_book_in_its_usual_forms(text, tmp_path):
    path = tmp_path / "book.csv"
    path.write_text(text.replace("Variable / Field Name", "Field name"), encoding="utf-8")
    assert read_code_book(path).labels["p3"] == {"1": "Married", "2": "Single"}
