"""Steps that write into records which an earlier step suppressed."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia import methods, models
from celosia.errors import DataError

AGES = [20] * 6 + [30] * 6 + list(range(40, 52))


def table(engine: str = "polars") -> celosia.Table:
    frame = pl.DataFrame({"age": AGES, "zip": ["a"] * 24, "ill": ["x", "y"] * 12})
    return celosia.read(frame, celosia.Schema.of(quasi=["age", "zip"], sensitive=["ill"]), engine=engine)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_recoding_numbers_keeps_the_stars_of_suppressed_records(engine):
    steps = methods.SuppressRecords(require=[models.KAnonymity(k=3)]), methods.Recode(column="age", breaks=[25])
    done = celosia.protect(table(engine), *steps)
    assert done.suppressed() == 12
    assert done.polars()["age"].value_counts().sort("age").rows() == [("*", 12), ("<25", 6), ("≥25", 6)]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    "step",
    [
        {"use": "recode", "column": "age", "breaks": [25, 35], "outside": "missing"},
        {"use": "recode", "column": "zip", "mapping": {"*": "other"}},
        {"use": "pram", "columns": ["zip"], "diagonal": 0.5},
        {"use": "sequential-trees", "columns": ["zip"], "copies": 2},
    ],
)
def test_records_in_which_a_step_writes_are_counted_as_the_file_shows_them(tmp_path, engine, step):
    table().polars().write_csv(tmp_path / "in.csv")
    policy = celosia.Policy.of(
        {
            "input": {"path": str(tmp_path / "in.csv")},
            "schema": {"quasi": ["age", "zip"], "sensitive": ["ill"]},
            "step": [{"use": "suppress-records", "require": "k-anonymity(k=3)"}, step],
            "run": {"engine": engine},
            "output": {"path": str(tmp_path / "out.csv"), "report": False},
        }
    )
    stated = celosia.run(policy).certificate["release"]["suppressed"]
    written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert stated == written.filter((pl.col("age") == "*") & (pl.col("zip") == "*")).height


@pytest.mark.parametrize("method", ["tree-generalise(columns=[zip], k=3)", "fuzzy-recode(columns=[age], cells=2)"])
def test_a_table_in_which_nothing_is_left_is_refused(method):
    gone = celosia.protect(table(), "suppress-records(require=[k-anonymity(k=20)])")
    with pytest.raises(DataError):
        celosia.protect(gone, method)
    nothing = celosia.read(pl.DataFrame({"age": [None, None], "zip": ["a", "b"]}, schema_overrides={"age": pl.Int64}))
    with pytest.raises(DataError, match="no values"):
        celosia.protect(nothing, "fuzzy-recode(columns=[age], cells=2)")
