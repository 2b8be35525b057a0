"""What the first page tells somebody who decides to watch, and only where there is reason."""

from __future__ import annotations

import polars as pl
import pytest

from celosia.release.report import render
from celosia.release.report.texts import words
from celosia.release.run import run

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age"]
{schema}
{require}
[output]
path = "safe.csv"
{more}
"""
K = '[[require]]\nuse = "k-anonymity"\nk = 5\n'
L = '[[require]]\nuse = "l-diversity"\nl = 2\n'
REASONS = ("unmet", "none", "guard", "sensitive", "small", "known", "search")


def watched(place, sizes, schema="", require=K, more=""):
    """Which reasons stand on the first page."""
    ages = [age for age, size in enumerate(sizes) for _ in range(size)]
    pl.DataFrame({"age": ages, "ill": ["yes", "no"] * (len(ages) // 2)}).write_csv(place / "people.csv")
    (place / "policy.toml").write_text(POLICY.format(schema=schema, require=require, more=more))
    text = render(run(place / "policy.toml"), edition="internal", language="en")
    said = {reason: words("en")[f"watch_{reason}"] for reason in REASONS}
    return [name for name, told in said.items() if max(told.replace("}", "{").split("{")[::2], key=len) in text]


@pytest.mark.parametrize(
    ("sizes", "given", "expected"),
    [
        ((11, 11), {"schema": 'sensitive = ["ill"]', "require": K + L}, []),
        ((10, 12), {"schema": 'sensitive = ["ill"]', "require": K + L}, ["small"]),
        ((11, 11), {"schema": 'insensitive = ["ill"]'}, ["known"]),
        ((11, 11), {"schema": 'sensitive = ["ill"]'}, ["sensitive"]),
        ((11, 11), {"schema": 'insensitive = ["ill"]', "require": ""}, ["none", "known"]),
    ],
)
def test_each_reason_is_told_where_it_holds(tmp_path, sizes, given, expected):
    assert watched(tmp_path, sizes, **given) == expected
