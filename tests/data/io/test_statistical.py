"""SPSS and Stata: labels, dates and missing codes there and back, and labels after recoding."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pyreadstat
import pytest

from celosia.data import io as cio
from celosia.data.io.statistical import TAGGED
from celosia.errors import OutputError, ParameterError

DATES = [dt.date(2020, 1, 2), None, dt.date(1950, 3, 4), dt.date(1582, 10, 15)]
MOMENTS = [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1950, 3, 4, 1, 1, 1), dt.datetime(1999, 1, 1)]


@pytest.fixture
def sav(tmp_path):
    path = tmp_path / "people.sav"
    frame = pl.DataFrame(
        {
            "id": [1, 2, 3, 4],
            "age": [30.0, 99.0, None, 950.0],
            "marital": [1, 2, 9, 3],
            "city": ["Vic", "é", None, "X"],
            "income": [1.5, 2.25, None, -7.0],
            "born": DATES,
            "seen": MOMENTS,
        }
    )
    pyreadstat.write_sav(
        frame,
        path,
        file_label="Survey",
        column_labels={"age": "Age in years"},
        variable_value_labels={
            "marital": {1: "single", 2: "married", 3: "widowed", 9: "refused"},
            "age": {99: "unknown"},
        },
        missing_ranges={"age": [99, {"lo": 900, "hi": 999}], "marital": [9], "city": ["X"]},
        variable_measure={"marital": "nominal", "age": "scale"},
        variable_format={"age": "F3.0", "marital": "F1.0", "born": "SDATE10"},
    )
    return path


def test_spss_codes_are_missing_by_default(sav):
    opened = cio.scan(sav)
    frame = opened.frame.collect()
    assert frame["age"].to_list() == [30, None, None, None]
    assert frame["marital"].to_list() == [1, 2, None, 3]
    assert frame["city"].to_list() == ["Vic", "é", None, None]
    assert frame["born"].to_list() == DATES
    assert frame["seen"].to_list() == MOMENTS
    assert str(frame["age"].dtype) == "Int64"
    assert opened.facts.labels["marital"] == {1: "single", 2: "married", 3: "widowed", 9: "refused"}
    assert [code.covers(950) for code in opened.facts.missing["age"]].count(True) == 1
    assert opened.facts.descriptions == {"age": "Age in years"}
    assert opened.facts.measures == {"marital": "nominal", "age": "scale"}


def facts_of(path):
    _, meta = pyreadstat.read_sav(path, user_missing=True)
    return {
        "labels": meta.variable_value_labels,
        "descriptions": meta.column_names_to_labels,
        "missing": meta.missing_ranges,
        "measures": meta.variable_measure,
        "formats": {n: f for n, f in meta.original_variable_types.items() if n in ("age", "marital", "born")},
        "title": meta.file_label,
    }


@pytest.mark.parametrize("user_missing", ["null", "keep"])
@pytest.mark.parametrize("name", ["back.sav", "back.zsav"])
def test_spss_round_trip(sav, tmp_path, user_missing, name):
    opened = cio.scan(sav, user_missing=user_missing)
    target = tmp_path / name
    cio.write(opened.frame, target, opened.facts)
    again = cio.scan(target, user_missing=user_missing)
    assert again.frame.collect().equals(opened.frame.collect())
    assert facts_of(target) == facts_of(sav)
    if user_missing == "keep":
        raw = [pyreadstat.read_sav(p, user_missing=True, output_format="polars")[0] for p in (sav, target)]
        assert raw[0].equals(raw[1])


def test_labels_follow_a_recoding(sav, tmp_path):
    opened = cio.scan(sav, user_missing="keep")
    recoded = opened.frame.with_columns(pl.Series("marital", ["1", "{2, 3}", "9", "*"]), pl.col("age").cast(pl.String))
    target = tmp_path / "back.sav"
    cio.write(recoded, target, opened.facts)
    frame, meta = pyreadstat.read_sav(target, user_missing=True, output_format="polars")
    assert frame["marital"].to_list() == [1, 10, 9, 11]
    labels = meta.variable_value_labels["marital"]
    assert labels[10] == "{married, widowed}"
    assert labels[11] == "*"
    assert labels[1] == "single"
    assert meta.missing_ranges["marital"] == [{"lo": 9, "hi": 9}, {"lo": 11, "hi": 11}]  # suppressed cells are missing
    assert frame["age"].to_list() == [30, 99, None, 950]
    assert cio.scan(target).frame.collect()["marital"].to_list() == ["1", "10", None, "*"]


def test_labels_when_numbers_stay_numbers(sav, tmp_path):
    opened = cio.scan(sav)
    target = tmp_path / "back.sav"
    cio.write(opened.frame.with_columns(pl.col("marital").replace(3, 2)), target, opened.facts)
    _, meta = pyreadstat.read_sav(target)
    assert meta.variable_value_labels["marital"][2] == "married"


def test_intervals_of_a_labelled_number_get_codes(sav, tmp_path):
    opened = cio.scan(sav)
    target = tmp_path / "back.sav"
    bands = opened.frame.with_columns(pl.Series("age", ["[30-35)", "[35-40)", None, "*"]))
    cio.write(bands, target, opened.facts)
    frame, meta = pyreadstat.read_sav(target, output_format="polars")
    assert frame["age"].to_list() == [100, 101, None, 102]
    assert meta.variable_value_labels["age"] == {99: "unknown", 100: "[30-35)", 101: "[35-40)", 102: "*"}


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_a_value_that_is_gone_leaves_no_label(sav, tmp_path, suffix):
    """Recoded, swapped or removed: the code book of a release names no category that nobody in it has."""
    opened = cio.scan(sav)
    target = tmp_path / f"back{suffix}"

    def labels(*columns):
        cio.write(opened.frame.with_columns(*columns), target, opened.facts, overwrite=True)
        assert b"widowed" not in target.read_bytes()
        return cio.scan(target).facts.labels.get("marital", {})

    kept = labels(pl.col("marital").replace(3, 2))
    assert {code: text for code, text in kept.items() if code != 9} == {1: "single", 2: "married"}
    recoded = labels(pl.Series("marital", ["1", "other", None, "other"]))
    assert {code: text for code, text in recoded.items() if code != 9} == {1: "single", 10: "other"}
    # a mean of codes has no meaning, and neither have their labels
    assert set(labels(pl.Series("marital", [1.0, 1.5, None, 2.0]))) <= {9}


def test_texts_that_are_gone_leave_no_label(tmp_path):
    path = tmp_path / "texts.sav"
    labels = {"city": {"V": "Vic", "S": "Solsona"}}
    pyreadstat.write_sav(pl.DataFrame({"city": ["V", "S"]}), path, variable_value_labels=labels)
    opened = cio.scan(path)
    cio.write(opened.frame.filter(pl.col("city") == "V"), tmp_path / "back.sav", opened.facts)
    assert cio.scan(tmp_path / "back.sav").facts.labels["city"] == {"V": "Vic"}


@pytest.fixture
def dta(tmp_path):
    path = tmp_path / "people.dta"
    frame = pl.DataFrame(
        {
            "age": pl.Series([30.0, "a", None, 20.5], dtype=pl.Object),
            "marital": pl.Series([1, 2, 1, "b"], dtype=pl.Object),
            "city": ["Vic", "é", "", "X"],
            "born": DATES,
            "seen": MOMENTS,
        }
    )
    pyreadstat.write_dta(
        frame,
        path,
        file_label="Survey",
        column_labels={"age": "Age in years"},
        missing_user_values={"age": ["a"], "marital": ["b"]},
        variable_value_labels={"marital": {1: "single", 2: "married", "b": "refused"}},
    )
    return path


@pytest.mark.parametrize("user_missing", ["null", "keep"])
def test_stata_round_trip(dta, tmp_path, user_missing):
    opened = cio.scan(dta, user_missing=user_missing)
    frame = opened.frame.collect()
    kept = user_missing == "keep"
    assert frame["age"].to_list() == [30.0, TAGGED + 1 if kept else None, None, 20.5]
    assert frame["marital"].to_list() == [1, 2, 1, TAGGED + 2 if kept else None]
    assert frame["born"].to_list() == DATES
    assert frame["seen"].to_list() == MOMENTS
    target = tmp_path / "back.dta"
    cio.write(opened.frame, target, opened.facts)
    assert cio.scan(target, user_missing=user_missing).frame.collect().equals(frame)
    before, after = (pyreadstat.read_dta(p, user_missing=True, output_format="dict") for p in (dta, target))
    assert after[1].variable_value_labels["marital"] == before[1].variable_value_labels["marital"]
    assert after[1].column_names_to_labels == before[1].column_names_to_labels
    if kept:
        assert dict(after[0]) == dict(before[0])
        assert after[1].missing_user_values == before[1].missing_user_values


def test_spss_to_stata_and_text(sav, tmp_path):
    opened = cio.scan(sav)
    for name in ("x.dta", "x.parquet", "x.csv"):
        cio.write(opened.frame, tmp_path / name, opened.facts)
        assert (
            cio.scan(tmp_path / name)
            .frame.collect()
            .select("id", "marital", "born")
            .equals(opened.frame.collect().select("id", "marital", "born"))
        )
    assert cio.scan(tmp_path / "x.dta").facts.labels["marital"][2] == "married"


def test_frame_without_facts(tmp_path):
    frame = pl.DataFrame({"a": [1, None], "b": ["x", None], "c": [True, False]})
    for name in ("x.sav", "x.dta"):
        cio.write(frame, tmp_path / name)
        assert cio.scan(tmp_path / name).frame.collect().rows() == [(1, "x", 1), (None, None, 0)]


def test_stata_names(tmp_path):
    with pytest.raises(OutputError, match="does not allow the column name 'marital status'"):
        cio.write(pl.DataFrame({"marital status": [1]}), tmp_path / "x.dta")


def test_options(sav):
    with pytest.raises(ParameterError, match="must be 'null' or 'keep'"):
        cio.scan(sav, user_missing="drop")


def test_sas_transport(tmp_path):
    path = tmp_path / "x.xpt"
    pyreadstat.write_xport(pl.DataFrame({"A": [1.0, 2.5], "S": ["x", "y"]}), path)
    assert cio.scan(path).frame.collect().rows() == [(1.0, "x"), (2.5, "y")]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_suppressed_cell_of_a_labelled_column_is_a_star_again(ending, tmp_path):
    """It was written as a code of its own with the label ``*``: whoever reads the release must count it as suppressed."""

    writer = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
    frame = pl.DataFrame({"region": [1, 2, 10, None]})
    writer(frame, tmp_path / f"x{ending}", variable_value_labels={"region": {1: "north", 2: "south", 10: "*"}})
    assert cio.scan(tmp_path / f"x{ending}").frame.collect()["region"].to_list() == ["1", "2", "*", None]
    writer(frame, tmp_path / f"y{ending}", variable_value_labels={"region": {1: "north", 2: "south", 10: "east"}})
    assert cio.scan(tmp_path / f"y{ending}").frame.collect()["region"].to_list() == [1, 2, 10, None]
