"""A seed repeats a run on the same data; on other data, or with other parameters, it gives independent noise."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import methods
from celosia.cli.main import run as command
from celosia.release.evidence.row_map import row_map
from celosia.release.run import run
from celosia.release.verify.verify import verify
from celosia.table.derive import with_record_ids
from celosia.table.frames import table_fingerprint
from celosia.table.materialise import materialise

N = 400
POLICY = """
[input]
path = "{name}.csv"
engine = "{engine}"
[schema]
quasi = ["age"]
sensitive = ["pay"]
[[step]]
use = "noise"
columns = ["pay"]
p = {p}
[output]
path = "{name}.safe.csv"
report = false
[run]
seed = "{seed}"
"""
SEED = "c0ffee" * 5


def people(last: float = 0.0) -> pl.DataFrame:
    """Rows whose pay tells which record they are; the last record's is given."""
    pay = [1000.0 + 1000 * i for i in range(N - 1)]
    return pl.DataFrame({"age": [20 + i % 50 for i in range(N)], "pay": [*pay, last]})


def noise(table: celosia.Table, method: celosia.methods.Noise, seed: int = 1) -> np.ndarray:
    """What was added to all records but the last."""
    made = celosia.protect(table, method, seed=seed).polars()["pay"]
    return (made - table.polars()["pay"]).to_numpy()[:-1]


def related(one: np.ndarray, other: np.ndarray) -> float:
    return abs(float(np.corrcoef(one, other)[0, 1]))


def test_one_changed_cell_gives_independent_noise(engine):
    method = methods.Noise(columns=["pay"], p=0.1)
    first, same, changed = (noise(celosia.read(people(last), engine=engine), method) for last in (500.0, 500.0, 501.0))
    assert np.array_equal(first, same)
    assert related(first, changed) < 0.25, "4.5 standard errors of independent noise are 0.23"


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.with_columns(more=pl.lit(1)),
        lambda frame: frame.rename({"age": "years"}),
        lambda frame: frame.with_columns(age=pl.when(pl.col("age") > 20).then(pl.col("age"))),
        lambda frame: pl.concat([frame[:-1], frame[-1:], frame[-1:]]),
    ],
    ids=["a column more", "another name", "missing values", "a record more"],
)
def test_every_change_gives_independent_noise(change):
    method = methods.Noise(columns=["pay"], p=0.1)
    first = noise(celosia.read(people()), method)
    assert related(first, noise(celosia.read(change(people())), method)[: N - 1]) < 0.25


def test_other_parameters_give_independent_noise():
    """x + a z and x + b z together would tell x."""
    table = celosia.read(people())
    weak, strong = (noise(table, methods.Noise(columns=["pay"], p=p)) for p in (0.1, 0.4))
    assert related(weak, strong) < 0.25
    assert related(weak, noise(table, methods.Noise(columns=["pay"], p=0.1))) == pytest.approx(1)


def test_the_kind_of_source_and_the_engine_do_not_matter(tmp_path: Path):
    people().write_csv(tmp_path / "a.csv")
    people().write_parquet(tmp_path / "a.parquet")
    sources = [people(), people().lazy(), people().to_pandas(), tmp_path / "a.csv", tmp_path / "a.parquet"]
    method = methods.Noise(columns=["pay"], p=0.1)
    made = [noise(celosia.read(s, engine=engine), method) for s in sources for engine in ("polars", "duckdb")]
    for one in made[1:]:
        assert np.array_equal(made[0], one)


def released(place: Path, name: str, engine: str = "polars", p: float = 0.1, *, overwrite: bool = False):
    (place / f"{name}.toml").write_text(POLICY.format(name=name, engine=engine, p=p, seed=SEED))
    return run(place / f"{name}.toml", overwrite=overwrite)


def noise_of(release: celosia.run.Release) -> np.ndarray:
    """What was added to each record, by the owner, in the order of the original."""
    order = row_map(release.private)
    made = pl.read_csv(release.paths["data"])["pay"].to_numpy()
    by_record = np.empty(len(made))
    by_record[order] = made
    return (by_record - release.original.polars()["pay"].to_numpy())[:-1]


def test_two_releases_of_changed_data_under_one_seed_do_not_cancel(tmp_path, engine):
    people(500).write_csv(tmp_path / "may.csv")
    people(999).write_csv(tmp_path / "june.csv")
    may, june = released(tmp_path, "may", engine), released(tmp_path, "june", engine)
    assert may.record["seed"] == june.record["seed"]
    assert related(noise_of(may), noise_of(june)) < 0.25
    assert not np.array_equal(row_map(may.private), row_map(june.private))


def test_two_releases_with_other_parameters_do_not_cancel_and_have_another_order(tmp_path):
    people().write_csv(tmp_path / "may.csv")
    weak = released(tmp_path, "may")
    found = noise_of(weak)
    strong = released(tmp_path, "may", p=0.4, overwrite=True)
    assert related(found, noise_of(strong)) < 0.25
    assert not np.array_equal(row_map(weak.private), row_map(strong.private))


