"""Cleaning while reading, on every engine."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

import celosia
from celosia.errors import DataError, PolicyError, UnknownName
from celosia.release.policy.policy import Policy

CLEAN = {
    "strip": ["sex", "age"],
    "same": {"sex": {"H": "Hombre", "hombre": "Hombre"}},
    "missing": {"sex": ["NS/NC"], "age": [-99], "score": ["-9"], "day": ["1900-01-01"]},
}


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sex": ["H", " hombre ", "NS/NC", "Mujer", None, "  "],
            "age": [30, -99, 41, None, 52, 60],
            "score": [1.5, -9.0, 2.0, 3.0, None, 4.0],
            "day": [dt.date(2024, 1, 1), dt.date(1900, 1, 1), None, *[dt.date(2025, 5, 5)] * 3],
        }
    )


def test_blanks_then_spellings_then_codes(engine, tmp_path):
    path = tmp_path / "people.parquet"
    frame().write_parquet(path)
    table = celosia.read(str(path), engine=engine, clean=CLEAN).polars()
    assert table["sex"].to_list() == ["Hombre", "Hombre", None, "Mujer", None, None]
    assert table["age"].to_list() == [30, None, 41, None, 52, 60]
    assert table["score"].to_list() == [1.5, None, 2.0, 3.0, None, 4.0]
    assert table["day"].to_list() == [dt.date(2024, 1, 1), None, None, *[dt.date(2025, 5, 5)] * 3]


def test_what_is_not_there_or_does_not_fit_is_refused():
    with pytest.raises(UnknownName, match="agee"):
        celosia.read(frame(), clean={"missing": {"agee": [-99]}})
    with pytest.raises(DataError, match="does not hold texts"):
        celosia.read(frame(), clean={"same": {"age": {"1": "2"}}})
    with pytest.raises(DataError, match="no value of its type"):
        celosia.read(frame(), clean={"missing": {"age": ["x"]}})


def test_a_policy_cleans_and_new_records_are_cleaned_alike(tmp_path):
    text = "sex;age;day\n" + "".join(
        f"{'H' if i % 2 else 'Hombre '};{20 + i % 3};0{i % 2 + 1}/02/2024\n" for i in range(40)
    )
    (tmp_path / "people.csv").write_text(text + "Hombre;-99;01/02/2024\n" * 5)
    (tmp_path / "policy.toml").write_text(
        """
        [input]
        path = "people.csv"
        dates = { day = "%d/%m/%Y" }
        [input.clean]
        strip = ["sex"]
        same = { sex = { H = "Hombre" } }
        missing = { age = [-99] }
        [schema]
        quasi = ["sex", "age", "day"]
        [schema.hierarchies]
        day = { use = "dates", units = ["month"] }
        [[require]]
        use = "k-anonymity"
        k = 5
        [[step]]
        use = "recode"
        column = "day"
        level = 1
        [output]
        path = "safe.csv"
        """
    )
    release = celosia.run(tmp_path / "policy.toml")
    safe = release.table.polars()
    assert set(safe["sex"]) == {"Hombre"}
    assert safe["age"].null_count() == 5
    (tmp_path / "new.csv").write_text("sex;age;day\nH;20;03/02/2024\nHombre ;-99;04/02/2024\n")
    again = celosia.apply(tmp_path / "safe.private.json", str(tmp_path / "new.csv")).table.polars()
    assert again["sex"].to_list() == ["Hombre", "Hombre"]
    assert again["age"].to_list() == [20, None]
    assert again["day"].to_list() == ["2024-02", "2024-02"]


def test_a_misspelt_key_is_refused():
    with pytest.raises(PolicyError, match="strip"):
        Policy.of({"input": {"path": "x.csv", "clean": {"stripp": ["a"]}}})


@pytest.mark.parametrize(
    ("spellings", "cleaned"),
    [
        ({"M": "F", "F": "M"}, ["F", "M", "x", None]),  # two values change places
        ({"M": "F", "F": "x"}, ["F", "x", "x", None]),  # what a spelling became is not spelt again
        ({"M": "M"}, ["M", "F", "x", None]),
    ],
)
def test_spellings_are_looked_up_as_they_were_read(engine, spellings, cleaned):
    data = pl.DataFrame({"sex": ["M", "F", "x", None]})
    table = celosia.read(data, engine=engine, clean={"same": {"sex": spellings}})
    assert table.polars()["sex"].to_list() == cleaned


@pytest.mark.parametrize(
    ("column", "code", "cleaned"),
    [
        (pl.Series([1, 2, -99]), -99.0, [1, 2, None]),
        (pl.Series([1, 2, -99]), "-99", [1, 2, None]),
        (pl.Series([9999999999999999, 10**16]), 9999999999999999, [None, 10**16]),  # a float would round it to 10^16
        (pl.Series([1, 3], dtype=pl.Int8), 999, [1, 3]),  # a code that the column has no room for
        (pl.Series([1.5, 2.0]), "1.5", [None, 2.0]),
        (pl.Series([True, False]), "false", [True, None]),
        (pl.Series(["1", "1.0"]), 1, [None, "1.0"]),
    ],
)
def test_codes_are_compared_as_values_of_their_column(column, code, cleaned):
    table = celosia.read(column.alias("x").to_frame(), clean={"missing": {"x": [code]}})
    assert table.polars()["x"].to_list() == cleaned


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ([1, 2], 1.5),
        ([1, 2], "inf"),
        ([1, 2], "nan"),
        ([1, 2], "1e400"),
        ([True], "maybe"),
        ([dt.date(2024, 1, 1)], "0"),
    ],
)
def test_codes_that_their_column_cannot_have_are_refused(column, code):
    with pytest.raises(DataError, match="a code of column 'x' is no value of its type"):
        celosia.read(pl.DataFrame({"x": column}), clean={"missing": {"x": [code]}})
