"""Spark's own ways: row numbers, what comes to the driver, what is spilled, how it fails."""

import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import celosia
from celosia.data.engines import engine_named
from celosia.data.engines.fingerprint import fingerprint
from celosia.data.engines.lazy_frames import RECORD, sort_by_record
from celosia.data.spill import spill_folder
from celosia.errors import DataError
from celosia.streams import Stream
from celosia.table.frames import table_fingerprint

pytestmark = pytest.mark.xdist_group("spark")

ROWS = 150_000


@pytest.fixture(scope="module")
def numbered(spark, tmp_path_factory):
    """A Parquet file of many row groups that Spark reads in several partitions, and its frame."""
    path = tmp_path_factory.mktemp("spark") / "numbered.parquet"
    pl.select(place=pl.int_range(ROWS), text=pl.int_range(ROWS).cast(pl.String)).write_parquet(
        path, row_group_size=5000
    )
    spark.conf.set("spark.sql.files.maxPartitionBytes", "100000")
    spark.conf.set("spark.sql.files.openCostInBytes", "1")
    yield path
    spark.conf.unset("spark.sql.files.maxPartitionBytes")
    spark.conf.unset("spark.sql.files.openCostInBytes")


def test_records_have_their_number_in_the_file(numbered):
    engine = engine_named("spark")
    frame = engine.identify(engine._scan(numbered))
    assert frame.rdd.getNumPartitions() >= 3
    found = engine.collect(frame)
    assert found[RECORD].to_list() == found["place"].to_list()


def test_a_fingerprint_is_taken_where_the_rows_are(numbered):
    assert table_fingerprint(celosia.read(numbered, engine="spark")) == fingerprint(pl.scan_parquet(numbered))


@pytest.mark.long
def test_only_the_blocks_that_partitions_cut_are_gathered_for_a_fingerprint(numbered, monkeypatch):
    """150 000 rows are three blocks; in three partitions or more at least two of them are cut."""
    engine, gathered = engine_named("spark"), []
    frame = engine.identify(engine._scan(numbered))
    gather = type(engine)._digests_gathered

    def counted(self, cells, names):
        gathered.append(self.rows(cells))
        return gather(self, cells, names)

    monkeypatch.setattr(type(engine), "_digests_gathered", counted)
    wanted = fingerprint(pl.scan_parquet(numbered))
    names = ["place", "text"]
    assert engine.fingerprint(frame, names) == wanted
    assert engine.fingerprint(sort_by_record(frame).coalesce(1), names) == wanted
    assert len(gathered) == 1  # one partition has all blocks whole
    assert engine.fingerprint(frame.orderBy(frame.place.desc()), names) == wanted
    assert gathered[1:] == [ROWS]
    odd = frame.filter("place % 2 = 1")
    assert engine.fingerprint(odd, names) == fingerprint(pl.scan_parquet(numbered).filter(pl.col("place") % 2 == 1))


def test_rows_of_any_frame_are_numbered_without_gaps(spark):
    engine = engine_named("spark")
    frame = engine.identify(spark.range(0, 1000, 1, 5).filter("id % 3 = 0").repartition(4))
    assert sorted(engine.collect(frame)[RECORD]) == list(range(334))


def test_records_are_put_into_their_order_range_by_range(spark):
    """Five partitions, each sorted: together the order that all engines draw."""
    from pyspark.sql import functions as F  # noqa: N812

    usual = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        engine, here = engine_named("spark"), engine_named("polars")
        rows = pl.DataFrame({RECORD: range(1000)})
        shuffled = engine.shuffle(engine.accept(rows), Stream(7))
        found = engine.collect(shuffled.withColumn("part", F.spark_partition_id()))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", usual)
    assert found["part"].n_unique() == 5
    assert found[RECORD].to_list() == here.collect(here.shuffle(rows.lazy(), Stream(7)))[RECORD].to_list()
    assert found[RECORD].to_list() != list(range(1000))


def test_a_spark_frame_comes_in_and_goes_out(spark):
    frame = spark.createDataFrame([(30, "A"), (30, "A"), (41, None)], "age int, city string")
    table = celosia.read(frame, celosia.Schema.of(quasi=["age", "city"]))
    assert celosia.models.KAnonymity(k=2).value(table) == 1
    recoded = celosia.protect(table, "recode(column=age, breaks=[40])")
    assert type(recoded.frame) is type(frame)
    assert recoded.polars().rows() == [("<40", "A"), ("<40", "A"), ("≥40", None)]


def test_a_table_is_not_brought_to_the_driver_whole(spark):
    cells = spark.range(0, 200_000, 1, 4).selectExpr("id", "uuid() as text")
    with pytest.raises(DataError, match=r"maxResultSize, and a table is not brought to the driver"):
        engine_named("spark").collect(cells)


def test_a_failure_tells_no_cell(spark):
    cells = spark.createDataFrame([("secret",)], "text string").selectExpr("cast(text as int)")
    with pytest.raises(DataError, match="CAST_INVALID_INPUT") as caught:
        engine_named("spark").collect(cells)
    assert "secret" not in str(caught.value)


def test_what_is_spilled_is_private(spark):
    engine_named("spark").accept(pl.LazyFrame({"a": [1]}))
    assert spill_folder().stat().st_mode & 0o077 == 0
    assert list(spill_folder().glob("spark-*.parquet"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("spark:local[1]", "already runs Spark on 'local"),
        ("polars:local", "takes no address"),
        ("sparc", "Did you mean 'spark'"),
    ],
)
def test_engines_that_cannot_be_had(spark, name, told):
    with pytest.raises(celosia.errors.CelosiaError, match=told):
        celosia.read(pl.DataFrame({"a": [1]}), engine=name)


KILLED = """
import os, signal, sys
from celosia.data.engines.spark import Spark
from celosia.release.run import run

write = Spark.to_polars_lazy

def to_polars_lazy(self, frame, **more):
    write(self, frame, **more)
    os.kill(os.getpid(), signal.SIGKILL)

Spark.to_polars_lazy = to_polars_lazy
run(sys.argv[1], engine="spark:local[1]")
"""
POLICY = """
[input]
path = "people.parquet"
[schema]
quasi = ["age", "city"]
[[require]]
use = "k-anonymity"
k = 2
[[step]]
use = "recode"
column = "age"
breaks = [30, 50]
[output]
path = "out/safe.csv"
"""


@pytest.mark.long
def test_a_run_that_is_killed_leaves_no_release_and_its_spill_goes_at_the_next_start(tmp_path):
    """Killed when the executors have written the rows and the release is not yet a file."""
    frame = pl.DataFrame({"age": [20, 40, 60] * 4, "city": ["Vic", "Olot", "Reus"] * 4})
    frame.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "out").mkdir()
    spill = tmp_path / "spill"
    spill.mkdir()
    there = {**os.environ, "TMPDIR": str(spill)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "policy.toml")], env=there, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert list(spill.glob("celosia-spill-*/spark-*/part-*.parquet"))
    assert not [path for path in (tmp_path / "out").iterdir() if not path.name.startswith(".part-")]
    start = [sys.executable, "-c", "from celosia.data.spill import spill_folder; spill_folder()"]
    for _ in range(40):  # the process of Java ends a moment after its parent
        subprocess.run(start, env=there, check=True)
        if not list(spill.glob("celosia-spill-*")):
            break
        time.sleep(0.5)
    assert not list(spill.glob("celosia-spill-*"))
