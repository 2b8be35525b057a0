"""Tables of the source documents, and names of the reference files, that several tests look at."""

from __future__ import annotations

import polars as pl
import pytest

import celosia

ADULT = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)
"""The quasi-identifiers of ``data/adult``, each with a hierarchy."""
CENSUS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
"""The columns of ``data/adult.data``."""
PATIENTS = {
    "zip": ["13053", "13068", "13068", "13053", "14853", "14853", "14850", "14850", "13053", "13053", "13068", "13068"],
    "age": [28, 29, 21, 23, 50, 55, 47, 59, 31, 37, 36, 32],
}
"""The twelve patients of the lecture."""
FEW_SUPPRESSED = """
[input]
path = "people.csv"
[schema]
quasi = ["age", "city"]
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[output]
path = "out/safe.csv"
"""
"""A small policy."""


def adult_tables(shared, *columns):
    """The table of ``data/adult`` with these quasi-identifiers, the others sensitive, once for each choice."""
    folder = shared / "data/adult"
    if not folder.exists():
        pytest.skip("needs the reference data, which are not part of the project")
    frame = pl.read_csv(folder / "adult.csv", separator=";")
    files = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in ADULT}
    return [
        celosia.read(
            frame,
            celosia.Schema.of(quasi=quasi, sensitive=[n for n in ADULT if n not in quasi], hierarchies=files),
        )
        for quasi in columns
    ]
