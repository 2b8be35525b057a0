"""A transformation found once is applied to new records, and tells which of them it does not protect."""

from __future__ import annotations

import json

import polars as pl
import pytest

import celosia
from celosia.errors import DataError
from celosia.reuse import apply_record, read_record
from celosia.run import run

POLICY = """
[input]
path = "people.csv"

[schema]
quasi = ["age", "zip"]
sensitive = ["disease"]

[schema.kinds]
zip = "nominal"

[schema.hierarchies]
age = "intervals(width=10)"
zip = {use = "prefixes"}

[[require]]
use = "k-anonymity"
k = 2

[[step]]
use = "METHOD"

[output]
path = "safe.csv"
report = false
"""


@pytest.fixture
def released(tmp_path):
    def make(method):
        people = pl.DataFrame(
            {
                "age": [31, 34, 38, 52, 55, 59],
                "zip": ["13053", "13068", "13053", "14850", "14853", "14850"],
                "disease": ["a", "b", "a", "c", "c", "b"],
            }
        )
        people.write_csv(tmp_path / "people.csv")
        (tmp_path / "policy.toml").write_text(POLICY.replace("METHOD", method))
        return run(tmp_path / "policy.toml")

    return make


def new(ages, zips):
    frame = pl.DataFrame({"age": ages, "zip": zips, "disease": ["a"] * len(ages)})
    return celosia.read(frame, celosia.Schema.of(quasi=["age", "zip"], sensitive=["disease"]))


@pytest.mark.parametrize("method", ["generalise", "local-generalise"])
def test_old_records_get_their_old_cells(released, method, tmp_path):
    release = released(method)
    again = apply_record(tmp_path / "safe.private.json", tmp_path / "people.csv")
    old = release.table.polars().select("age", "zip").sort("age", "zip")
    assert again.table.polars().select("age", "zip").sort("age", "zip").equals(old)
    assert again.holds
    assert not again.unplaced.any()
    assert again.spec()["requirements"][0]["violating"] == 0


def test_new_values_take_the_cell_that_covers_them(released, tmp_path):
    release = released("generalise")
    levels = release.table.history[-1]["levels"]
    assert levels == {"age": 1, "zip": 2}
    # 33 never occurred, but lies in a known interval; so does the area code 130**
    done = apply_record(tmp_path / "safe.private.json", new([33, 36], ["13099", "13001"]))
    assert done.table.polars()["zip"].to_list() == ["130**", "130**"]
    assert len(set(done.table.polars()["age"].to_list())) == 1
    assert done.holds


def test_violating_and_unknown_records_are_named(released, tmp_path):
    released("generalise")
    done = apply_record(tmp_path / "safe.private.json", new([33, 34, 57, 99], ["13053", "13053", "14850", "99999"]))
    assert done.unplaced.tolist() == [False, False, False, True]
    assert done.table.polars()["age"].to_list()[3] == "*"
    assert done.violating["k-anonymity(k=2)"].tolist() == [False, False, True, False]
    assert not done.holds
    # put together with the release the lonely record finds company
    joined = apply_record(tmp_path / "safe.private.json", new([57], ["14850"]), released=tmp_path / "safe.csv")
    assert joined.holds


def test_a_local_transformation_places_what_fits_a_class(released, tmp_path):
    old = set(released("local-generalise").table.polars().select("age", "zip").rows())
    done = apply_record(tmp_path / "safe.private.json", new([31, 99], ["13053", "99999"]))
    cells = done.table.polars().select("age", "zip").rows()
    assert cells[0] in old
    assert done.unplaced[1] == (cells[1] not in old)


def test_bad_records_are_refused(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps({"format": "something"}))
    (tmp_path / "text.json").write_text("not json")
    for name, message in (("other.json", "its format"), ("text.json", "not JSON"), ("none.json", "cannot read")):
        with pytest.raises(DataError, match=message):
            read_record(tmp_path / name)


def test_missing_columns_and_data_dependent_steps_are_refused(released, tmp_path):
    released("generalise")
    with pytest.raises(DataError, match="no column 'zip'"):
        apply_record(
            tmp_path / "safe.private.json",
            celosia.read(pl.DataFrame({"age": [1]}), celosia.Schema.of(quasi=["age"])),
        )
    record = read_record(tmp_path / "safe.private.json")
    record["transformation"][0].pop("transformation")
    with pytest.raises(DataError, match="depends on all records"):
        apply_record(record, new([31], ["13053"]))
