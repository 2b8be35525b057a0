"""What only the internal edition shows: classes that disclose a value, whoever the rows belong to."""

import polars as pl
import pytest

import celosia
from celosia.data.engines import engine_named
from celosia.release.report.facts import internal_of
from celosia.release.run import run

ROWS = pl.DataFrame(
    {
        "who": ["a", "a", "b", "c", "d", "d", None, "e"],
        "age": [20, 20, 20, 30, 30, 30, 40, 40],
        "ill": ["flu", "flu", "flu", "flu", "cold", "cold", "cold", None],
    }
)
"""At 20 two persons with one disease, at 30 two persons with one each, at 40 a missing value is a value of its own."""


@pytest.mark.parametrize("beyond_memory", [False, True])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_classes_that_disclose_a_value(engine, beyond_memory, tmp_path, monkeypatch):
    if beyond_memory:
        monkeypatch.setattr(type(engine_named(engine)), "resident", lambda *_: None)
    ROWS.write_parquet(tmp_path / "rows.parquet")
    policy = celosia.Policy.of(
        {
            "input": {"path": "rows.parquet"},
            "schema": {"quasi": ["age"], "sensitive": ["ill"], "person": "who"},
            "require": ["k-anonymity(k=1)"],
            "guard": {"acknowledge": {"age": "a test", "ill": "a test"}},
            "output": {"path": "safe.csv", "report": False},
            "run": {"engine": engine},
        },
        tmp_path,
    )
    told = internal_of(run(policy))
    assert told.homogeneous.rows() == [(20, "ill")]
    assert told.smallest.sort("age").rows() == [(20, 2), (30, 2), (40, 2)], "the missing id is one person"
