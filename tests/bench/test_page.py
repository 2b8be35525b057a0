"""The kept results and the pages that are made from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.comparison.measuring import exponent
from bench.comparison.page import as_html, as_markdown
from bench.comparison.running import FORM
from bench.comparison.tasks import TASKS

KEPT = Path(__file__).resolve().parents[2] / "docs" / "assets" / "benchmarks.json"


@pytest.fixture(scope="module")
def kept():
    return json.loads(KEPT.read_text("utf-8"))


def test_the_kept_results_say_where_they_were_measured_and_with_what(kept):
    assert kept["form"] == FORM
    assert {"processor", "cores", "memory", "python", "calibration", "date"} <= set(kept["machine"])
    assert {"celosia", "polars", "duckdb", "numpy", "numba"} <= set(kept["versions"])
    assert {row["tool"].split()[0] for row in kept["reference"]} <= {"ARX", "sdcMicro"}


def test_every_kept_exponent_follows_from_the_times_beside_it(kept):
    known = {task.name: task for task in TASKS}
    for task in kept["tasks"]:
        assert task["limit"] == known[task["name"]].limit
        for who, slope in task["exponents"].items():
            times = [(row["rows"], row["cpu"]) for row in task["results"] if row["who"] == who]
            assert slope == exponent(times)


ASKED = {"classes": 1.05, "mondrian": 1.2, "microaggregate": 1.15}
"""The largest exponents that are allowed."""


def test_the_kept_exponents_keep_to_their_limits(kept):
    assert {task.name: task.limit for task in TASKS if task.limit is not None} == ASKED
    kept_ones = {task["name"]: task["exponents"] for task in kept["tasks"]}
    for name, limit in ASKED.items():
        ours = {who: slope for who, slope in kept_ones[name].items() if who.startswith("Celosia")}
        assert ours, f"{name} was not measured"
        assert {who: slope for who, slope in ours.items() if slope > limit} == {}


def test_the_page_tells_all_that_was_measured_and_who_was_left_out(kept):
    page, charts = as_markdown(kept), as_html(kept)
    for task in kept["tasks"]:
        assert task["title"] in page
        assert charts.count(f"<figcaption>{task['title']}: ") == (2 if task["results"] else 0)
        for skipped in task["skipped"]:
            assert skipped["reason"] in page
    for row in kept["reference"]:
        assert f"{row['ratio']:g} ×" in page


def test_an_exponent_is_the_slope_on_logarithmic_scales():
    # time = rows ** 1.5, a constant factor does not matter; a single size has no slope
    assert exponent([(n, 3e-9 * n**1.5) for n in (10**6, 10**7, 10**8)]) == 1.5
    assert exponent([(10_000, 1.0)]) is None
    # sizes below a hundredth of the largest, where the start of the work counts most, are left out
    assert exponent([(1_000, 1.0), (10_000, 1.0), (100_000, 10.0), (1_000_000, 100.0)]) == 1.0
