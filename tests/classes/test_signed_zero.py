"""A zero has no sign: −0.0 and 0.0 are one value in memory, and one text in a file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import Schema, methods, models
from celosia.cli.main import run as command
from celosia.table.derive import new_records
from celosia.table.edit import map_values
from celosia.table.suppression import suppress_records

ZEROS = pl.DataFrame({"x": [0.0, -0.0, 1.0, 1.0], "y": pl.Series([-0.0, 2.5, None, math.nan], dtype=pl.Float32)})


def signs(column: pl.Series) -> int:
    """How many zeros have a sign."""
    values = column.cast(pl.Float64).to_numpy()
    return int((np.signbit(values) & (values == 0)).sum())


def test_a_zero_that_is_read_has_no_sign(engine):
    assert signs(ZEROS["x"]) == signs(ZEROS["y"]) == 1
    table = celosia.read(ZEROS, Schema.of(quasi=["x"]), engine=engine)
    made = table.polars()
    assert signs(made["x"]) == signs(made["y"]) == 0
    assert made["x"].to_list() == [0.0, 0.0, 1.0, 1.0]
    assert made["y"].dtype == pl.Float32
    assert made["y"][1:3].to_list() == [2.5, None]


def test_a_class_stays_one_when_its_values_become_text(engine):
    """With a record suppressed the column becomes text, and the two zeros were told apart."""
    table = celosia.read(ZEROS, Schema.of(quasi=["x"]), engine=engine)
    assert models.KAnonymity(k=2).value(table) == 2
    starred = suppress_records(table, np.array([False, False, True, True]))
    assert starred.polars()["x"].to_list() == ["0", "0", "*", "*"]
    assert models.KAnonymity(k=2).value(starred) == 2


MAKING = {
    "round": methods.Round(columns=["x"], base=1),
    "noise": methods.MultiplicativeNoise(columns=["x"], p=0.1),
    "swap": methods.RankSwap(columns=["x"], window=0.5),
}


@pytest.mark.parametrize("method", MAKING)
def test_a_zero_that_a_method_makes_has_no_sign(engine, method):
    table = celosia.read(pl.DataFrame({"x": [-0.4, 0.4, -0.0, 0.0, -1.2, 1.2]}), engine=engine)
    assert signs(celosia.protect(table, MAKING[method], seed=1).polars()["x"]) == 0


def test_columns_that_are_put_into_a_table_have_no_signed_zero(engine):
    table = celosia.read(ZEROS, engine=engine)
    for changed in (
        table.replace({"x": np.array([-0.0, 1.0, 2.0, 3.0])}),
        map_values(table, "x", [0.0, 1.0], [-0.0, 5.0]),
        new_records(table, ZEROS),
    ):
        assert signs(changed.column("x")) == signs(changed.polars()["x"]) == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_has_one_text_for_zero(tmp_path: Path, engine, ending):
    (tmp_path / "in.csv").write_text("x,y\n-0.0,b\n0.0,b\n1.5,c\n1.5,c\n")
    (tmp_path / "p.toml").write_text(
        f'[input]\npath = "in.csv"\nengine = "{engine}"\n[schema]\nquasi = ["x", "y"]\n'
        f'[[require]]\nuse = "k-anonymity"\nk = 2\n[output]\npath = "safe.{ending}"\nreport = false\n'
    )
    assert command(["run", str(tmp_path / "p.toml")]) == 0
    out = tmp_path / f"safe.{ending}"
    if ending == "csv":
        texts = [line.split(",")[0] for line in out.read_text().splitlines()[1:]]
        assert not [text for text in texts if text.startswith("-")]
    else:
        assert signs(pl.read_parquet(out)["x"]) == 0
