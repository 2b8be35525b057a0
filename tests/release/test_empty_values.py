"""Empty and missing sensitive values together: one missing value for models, file and second implementation."""

from __future__ import annotations

import polars as pl
import pytest

import celosia


@pytest.mark.parametrize("output", ["csv", "parquet"])
@pytest.mark.parametrize("values", [["flu", "", None, "hiv"], ["", None, "", None]], ids=["some", "all"])
def test_empty_and_missing_sensitive_values_are_one(tmp_path, values, output):
    pl.DataFrame({"zip": ["a", "b"] * 8, "dis": values * 4}).sort("zip").write_parquet(tmp_path / "in.parquet")
    policy = {
        "input": {"path": str(tmp_path / "in.parquet")},
        "schema": {"quasi": ["zip"], "sensitive": ["dis"]},
        "require": ["l-diversity(l=1)", "t-closeness(t=1)", "alpha-k(alpha=1)"],
        "measure": {"risks": ["homogeneity"]},
        "output": {"path": str(tmp_path / f"out.{output}")},
    }
    release = celosia.run(celosia.Policy.of(policy))
    assert release.certificate["requirements"][0]["value"] == 1
    assert set(release.certificate["checked"]["confirmed"]) >= {
        "l-diversity(l=1.0)",
        "alpha-k(alpha=1.0)",
        "homogeneity",
    }
    assert release.table.column("dis").null_count() == 4 * sum(not value for value in values)
