"""The demonstration's policy on Spark: persons, classes, losses and the released records are those of Polars."""

import contextlib

import polars as pl
import pytest

import celosia
from celosia.demo.prepare import prepare
from celosia.errors import DataError
from celosia.release.run import run

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.long]

LIMIT = "96k"
"""What one result may bring to the driver: counts of all combinations do, the table does not."""


@contextlib.contextmanager
def limited(spark):
    """The driver's limit, which Spark asks for with every job."""
    settings = spark.sparkContext._jsc.sc().conf()
    usual = settings.get("spark.driver.maxResultSize")
    settings.set("spark.driver.maxResultSize", LIMIT)
    try:
        yield
    finally:
        settings.set("spark.driver.maxResultSize", usual)


def test_the_demonstration_is_the_same_on_spark(spark, tmp_path):
    """No step brings the table to the driver: with this limit it could not."""
    policy = prepare(tmp_path, persons=2000)
    pl.read_csv(tmp_path / "original.csv", try_parse_dates=True).write_parquet(tmp_path / "original.parquet")
    text = policy.read_text("utf-8").replace("original.csv", "original.parquet").replace("release.csv", "{out}.csv")
    told = {}
    with limited(spark):
        with pytest.raises(DataError, match="maxResultSize"):
            celosia.read(tmp_path / "original.parquet", engine="spark").polars()
        for engine in ("polars", "spark"):
            settings = f'report = false\n[run]\nseed = 1\ntesting = true\nengine = "{engine}"\n'
            (tmp_path / f"{engine}.toml").write_text(text.replace("{out}", engine) + settings, "utf-8")
            certificate = run(tmp_path / f"{engine}.toml").certificate
            names = ("requirements", "risks", "losses", "holds", "counted", "guard", "checked")
            found = {name: certificate[name] for name in names}, certificate["steps"][0]["evidence"]["levels"]
            told[engine] = found, (tmp_path / f"{engine}.csv").read_bytes()
    assert told["spark"] == told["polars"]
