"""Generalised tables of the source documents, made again from their raw tables."""

from __future__ import annotations

import polars as pl
import pytest
from tests.reference.sources import PATIENTS

import celosia
from celosia.hierarchy.intervals import Intervals
from celosia.hierarchy.prefixes import Prefixes
from celosia.methods.generalisation.recode import Recode
from celosia.models.k_anonymity import KAnonymity
from celosia.table.columns import hierarchy_levels
from celosia.table.edit import map_values

LECTURE = pl.DataFrame(
    {
        "name": ["Alice", "Cathy", "Bob", "Doug", "Emily", "Fred", "Gladys", "Henry", "Irene"],
        "job": ["Writer", "Engineer", "Writer", "Lawyer", "Dancer", "Dancer", "Engineer", "Lawyer", "Dancer"],
        "sex": ["Female", "Female", "Male", "Male", "Female", "Male", "Female", "Male", "Female"],
        "age": [30, 35, 30, 38, 30, 38, 30, 39, 32],
    }
)


def test_nine_people_of_the_lecture(engine):
    jobs = {"Artist": ["Writer", "Dancer"], "Professional": ["Engineer", "Lawyer"]}
    schema = celosia.Schema.of(
        identifiers=["name"], quasi=["job", "sex", "age"], hierarchies={"job": jobs, "age": Intervals(width=5)}
    )
    raw = celosia.read(LECTURE, schema, engine=engine)
    safe = celosia.protect(raw, Recode(column="job", level=1), Recode(column="age", level=1), seed=1)
    A, P = "Artist", "Professional"
    assert safe.polars()["job"].to_list() == [A, P, A, P, A, A, P, P, A]
    low, high = "[30-35)", "[35-40)"
    assert safe.polars()["age"].to_list() == [low, high, low, high, low, high, low, high, low]
    assert sorted(KAnonymity(k=2).classes(safe)["size"].to_list()) == [1, 1, 1, 1, 2, 3]
    for quasi, k in ((["job"], 4), (["sex", "age"], 1)):
        seen = celosia.read(safe.polars(), celosia.Schema.of(quasi=quasi))
        assert KAnonymity(k=2).value(seen) == k


def test_twelve_patients_of_the_lecture():
    schema = celosia.Schema.of(
        quasi=["zip", "age"], hierarchies={"zip": Prefixes(), "age": Intervals(breaks=(30, 41), style="range")}
    )
    raw = celosia.read(pl.DataFrame(PATIENTS), schema)
    assert KAnonymity(k=4).value(raw) == 1
    zips = hierarchy_levels(raw, "zip")
    mixed = map_values(raw, "zip", zips.values, zips.cut(["130**", "1485*"]))
    safe = celosia.protect(mixed, Recode(column="age", level=1), seed=1)
    assert safe.polars()["zip"].to_list() == ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4
    assert safe.polars()["age"].to_list() == ["<30"] * 4 + [">40"] * 4 + ["30-40"] * 4
    assert KAnonymity(k=4).value(safe) == 4
    for level, k in ((2, 4), (1, 2)):  # a uniform mask of two digits, of one
        uniform = celosia.protect(raw, Recode(column="zip", level=level), Recode(column="age", level=1), seed=1)
        assert KAnonymity(k=4).value(uniform) == k


def test_table_16_from_table_15():
    raw = pl.DataFrame(
        {
            "occupation": [
                *("Runner", "School teacher", "Police det.", "Professor", "Student"),
                *("Police capt.", "Boxer", "Horse rider", "Military lt."),
            ],
            "zip": ["80222", "40831", "97206", "40831", "40831", "97206", "80237", "80911", "97201"],
            "age": [42, 28, 51, 23, 12, 68, 30, 46, 55],
            "marital": [
                *("Married", "Divorced", "Widow/er", "Married", "Single"),
                *("Single", "Divorced", "Married", "Single"),
            ],
        }
    )
    sectors = {
        "Sports": ["Runner", "Boxer", "Horse rider"],
        "Education": ["School teacher", "Professor", "Student"],
        "Law enforcement": ["Police det.", "Police capt.", "Military lt."],
    }
    hierarchies = {
        "occupation": sectors,
        "zip": Prefixes(masked=(3,)),
        "age": Intervals(width=20, origin=10, style="closed"),
        "marital": {"Divorced or Widow/er": ["Divorced", "Widow/er"], "Married": [], "Single": []},
    }
    table = celosia.read(raw, celosia.Schema.of(quasi=raw.columns, hierarchies=hierarchies))
    safe = celosia.protect(table, *(Recode(column=name, level=1) for name in raw.columns), seed=1).polars()
    S, E, L, DW = "Sports", "Education", "Law enforcement", "Divorced or Widow/er"
    young, middle, old = "[10, 29]", "[30, 49]", "[50, 69]"
    assert safe["occupation"].to_list() == [S, E, L, E, E, L, S, S, L]
    assert safe["zip"].to_list() == [f"{c}***" for c in (80, 40, 97, 40, 40, 97, 80, 80, 97)]
    assert safe["age"].to_list() == [middle, young, old, young, young, old, middle, middle, old]
    assert safe["marital"].to_list() == ["Married", DW, DW, "Married", "Single", "Single", DW, "Married", "Single"]


@pytest.mark.parametrize(("breaks", "classes"), [((30, 40, 50), [3, 1, 1, 1, 1, 1, 2, 2])])
def test_first_partition_of_the_thesis(breaks, classes):
    data = {
        "zip": [47677, 47602, 47678, 47905, 47979, 47906, 47973, 47607, 47906, 47925, 47923, 47923],
        "age": [29, 22, 27, 43, 52, 47, 36, 32, 55, 56, 61, 67],
        "salary": [3.5, 3.5, 5, 7, 7, 8, 9, 10, 9, 9, 10, 15],
    }
    hierarchies = {
        "zip": Prefixes(masked=(2,)),
        "age": Intervals(breaks=breaks, right=True),
        "salary": Intervals(breaks=(5, 7, 9), right=True),
    }
    table = celosia.read(pl.DataFrame(data), celosia.Schema.of(quasi=list(data), hierarchies=hierarchies))
    safe = celosia.protect(table, *(Recode(column=name, level=1) for name in data), seed=1)
    # {1,2,3}, {4}, {5}, {6}, {7}, {8}, {9,10}, {11,12}: record 10 has salary 9 and belongs to (7, 9]
    assert sorted(KAnonymity(k=1).classes(safe)["size"].to_list()) == sorted(classes)
    assert KAnonymity(k=2).value(safe) == 1
