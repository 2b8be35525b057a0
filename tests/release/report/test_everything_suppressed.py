"""A release in which every record is suppressed says so before it says that the requirements hold."""

from __future__ import annotations

import polars as pl

from celosia.release.policy.policy import Policy
from celosia.release.run import run

POLICY = """
require = ["k-anonymity(k=20)"]
[input]
path = "in.csv"
[schema]
quasi = ["sex", "age"]
[[step]]
use = "generalise"
require = ["k-anonymity(k=20)"]
[output]
path = "safe.csv"
"""


def test_the_report_states_that_nothing_is_left(tmp_path):
    pl.DataFrame({"sex": ["F", "M"] * 10, "age": range(20)}).write_csv(tmp_path / "in.csv")
    release = run(Policy.parse(POLICY, tmp_path))
    assert release.holds
    page = release.paths["report"].read_text("utf-8")
    assert "Every quasi-identifier of every record is suppressed" in page
    assert "Every requirement holds for the released file." not in page
