"""What a method declares about rows and memory binds it when it is run."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
import pytest

import celosia
from celosia.data.engines.polars import Polars
from celosia.errors import DataError
from celosia.parts import Method
from celosia.parts.method import Rows
from celosia.table import Outcome
from celosia.table.derive import new_records

TABLE = celosia.read(pl.DataFrame({"age": [30, 31, 47]}), celosia.Schema.of(quasi=["age"]))


class _Untrue(Method):
    """Makes new rows and says that they are the same."""

    name: ClassVar[str] = "untrue"

    def apply(self, table, stream):
        return Outcome(new_records(table, table.polars()))


class _Unchanged(Method):
    """Leaves the rows and says that they are new."""

    name: ClassVar[str] = "unchanged"
    rows: ClassVar[Rows] = "new"

    def apply(self, table, stream):
        return Outcome(table)


@pytest.mark.parametrize("method", [_Untrue(), _Unchanged()], ids=str)
def test_a_method_that_makes_other_rows_than_it_declares_is_an_error(method):
    with pytest.raises(TypeError, match="declares its rows as"):
        celosia.protect(TABLE, method)


def test_protect_and_run_give_the_same_cells(tmp_path):
    """The stream of a step depends on the steps, never on names that a policy gives to them."""
    frame = pl.DataFrame({"age": [30, 31, 47] * 40, "income": [float(i % 7) for i in range(120)]})
    frame.write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(
        """
        input.path = "in.csv"
        schema = {quasi = ["age"], sensitive = ["income"]}
        step = [
            {name = "first", use = "pram", columns = ["age"]},
            {name = "second", use = "noise", columns = ["income"], p = 0.5},
            {use = "noise", columns = ["income"], p = 0.5},
        ]
        output = {path = "out.csv", order = "kept", report = false}
        run = {seed = 7, testing = true}
        """
    )
    celosia.run(tmp_path / "policy.toml")
    released = pl.read_csv(tmp_path / "out.csv")
    table = celosia.read(tmp_path / "in.csv", celosia.Schema.of(quasi=["age"], sensitive=["income"]))
    noise = "noise(columns=income, p=0.5)"
    protected = celosia.protect(table, "pram(columns=age)", noise, noise, seed=7).polars()
    assert released.equals(protected.select(released.columns))
    assert not released["income"].equals(frame["income"])


def test_a_table_beyond_the_bound_gets_only_methods_that_need_no_memory(monkeypatch):
    monkeypatch.setattr(Polars, "_column_limit", 2)
    assert len(celosia.protect(TABLE, "round(columns=age, base=10)").polars()) == 3
    for method in ("round(columns=age, base=10, way=random)", "rank-swap(columns=age, window=0.5)"):
        with pytest.raises(DataError, match="needs whole columns in memory: 3 rows, and polars brings at most 2"):
            celosia.protect(TABLE, method)
