"""A second table as a parameter: how it is opened, how it is written down, and what remembers it."""

from __future__ import annotations

import gc
from pathlib import Path

import polars as pl
import pytest
from pydantic import BaseModel

import celosia
from celosia.table.source import Same, Source, open_source

FRAME = pl.DataFrame({"age": [30, 31], "zip": ["08001", "17001"]})


class Asking(BaseModel):
    people: Source = None


@pytest.mark.parametrize("form", ["frame", "table", "path", "text", "mapping", "url"])
def test_every_form_opens_the_same_rows(tmp_path, form):
    path = tmp_path / "people.csv"
    FRAME.write_csv(path, separator="|")
    base = tmp_path / "people.db"
    FRAME.write_database("people", f"sqlite:///{base}")
    source = {
        "frame": FRAME,
        "table": celosia.read(FRAME),
        "path": path,
        "text": str(path),
        "mapping": {"path": path, "separator": "|"},
        "url": {"url": f"sqlite:///{base}", "query": "SELECT age, zip FROM people"},
    }[form]
    assert open_source(source).polars().rows() == FRAME.rows()
    if isinstance(source, dict):
        assert set(source) in ({"path", "separator"}, {"url", "query"}), "what was given is as it was"


def test_options_of_a_mapping_reach_the_reader(tmp_path):
    path = tmp_path / "people.csv"
    FRAME.write_csv(path)
    assert open_source({"path": path, "text": ["age"]}).polars()["age"].to_list() == ["30", "31"]
    schema = celosia.Schema.of(quasi=["zip"])
    assert open_source({"path": path}, schema).schema.quasi == ("zip",)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (None, None),
        ("people.csv", "people.csv"),
        (Path("a") / "people.csv", str(Path("a") / "people.csv")),
        ({"url": "env:BASE", "query": "SELECT 1"}, {"url": "env:BASE", "query": "SELECT 1"}),
        (FRAME, "<DataFrame>"),
    ],
)
def test_a_source_is_written_without_its_rows(given, written):
    assert Asking(people=given).model_dump()["people"] == written


def test_an_object_is_remembered_by_itself_and_kept():
    one, equal = [1], [1]
    cache = {Same(one): "one"}
    assert cache[Same(one)] == "one"
    assert Same(equal) not in cache
    assert Same(one) != one
    assert Same(one) != Same(equal)
    known = {Same([k]) for k in range(50)}
    gc.collect()
    assert not any(Same([k]) in known for k in range(50)), "a place in memory is not given to another object"


def test_the_population_of_one_frame_is_not_that_of_another():
    table = celosia.read(FRAME, celosia.Schema.of(quasi=["zip"]))
    for times in (1, 3, 2):
        people = pl.concat([FRAME.select("zip")] * times)
        assert table.class_counts((), people).population.tolist() == [times, times]
