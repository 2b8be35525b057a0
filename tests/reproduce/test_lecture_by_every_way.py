"""The first half of the database-privacy lecture: five people, and k on Adult, by every way in and on every engine."""

from __future__ import annotations

import json

import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.models.k_anonymity import KAnonymity
from celosia.release.run import run

PEOPLE = pl.DataFrame(
    {
        "Nombre": ["Rashad Arnold", "Alyssa Cherry", "Myra Ford", "Meredith Perry", "Aimee Thornton"],
        "Fecha Nac.": ["26/02/2018", "08/05/2018", "11/05/2018", "31/03/2019", "26/04/2018"],
        "Sexo": ["M", "M", "F", "F", "F"],
        "Postal": ["73909", "14890", "58821", "465113", "90825"],
    }
)
ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours",
    "native-country",
    "target",
]


@pytest.mark.parametrize(
    ("quasi", "k"), [(["Fecha Nac."], 1), (["Postal"], 1), (["Sexo"], 2), (["Fecha Nac.", "Sexo", "Postal"], 1)]
)
def test_five_people(engine, quasi, k):
    table = celosia.read(PEOPLE, celosia.Schema.of(identifiers=["Nombre"], quasi=quasi), engine=engine)
    assert KAnonymity(k=2).value(table) == k


@pytest.fixture
def adult(shared, tmp_path):
    frame = pl.read_csv(shared("data/adult.data"), has_header=False, new_columns=ADULT)
    frame = frame.select(pl.col("age", "education_num").cast(pl.String).str.strip_chars().cast(pl.Int64))
    frame = frame.drop_nulls()  # the file ends with an empty line
    frame.write_csv(tmp_path / "adult.csv")
    frame.head(1000).write_csv(tmp_path / "first.csv")
    return tmp_path


DECADES = [10, 20, 30, 40, 50, 60, 70, 80, 90]
CASES = [
    ("adult.csv", None, 1),
    ("first.csv", DECADES, 1),
    ("first.csv", DECADES[:6], 12),
    ("adult.csv", DECADES, 21),
    ("adult.csv", DECADES[:6], 455),
]
SCHEMA = celosia.Schema.of(quasi=["age", "education_num"])


def steps(breaks):
    return [{"use": "recode", "column": c, "breaks": b} for c, b in (("age", breaks), ("education_num", [10]))]


@pytest.mark.parametrize(("file", "breaks", "k"), CASES)
def test_k_of_adult_by_the_api(adult, engine, file, breaks, k):
    table = celosia.read(adult / file, SCHEMA, engine=engine)
    protected = celosia.protect(table, *steps(breaks)) if breaks else table
    assert KAnonymity(k=2).value(protected) == k


@pytest.mark.parametrize(("file", "breaks", "k"), CASES)
def test_k_of_adult_by_a_policy_and_by_the_command_line(adult, engine, capsys, file, breaks, k):
    text = f'[input]\npath = "{file}"\nengine = "{engine}"\n[schema]\nquasi = ["age", "education_num"]\n'
    text += f'[[require]]\nuse = "k-anonymity"\nk = {k}\n[output]\nreport = false\n'
    for step in steps(breaks) if breaks else []:
        text += f'[[step]]\nuse = "recode"\ncolumn = "{step["column"]}"\nbreaks = {step["breaks"]}\n'
    (adult / "policy.toml").write_text(text)
    release = run(adult / "policy.toml")
    assert release.certificate["requirements"][0]["value"] == k
    arguments = ["assess", str(adult / "safe.csv"), "--quasi", "age,education_num", "--engine", engine, "--json"]
    assert command([*arguments, "--require", f"k-anonymity(k={k})"]) == 0
    assert json.loads(capsys.readouterr().out)["requirements"][0]["value"] == k
    assert command([*arguments, "--require", f"k-anonymity(k={k + 1})"]) == 3
