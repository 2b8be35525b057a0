"""Estimated counts: two of ten values under a cell are a fifth of it, however the column was recoded."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import ParameterError, SchemaError
from celosia.methods.generalisation.anatomise import Anatomise
from celosia.methods.generalisation.recode import Recode
from celosia.views.estimates import estimated_count

# the four patients of the lecture in [35-40): two with a heart disease, spread over five ages
DISEASE = ["COVID", "COVID", "Heart", "Heart"]
FIFTH = {
    "intervals": ([36, 38, 38, 38], "intervals(width=5)", 1, 38),
    "closed intervals": ([36, 38, 38, 38], "intervals(width=5, style=closed)", 1, 38),
    "written ranges": ([36, 38, 38, 38], "intervals(width=5, style=range)", 1, 38),
    "wide intervals": ([36, 38, 38, 38], "intervals(width=5, count=2)", 2, [31, 38]),
    "prefixes": (["13051", "13057", "13053", "13053"], "prefixes", 1, ["13053", "13058"]),
    "two digits": (["13051", "13057", "13053", "13068"], "prefixes(masked=[2])", 1, [str(n) for n in range(13040, 13060)]),
    "months": ([date(2021, 6, d) for d in (1, 2, 3, 4)], "dates", 1, [date(2021, 6, d) for d in range(3, 9)]),
    "years": (["2021-06-01", "2021-02-03", "2021-06-03", "2021-12-04"], "dates(units=[year])", 1,
              [date(2021, 1, 1) + timedelta(days=5 * d) for d in range(73)]),
    "own dates": (["01/06/2021", "02/06/2021", "03/06/2021", "04/06/2021"], "dates(formats=['%d/%m/%Y'])", 1,
                  [f"{d:02}/06/2021" for d in range(3, 9)]),
}  # fmt: skip


def recoded(way):
    values, hierarchy, level, asked = FIFTH[way]
    schema = celosia.Schema.of(quasi=["x"], sensitive=["d"], hierarchies={"x": hierarchy})
    table = celosia.read(pl.DataFrame({"x": values, "d": DISEASE}), schema)
    return celosia.protect(table, Recode(column="x", level=level)), hierarchy, asked


@pytest.mark.parametrize("way", FIFTH)
def test_two_of_ten_values_in_memory_and_from_the_file(way, tmp_path):
    table, hierarchy, asked = recoded(way)
    question = ({"x": asked}, {"d": "Heart"})
    assert estimated_count(table, *question) == pytest.approx(0.4)
    table.polars().write_csv(tmp_path / "safe.csv")
    roles = {"quasi": ["x"], "sensitive": ["d"]}
    again = celosia.read(tmp_path / "safe.csv", celosia.Schema.of(**roles, hierarchies={"x": hierarchy}))
    assert estimated_count(again, *question) == pytest.approx(0.4)
    if way in ("months", "years"):
        again = celosia.read(tmp_path / "safe.csv", celosia.Schema.of(**roles, kinds={"x": "date"}))
    elif way != "own dates":  # nobody can know in which notation days would be written
        again = celosia.read(tmp_path / "safe.csv", celosia.Schema.of(**roles))
    assert estimated_count(again, *question) == pytest.approx(0.4)


def test_the_lecture_by_breaks():
    table = celosia.read(
        pl.DataFrame({"age": [36, 38, 38, 38], "d": DISEASE}), celosia.Schema.of(quasi=["age"], sensitive=["d"])
    )
    safe = celosia.protect(table, Recode(column="age", breaks=[35, 40]))
    assert estimated_count(safe, {"age": 38}, {"d": "Heart"}) == pytest.approx(0.4)


def test_two_tables_in_memory_and_from_the_files(tmp_path):
    data = pl.DataFrame({"age": [30] * 3 + [32] * 3 + [36, 38, 38, 38], "d": ["Flu", "HIV"] * 3 + DISEASE})
    table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["d"]))
    question = ({"age": 38}, {"d": "Heart"})
    exact = celosia.protect(table, Anatomise(l=2))
    group = exact.polars().filter(age=38)["group"][0]
    assert exact.polars()["group"].to_list().count(group) == 4
    assert estimated_count(exact, *question) == pytest.approx(3 * 2 / 4)
    coarse = celosia.protect(table, Recode(column="age", breaks=[30, 35, 40]), Anatomise(l=2))
    assert estimated_count(coarse, *question) == pytest.approx(4 / 5 * 2 / 4)
    for safe, expected in ((exact, 1.5), (coarse, 0.4)):
        safe.polars().write_csv(tmp_path / "safe.csv")
        safe.private_history[-1]["tables"]["sensitive"].polars().write_csv(tmp_path / "sensitive.csv")
        first = celosia.read(tmp_path / "safe.csv", celosia.Schema.of(quasi=["age"]))
        assert estimated_count(first, *question, counts=tmp_path / "sensitive.csv") == pytest.approx(expected)
    with pytest.raises(ParameterError, match="the second table of the anatomy"):
        estimated_count(first, *question)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-30, 90), st.sampled_from("xy")), min_size=1, max_size=25),
    st.sampled_from([2, 5, 7, 10]),
    st.integers(1, 2),
    st.sets(st.integers(-40, 99), min_size=1, max_size=20),
)
def test_ranges_by_listing_their_numbers(rows, width, level, asked):
    schema = celosia.Schema.of(quasi=["n"], sensitive=["s"], hierarchies={"n": f"intervals(width={width}, count=2)"})
    table = celosia.read(pl.DataFrame(rows, schema=["n", "s"], orient="row"), schema)
    safe = celosia.protect(table, Recode(column="n", level=level))
    wide = width * 2 ** (level - 1)
    expected = 0.0
    for n, s in rows:
        cell = [v for v in range(-200, 200) if v // wide == n // wide]
        expected += (s == "x") * len(asked & set(cell)) / len(cell)
    assert estimated_count(safe, {"n": sorted(asked)}, {"s": "x"}) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 999), st.sampled_from("xy")), min_size=1, max_size=25),
    st.integers(1, 2),
    st.sets(st.integers(0, 999), min_size=1, max_size=40),
)
def test_prefixes_by_listing_their_codes(rows, level, asked):
    data = pl.DataFrame({"n": [f"{n:03}" for n, _ in rows], "s": [s for _, s in rows]})
    table = celosia.read(data, celosia.Schema.of(quasi=["n"], sensitive=["s"], hierarchies={"n": "prefixes"}))
    safe = celosia.protect(table, Recode(column="n", level=level))
    step = 10**level
    expected = sum((s == "x") * sum(a // step == n // step for a in asked) / step for n, s in rows)
    assert estimated_count(safe, {"n": [f"{a:03}" for a in asked]}, {"s": "x"}) == pytest.approx(expected)


DAYS = st.dates(date(2019, 11, 1), date(2022, 3, 1))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(DAYS, st.sampled_from("xy")), min_size=1, max_size=20),
    st.integers(0, 3),
    st.sets(DAYS, min_size=1, max_size=20),
)
def test_dates_by_listing_their_days(rows, level, asked):
    table = celosia.read(
        pl.DataFrame(rows, schema=["n", "s"], orient="row"),
        celosia.Schema.of(quasi=["n"], sensitive=["s"], hierarchies={"n": "dates"}),
    )
    safe = celosia.protect(table, Recode(column="n", level=level))

    def period(day):
        parts = (day.year, day.month, day.day), (day.year, day.month), (day.year, (day.month - 1) // 3), (day.year,)
        return parts[level]

    every = [date(2019, 1, 1) + timedelta(days=d) for d in range(365 * 5)]
    expected = 0.0
    for n, s in rows:
        cell = {day for day in every if period(day) == period(n)}
        expected += (s == "x") * len(asked & cell) / len(cell)
    assert estimated_count(safe, {"n": sorted(asked)}, {"s": "x"}) == pytest.approx(expected)


def test_bounds_close_open_ranges():
    data = pl.DataFrame({"age": ["≥60", "<30", "*", "[30-60)"], "s": ["y"] * 4})
    roles = {"quasi": ["age"], "sensitive": ["s"], "kinds": {"age": "numeric"}}
    table = celosia.read(data, celosia.Schema.of(**roles, bounds={"age": (10, 79)}))
    # 60 … 79, 10 … 29, 10 … 79, 30 … 59
    found = estimated_count(table, {"age": [65, 20, 35, 36]}, {"s": "y"})
    assert found == pytest.approx(1 / 20 + 1 / 20 + 4 / 70 + 2 / 30)
    unbounded = celosia.read(data, celosia.Schema.of(**roles))
    with pytest.raises(SchemaError, match="declare bounds"):
        estimated_count(unbounded, {"age": 65}, {"s": "y"})
    assert estimated_count(unbounded.take(unbounded.ids()[[0, 3]]), {"age": 35}, {"s": "y"}) == pytest.approx(1 / 30)


def test_letters_behind_stars_are_not_known():
    table = celosia.read(
        pl.DataFrame({"code": ["AB*"], "s": ["y"]}), celosia.Schema.of(quasi=["code"], sensitive=["s"])
    )
    assert estimated_count(table, {"code": "AB7"}, {"s": "y"}) == pytest.approx(1 / 10)
    with pytest.raises(SchemaError, match="declare a hierarchy"):
        estimated_count(table, {"code": "ABC"}, {"s": "y"})


def test_a_value_asked_for_twice_counts_once():
    table, _, _ = recoded("intervals")
    assert estimated_count(table, {"x": [38, 38, "38", 38.0]}, {"d": "Heart"}) == pytest.approx(0.4)


def test_a_set_of_labels_is_all_that_its_labels_hold():
    data = pl.DataFrame({"zip": ["{130**, 1485*}"], "s": ["y"]})
    table = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["s"]))
    assert estimated_count(table, {"zip": ["13053", "14851", "20000"]}, {"s": "y"}) == pytest.approx(2 / 110)


def released(place, data, hierarchies, *steps):
    """Write a release by a policy, and give the table that a stranger reads from it."""
    data.write_csv(place / "people.csv")
    policy = {
        "input": {"path": str(place / "people.csv")},
        "schema": celosia.Schema.of(quasi=["x"], sensitive=["d"], hierarchies=hierarchies),
        "step": list(steps),
        "output": {"path": str(place / "safe.csv"), "report": False},
    }
    assert celosia.run(celosia.Policy.of(policy)).holds
    return celosia.read(place / "safe.csv")


@pytest.mark.parametrize("way", ["intervals", "prefixes", "two digits", "months", "years"])
def test_a_stranger_estimates_from_the_files_of_a_release(way, tmp_path):
    """No schema, no hierarchy, no secrets: the published labels tell what they hold."""
    values, hierarchy, level, asked = FIFTH[way]
    step = {"use": "recode", "column": "x", "level": level}
    safe = released(tmp_path, pl.DataFrame({"x": values, "d": DISEASE}), {"x": hierarchy}, step)
    assert not safe.private_history
    assert estimated_count(safe, {"x": asked}, {"d": "Heart"}) == pytest.approx(0.4)


def test_a_stranger_estimates_from_the_two_tables_of_a_release(tmp_path):
    data = pl.DataFrame({"x": [30] * 3 + [32] * 3 + [36, 38, 38, 38], "d": ["Flu", "HIV"] * 3 + DISEASE})
    safe = released(tmp_path, data, {}, {"use": "anatomise", "l": 2})
    (second,) = (path for path in tmp_path.glob("safe*.csv") if path.name != "safe.csv")
    assert estimated_count(safe, {"x": 38}, {"d": "Heart"}, counts=second) == pytest.approx(1.5)