def test_the_owner_repeats_a_run_on_every_engine(tmp_path):
    people().write_csv(tmp_path / "may.csv")
    written = []
    for engine in ("polars", "duckdb"):
        release = released(tmp_path, "may", engine, overwrite=True)
        written.append(release.paths["data"].read_bytes())
        paths = release.paths
        checks = verify(paths["certificate"], paths["data"], record=paths["record"], original=tmp_path / "may.csv")
        assert all(check.passed for check in checks)
        assert checks[-1].claim == "repetition gives the same bytes"
        assert release.record["input"]["content"] == table_fingerprint(celosia.read(people())).hex()
    assert written[0] == written[1]


def test_the_command_line_has_the_same_seed(tmp_path):
    made = {}
    for last in (500, 999):
        people(last).write_csv(tmp_path / "in.csv")
        for again in range(2):
            out = tmp_path / "out.csv"
            command(["protect", "noise", str(tmp_path / "in.csv"), "--columns", "pay", "--p", "0.1",
                     "--seed", "7", "--keep-order", "--out", str(out), "--overwrite"])  # fmt: skip
            made[last, again] = pl.read_csv(out)["pay"].to_numpy() - people(last)["pay"].to_numpy()
    assert np.array_equal(made[500, 0], made[500, 1])
    assert related(made[500, 0][:-1], made[999, 0][:-1]) < 0.25


def test_a_table_is_looked_through_only_when_chance_is_asked_for():
    table = celosia.read(people())
    celosia.protect(table, methods.Recode(column="age", breaks=[40]), seed=1)
    celosia.protect(table, methods.Noise(columns=["pay"], p=0.1))
    celosia.protect(table, methods.Microaggregate(columns=["pay"], k=3), seed=1)
    roles = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=10)"})
    few = table.with_schema(roles)
    celosia.protect(few, methods.Generalise(require=["k-anonymity(k=2)"]), seed=1)
    assert "fingerprint" not in few._cache, "so few nodes are all looked at"
    assert "fingerprint" not in table._cache
    celosia.protect(table, methods.Noise(columns=["pay"], p=0.1), seed=1)
    assert "fingerprint" in table._cache


CELLS = {
    "whole": [1, -5, None],
    "number": [1.5, 1e300, None],
    "text": ['a,"b"\nc', "", None],
    "truth": [True, False, None],
    "day": [dt.date(2020, 2, 29), None, dt.date(1969, 1, 1)],
    "moment": [dt.datetime(2020, 2, 29, 12, 30, 1, 5), None, dt.datetime(2020, 1, 1)],
    "price": [Decimal("1.50"), None, Decimal("2.25")],
}


@pytest.mark.parametrize("name", CELLS)
def test_the_fingerprint_is_that_of_the_cells_in_their_order(name):
    frame = pl.DataFrame({"x": CELLS[name]})
    one = table_fingerprint(celosia.read(frame))
    assert one == table_fingerprint(celosia.read(frame, engine="duckdb"))
    assert one == table_fingerprint(materialise(with_record_ids(celosia.read(frame, engine="duckdb"))))
    others = [
        frame.reverse(),
        frame[:2],
        frame.rename({"x": "y"}),
        frame.select("x", y="x"),
        pl.DataFrame({"x": [None] * 3}),
    ]
    assert len({one, *(table_fingerprint(celosia.read(other)) for other in others)}) == 6


def test_a_table_above_the_bound_is_run_through_batch_by_batch(tmp_path, monkeypatch):
    frame = pl.DataFrame({"x": np.arange(300_000), "y": np.arange(300_000) % 7 / 3}).with_columns(
        z=pl.format("t{}", "x")
    )
    frame.write_parquet(tmp_path / "a.parquet")
    whole = table_fingerprint(celosia.read(tmp_path / "a.parquet", engine="duckdb"))
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    table = celosia.read(tmp_path / "a.parquet", engine="duckdb")
    assert (
        table_fingerprint(table)
        == table_fingerprint(with_record_ids(table))
        == whole
        == table_fingerprint(celosia.read(frame))
    )


def test_the_fingerprint_of_unusual_columns():
    frame = pl.DataFrame(
        {
            "list": [[1, 2], None],
            "kind": pl.Series(["u", None], dtype=pl.Categorical),
            "span": [dt.timedelta(seconds=1), None],
            "time": [dt.time(1, 2), None],
            "small": pl.Series([0.1, None], dtype=pl.Float32),
        }
    )
    for name in frame.columns:
        one, other = celosia.read(frame.select(name)), celosia.read(frame.select(name).reverse())
        assert table_fingerprint(one) != table_fingerprint(other), name
